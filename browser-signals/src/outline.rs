//! A page's text on its way to a reader: the bridge's own words and the page's, kept apart.
//!
//! The bridge writes an [`Outline`]; a [`TextGuard`](crate::TextGuard) decides what is said of each [`Words`],
//! and [`Outline::render`] puts it together. Words of the page stand in quotes and can not leave them, so
//! whatever stands outside quotes is the bridge's: roles, handles, origins, and the two marks [`WITHHELD`] and
//! [`UNSEEN`].

use crate::Origin;

/// Stands, outside of quotes, for words of the page that were withheld. It depends on nothing.
pub const WITHHELD: &str = "[withheld]";

/// Stands, outside of quotes, before words of the page that a person does not see.
pub const UNSEEN: &str = "[unseen]";

/// The widest indentation, so that deep pages do not cost more spaces than words.
const WIDEST: usize = 40;

/// Where words of a page stood, as the browser's layout says it and not the page.
///
/// Not told apart: words in pictures, on a canvas, or drawn by a font that shows other letters than the text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A person sees them, at once or after scrolling.
    Shown,
    /// A style sheet writes them (`content`), and a person sees them.
    Generated,
    /// An attribute or a label that is not seen says them.
    Attribute,
    /// A person does not see them: transparent, tiny, clipped, outside the page, of the background's colour, or
    /// covered.
    Hidden,
}

/// What words are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Running text.
    Text,
    /// The name of an element whose text says the same further down.
    Echo,
    /// The name of a control: without it a form cannot be used.
    Label,
    /// The name of another element.
    Name,
    /// The title of a document.
    Title,
}

/// Words of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// The words, as the page has them.
    pub text: String,
    /// Where they stood.
    pub place: Place,
    /// What they are for.
    pub purpose: Purpose,
    /// The frame they stood in: a place in [`Outline::frames`].
    pub frame: usize,
}

/// A part of a line's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The bridge's own words.
    Own(String),
    /// The page's words.
    Page(Words),
}

/// One line: an element, a run of text, or a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    /// How deep it stands.
    pub depth: usize,
    /// What it begins with. A line whose head holds nothing of the page and that ends up without text is left
    /// out where `bare` is set.
    pub head: Vec<Part>,
    /// The text after its colon.
    pub text: Vec<Words>,
    /// Whether lines below belong to it.
    pub opens: bool,
    /// Whether the line is there for its text alone.
    pub bare: bool,
}

/// The text of a page, before the guard's filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// The lines, top to bottom, inner frames in their places.
    pub lines: Vec<Line>,
    /// The origin of each frame, the top frame's first; none for opaque ones.
    pub frames: Vec<Option<Origin>>,
    /// What a person sees of all frames, in the order of the documents: without the contents of controls, words
    /// in pictures, and what the operating system draws. It is for measuring, and does not pass the guard.
    pub seen: String,
    /// Whether the page was longer than what is here.
    pub cut: bool,
}

/// What a reader is told of some words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said<'a> {
    /// These words.
    Words(&'a str),
    /// These words, marked as unseen by a person.
    Unseen(&'a str),
    /// That something was withheld.
    Withheld,
}

impl Outline {
    /// All words of the page, in the order of the lines: a line's head before its text.
    pub fn words(&self) -> impl Iterator<Item = &Words> {
        self.lines.iter().flat_map(Line::words)
    }

    /// The text for a reader. `say` is asked for each words in the order of [`Outline::words`]; no answer leaves
    /// them out without a trace.
    pub fn render<'a>(&'a self, mut say: impl FnMut(&'a Words) -> Vec<Said<'a>>) -> String {
        let mut out = String::new();
        for line in &self.lines {
            line.render(&mut say, &mut out);
        }
        if self.cut {
            out.push_str("- cut: the rest of the page is not shown\n");
        }
        out
    }

    /// The text with all words that a person sees and all names, unfiltered.
    pub fn unfiltered(&self) -> String {
        self.render(|words| match words.place {
            Place::Hidden => Vec::new(),
            _ => vec![Said::Words(&words.text)],
        })
    }
}

impl Line {
    /// The role of the line's element, as the bridge writes it; none for a line that the bridge did not write.
    pub fn role(&self) -> Option<&str> {
        let Some(Part::Own(own)) = self.head.first() else { return None };
        own.strip_prefix("- ").map(|role| role.split(' ').next().unwrap_or(role))
    }

    /// The page's words in the line, those of its head first.
    pub fn words(&self) -> impl Iterator<Item = &Words> {
        let head = self.head.iter().filter_map(|part| match part {
            Part::Page(words) => Some(words),
            Part::Own(_) => None,
        });
        head.chain(&self.text)
    }

    fn render<'a>(&'a self, say: &mut impl FnMut(&'a Words) -> Vec<Said<'a>>, out: &mut String) {
        let mut head = String::new();
        for part in &self.head {
            match part {
                Part::Own(own) => head.push_str(own),
                Part::Page(words) => {
                    let said = join(&say(words));
                    if !said.is_empty() {
                        head.push(' ');
                        head.push_str(&said);
                    } else if words.purpose == Purpose::Title {
                        head.push_str(" \"\"");
                    }
                }
            }
        }
        let said: Vec<Said<'_>> = self.text.iter().flat_map(&mut *say).collect();
        let text = join(&said);
        if self.bare && text.is_empty() {
            return;
        }
        out.extend(std::iter::repeat_n("  ", self.depth.min(WIDEST)));
        out.push_str(&head);
        if !text.is_empty() {
            out.push_str(": ");
            out.push_str(&text);
        } else if self.opens {
            out.push(':');
        }
        out.push('\n');
    }
}

/// Words side by side share one pair of quotes; marks stand outside, one for several of a kind.
fn join(said: &[Said<'_>]) -> String {
    let mut pieces: Vec<(Option<bool>, String)> = Vec::new();
    for one in said {
        let (kind, words) = match one {
            Said::Words(words) => (Some(true), *words),
            Said::Unseen(words) => (Some(false), *words),
            Said::Withheld => (None, ""),
        };
        match pieces.last_mut() {
            Some((last, text)) if *last == kind => text.push_str(words),
            _ => pieces.push((kind, words.to_owned())),
        }
    }
    let mut shown: Vec<String> = Vec::new();
    for (kind, words) in pieces {
        let next = match kind {
            None if shown.last().is_some_and(|last| last == WITHHELD) => continue,
            None => WITHHELD.to_owned(),
            Some(_) if tidy(&words).is_empty() => continue,
            Some(true) => quoted(&words),
            Some(false) => format!("{UNSEEN} {}", quoted(&words)),
        };
        shown.push(next);
    }
    shown.join(" ")
}

/// White space as one space each, none at the ends, without control characters and without characters that
/// show nothing: those could carry words past a person's eyes, or turn the writing direction of what follows.
/// Joiners and variation selectors stay where they can shape a letter or an emoji: after one that is not ASCII.
pub fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut last = ' ';
    // What may still follow the last character: both, a joiner only, nothing.
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

/// Whether an element of this role is used, so that its name is needed.
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
#[path = "outline/tests.rs"]
mod tests;
