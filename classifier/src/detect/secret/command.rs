//! Credentials that a command or a header sends: `curl -u user:password`, `Bearer ...`.

use super::randomness::{is_identifier, is_placeholder, is_random};
use crate::detect::finding::{Finding, SensitiveKind};
use std::ops::Range;

/// The scheme before a token that has no form of its own.
pub(crate) const SCHEME: &str =
    r"(?i:bearer|authorization:[ ]?[a-z-]{3,16}|authorization:[ ]?[a-z-]{3,16}[ ]token)[ ]+";

/// The option of a command that takes a user and a password.
pub(crate) const USER: &str = r"(?:-u|--user|--proxy-user|-U)[ =]{1,2}";

/// The shortest token after a scheme, and the shortest password in a command.
const SHORTEST_TOKEN: usize = 16;
const SHORTEST_PASSWORD: usize = 4;
/// The longest part of a command before the option that is read, in bytes.
const LONGEST_COMMAND: usize = 400;

/// Commands that take a user and a password after such an option.
const COMMANDS: [&str; 4] = ["curl", "http ", "https ", "wget"];

/// Parts of passwords that stand for one in documents.
const SAMPLES: [&str; 12] = [
    "password",
    "pass",
    "passwd",
    "pw",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "key",
    "x-oauth-basic",
];

/// Returns the token after a scheme.
pub(crate) fn find_after_scheme(text: &str, scheme: Range<usize>) -> Option<Finding> {
    let rest = text.get(scheme.end..)?;
    let length = rest
        .bytes()
        .take(2048)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.~+/=".contains(byte))
        .count();
    let value = rest.get(..length)?.trim_end_matches('.');
    let goes_on = rest.get(value.len()..)?.starts_with(['(', '[', '{', '$', '\\']);
    let head = value.get(..64).unwrap_or(value);
    let good =
        value.len() >= SHORTEST_TOKEN && is_random(head) && !is_placeholder(head) && !is_identifier(head);
    (good && !goes_on).then(|| Finding::new(scheme.end..scheme.end + value.len(), SensitiveKind::Token, 85))
}

/// Returns the password after the user's name, or the key in the name's place, after an option of `curl` or the like.
pub(crate) fn find_user(text: &str, option: Range<usize>) -> Option<Finding> {
    let start = text.ceil_char_boundary(option.start.saturating_sub(LONGEST_COMMAND));
    let command = text.get(start..option.start)?;
    // A command goes on in the next line after a backslash, and ends at a mark of the shell.
    let line = command
        .rsplit_once('\n')
        .map_or(command, |(before, line)| if before.trim_end().ends_with('\\') { command } else { line });
    let line = line.rsplit(['|', ';', '[', ']']).next().unwrap_or_default();
    if !COMMANDS.iter().any(|name| line.contains(name)) || !line.ends_with([' ', '\t', '\n']) {
        return None;
    }
    let rest = text.get(option.end..)?;
    let value = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
    let quote = value.len() < rest.len();
    let from = text.len() - value.len();
    let window = value.get(..value.floor_char_boundary(256.min(value.len())))?;
    let end = window.find(|c: char| (c.is_whitespace() && !quote) || "\"'`<>[]\n\\".contains(c));
    let value = window.get(..end.unwrap_or(window.len()))?;
    let (user, password) = value.split_once(':')?;
    if password.is_empty() {
        let key = user.len() >= SHORTEST_TOKEN && is_random(user) && !is_placeholder(user);
        return key.then(|| Finding::new(from..from + user.len(), SensitiveKind::Token, 88));
    }
    let lower = password.to_lowercase();
    let sample = SAMPLES.contains(&lower.as_str())
        || is_placeholder(password)
        || password.contains(['{', '}', '$', '%'])
        || password.bytes().all(|byte| byte.is_ascii_digit())
            && user.bytes().all(|byte| byte.is_ascii_digit())
        || password.chars().all(|c| "*x.•".contains(c));
    let at = from + user.len() + 1;
    (password.chars().count() >= SHORTEST_PASSWORD && !sample)
        .then(|| Finding::new(at..at + password.len(), SensitiveKind::Password, 88))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let option = if text.contains("--user") { "--user" } else { "-u" };
        let at = text.find(option).unwrap();
        find_user(text, at..at + option.len() + 1).map(|finding| &text[finding.span])
    }

    #[test]
    fn the_password_of_a_command_is_found() {
        assert_eq!(found("curl -u ann:s3cretpw https://a.example"), Some("s3cretpw"));
        assert_eq!(found("curl -X GET \\\n  -u 'ann:s3 cretpw' https://a.example"), Some("s3 cretpw"));
        assert_eq!(found("curl --user=ann:s3cretpw"), Some("s3cretpw"));
        assert_eq!(found("curl https://a.example -u a1B2c3D4e5F6g7H8i9J0:"), Some("a1B2c3D4e5F6g7H8i9J0"));
    }

    #[test]
    fn other_commands_and_samples_are_left_alone() {
        for text in [
            "curl -u ann https://a.example",
            "curl -u username:password https://a.example",
            "curl -u $USER:$PASS https://a.example",
            "sudo -u postgres:s3cretpw psql",
            "docker run -u 1000:1000 x",
            "curl x\ngit push -u origin:s3cretpw",
            "curl x | sudo -u a:s3cretpw b",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
