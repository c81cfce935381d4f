//! Phone numbers, whole and in parts.

use browser_signals::matching::Asked;
use zeroize::Zeroizing;

use super::choice::option;
use super::{Shaped, Target, Underivable};

/// The country codes of two digits (ITU-T E.164). `1` and `7` have one digit, and all others three.
const OF_TWO_DIGITS: [&str; 43] = [
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48",
    "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81",
    "82", "84", "86", "90", "91", "92", "93", "94", "95",
];

/// The country code and the national number of an international number.
fn divided(value: &str) -> Option<(String, Zeroizing<String>)> {
    let trimmed = value.trim();
    let international = trimmed.strip_prefix('+').or_else(|| trimmed.strip_prefix("00"))?;
    // A zero in brackets is the national prefix, which is not dialled from abroad.
    let international = international.replace("(0)", "");
    let digits: Zeroizing<String> =
        Zeroizing::new(international.chars().filter(char::is_ascii_digit).collect());
    let length = match digits.get(..2)? {
        one if one.starts_with('1') || one.starts_with('7') => 1,
        two if OF_TWO_DIGITS.contains(&two) || two == "98" => 2,
        _ => 3,
    };
    let (code, national) = digits.split_at_checked(length).filter(|(_, national)| national.len() >= 4)?;
    Some((code.to_owned(), Zeroizing::new(national.to_owned())))
}

/// A number in a box of its own: the national one beside a box for the country code, and without separators or country code
/// where the box is too short for more.
pub(super) fn number(value: &str, target: &Target<'_>) -> Shaped {
    let parts = divided(value);
    if let (true, Some((_, national))) = (target.form_asks(Asked::PhoneCountryCode), &parts) {
        return Shaped::As(national.clone());
    }
    if target.takes(value.chars().count()) {
        return Shaped::AsStored;
    }
    let plain: String = value.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect();
    match parts {
        _ if target.takes(plain.len()) => Shaped::text(plain),
        Some((_, national)) if target.takes(national.len()) => Shaped::As(national),
        _ => Shaped::AsStored,
    }
}

/// The country code of a number.
pub(super) fn country_code(value: &str, target: &Target<'_>) -> Result<Shaped, Underivable> {
    let (code, _) = divided(value).ok_or(Underivable)?;
    if !target.is_select() {
        return Ok(Shaped::text(if target.takes(code.len() + 1) { format!("+{code}") } else { code }));
    }
    let is_code = |text: &str| {
        let behind = text.rsplit_once('+').map_or(text, |(_, behind)| behind);
        let digits: String = behind.chars().filter(char::is_ascii_digit).collect();
        digits == code || digits.strip_prefix("00") == Some(&code)
    };
    let options = &target.control.words.options;
    let found = options.iter().find(|(value, text)| is_code(text) || is_code(value));
    found.map(option).ok_or(Underivable)
}
