//! The prompt as words and marks, each with its span; and the degrees of certainty of a value.

use std::ops::Range;

/// The certainty that a span is a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// It is a value.
    Yes,
    /// The user should be asked.
    Ask,
}

/// The connection of a label and its value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bond {
    /// None: `cvv 123`. The value must have the right form.
    Bare,
    /// A word such as `is`.
    Said,
    /// A colon or an equals sign.
    Colon,
}

/// A word, or one mark that is neither letter, digit nor space. The end of a line is a mark.
pub(super) struct Token {
    pub(super) span: Range<usize>,
    low: String,
    closed: bool,
    quoted: bool,
}

/// A prompt in tokens. An index past the end gives an empty token that is no word.
pub(super) struct Text<'p> {
    pub(super) raw: &'p str,
    tokens: Vec<Token>,
}

/// Marks that open and close a quotation.
const QUOTES: [(char, char); 5] =
    [('"', '"'), ('\u{201c}', '\u{201d}'), ('\u{201e}', '\u{201c}'), ('\u{ab}', '\u{bb}'), ('`', '`')];

/// Words that end in a full stop without ending a sentence.
const ABBREVIATIONS: [&str; 18] = [
    "str", "st", "no", "nr", "av", "avda", "ave", "bd", "blvd", "rd", "dr", "apt", "mr", "mrs", "ms", "prof",
    "exp", "tel",
];

impl<'p> Text<'p> {
    /// Splits a prompt. `closed` are spans that contain no value: web addresses, handles of records.
    pub(super) fn new(raw: &'p str, closed: &[Range<usize>]) -> Text<'p> {
        let quotes = quotes(raw);
        let mut tokens: Vec<Token> = Vec::new();
        let mut letters = raw.char_indices().peekable();
        while let Some((start, c)) = letters.next() {
            if c.is_whitespace() && c != '\n' {
                continue;
            }
            let mut end = start + c.len_utf8();
            if c.is_alphanumeric() {
                while let Some((at, c)) = letters.peek().copied() {
                    if !c.is_alphanumeric() && !joins(raw, at, c) {
                        break;
                    }
                    letters.next();
                    end = at + c.len_utf8();
                }
            }
            let low = raw.get(start..end).unwrap_or_default().to_lowercase().replace('\u{2019}', "'");
            let within = |places: &[Range<usize>]| places.iter().any(|p| p.start < end && start < p.end);
            tokens.push(Token { closed: within(closed), quoted: within(&quotes), low, span: start..end });
        }
        Text { raw, tokens }
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The token in lower case.
    pub(super) fn low(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.low)
    }

    /// The token as it is written.
    pub(super) fn word(&self, at: usize) -> &'p str {
        self.tokens.get(at).and_then(|token| self.raw.get(token.span.clone())).unwrap_or_default()
    }

    /// The start of a token; for an index past the end, the end of the text.
    pub(super) fn start(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(self.raw.len(), |token| token.span.start)
    }

    /// The span of the tokens from `from` up to `to`.
    pub(super) fn span(&self, from: usize, to: usize) -> Range<usize> {
        let end = to.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |last| last.span.end);
        self.start(from)..end
    }

    /// The first token that begins at or after a byte.
    pub(super) fn token_at(&self, byte: usize) -> usize {
        self.tokens.partition_point(|token| token.span.start < byte)
    }

    pub(super) fn is_closed(&self, at: usize) -> bool {
        self.tokens.get(at).is_none_or(|token| token.closed)
    }

    pub(super) fn is_quoted(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.quoted)
    }

    /// Whether it is a word that is not closed.
    pub(super) fn is_word(&self, at: usize) -> bool {
        !self.is_closed(at) && self.word(at).starts_with(char::is_alphanumeric)
    }

    /// Whether it is a capitalised word of letters.
    pub(super) fn is_capital(&self, at: usize) -> bool {
        let word = self.word(at);
        self.is_word(at)
            && word.starts_with(char::is_uppercase)
            && word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '\u{2019}' | '-'))
    }

    /// Whether it is a number of at most `longest` digits, with at most one letter after it (`12b`).
    pub(super) fn is_number(&self, at: usize, longest: usize) -> bool {
        let word = self.word(at);
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        self.is_word(at)
            && (1..=longest).contains(&digits.len())
            && word.len() <= digits.len() + 1
            && digits.bytes().all(|b| b.is_ascii_digit())
    }

    /// The token after the words of `phrase`, if the phrase begins here.
    pub(super) fn phrase(&self, at: usize, phrase: &str) -> Option<usize> {
        let mut next = at;
        for word in phrase.split(' ') {
            if self.is_closed(next) || self.low(next) != word {
                return None;
            }
            next += 1;
        }
        Some(next)
    }

    /// Whether the token is one of `words`.
    pub(super) fn is_one_of(&self, at: usize, words: &[&str]) -> bool {
        words.contains(&self.low(at))
    }

    /// Whether a sentence ends with this token.
    pub(super) fn ends_sentence(&self, at: usize) -> bool {
        match self.low(at) {
            "" => at >= self.len(),
            "\n" | "!" | "?" => true,
            "." => {
                let end = self.tokens.get(at).map_or(0, |token| token.span.end);
                let space = self.raw.get(end..).is_none_or(|r| r.is_empty() || r.starts_with([' ', '\n']));
                space && !at.checked_sub(1).is_some_and(|last| self.is_one_of(last, &ABBREVIATIONS))
            }
            _ => false,
        }
    }

    /// Whether one of `words` comes before this token in the same sentence, at most `reach` tokens before.
    pub(super) fn is_preceded_by(&self, at: usize, words: &[&str], reach: usize) -> bool {
        let mut before = (at.saturating_sub(reach)..at).rev().take_while(|at| !self.ends_sentence(*at));
        before.any(|at| !self.is_closed(at) && self.is_one_of(at, words))
    }

    /// The span between quotation marks, if a quotation opens here. It may neither be empty nor contain a line end.
    pub(super) fn quoted_at(&self, at: usize) -> Option<Range<usize>> {
        let mark = self.word(at).chars().next()?;
        let (open, close) = match mark {
            '\'' => ('\'', '\''),
            mark => *QUOTES.iter().find(|(open, _)| *open == mark)?,
        };
        let start = self.start(at) + open.len_utf8();
        let inside = self.raw.get(start..)?;
        let length = inside.find([close, '\n']).filter(|length| *length > 0)?;
        inside.get(length..)?.starts_with(close).then_some(start..start + length)
    }
}

/// Whether a mark joins two letters into one word, as in `e-mail` and `d'identite`.
fn joins(raw: &str, at: usize, c: char) -> bool {
    let before = raw.get(..at).and_then(|text| text.chars().next_back());
    let after = raw.get(at + c.len_utf8()..).and_then(|text| text.chars().next());
    matches!(c, '\'' | '\u{2019}' | '-')
        && before.is_some_and(char::is_alphabetic)
        && after.is_some_and(char::is_alphabetic)
}

/// The spans of quotations, with their marks. A mark without its counterpart quotes nothing.
fn quotes(raw: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some((at, open)) =
        raw.get(from..).and_then(|rest| rest.char_indices().find(|(_, c)| QUOTES.iter().any(|(o, _)| o == c)))
    {
        let start = from + at;
        let close = QUOTES.iter().find(|(mark, _)| *mark == open).map_or(open, |(_, close)| *close);
        from = start + open.len_utf8();
        let inside = raw.get(from..).unwrap_or_default();
        let length = inside.find([close, '\n']);
        if let Some(length) =
            length.filter(|at| inside.get(*at..).is_some_and(|rest| rest.starts_with(close)))
        {
            places.push(start..from + length + close.len_utf8());
            from += length + close.len_utf8();
        }
    }
    places
}
