//! The shop's offer as the user is asked about it: in the shop's words, which are bounded in length.

use checkout_protocols::{Offered, Part};
use sirl::{Currency, Money};

use crate::consent::{OfferedLine, SeenOffer};

/// The longest text of a shop's that a question shows, in characters.
const MAX_TEXT: usize = 200;
/// The most lines of a shop's that a question shows about one subject.
const MAX_LINES: usize = 20;

/// The offer for a question; none where it is too long to be shown whole, or its total is no amount.
pub(super) fn seen(offered: &Offered) -> Option<SeenOffer> {
    let total = total(offered)?;
    let amount = |minor: u64| Money { minor, currency: total.currency };
    let lines = offered.lines().iter().map(|line| OfferedLine {
        title: line.title.clone(),
        quantity: line.quantity.get(),
        price: amount(line.price),
    });
    // A part that costs nothing says nothing.
    let parts = offered.parts().iter().filter(|part| part.amount != 0).map(|part| {
        let sign = if part.amount < 0 { "-" } else { "" };
        let text = part.text.as_deref().unwrap_or(&part.kind);
        format!("{text}: {sign}{}", amount(part.amount.unsigned_abs()))
    });
    let is_other = |part: &Part| !["fulfillment", "tax"].contains(&&*part.kind) && part.amount > 0;
    let seen = SeenOffer {
        is_signed: offered.is_signed(),
        has_other_costs: offered.parts().iter().any(is_other),
        total,
        seller: offered.payee().name.clone(),
        lines: lines.collect(),
        parts: parts.collect(),
        delivery: offered.delivery().to_vec(),
        warnings: offered.warnings().to_vec(),
    };
    let is_short = |text: &String| text.chars().count() <= MAX_TEXT;
    let texts = [&seen.parts, &seen.delivery, &seen.warnings];
    let are_short = texts.iter().all(|texts| texts.len() <= MAX_LINES && texts.iter().all(is_short));
    let are_lines_short =
        seen.lines.len() <= MAX_LINES && seen.lines.iter().all(|line| is_short(&line.title));
    (are_short && are_lines_short && is_short(&seen.seller)).then_some(seen)
}

/// The total of an offer; none where it is no amount that can be written.
pub(super) fn total(offered: &Offered) -> Option<Money> {
    let total = offered.total();
    let currency = Currency::new(&total.currency.to_string())?;
    (total.amount <= Money::MAX_MINOR).then_some(Money { minor: total.amount, currency })
}
