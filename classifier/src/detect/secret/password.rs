//! Passwords that the words before them announce, and those in web addresses and connection strings.

use super::randomness::is_placeholder;
use crate::detect::context::{Announced, announced, begins};
use crate::detect::finding::{Finding, SensitiveKind};
use std::ops::Range;

/// Words for a password.
pub(crate) const PASSWORD: &str = r"(?i:pass ?word|passwort|kennwort|pass ?phrase|passwd|pwd|mot de passe|contrase[ñn]a|wachtwoord|senha|has[łl]o|l[öo]senord|adgangskode|passord|парол[ья])";
/// The separator between the scheme of an address and the rest.
pub(crate) const ADDRESS: &str = "://";

/// The smallest and the largest number of characters of a password.
const SHORTEST: usize = 6;
const LONGEST: usize = 64;
/// The smallest number of characters in an address, where example passwords are often shorter.
const SHORTEST_IN_ADDRESS: usize = 4;
/// The largest length of an address before the path, in bytes.
const LONGEST_AUTHORITY: usize = 320;

/// Ends of names that hold a setting and no password: `password_encryption`.
const SETTINGS: [&str; 8] =
    ["algorithm", "encryption", "hash", "length", "method", "policy", "field", "type"];

/// Returns the password that the matched word announces.
pub(crate) fn find_announced(text: &str, word: Range<usize>) -> Option<Finding> {
    // In code the name may continue: `password_prod`, `passwordHash`.
    let rest = text.get(word.end..)?;
    let length: usize =
        rest.bytes().take(16).take_while(|b| b.is_ascii_alphanumeric() || b"_-".contains(b)).count();
    let suffix = rest.get(..length)?.to_ascii_lowercase();
    if SETTINGS.iter().any(|setting| suffix.trim_start_matches(['_', '-']).starts_with(setting)) {
        return None;
    }
    let (start, how) = announced(text, word.end + length, 3)?;
    let quote = text.get(..start)?.chars().next_back().filter(|c| "\"'`".contains(*c));
    // In a query or a form, an ampersand begins the next field.
    let query = text.get(..start)?.ends_with('=');
    let value = value(text.get(start..)?, quote, query)?;
    looks_chosen(value).then(|| {
        let percent = if how == Announced::Sign { 80 } else { 70 };
        Finding::new(start..start + value.len(), SensitiveKind::Password, percent)
    })
}

/// Returns the value that a text begins with.
fn value(rest: &str, quote: Option<char>, query: bool) -> Option<&str> {
    let window = rest.get(..rest.floor_char_boundary(LONGEST * 4 + 1).min(rest.len()))?;
    let end = window.find(|c: char| match quote {
        Some(quote) => c == quote || c == '\n',
        None => c.is_whitespace() || "\"'`<>;[]¶".contains(c) || (query && c == '&'),
    });
    let value = window.get(..end.unwrap_or(window.len()))?;
    if value.contains(['[', ']']) {
        return None;
    }
    // A quote that never closes is no value. Marks at the end of a sentence are cut off, except those that passwords
    // often end with.
    let value = match quote {
        Some(_) if end.is_none() => return None,
        Some(_) => value,
        None => value.trim_end_matches([',', '.', ')']),
    };
    let length = value.chars().count();
    ((SHORTEST..=LONGEST).contains(&length) && !value.chars().any(char::is_whitespace)).then_some(value)
}

/// Returns whether a value looks like a chosen password rather than a word, an identifier, or a sample.
fn looks_chosen(value: &str) -> bool {
    let count = |test: fn(char) -> bool| value.chars().filter(|c| test(*c)).count();
    let digits = count(|c| c.is_ascii_digit());
    let upper = count(char::is_uppercase);
    let lower = count(char::is_lowercase);
    let signs = count(|c| !c.is_alphanumeric() && !"-_./:,()".contains(c));
    let classes = [digits, upper, lower, signs].iter().filter(|count| **count > 0).count();
    let code = value.contains(['(', '{', '<', '$']) && value.contains([')', '}', '>', '('])
        || value.starts_with(['$', '%', '{', '<', '@', '/', '.', '&'])
        || value.contains("://")
        || value.contains("::")
        || is_version(value);
    let dotted = value.contains('.') && signs == 0 && digits == 0;
    let number = digits + count(|c| "-./:,".contains(c)) == value.chars().count();
    let capital = upper == 1 && value.starts_with(char::is_uppercase);
    let mixed = digits > 0 && upper + lower + signs > 0
        || signs > 0 && upper + lower > 0
        || (upper > 1 && lower > 1 && !capital && classes > 2);
    let hash = value.len() >= 32 && value.starts_with('$');
    mixed
        && !code
        && !dotted
        && !number
        && !hash
        && !is_placeholder(value)
        && !value.chars().all(|c| "*•·.xX".contains(c))
}

/// Returns whether a value is the number of a version: `v0.1.2`, `2.0.0-rc1`.
fn is_version(value: &str) -> bool {
    let number = value.strip_prefix(['v', '^', '~']).unwrap_or(value);
    let mut parts = number.split('.');
    let digits =
        |part: &str| !part.is_empty() && part.len() <= 5 && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.next().is_some_and(digits) && parts.next().is_some_and(digits)
}

/// Returns the password in the address whose scheme ends at `sign`, and where the search continues.
pub(crate) fn find_in_address(text: &str, sign: Range<usize>) -> Option<(Finding, usize)> {
    let head = text.get(..sign.start)?;
    let scheme =
        head.bytes().rev().take(24).take_while(|b| b.is_ascii_alphanumeric() || b"+.-".contains(b)).count();
    if scheme < 2 {
        return None;
    }
    let rest = text.get(sign.end..)?;
    let window = rest.get(..rest.floor_char_boundary(LONGEST_AUTHORITY))?;
    let end = window.find(|c: char| c.is_whitespace() || "\"'`<>[]".contains(c)).unwrap_or(window.len());
    let authority = window.get(..end)?;
    // A password may contain a slash that was not encoded; the host may not.
    let host = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    let at = authority.get(..host)?.rfind('@').or_else(|| {
        let at = authority.find('@')?;
        let user = authority.get(..host)?;
        let port = user.split_once(':').is_some_and(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
        (user.contains(':') && !port).then_some(at)
    })?;
    let (user, password) = authority.get(..at)?.split_once(':')?;
    let start = sign.end + user.len() + 1;
    let sample = is_placeholder(password)
        || ["password", "pass", "pw", "pwd", "passwd", "secret", "changeme"]
            .contains(&password.to_lowercase().as_str())
        || password.contains(['{', '$', '}'])
        || password.chars().all(|c| "*x.•".contains(c));
    (password.chars().count() >= SHORTEST_IN_ADDRESS && !sample && begins_host(authority.get(at + 1..)?))
        .then(|| {
            (Finding::new(start..start + password.len(), SensitiveKind::Password, 92), sign.end + at + 1)
        })
}

fn begins_host(host: &str) -> bool {
    host.starts_with(|c: char| c.is_alphanumeric() || c == '[' || c == '/')
        || begins(host, 0) && host.starts_with('_')
}
