//! Initial states from suffixes: the last tokens of the text, as many as predict the next one.
//!
//! A sequence such as a card number is predicted only where each position in it has its own state, and the language model's
//! features do not separate these: they encode the next digits, not how many remain. So states are suffixes of the text, in
//! which all digits, and all refs of controls, are equal. They are chosen by their information about the next token (as in
//! probabilistic suffix automata: Ron, Singer and Tishby 1996), each with all its prefixes, so that the chain can reach it.

use std::collections::{HashMap, HashSet};

use hmm_control::Token;
use hmm_control::distil::Sequences;

/// The longest suffix.
const LONGEST: usize = 14;
/// The least count of a suffix of more than one token.
const LEAST_COUNT: u32 = 25;
/// A token with a lower count is replaced by its class.
const COMMON: u32 = 120;
/// Suffixes that are chosen before all gains are computed again.
const AT_ONCE: usize = 8;

/// The class of a token.
type Class = u32;
/// The class before the first token.
const EDGE: Class = Class::MAX;

/// The counts after a suffix.
#[derive(Default)]
struct Continuations {
    count: u32,
    next: HashMap<Class, u32>,
}

/// A number below `states` for every token, in order.
pub fn suffix_clusters(sequences: &Sequences, states: usize, bytes: &[Vec<u8>]) -> Vec<u32> {
    let texts = classes(sequences, bytes);
    let mut seen: HashMap<&[Class], Continuations> = HashMap::new();
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
    seen.retain(|suffix, seen| suffix.len() == 1 || seen.count >= LEAST_COUNT);
    let mut chosen: HashSet<&[Class]> = seen.keys().filter(|suffix| suffix.len() == 1).copied().collect();
    while chosen.len() < states {
        let mut gains: Vec<(f64, &[Class])> = seen
            .iter()
            .filter(|(suffix, _)| !chosen.contains(*suffix))
            .filter_map(|(suffix, what)| {
                let known = seen.get(nearest(&chosen, suffix.get(1..)?)?)?;
                Some((gain(what, known) / f64::from(prefixes(&chosen, suffix).count() as u32), *suffix))
            })
            .collect();
        // The suffixes break ties, since a hash map has no fixed order.
        gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let before = chosen.len();
        for (_, suffix) in gains.into_iter().filter(|(gain, _)| *gain > 0.0).take(AT_ONCE) {
            let new: Vec<&[Class]> = prefixes(&chosen, suffix).collect();
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

/// The texts as classes, each after the edge.
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

/// The longest chosen suffix.
fn nearest<'a>(chosen: &HashSet<&'a [Class]>, text: &[Class]) -> Option<&'a [Class]> {
    suffixes(text, text.len()).find_map(|suffix| chosen.get(suffix).copied())
}

/// A suffix and its prefixes that are not chosen yet.
fn prefixes<'a, 'b>(
    chosen: &'b HashSet<&'a [Class]>,
    suffix: &'a [Class],
) -> impl Iterator<Item = &'a [Class]> + use<'a, 'b> {
    // The edge alone is not a token.
    let whole = (1..=suffix.len()).filter_map(|end| suffix.get(..end));
    whole.filter(|prefix| *prefix != [EDGE] && !chosen.contains(*prefix))
}

/// The information of a suffix about the next token beyond a shorter one, in nats over all its occurrences.
fn gain(what: &Continuations, known: &Continuations) -> f64 {
    let all = f64::from(what.next.values().sum::<u32>().max(1));
    let of_known = f64::from(known.next.values().sum::<u32>().max(1));
    let part = |(next, count): (&Class, &u32)| {
        let known = f64::from(known.next.get(next).copied().unwrap_or(*count)) / of_known;
        f64::from(*count) * (f64::from(*count) / all / known).ln()
    };
    what.next.iter().map(part).sum()
}
