//! Amounts that a request names beside a card.
//!
//! A site can charge any amount whatever its request says, so this finds only a form that says another amount than its page. Names that
//! mean the sum of an order are compared, and nothing else: the price of one item may be greater than a total with a discount.

use sirl::Money;

use super::pieces::Piece;
use crate::guard::mandate::amount_as_written;

/// Names of the sum of an order, without spaces and signs, in lower case.
const NAMES: [&str; 13] = [
    "total",
    "amount",
    "ordertotal",
    "grandtotal",
    "totalamount",
    "amounttotal",
    "totalprice",
    "gesamtbetrag",
    "betrag",
    "summe",
    "montant",
    "importe",
    "bedrag",
];

/// Whether a part of a request names a greater amount than each of these totals. A whole number counts as minor or as major units,
/// whichever is less. Without a total there is nothing to compare with.
pub(super) fn exceeds(pieces: &[Piece], totals: &[Money]) -> bool {
    let is_sum = |name: &str| {
        let letters: String =
            name.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
        NAMES.contains(&letters.as_str())
    };
    let named = || pieces.iter().filter(|(name, _)| is_sum(name)).map(|(_, text)| text.trim());
    let exceeds = |text: &str, total: &Money| least(text, *total).is_some_and(|amount| amount > total.minor);
    !totals.is_empty() && named().any(|text| totals.iter().all(|total| exceeds(text, total)))
}

/// The least amount that a text can mean, in minor units of the total's currency.
fn least(text: &str, total: Money) -> Option<u64> {
    let minor = text.parse::<u64>().ok();
    let major = amount_as_written(text, total.currency);
    minor.into_iter().chain(major).min()
}

#[cfg(test)]
mod tests {
    use sirl::Currency;

    use super::*;

    fn exceeds_1615(name: &str, text: &str) -> bool {
        let total = Money { minor: 1615, currency: Currency::new("USD").unwrap() };
        exceeds(&[("card".to_owned(), "4111".to_owned()), (name.to_owned(), text.to_owned())], &[total])
    }

    #[test]
    fn only_a_greater_sum_exceeds() {
        for (name, text) in
            [("total", "16.16"), ("order_total", "18,15"), ("Amount", "1815"), ("grandTotal", "80.75")]
        {
            assert!(exceeds_1615(name, text), "{name} {text}");
        }
        for (name, text) in [
            ("total", "16.15"),
            ("total", "1615"),
            ("amount", "16"),
            ("amount", "9.00"),
            ("amount", "monthly"),
            ("price", "80.75"),
            ("total_items", "5000"),
        ] {
            assert!(!exceeds_1615(name, text), "{name} {text}");
        }
        assert!(!exceeds(&[("total".to_owned(), "99999".to_owned())], &[]), "no total was agreed to");
    }
}
