//! Bank account numbers (IBAN).

use std::ops::Range;

/// The length of the numbers of each country, by the IBAN registry; the countries in rising order.
const IBAN_LENGTHS: [(&[u8; 2], usize); 89] = [
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BI", 27),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DJ", 27),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FK", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HN", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MN", 20),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NI", 28),
    (b"NL", 18),
    (b"NO", 15),
    (b"OM", 23),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"RU", 33),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"SO", 23),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"VG", 24),
    (b"XK", 20),
    (b"YE", 30),
];

/// Returns the IBAN that begins at `start` of a normalised text, where two letters and two digits are. Spaces and
/// dashes may separate its characters.
pub(crate) fn find_iban(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if start.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let country = [bytes.get(start)?.to_ascii_uppercase(), bytes.get(start + 1)?.to_ascii_uppercase()];
    let index = IBAN_LENGTHS.binary_search_by_key(&&country, |(known, _)| known).ok()?;
    let (_, length) = IBAN_LENGTHS.get(index)?;
    let mut number = Vec::with_capacity(*length);
    let mut at = start;
    while number.len() < *length {
        match bytes.get(at)? {
            byte if byte.is_ascii_alphanumeric() => number.push(byte.to_ascii_uppercase()),
            // Only one separator at a time is allowed, so that prose does not match.
            b' ' | b'-' if bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) => {}
            _ => return None,
        }
        at += 1;
    }
    let goes_on = bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let shaped = !goes_on && dashed_in_fours(text.get(start..at)?);
    (shaped && remainder(&number) == 1).then_some(start..at)
}

/// Returns whether dashes, if there are any, are after every fourth character; other identifiers have them elsewhere.
fn dashed_in_fours(number: &str) -> bool {
    let mut pieces = number.split('-').rev();
    let last = pieces.next().unwrap_or_default();
    last.len() == number.len() || (last.len() <= 4 && pieces.all(|piece| piece.len() == 4))
}

/// Returns the number modulo 97, with its first four characters moved to the end and letters read as 10 to 35.
fn remainder(number: &[u8]) -> u32 {
    let (head, tail) = number.split_at(number.len().min(4));
    tail.iter().chain(head).fold(0, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter.saturating_sub(b'A')) + 10) % 97,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_sorted_and_lengths_plausible() {
        assert!(IBAN_LENGTHS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(IBAN_LENGTHS.iter().all(|(_, length)| (15..=34).contains(length)));
    }

    #[test]
    fn any_changed_digit_breaks_the_check() {
        let good = "GB82WEST12345698765432";
        assert_eq!(find_iban(good, 0), Some(0..good.len()));
        for at in 2..good.len() {
            let mut bad = good.as_bytes().to_vec();
            bad[at] = if bad[at].is_ascii_digit() { b'0' + (bad[at] - b'0' + 1) % 10 } else { bad[at] ^ 1 };
            assert_eq!(find_iban(&String::from_utf8(bad).unwrap(), 0), None, "position {at}");
        }
    }
}
