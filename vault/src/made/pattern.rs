//! The attribute `pattern` as automata, which match in time linear in the text whatever the pattern is.
//!
//! A browser compares a pattern with the whole value. Patterns for passwords begin with look-aheads, as in
//! `(?=.*\d)(?=.*[a-z]).{8,}`, which automata do not have. Such a beginning says no more than that several patterns hold at once, so each
//! of them becomes an automaton of its own. A pattern that is still not expressible (a look-around elsewhere, a back reference), or
//! whose automaton is too large, is left to the browser, which checks the value after it was filled in.

use browser_signals::page_words::MAX_RULE_CHARS;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, MatchKind};

/// The largest automaton of one part of a pattern, and the most memory for its construction, in bytes.
const MAX_BYTES: usize = 1 << 19;
const MAX_BUILDING: usize = 1 << 21;

/// The most parts of a pattern.
const MOST_PARTS: usize = 10;

/// One part of a pattern, which a password must match or must not match as a whole.
pub(super) struct Part {
    dfa: dense::DFA<Vec<u32>>,
    start: StateID,
    must: bool,
}

impl Part {
    fn new(expression: &str, must: bool) -> Option<Part> {
        // Without Unicode `\d` and `\w` are those of JavaScript. A pattern that names other letters needs it.
        let dfa = [false, true].into_iter().find_map(|unicode| build(expression, unicode))?;
        let start = dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).ok()?;
        Some(Part { dfa, start, must })
    }

    pub(super) fn start(&self) -> StateID {
        self.start
    }

    pub(super) fn next(&self, state: StateID, byte: u8) -> StateID {
        self.dfa.next_state(state, byte)
    }

    /// Whether nothing that follows can be accepted.
    pub(super) fn is_lost(&self, state: StateID) -> bool {
        self.must && self.dfa.is_dead_state(state)
    }

    /// Whether a password may end here.
    pub(super) fn accepts(&self, state: StateID) -> bool {
        self.dfa.is_match_state(self.dfa.next_eoi_state(state)) == self.must
    }

    /// The class of a byte. Bytes of one class have the same effect.
    pub(super) fn class(&self, byte: u8) -> u8 {
        self.dfa.byte_classes().get(byte)
    }
}

fn build(expression: &str, unicode: bool) -> Option<dense::DFA<Vec<u32>>> {
    let config = dense::Config::new()
        .match_kind(MatchKind::All)
        .start_kind(StartKind::Anchored)
        .dfa_size_limit(Some(MAX_BYTES))
        .determinize_size_limit(Some(MAX_BUILDING));
    dense::Builder::new()
        .configure(config)
        .syntax(syntax::Config::new().unicode(unicode).utf8(false).nest_limit(50))
        .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(MAX_BYTES)))
        .build(expression)
        .ok()
}

/// The parts of a pattern; none where it cannot be expressed.
pub(super) fn parts(pattern: &str) -> Option<Vec<Part>> {
    if pattern.chars().count() > MAX_RULE_CHARS {
        return None;
    }
    let (ahead, rest) = look_aheads(pattern)?;
    let whole = |text: &str| is_pattern(text).then(|| format!("^(?:{text})$"));
    let mut parts = vec![Part::new(&whole(rest)?, true)?];
    for (text, must) in ahead {
        is_pattern(text).then_some(())?;
        parts.push(Part::new(&format!("^(?:{text})(?s:.)*$"), must)?);
    }
    Some(parts)
}

/// Whether a text is a pattern by itself, and not only within the brackets that are put around it.
fn is_pattern(text: &str) -> bool {
    let config = syntax::Config::new().utf8(false).nest_limit(50);
    [false, true].into_iter().any(|unicode| syntax::parse_with(text, &config.unicode(unicode)).is_ok())
}

/// A look-ahead at the beginning of a pattern, and whether it must hold.
type LookAhead<'p> = (&'p str, bool);

/// The look-aheads at the beginning, and the rest. None where the rest has alternatives, which the look-aheads are then no part of.
fn look_aheads(pattern: &str) -> Option<(Vec<LookAhead<'_>>, &str)> {
    let mut rest = pattern;
    let mut ahead = Vec::new();
    loop {
        let from = rest.strip_prefix('^').unwrap_or(rest);
        let (inside, must) = match (from.strip_prefix("(?="), from.strip_prefix("(?!")) {
            (Some(inside), _) => (inside, true),
            (_, Some(inside)) => (inside, false),
            (None, None) => break,
        };
        let at = closing(inside)?;
        ahead.push((inside.get(..at)?, must));
        rest = inside.get(at + 1..)?;
        if ahead.len() == MOST_PARTS {
            return None;
        }
    }
    let divides = !ahead.is_empty() && has_alternatives(rest);
    (!divides).then_some((ahead, rest))
}

/// The parentheses and bars of a pattern with their places and the depth of parentheses, without those that are escaped or in a class.
fn marks(pattern: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let (mut is_escaped, mut classes, mut depth) = (false, 0_usize, 0_usize);
    pattern.char_indices().filter_map(move |(at, c)| {
        if std::mem::take(&mut is_escaped) {
            return None;
        }
        match c {
            '\\' => is_escaped = true,
            // With the flag `v`, which browsers set, a bracket within a class begins another one.
            '[' => classes += 1,
            ']' => classes = classes.saturating_sub(1),
            '(' if classes == 0 => {
                depth += 1;
                return Some((at, c, depth - 1));
            }
            ')' if classes == 0 => {
                let inside = depth;
                depth = depth.saturating_sub(1);
                return Some((at, c, inside));
            }
            '|' if classes == 0 => return Some((at, c, depth)),
            _ => {}
        }
        None
    })
}

/// Where the parenthesis ends that was opened before the text.
fn closing(text: &str) -> Option<usize> {
    marks(text).find(|(_, mark, depth)| (*mark, *depth) == (')', 0)).map(|(at, ..)| at)
}

fn has_alternatives(text: &str) -> bool {
    marks(text).any(|(_, mark, depth)| (mark, depth) == ('|', 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(pattern: &str, text: &str) -> bool {
        parts(pattern).unwrap().iter().all(|part| {
            let end = text.bytes().fold(part.start(), |state, byte| part.next(state, byte));
            part.accepts(end)
        })
    }

    #[test]
    fn a_pattern_is_compared_with_the_whole_value() {
        for (pattern, yes, no) in [
            (r"\d{4}", "1234", "12345"),
            ("[a-z]+|[0-9]+", "abc", "abc1"),
            (r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{8,}", "aB3aaaaa", "ab3aaaaa"),
            (r"^(?=.*[!@#$%^&*()\[\]])(?!.*\s)(?!pass).{6,12}$", "a!aaaaa", "a! aaaaa"),
            (r"^(?=.*[!@#$%^&*()\[\]])(?!.*\s)(?!pass).{6,12}$", "apass!a", "pass!aa"),
            (r"^(?=(?:.*\d){2})[\w-]{4,9}", "ab12", "abc1"),
            ("[äöü]?x", "x", "y"),
        ] {
            assert!(accepts(pattern, yes), "{pattern} {yes}");
            assert!(!accepts(pattern, no), "{pattern} {no}");
        }
    }

    #[test]
    fn what_automata_cannot_express_is_left_to_the_browser() {
        let long = "a".repeat(MAX_RULE_CHARS + 1);
        for pattern in [
            r"(.)\1.*",
            "a(?=b)b",
            "(?<=a)b",
            "(?=a)b|c",
            "a)|(b",
            "(?=a",
            "(?:(?:x{1,400}){1,400}){1,400}",
            "[ab]*a[ab]{30}",
            &long,
        ] {
            assert!(parts(pattern).is_none(), "{pattern}");
        }
    }
}
