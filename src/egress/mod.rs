//! The checks of all that leaves a container.
//!
//! Text that the *agent* types or opens is compared with the detectors and with every value of the vault. A request of the
//! *page* is compared only with values that were released into that container: a comparison with others would be an oracle
//! for the page on the vault's content (I13). Both are compared over the session, since a value can be sent in pieces.
//!
//! | module | subject |
//! |---|---|
//! | `agent` | [`AgentEgress`]: texts and addresses of the agent |
//! | `amount` | amounts that a request names beside a card |
//! | `checks` | whether anything is checked: always, but in an experiment |
//! | `container` | [`ContainerEgress`]: requests of a page |
//! | `pieces` | the parts of a request that its sender can choose |
//! | `sign_on` | [`AgreedSignOn`]: what may return from an identity provider |
//! | [`proxy`] | the forward proxy that all connections of a container pass |

mod agent;
mod amount;
mod checks;
mod container;
mod pieces;
pub mod proxy;
mod sign_on;

use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::Destination;
use sirl::{Field, Money};

pub(crate) use agent::{AgentEgress, AgentText, TextVerdict};
pub(crate) use checks::EgressChecks;
#[cfg(feature = "ablation")]
pub(crate) use checks::Unchecked;
pub use container::ContainerEgress;
pub use sign_on::AgreedSignOn;

/// One released value and its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleasedValue {
    /// The handle of the record.
    pub handle: String,
    /// The field.
    pub field: Field,
    /// The only destination that it may go to.
    pub destination: Destination,
    /// For a card: the total that the page named when the user agreed, if it named one.
    pub total: Option<Money>,
    /// Whether it may go to every path of the destination's origin, such as a cookie, which the browser sends with every request there.
    pub any_path: bool,
}

impl ReleasedValue {
    /// A value that may go to this destination, and was released without a total.
    pub fn new(handle: impl Into<String>, field: Field, destination: Destination) -> ReleasedValue {
        ReleasedValue { handle: handle.into(), field, destination, total: None, any_path: false }
    }
}

/// The values that were released into one container, shared by its checks.
#[derive(Debug, Clone, Default)]
pub struct Releases(Arc<Mutex<Vec<ReleasedValue>>>);

impl Releases {
    /// Notes a release. It must be noted before the value is sent.
    pub fn note(&self, release: ReleasedValue) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&release) {
            all.push(release);
        }
    }

    /// A copy of the list.
    pub fn all(&self) -> Vec<ReleasedValue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The released values by record handle and field.
    pub fn entries(&self) -> Vec<(String, Field)> {
        self.all().into_iter().map(|release| (release.handle, release.field)).collect()
    }
}
