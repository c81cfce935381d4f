//! The texts in a login's state by which the site could know the user. The vault keeps them for the task, so that they are masked in what
//! the agent reads, and searched for in what leaves the container.

use std::collections::BTreeSet;

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
    /// sixteen characters or more that holds letters and digits and nothing that separates words.
    pub fn tokens(&self) -> Vec<&str> {
        let mut all: BTreeSet<&str> = BTreeSet::new();
        for LoginCookie { value, http_only, .. } in &self.cookies {
            let is_word = value.chars().all(char::is_alphabetic) && !http_only;
            if value.chars().count() >= FEWEST_IN_COOKIES && value.len() <= MAX_BYTES && !is_word {
                all.insert(value);
            }
            all.extend(rows(value));
        }
        for (name, value) in &self.local {
            all.extend(rows(name));
            all.extend(rows(value));
        }
        all.extend(rows(&self.databases));
        let mut tokens: Vec<&str> = all.into_iter().collect();
        tokens.sort_by_key(|token| std::cmp::Reverse(token.len()));
        tokens.truncate(MAX_TOKENS);
        tokens
    }
}

/// The rows of characters that tokens consist of.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '=' | '~');
    text.split(move |c: char| !is_part(c)).filter(|row| {
        let has = |of: fn(&u8) -> bool| row.as_bytes().iter().any(of);
        (FEWEST_IN_STORAGE..=MAX_BYTES).contains(&row.len())
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_alphabetic)
    })
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
        assert_eq!(state.tokens(), ["eyJhbGciOi.J9eyJzdWIi.OiIx2A", "s%3A8f2Kq7Lw", "opalkettle"]);
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
