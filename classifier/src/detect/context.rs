//! Finds the words around a value, and the value that a word announces.
//!
//! No search crosses a square bracket: the bracket may belong to the marker of another finding, and the findings in a
//! masked text must not depend on the words of the markers.

/// Returns at most `reach` bytes that end at `at`.
pub(crate) fn before(text: &str, at: usize, reach: usize) -> &str {
    let start = text.ceil_char_boundary(at.saturating_sub(reach));
    let window = text.get(start..at).unwrap_or_default();
    window.rsplit(['[', ']']).next().unwrap_or_default()
}

/// Returns at most `reach` bytes that begin at `at`.
pub(crate) fn after(text: &str, at: usize, reach: usize) -> &str {
    let end = text.floor_char_boundary(at.saturating_add(reach).min(text.len()));
    let window = text.get(at..end).unwrap_or_default();
    window.split(['[', ']']).next().unwrap_or_default()
}

/// Returns whether the window contains one of the words as whole words.
pub(crate) fn contains_word(window: &str, words: &[&str]) -> bool {
    let window = window.to_lowercase();
    words.iter().any(|word| {
        window.match_indices(word).any(|(at, _)| {
            let before = window.get(..at).and_then(|head| head.chars().next_back());
            let after = window.get(at + word.len()..).and_then(|tail| tail.chars().next());
            !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
        })
    })
}

/// Returns whether a word may begin at `at`: no letter or digit is before it.
pub(crate) fn begins(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|head| head.chars().next_back());
    !before.is_some_and(char::is_alphanumeric)
}

/// Returns whether a word may end at `at`: no letter or digit is after it.
pub(crate) fn ends(text: &str, at: usize) -> bool {
    let after = text.get(at..).and_then(|tail| tail.chars().next());
    !after.is_some_and(char::is_alphanumeric)
}

/// The way in which a word announces a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Announced {
    /// With a sign, with or without quotes.
    Sign,
    /// With a verb.
    Verb,
}

/// Verbs that link a name and its value.
const VERBS: [&str; 16] = [
    "is", "was", "are", "ist", "lautet", "est", "es", "è", "e", "é", "jest", "to", "är", "er", "on",
    "becomes",
];

/// Returns where the value begins that a word ending at `at` announces, and how: after a colon or an equals sign, or
/// after a verb. Up to `fillers` words may be between, such as "number" or "for the account".
pub(crate) fn announced(text: &str, at: usize, fillers: usize) -> Option<(usize, Announced)> {
    let window = after(text, at, 64);
    let mut rest = window.strip_prefix(['"', '\'', '`']).unwrap_or(window);
    for used in 0..=fillers {
        let trimmed = rest.trim_start_matches([' ', '*', '#']);
        if let Some(behind) = sign(trimmed) {
            let behind = behind.trim_start_matches([' ', '*']);
            let value = behind.strip_prefix(['"', '\'', '`']).unwrap_or(behind);
            return Some((at + window.len() - value.len(), Announced::Sign));
        }
        let spaced = trimmed.len() < rest.len() || rest.len() == window.len();
        let length: usize =
            trimmed.chars().take_while(|c| c.is_alphabetic() || *c == '.').map(char::len_utf8).sum();
        let word = trimmed.get(..length)?;
        let behind = trimmed.get(length..)?;
        if !spaced || word.is_empty() {
            return None;
        }
        if VERBS.contains(&word.to_lowercase().as_str()) {
            let behind = behind.strip_prefix(':').unwrap_or(behind);
            let value = behind.trim_start_matches([' ', '*']);
            if value.len() < behind.len() {
                let value = value.strip_prefix(['"', '\'', '`']).unwrap_or(value);
                return Some((at + window.len() - value.len(), Announced::Verb));
            }
        }
        if used == fillers || word.ends_with('.') && word.len() > 4 {
            return None;
        }
        rest = behind.strip_prefix(['°', 'º', ')']).unwrap_or(behind);
    }
    None
}

/// Returns the text after the sign that `rest` begins with.
fn sign(rest: &str) -> Option<&str> {
    ["=>", ":=", "->", ":", "="].iter().find_map(|sign| rest.strip_prefix(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, word: &str, fillers: usize) -> Option<String> {
        let at = text.find(word).unwrap() + word.len();
        announced(text, at, fillers).map(|(start, _)| text[start..].to_owned())
    }

    #[test]
    fn values_follow_signs_and_verbs() {
        assert_eq!(value("password: x1", "password", 0).unwrap(), "x1");
        assert_eq!(value("\"password\" : \"x1\"", "password", 0).unwrap(), "x1\"");
        assert_eq!(value("password=x1", "password", 0).unwrap(), "x1");
        assert_eq!(value("Das Passwort lautet: x1", "Passwort", 0).unwrap(), "x1");
        assert_eq!(value("passport no. is x1", "passport", 1).unwrap(), "x1");
        assert_eq!(value("passport number for Ann: x1", "passport", 3).unwrap(), "x1");
        assert_eq!(value("passport number for Ann: x1", "passport", 2), None);
        assert_eq!(value("password island", "password", 3), None);
        assert_eq!(value("password [x]: x1", "password", 3), None);
        assert_eq!(value("passwords", "password", 0), None);
    }

    #[test]
    fn windows_end_at_brackets_and_characters() {
        assert_eq!(before("a[b]cé", 7, 50), "cé");
        assert_eq!(before("éé", 4, 3), "é");
        assert_eq!(after("éé[", 0, 50), "éé");
        assert_eq!(after("éé", 0, 3), "é");
    }

    #[test]
    fn words_are_whole() {
        assert!(contains_word("Your SSN: ", &["ssn"]));
        assert!(!contains_word("assn ", &["ssn"]));
        assert!(contains_word("n° de sécurité sociale ", &["sécurité sociale"]));
    }
}
