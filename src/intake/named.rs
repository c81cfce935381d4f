//! The records of the vault, the persona and the web addresses that the user names.

use std::ops::Range;

use browser_signals::Origin;

use super::text::Text;

/// The words before the colon of a record's handle.
const KINDS: [&str; 6] = ["card", "address", "contact", "identity", "login", "otp"];

/// Words after `as` that are no persona.
const NO_PERSONA: [&str; 26] = [
    "soon",
    "well",
    "usual",
    "gift",
    "guest",
    "possible",
    "before",
    "always",
    "needed",
    "planned",
    "a",
    "an",
    "the",
    "is",
    "it",
    "me",
    "follows",
    "such",
    "expected",
    "requested",
    "shown",
    "default",
    "new",
    "appropriate",
    "normal",
    "agreed",
];

/// The handles of records in a prompt, such as `card:personal` or `[address:work]`, each with its span. The name begins
/// with a letter and has at most three digits, so that a label with a value does not match.
pub(super) fn handles(prompt: &str) -> Vec<(Range<usize>, String)> {
    let mut handles = Vec::new();
    for (colon, _) in prompt.match_indices(':') {
        let before = prompt.get(..colon).unwrap_or_default();
        let Some(kind) = KINDS.iter().find(|kind| before.ends_with(*kind)) else { continue };
        let start = colon - kind.len();
        let part_of_word = before
            .get(..start)
            .and_then(|text| text.chars().next_back())
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '/' | '.'));
        let rest = prompt.get(colon + 1..).unwrap_or_default();
        let Some(name) = name(rest) else { continue };
        if !part_of_word {
            handles.push((start..colon + 1 + name.len(), format!("{kind}:{name}")));
        }
    }
    handles
}

/// Whether a text has a handle as intake puts them in place of values: `[card:task]`.
pub(crate) fn has_handle(text: &str) -> bool {
    let is_bracketed = |span: &Range<usize>| {
        let before = text.get(..span.start).is_some_and(|before| before.ends_with('['));
        before && text.get(span.end..).is_some_and(|after| after.starts_with(']'))
    };
    handles(text).iter().any(|(span, _)| is_bracketed(span))
}

/// The name of a record or persona at the beginning of a text, if it is a whole word.
fn name(text: &str) -> Option<&str> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let name = text.get(..text.find(|c| !plain(c)).unwrap_or(text.len()))?;
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let after = text.get(name.len()..)?;
    let sentence = |c: char| matches!(c, '.' | ',' | ';' | '!' | '?');
    let ends = after
        .trim_start_matches(sentence)
        .chars()
        .next()
        .is_none_or(|c| c.is_whitespace() || matches!(c, ']' | ')' | '"'));
    (name.starts_with(|c: char| c.is_ascii_lowercase()) && name.len() <= 32 && digits <= 3 && ends)
        .then_some(name)
}

/// The persona that the user names: `persona: ana`, `as persona ana`, `as ana` at the end of a clause.
pub(super) fn persona(text: &Text<'_>) -> Option<String> {
    (0..text.len()).filter(|at| !text.is_quoted(*at)).find_map(|at| {
        let named = text.phrase(at, "persona");
        let at_name = match named {
            Some(next) if text.low(next) == ":" => next + 1,
            Some(next) => next,
            None => text.phrase(at, "as").or_else(|| text.phrase(at, "als"))?,
        };
        let word = name(text.raw.get(text.start(at_name)..)?).filter(|_| text.is_word(at_name))?;
        let next = text.token_at(text.start(at_name) + word.len());
        let ends = text.ends_sentence(next) || matches!(text.low(next), "," | ";");
        let known = named.is_some() || (ends && !NO_PERSONA.contains(&word) && !twice(text, at));
        (known && word.len() > 1 && word != "persona").then(|| word.to_owned())
    })
}

/// Whether an `as` belongs to a comparison, as in `as soon as possible`.
fn twice(text: &Text<'_>, at: usize) -> bool {
    (at.saturating_sub(3)..at).any(|before| text.low(before) == "as")
        || at
            .checked_sub(1)
            .is_some_and(|before| text.is_one_of(before, &["same", "such", "far", "long", "soon", "well"]))
}

/// The spans of web addresses.
pub(super) fn links(prompt: &str) -> Vec<Range<usize>> {
    let mut links = Vec::new();
    let mut from = 0;
    while let Some(at) = prompt.get(from..).and_then(|rest| rest.find("http")) {
        let start = from + at;
        let rest = prompt.get(start..).unwrap_or("");
        let length = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | ')'))
            .unwrap_or(rest.len());
        let end =
            start + rest.get(..length).unwrap_or("").trim_end_matches(['.', ',', ';', ':', '!', '?']).len();
        if rest.starts_with("http://") || rest.starts_with("https://") {
            links.push(start..end);
        }
        from = end.max(start + 4);
    }
    links
}

/// Each origin that a prompt names, with its position.
pub(super) fn origins(prompt: &str) -> Vec<(usize, Origin)> {
    let read = |link: Range<usize>| {
        let origin = Origin::parse(prompt.get(link.clone())?).ok()?;
        Some((link.start, origin))
    };
    links(prompt).into_iter().filter_map(read).collect()
}

/// The origins, each once, in the order of the prompt.
pub(super) fn distinct(named: &[(usize, Origin)]) -> Vec<Origin> {
    let mut origins: Vec<Origin> = Vec::new();
    for (_, origin) in named {
        if !origins.contains(origin) {
            origins.push(origin.clone());
        }
    }
    origins
}

/// The origin for a login at a byte: the last one before it, or else the first one.
pub(super) fn nearest(origins: &[(usize, Origin)], at: usize) -> Option<Origin> {
    let before = origins.iter().rev().find(|(start, _)| *start < at);
    before.or_else(|| origins.first()).map(|(_, origin)| origin.clone())
}
