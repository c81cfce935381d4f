//! The one purchase that may happen now.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use browser_signals::Origin;
use sirl::Money;
use tokio::sync::watch;
use tokio::time::Instant;
use vault::SealedCard;

use super::bank::BankError;
use super::journal::Intent;

/// The longest time that a purchase may be pending.
pub const LIFETIME: Duration = Duration::from_secs(60);

/// The purchase that the user agreed to: the payee, the page, and the exact amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    payee: Origin,
    top_origin: Origin,
    amount: Money,
    lifetime: Duration,
}

impl Pending {
    /// `payee` is the origin of the frame that requests the payment, `top_origin` that of the page around it; they differ
    /// only where the shop embeds its checkout. The purchase is pending for [`LIFETIME`].
    pub fn new(payee: Origin, top_origin: Origin, amount: Money) -> Pending {
        Pending { payee, top_origin, amount, lifetime: LIFETIME }
    }

    /// The same purchase with a shorter time; [`LIFETIME`] stays the maximum.
    #[must_use]
    pub fn lasting(self, lifetime: Duration) -> Pending {
        Pending { lifetime: lifetime.min(LIFETIME), ..self }
    }

    /// The payee.
    pub fn payee(&self) -> &Origin {
        &self.payee
    }

    /// The origin of the page around the payee's frame.
    pub fn top_origin(&self) -> &Origin {
        &self.top_origin
    }

    /// The amount.
    pub fn amount(&self) -> Money {
        self.amount
    }

    pub(super) fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Whether the browser's request is for exactly this purchase.
    pub(super) fn matches(&self, request: &PaymentRequest) -> bool {
        self.payee == request.payee && self.top_origin == request.top_origin && self.amount == request.amount
    }
}

/// The browser's request, through the worker: the payee, the page around it, and the amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PaymentRequest {
    pub payee: Origin,
    pub top_origin: Origin,
    pub amount: Money,
}

/// Why nothing was paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeclineReason {
    /// The bank refused.
    #[error(transparent)]
    Bank(BankError),
    /// The intent could not be recorded, so the bank was not asked.
    #[error("the payment journal cannot be written; free some disk space or check its permissions")]
    JournalUnavailable,
    /// It was voided at the bank, not by this guard.
    #[error("the payment was voided at the bank")]
    Voided,
}

/// The stage of an armed purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// No page has requested it.
    Waiting,
    /// The bank is being called with the card.
    Authorising,
    /// The page has its token.
    Authorised,
    /// Ended: according to the bank it was paid before.
    Paid,
    /// Ended: nothing was paid or can be paid.
    Declined(DeclineReason),
    /// Ended: the bank does not answer, and the purchase is open in the journal.
    Unsettled,
    /// Disarmed.
    Closed,
}

/// An armed purchase, without its card.
pub(super) struct Purchase {
    pub intent: Intent,
    pub pending: Pending,
    pub deadline: Instant,
    pub card: String,
    pub stage: watch::Sender<Stage>,
}

impl Purchase {
    /// Changes the stage; false if it is no longer `from`.
    pub fn advance(&self, from: Stage, to: Stage) -> bool {
        self.stage.send_if_modified(|stage| {
            let there = *stage == from;
            if there {
                *stage = to;
            }
            there
        })
    }
}

struct Live {
    purchase: Arc<Purchase>,
    card: Option<SealedCard>,
}

/// The slot for one pending purchase.
#[derive(Default)]
pub(super) struct Slot(Mutex<Option<Live>>);

impl Slot {
    /// The slot is consistent even after a panic: every change below is a single assignment.
    fn lock(&self) -> MutexGuard<'_, Option<Live>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a purchase in; false if the slot is taken.
    pub fn put(&self, purchase: Arc<Purchase>, card: SealedCard) -> bool {
        let mut slot = self.lock();
        let free = slot.is_none();
        if free {
            *slot = Some(Live { purchase, card: Some(card) });
        }
        free
    }

    /// Whether a purchase is in it.
    pub fn is_taken(&self) -> bool {
        self.lock().is_some()
    }

    /// Hands out the card, once, for a request that matches the pending purchase in time. A request that does not match
    /// changes nothing.
    pub fn take(&self, request: &PaymentRequest, now: Instant) -> Option<(Arc<Purchase>, SealedCard)> {
        let mut slot = self.lock();
        let live = slot.as_mut()?;
        if now >= live.purchase.deadline || !live.purchase.pending.matches(request) {
            return None;
        }
        if !live.purchase.advance(Stage::Waiting, Stage::Authorising) {
            return None;
        }
        Some((live.purchase.clone(), live.card.take()?))
    }

    /// Takes `purchase` out, wipes its card if it is still there, and returns the stage that it had reached.
    pub fn close(&self, purchase: &Arc<Purchase>) -> Stage {
        let mut slot = self.lock();
        if slot.as_ref().is_some_and(|live| Arc::ptr_eq(&live.purchase, purchase)) {
            *slot = None;
        }
        purchase.stage.send_replace(Stage::Closed)
    }
}
