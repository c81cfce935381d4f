//! The texts in a login's state by which the site could know the user. The vault keeps them for the task, so that they are masked in what
//! the agent reads, and searched for in what leaves the container.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use zeroize::Zeroizing;

use super::{LoginCookie, LoginState};

/// The most tokens of one state. Beyond them the shortest are left out.
pub const MAX_TOKENS: usize = 256;

/// The most bytes of a token: what the vault keeps in one value.
const MAX_BYTES: usize = 4_094;

/// The fewest characters of a cookie's value that counts. Shorter ones, such as a language, stand in pages by chance.
const FEWEST_IN_COOKIES: usize = 8;

/// The fewest characters of a token in the storage, where a site keeps words too.
const FEWEST_IN_STORAGE: usize = 16;

impl LoginState {
    /// The tokens, each once, the longest first; at most [`MAX_TOKENS`].
    ///
    /// A token is the value of a cookie from eight characters on that is no mere word, and, in cookies and in the storage, a row of
    /// sixteen characters or more that holds letters and digits and nothing that separates words. Both are looked for in the text as it is
    /// and without its percent signs, which a site may write twice. One that is longer than a value of the vault is several.
    pub fn tokens(&self) -> Vec<Zeroizing<String>> {
        let mut all = Vec::new();
        for LoginCookie { value, http_only, .. } in &self.cookies {
            for text in readings(value) {
                let is_word = text.chars().all(char::is_alphabetic) && !http_only;
                if text.chars().count() >= FEWEST_IN_COOKIES && !is_word {
                    all.extend(pieces(&text));
                }
                all.extend(rows(&text));
            }
        }
        let stored = self.local.iter().flat_map(|(name, value)| [name, value]);
        for text in stored.chain([&self.databases]) {
            readings(text).iter().for_each(|text| all.extend(rows(text)));
        }
        all.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.as_str().cmp(other.as_str())));
        all.dedup();
        all.truncate(MAX_TOKENS);
        all
    }
}

/// A text as it is, and what its percent signs stand for, twice.
fn readings(text: &str) -> Vec<Zeroizing<String>> {
    let mut all = vec![Zeroizing::new(text.to_owned())];
    for _ in 0..2 {
        let last = all.last().map(|text| text.as_str()).unwrap_or_default();
        match percent_decode_str(last).decode_utf8_lossy() {
            Cow::Owned(decoded) => all.push(Zeroizing::new(decoded)),
            Cow::Borrowed(_) => break,
        }
    }
    all
}

/// The pieces of a token that each fit into a value of the vault.
fn pieces(token: &str) -> Vec<Zeroizing<String>> {
    let mut all = Vec::new();
    let mut rest = token;
    while !rest.is_empty() {
        let (first, others) = rest.split_at(rest.floor_char_boundary(MAX_BYTES));
        all.push(Zeroizing::new(first.to_owned()));
        rest = others;
    }
    all
}

/// The rows of characters that tokens consist of.
fn rows(text: &str) -> Vec<Zeroizing<String>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '=' | '~');
    let rows = text.split(move |c: char| !is_part(c)).filter(|row| {
        let has = |of: fn(&u8) -> bool| row.as_bytes().iter().any(of);
        row.len() >= FEWEST_IN_STORAGE && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    });
    rows.flat_map(pieces).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use zeroize::Zeroizing;

    use super::*;
    use crate::Origin;

    fn state(cookies: &[(&str, bool)], local: &[&str]) -> LoginState {
        let mut state = LoginState::new(Origin::parse("https://shop.example").unwrap());
        state.cookies.extend(cookies.iter().map(|(value, http_only)| LoginCookie {
            name: "sid".to_owned(),
            value: Zeroizing::new((*value).to_owned()),
            domain: "shop.example".to_owned(),
            path: "/".to_owned(),
            expires: None,
            http_only: *http_only,
            secure: true,
            same_site: String::new(),
            partition: None,
        }));
        let local = local.iter().map(|value| (Zeroizing::default(), Zeroizing::new((*value).to_owned())));
        state.local.extend(local);
        state
    }

    #[test]
    fn tokens_are_found_and_words_are_not() {
        let cookies = [
            ("s%3A8f2Kq7Lw", false),
            ("light", false),
            ("en-GB", false),
            ("preferences", false),
            ("opalkettle", true),
        ];
        let local = [
            r#"{"theme":"dark","user":{"name":"Ana Lopez","mail":"ana@mail.example"},"jwt":"eyJhbGciOi.J9eyJzdWIi.OiIx2A"}"#,
            "a sentence of several words, some of them internationalisation",
        ];
        let state = state(&cookies, &local);
        let found = state.tokens();
        let found: Vec<&str> = found.iter().map(|token| token.as_str()).collect();
        assert_eq!(found, ["eyJhbGciOi.J9eyJzdWIi.OiIx2A", "s%3A8f2Kq7Lw", "opalkettle", "s:8f2Kq7Lw"]);
    }

    #[test]
    fn a_token_is_found_below_percent_signs_and_a_long_one_in_pieces() {
        let token = "eyJhbGciOi.J9eyJzdWIi.OiIx2A";
        for written in [
            format!("%7B%22token%22%3A%22{token}%22%7D"),
            format!("%257B%2522token%2522%253A%2522{token}%2522%257D"),
        ] {
            let state = state(&[(&written, true)], &[]);
            assert!(state.tokens().iter().any(|found| found.as_str() == token), "{written}");
        }
        let long = "a1".repeat(5_000);
        let state = state(&[], &[&long]);
        let found = state.tokens();
        let lengths: Vec<usize> = found.iter().map(|token| token.len()).collect();
        assert_eq!(lengths, [MAX_BYTES, 10_000 - 2 * MAX_BYTES], "the two equal pieces are one token");
    }

    #[test]
    fn there_is_a_limit_and_the_longest_are_kept() {
        let many: Vec<String> =
            (0..400).map(|number| format!("token-{number:0width$}", width = 20 + number % 7)).collect();
        let many: Vec<(&str, bool)> = many.iter().map(|value| (value.as_str(), true)).collect();
        let state = state(&many, &[&"a1".repeat(3_000)]);
        let tokens = state.tokens();
        assert_eq!(tokens.len(), MAX_TOKENS);
        assert!(tokens.iter().all(|token| token.len() <= MAX_BYTES));
        assert!(tokens.iter().all(|token| token.len() >= 28), "{tokens:?}");
    }
}
