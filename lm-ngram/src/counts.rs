//! Counts of n-grams, as a tree of contexts.

use crate::history::START;
use hmm_control::Token;
use std::ops::Range;

/// All contexts of one length, in the order of their tokens read backwards.
///
/// A context is a node: its children are the same context with one more token before it. So one walk from the root
/// along the history, the latest token first, meets every context that it ends with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Level {
    /// The earliest token of each context: what leads here from the parent.
    pub(crate) keys: Vec<Token>,
    /// Where each node's children begin in the next level; one more than there are nodes.
    pub(crate) children: Vec<u32>,
    /// Where each node's continuations begin; one more than there are nodes.
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

    /// What followed a context: tokens and counts.
    pub(crate) fn continuations(&self, node: usize) -> impl Iterator<Item = (Token, u32)> + '_ {
        let range = span(&self.entries, node);
        let tokens = self.tokens.get(range.clone()).unwrap_or_default();
        let counts = self.counts.get(range).unwrap_or_default();
        tokens.iter().copied().zip(counts.iter().copied())
    }

    /// How often a token followed a context.
    pub(crate) fn count(&self, node: usize, token: Token) -> u32 {
        let range = span(&self.entries, node);
        let tokens = self.tokens.get(range.clone()).unwrap_or_default();
        let place = tokens.binary_search(&token).ok().map(|place| range.start + place);
        place.and_then(|place| self.counts.get(place)).copied().unwrap_or(0)
    }

    /// The node of the next level that one more token leads to.
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
