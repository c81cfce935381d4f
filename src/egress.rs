//! What may leave a container.
//!
//! Two questions are answered here. What the *agent* types and opens is compared with the detectors and
//! with every value of the vault. What the *page* sends is compared only with values that were released
//! into that container: comparing it with others would tell a page what the vault holds (I13). Both are
//! compared over the session, since a value can go out in pieces.
//!
//! | module | subject |
//! |---|---|
//! | `agent` | [`AgentEgress`]: what the agent types and opens |
//! | `container` | [`ContainerEgress`]: what a page sends |
//! | `pieces` | what of a request a sender can choose, name by name |

mod agent;
mod container;
mod pieces;

use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::Destination;
use sirl::Field;

pub use agent::{AgentEgress, AgentText, TextVerdict};
pub use container::ContainerEgress;

/// One value that was released: which, and where it may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The handle of the record.
    pub handle: String,
    /// The field.
    pub field: Field,
    /// The only place it may go.
    pub destination: Destination,
}

/// What was released into one container, shared by those who watch it.
#[derive(Debug, Clone, Default)]
pub struct Releases(Arc<Mutex<Vec<Release>>>);

impl Releases {
    /// Notes a release. It must be noted before the value goes.
    pub fn note(&self, release: Release) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&release) {
            all.push(release);
        }
    }

    /// A copy of the list.
    pub fn all(&self) -> Vec<Release> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The released entries, as the vault names them.
    pub fn entries(&self) -> Vec<(String, Field)> {
        self.all().into_iter().map(|release| (release.handle, release.field)).collect()
    }
}
