//! Whether what leaves a container is checked. Only a build with the feature `ablation`, which is for one experiment, has another
//! state than [`EgressChecks::On`].

#[cfg(feature = "ablation")]
use browser_signals::egress::{Blocked, EgressGuard, OutgoingRequest};

/// Whether the agent's text, the requests of pages and the connections of a container are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum EgressChecks {
    /// They are.
    #[default]
    On,
    /// None of them is.
    #[cfg(feature = "ablation")]
    Off,
}

/// Lets every request of a page through.
#[cfg(feature = "ablation")]
pub(crate) struct Unchecked;

#[cfg(feature = "ablation")]
impl EgressGuard for Unchecked {
    fn judge(&self, _request: &OutgoingRequest<'_>) -> Result<(), Blocked> {
        Ok(())
    }
}
