//! Which characters a string may hold, and how a string is printed.

use std::fmt::{Formatter, Result, Write};

/// Whether a string may not hold `c`, escaped or not: controls and line separators would break a request
/// out of its line, direction marks would let it disguise itself in a prompt.
pub(crate) fn is_forbidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Writes `text` as a JSON string. A forbidden character is escaped: the line stays one line, and a parser
/// then refuses it.
pub(crate) fn write_string(f: &mut Formatter<'_>, text: &str) -> Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            c if is_forbidden(c) => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}
