//! Words that others chose, shown so that they are what they look like.

/// The most marks that one letter may bear. More of them reach over the lines above and below.
const MOST_MARKS: usize = 2;

/// The text with a mark in place of every character that is not seen itself, at most `longest` long.
pub(crate) fn visible(text: &str, longest: usize) -> String {
    let mut marks = 0;
    let shown = |c: char| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if is_unseen(c) || marks > MOST_MARKS { '\u{FFFD}' } else { c }
    };
    let mut seen: String = text.chars().take(longest).map(shown).collect();
    if text.chars().nth(longest).is_some() {
        seen.push_str(" (cut)");
    }
    seen
}

/// What is drawn above, below or across the letter before it.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5C7}' | '\u{610}'..='\u{61A}'
        | '\u{64B}'..='\u{65F}' | '\u{E31}' | '\u{E34}'..='\u{E3A}' | '\u{E47}'..='\u{E4E}'
        | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// Controls, letters without width, and what changes the direction of the letters around it.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}
