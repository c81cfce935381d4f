//! A page's text for the model: the bridge's own words and the page's, kept apart.
//!
//! The bridge writes an [`Outline`]; a [`TextGuard`](crate::TextGuard) decides how each [`Words`] are rendered,
//! and [`Outline::render`] writes the text. Words of the page are in quotes and cannot leave them, so all text
//! outside quotes is the bridge's: roles, refs, origins, the marks [`WITHHELD`], [`UNSEEN`] and [`ADDRESS`], and [`BESIDE`].
//!
//! In the text of a line, a line feed is a line end to a person: the words after it stand in quotes of their own on the
//! next line. A tab separates the cells of a row. In names both are spaces.

use std::ops::Range;

use crate::{ElementRef, Origin};

/// Replaces, outside of quotes, words of the page that were withheld. It does not depend on them.
pub const WITHHELD: &str = "[withheld]";

/// Precedes, outside of quotes, words of the page that a person does not see.
pub const UNSEEN: &str = "[unseen]";

/// Precedes, outside of quotes, the address that a link leads to, or that of the page.
pub const ADDRESS: &str = "/url";

/// Separates the cells of a row, outside of quotes.
pub const BESIDE: &str = "|";

/// The deepest indentation, so that deep pages do not have more spaces than words.
const DEEPEST: usize = 40;

/// The place of words in a page, by the browser's layout and not by the page's own statements.
///
/// Not distinguished: words in pictures, on a canvas, or in a font that draws other letters than those of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TextPlace {
    /// A person sees them, at once or after scrolling.
    Shown,
    /// A style sheet generates them (`content`), and a person sees them.
    Generated,
    /// They are in an attribute or in a label that is not visible.
    Attribute,
    /// A person does not see them: transparent, tiny, clipped, outside the page, of the background's colour, or
    /// covered.
    Hidden,
}

/// The purpose of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Running text.
    Text,
    /// The name of an element whose text below repeats it.
    Echo,
    /// The name of a control, without which a form cannot be used.
    Label,
    /// The name of another element.
    Name,
    /// The title of a document.
    Title,
    /// What a picture shows, in the words of the page (`alt`, `aria-label`).
    Picture,
    /// The address of a link or of the page, as [`web_address`](crate::web_address) tells it.
    Address,
}

/// Words of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// The words, as the page has them.
    pub text: String,
    /// Their place in the page.
    pub place: TextPlace,
    /// Their purpose.
    pub purpose: Purpose,
    /// Their frame: an index in [`Outline::frames`].
    pub frame: usize,
}

/// A part of a line's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinePart {
    /// The bridge's own words.
    Own(String),
    /// The page's words.
    Page(Words),
}

/// One line: an element, a run of text, or a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutlineLine {
    /// The depth of its indentation.
    pub depth: usize,
    /// Its beginning, before the colon.
    pub head: Vec<LinePart>,
    /// The text after its colon.
    pub text: Vec<Words>,
    /// Whether lines below belong to it.
    pub opens: bool,
    /// Whether the line is left out where its text is empty.
    pub bare: bool,
    /// Whether it is a link to a mailbox or a phone (`mailto:`, `tel:`).
    pub contact: bool,
    /// The element of the line, if the model can act on it.
    pub element: Option<ElementRef>,
}

/// The text of a page, before the guard's filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// The lines, top to bottom, with those of inner frames below their elements.
    pub lines: Vec<OutlineLine>,
    /// The origin of each frame, the top frame's first; none for opaque ones.
    pub frames: Vec<Option<Origin>>,
    /// The visible text of all frames, in the order of the documents: without the values of controls, words in
    /// pictures, and text that the operating system draws. It is for measurements, and does not pass the guard.
    pub seen: String,
    /// Whether the page was longer than the outline.
    pub cut: bool,
}

/// How some words are rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendered<'a> {
    /// As these words.
    Words(&'a str),
    /// As these words, marked as not visible to a person.
    Unseen(&'a str),
    /// As the mark [`WITHHELD`].
    Withheld,
}

impl Outline {
    /// All words of the page, in the order of the lines: a line's head before its text.
    pub fn words(&self) -> impl Iterator<Item = &Words> {
        self.lines.iter().flat_map(OutlineLine::words)
    }

    /// The text for the model. `rendering` is called for each [`Words`] in the order of [`Outline::words`]; with an empty
    /// result they are left out.
    pub fn render<'a>(&'a self, rendering: impl FnMut(&'a Words) -> Vec<Rendered<'a>>) -> String {
        self.render_by_line(rendering).0
    }

    /// The text for the model, as [`Outline::render`] writes it, and the place of each line in it, in bytes.
    pub fn render_by_line<'a>(
        &'a self,
        mut rendering: impl FnMut(&'a Words) -> Vec<Rendered<'a>>,
    ) -> (String, Vec<Range<usize>>) {
        let mut out = String::new();
        let mut places = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            let from = out.len();
            line.render(&mut rendering, &mut out);
            places.push(from..out.len());
        }
        if self.cut {
            out.push_str("- cut: the rest of the page is not shown\n");
        }
        (out, places)
    }

    /// The text with all words that a person sees and all names, unfiltered.
    pub fn unfiltered(&self) -> String {
        self.render(|words| match words.place {
            TextPlace::Hidden => Vec::new(),
            _ => vec![Rendered::Words(&words.text)],
        })
    }
}

impl OutlineLine {
    /// The role of the line's element, as the bridge writes it; none for a line that the bridge did not write.
    pub fn role(&self) -> Option<&str> {
        let Some(LinePart::Own(own)) = self.head.first() else { return None };
        own.strip_prefix("- ").map(|role| role.split(' ').next().unwrap_or(role))
    }

    /// The page's words in the line, those of its head first.
    pub fn words(&self) -> impl Iterator<Item = &Words> {
        let head = self.head.iter().filter_map(|part| match part {
            LinePart::Page(words) => Some(words),
            LinePart::Own(_) => None,
        });
        head.chain(&self.text)
    }

    fn render<'a>(&'a self, rendering: &mut impl FnMut(&'a Words) -> Vec<Rendered<'a>>, out: &mut String) {
        let mut head = String::new();
        for part in &self.head {
            match part {
                LinePart::Own(own) => head.push_str(own),
                LinePart::Page(words) => {
                    let words_shown = join(&rendering(words), false).concat();
                    if !words_shown.is_empty() {
                        head.push(' ');
                        if words.purpose == Purpose::Address {
                            head.push_str(ADDRESS);
                            head.push(' ');
                        }
                        head.push_str(&words_shown);
                    } else if words.purpose == Purpose::Title {
                        head.push_str(" \"\"");
                    }
                }
            }
        }
        let text: Vec<Rendered<'_>> = self.text.iter().flat_map(&mut *rendering).collect();
        let text = join(&text, true);
        if self.bare && text.is_empty() {
            return;
        }
        let indent = |depth: usize| std::iter::repeat_n("  ", depth.min(DEEPEST));
        out.extend(indent(self.depth));
        out.push_str(&head);
        if let Some((first, rest)) = text.split_first() {
            out.push_str(": ");
            out.push_str(first);
            for line in rest {
                out.push('\n');
                out.extend(indent(self.depth + 1));
                out.push_str(line);
            }
        } else if self.opens {
            out.push(':');
        }
        out.push('\n');
    }
}

/// The words in quotes, line by line. Adjacent words of a kind share one pair of quotes and one mark, which is outside the
/// quotes. Without `by_line` all is one line.
fn join(rendered: &[Rendered<'_>], by_line: bool) -> Vec<String> {
    let mut pieces: Vec<(Option<bool>, String)> = Vec::new();
    for one in rendered {
        let (kind, words) = match one {
            Rendered::Words(words) => (Some(true), *words),
            Rendered::Unseen(words) => (Some(false), *words),
            Rendered::Withheld => (None, ""),
        };
        match pieces.last_mut() {
            Some((last, text)) if *last == kind => text.push_str(words),
            _ => pieces.push((kind, words.to_owned())),
        }
    }
    let mut lines = Lines::default();
    for (kind, words) in pieces {
        let Some(shows) = kind else {
            lines.push(WITHHELD);
            continue;
        };
        let mut rest = words.as_str();
        loop {
            let end = rest.find(['\n', '\t']).filter(|_| by_line).unwrap_or(rest.len());
            let (cell, after) = rest.split_at(end);
            match shows {
                _ if tidy(cell).is_empty() => {}
                true => lines.push(&quoted(cell)),
                false => lines.push(&format!("{UNSEEN} {}", quoted(cell))),
            }
            let mut after = after.chars();
            match after.next() {
                Some('\n') => lines.next = Next::Line,
                Some(_) => lines.next = lines.next.max(Next::Cell),
                None => break,
            }
            rest = after.as_str();
        }
    }
    lines.all
}

/// What precedes the next words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    #[default]
    Space,
    Cell,
    Line,
}

#[derive(Default)]
struct Lines {
    all: Vec<String>,
    next: Next,
}

impl Lines {
    fn push(&mut self, shown: &str) {
        let next = std::mem::take(&mut self.next);
        match self.all.last_mut() {
            // One mark stands for all that is withheld between two words.
            Some(line) if shown == WITHHELD && line.ends_with(WITHHELD) => {}
            Some(line) if next != Next::Line => {
                line.push(' ');
                if next == Next::Cell {
                    line.push_str(BESIDE);
                    line.push(' ');
                }
                line.push_str(shown);
            }
            _ => self.all.push(shown.to_owned()),
        }
    }
}

/// White space as one space each, none at the ends, without control characters and without characters that
/// show nothing: those could carry words past a person's eyes, or turn the writing direction of what follows.
/// Joiners and variation selectors stay where they can shape a letter or an emoji: after one that is not ASCII.
pub fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut last = ' ';
    // The characters that may still follow the last one: both kinds, a joiner only, none.
    let mut shaped = 0;
    for c in text.chars() {
        let shape = match c {
            '\u{fe0e}' | '\u{fe0f}' => 1,
            '\u{200c}' | '\u{200d}' => 2,
            _ => 0,
        };
        if c.is_whitespace() || c.is_control() {
            if last != ' ' {
                out.push(' ');
            }
            (last, shaped) = (' ', 0);
        } else if shape > 0 {
            if shape > shaped && !last.is_ascii() {
                out.push(c);
                shaped = shape;
            }
        } else if !shows_nothing(c) {
            out.push(c);
            (last, shaped) = (c, 0);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Default-ignorable characters and the controls of the writing direction (Unicode 16, `DerivedCoreProperties`,
/// `Default_Ignorable_Code_Point`; `Bidi_Control`; interlinear annotation).
fn shows_nothing(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Words of the page in quotes, with every quote within escaped.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in tidy(text).chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// Whether an element of this role is a control or a container of controls, whose name is needed.
pub fn is_control(role: &str) -> bool {
    matches!(
        role,
        "button"
            | "link"
            | "textbox"
            | "searchbox"
            | "spinbutton"
            | "slider"
            | "combobox"
            | "listbox"
            | "option"
            | "checkbox"
            | "radio"
            | "switch"
            | "menuitem"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "tab"
            | "treeitem"
            | "form"
            | "dialog"
            | "alertdialog"
            | "radiogroup"
    )
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;
