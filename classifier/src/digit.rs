//! The decimal digits of every script.

/// The zero of each run of ten decimal digits in Unicode (general category `Nd`), in rising order.
const ZEROS: [u32; 76] = [
    0x0030, 0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66,
    0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50,
    0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30,
    0x10D40, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x116D0,
    0x116DA, 0x11730, 0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50, 0x11DA0, 0x11F50, 0x16130, 0x16A60,
    0x16AC0, 0x16B50, 0x16D70, 0x1CCF0, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0,
    0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0,
];

/// The value of a decimal digit of any script.
pub(crate) fn decimal_value(character: char) -> Option<u8> {
    let code = u32::from(character);
    let after = ZEROS.partition_point(|zero| *zero <= code);
    let zero = ZEROS.get(after.checked_sub(1)?)?;
    u8::try_from(code - zero).ok().filter(|value| *value <= 9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_automata::meta::Regex;

    #[test]
    fn every_decimal_digit_of_unicode_and_nothing_else_has_a_value() {
        let decimal = Regex::new(r"^\p{Nd}$").unwrap();
        for character in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let is_digit = decimal.is_match(&*character.encode_utf8(&mut [0; 4]));
            assert_eq!(decimal_value(character).is_some(), is_digit, "U+{:04X}", u32::from(character));
        }
        assert_eq!(decimal_value('7'), Some(7));
        assert_eq!(decimal_value('\u{669}'), Some(9));
        assert_eq!(decimal_value('\u{1D7FF}'), Some(9));
    }
}
