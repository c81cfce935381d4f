//! The parts of questions that have lines of their own: a provider's frame, a control that the agent points at, words of the
//! prompt, and pages that were open before the task.

use std::fmt;

use browser_signals::Origin;
use sirl::Field;
use zeroize::Zeroizing;

use super::line::{MAX_LABEL_CHARS, PromptLine, visible};

/// A payment provider whose frame in a shop's page takes card data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedProvider {
    /// Its name in the policy.
    pub name: String,
    /// The site whose page the frame is in.
    pub shop: Origin,
    /// The origins besides the frame's that get the card data.
    pub tokens: Vec<Origin>,
}

impl AskedProvider {
    pub(super) fn lines(&self) -> Vec<PromptLine> {
        let AskedProvider { name, shop, tokens } = self;
        let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        vec![
            PromptLine::plain(format!(
                "it is the frame of the payment provider \"{name}\" of your policy, in a page of {shop}"
            )),
            PromptLine::plain(format!("the provider sends them to {}", tokens.join(", "))),
        ]
    }
}

/// A control that is to be filled although nothing on the page says what it is for. The agent says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointedBox {
    /// The field that the agent says it is for.
    pub field: Field,
    /// The page's label or name of the control: unchecked words of the page.
    pub label: String,
}

impl fmt::Display for PointedBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = match visible(&self.label.replace('"', "'"), MAX_LABEL_CHARS) {
            label if label.is_empty() => "without a name".to_owned(),
            label => format!("\"{label}\""),
        };
        let field = self.field.as_str().replace('_', " ");
        write!(
            f,
            "Nothing on the page says what the box {label} is for; the agent says that it is for your {field}."
        )
    }
}

/// A file that a page would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedFile {
    /// Its name, which a question can show whole.
    pub name: String,
    /// The number of its bytes.
    pub bytes: u64,
    /// The SHA-256 of the copy that the page gets.
    pub sha256: [u8; 32],
}

impl fmt::Display for AskedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AskedFile { name, bytes, .. } = self;
        match bytes {
            1 => write!(f, "\"{name}\" (1 byte)"),
            0..1_000 => write!(f, "\"{name}\" ({bytes} bytes)"),
            1_000..1_000_000 => write!(f, "\"{name}\" ({} kB)", bytes.div_ceil(1_000)),
            _ => write!(f, "\"{name}\" ({} MB)", bytes.div_ceil(1_000_000)),
        }
    }
}

/// Whether a question can show a file's name whole, so that the user sees which file it is: it is not long, and nothing in it is
/// invisible or turns the direction of text.
pub(crate) fn shows_whole(name: &str) -> bool {
    !name.trim().is_empty() && !name.contains('"') && visible(name, MAX_LABEL_CHARS) == name
}

/// Words of the user's own prompt, shown to the user alone. They are wiped when dropped and left out of debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct Quoted(Zeroizing<String>);

impl Quoted {
    /// Wraps these words.
    pub fn new(words: &str) -> Quoted {
        Quoted(Zeroizing::new(words.to_owned()))
    }

    /// The words.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Quoted(..)")
    }
}

/// The handling of sites whose pages were open before the task. Such a page may have left a program running, which can live
/// on for five minutes without a page and cannot be observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenPages {
    /// Nothing is released to such a site until that program must have ended.
    #[default]
    Wait,
    /// The user trusts them.
    Trusted,
}

impl OpenPages {
    /// The lines in the question that opens a task.
    pub(super) fn lines(self) -> Vec<PromptLine> {
        let loaded = PromptLine::plain(
            "open pages of these sites are loaded again: what you typed there and did not send is lost; their service workers end"
                .to_owned(),
        );
        let earlier = match self {
            OpenPages::Wait => PromptLine::plain(
                "where a page of these sites was open in the last five minutes, nothing is filled in until five minutes have \
                 passed: it may have left a program running that nobody can see"
                    .to_owned(),
            ),
            OpenPages::Trusted => PromptLine::warning(
                "You trust the pages of these sites that were open before. One that was open in the last five minutes may have \
                 left a program running that nobody can see, and could still pass on what is filled in."
                    .to_owned(),
            ),
        };
        vec![loaded, earlier]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::consent::LineStyle;

    #[test]
    fn the_question_names_the_handling() {
        let said = |pages: OpenPages| pages.lines().pop().unwrap();
        let (wait, trusted) = (said(OpenPages::Wait), said(OpenPages::Trusted));
        assert!(wait.text.contains("until five minutes have passed"), "{wait}");
        assert!(trusted.text.contains("could still pass on"), "{trusted}");
        // A user who trusts the pages reads the consequence first.
        assert_eq!((wait.style, trusted.style), (LineStyle::Plain, LineStyle::Warning));
    }
}
