//! From the worker's question to the token.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};
use vault::SealedCard;

use super::listener::Door;
use super::pending::{Asked, Purchase, Slot, Stage};
use super::recovery::close;
use super::{Bank, BankError, DeclineReason, Journal, JournalError, Settlement, Token};

/// How long the bank has to authorise. Less than the worker waits.
const BANK_TIME: Duration = Duration::from_secs(20);

/// What the listener and the armed purchase both need.
pub(super) struct Shared {
    pub door: Door,
    pub slot: Slot,
    pub bank: Arc<dyn Bank>,
    pub journal: Arc<dyn Journal>,
}

/// Gives the token, if the question matches the pending purchase.
pub(super) async fn authorise(shared: &Arc<Shared>, asked: &Asked) -> Option<Token> {
    let (purchase, card) = shared.slot.take(asked, Instant::now())?;
    // A task of its own: once the bank may have heard of it, a browser that hangs up must not end it.
    tokio::spawn(carry_out(shared.clone(), purchase, card)).await.ok().flatten()
}

async fn carry_out(shared: Arc<Shared>, purchase: Arc<Purchase>, card: SealedCard) -> Option<Token> {
    let intent = purchase.intent.clone();
    if journalled(&shared.journal, move |journal| journal.intend(&intent)).await.is_err() {
        purchase.advance(Stage::Authorising, Stage::Declined(DeclineReason::JournalUnavailable));
        return None;
    }
    let intent = &purchase.intent;
    let asked = shared.bank.authorize(&intent.key, card, intent.amount, &intent.payee);
    let error = match timeout(BANK_TIME, asked).await.unwrap_or(Err(BankError::Unreachable)) {
        Ok(token) if purchase.advance(Stage::Authorising, Stage::Authorised) => return Some(token),
        // Disarmed in the meantime: nobody waits for the token any more.
        Ok(_) => BankError::Closed,
        Err(error) => error,
    };
    if error == BankError::Conflict {
        // What the bank has under this key was closed earlier and is not this payment.
        let id = intent.purchase;
        let _ = journalled(&shared.journal, move |journal| journal.settle(id, Settlement::Voided)).await;
        purchase.advance(Stage::Authorising, Stage::Declined(DeclineReason::Bank(error)));
        return None;
    }
    let end = match close(&shared.journal, shared.bank.as_ref(), intent).await {
        Ok(Settlement::Voided) => Stage::Declined(DeclineReason::Bank(error)),
        Ok(Settlement::Paid) => Stage::Paid,
        Err(_) => Stage::Unsettled,
    };
    purchase.advance(Stage::Authorising, end);
    None
}

/// Writes to the journal where waiting for the disk holds up nobody.
pub(super) async fn journalled(
    journal: &Arc<dyn Journal>,
    write: impl FnOnce(&dyn Journal) -> Result<(), JournalError> + Send + 'static,
) -> Result<(), JournalError> {
    let journal = journal.clone();
    spawn_blocking(move || write(journal.as_ref())).await.unwrap_or(Err(JournalError::Interrupted))
}
