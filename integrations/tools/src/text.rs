//! Words, hosts and addresses in a text.

use crate::lexicon::EMPTY;

/// The words of a text, in lower case: letters, digits and apostrophes.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The words of a name such as `git_add_ssh_key`.
pub(crate) fn name_words(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// A word without the ending of its plural.
pub(crate) fn stem(word: &str) -> &str {
    let long = word.len() > 3;
    match word.strip_suffix("es").filter(|rest| ["ss", "x", "ch", "sh"].iter().any(|end| rest.ends_with(end)))
    {
        Some(rest) if long => rest,
        _ if long && !word.ends_with("ss") => word.strip_suffix('s').unwrap_or(word),
        _ => word,
    }
}

/// The stems of the words that describe something.
pub(crate) fn describing(text: &str) -> Vec<String> {
    let says = |word: &String| {
        word.len() > 2 && !EMPTY.contains(&word.as_str()) && !word.bytes().all(|byte| byte.is_ascii_digit())
    };
    words(text).into_iter().filter(says).map(|word| stem(&word).to_owned()).collect()
}

/// Returns true if a text occurs in another as a whole, and not as a part of a longer word, number or address. Case does not matter.
pub fn stands_in(text: &str, whole: &str) -> bool {
    let (text, whole) = (text.trim().to_lowercase(), whole.to_lowercase());
    if text.is_empty() {
        return false;
    }
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '@' | '_' | '-' | '+');
    let joint = |c: char| matches!(c, '.' | ':' | '/');
    whole.match_indices(&text).any(|(at, _)| {
        let mut before = whole.get(..at).unwrap_or("").chars().rev();
        let mut after = whole.get(at + text.len()..).unwrap_or("").chars();
        let free = |chars: &mut dyn Iterator<Item = char>| match chars.next() {
            Some(c) if joins(c) => false,
            Some(c) if joint(c) => !chars.next().is_some_and(char::is_alphanumeric),
            _ => true,
        };
        free(&mut before) && free(&mut after)
    })
}

/// The host of an address such as `www.shop.example/a` or `https://shop.example`, without a leading `www.`.
pub(crate) fn host(address: &str) -> String {
    let address = address.trim().to_lowercase();
    let rest =
        address.strip_prefix("https://").or_else(|| address.strip_prefix("http://")).unwrap_or(&address);
    let host = rest.split(['/', '?', '#']).next().unwrap_or("");
    host.strip_prefix("www.").unwrap_or(host).to_owned()
}

/// The pieces of a text between white space, without punctuation at their ends.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let edge = |c: char| {
        matches!(c, ',' | ';' | '!' | '?' | '(' | ')' | '"' | '\'' | '<' | '>' | '[' | ']' | '`' | '*')
    };
    text.split_whitespace().map(move |piece| piece.trim_matches(edge).trim_end_matches(['.', ':', ',']))
}

/// The mail addresses in a text, in lower case.
pub(crate) fn addresses(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@');
    text.split(|c: char| !is_part(c))
        .map(|piece| piece.trim_matches(['.', '-']))
        .filter(|piece| {
            piece.split_once('@').is_some_and(|(local, domain)| {
                !local.is_empty() && domain.contains('.') && !domain.contains('@') && !domain.starts_with('.')
            })
        })
        .map(str::to_lowercase)
        .collect()
}

/// The web addresses in a text.
pub(crate) fn web_addresses(text: &str) -> Vec<&str> {
    pieces(text)
        .filter(|piece| {
            ["http://", "https://", "www."].iter().any(|start| piece.to_lowercase().starts_with(start))
        })
        .collect()
}

/// The paths of a file system in a text: `/user/info`.
pub(crate) fn paths(text: &str) -> Vec<&str> {
    pieces(text).filter(|piece| piece.starts_with('/') && piece.len() > 1).collect()
}

/// The names with an owner in a text: `owner/name`.
pub(crate) fn owned_names(text: &str) -> Vec<&str> {
    let is_word =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    pieces(text)
        .filter(|piece| piece.split_once('/').is_some_and(|(owner, name)| is_word(owner) && is_word(name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_in_another_only_as_a_whole() {
        let whole = "Write to john.doe@post.example, and pay 12.50.";
        for text in ["John.Doe@post.example", "12.50", "pay"] {
            assert!(stands_in(text, whole), "{text}");
        }
        for text in ["doe@post.example", "john.doe@post.example.evil", "12", "2.50", ""] {
            assert!(!stands_in(text, whole), "{text}");
        }
    }

    #[test]
    fn names_in_a_text_are_found() {
        let text = "See https://www.a.example/x and www.b.example, mail (ann@c.example) about me/repo in /user/info.";
        assert_eq!(web_addresses(text).into_iter().map(host).collect::<Vec<_>>(), ["a.example", "b.example"]);
        assert_eq!(addresses(text), ["ann@c.example"]);
        assert_eq!((paths(text), owned_names(text)), (vec!["/user/info"], vec!["me/repo"]));
    }

    #[test]
    fn a_plural_describes_as_its_singular() {
        assert_eq!(describing("Two boxes of the shoes, and glasses"), ["box", "shoe", "glass"]);
    }
}
