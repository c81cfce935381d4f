//! Secrets of any form that the name before them announces, in the ways in which programs, configuration, commands and
//! prose assign a value to a name: `api_key = "..."`, `--token ...`, `<secret>...</secret>`, `"token", "..."`.
//!
//! The name is judged word by word (see [`name`](super::name)), the value by its chance (see
//! [`randomness`](super::randomness)).

use super::name::{Name, read_name};
use super::randomness::{is_identifier, is_placeholder, is_random};
use crate::detect::context::announced;
use crate::detect::finding::{Finding, SensitiveKind};
use std::ops::Range;

/// The words that name a secret, alone or as part of a longer name.
pub(crate) const NAME: &str = r"(?i:secret|token|key|credential|creds|signature|sig=|authorization|contribsys|(?-u:\b)auth[\x22'=: ]|_auth|_pat(?-u:\b)|pass(?-u:\b))";

/// The shortest and the longest value that is read, in bytes.
const SHORTEST: usize = 16;
const LONGEST: usize = 1024;
/// The most spaces between a name, its sign and its value.
const MOST_SPACES: usize = 12;

/// Returns the secret that the matched word announces.
pub(crate) fn find(text: &str, word: Range<usize>) -> Option<Finding> {
    let name = read_name(text, word)?;
    let start = value_after(text, &name)?;
    let start = start + scheme_length(text.get(start..)?, &name);
    let rest = text.get(start..)?;
    let quote = text.get(..start)?.chars().next_back().filter(|c| "\"'`".contains(*c));
    let length = value_length(rest, quote, name.in_query(text));
    let value = rest.get(..length)?;
    let goes_on = rest.get(length..)?;
    let least = if name.is_plain_secret() { SHORTEST } else { SHORTEST + 4 };
    let code = (goes_on.starts_with(['(', '[', '{', '$', '\\']) && !goes_on.starts_with("\\\""))
        || value.contains("process.env")
        || is_code(value);
    let good = value.len() >= least
        && !code
        && !is_path(value)
        && !is_date(value)
        && is_random(value)
        && !is_placeholder(value)
        && !is_identifier(value);
    good.then(|| Finding::new(start..start + value.len(), SensitiveKind::Token, 85))
}

/// Returns the secret that the word beginning at `start` announces, if one of [`NAME`] begins there.
pub(crate) fn find_at(text: &str, start: usize) -> Option<Finding> {
    let rest = text.get(start..)?;
    ["secret", "token", "key"].iter().find_map(|word| {
        let head = rest.get(..word.len())?;
        head.eq_ignore_ascii_case(word).then(|| find(text, start..start + word.len())).flatten()
    })
}

/// Returns where the value begins that is assigned to a name.
fn value_after(text: &str, name: &Name) -> Option<usize> {
    let end = name.span.end;
    let rest = text.get(end..)?;
    let before = text.get(..name.span.start)?;
    let quoted = rest.starts_with(['"', '\'', '`']) || rest.starts_with("\\\"");
    let mut tail = rest.strip_prefix('\\').unwrap_or(rest);
    tail = tail.strip_prefix(['"', '\'', '`']).unwrap_or(tail);
    // `environment["NAME"] = ...`, `(NAME) = ...`; the bracket of a marker never follows a quote.
    if quoted && let Some(behind) = tail.strip_prefix([']', ')']) {
        tail = behind;
        if tail.starts_with([']', '[']) {
            return None;
        }
    }
    if !quoted
        && before.ends_with('<')
        && let Some(value) = tail.strip_prefix('>')
    {
        return Some(text.len() - value.len());
    }
    let spaced = skip_spaces(tail)?;
    let gap = spaced.len() < tail.len();
    if let Some(behind) = sign(spaced) {
        return opened(text, skip_spaces(behind)?, 0);
    }
    if quoted && let Some(behind) = spaced.strip_prefix(',') {
        let behind = skip_spaces(behind)?;
        return behind.starts_with(['"', '\'', '`']).then(|| opened(text, behind, 0)).flatten();
    }
    if quoted
        && gap
        && let Some(behind) = spaced.strip_prefix("value=")
    {
        return behind.starts_with(['"', '\'']).then(|| opened(text, behind, 0)).flatten();
    }
    if let Some(behind) = tail.strip_prefix('(').filter(|_| !quoted) {
        return behind.starts_with(['"', '\'', '`']).then(|| opened(text, behind, 0)).flatten();
    }
    if gap && name.takes_the_next_word(text) {
        return opened(text, spaced, 0);
    }
    announced(text, end, 0).map(|(start, _)| start)
}

/// Returns where a value begins, behind its quotes and a type that is written before the sign: `: string = '...'`.
fn opened(text: &str, rest: &str, depth: usize) -> Option<usize> {
    let typed =
        rest.bytes().take(28).take_while(|b| b.is_ascii_alphanumeric() || b"&'<>_ ?:|".contains(b)).count();
    if depth == 0
        && let Some(behind) = rest.get(typed..)
        && let Some(behind) = behind.strip_prefix("= ").or_else(|| behind.strip_prefix('='))
        && behind.starts_with(['"', '\'', '`'])
    {
        return opened(text, behind, 1);
    }
    let rest =
        rest.strip_prefix(['b', 'r', '@']).filter(|rest| rest.starts_with(['"', '\''])).unwrap_or(rest);
    let rest = rest.strip_prefix('\\').unwrap_or(rest);
    let rest = rest.strip_prefix(['"', '\'', '`']).unwrap_or(rest);
    Some(text.len() - rest.len())
}

/// Returns the text without the spaces at its beginning; `None` for more than belong to an assignment.
fn skip_spaces(text: &str) -> Option<&str> {
    let behind = text.trim_start_matches(' ');
    (text.len() - behind.len() <= MOST_SPACES).then_some(behind)
}

/// Returns the text after the sign that `rest` begins with; a comparison is none.
fn sign(rest: &str) -> Option<&str> {
    let behind =
        ["::=", "||=", "=>", ":=", "?=", "->", ":", "="].iter().find_map(|sign| rest.strip_prefix(sign))?;
    (!behind.starts_with(['=', '~', ':'])).then_some(behind)
}

/// Returns the length of the scheme before a value: `Bearer `, `Token `, `base64:`.
fn scheme_length(rest: &str, name: &Name) -> usize {
    if let Some(behind) = rest.strip_prefix("base64:") {
        return rest.len() - behind.len();
    }
    let word = rest.bytes().take(20).take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').count();
    let behind = rest.get(word..).unwrap_or_default();
    let value = behind.trim_start_matches(' ');
    let known = rest.get(..word).is_some_and(|scheme| {
        ["bearer", "basic", "token", "apikey", "api-key", "key"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme))
    });
    let spaces = behind.len() - value.len();
    if word > 1 && (1..=2).contains(&spaces) && (name.is_header() || known) { word + spaces } else { 0 }
}

/// Returns the length of the value that a text begins with.
fn value_length(rest: &str, quote: Option<char>, query: bool) -> usize {
    let window = rest.get(..rest.floor_char_boundary(LONGEST.min(rest.len()))).unwrap_or_default();
    let ends = |c: char| {
        !c.is_ascii_graphic()
            || "\"'`<>,;[](){}|\\".contains(c) && !(c == '|' && quote.is_some())
            || (query && quote.is_none() && c == '&')
    };
    let length = window.find(ends).unwrap_or(window.len());
    let value = window.get(..length).unwrap_or_default();
    value.trim_end_matches(['.', ':', '!', '?']).len()
}

/// Returns whether a value is code or an address rather than a secret.
fn is_code(value: &str) -> bool {
    value.contains("://")
        || value.contains("::")
        || value.contains("->")
        || value.starts_with(['$', '%', '@', '&', '#', '*', '!', '='])
        || value.contains("${")
}

/// Returns whether a value is a path: its parts are in the case of words, and short or identifiers.
fn is_path(value: &str) -> bool {
    let cased = |part: &str| {
        let tail = part.get(1..).unwrap_or_default();
        !tail.bytes().any(|byte| byte.is_ascii_uppercase())
            || !part.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    let upper = value.bytes().any(|byte| byte.is_ascii_uppercase());
    let parts = || value.split('/').filter(|part| !part.is_empty());
    (value.starts_with(['/', '~', '.']) && !upper)
        || value.contains("//")
        || (value.contains('/')
            && !value.contains(['+', '='])
            && parts().all(|part| cased(part) && (part.len() < 12 || is_identifier(part))))
}

/// Returns whether a value begins with a date: `2026-11-20T10:30:45Z`.
fn is_date(value: &str) -> bool {
    let digit = |at: usize| value.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    (0..4).all(digit) && value.get(4..5) == Some("-") && digit(5) && digit(6) && value.get(7..8) == Some("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "a1B2c3D4e5F6g7H8i9J0";

    fn found(text: &str) -> Option<&str> {
        let words = ["secret", "token", "key", "authorization"];
        let lower = text.to_ascii_lowercase();
        words.iter().find_map(|word| {
            let at = lower.find(word)?;
            find(text, at..at + word.len()).map(|finding| &text[finding.span])
        })
    }

    #[test]
    fn a_value_is_found_in_every_kind_of_assignment() {
        for place in [
            "api_key = \"@\"",
            "export SERVICE_TOKEN=@",
            "token: @\n",
            "{\"secret\": \"@\"}",
            "'token' => '@',",
            "clientSecret := `@`",
            "<token>@</token>",
            "<add key=\"X\" name=\"api-secret\" value=\"@\"/>",
            "define('A_TOKEN', '@');",
            "env[\"A_TOKEN\"] = \"@\"",
            "--access-token @",
            "--access-token=@",
            "ENV A_TOKEN @",
            "A_TOKEN ?= @",
            "const SECRET: &str = \"@\";",
            "let token: string = '@'",
            "setToken(\"@\")",
            "Authorization: Splunk @",
            "Authorization: @",
            "the token is @.",
            "{\\\"token\\\": \\\"@\\\"}",
        ] {
            assert_eq!(found(&place.replace('@', VALUE)), Some(VALUE), "{place}");
        }
    }

    #[test]
    fn other_names_and_values_are_left_alone() {
        for text in [
            "token_count = \"a1B2c3D4e5F6g7H8i9J0\"",
            "public_key: a1B2c3D4e5F6g7H8i9J0",
            "token = getTokenFromSession2(x)",
            "secret: process.env.SECRET_KEY_BASE2",
            "token == a1B2c3D4e5F6g7H8i9J0",
            "token: 2026-11-20T10:30:45Z",
            "key: orders/customer-2/price-4711",
            "token a1B2c3D4e5F6g7H8i9J0",
            "[token]: a1B2c3D4e5F6g7H8i9J0",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
