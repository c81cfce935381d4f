//! Waiting for the end of a purchase.

use std::sync::Arc;
use std::time::Duration;

use sirl::Money;
use tokio::time::{Instant, sleep, timeout_at};

use super::authorise::Shared;
use super::bank::BankStatus;
use super::journal::{Settlement, journalled};
use super::pending::{DeclineReason, Purchase, Stage};
use super::recovery::close;

/// The first pause between two queries to the bank.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// The longest pause between two queries to the bank.
const MAX_PAUSE: Duration = Duration::from_millis(500);

/// The outcome of a purchase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The shop redeemed the token, as the bank confirms.
    Paid {
        /// The amount.
        amount: Money,
        /// The handle of the card, such as `card:personal`.
        card: String,
    },
    /// Nothing was paid, and nothing can be paid any more.
    Declined(DeclineReason),
    /// No page requested the payment in time; nothing can be paid any more.
    Unasked,
    /// A page requested the payment, and the shop did not redeem it in time; nothing can be paid any more.
    Expired,
    /// The bank does not answer whether it was paid. The purchase is open in the journal; no other one is armed until
    /// [`recover`](super::recover) has closed it.
    Unsettled,
}

/// A purchase that may happen now. Dropping it disarms the purchase and voids its authorisation.
#[must_use = "dropping it disarms the purchase"]
pub struct Armed {
    shared: Arc<Shared>,
    purchase: Arc<Purchase>,
    ended: bool,
}

impl Armed {
    pub(super) fn new(shared: Arc<Shared>, purchase: Arc<Purchase>) -> Armed {
        Armed { shared, purchase, ended: false }
    }

    /// Waits at most `within` for the shop to request the payment and to redeem it. A payment that is not redeemed by then
    /// is voided.
    pub async fn outcome(mut self, within: Duration) -> Outcome {
        let outcome = self.wait(Instant::now() + within).await;
        self.ended = true;
        self.shared.slot.close(&self.purchase);
        outcome
    }

    async fn wait(&self, end: Instant) -> Outcome {
        let mut stage = self.purchase.stage.subscribe();
        let asked = stage.wait_for(|stage| *stage != Stage::Waiting);
        // A page that requests the payment at the last moment, and gets it, is waited for.
        let waiting_ends = end.min(self.purchase.deadline);
        if timeout_at(waiting_ends, asked).await.is_err()
            && self.purchase.advance(Stage::Waiting, Stage::Closed)
        {
            return Outcome::Unasked;
        }
        let answered = stage.wait_for(|stage| !matches!(stage, Stage::Waiting | Stage::Authorising));
        // The borrowed stage is copied at once, since it cannot move to another thread with the session.
        let reached = timeout_at(end, answered).await.ok().and_then(Result::ok).map(|stage| *stage);
        match reached.unwrap_or(Stage::Closed) {
            Stage::Authorised => self.redeemed(end).await,
            Stage::Paid => self.paid(),
            Stage::Declined(reason) => Outcome::Declined(reason),
            Stage::Unsettled => Outcome::Unsettled,
            Stage::Waiting | Stage::Authorising | Stage::Closed => self.void().await,
        }
    }

    /// Queries the bank until the token is redeemed or the time is over.
    async fn redeemed(&self, end: Instant) -> Outcome {
        let intent = &self.purchase.intent;
        let mut pause = FIRST_PAUSE;
        while Instant::now() < end {
            let settlement = match timeout_at(end, self.shared.bank.status(&intent.key)).await {
                Ok(Ok(BankStatus::Redeemed)) => Some(Settlement::Paid),
                Ok(Ok(BankStatus::Voided)) => Some(Settlement::Voided),
                _ => None,
            };
            if let Some(settlement) = settlement {
                let id = intent.purchase;
                // If this fails, the purchase stays open in the journal, and the next recovery gets the same answer.
                let _ = journalled(&self.shared.journal, move |journal| journal.settle(id, settlement)).await;
                return match settlement {
                    Settlement::Paid => self.paid(),
                    Settlement::Voided => Outcome::Declined(DeclineReason::Voided),
                };
            }
            sleep(pause.min(end.saturating_duration_since(Instant::now()))).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
        self.void().await
    }

    async fn void(&self) -> Outcome {
        self.shared.slot.close(&self.purchase);
        match close(&self.shared.journal, self.shared.bank.as_ref(), &self.purchase.intent).await {
            Ok(Settlement::Paid) => self.paid(),
            Ok(Settlement::Voided) => Outcome::Expired,
            Err(_) => Outcome::Unsettled,
        }
    }

    fn paid(&self) -> Outcome {
        Outcome::Paid { amount: self.purchase.intent.amount, card: self.purchase.card.clone() }
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        if self.ended || self.shared.slot.close(&self.purchase) != Stage::Authorised {
            return;
        }
        // Without a runtime the purchase stays open in the journal, for the next recovery.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (shared, purchase) = (self.shared.clone(), self.purchase.clone());
            runtime.spawn(async move {
                let _ = close(&shared.journal, shared.bank.as_ref(), &purchase.intent).await;
            });
        }
    }
}
