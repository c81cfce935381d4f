//! A small supervised model of where a document is heading.
//!
//! The other hidden Markov model of the paper (section 4, "Soft-constraint controller"): a few states that people
//! can name (appropriate, scam, injection), whose transitions are estimated from labelled windows of text and whose
//! observations are the scores that detectors give each window. It needs no language model.
//!
//! | module | subject |
//! |---|---|
//! | `window` | [`Window`]: one window's scores and, where known, its state |
//! | `builder` | [`MonitorBuilder`]: names, settings, and the estimate |
//! | `histogram` | how probable a score is in a state |
//! | `temper` | how much of the detectors' evidence to believe |
//! | `parameters`, `counts` | the numbers, and what they are estimated from |
//! | `model` | [`Monitor`]: the model, and its file |
//! | `watch` | [`Watch`]: filtering one document as its windows arrive |
//! | `outlook` | the next windows, in closed form |
//! | `curve`, `reliability` | [`Curve`] and [`Reliability`]: making 0.8 mean 0.8, and showing that it does |
//! | `judge` | [`Judge`]: a monitor with its curve, which gives [`classifier::Safety`] |
//! | `file` | versioned JSON |

mod builder;
mod counts;
mod curve;
mod error;
mod file;
mod histogram;
mod judge;
mod model;
mod outlook;
mod parameters;
mod reliability;
mod temper;
mod watch;
mod window;

pub use builder::MonitorBuilder;
pub use curve::Curve;
pub use error::MonitorError;
pub use judge::Judge;
pub use model::Monitor;
pub use reliability::{Reliability, ReliabilityRow};
pub use watch::Watch;
pub use window::Window;
