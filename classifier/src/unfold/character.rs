//! Properties of single characters: their normal form, decimal digits of every script, and invisible characters that
//! belong to an emoji or to the spelling of a script.

use unicode_normalization::char::is_combining_mark;

/// Returns true only if normalisation leaves the character as it is. A wrong `false` only costs time.
pub(super) fn is_plain(character: char) -> bool {
    matches!(character,
        ' '..='~' | '\n' | '\r'
        // Letters of Latin-1 and Latin Extended-A up to the first compatibility pair, basic Cyrillic,
        // kana without their marks, common ideographs, Hangul syllables.
        | 'À'..='ı' | 'А'..='я' | '\u{3041}'..='\u{3096}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// Returns one character of a compatibility form normalised further; `None` if it is invisible.
pub(super) fn fold(character: char) -> Option<char> {
    if let Some(value) = decimal_value(character) {
        return Some(char::from(b'0' + value));
    }
    match character {
        '\n' | '\r' => Some(character),
        '\u{85}' | '\u{2028}' | '\u{2029}' => Some('\n'),
        '\t' | '\u{1680}' | '\u{2800}' => Some(' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2043}' | '\u{2E3A}' | '\u{2E3B}' | '\u{30FC}' => Some('-'),
        '\u{B7}' | '\u{2022}' | '\u{2027}' | '\u{2219}' | '\u{22C5}' | '\u{3002}' | '\u{30FB}' => Some('.'),
        _ if shows_nothing(character) || character.is_control() || is_combining_mark(character) => None,
        _ if character.is_whitespace() => Some(' '),
        _ => Some(character),
    }
}

/// Returns whether a character is invisible; white space is not.
pub(crate) fn shows_nothing(character: char) -> bool {
    is_invisible(character) || (character.is_control() && !character.is_whitespace())
}

/// Returns whether Unicode makes a character invisible by default (property `Default_Ignorable_Code_Point`), or it is
/// an annotation control.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

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

/// Returns the value of a decimal digit of any script.
pub(crate) fn decimal_value(character: char) -> Option<u8> {
    let code = u32::from(character);
    let after = ZEROS.partition_point(|zero| *zero <= code);
    let zero = ZEROS.get(after.checked_sub(1)?)?;
    u8::try_from(code - zero).ok().filter(|value| *value <= 9)
}

/// The treatment of an invisible character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// It belongs to an emoji and stays.
    Kept,
    /// It is dropped, and has a legitimate use at its position.
    Dropped,
    /// It is dropped, and has no legitimate use there.
    Reported,
}

const JOINER: char = '\u{200D}';
const NON_JOINER: char = '\u{200C}';
const EMOJI_STYLE: char = '\u{FE0F}';

/// The flags that are spelled with tag characters: England, Scotland, Wales. No other is in general use (RGI emoji of
/// Unicode 17).
const FLAGS: [&str; 3] = [
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
];

/// Returns the length of the flag of tag characters that a text begins with, if it begins with one.
pub(crate) fn flag(text: &str) -> Option<usize> {
    FLAGS.iter().find(|flag| text.starts_with(**flag)).map(|flag| flag.len())
}

/// Returns the treatment of an invisible character between two others. `written` is the last character of the
/// normalised text, `before` and `after` are the neighbours in the original.
pub(crate) fn treatment(
    written: Option<char>,
    before: Option<char>,
    character: char,
    after: Option<char>,
) -> Treatment {
    let pictured = |neighbour: Option<char>| neighbour.is_some_and(is_picture);
    match character {
        // A style selector that was written follows a picture, or it would have been dropped.
        JOINER
            if written.is_some_and(|c| is_picture(c) || c == EMOJI_STYLE) && after.is_some_and(is_joined) =>
        {
            Treatment::Kept
        }
        JOINER | NON_JOINER if before.is_some_and(needs_joiners) && after.is_some_and(needs_joiners) => {
            Treatment::Dropped
        }
        EMOJI_STYLE if pictured(before) && written == before => Treatment::Kept,
        '\u{FE0E}' | EMOJI_STYLE
            if before.is_some_and(|c| is_picture(c) || matches!(c, '0'..='9' | '#' | '*')) =>
        {
            Treatment::Dropped
        }
        // A byte order mark.
        '\u{FEFF}' if before.is_none() => Treatment::Dropped,
        _ => Treatment::Reported,
    }
}

/// Returns whether a character may begin an emoji or follow a joiner in one: `Extended_Pictographic`, with the few
/// unassigned and plain symbols in between, and the skin tones.
fn is_picture(character: char) -> bool {
    matches!(character,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2194}'..='\u{21AA}' | '\u{231A}'..='\u{23FF}' | '\u{24C2}' | '\u{25AA}'..='\u{25FE}'
        | '\u{2600}'..='\u{27BF}' | '\u{2934}' | '\u{2935}' | '\u{2B05}'..='\u{2B55}'
        | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
        | '\u{1F000}'..='\u{1F1E5}' | '\u{1F200}'..='\u{1FAFF}')
}

/// Returns whether a picture may follow a joiner: whether it has no compatibility form.
fn is_joined(character: char) -> bool {
    is_picture(character)
        && !matches!(
            character,
            '\u{203C}'
                | '\u{2049}'
                | '\u{2122}'
                | '\u{2139}'
                | '\u{24C2}'
                | '\u{3297}'
                | '\u{3299}'
                | '\u{1F100}'..='\u{1F2FF}'
        )
}

/// Returns whether a character is of a script whose spelling uses the joiner and the non-joiner: Arabic and its
/// neighbours, the scripts of India, Myanmar, Khmer, Mongolian.
fn needs_joiners(character: char) -> bool {
    matches!(character,
        '\u{600}'..='\u{8FF}' | '\u{900}'..='\u{DFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{18AF}'
        | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_automata::meta::Regex;
    use unicode_normalization::UnicodeNormalization;

    #[test]
    fn normalisation_leaves_plain_characters_alone() {
        for character in (0..=0x10_FFFF).filter_map(char::from_u32).filter(|c| is_plain(*c)) {
            let slow: String = std::iter::once(character).nfkc().filter_map(fold).collect();
            assert_eq!(slow, character.to_string(), "U+{:04X}", u32::from(character));
        }
    }

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
