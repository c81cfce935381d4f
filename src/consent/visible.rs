//! Words that others chose, shown so that they are what they look like.

/// The text with a mark in place of every character that is not seen itself, at most `longest` long.
pub(crate) fn visible(text: &str, longest: usize) -> String {
    let mut seen: String =
        text.chars().take(longest).map(|c| if is_unseen(c) { '\u{FFFD}' } else { c }).collect();
    if text.chars().nth(longest).is_some() {
        seen.push_str(" (cut)");
    }
    seen
}

/// Controls, letters without width, and what changes the direction of the letters around it.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}
