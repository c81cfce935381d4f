//! Whether what leaves a container is checked. Only a build with the feature `ablation`, which is for one experiment, has another
//! state than [`EgressChecks::On`].

#[cfg(feature = "ablation")]
use browser_signals::egress::{Blocked, EgressGuard, OutgoingRequest};

/// Whether the agent's text and the requests of pages are compared with the user's values, and releases narrow the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum EgressChecks {
    /// They are.
    #[default]
    On,
    /// None of them is.
    #[cfg(feature = "ablation")]
    Off,
}

/// Lets every request of a page through. What waits until the user has seen the agent's actions waits all the same.
#[cfg(feature = "ablation")]
pub(crate) struct Unchecked(pub(crate) super::ContainerEgress);

#[cfg(feature = "ablation")]
impl EgressGuard for Unchecked {
    fn judge(&self, _request: &OutgoingRequest<'_>) -> Result<(), Blocked> {
        Ok(())
    }

    fn holds(&self, request: &OutgoingRequest<'_>, has_body: bool) -> bool {
        self.0.holds(request, has_body)
    }
}
