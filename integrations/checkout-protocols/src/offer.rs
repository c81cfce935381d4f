//! What a shop offers for an order: what the user is asked about, and the second look after the user's yes.

use crate::address::PostalAddress;
use crate::agreement::{AgreedCheckout, AgreedLine, Agreement, Difference, compare, compare_at};
use crate::answer::{AnswerFault, Answered, AnsweredCheckout};
use crate::call::{Call, CheckoutAddress, Method, Reply};
use crate::checkout::{Checkout, Stated, Total};
use crate::claims::{Amount, Merchant};
use crate::order::{OrderFault, Wanted, Wish};
use crate::profile::{Profile, Version};
use crate::unsigned::UnsignedOrder;

/// How often the second look is tried.
const TRIES: u8 = 3;

/// A checkout that a shop stated for exactly the items that were wanted, to the address that it was given. All of its texts are the
/// shop's.
pub struct Offered {
    shop: Profile,
    at: CheckoutAddress,
    handler: String,
    agreement: Agreement,
    parts: Vec<Part>,
    is_signed: bool,
    /// The chosen ways of delivery: the shop's ids, and what they cost.
    options: Vec<(String, Option<i64>)>,
}

/// A part of the total, such as delivery or taxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The kind, such as `fulfillment` or `tax`.
    pub kind: String,
    /// The shop's words for it.
    pub text: Option<String>,
    /// The amount, in the smallest unit of the currency; below zero for a discount.
    pub amount: i64,
}

impl Offered {
    /// Compares what the shop offers with what was wanted.
    pub(crate) fn new(
        shop: Profile,
        wish: Wish,
        at: CheckoutAddress,
        answered: &Answered,
    ) -> Result<Offered, OrderFault> {
        let content = answered.content();
        let handler = shop.takes(&wish.means).ok_or(OrderFault::NotOffered)?.to_owned();
        // In the first form the shop is told a currency, and titles that are the names of the items: an answer in another currency is another
        // price, and one with these titles does not say what is sold.
        let is_first = shop.version() == Version::January11;
        if is_first && wish.currency.as_ref() != Some(&content.currency) {
            return Err(OrderFault::Differs(Difference::Currency));
        }
        if is_first && content.line_items.iter().any(|line| line.item.title == line.item.id) {
            return Err(OrderFault::Differs(Difference::Lines));
        }
        let agreement = agreement(answered.stated(), wish)?;
        Ok(Offered {
            parts: parts(content),
            is_signed: matches!(answered.checkout, AnsweredCheckout::Signed(_)),
            options: content.fulfillment.chosen(),
            shop,
            at,
            handler,
            agreement,
        })
    }

    /// Who sells.
    pub fn payee(&self) -> &Merchant {
        &self.agreement.payee
    }

    /// The origin of the shop.
    pub fn origin(&self) -> String {
        self.shop.origin()
    }

    /// The shop's id of the checkout, by which [`Recovering`](crate::Recovering) finds it again.
    pub fn id(&self) -> &str {
        &self.at.id
    }

    /// Whether the shop signed the checkout. Without its signature nobody can prove afterwards what it offered.
    pub fn is_signed(&self) -> bool {
        self.is_signed
    }

    /// The lines, with the shop's titles.
    pub fn lines(&self) -> &[AgreedLine] {
        &self.agreement.lines
    }

    /// The parts of the total beside the lines.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The total.
    pub fn total(&self) -> &Amount {
        &self.agreement.total
    }

    /// Where the goods go.
    pub fn address(&self) -> Option<&PostalAddress> {
        self.agreement.address.as_ref()
    }

    /// The titles of the ways of delivery, one for each parcel.
    pub fn delivery(&self) -> &[String] {
        &self.agreement.delivery
    }

    /// The shop's warnings and other notes. A user who was not shown them did not agree.
    pub fn warnings(&self) -> &[String] {
        &self.agreement.shown
    }

    /// The call that cancels the checkout, for a user who does not want it: the shop need not keep the address until it expires. `key` is
    /// 16 random bytes.
    pub fn abandon(self, key: [u8; 16]) -> Option<Call> {
        Some(Call::change(&self.shop, Method::Post, self.at.to("cancel")?, b"{}".to_vec(), key))
    }

    /// Looks at the checkout once more. It is to be called after the user agreed to all of the above: what the shop changed in the
    /// meantime is refused.
    pub fn confirm(self) -> Confirming {
        let call = Call::get(&self.shop, self.at.url());
        Confirming { offered: self, call, tries: 1 }
    }
}

/// What the user is asked to agree to, where the shop offers what was wanted.
pub(crate) fn agreement(stated: &Stated, wish: Wish) -> Result<Agreement, OrderFault> {
    let Wish { items, address, buyer, means, currency: _ } = wish;
    let content = &stated.content;
    let lines: Vec<AgreedLine> = content.line_items.iter().map(AgreedLine::of).collect();
    if !are_wanted(&lines, &items) {
        return Err(OrderFault::Differs(Difference::Lines));
    }
    let total = stated.total().ok_or(Difference::Sum)?;
    let delivery = content.fulfillment.chosen_options().ok_or(Difference::Delivery)?;
    let agreement = Agreement {
        payee: content.merchant.clone(),
        lines,
        total,
        address,
        delivery: delivery.into_iter().map(str::to_owned).collect(),
        buyer,
        instrument: means.instrument,
        shown: notes(content),
    };
    compare(stated, &agreement)?;
    Ok(agreement)
}

/// Whether the lines are the items that were wanted, each once and in its number.
pub(crate) fn are_wanted(lines: &[AgreedLine], items: &[Wanted]) -> bool {
    let line = |it: &AgreedLine| Wanted { item: it.item.clone(), quantity: it.quantity };
    let mut lines: Vec<Wanted> = lines.iter().map(line).collect();
    let mut items = items.to_vec();
    lines.sort();
    items.sort();
    lines == items
}

/// What the shop says beside the checkout: its warnings and other notes.
fn notes(content: &Checkout) -> Vec<String> {
    let notes = content.messages.iter().filter(|message| message.kind != "error");
    notes.map(|message| message.content.clone()).collect()
}

/// The parts of the total beside the lines, in the shop's order.
fn parts(content: &Checkout) -> Vec<Part> {
    let parts = content.totals.iter().filter(|total| !["subtotal", "total"].contains(&&*total.kind));
    let part = |total: &Total| Part {
        kind: total.kind.clone(),
        text: total.display_text.clone(),
        amount: total.amount,
    };
    parts.map(part).collect()
}

/// The second look at a checkout that the user agreed to.
pub struct Confirming {
    offered: Offered,
    call: Call,
    tries: u8,
}

/// The next step after the second look.
pub enum Confirmed {
    /// No answer came: the call is to be sent once more.
    Call(Box<Confirming>),
    /// The checkout is as the user agreed to it, and the shop signed it.
    Agreed(Box<AgreedOrder>),
    /// The checkout is as the user agreed to it, at a shop that signs none.
    AgreedUnsigned(Box<UnsignedOrder>),
}

/// An order that the user agreed to and that the shop still offers so. Only [`sign`](AgreedOrder::sign) can follow.
pub struct AgreedOrder {
    pub(crate) shop: Profile,
    pub(crate) at: CheckoutAddress,
    pub(crate) handler: String,
    pub(crate) agreement: Agreement,
    pub(crate) checkout: AgreedCheckout,
    pub(crate) nonce: String,
    pub(crate) now: u64,
}

impl Confirming {
    /// The call that is to be sent now.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Takes what came back. `now` is in seconds since 1970.
    pub fn answered(mut self, reply: Reply<'_>, now: u64) -> Result<Confirmed, OrderFault> {
        let answered = match Answered::read(reply, &self.offered.shop, Some(&self.offered.at.id)) {
            Err(fault) if fault.may_pass() && self.tries < TRIES => {
                self.tries += 1;
                return Ok(Confirmed::Call(Box::new(self)));
            }
            answered => answered?,
        };
        let Offered { shop, at, handler, agreement, parts: shown, options, is_signed: _ } = self.offered;
        compare_at(answered.stated(), &agreement, now)?;
        let content = answered.content();
        if parts(content) != shown {
            return Err(OrderFault::Differs(Difference::Parts));
        }
        if content.fulfillment.chosen() != options {
            return Err(OrderFault::Differs(Difference::Delivery));
        }
        let checkout = match answered.checkout {
            AnsweredCheckout::Signed(checkout) => checkout.agreed(&agreement, now)?,
            AnsweredCheckout::Unsigned(_) => {
                let unsigned = UnsignedOrder { shop, at, handler, agreement };
                return Ok(Confirmed::AgreedUnsigned(Box::new(unsigned)));
            }
        };
        let nonce = answered.nonce.ok_or(AnswerFault::Nonce)?;
        Ok(Confirmed::Agreed(Box::new(AgreedOrder { shop, at, handler, agreement, checkout, nonce, now })))
    }
}
