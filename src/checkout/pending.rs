//! The one purchase that may happen now.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use browser_signals::Origin;
use sirl::Money;
use tokio::sync::watch;
use tokio::time::Instant;
use vault::SealedCard;

use super::{DeclineReason, Intent};

/// How long a purchase may be pending.
pub const LIFETIME: Duration = Duration::from_secs(60);

/// What the user agreed to: who is paid, on which page, and exactly how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    payee: Origin,
    top_origin: Origin,
    amount: Money,
    lifetime: Duration,
}

impl Pending {
    /// `payee` is the origin of the frame that asks for payment, `top_origin` that of the page around
    /// it; they differ only where the shop embeds its checkout. Lasts [`LIFETIME`].
    pub fn new(payee: Origin, top_origin: Origin, amount: Money) -> Pending {
        Pending { payee, top_origin, amount, lifetime: LIFETIME }
    }

    /// The same, but for a shorter time; [`LIFETIME`] stays the most.
    #[must_use]
    pub fn lasting(self, lifetime: Duration) -> Pending {
        Pending { lifetime: lifetime.min(LIFETIME), ..self }
    }

    /// Who is paid.
    pub fn payee(&self) -> &Origin {
        &self.payee
    }

    /// The page around it.
    pub fn top_origin(&self) -> &Origin {
        &self.top_origin
    }

    /// How much.
    pub fn amount(&self) -> Money {
        self.amount
    }

    pub(super) fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Whether the browser's words are exactly these.
    pub(super) fn matches(&self, asked: &Asked) -> bool {
        self.payee == asked.payee && self.top_origin == asked.top_origin && self.amount == asked.amount
    }
}

/// What the browser says through the worker: who asks, on which page, for how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub payee: Origin,
    pub top_origin: Origin,
    pub amount: Money,
}

/// How far an armed purchase has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// No page has asked for it.
    Waiting,
    /// The card is on its way to the bank.
    Authorising,
    /// The page has its token.
    Authorised,
    /// Ended: the bank says it was paid before.
    Paid,
    /// Ended: nothing was paid, nor can be.
    Declined(DeclineReason),
    /// Ended: the bank could not be asked how; the journal has it open.
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
    /// Goes from one stage to another; false if it is no longer at `from`.
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

/// Room for one pending purchase.
#[derive(Default)]
pub(super) struct Slot(Mutex<Option<Live>>);

impl Slot {
    /// What is left by a thread that panicked is whole: every change below is a single assignment.
    fn lock(&self) -> MutexGuard<'_, Option<Live>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a purchase in; false if there is one.
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

    /// Hands out the card, once, to a question that matches the pending purchase in time. A question that
    /// does not match changes nothing.
    pub fn take(&self, asked: &Asked, now: Instant) -> Option<(Arc<Purchase>, SealedCard)> {
        let mut slot = self.lock();
        let live = slot.as_mut()?;
        if now >= live.purchase.deadline || !live.purchase.pending.matches(asked) {
            return None;
        }
        if !live.purchase.advance(Stage::Waiting, Stage::Authorising) {
            return None;
        }
        Some((live.purchase.clone(), live.card.take()?))
    }

    /// Takes `purchase` out, wipes its card if nobody took it, and says how far it had come.
    pub fn close(&self, purchase: &Arc<Purchase>) -> Stage {
        let mut slot = self.lock();
        if slot.as_ref().is_some_and(|live| Arc::ptr_eq(&live.purchase, purchase)) {
            *slot = None;
        }
        purchase.stage.send_replace(Stage::Closed)
    }
}
