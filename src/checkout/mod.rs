//! Purchases through the browser's payment interface.
//!
//! The guard is a payment handler of its own. A shop lists it in a `PaymentRequest`. The browser calls it through a service
//! worker and itself names the page that requests the payment, and the amount. The card goes from the vault to the bank and
//! never into the browser: the page gets a token that the bank honours once, from this payee, for this amount.
//!
//! The steps of one purchase:
//!
//! 1. [`PaymentHandler::arm`] takes the sealed card and the [`Pending`] purchase, one at a time.
//! 2. The caller opens the browser's `payment-handler` permission for [`PaymentHandler::origin`] in the one browser
//!    context, and presses the shop's button.
//! 3. The worker forwards the browser's request. An exact match with the pending purchase takes the card, once; any other
//!    request is answered `denied`.
//! 4. The intent is written to the [`Journal`] and synced. If that fails, nothing is paid.
//! 5. The [`Bank`] authorises under a key made from the [`PurchaseId`], and the page gets the token.
//! 6. [`Armed::outcome`] asks the bank whether the shop has redeemed the token, and voids it if not in time.
//! 7. The caller closes the permission again.
//!
//! **A mismatch is denied and does not disarm.** With the permission open, any page of the browser context can call the
//! handler, silently. If such a call used up the pending purchase, a page on another origin could stop the user's purchase
//! at will. Instead it gets the same `denied` whether a purchase is pending or not. The payee itself can try other amounts,
//! and succeeds only with the one that the user agreed to.
//!
//! **A crash never charges twice.** Between authorising and answering, the intent is in the journal and the authorisation
//! at the bank. [`recover`] finds both at the next start: a redeemed purchase is closed as paid, every other one is voided.
//! The same purchase run again uses the same key, for which the bank has one authorisation at most.
//!
//! | module | subject |
//! |---|---|
//! | `bank` | the trait of a bank |
//! | `purchase` | a purchase's id, and the key made from it |
//! | `pending` | the one purchase that may happen now |
//! | `handler` | the payment handler: starting the listener, arming a purchase |
//! | `listener` | which requests are served |
//! | `authorise` | from the worker's request to the token |
//! | `armed` | waiting for the end of a purchase |
//! | `journal` | the journal of intents and ends |
//! | `recovery` | closing the purchases that a crash left open |

mod armed;
mod authorise;
mod bank;
mod handler;
mod journal;
mod listener;
mod pending;
mod purchase;
mod recovery;

pub use armed::{Armed, Outcome};
pub use bank::{Bank, BankAnswer, BankError, BankStatus, Token};
pub use handler::{ArmError, PaymentHandler};
pub(crate) use journal::journalled;
pub use journal::{FileJournal, Intent, Journal, JournalError, MemoryJournal, OpenCheckout, Settlement};
pub use pending::{DeclineReason, LIFETIME, Pending};
pub use purchase::{IdempotencyKey, PurchaseId};
pub use recovery::{RecoverError, recover};
