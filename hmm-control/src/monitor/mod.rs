//! A small supervised model that monitors a document.
//!
//! The other hidden Markov model of the paper (section 4, "Soft-constraint controller"): it has a few named states
//! (appropriate, scam, injection). Their transitions are estimated from labelled windows of text, and the observations
//! are the scores of detectors for each window. It needs no language model.
//!
//! | module | subject |
//! |---|---|
//! | `model` | [`Monitor`], and [`Window`]: one window's scores and, where known, its state |
//! | `builder` | [`MonitorBuilder`]: names, settings, and the estimate |
//! | `histogram` | the probability of a score in a state |
//! | `parameters`, `counts` | the parameters, and their estimates from counts |
//! | `watch` | [`Watch`]: filtering one document as its windows arrive, and the next windows in closed form |
//! | `calibration` | [`Curve`] and [`ReliabilityTable`] |
//! | `judge` | [`Judge`]: a monitor with its curve, which gives [`classifier::Safety`] |
//! | `file` | versioned JSON |

mod builder;
mod calibration;
mod counts;
mod error;
mod file;
mod histogram;
mod judge;
mod model;
mod parameters;
mod watch;

pub use builder::MonitorBuilder;
pub use calibration::{Curve, ReliabilityRow, ReliabilityTable};
pub use error::MonitorError;
pub use judge::Judge;
pub use model::{Monitor, Window};
pub use watch::Watch;
