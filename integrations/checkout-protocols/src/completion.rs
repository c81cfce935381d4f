//! A purchase from the user's yes to its end.
//!
//! The mandates, or the token, are sent by one call, with one key. Where no answer comes, the shop is asked what became of the checkout, and the same
//! call is sent again only where the shop says that the checkout is still open: the shop carries it out once, because the key, the bytes
//! and the mandates are the same. A token is sent once. Where the shop refuses, the checkout is cancelled. What is known at the end is one of three things:
//! bought, not bought and not to be bought any more, or unknown.

use std::time::Duration;

use serde_json::json;

use crate::agreement::{Agreement, Difference, is_same_delivery, is_same_order};
use crate::answer::{AnswerFault, Answered, ShopCode};
use crate::call::{Call, CheckoutAddress, Method, Reply};
use crate::checkout::{Stated, Status};
use crate::offer::AgreedOrder;
use crate::order::{Body, OrderFault};
use crate::profile::Profile;
use crate::receipt::Receipt;
use crate::signing::{LIFETIME, Signer};

/// How often the mandates are sent.
const TRIES: u8 = 2;
/// How long after the end of the mandates a shop may still take them, in seconds: its clock may be behind.
const GRACE: u64 = 30;
/// How often the shop is asked without an answer that says what became of the checkout.
const LOOKS: u8 = 20;
/// The pause before the shop is asked again.
const PAUSE: Duration = Duration::from_millis(500);

/// A purchase whose mandates are signed, or whose token is ready.
pub struct Completing {
    shop: Profile,
    at: CheckoutAddress,
    agreement: Agreement,
    mandates: Option<SentMandates>,
    complete: Call,
    cancel: Call,
    look: Call,
    phase: Phase,
    sent: u8,
    looks: u8,
    /// Why the shop refused, if it did.
    refused: Option<OrderFault>,
}

/// What is kept of the mandates. A token has neither.
pub(crate) struct SentMandates {
    /// The hash of the closed checkout mandate, which a receipt names.
    reference: String,
    /// The last second in which they hold.
    until: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Completing,
    Looking,
    Cancelling,
}

/// The next step after an answer.
pub enum Completion {
    /// A call is to be sent, after the pause.
    Call(Box<Completing>, Duration),
    /// The shop sold.
    Bought(Bought),
    /// The shop did not sell, and cannot sell by these mandates or this token any more.
    NotBought(OrderFault),
    /// It is not known whether the shop sold. It is to be found out later, by [`Recovering`].
    Unknown,
}

/// A purchase that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bought {
    /// The shop's id of the order.
    pub order: String,
    /// The shop's receipt.
    pub receipt: Receipt,
    /// The first difference between what the shop says that it sold and what was agreed to. Mandates let the shop take no more than
    /// was agreed to; for a token its payment handler sees to that.
    pub differs: Option<Difference>,
}

impl AgreedOrder {
    /// Signs the mandates. Before it, whoever calls it writes down that the purchase is about to be made. `random` gives 16 random bytes for
    /// each salt and key.
    pub fn sign(
        self,
        signer: &Signer<'_>,
        random: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<Completing, OrderFault> {
        let AgreedOrder { shop, at, handler, agreement, checkout, nonce, now } = self;
        let mandates = signer.authorise(checkout, &nonce, random)?;
        let instrument = &agreement.instrument;
        let body = Body(json!({
            "payment": {"instruments": [{
                "id": instrument.id,
                "handler_id": handler,
                "type": instrument.kind,
                "selected": true,
                "credential": {"type": "ap2_mandate", "token": mandates.payment},
            }]},
            "ap2": {"checkout_mandate": mandates.checkout},
        }));
        let complete = at.to("complete").ok_or(OrderFault::NotOffered)?;
        let complete = Call::change(&shop, Method::Post, complete, body.bytes()?, random());
        let reference = mandates.reference().ok_or(OrderFault::State)?;
        let sent = SentMandates { reference, until: now.saturating_add(LIFETIME) };
        Completing::begin(shop, at, agreement, complete, Some(sent), random)
    }
}

impl Completing {
    pub(crate) fn begin(
        shop: Profile,
        at: CheckoutAddress,
        agreement: Agreement,
        complete: Call,
        mandates: Option<SentMandates>,
        random: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<Completing, OrderFault> {
        let cancel = at.to("cancel").ok_or(OrderFault::NotOffered)?;
        Ok(Completing {
            cancel: Call::change(&shop, Method::Post, cancel, b"{}".to_vec(), random()),
            look: Call::get(&shop, at.url()),
            shop,
            at,
            agreement,
            mandates,
            complete,
            phase: Phase::Completing,
            sent: 1,
            looks: 0,
            refused: None,
        })
    }

    /// The call that is to be sent now.
    pub fn call(&self) -> &Call {
        match self.phase {
            Phase::Completing => &self.complete,
            Phase::Looking => &self.look,
            Phase::Cancelling => &self.cancel,
        }
    }

    /// Takes what came back. `now` is in seconds since 1970.
    pub fn answered(mut self, reply: Reply<'_>, now: u64) -> Completion {
        let answered = match Answered::read(reply, &self.shop, Some(&self.at.id)) {
            Ok(answered) => answered,
            Err(fault) => {
                // An answer that cannot be read says nothing about what the shop did.
                if self.phase == Phase::Completing && !matches!(fault, AnswerFault::Lost) {
                    self.refused = Some(fault.into());
                }
                return self.look();
            }
        };
        let content = answered.content();
        // A token does not end by itself, so that only the shop's word ends such a purchase.
        let ended = |grace| self.mandates.as_ref().is_some_and(|it| now > it.until.saturating_add(grace));
        let (is_over, is_surely_over) = (ended(0), ended(GRACE));
        match content.status {
            Status::Completed => self.bought(&answered),
            Status::Canceled => Completion::NotBought(self.refused.unwrap_or(OrderFault::State)),
            Status::CompleteInProgress => self.look(),
            Status::ReadyForComplete | Status::Incomplete | Status::RequiresEscalation => match self.phase {
                Phase::Completing => {
                    self.refused = Some(OrderFault::Incomplete(ShopCode::first(&content.messages)));
                    self.go(Phase::Cancelling, Duration::ZERO)
                }
                // No answer came, and the call may still be under way. A token is neither sent again nor is its checkout cancelled then, since
                // a shop that takes both at once may sell after it said that it did not.
                Phase::Looking if self.refused.is_none() && self.mandates.is_none() => self.look(),
                // The shop has the checkout open, so it did not get the mandates.
                Phase::Looking if self.refused.is_none() && self.sent < TRIES && !is_over => {
                    self.sent += 1;
                    self.go(Phase::Completing, Duration::ZERO)
                }
                Phase::Looking if is_surely_over => {
                    Completion::NotBought(self.refused.unwrap_or(AnswerFault::Lost.into()))
                }
                Phase::Looking => self.go(Phase::Cancelling, Duration::ZERO),
                Phase::Cancelling => self.look(),
            },
        }
    }

    /// Asks the shop what became of the checkout.
    fn look(mut self) -> Completion {
        self.looks = self.looks.saturating_add(1);
        if self.looks > LOOKS {
            return Completion::Unknown;
        }
        let pause = if self.phase == Phase::Completing { Duration::ZERO } else { PAUSE };
        self.go(Phase::Looking, pause)
    }

    fn go(mut self, phase: Phase, pause: Duration) -> Completion {
        self.phase = phase;
        Completion::Call(Box::new(self), pause)
    }

    /// The first difference between what the shop says that it sold and what was agreed to. A mandate is for one signed checkout; without it
    /// nothing ties the sale to the destination that was agreed to, so that is compared too.
    fn differs(&self, sold: &Stated) -> Option<Difference> {
        let order = is_same_order(sold, &self.agreement);
        match self.mandates {
            Some(_) => order.err(),
            None => order.and_then(|()| is_same_delivery(sold, &self.agreement)).err(),
        }
    }

    fn bought(&self, answered: &Answered) -> Completion {
        let Some(order) = answered.content().order.as_ref().filter(|order| !order.id.is_empty()) else {
            return Completion::Unknown;
        };
        let reference = self.mandates.as_ref().map(|it| it.reference.as_str());
        Completion::Bought(Bought {
            receipt: Receipt::judge(answered.receipt.as_deref(), &self.shop, reference, &order.id),
            differs: self.differs(answered.stated()),
            order: order.id.clone(),
        })
    }
}

/// Finding out what became of a checkout after a crash, or where a purchase ended as unknown.
pub struct Recovering {
    shop: Profile,
    at: CheckoutAddress,
    /// The last second in which the shop may take the mandates; none where it sells by a token, which does not end by itself.
    until: Option<u64>,
    call: Call,
    cancel: Option<Call>,
}

/// The next step after an answer.
pub enum Recovery {
    /// A call is to be sent.
    Call(Box<Recovering>),
    /// The shop sold: its id of the order.
    Bought(String),
    /// The shop did not sell, and cannot sell by these mandates any more.
    NotBought,
    /// It is still not known.
    Unknown,
}

impl Recovering {
    /// Begins with the shop's id of the checkout, and the second at which a purchase by mandates was written down; none for one by a token,
    /// which time does not end. None for an id that no checkout can have.
    pub fn begin(
        shop: Profile,
        id: &str,
        written_at: Option<u64>,
        random: &mut dyn FnMut() -> [u8; 16],
    ) -> Option<Recovering> {
        let at = CheckoutAddress::new(&shop, id)?;
        let cancel = Call::change(&shop, Method::Post, at.to("cancel")?, b"{}".to_vec(), random());
        let until = written_at.map(|at| at.saturating_add(LIFETIME).saturating_add(GRACE));
        Some(Recovering { call: Call::get(&shop, at.url()), cancel: Some(cancel), shop, at, until })
    }

    /// The call that is to be sent now.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Takes what came back. `now` is in seconds since 1970.
    pub fn answered(mut self, reply: Reply<'_>, now: u64) -> Recovery {
        let Ok(answered) = Answered::read(reply, &self.shop, Some(&self.at.id)) else {
            return Recovery::Unknown;
        };
        let content = answered.content();
        match (content.status, &content.order) {
            (Status::Completed, Some(order)) if !order.id.is_empty() => Recovery::Bought(order.id.clone()),
            (Status::Completed, _) | (Status::CompleteInProgress, _) => Recovery::Unknown,
            (Status::Canceled, _) => Recovery::NotBought,
            (Status::ReadyForComplete | Status::Incomplete | Status::RequiresEscalation, _) => {
                match self.cancel.take() {
                    Some(cancel) => {
                        self.call = cancel;
                        Recovery::Call(Box::new(self))
                    }
                    // The shop does not cancel. The mandates have ended by themselves, or will.
                    None if self.until.is_some_and(|until| now > until) => Recovery::NotBought,
                    None => Recovery::Unknown,
                }
            }
        }
    }
}
