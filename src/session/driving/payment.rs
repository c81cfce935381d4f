//! A purchase through the browser's payment interface.

use std::time::Duration;

use browser_signals::Origin;
use browser_signals::playwright::Tab;
use policy_dfa::Reason;

use super::verbs::reason_of;
use crate::checkout::{ArmError, Outcome, Pending, PurchaseId};
use crate::guard::Dependencies;
use crate::session::core::Payment;

/// The time for the shop to redeem a payment before it is voided.
const REDEEM_WITHIN: Duration = Duration::from_secs(20);

/// The time for the shop to show its receipt before the agent goes on.
const RECEIPT_WITHIN: Duration = Duration::from_secs(1);

/// Carries one purchase out: arms the handler for exactly this payee and amount, lets the browser use it, presses the
/// shop's button, and closes everything again whatever happens.
pub(super) async fn pay(tab: &Tab, dependencies: &mut Dependencies, payment: Payment) -> Result<(), Reason> {
    let Payment { card, payee, amount, button, decided } = payment;
    let Some(handler) = dependencies.payments.clone() else { return Err(Reason::DeliveryForbidden) };
    let mut id = [0; 16];
    dependencies.entropy.fill(&mut id);
    let pending = Pending::new(payee.clone(), payee, amount);
    let armed = handler.arm(pending, card, PurchaseId(id)).map_err(|error| match error {
        ArmError::AlreadyPending => Reason::BudgetSpent,
        ArmError::Mismatch => Reason::ClaimMismatch,
        ArmError::Unsettled => Reason::PaymentDeclined,
        ArmError::JournalUnavailable => Reason::AuditUnavailable,
    })?;
    let origin = handler.origin();
    let started = match tab.payment_permission(&origin, true).await {
        Ok(()) => tab.click(&button, &decided).await,
        Err(error) => Err(error),
    };
    // A shop can start the payment as soon as the mouse button is down. The bank's answer counts even if the click then
    // failed, so that a completed payment is never reported as refused.
    let within = if started.is_ok() { REDEEM_WITHIN } else { Duration::ZERO };
    let outcome = armed.outcome(within).await;
    close_payments(tab, &origin).await;
    match outcome {
        Outcome::Paid { .. } => {
            // The shop shows its receipt, which the agent should read next.
            let _lost_after_payment = tab.wait_for_navigation(&decided, RECEIPT_WITHIN).await;
            Ok(())
        }
        Outcome::Unasked => Err(started.err().map_or(Reason::NoPaymentInterface, |error| reason_of(&error))),
        Outcome::Declined(_) | Outcome::Expired | Outcome::Unsettled => {
            Err(started.err().map_or(Reason::PaymentDeclined, |error| reason_of(&error)))
        }
    }
}

/// Revokes the browser's permission for the payment handler. If the browser does not answer, this closes the container.
/// The handler itself is disarmed either way.
async fn close_payments(tab: &Tab, handler: &Origin) {
    if tab.payment_permission(handler, false).await.is_err() {
        tab.close().await;
    }
}
