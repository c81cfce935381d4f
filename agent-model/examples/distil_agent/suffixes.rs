//! First states from what stands before a token: the text's last few tokens, as many as tell something of the next.
//!
//! A chain such as a card's number is foreseen only where each place in it has a state of its own, and the language model's features do
//! not tell those apart: they say which digits come next, not how many. So states are suffixes of the text, digits and
//! handles of controls being all alike in them, chosen by how much they tell of the next token (as in probabilistic suffix automata:
//! Ron, Singer and Tishby 1996), and each together with its own beginnings, so that what it knows is not forgotten on the way.

use std::collections::{HashMap, HashSet};

use hmm_control::Token;
use hmm_control::distil::Sequences;

/// The longest suffix.
const LONGEST: usize = 14;
/// A suffix of more than one token occurs at least so often.
const OFTEN: u32 = 25;
/// A token that occurs less often is one of its kind.
const COMMON: u32 = 120;
/// Suffixes that are chosen before all are weighed anew.
const AT_ONCE: usize = 8;

/// What a suffix is made of.
type Class = u32;
/// Before the first token.
const EDGE: Class = Class::MAX;

/// What comes behind a suffix.
#[derive(Default)]
struct Seen {
    count: u32,
    next: HashMap<Class, u32>,
}

/// A number below `states` for every token, in order.
pub fn suffix_clusters(sequences: &Sequences, states: usize, bytes: &[Vec<u8>]) -> Vec<u32> {
    let texts = classes(sequences, bytes);
    let mut seen: HashMap<&[Class], Seen> = HashMap::new();
    for text in &texts {
        for end in 2..=text.len() {
            for suffix in suffixes(text, end) {
                let seen = seen.entry(suffix).or_default();
                seen.count += 1;
                if let Some(next) = text.get(end) {
                    *seen.next.entry(*next).or_default() += 1;
                }
            }
        }
    }
    seen.retain(|suffix, seen| suffix.len() == 1 || seen.count >= OFTEN);
    let mut chosen: HashSet<&[Class]> = seen.keys().filter(|suffix| suffix.len() == 1).copied().collect();
    while chosen.len() < states {
        let mut gains: Vec<(f64, &[Class])> = seen
            .iter()
            .filter(|(suffix, _)| !chosen.contains(*suffix))
            .filter_map(|(suffix, what)| {
                let known = seen.get(nearest(&chosen, suffix.get(1..)?)?)?;
                Some((gain(what, known) / f64::from(beginnings(&chosen, suffix).count() as u32), *suffix))
            })
            .collect();
        // The suffixes themselves decide between equals: a hash map's order is nobody's.
        gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let before = chosen.len();
        for (_, suffix) in gains.into_iter().filter(|(gain, _)| *gain > 0.0).take(AT_ONCE) {
            let new: Vec<&[Class]> = beginnings(&chosen, suffix).collect();
            if chosen.len() + new.len() <= states {
                chosen.extend(new);
            }
        }
        if chosen.len() == before {
            break;
        }
    }
    let mut numbered: Vec<&[Class]> = chosen.iter().copied().collect();
    numbered.sort_unstable();
    let numbers: HashMap<&[Class], u32> = numbered.into_iter().zip(0..).collect();
    let place = |text: &[Class], end: usize| {
        text.get(..end)
            .and_then(|text| nearest(&chosen, text))
            .and_then(|suffix| numbers.get(suffix).copied())
    };
    texts
        .iter()
        .flat_map(|text| (2..=text.len()).map(|end| place(text, end).unwrap_or_default()).collect::<Vec<_>>())
        .collect()
}

/// The texts as classes, each behind the edge.
fn classes(sequences: &Sequences, bytes: &[Vec<u8>]) -> Vec<Vec<Class>> {
    let mut counts: HashMap<Token, u32> = HashMap::new();
    for token in sequences.tokens() {
        *counts.entry(*token).or_default() += 1;
    }
    let class = |token: &Token| {
        let text = bytes.get(*token as usize).map_or(&[][..], Vec::as_slice);
        let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
        let kinds = EDGE - 10;
        match text {
            [] => *token,
            _ if digits == text.len() => kinds + digits.min(2) as u32,
            [b'e', rest @ ..] if !rest.is_empty() && digits == rest.len() => kinds + 3,
            [b'f', rest @ ..] if !rest.is_empty() && digits == rest.len() => kinds + 4,
            _ if counts.get(token).is_some_and(|count| *count >= COMMON) => *token,
            [b' ', ..] => kinds + 5,
            [first, ..] if first.is_ascii_alphabetic() => kinds + 6,
            _ => kinds + 7,
        }
    };
    sequences.iter().map(|text| std::iter::once(EDGE).chain(text.iter().map(class)).collect()).collect()
}

/// The suffixes of a text's first `end` classes.
fn suffixes(text: &[Class], end: usize) -> impl Iterator<Item = &[Class]> {
    let from = end.saturating_sub(LONGEST);
    (from..end).filter_map(move |from| text.get(from..end))
}

/// The longest suffix that was chosen.
fn nearest<'a>(chosen: &HashSet<&'a [Class]>, text: &[Class]) -> Option<&'a [Class]> {
    suffixes(text, text.len()).find_map(|suffix| chosen.get(suffix).copied())
}

/// A suffix and its beginnings, those that were not chosen.
fn beginnings<'a, 'b>(
    chosen: &'b HashSet<&'a [Class]>,
    suffix: &'a [Class],
) -> impl Iterator<Item = &'a [Class]> + use<'a, 'b> {
    // The edge alone is no token.
    let whole = (1..=suffix.len()).filter_map(|end| suffix.get(..end));
    whole.filter(|begin| *begin != [EDGE] && !chosen.contains(*begin))
}

/// What a suffix tells of the next token beyond a shorter one, in nats over all its occurrences.
fn gain(what: &Seen, known: &Seen) -> f64 {
    let all = f64::from(what.next.values().sum::<u32>().max(1));
    let of_known = f64::from(known.next.values().sum::<u32>().max(1));
    let part = |(next, count): (&Class, &u32)| {
        let known = f64::from(known.next.get(next).copied().unwrap_or(*count)) / of_known;
        f64::from(*count) * (f64::from(*count) / all / known).ln()
    };
    what.next.iter().map(part).sum()
}
