//! A checkout session and its states.

use crate::offer::Offer;
use crate::order::Order;
use crate::receipt::Receipts;
use crate::refusal::Refusal;

/// How long a session can be completed, in seconds.
pub(crate) const LIFETIME: u64 = 30 * 60;

/// What was sold. It does not change any more.
#[derive(Debug, Clone)]
pub(crate) struct Sold {
    /// The checkout as it is completed.
    pub(crate) offer: Offer,
    pub(crate) receipts: Option<Receipts>,
}

/// The state of a session. Whether an open one is complete follows from its order.
#[derive(Debug, Clone)]
pub(crate) enum State {
    Open,
    /// Sold, but the client is told so only when it asks.
    InProgress(Box<Sold>),
    Completed(Box<Sold>),
    Canceled,
    Expired,
}

/// A checkout session.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) id: String,
    /// The value that mandates for this session name.
    pub(crate) nonce: String,
    /// In seconds since 1970.
    pub(crate) expires_at: u64,
    pub(crate) order: Order,
    pub(crate) state: State,
    /// Whether the client was told that the checkout is ready.
    pub(crate) was_ready: bool,
}

impl Session {
    /// A new session, made at this time.
    pub(crate) fn new(id: String, nonce: String, order: Order, now: u64) -> Session {
        let expires_at = now.saturating_add(LIFETIME);
        Session { id, nonce, expires_at, order, state: State::Open, was_ready: false }
    }

    /// Closes an open session whose time is over.
    pub(crate) fn expire(&mut self, now: u64) {
        if matches!(self.state, State::Open) && now >= self.expires_at {
            self.state = State::Expired;
        }
    }

    /// Refuses a change of a session that is not open.
    pub(crate) fn open(&mut self) -> Result<&mut Session, Refusal> {
        if matches!(self.state, State::Open) { Ok(self) } else { Err(Refusal::State) }
    }

    /// Ends a completion that is in progress.
    pub(crate) fn settle(&mut self) {
        if let State::InProgress(sold) = &self.state {
            self.state = State::Completed(sold.clone());
        }
    }
}
