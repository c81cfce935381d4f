//! The content of one entry, by the conventions of `pass` and its extension for one-time codes: the password in the first line, then
//! lines such as `login: ana`, `url: https://shop.example` and `otpauth://totp/...`.

use browser_signals::Origin;
use vault::Secret;

/// The words before a user name.
const NAMES: [&str; 4] = ["login", "username", "user", "email"];
/// The words before a site.
const SITES: [&str; 3] = ["url", "website", "site"];

/// An entry. Its values are secrets from the start.
pub(super) struct Entry {
    pub(super) password: Option<Secret>,
    pub(super) username: Option<Secret>,
    /// The seed of one-time codes.
    pub(super) code: Option<Secret>,
    /// The sites that it names.
    pub(super) sites: Vec<Origin>,
}

impl Entry {
    /// Reads the decrypted bytes; none if they are no text.
    pub(super) fn read(plain: &[u8]) -> Option<Entry> {
        let text = std::str::from_utf8(plain).ok()?;
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let mut entry = Entry { password: None, username: None, code: None, sites: Vec::new() };
        // A file that only has a seed is one of the extension's.
        if is_seed(first) {
            entry.code = Some(secret(first.trim()));
        } else if !first.is_empty() {
            entry.password = Some(secret(first));
        }
        for line in lines {
            if is_seed(line) {
                entry.code.get_or_insert_with(|| secret(line.trim()));
                continue;
            }
            let Some((word, value)) = line.split_once(':') else { continue };
            let (word, value) = (word.trim(), value.trim());
            let is_one_of = |words: &[&str]| words.iter().any(|it| word.eq_ignore_ascii_case(it));
            if is_one_of(&NAMES) && !value.is_empty() {
                entry.username.get_or_insert_with(|| secret(value));
            } else if is_one_of(&SITES) {
                entry.sites.extend(Origin::parse(value));
            }
        }
        Some(entry)
    }
}

fn is_seed(line: &str) -> bool {
    line.trim_start().get(..10).is_some_and(|begin| begin.eq_ignore_ascii_case("otpauth://"))
}

fn secret(text: &str) -> Secret {
    Secret::filled(text.len(), |out| out.copy_from_slice(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;

    fn is(value: Option<&Secret>, text: &str) -> bool {
        value.is_some_and(|value| value.is_same(&Secret::new(text)))
    }

    #[test]
    fn an_entry_is_read_by_its_conventions() {
        let text = "opal kettle: 71\nLogin: ana@mail.example\nURL: https://shop.example/login\nsite: http://127.0.0.1:8000\n\
                    url: shop.example\nnote: user: bob\notpauth://totp/x?secret=GEZDGNBVGY3TQOJQ\nlogin: bob\n";
        let entry = Entry::read(text.as_bytes()).unwrap();
        assert!(is(entry.password.as_ref(), "opal kettle: 71"));
        assert!(is(entry.username.as_ref(), "ana@mail.example"));
        assert!(is(entry.code.as_ref(), "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ"));
        let sites: Vec<String> = entry.sites.iter().map(Origin::to_string).collect();
        // A host alone names no scheme, and so no origin.
        assert_eq!(sites, ["https://shop.example", "http://127.0.0.1:8000"]);
        let seed = Entry::read(b"otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ\n").unwrap();
        assert!(seed.password.is_none() && seed.code.is_some());
        assert!(Entry::read(b"").unwrap().password.is_none());
        assert!(Entry::read(&[0xff, 0xfe]).is_none());
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_its_first_line_is_the_password(first in "[^\r\n]{1,40}", rest in "(?s).{0,200}") {
            let entry = Entry::read(format!("{first}\n{rest}").as_bytes()).unwrap();
            if !is_seed(&first) {
                prop_assert!(is(entry.password.as_ref(), &first));
            }
        }
    }
}
