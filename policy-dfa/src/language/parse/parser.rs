//! The token stream that the parsers of the sections share.

use std::ops::Range;

use sirl::{Kind, Tier};

use super::lexer::{Token, TokenKind};
use crate::language::error::Fault;
use crate::language::session::Trigger;
use crate::vocabulary::event::{Subject, VerbKind};

/// The words that begin a section.
pub(super) const SECTIONS: [&str; 8] =
    ["tier", "threshold", "request", "verb", "site", "provider", "session", "prove"];

pub(crate) type Parsed<T> = Result<T, Fault>;

/// A position in a list of tokens.
pub(crate) struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(tokens: Vec<Token<'a>>) -> Parser<'a> {
        Parser { tokens, next: 0 }
    }

    /// The number of tokens that were taken.
    pub(crate) fn position(&self) -> usize {
        self.next
    }

    /// The next token; the last one is always `End`.
    pub(crate) fn peek(&self) -> Token<'a> {
        let end = Token { kind: TokenKind::End, span: 0..0, starts_line: false };
        self.tokens.get(self.next).or(self.tokens.last()).cloned().unwrap_or(end)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// The end of the last token that was taken.
    pub(crate) fn last_end(&self) -> usize {
        let last = self.next.checked_sub(1).and_then(|index| self.tokens.get(index));
        last.map_or(0, |token| token.span.end)
    }

    pub(crate) fn advance(&mut self) {
        self.next += 1;
    }

    pub(crate) fn unexpected(&self, wanted: &str) -> Fault {
        let token = self.peek();
        Fault::new(token.span.clone(), format!("expected {wanted}, found {}", token.shown()))
    }

    /// Takes the next token if it is this word. Returns whether it is.
    pub(crate) fn takes(&mut self, word: &str) -> bool {
        let found = self.peek().kind == TokenKind::Word(word);
        self.next += usize::from(found);
        found
    }

    pub(crate) fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.takes(word) {
            return Ok(());
        }
        let fault = self.unexpected(&format!("`{word}`"));
        match self.peek().kind {
            TokenKind::Word(found) if found != word => Err(fault.suggest(found, [word])),
            _ => Err(fault),
        }
    }

    pub(crate) fn word(&mut self, wanted: &str) -> Parsed<(&'a str, Range<usize>)> {
        let token = self.peek();
        let TokenKind::Word(word) = token.kind else { return Err(self.unexpected(wanted)) };
        self.advance();
        Ok((word, token.span))
    }

    pub(crate) fn quoted(&mut self, wanted: &str) -> Parsed<(&'a str, Range<usize>)> {
        let token = self.peek();
        let TokenKind::Text(text) = token.kind else {
            return Err(self.unexpected(&format!("{wanted} between quotes")));
        };
        self.advance();
        Ok((text, token.span))
    }

    pub(crate) fn count(&mut self, wanted: &str) -> Parsed<u32> {
        let token = self.peek();
        let value = match token.kind {
            TokenKind::Number(digits) => digits.parse().ok(),
            _ => None,
        };
        let Some(value) = value else { return Err(self.unexpected(&format!("{wanted}, a whole number"))) };
        self.advance();
        Ok(value)
    }

    pub(crate) fn hundredths(&mut self) -> Parsed<u8> {
        let token = self.peek();
        let value = match token.kind {
            TokenKind::Number(digits) => hundredths(digits),
            _ => None,
        };
        let wanted = "a number from 0 to 1 with at most two digits after the point";
        let Some(value) = value else { return Err(self.unexpected(wanted)) };
        self.advance();
        Ok(value)
    }

    pub(crate) fn open(&mut self) -> Parsed<()> {
        if self.peek().kind != TokenKind::Open {
            return Err(self.unexpected("`{`"));
        }
        self.advance();
        Ok(())
    }

    /// Takes a closing brace if there is one; the end of the text is an error.
    pub(crate) fn close(&mut self) -> Parsed<bool> {
        match self.peek().kind {
            TokenKind::Close => {
                self.advance();
                Ok(true)
            }
            TokenKind::End => Err(self.unexpected("`}`")),
            _ => Ok(false),
        }
    }

    pub(crate) fn comma(&mut self) -> bool {
        let found = self.peek().kind == TokenKind::Comma;
        self.next += usize::from(found);
        found
    }

    pub(crate) fn tier(&mut self) -> Parsed<(Tier, Range<usize>)> {
        let (word, span) = self.word("a tier")?;
        let fault = || Fault::new(span.clone(), format!("unknown tier `{word}`"));
        let tier = Tier::from_name(word).ok_or_else(|| fault().suggest(word, Tier::ALL.map(Tier::as_str)))?;
        Ok((tier, span))
    }

    pub(crate) fn kind(&mut self) -> Parsed<(Kind, Range<usize>)> {
        let (word, span) = self.word("a kind of request")?;
        let fault = || Fault::new(span.clone(), format!("unknown kind of request `{word}`"));
        let kind = Kind::from_name(word).ok_or_else(|| fault().suggest(word, Kind::ALL.map(Kind::as_str)))?;
        Ok((kind, span))
    }

    pub(crate) fn verb(&mut self) -> Parsed<(VerbKind, Range<usize>)> {
        let (word, span) = self.word("a verb")?;
        let fault = || Fault::new(span.clone(), format!("unknown verb `{word}`"));
        let names = VerbKind::RULED.map(VerbKind::as_str);
        let verb = VerbKind::ruled_from_name(word).ok_or_else(|| fault().suggest(word, names))?;
        Ok((verb, span))
    }

    pub(crate) fn subject(&mut self) -> Parsed<Subject> {
        let (word, span) = self.word("a tier, a kind of request or a verb")?;
        Subject::from_name(word).ok_or_else(|| {
            let fault = Fault::new(span, format!("unknown tier, kind or verb `{word}`"));
            fault.suggest(word, Subject::names())
        })
    }

    /// An event that an `after` rule or a statement can name.
    pub(crate) fn trigger(&mut self) -> Parsed<Trigger> {
        let (word, span) = self.word("an event")?;
        let unknown = || Fault::new(span, format!("unknown event `{word}`")).suggest(word, Trigger::names());
        Trigger::from_name(word).ok_or_else(unknown)
    }

    /// A number, as it is written.
    pub(crate) fn digits(&mut self, wanted: &str) -> Parsed<(&'a str, Range<usize>)> {
        let token = self.peek();
        let TokenKind::Number(digits) = token.kind else { return Err(self.unexpected(wanted)) };
        self.advance();
        Ok((digits, token.span))
    }

    /// Skips to the next section, to find further problems after a fault.
    pub(crate) fn skip_to_section(&mut self) {
        loop {
            match self.peek().kind {
                TokenKind::End => return,
                TokenKind::Word(word) if SECTIONS.contains(&word) && self.starts_section() => return,
                _ => self.advance(),
            }
        }
    }

    /// Whether the next token may begin a section: it is the first on its line, or follows the end of a section. Clauses use the
    /// same words, such as `once per session` and `the threshold`.
    fn starts_section(&self) -> bool {
        let before = self.next.checked_sub(1).and_then(|index| self.tokens.get(index));
        match before.map(|token| token.kind) {
            None | Some(TokenKind::Close) => true,
            Some(TokenKind::Comma | TokenKind::Open) => false,
            Some(_) => self.tokens.get(self.next).is_some_and(|token| token.starts_line),
        }
    }

    pub(crate) fn span_of(&self, word: &str, from: usize) -> Option<Range<usize>> {
        let mut tokens = self.tokens.iter().skip(from);
        tokens.find(|token| token.kind == TokenKind::Word(word)).map(|token| token.span.clone())
    }
}

/// `0.5` is 50, `1` is 100.
fn hundredths(digits: &str) -> Option<u8> {
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "00"));
    let part = match part.len() {
        1 => part.parse::<u8>().ok()? * 10,
        2 => part.parse::<u8>().ok()?,
        _ => return None,
    };
    match (whole, part) {
        ("0", part) => Some(part),
        ("1", 0) => Some(100),
        _ => None,
    }
}
