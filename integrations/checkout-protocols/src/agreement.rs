//! This module compares a checkout with what the user agreed to, and names the first difference.

use std::num::NonZeroU32;

use url::Url;

use crate::address::{Buyer, PostalAddress};
use crate::checkout::{Checkout, Line, Message, Stated, Status, Total, VerifiedCheckout};
use crate::claims::{Amount, Instrument, Merchant};
use crate::signing::LIFETIME;

/// The order that the user agreed to. It has everything that the question showed. It holds the user's values, so it has no `Debug` and no
/// `Clone`.
pub struct Agreement {
    /// The shop that sells and is paid.
    pub payee: Merchant,
    /// The items, in any order.
    pub lines: Vec<AgreedLine>,
    /// The price of everything together.
    pub total: Amount,
    /// The address that the goods are sent to; none where no goods are sent.
    pub address: Option<PostalAddress>,
    /// The titles of the chosen ways of delivery, one for each parcel, in any order.
    pub delivery: Vec<String>,
    /// The buyer that the shop is told; none where it is told nobody.
    pub buyer: Option<Buyer>,
    /// The means of payment.
    pub instrument: Instrument,
    /// The shop's warnings and other notes that the question showed.
    pub shown: Vec<String>,
}

/// One line of what is bought.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgreedLine {
    /// The shop's name of the item.
    pub item: String,
    /// The title that people read.
    pub title: String,
    /// The number of pieces.
    pub quantity: NonZeroU32,
    /// The price of a piece, in the smallest unit of the currency.
    pub price: u64,
}

/// The first difference between a checkout and the agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// It cannot be completed as it stands.
    #[error("the shop does not say that the checkout is ready to be completed")]
    State,
    /// An error of the shop's, or a warning or note that the user was not shown.
    #[error("the shop adds an error, a warning or a note that you were not shown")]
    Message,
    /// Another seller.
    #[error("the shop that sells is not the one that you agreed to")]
    Payee,
    /// Other items, titles, prices or quantities.
    #[error("the items are not those that you agreed to")]
    Lines,
    /// Another currency.
    #[error("the currency is not the one that you agreed to")]
    Currency,
    /// The parts do not add up to the sum.
    #[error("the parts of the price do not add up to the total")]
    Sum,
    /// Other parts of the sum.
    #[error("the parts of the price are not those that you agreed to")]
    Parts,
    /// Another sum.
    #[error("the total is not the one that you agreed to")]
    Total,
    /// Another destination, several, or one for some lines only.
    #[error("the goods do not all go to the address that you agreed to")]
    Address,
    /// Another way of delivery, or a parcel without one.
    #[error("the delivery is not the one that you agreed to")]
    Delivery,
    /// Another buyer.
    #[error("the buyer's name, e-mail or telephone is not what you agreed to")]
    Buyer,
    /// The checkout ends before the mandate would.
    #[error("the checkout expires too soon, or does not say when in a form that can be read")]
    Expiry,
}

/// A checkout that equals what the user agreed to. Mandates are signed for nothing else, and signing takes the value. That one purchase
/// is made once is for its journal to say: the shop's text can be read and compared again.
pub struct AgreedCheckout {
    pub(crate) checkout: VerifiedCheckout,
    pub(crate) total: Amount,
    pub(crate) instrument: Instrument,
    /// When it was compared, in seconds since 1970.
    pub(crate) at: u64,
}

impl VerifiedCheckout {
    /// Compares it with what the user agreed to. `now` is in seconds since 1970.
    pub fn agreed(self, agreement: &Agreement, now: u64) -> Result<AgreedCheckout, Difference> {
        compare_at(&self.stated, agreement, now)?;
        let (total, instrument) = (agreement.total.clone(), agreement.instrument.clone());
        Ok(AgreedCheckout { checkout: self, total, instrument, at: now })
    }
}

impl Stated {
    /// The total of the checkout; none where its parts do not add up.
    pub(crate) fn total(&self) -> Option<Amount> {
        let amount = sum(&self.content)?;
        Some(Amount { amount, currency: self.content.currency.clone() })
    }
}

/// The first difference between the agreement and a checkout that can be completed until the mandates of now would end.
pub(crate) fn compare_at(stated: &Stated, agreement: &Agreement, now: u64) -> Result<(), Difference> {
    compare(stated, agreement)?;
    let is_lasting = lasts(&stated.content, now.saturating_add(LIFETIME));
    if is_lasting { Ok(()) } else { Err(Difference::Expiry) }
}

/// The first difference between a checkout that can be completed and the agreement.
pub(crate) fn compare(stated: &Stated, agreement: &Agreement) -> Result<(), Difference> {
    let checkout = &stated.content;
    let is_shown = |message: &Message| match &*message.kind {
        "info" | "warning" => agreement.shown.contains(&message.content),
        _ => false,
    };
    if checkout.status != Status::ReadyForComplete {
        return Err(Difference::State);
    }
    if !checkout.messages.iter().all(is_shown) {
        return Err(Difference::Message);
    }
    is_same_order(stated, agreement)?;
    is_same_delivery(stated, agreement)
}

/// The first difference in whom the goods go to, where and how.
pub(crate) fn is_same_delivery(stated: &Stated, agreement: &Agreement) -> Result<(), Difference> {
    let checkout = &stated.content;
    let ids: Vec<&str> = checkout.line_items.iter().map(|line| &*line.id).collect();
    let is_sent = match &agreement.address {
        Some(address) => checkout.fulfillment.ships_all_to(&ids, address),
        None => checkout.fulfillment.is_empty(),
    };
    if !is_sent {
        return Err(Difference::Address);
    }
    let mut delivery: Vec<&str> = agreement.delivery.iter().map(String::as_str).collect();
    delivery.sort_unstable();
    if checkout.fulfillment.chosen_options().as_ref() != Some(&delivery) {
        return Err(Difference::Delivery);
    }
    let is_buyer = match (&checkout.buyer, &agreement.buyer) {
        (Some(buyer), Some(agreed)) => buyer.is_same(agreed),
        (None, None) => true,
        _ => false,
    };
    if is_buyer { Ok(()) } else { Err(Difference::Buyer) }
}

/// The first difference in what is sold, by whom and for how much.
pub(crate) fn is_same_order(stated: &Stated, agreement: &Agreement) -> Result<(), Difference> {
    let checkout = &stated.content;
    let is_own = |site: &String| {
        Url::parse(site).is_ok_and(|site| site.origin().ascii_serialization() == stated.origin)
    };
    if checkout.merchant != agreement.payee || !checkout.merchant.website.iter().all(is_own) {
        return Err(Difference::Payee);
    }
    let mut lines: Vec<AgreedLine> = checkout.line_items.iter().map(AgreedLine::of).collect();
    let mut agreed = agreement.lines.clone();
    lines.sort();
    agreed.sort();
    if lines != agreed || lines.is_empty() || has_repeated_ids(checkout) {
        return Err(Difference::Lines);
    }
    if checkout.currency != agreement.total.currency {
        return Err(Difference::Currency);
    }
    let total = sum(checkout).ok_or(Difference::Sum)?;
    if total != agreement.total.amount {
        return Err(Difference::Total);
    }
    Ok(())
}

/// Whether a checkout can be completed until then.
fn lasts(checkout: &Checkout, until: u64) -> bool {
    let ends = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
    let until = i64::try_from(until).unwrap_or(i64::MAX);
    checkout.expires_at.as_deref().is_none_or(|text| ends(text).is_some_and(|end| end >= until))
}

impl AgreedLine {
    pub(crate) fn of(line: &Line) -> AgreedLine {
        AgreedLine {
            item: line.item.id.clone(),
            title: line.item.title.clone(),
            quantity: line.quantity,
            price: line.item.price,
        }
    }
}

fn has_repeated_ids(checkout: &Checkout) -> bool {
    let mut ids: Vec<&str> = checkout.line_items.iter().map(|line| &*line.id).collect();
    ids.sort_unstable();
    ids.windows(2).any(|pair| pair.first() == pair.get(1))
}

/// The total, where the parts of each line, the lines, and the parts of the checkout add up; none where they do not, and none below zero.
fn sum(checkout: &Checkout) -> Option<u64> {
    let mut lines: i64 = 0;
    for line in &checkout.line_items {
        let price = i64::try_from(line.item.price).ok()?.checked_mul(i64::from(line.quantity.get()))?;
        let (subtotal, _) = added(&line.totals)?;
        if subtotal != price {
            return None;
        }
        lines = lines.checked_add(subtotal)?;
    }
    let (subtotal, total) = added(&checkout.totals)?;
    if subtotal != lines {
        return None;
    }
    u64::try_from(total).ok()
}

/// Subtotal and total of a list that has one of each, and whose other parts add up to their difference. Only a discount is below zero.
fn added(totals: &[Total]) -> Option<(i64, i64)> {
    let one = |kind: &str| {
        let mut found = totals.iter().filter(|part| part.kind == kind);
        match (found.next(), found.next()) {
            (Some(part), None) => Some(part.amount),
            _ => None,
        }
    };
    let (subtotal, total) = (one("subtotal")?, one("total")?);
    let mut added = subtotal;
    for part in totals.iter().filter(|part| !["subtotal", "total"].contains(&&*part.kind)) {
        if part.kind.ends_with("discount") != (part.amount < 0) && part.amount != 0 {
            return None;
        }
        added = added.checked_add(part.amount)?;
    }
    (subtotal >= 0 && added == total).then_some((subtotal, total))
}
