//! What an agent may send to its session.

use browser_signals::Verb;

/// One step of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Something to do with the page.
    Verb(Verb),
    /// Text that holds a request block: `REQ.` lines up to `REQ.end`.
    Request(String),
}
