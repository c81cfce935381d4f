//! How much of a page's text the agent reads: the text for the model beside the browser's own `innerText`.
//!
//! A word is a run of letters and digits, in ASCII or not, or one other sign. A word of `innerText` is kept where a
//! longest common subsequence of both texts' words has it. A line end of `innerText` is kept where the words before and
//! after it are kept, and one of the longest common subsequences has them on different lines of the text for the model:
//! there are several where the text for the model says a word twice, such as the full stop of an item's number.

#![allow(
    clippy::indexing_slicing,
    reason = "all indices are those of the two texts, and a property test checks them"
)]

mod alignment;

use std::collections::HashMap;

use browser_signals::outline::tidy;
use browser_signals::rendered::as_seen;

pub use alignment::aligned;

/// A text's words, each with the number of its line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Words {
    words: Vec<String>,
    lines: Vec<usize>,
}

impl Words {
    /// The words of `innerText`.
    pub fn of_inner_text(text: &str) -> Words {
        let mut words = Words::default();
        for (line, part) in text.split('\n').enumerate() {
            words.add(part, line);
        }
        words
    }

    /// The page's words in a text for the model: those in quotes, except for addresses and unseen words, which `innerText` does not have.
    pub fn of_outline(text: &str) -> Words {
        let mut words = Words::default();
        for (line, part) in as_seen(text).lines().enumerate() {
            let (mut quoted, mut escaped) = (None::<String>, false);
            for c in part.chars() {
                match (&mut quoted, c) {
                    (Some(open), _) if escaped => {
                        open.push(c);
                        escaped = false;
                    }
                    (Some(_), '\\') => escaped = true,
                    (Some(open), '"') => {
                        words.add(open, line);
                        quoted = None;
                    }
                    (Some(open), _) => open.push(c),
                    (None, '"') => quoted = Some(String::new()),
                    (None, _) => {}
                }
            }
        }
        words
    }

    fn add(&mut self, text: &str, line: usize) {
        let text = tidy(text);
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let sign = first.len_utf8();
            let goes_on = |c: char| c.is_alphanumeric() && c.is_ascii() == first.is_ascii();
            let end = match first.is_alphanumeric() {
                true => rest.find(|c: char| !goes_on(c)).unwrap_or(rest.len()),
                false => sign,
            };
            let (word, after) = rest.split_at(end);
            if !first.is_whitespace() {
                self.words.push(word.to_owned());
                self.lines.push(line);
            }
            rest = after;
        }
    }
}

/// What of one page was kept.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The words of `innerText`.
    pub words: usize,
    /// Those that the agent reads.
    pub words_kept: usize,
    /// The line ends of `innerText` between words.
    pub ends: usize,
    /// Those that the agent reads.
    pub ends_kept: usize,
    /// The lost words and line ends, each with the words around it.
    pub lost: Vec<String>,
}

impl Kept {
    /// Compares the words for the model with those of `innerText`.
    pub fn of(inner: &Words, told: &Words) -> Kept {
        let mut known: HashMap<&str, u32> = HashMap::new();
        let [ours, theirs] = [&inner.words, &told.words].map(|words| {
            let mut numbers = Vec::with_capacity(words.len());
            for word in words {
                let next = known.len() as u32;
                numbers.push(*known.entry(word).or_insert(next));
            }
            numbers
        });
        let pairs = aligned(&ours, &theirs);
        // The first and the last place that each word can have.
        let (mut first, mut last) = (vec![None; ours.len()], vec![None; ours.len()]);
        let mut from = 0;
        for (at, to) in &pairs {
            let place = (from..=*to).find(|place| theirs[*place] == ours[*at]).unwrap_or(*to);
            first[*at] = Some(told.lines[place]);
            from = place + 1;
        }
        let mut until = theirs.len();
        for (at, to) in pairs.iter().rev() {
            let place = (*to..until).rfind(|place| theirs[*place] == ours[*at]).unwrap_or(*to);
            last[*at] = Some(told.lines[place]);
            until = place;
        }
        let around = |at: usize| inner.words[at.saturating_sub(6)..(at + 7).min(inner.words.len())].join(" ");
        let mut kept = Kept { words: inner.words.len(), ..Kept::default() };
        for (at, line) in last.iter().enumerate() {
            match line {
                Some(_) => kept.words_kept += 1,
                None => kept.lost.push(format!("word {:?} in: {}", inner.words[at], around(at))),
            }
            let before = at.checked_sub(1).filter(|before| inner.lines[*before] != inner.lines[at]);
            let Some(before) = before else { continue };
            kept.ends += 1;
            match (first[before], line) {
                (Some(one), Some(other)) if one != *other => kept.ends_kept += 1,
                (Some(_), Some(_)) => {
                    kept.lost.push(format!("line end before {:?} in: {}", inner.words[at], around(at)))
                }
                _ => {}
            }
        }
        kept
    }

    /// Adds the counts of another page.
    pub fn add(&mut self, other: &Kept) {
        self.words += other.words;
        self.words_kept += other.words_kept;
        self.ends += other.ends;
        self.ends_kept += other.ends_kept;
    }

    /// The shares of words and of line ends that are kept; 1 where there are none.
    pub fn shares(&self) -> (f64, f64) {
        let share = |part: usize, whole: usize| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
        (share(self.words_kept, self.words), share(self.ends_kept, self.ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(inner: &str, told: &str) -> Kept {
        Kept::of(&Words::of_inner_text(inner), &Words::of_outline(told))
    }

    #[test]
    fn lost_words_and_line_ends_are_counted() {
        let whole = kept("Line one\nLine two", "- paragraph [ref=e1]: \"Line one\"\n  \"Line two\"\n");
        assert_eq!((whole.shares(), whole.ends), ((1.0, 1.0), 1));
        let glued = kept("Line one\nLine two", "- paragraph [ref=e1]: \"Line oneLine two\"\n");
        assert_eq!((glued.words_kept, glued.ends_kept), (2, 0));
        let joined = kept("Line one\nLine two", "- paragraph [ref=e1]: \"Line one Line two\"\n");
        assert_eq!((joined.words_kept, joined.ends_kept), (4, 0));
        let turned = kept("a b c", "- text: \"c\" [withheld] \"a b\"\n");
        assert_eq!(turned.words_kept, 2);
        assert_eq!(turned.lost.len(), 1);
    }

    #[test]
    fn words_are_read_from_quotes_only() {
        let words = Words::of_outline(
            "- link \"a \\\"b\\\\\" [ref=e1] /url \"/f\": \"c-d\" [withheld] [unseen] \"g\" \"e\"\n",
        );
        assert_eq!(words.words, ["a", "\"", "b", "\\", "c", "-", "d", "e"]);
    }
}
