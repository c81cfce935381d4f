//! Closing the purchases that a crash left open.

use std::sync::Arc;

use super::bank::{Bank, BankError, BankStatus};
use super::journal::{Intent, Journal, JournalError, Settlement, journalled};

/// Why a recovery could not be finished. Closed purchases stay closed; the others are left to the next recovery.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The bank did not answer for some of the purchases.
    #[error("{open} of the purchases begun earlier could not be closed: {error}")]
    Bank {
        /// The number of purchases that are still open.
        open: usize,
        /// The first error.
        error: BankError,
    },
}

/// Closes every open purchase that is paid through the bank, and returns the end of each: a redeemed purchase is paid, every other one is voided. It is to
/// be called at the start, before a purchase is armed.
///
/// # Errors
/// [`RecoverError`], after the bank was asked about all of them.
pub async fn recover(
    journal: &Arc<dyn Journal>,
    bank: &dyn Bank,
) -> Result<Vec<(Intent, Settlement)>, RecoverError> {
    let mut closed = Vec::new();
    let mut first_error = None;
    let mut open = 0;
    // The bank knows nothing of an order by a shop's protocol.
    for intent in journal.open_intents()?.into_iter().filter(|intent| intent.checkout.is_none()) {
        match close(journal, bank, &intent).await {
            Ok(settlement) => closed.push((intent, settlement)),
            Err(error) => {
                open += 1;
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) => Err(RecoverError::Bank { open, error }),
        None => Ok(closed),
    }
}

/// Closes one purchase at the bank, then in the journal. If the journal cannot be written, it stays open there, and the
/// next recovery gets the same answer from the bank.
pub(super) async fn close(
    journal: &Arc<dyn Journal>,
    bank: &dyn Bank,
    intent: &Intent,
) -> Result<Settlement, BankError> {
    let settlement = match bank.void(&intent.key).await? {
        BankStatus::Redeemed => Settlement::Paid,
        BankStatus::Voided => Settlement::Voided,
        BankStatus::Unknown | BankStatus::Authorised => return Err(BankError::Unreachable),
    };
    let id = intent.purchase;
    let written = journalled(journal, move |journal| journal.settle(id, settlement)).await;
    if let Err(error) = written {
        tracing::warn!(%error, "a purchase was closed at the bank and stays open in the journal");
    }
    Ok(settlement)
}
