//! Why connections failed, for the guard alone: the browser gets one answer to every failure.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::rule::ConnectionRefusal;
use super::target::Target;

/// The most targets whose failure is remembered. A page can cause any number of failures.
const MAX_REMEMBERED: usize = 64;

/// Why a target could not be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// The rule refuses the target, or every address that its name has.
    Refused(ConnectionRefusal),
    /// The name could not be found.
    NoName,
    /// Nobody answers at its addresses.
    NoAnswer,
}

/// The latest failures since they were last forgotten, one for each target.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<VecDeque<(String, u16, ConnectFailure)>>);

impl Failures {
    pub fn note(&self, target: &Target, failure: ConnectFailure) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(host, port, _)| (host.as_str(), *port) != (target.host(), target.port()));
        if all.len() == MAX_REMEMBERED {
            all.pop_front();
        }
        all.push_back((target.host().to_owned(), target.port(), failure));
    }

    pub fn of(&self, host: &str, port: u16) -> Option<ConnectFailure> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(of, at, _)| (of.as_str(), *at) == (host, port)).map(|(_, _, failure)| *failure)
    }

    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
