//! Authorising a payment: from the worker's request to the token.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use vault::SealedCard;

use super::bank::{Bank, BankError, Token};
use super::journal::{Journal, Settlement, journalled};
use super::pending::{DeclineReason, PaymentRequest, Purchase, Slot, Stage};
use super::recovery::close;
use crate::system::loopback::{Address, Hidden};

/// The bank's timeout. It is shorter than the worker's.
const BANK_TIMEOUT: Duration = Duration::from_secs(20);

/// The listener's address, and the path that only the worker knows.
pub(super) struct Endpoint {
    pub address: Address,
    pub authorize: Hidden,
}

impl Endpoint {
    /// `secret` is the unguessable part of the path, in characters that a path may have.
    pub fn new(port: u16, secret: &str) -> Endpoint {
        Endpoint { address: Address::new(port), authorize: Hidden::new(format!("/authorize/{secret}")) }
    }

    /// The origin, as a browser writes it.
    pub fn origin(&self) -> &str {
        self.address.origin()
    }
}

/// The state that the listener and the armed purchase share.
pub(super) struct Shared {
    pub endpoint: Endpoint,
    pub slot: Slot,
    pub bank: Arc<dyn Bank>,
    pub journal: Arc<dyn Journal>,
}

/// Returns the token, if the request matches the pending purchase.
pub(super) async fn authorise(shared: &Arc<Shared>, request: &PaymentRequest) -> Option<Token> {
    let (purchase, card) = shared.slot.take(request, Instant::now())?;
    // It is a task of its own: once the bank may know of the payment, a browser that disconnects must not end it.
    tokio::spawn(carry_out(shared.clone(), purchase, card)).await.ok().flatten()
}

async fn carry_out(shared: Arc<Shared>, purchase: Arc<Purchase>, card: SealedCard) -> Option<Token> {
    let intent = purchase.intent.clone();
    if journalled(&shared.journal, move |journal| journal.intend(&intent)).await.is_err() {
        purchase.advance(Stage::Authorising, Stage::Declined(DeclineReason::JournalUnavailable));
        return None;
    }
    let intent = &purchase.intent;
    let authorised = shared.bank.authorize(&intent.key, card, intent.amount, &intent.payee);
    let error = match timeout(BANK_TIMEOUT, authorised).await.unwrap_or(Err(BankError::Unreachable)) {
        Ok(token) if purchase.advance(Stage::Authorising, Stage::Authorised) => return Some(token),
        // The purchase was disarmed in the meantime, and the token is of no use.
        Ok(_) => BankError::Closed,
        Err(error) => error,
    };
    if error == BankError::Conflict {
        // The bank's record under this key was closed earlier and is another payment.
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
