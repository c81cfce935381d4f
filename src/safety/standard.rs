//! The safety that is shipped.

use std::sync::Arc;

use classifier::{LinearClassifier, MentionAware, ModelError};
use hmm_control::monitor::{Judge, MonitorError};

use super::WindowSafety;

/// The monitor over the risks of the models of injections and scams, made by `portcullis-lab classify fit-monitor`. Its
/// card stands beside it.
const MONITOR: &[u8] = include_bytes!("page.monitor.json");

/// Why the shipped models are not there.
#[derive(Debug, thiserror::Error)]
pub enum SafetyError {
    /// A classifier.
    #[error("a shipped classifier: {0}")]
    Model(#[from] ModelError),
    /// The monitor.
    #[error("the shipped monitor: {0}")]
    Monitor(#[from] MonitorError),
}

impl WindowSafety {
    /// The shipped models of injections (which excuses what is only quoted) and of scams, in this order, without a
    /// monitor.
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn unmonitored() -> Result<WindowSafety, ModelError> {
        Ok(WindowSafety::new(vec![Arc::new(MentionAware::injection()?), Arc::new(LinearClassifier::scam()?)]))
    }

    /// The shipped models, and the shipped monitor over their risks.
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn standard() -> Result<WindowSafety, SafetyError> {
        Ok(WindowSafety::unmonitored()?.with_monitor(Judge::from_json(MONITOR)?)?)
    }
}
