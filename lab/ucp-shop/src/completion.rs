//! The checks before a sale, and the sale.

use checkout_protocols::{Accepted, Amount, Expected, MandateFault, Mandates, UsedMandates};

use crate::behaviour::Behaviour;
use crate::body::CompleteBody;
use crate::ledger::{Sale, SoldLine};
use crate::names::{Entropy, foreign_hash, name};
use crate::offer::{Confirmation, Message, Offer, Severity, Status};
use crate::order::{Unavailable, is_in_stock};
use crate::profile::HANDLER_ID;
use crate::receipt::{Issued, Receipts, signed, unsigned};
use crate::session::Sold;
use crate::trade::{Form, Trade};

/// Why a completion is refused. The checkout stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsold {
    #[error("the checkout is not ready to be completed")]
    State,
    #[error("the shop sells by a checkout mandate and a payment mandate")]
    Missing,
    #[error("one instrument of the test money pays, and the payment mandate names the same one")]
    Instrument,
    #[error("the shop did not sign its checkout")]
    Unsigned,
    #[error("the shop's signature does not count, or its checkout cannot be compared")]
    Authorization,
    #[error(transparent)]
    Mandate(#[from] MandateFault),
    #[error(transparent)]
    Stock(Unavailable),
}

impl Unsold {
    /// UCP's code.
    fn code(self) -> &'static str {
        match self {
            Unsold::State => "invalid_state",
            Unsold::Missing => "mandate_required",
            Unsold::Instrument => "payment_failed",
            Unsold::Unsigned => "merchant_authorization_missing",
            Unsold::Authorization => "merchant_authorization_invalid",
            Unsold::Stock(why) => why.code(),
            Unsold::Mandate(fault) => match fault {
                MandateFault::Token(_)
                | MandateFault::Chain
                | MandateFault::Kind
                | MandateFault::Claims
                | MandateFault::Surface
                | MandateFault::Key(_)
                | MandateFault::Binding => "mandate_invalid_signature",
                MandateFault::Time => "mandate_expired",
                MandateFault::Audience
                | MandateFault::Nonce
                | MandateFault::Checkout
                | MandateFault::Scope
                | MandateFault::Payment
                | MandateFault::Used => "mandate_scope_mismatch",
            },
        }
    }

    /// The message that the checkout gets.
    pub(crate) fn message(self) -> Message {
        Message::error(self.code(), Severity::Recoverable, self.to_string())
    }
}

/// Verifies that both mandates are for this offer, which is the one that the shop would sign now, and marks them as used. A refused
/// completion marks nothing.
pub(crate) fn check(
    trade: &Trade,
    offer: &Offer,
    body: &CompleteBody,
    nonce: &str,
    now: u64,
    used: &mut UsedMandates,
) -> Result<Accepted, Unsold> {
    if offer.status != Status::ReadyForComplete {
        return Err(Unsold::State);
    }
    let checkout = body.checkout_mandate().ok_or(Unsold::Missing)?;
    let instrument = body.instrument().ok_or(Unsold::Missing)?;
    let payment = instrument.mandate().ok_or(Unsold::Missing)?;
    if !is_in_stock(&offer.order.lines, &trade.catalogue) {
        return Err(Unsold::Stock(Unavailable::Stock));
    }
    let jwt = trade.sign(offer).ok_or(Unsold::Unsigned)?;
    let signed = trade.verify(&jwt).ok_or(Unsold::Authorization)?;
    let mandates = Mandates { checkout: checkout.to_owned(), payment: payment.to_owned() };
    let shop = checkout_protocols::Shop { merchant: &offer.merchant, surfaces: &trade.surfaces };
    // The instrument is known only after the mandates are accepted, so they are marked in a copy first.
    let mut marked = used.clone();
    let accepted = shop.accept(&mandates, &Expected { checkout: &signed, nonce, now }, &mut marked)?;
    let is_same = accepted.instrument.id == instrument.id && accepted.instrument.kind == instrument.kind;
    if !is_same || instrument.handler_id != HANDLER_ID || instrument.kind != HANDLER_ID {
        return Err(Unsold::Instrument);
    }
    *used = marked;
    Ok(accepted)
}

/// Makes the sale of an accepted offer, with receipts for its mandates.
pub(crate) fn sold(
    trade: &Trade,
    mut offer: Offer,
    accepted: &Accepted,
    now: u64,
    entropy: &mut Entropy<'_>,
) -> Result<(Sold, Sale), Unsold> {
    let (order, payment) = (name("ord_", entropy), name("pay_", entropy));
    let destination = offer.destination().ok_or(Unsold::State)?.address.clone();
    trade.behaviour.change_sold(&mut offer);
    offer.status = Status::Completed;
    offer.continue_url = None;
    let permalink_url = format!("{}/orders/{order}", trade.origin);
    offer.confirmation = Some(Confirmation { id: order.clone(), permalink_url });
    let mut reference = |own: &str| match trade.behaviour {
        Behaviour::ReceiptForAnother => foreign_hash(entropy),
        _ => own.to_owned(),
    };
    let issued = Issued { by: &trade.origin, at: now };
    let checkout = issued.checkout(&reference(&accepted.checkout_reference), &order);
    let payment = issued.payment(&reference(&accepted.payment_reference), &payment);
    let write = |receipt| match trade.behaviour {
        Behaviour::ReceiptUnsigned => Ok(unsigned(&trade.key_name, &receipt)),
        _ => signed(&trade.key, &trade.key_name, receipt).map_err(|_| Unsold::Authorization),
    };
    // A token gets no receipt.
    let receipts = match trade.form {
        Form::Later => Some(Receipts { checkout: write(checkout)?, payment: write(payment)? }),
        Form::First => None,
    };
    let lines = offer.order.lines.iter().map(|line| SoldLine {
        item: line.item.clone(),
        title: line.title.clone(),
        quantity: line.quantity,
        price: line.price,
    });
    let sale = Sale {
        order,
        session: offer.id.clone(),
        payee: offer.merchant.clone(),
        lines: lines.collect(),
        total: Amount { amount: offer.totals().total, currency: accepted.total.currency.clone() },
        destination,
        buyer: offer.order.buyer.clone(),
        at: now,
    };
    Ok((Sold { offer, receipts }, sale))
}
