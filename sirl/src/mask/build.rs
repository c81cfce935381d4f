//! The construction of the masks of every node, by a walk through the tokens.

use std::collections::HashMap;

use super::trie::Trie;
use super::{MaskRow, MaskTable, Vocabulary};
use crate::grammar::{Action, Automaton, Grammar, MAX_TEXT_CHARS};
use crate::limits::MAX_REQUESTS;

/// The state after a part of a token, and the counts that the part needs.
#[derive(Debug, Clone, Copy)]
struct Walk {
    node: u16,
    /// The characters that it adds to the string in which the token began.
    chars: usize,
    requests: usize,
    /// The remaining characters of a string that opened within the token.
    fresh: Option<usize>,
}

/// A token that is allowed if this much is left.
struct Needs {
    chars: usize,
    requests: usize,
    token: u32,
}

/// The different masks.
struct MaskPool {
    numbers: HashMap<Box<[u64]>, u32>,
    masks: Vec<u64>,
}

impl MaskTable {
    /// Computes the masks of `grammar` for `vocabulary`.
    ///
    /// A token is allowed if the grammar accepts all its bytes as a next part. So a token that goes past the end of
    /// the block (`REQ.end` and more than one line end) is not allowed, and no block begins or ends within a token.
    #[must_use]
    pub fn build(grammar: &Grammar, vocabulary: &Vocabulary) -> MaskTable {
        let automaton = grammar.automaton();
        let trie = Trie::new(vocabulary);
        let words = vocabulary.len().div_ceil(64);
        let mut pool = MaskPool { numbers: HashMap::new(), masks: Vec::new() };
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        for node in (0..=u16::MAX).take(automaton.nodes()) {
            let mut found = reach(automaton, &trie, node);
            if automaton.accepts(node) {
                found.extend(vocabulary.ends().iter().map(|end| Needs {
                    chars: 0,
                    requests: 0,
                    token: *end,
                }));
            }
            let chars = found.iter().map(|needs| needs.chars).max().unwrap_or(0);
            let requests = found.iter().map(|needs| needs.requests).max().unwrap_or(0);
            let row = MaskRow { first: ids.len() as u32, chars: chars as u8, requests: requests as u8 };
            rows.push(row);
            fill(found, (chars, requests), words, &mut pool, &mut ids);
        }
        let (automaton, vocabulary) = (automaton.clone(), vocabulary.clone());
        MaskTable { automaton, vocabulary, rows, ids, masks: pool.masks, words }
    }
}

/// Adds the masks of one node, by characters left, then by requests left.
fn fill(found: Vec<Needs>, most: (usize, usize), words: usize, pool: &mut MaskPool, ids: &mut Vec<u32>) {
    let mut at: HashMap<(usize, usize), Vec<u32>> = HashMap::new();
    for needs in found {
        at.entry((needs.chars, needs.requests)).or_default().push(needs.token);
    }
    // There is one mask for each number of requests left; with more characters left, tokens are added.
    let mut masks = vec![(vec![0u64; words], None); most.1 + 1];
    for chars in 0..=most.0 {
        for (left, (mask, number)) in masks.iter_mut().enumerate() {
            for requests in 0..=left {
                for token in at.get(&(chars, requests)).into_iter().flatten() {
                    if let Some(word) = mask.get_mut(*token as usize / 64) {
                        *word |= 1 << (token % 64);
                        *number = None;
                    }
                }
            }
            ids.push(*number.get_or_insert_with(|| pool.number(mask)));
        }
    }
}

impl MaskPool {
    fn number(&mut self, mask: &[u64]) -> u32 {
        if let Some(number) = self.numbers.get(mask) {
            return *number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(mask.into(), number);
        self.masks.extend_from_slice(mask);
        number
    }
}

/// Finds the tokens that are allowed at `node`, each with the counts that must be left.
fn reach(automaton: &Automaton, trie: &Trie, node: u16) -> Vec<Needs> {
    let mut found = Vec::new();
    let mut path = vec![Walk { node, chars: 0, requests: 0, fresh: None }];
    let mut at = 0;
    while let Some(next) = trie.nodes.get(at) {
        path.truncate(next.depth);
        let Some(walk) = path.last().and_then(|walk| advance(automaton, *walk, next.byte)) else {
            at = next.end;
            continue;
        };
        path.push(walk);
        at += 1;
        for token in trie.ids.get(next.ids.0..next.ids.1).into_iter().flatten() {
            found.push(Needs { chars: walk.chars, requests: walk.requests, token: *token });
        }
    }
    found
}

/// Walks one byte further, as if the counters were full.
fn advance(automaton: &Automaton, walk: Walk, byte: u8) -> Option<Walk> {
    let edge = automaton.edge(walk.node, byte);
    if edge.target == 0 {
        return None;
    }
    let mut next = Walk { node: edge.target, ..walk };
    match (edge.action, walk.fresh) {
        (Action::None, _) => {}
        (Action::Open(room), _) => next.fresh = Some(usize::from(room)),
        (Action::Char, Some(room)) => next.fresh = Some(room.checked_sub(1)?),
        (Action::Char, None) => next.chars += 1,
        (Action::Request, _) => next.requests += 1,
    }
    (next.chars <= MAX_TEXT_CHARS && next.requests <= MAX_REQUESTS).then_some(next)
}
