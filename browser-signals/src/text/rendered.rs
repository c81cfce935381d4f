//! A page's text as it was rendered for the model, and the part of it that a person sees.

use std::borrow::Cow;
use std::ops::Range;

use super::outline::{ADDRESS, UNSEEN};

/// The bridge's mark before words of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// None: a person sees the words, or they name a control.
    None,
    /// [`UNSEEN`].
    Unseen,
    /// [`ADDRESS`].
    Address,
}

/// Words of the page in a rendered line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotedWords {
    /// The mark before them.
    pub mark: Mark,
    /// The words without their quotes, in bytes of the line.
    pub words: Range<usize>,
    /// The words with their quotes, their mark and the space before that.
    whole: Range<usize>,
}

/// The words of the page in one rendered line, in order.
pub fn quoted_words(line: &str) -> Vec<QuotedWords> {
    let mut found = Vec::new();
    let (mut open, mut escaped, mut last) = (None, false, 0);
    for (place, c) in line.char_indices() {
        match (c, open) {
            _ if escaped => escaped = false,
            ('\\', Some(_)) => escaped = true,
            ('"', None) => open = Some(place),
            ('"', Some(from)) => {
                // The bridge's own words since the quotes before.
                let own = line.get(last..from).unwrap_or_default().trim_end();
                let (mark, own) = match (own.strip_suffix(UNSEEN), own.strip_suffix(ADDRESS)) {
                    (Some(own), _) => (Mark::Unseen, own),
                    (_, Some(own)) => (Mark::Address, own),
                    _ => (Mark::None, own),
                };
                let whole = last + own.trim_end().len()..place + 1;
                last = whole.end;
                found.push(QuotedWords { mark, words: from + 1..place, whole });
                open = None;
            }
            _ => {}
        }
    }
    found
}

/// A rendered text without the addresses in it.
pub fn without_addresses(text: &str) -> Cow<'_, str> {
    without(text, |mark| mark == Mark::Address)
}

/// A rendered text without addresses and unseen words: what a person sees, and the names of controls.
pub fn as_seen(text: &str) -> Cow<'_, str> {
    without(text, |mark| mark != Mark::None)
}

fn without(text: &str, is_left_out: impl Fn(Mark) -> bool) -> Cow<'_, str> {
    if !text.contains(ADDRESS) && !text.contains(UNSEEN) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut from = 0;
        for words in quoted_words(line).iter().filter(|words| is_left_out(words.mark)) {
            out.push_str(line.get(from..words.whole.start).unwrap_or_default());
            from = words.whole.end;
        }
        out.push_str(line.get(from..).unwrap_or_default());
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::quoted;
    use proptest::prelude::*;

    #[test]
    fn marked_words_are_left_out() {
        let text = "- document https://a.example \"A\" /url \"/shop\":\n  - link \"/url \\\"x\\\"\" [ref=e1] /url \"/x\": \"go\"\n  \
                    - image [unseen] \"A kettle\" [ref=e2]\n  - text: \"one\" [unseen] \"two\" | \"three\"\n  - link /url [withheld]\n";
        assert_eq!(
            without_addresses(text),
            "- document https://a.example \"A\":\n  - link \"/url \\\"x\\\"\" [ref=e1]: \"go\"\n  \
             - image [unseen] \"A kettle\" [ref=e2]\n  - text: \"one\" [unseen] \"two\" | \"three\"\n  - link /url [withheld]\n"
        );
        assert_eq!(
            as_seen(text),
            "- document https://a.example \"A\":\n  - link \"/url \\\"x\\\"\" [ref=e1]: \"go\"\n  \
             - image [ref=e2]\n  - text: \"one\" | \"three\"\n  - link /url [withheld]\n"
        );
        assert_eq!(as_seen("- text: \"open"), "- text: \"open");
    }

    proptest! {
        /// No words of the page bear a mark of the bridge, and none are left out for what they say.
        #[test]
        fn a_page_cannot_write_a_mark(name in ".{0,20}", address in ".{0,20}", text in r#"[/url"\\ \[unseen\]]{0,20}"#) {
            let (name, address, text) = (quoted(&name), quoted(&address), quoted(&text));
            let line = format!("- link {name} [ref=e1] /url {address}: {text}");
            let marks: Vec<Mark> = quoted_words(&line).iter().map(|words| words.mark).collect();
            prop_assert_eq!(marks, [Mark::None, Mark::Address, Mark::None]);
            prop_assert_eq!(as_seen(&line), format!("- link {name} [ref=e1]: {text}"));
        }
    }
}
