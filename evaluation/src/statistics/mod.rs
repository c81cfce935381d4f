//! How sure a count, a ratio or a comparison is. No I/O, no clock; what is random follows from a seed.
//!
//! | module | subject |
//! |---|---|
//! | `proportion` | [`wilson`], [`rule_of_three`], [`median`] |
//! | `distribution` | [`normal_cdf`], [`normal_quantile`], [`t_quantile`] |
//! | `resample` | [`cluster_bootstrap`]: whole templates are drawn again |
//! | `bounded` | [`mean_at_least`], [`non_inferior`]: tests that need no distribution |
//! | `paired` | [`Pair`], [`compare_rates`], [`compare_burdens`]: two approaches on the same templates |
//! | `family` | [`holm`]: many questions at once |
//! | `band` | [`simultaneous_band`]: a whole curve at once |
//! | `power` | how many templates a question needs |
//!
//! The unit is a page template. Trials of one template that differ by their seed are not independent of each other:
//! they count as one drawing, however many there are.

mod band;
mod bounded;
mod distribution;
mod family;
mod paired;
pub mod power;
mod proportion;
mod resample;

pub use band::{Band, first_flat, simultaneous_band};
pub use bounded::{mean_at_least, non_inferior};
pub use distribution::{normal_cdf, normal_quantile, t_quantile};
pub use family::holm;
pub use paired::{Comparison, Pair, Tally, burden_interval, compare_burdens, compare_rates, rate_interval};
pub use proportion::{median, rule_of_three, wilson};
pub use resample::{Interval, Resampling, cluster_bootstrap};
