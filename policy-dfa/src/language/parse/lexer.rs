//! The lexer: from text to tokens.

use std::ops::Range;

use crate::language::error::Fault;

/// The longest policy text that is read, in bytes.
pub(crate) const MAX_TEXT: usize = 256 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind<'a> {
    /// A word, `task's` included.
    Word(&'a str),
    /// The text between double quotes.
    Text(&'a str),
    /// Digits and points, as they are written.
    Number(&'a str),
    Open,
    Close,
    Comma,
    End,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind<'a>,
    pub(crate) span: Range<usize>,
    /// Whether it is the first on its line.
    pub(crate) starts_line: bool,
}

impl Token<'_> {
    /// The token as it is named in a message.
    pub(crate) fn shown(&self) -> String {
        match self.kind {
            TokenKind::Word(word) | TokenKind::Number(word) => format!("`{word}`"),
            TokenKind::Text(text) => format!("`\"{text}\"`"),
            TokenKind::Open => "`{`".to_owned(),
            TokenKind::Close => "`}`".to_owned(),
            TokenKind::Comma => "`,`".to_owned(),
            TokenKind::End => "the end of the text".to_owned(),
        }
    }
}

/// Splits a policy text. Line ends have no meaning; `#` starts a comment.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Vec<Fault>> {
    if text.len() > MAX_TEXT {
        let message = format!("the text is longer than {MAX_TEXT} bytes");
        return Err(vec![Fault::new(MAX_TEXT..text.len(), message)]);
    }
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match token(rest) {
            Ok((kind, length)) => {
                if let Some(kind) = kind {
                    let starts_line =
                        text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']).ends_with('\n');
                    found.push(Token { kind, span: at..at + length, starts_line });
                }
                at += length;
            }
            Err((message, skip, length)) => {
                if faults.len() < 20 {
                    faults.push(Fault::new(at + skip..at + skip + length, message));
                }
                at += skip + length;
            }
        }
    }
    found.push(Token { kind: TokenKind::End, span: text.len()..text.len(), starts_line: false });
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

type Lexed<'a> = Result<(Option<TokenKind<'a>>, usize), (String, usize, usize)>;

/// The first token of a text that is not empty, with its length; or a message with the offset and the length of
/// the fault.
fn token(rest: &str) -> Lexed<'_> {
    let Some(first) = rest.chars().next() else { return Ok((None, 0)) };
    let run = |allowed: fn(char) -> bool| rest.find(|c| !allowed(c)).unwrap_or(rest.len());
    let part = |length: usize| rest.get(..length).unwrap_or("");
    match first {
        ' ' | '\t' | '\r' | '\n' => Ok((None, 1)),
        '#' => {
            let line = part(rest.find('\n').unwrap_or(rest.len()));
            match line.char_indices().find(|(_, c)| deceptive(*c)) {
                Some((place, c)) => Err((invisible(c), place, c.len_utf8())),
                None => Ok((None, line.len())),
            }
        }
        '{' => Ok((Some(TokenKind::Open), 1)),
        '}' => Ok((Some(TokenKind::Close), 1)),
        ',' => Ok((Some(TokenKind::Comma), 1)),
        '"' => {
            let inner = rest.get(1..).unwrap_or("");
            match inner.find(|c: char| c == '"' || !(' '..='~').contains(&c)) {
                Some(end) if inner.get(end..).is_some_and(|tail| tail.starts_with('"')) => {
                    Ok((Some(TokenKind::Text(inner.get(..end).unwrap_or(""))), end + 2))
                }
                Some(end) => match inner.get(end..).and_then(|tail| tail.chars().next()) {
                    Some(c) if !c.is_control() => Err((
                        format!("{} is not allowed between quotes", described(c)),
                        end + 1,
                        c.len_utf8(),
                    )),
                    _ => Err(("the closing quote is missing on this line".to_owned(), 0, end + 1)),
                },
                None => Err(("the closing quote is missing".to_owned(), 0, rest.len())),
            }
        }
        '0'..='9' => {
            let length = run(|c| c.is_ascii_digit() || c == '.');
            Ok((Some(TokenKind::Number(part(length))), length))
        }
        'a'..='z' | 'A'..='Z' => {
            let length = run(|c| c.is_ascii_alphanumeric() || c == '_' || c == '\'');
            Ok((Some(TokenKind::Word(part(length))), length))
        }
        other => {
            Err((format!("{} is not part of the policy language", described(other)), 0, other.len_utf8()))
        }
    }
}

/// Whether a character is invisible but can change how a line looks.
fn deceptive(c: char) -> bool {
    (c.is_control() && c != '\t' && c != '\r')
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

fn invisible(c: char) -> String {
    format!("{} can hide text, so it is not allowed, not even in a comment", described(c))
}

fn described(c: char) -> String {
    if deceptive(c) || c.is_control() {
        format!("the character U+{:04X}", c as u32)
    } else {
        format!("`{c}`")
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, tokens};

    #[test]
    fn words_texts_numbers_and_punctuation() {
        let kinds: Vec<_> = tokens("site \"*.x\" { never a, b } # café\n0.50 task's")
            .unwrap()
            .into_iter()
            .map(|t| t.kind)
            .collect();
        use TokenKind::{Close, Comma, End, Number, Open, Text, Word};
        let expected = vec![
            Word("site"),
            Text("*.x"),
            Open,
            Word("never"),
            Word("a"),
            Comma,
            Word("b"),
            Close,
            Number("0.50"),
            Word("task's"),
            End,
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn hidden_characters_are_refused_even_in_comments() {
        for text in [
            "# a\u{202e}b",
            "a\u{200b}b",
            "\"a\u{2066}\"",
            "\u{feff}policy",
            "\"open",
            "\"a\nb\"",
            "é",
            "a;b",
        ] {
            assert!(tokens(text).is_err(), "{text:?}");
        }
        assert_eq!(tokens("# a\u{202e}b").unwrap_err()[0].span, 3..6);
    }
}
