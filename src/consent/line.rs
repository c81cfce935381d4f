//! The lines of a prompt: each one's source, the names of sites, and text in which nothing is invisible.

use std::fmt;

use browser_signals::Origin;
use browser_signals::site::parts_of_host;

/// The readable form of an origin: the registered name first, then the whole origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteName {
    /// The registered name, which identifies the site's owner; the host where there is no registered name.
    pub name: String,
    /// The whole origin, where it differs from `https://` and the name.
    pub whole: Option<String>,
}

impl SiteName {
    /// The name of an origin.
    pub fn of(origin: &Origin) -> SiteName {
        let (_, name) = parts_of_host(origin.host());
        let whole = origin.to_string();
        let says_more = whole.strip_prefix("https://") != Some(name);
        SiteName { name: name.to_owned(), whole: says_more.then_some(whole) }
    }
}

impl fmt::Display for SiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.whole.iter().try_for_each(|whole| write!(f, "  ({whole})"))
    }
}

/// The source of a line, which determines how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStyle {
    /// A warning of the guard, shown before everything else.
    Warning,
    /// Words of the guard.
    Plain,
    /// Unchecked words of the page.
    Quoted,
}

impl LineStyle {
    /// The most characters of a line that are shown. A line of the guard about an action of the agent is shown whole: the
    /// longest has a text of [`MAX_TEXT_CHARS`](super::order::MAX_TEXT_CHARS), a label, and four sites.
    pub(super) const fn max_chars(self) -> usize {
        match self {
            LineStyle::Warning | LineStyle::Plain => 6_000,
            LineStyle::Quoted => 300,
        }
    }
}

/// A line of details in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptLine {
    /// Its source.
    pub style: LineStyle,
    /// The words.
    pub text: String,
}

impl PromptLine {
    /// A warning of the guard.
    pub fn warning(text: String) -> PromptLine {
        PromptLine { style: LineStyle::Warning, text }
    }

    /// A line of the guard.
    pub fn plain(text: String) -> PromptLine {
        PromptLine { style: LineStyle::Plain, text }
    }

    /// A line with words of the page.
    pub fn quoted(text: String) -> PromptLine {
        PromptLine { style: LineStyle::Quoted, text }
    }
}

impl fmt::Display for PromptLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.style {
            LineStyle::Warning | LineStyle::Plain => f.write_str(&self.text),
            LineStyle::Quoted => write!(f, "the page says: {}", self.text),
        }
    }
}

/// The most characters of a label that is shown.
pub(super) const MAX_LABEL_CHARS: usize = 80;

/// The page's name for a control, as a question shows it.
pub(super) fn named(label: &str) -> String {
    match visible(label, MAX_LABEL_CHARS) {
        label if label.is_empty() => "something without a name".to_owned(),
        label => format!("\"{label}\""),
    }
}

/// The most combining marks on one letter. More of them cover the lines above and below.
const MAX_MARKS: usize = 2;

/// The text with a replacement character in place of every invisible character, truncated to `longest` characters. It is
/// for words that others chose, so that they cannot look like something else.
pub(crate) fn visible(text: &str, longest: usize) -> String {
    let mut marks = 0;
    let shown = |c: char| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if is_unseen(c) || marks > MAX_MARKS { '\u{FFFD}' } else { c }
    };
    let mut seen: String = text.chars().take(longest).map(shown).collect();
    if text.chars().nth(longest).is_some() {
        seen.push_str(" (cut)");
    }
    seen
}

/// Whether a character is a combining mark, drawn above, below or across the letter before it.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5C7}' | '\u{610}'..='\u{61A}'
        | '\u{64B}'..='\u{65F}' | '\u{E31}' | '\u{E34}'..='\u{E3A}' | '\u{E47}'..='\u{E4E}'
        | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// Whether a character is invisible: a control, a character without width, or one that changes the direction of text.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}
