//! Names of people: after a label, before an address, and where the user has to be asked.

use std::ops::Range;

use sirl::Field;

use super::lexicon::{NO_NAME, SENT};
use super::text::{Bond, Certainty, Text};

/// Particles within a name.
const PARTICLES: [&str; 20] = [
    "van", "von", "de", "der", "den", "la", "le", "di", "da", "dos", "del", "bin", "ibn", "al", "el", "ter",
    "ten", "zu", "of", "y",
];

/// Titles, which may have a full stop after them.
const TITLES: [&str; 10] = ["mr", "mrs", "ms", "dr", "prof", "herr", "frau", "mme", "sr", "sra"];

/// Words that may come before a person's name.
const BEFORE: [&str; 15] = [
    "for", "to", "from", "an", "f\u{fc}r", "pour", "para", "i am", "it's", "this is", "i'm", "ich bin",
    "je suis", "soy", "signed",
];

/// Words of a search, after which capitalised words are the search terms.
const SEARCH: [&str; 21] = [
    "search",
    "searching",
    "look",
    "looking",
    "find",
    "google",
    "suche",
    "such",
    "cherche",
    "busca",
    "tickets",
    "ticket",
    "fan",
    "books",
    "album",
    "songs",
    "flight",
    "flights",
    "train",
    "trains",
    "according",
];

/// A name after a label.
pub(super) fn labelled(text: &Text<'_>, at: usize, bond: Bond) -> Option<(Range<usize>, Certainty)> {
    if let Some(end) = capitals(text, at) {
        return Some((text.span(at, end), Certainty::Yes));
    }
    // After a colon, words in lower case are a name too, if nothing else follows.
    let plain = |at: usize| text.is_word(at) && text.word(at).chars().all(|c| c.is_alphabetic() || c == '-');
    let end = (at..at + 5).find(|at| !plain(*at))?;
    let alone = text.ends_sentence(end) || matches!(text.low(end), "," | ";" | ".");
    let few = (1..=3).contains(&(end - at)) && !(at..end).any(|at| text.is_one_of(at, &NO_NAME));
    match bond {
        Bond::Colon if alone && few => Some((text.span(at, end), Certainty::Yes)),
        // These are a first and a last name in lower case, or two other words.
        Bond::Bare | Bond::Said if alone && few && end - at == 2 => {
            Some((text.span(at, end), Certainty::Ask))
        }
        _ => None,
    }
}

/// The end of a capitalised name that begins with token `at`: `Dr. Ana-Mar\u{ed}a van der Berg`, `J. R. Lane`.
fn capitals(text: &Text<'_>, at: usize) -> Option<usize> {
    let mut next = at;
    if text.is_one_of(next, &TITLES) && text.is_capital(next) {
        next += if text.low(next + 1) == "." { 2 } else { 1 };
    }
    let mut end = None;
    for _ in 0..5 {
        if text.is_capital(next) && !text.is_one_of(next, &NO_NAME) && text.low(next + 1) != ":" {
            let initial = text.word(next).chars().count() == 1 && text.low(next + 1) == ".";
            next += if initial { 2 } else { 1 };
            end = Some(next);
        } else if end.is_some()
            && (0..3).any(|small| {
                (next..=next + small).all(|at| text.is_one_of(at, &PARTICLES))
                    && text.is_capital(next + small + 1)
                    && !text.is_one_of(next + small + 1, &NO_NAME)
            })
        {
            next += 1;
        } else {
            break;
        }
    }
    end.filter(|_| !text.is_closed(at))
}

/// The name before an address that begins at byte `street`: `to Ada Lane, 12 Main Street`.
pub(super) fn before_address(text: &Text<'_>, street: usize) -> Option<Range<usize>> {
    let mut end = text.token_at(street);
    while end > 0 && (matches!(text.low(end - 1), "," | "\n" | "(") || text.is_one_of(end - 1, &["at", "in"]))
    {
        end -= 1;
    }
    let start = (end.saturating_sub(5)..end).find(|start| {
        let before = start.checked_sub(1);
        let bounded = before.is_none_or(|before| {
            text.ends_sentence(before)
                || matches!(text.low(before), ":" | ",")
                || text
                    .is_one_of(before, &["to", "for", "an", "\u{e0}", "a", "f\u{fc}r", "pour", "para", "it"])
                || text.is_one_of(before, &SENT)
        });
        bounded && capitals(text, *start) == Some(end)
    })?;
    Some(text.span(start, end)).filter(|_| !text.is_quoted(start))
}

/// Capitalised words that may be a person's name.
pub(super) fn perhaps(text: &Text<'_>) -> Vec<(Range<usize>, Field)> {
    let mut names = Vec::new();
    for at in 0..text.len() {
        let Some(start) = BEFORE.iter().filter_map(|words| text.phrase(at, words)).max() else { continue };
        let me = start > at + 1 || text.is_one_of(at, &["i'm", "soy", "signed"]);
        let sought = (at.saturating_sub(4)..at).any(|before| text.is_one_of(before, &SEARCH));
        let Some(end) = capitals(text, start).filter(|_| !sought && !text.is_quoted(start)) else { continue };
        let words = (start..end).filter(|at| text.is_word(*at)).count();
        if (words >= 2 || me) && words <= 4 {
            names.push((text.span(start, end), Field::Name));
        }
    }
    names
}
