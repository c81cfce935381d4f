//! Which invisible characters are part of an emoji or of a script's spelling, and so hide nothing.

/// What becomes of a character that shows nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It belongs to an emoji, which is left whole.
    Kept,
    /// It is dropped, and stood where it belongs.
    Dropped,
    /// It is dropped, and had no business there.
    Reported,
}

const JOINER: char = '\u{200D}';
const NON_JOINER: char = '\u{200C}';
const EMOJI_STYLE: char = '\u{FE0F}';

/// The flags that are spelled with tag characters: England, Scotland, Wales. No other is in general use (RGI
/// emoji of Unicode 17).
const FLAGS: [&str; 3] = [
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
];

/// The length of the flag that a text begins with, if it begins with one that is spelled with tag characters.
pub(crate) fn flag(text: &str) -> Option<usize> {
    FLAGS.iter().find(|flag| text.starts_with(**flag)).map(|flag| flag.len())
}

/// What becomes of an invisible character between two others. `written` is the last character of the folded text,
/// `before` and `after` are the neighbours in the original.
pub(crate) fn fate(
    written: Option<char>,
    before: Option<char>,
    character: char,
    after: Option<char>,
) -> Fate {
    let pictured = |neighbour: Option<char>| neighbour.is_some_and(is_picture);
    match character {
        // A style that was written stands after a picture, or it would not have been written.
        JOINER
            if written.is_some_and(|c| is_picture(c) || c == EMOJI_STYLE) && after.is_some_and(is_joined) =>
        {
            Fate::Kept
        }
        JOINER | NON_JOINER if before.is_some_and(needs_joiners) && after.is_some_and(needs_joiners) => {
            Fate::Dropped
        }
        EMOJI_STYLE if pictured(before) && written == before => Fate::Kept,
        '\u{FE0E}' | EMOJI_STYLE
            if before.is_some_and(|c| is_picture(c) || matches!(c, '0'..='9' | '#' | '*')) =>
        {
            Fate::Dropped
        }
        // A byte order mark.
        '\u{FEFF}' if before.is_none() => Fate::Dropped,
        _ => Fate::Reported,
    }
}

/// Characters that may begin an emoji or follow a joiner in one: `Extended_Pictographic`, with the few unassigned
/// and plain symbols in between, and the skin tones.
fn is_picture(character: char) -> bool {
    matches!(character,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2194}'..='\u{21AA}' | '\u{231A}'..='\u{23FF}' | '\u{24C2}' | '\u{25AA}'..='\u{25FE}'
        | '\u{2600}'..='\u{27BF}' | '\u{2934}' | '\u{2935}' | '\u{2B05}'..='\u{2B55}'
        | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
        | '\u{1F000}'..='\u{1F1E5}' | '\u{1F200}'..='\u{1FAFF}')
}

/// Pictures that may follow a joiner: those that have no compatibility form.
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

/// Letters and marks of scripts whose spelling uses the joiner and the non-joiner: Arabic and its neighbours, the
/// scripts of India, Myanmar, Khmer, Mongolian.
fn needs_joiners(character: char) -> bool {
    matches!(character,
        '\u{600}'..='\u{8FF}' | '\u{900}'..='\u{DFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{18AF}'
        | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
}
