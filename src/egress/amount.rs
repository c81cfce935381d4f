//! Amounts that a request names beside a card.
//!
//! A site can charge any amount whatever its request says, so this finds only a form that says another amount than its page. Names that
//! mean the sum of an order are compared, and nothing else: the price of one item may be greater than a total with a discount.

use serde_json::Value;
use sirl::Money;
use url::Url;

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

/// Whether a request names a greater sum than each of these totals, in its address, its form or the top level of its JSON. A whole number
/// counts as minor or as major units, whichever is less. Without a total there is nothing to compare with.
pub(super) fn exceeds(url: &Url, body: &str, totals: &[Money]) -> bool {
    let is_sum = |name: &str| {
        let letters: String =
            name.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
        NAMES.contains(&letters.as_str())
    };
    let exceeds = |text: &str, total: &Money| least(text, *total).is_some_and(|amount| amount > total.minor);
    let named = |(name, text): (String, String)| {
        is_sum(&name) && totals.iter().all(|total| exceeds(text.trim(), total))
    };
    !totals.is_empty() && url.query_pairs().into_owned().chain(members(body)).any(named)
}

/// The names and values of a form, or of the top level of a JSON object.
fn members(body: &str) -> Vec<(String, String)> {
    match serde_json::from_str(body) {
        Ok(Value::Object(members)) => {
            members.into_iter().map(|(name, value)| (name, plain(&value))).collect()
        }
        Ok(_) => Vec::new(),
        Err(_) => url::form_urlencoded::parse(body.trim().as_bytes()).into_owned().collect(),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// The least amount that a text can mean, in minor units of the total's currency.
fn least(text: &str, total: Money) -> Option<u64> {
    let minor = text.parse::<u64>().ok();
    // JSON writes 18.50 as 18.5.
    let padded = format!("{text}0");
    let major =
        amount_as_written(text, total.currency).or_else(|| amount_as_written(&padded, total.currency));
    minor.into_iter().chain(major).min()
}

#[cfg(test)]
mod tests {
    use sirl::Currency;

    use super::*;

    fn usd(minor: u64) -> Money {
        Money { minor, currency: Currency::new("USD").unwrap() }
    }

    fn exceeds_1615(query: &str, body: &str) -> bool {
        let url = Url::parse(&format!("https://shop.example/pay?{query}")).unwrap();
        exceeds(&url, body, &[usd(1615)])
    }

    #[test]
    fn only_a_greater_sum_exceeds() {
        for body in [
            "card=4111&total=16.16",
            "order_total=18%2C15",
            "Amount=1815",
            "grandTotal=80.75",
            r#"{"card":"4111","total":18.5}"#,
        ] {
            assert!(exceeds_1615("", body), "{body}");
        }
        assert!(exceeds_1615("amount=99.00", ""));
        for body in [
            "total=16.15",
            "total=1615",
            "amount=16",
            "amount=9.00",
            "amount=monthly",
            "price=80.75",
            "total_items=5000",
            r#"{"total":16.15,"discount":{"amount":6000},"lines":[{"amount":99.5}]}"#,
            "--b\nname=\"total\"\n\n99.00",
        ] {
            assert!(!exceeds_1615("", body), "{body}");
        }
        let url = Url::parse("https://shop.example/pay?total=99999").unwrap();
        assert!(!exceeds(&url, "", &[]), "no total was agreed to");
    }
}
