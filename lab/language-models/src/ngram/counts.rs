//! Counts of n-grams as a tree of contexts, and the discounts that are estimated from them.

use hmm_control::Token;
use std::ops::Range;

/// The longest n-gram, in tokens.
pub const LONGEST: usize = 5;

/// The marker before the first token of a text. It is in no vocabulary.
pub(crate) const START: Token = Token::MAX;

/// The last tokens of a text, as many as the longest n-gram looks back on.
///
/// The beginning of the text is part of the context, so that the model treats a first word as one. Fixed size; a
/// clone is a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// The latest first.
    latest: [Token; LONGEST - 1],
    known: usize,
}

impl Default for History {
    fn default() -> History {
        History::start()
    }
}

impl History {
    /// The beginning of a text.
    pub fn start() -> History {
        History { latest: [START; LONGEST - 1], known: 1 }
    }

    /// The history after these tokens, the first of which begins the text.
    pub fn of(text: &[Token]) -> History {
        let mut history = History::start();
        text.iter().for_each(|&token| history.push(token));
        history
    }

    /// Appends a token.
    pub fn push(&mut self, token: Token) {
        self.latest.rotate_right(1);
        if let Some(first) = self.latest.first_mut() {
            *first = token;
        }
        self.known = (self.known + 1).min(LONGEST - 1);
    }

    /// The context, the latest token first; it ends with [`START`] where the beginning of the text is near enough.
    pub(crate) fn back(&self) -> &[Token] {
        self.latest.get(..self.known).unwrap_or_default()
    }
}

/// All contexts of one length, in the order of their tokens read backwards.
///
/// A context is a node; its children are the same context with one more token before it. So one walk from the root
/// along the history, the latest token first, visits every context that the history ends with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Level {
    /// The earliest token of each context: the edge from its parent.
    pub(crate) keys: Vec<Token>,
    /// The index of each node's first child in the next level; one more than there are nodes.
    pub(crate) children: Vec<u32>,
    /// The index of each node's first continuation; one more than there are nodes.
    pub(crate) entries: Vec<u32>,
    /// Tokens that followed, rising within a node.
    pub(crate) tokens: Vec<Token>,
    /// For the longest contexts and those that reach back to the beginning: how often each token followed. For the
    /// others, in how many longer contexts it did (Kneser-Ney).
    pub(crate) counts: Vec<u32>,
}

impl Level {
    pub(crate) fn nodes(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn children_of(&self, node: usize) -> Range<usize> {
        span(&self.children, node)
    }

    /// The tokens that followed a context, with their counts.
    pub(crate) fn continuations(&self, node: usize) -> impl Iterator<Item = (Token, u32)> + '_ {
        let range = span(&self.entries, node);
        let tokens = self.tokens.get(range.clone()).unwrap_or_default();
        let counts = self.counts.get(range).unwrap_or_default();
        tokens.iter().copied().zip(counts.iter().copied())
    }

    /// The count of a token after a context.
    pub(crate) fn count(&self, node: usize, token: Token) -> u32 {
        let range = span(&self.entries, node);
        let tokens = self.tokens.get(range.clone()).unwrap_or_default();
        let place = tokens.binary_search(&token).ok().map(|place| range.start + place);
        place.and_then(|place| self.counts.get(place)).copied().unwrap_or(0)
    }

    /// The child of a node for one more token.
    pub(crate) fn child(&self, next: &Level, node: usize, token: Token) -> Option<usize> {
        let range = self.children_of(node);
        let keys = next.keys.get(range.clone())?;
        keys.binary_search(&token).ok().map(|place| range.start + place)
    }

    fn add_sorted(&mut self, tokens: &mut Vec<Token>) {
        tokens.sort_unstable();
        for run in tokens.chunk_by(|a, b| a == b) {
            if let Some(&token) = run.first() {
                self.tokens.push(token);
                self.counts.push(run.len() as u32);
            }
        }
        self.entries.push(self.tokens.len() as u32);
        tokens.clear();
    }
}

fn span(starts: &[u32], node: usize) -> Range<usize> {
    match (starts.get(node), starts.get(node + 1)) {
        (Some(&first), Some(&last)) => first as usize..last as usize,
        _ => 0..0,
    }
}

/// Counts all n-grams of up to `order` tokens in texts that each begin with [`START`], one after the other.
/// The first level is the empty context.
pub(crate) fn count(stream: &[Token], order: usize) -> Vec<Level> {
    let longest = order - 1;
    let mut positions: Vec<u32> =
        (0..stream.len() as u32).filter(|&at| token_at(stream, at, 0) != START).collect();
    positions.sort_unstable_by(|&a, &b| compare(stream, a, b, longest));
    let mut levels = Vec::new();
    let mut deeper: Option<(Level, Vec<Range<usize>>)> = None;
    for depth in (0..=longest).rev() {
        let groups = groups(stream, &positions, depth);
        let mut level = Level { entries: vec![0], children: vec![0], ..Level::default() };
        let mut buffer = Vec::new();
        let mut child = 0;
        for group in &groups {
            let members = positions.get(group.clone()).unwrap_or_default();
            let key = members.first().map_or(START, |&at| token_at(stream, at, depth));
            let at_the_start = depth > 0 && key == START;
            if let Some((next, ranges)) = &deeper
                && !at_the_start
            {
                while ranges.get(child).is_some_and(|range| range.start < group.end) {
                    buffer.extend(next.continuations(child).map(|(token, _)| token));
                    child += 1;
                }
            } else {
                buffer.extend(members.iter().map(|&at| token_at(stream, at, 0)));
            }
            level.add_sorted(&mut buffer);
            level.keys.push(if depth == 0 { START } else { key });
            level.children.push(child as u32);
        }
        if let Some((next, _)) = deeper.replace((level, groups)) {
            levels.push(next);
        }
    }
    levels.extend(deeper.map(|(root, _)| root));
    levels.reverse();
    levels
}

fn token_at(stream: &[Token], at: u32, back: usize) -> Token {
    (at as usize).checked_sub(back).and_then(|at| stream.get(at)).copied().unwrap_or(START)
}

/// Compares two positions by the tokens before them, the latest first.
fn compare(stream: &[Token], a: u32, b: u32, depth: usize) -> std::cmp::Ordering {
    let before = |at| (1..=depth).map(move |back| token_at(stream, at, back));
    before(a).cmp(before(b))
}

/// Runs of positions with the same context of a length; positions too near their beginning have none.
fn groups(stream: &[Token], positions: &[u32], depth: usize) -> Vec<Range<usize>> {
    let has_context = |at: u32| (1..depth).all(|back| token_at(stream, at, back) != START);
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut latest = None;
    for (number, &at) in positions.iter().enumerate().filter(|(_, at)| has_context(**at)) {
        match (found.last_mut(), latest) {
            (Some(range), Some(before)) if compare(stream, before, at, depth).is_eq() => {
                range.end = number + 1;
            }
            _ => found.push(number..number + 1),
        }
        latest = Some(at);
    }
    found
}

/// The discounts of a count of 1, of 2, and of 3 or more (modified Kneser-Ney: Chen and Goodman 1999, equation 26).
///
/// With `n[k]` n-grams counted `k` times and `y = n[1] / (n[1] + 2 n[2])`, a count of `k` loses
/// `k - (k + 1) y n[k + 1] / n[k]`. Where a sample is so small or odd that this is not between 0 and `k`, it loses
/// half of `k`, so that seen and unseen tokens both keep some of the mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Discounts([f64; 3]);

impl Discounts {
    pub(crate) fn estimate(counts: &[u32]) -> Discounts {
        let mut numbers = [0_u64; 4];
        for &count in counts {
            if let Some(number) = (count as usize).checked_sub(1).and_then(|place| numbers.get_mut(place)) {
                *number += 1;
            }
        }
        let [n1, n2, n3, n4] = numbers.map(|number| number as f64);
        let y = n1 / (n1 + 2.0 * n2);
        let one = |k: f64, here: f64, next: f64| {
            let discount = k - (k + 1.0) * y * next / here;
            // Written so that a NaN falls back too.
            if discount > 0.0 && discount < k { discount } else { k / 2.0 }
        };
        Discounts([one(1.0, n1, n2), one(2.0, n2, n3), one(3.0, n3, n4)])
    }

    /// The discount of a count.
    pub(crate) fn of(&self, count: u32) -> f64 {
        let Discounts([one, two, more]) = *self;
        match count {
            0 => 0.0,
            1 => one,
            2 => two,
            _ => more,
        }
    }
}
