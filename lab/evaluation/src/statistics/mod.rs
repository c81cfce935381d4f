//! Confidence intervals, tests and power. No I/O, no clock; all randomness follows from a seed.
//!
//! | module | subject |
//! |---|---|
//! | `proportion` | [`wilson`], [`rule_of_three`], [`median`] |
//! | `distribution` | [`normal_cdf`], [`normal_quantile`], [`t_quantile`] |
//! | `resample` | [`cluster_bootstrap`]: resampling of whole templates |
//! | `bounded` | [`mean_at_least`], [`non_inferior`]: tests without assumptions on the distribution |
//! | `paired` | [`Pair`], [`compare_rates`], [`compare_burdens`]: two approaches on the same templates |
//! | `multiple` | [`holm`]: multiple testing |
//! | `band` | [`simultaneous_band`]: a confidence band for a whole curve |
//! | `power` | the number of templates that a question needs |
//!
//! The unit is a page template. Trials of one template that differ by their seed are not independent of each other:
//! they count as one draw, however many there are.

mod band;
mod bounded;
mod distribution;
mod multiple;
mod paired;
pub mod power;
mod proportion;
mod resample;

pub use band::{Band, first_flat, simultaneous_band};
pub use bounded::{mean_at_least, non_inferior};
pub use distribution::{normal_cdf, normal_quantile, t_quantile};
pub use multiple::holm;
pub use paired::{Comparison, Pair, Tally, burden_interval, compare_burdens, compare_rates, rate_interval};
pub use proportion::{median, rule_of_three, wilson};
pub use resample::{Interval, Resampling, cluster_bootstrap};
