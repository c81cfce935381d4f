//! What the user agreed to, and the first difference of a checkout from it.

use std::num::NonZeroU32;

use crate::address::{Buyer, PostalAddress};
use crate::checkout::{Checkout, Status, Total, VerifiedCheckout};
use crate::claims::{Amount, Instrument, Merchant};
use crate::signing::LIFETIME;

/// What the user agreed to: all that a question showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// Who sells and is paid.
    pub payee: Merchant,
    /// What is bought, in any order.
    pub lines: Vec<AgreedLine>,
    /// What it costs in all.
    pub total: Amount,
    /// Where it goes; none where nothing is shipped.
    pub address: Option<PostalAddress>,
    /// Who buys; none where the shop is told nobody.
    pub buyer: Option<Buyer>,
    /// What pays.
    pub instrument: Instrument,
    /// The shop's warnings that the question showed.
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
    /// An error of the shop's, or a warning that the user was not shown.
    #[error("the shop adds an error or a warning that you were not shown")]
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
    /// Another sum.
    #[error("the total is not the one that you agreed to")]
    Total,
    /// Another destination, several, or one for some lines only.
    #[error("the goods do not all go to the address that you agreed to")]
    Address,
    /// Another buyer.
    #[error("the buyer's name, e-mail or telephone is not what you agreed to")]
    Buyer,
    /// The checkout ends before the mandate would.
    #[error("the checkout expires too soon, or does not say when in a form that can be read")]
    Expiry,
}

/// A checkout that equals what the user agreed to. Mandates are signed for nothing else, and once.
#[derive(Debug, PartialEq)]
pub struct AgreedCheckout {
    pub(crate) checkout: VerifiedCheckout,
    pub(crate) agreement: Agreement,
}

impl VerifiedCheckout {
    /// Compares it with what the user agreed to. `now` is in seconds since 1970.
    pub fn agreed(self, agreement: &Agreement, now: u64) -> Result<AgreedCheckout, Difference> {
        compare(&self.content, agreement)?;
        if !lasts(&self.content, now.saturating_add(LIFETIME)) {
            return Err(Difference::Expiry);
        }
        Ok(AgreedCheckout { checkout: self, agreement: agreement.clone() })
    }

    /// The total of the checkout; none where its parts do not add up.
    pub(crate) fn total(&self) -> Option<Amount> {
        let amount = sum(&self.content)?;
        Some(Amount { amount, currency: self.content.currency.clone() })
    }
}

fn compare(checkout: &Checkout, agreement: &Agreement) -> Result<(), Difference> {
    let is_shown = |message: &crate::checkout::Message| match &*message.kind {
        "info" => true,
        "warning" => agreement.shown.contains(&message.content),
        _ => false,
    };
    if checkout.status != Status::ReadyForComplete {
        return Err(Difference::State);
    }
    if !checkout.messages.iter().all(is_shown) {
        return Err(Difference::Message);
    }
    if checkout.merchant != agreement.payee {
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
    let ids: Vec<&str> = checkout.line_items.iter().map(|line| &*line.id).collect();
    let is_sent = match &agreement.address {
        Some(address) => checkout.fulfillment.ships_all_to(&ids, address),
        None => checkout.fulfillment.is_empty(),
    };
    if !is_sent {
        return Err(Difference::Address);
    }
    if checkout.buyer == agreement.buyer { Ok(()) } else { Err(Difference::Buyer) }
}

/// Whether a checkout can be completed until then.
fn lasts(checkout: &Checkout, until: u64) -> bool {
    let ends = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
    let until = i64::try_from(until).unwrap_or(i64::MAX);
    checkout.expires_at.as_deref().is_none_or(|text| ends(text).is_some_and(|end| end >= until))
}

impl AgreedLine {
    fn of(line: &crate::checkout::Line) -> AgreedLine {
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

/// The total, if the parts add up: those of each line, the lines to the subtotal, and the subtotal with the rest to the total. None
/// also where a sum is below zero.
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
