//! Backward vectors: the expected weight of the rest of a text, by automaton state and hidden state.

use crate::model::{Scaled, multiply};
use crate::{Attribute, Hmm};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Bytes of rows that a chain stores; later rows are computed again for each call.
const CACHED_BYTES: usize = 1 << 30;

/// One row of the chain: a vector for every state of the automaton.
pub(crate) type Row = Vec<Scaled>;

/// For one state of the automaton: its next states, each with `sum of e^w(v) B[z][v]` over the tokens that lead there, by
/// hidden state.
type Masses = Vec<(usize, Vec<f64>)>;

/// The chain of backward vectors of one model and one automaton, computed on demand and shared.
///
/// `row(k)[s][z]` is the expected weight of the rest of the text when at most `k` tokens remain, the automaton is in `s`,
/// and hidden state `z` emitted the last token: `row(k) = A (sum over d of mass(s, d) * row(k-1)[d])`, plus the
/// row 0 again for the first `window` rows. A window of 0 is a text of exactly `k` more tokens; a window of `w` is one
/// of `k - w` to `k`.
pub(crate) struct BackwardChain {
    masses: Vec<Masses>,
    window: usize,
    /// How many rows are stored, at least one.
    most: usize,
    rows: RwLock<Vec<Arc<Row>>>,
    /// Locked while rows are computed, so that the stored ones can be read meanwhile.
    making: Mutex<()>,
}

impl BackwardChain {
    /// A chain that starts from `last` times the automaton's final weight.
    pub fn new(hmm: &Hmm, attribute: &Attribute, last: &Scaled, window: usize) -> BackwardChain {
        BackwardChain::with_cache(CACHED_BYTES, hmm, attribute, last, window)
    }

    /// The same, with rows of at most so many bytes stored.
    fn with_cache(
        bytes: usize,
        hmm: &Hmm,
        attribute: &Attribute,
        last: &Scaled,
        window: usize,
    ) -> BackwardChain {
        let row = attribute.states().saturating_mul(hmm.states()).saturating_mul(size_of::<f64>());
        let most = (bytes / row.max(1)).max(1);
        let masses = (0..attribute.states()).map(|state| masses(hmm, attribute, state)).collect();
        let first = (0..attribute.states())
            .map(|state| match attribute.log_final(state) {
                f64::NEG_INFINITY => Scaled::new(vec![0.0; hmm.states()], 0.0),
                log_final => Scaled { values: last.values.clone(), log_scale: last.log_scale + log_final },
            })
            .collect();
        BackwardChain {
            masses,
            window,
            most,
            rows: RwLock::new(vec![Arc::new(first)]),
            making: Mutex::new(()),
        }
    }

    /// The expected weight by the hidden state that will emit the next token: a row without its transition. None where no
    /// token is left.
    pub fn before_next(&self, hmm: &Hmm, state: usize, left: usize) -> Option<Scaled> {
        let row = self.row(hmm, left.checked_sub(1)?);
        Some(self.emitted(hmm, &row, state))
    }

    fn emitted(&self, hmm: &Hmm, row: &Row, state: usize) -> Scaled {
        let masses = self.masses.get(state).map_or(&[][..], Vec::as_slice);
        Scaled::sum(
            hmm.states(),
            masses.iter().filter_map(|(to, mass)| Some((row.get(*to)?, Some(mass.as_slice())))),
        )
    }

    /// The row for at most `left` more tokens. The first call for a row computes it and all before it; later calls share
    /// it, as long as the stored rows fit in [`CACHED_BYTES`].
    pub fn row(&self, hmm: &Hmm, left: usize) -> Arc<Row> {
        if let Some(row) = self.rows.read().unwrap_or_else(PoisonError::into_inner).get(left) {
            return Arc::clone(row);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (made, first, newest) = {
                let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
                if let Some(row) = rows.get(left) {
                    return Arc::clone(row);
                }
                (rows.len(), rows.first().map(Arc::clone), rows.last().map(Arc::clone).unwrap_or_default())
            };
            let again = |at: usize| first.as_deref().filter(|_| at <= self.window);
            if made >= self.most {
                let beyond = (made..=left).fold(newest, |row, at| Arc::new(self.next(hmm, &row, again(at))));
                return beyond;
            }
            let row = Arc::new(self.next(hmm, &newest, again(made)));
            self.rows.write().unwrap_or_else(PoisonError::into_inner).push(row);
        }
    }

    fn next(&self, hmm: &Hmm, row: &Row, first: Option<&Row>) -> Row {
        (0..row.len())
            .map(|state| {
                let emitted = self.emitted(hmm, row, state);
                let mut moved = vec![0.0; hmm.states()];
                if emitted.log_scale > f64::NEG_INFINITY {
                    hmm.retreat(&emitted.values, &mut moved);
                }
                let moved = Scaled::new(moved, emitted.log_scale);
                match first.and_then(|first| first.get(state)) {
                    Some(first) => Scaled::sum(hmm.states(), [(&moved, None), (first, None)].into_iter()),
                    None => moved,
                }
            })
            .collect()
    }

    /// One vector of a row, as logarithms.
    pub fn logarithms(&self, hmm: &Hmm, state: usize, left: usize) -> Vec<f64> {
        let row = self.row(hmm, left);
        let scaled = row.get(state);
        scaled.map_or_else(Vec::new, |scaled| {
            scaled.values.iter().map(|value| value.ln() + scaled.log_scale).collect()
        })
    }

    /// Bytes of the stored rows.
    pub fn bytes(&self) -> usize {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        let row = rows.first().map_or(0, |row| row.iter().map(|scaled| scaled.values.len() * 8).sum());
        rows.len() * row
    }
}

/// A difference below this share of the whole has lost precision and is summed directly.
const CANCELLED: f64 = 0.05;

/// The masses of one state. Reads the emissions of the exceptional tokens only; the mass of the others is the difference
/// to the whole.
fn masses(hmm: &Hmm, attribute: &Attribute, state: usize) -> Masses {
    let otherwise = attribute.otherwise(state);
    let rest = otherwise.log_weight.exp();
    let mut sums: BTreeMap<usize, Terms> = BTreeMap::new();
    let mut exceptional = Terms::new();
    for (token, edge) in attribute.exceptions(state) {
        let row = *token as usize;
        let weight = edge.log_weight.exp();
        if edge.to == otherwise.to {
            exceptional.push((row, rest - weight));
        } else {
            exceptional.push((row, rest));
            if weight > 0.0 {
                sums.entry(edge.to).or_default().push((row, weight));
            }
        }
    }
    let mut found: Masses = sums.into_iter().map(|(to, terms)| (to, mass(hmm, &terms))).collect();
    let exceptional = mass(hmm, &exceptional);
    let mut left: Vec<f64> = hmm.emission_totals().iter().map(|total| rest * total).collect();
    let wholes = left.clone();
    left.iter_mut().zip(&exceptional).for_each(|(left, exceptional)| *left -= exceptional);
    if left.iter().zip(&wholes).any(|(left, whole)| *left < CANCELLED * whole) {
        left = direct_mass(hmm, attribute, state);
    }
    if left.iter().any(|value| *value > 0.0) {
        found.push((otherwise.to, left));
    }
    found
}

/// Tokens, by row of the emission matrix, each with its weight.
type Terms = Vec<(usize, f64)>;

/// `sum over the terms of weight * B[z][token]`, by hidden state.
fn mass(hmm: &Hmm, terms: &[(usize, f64)]) -> Vec<f64> {
    let mut mass = vec![0.0; hmm.states()];
    hmm.emission().add_rows(terms, &mut mass);
    hmm.normalise_emission(&mut mass);
    mass
}

/// The mass of the tokens that lead to the most common next state, summed token by token.
fn direct_mass(hmm: &Hmm, attribute: &Attribute, state: usize) -> Vec<f64> {
    let otherwise = attribute.otherwise(state);
    let edges = attribute.edges(state).filter(|(_, edge)| edge.to == otherwise.to);
    let terms: Terms = edges.map(|(token, edge)| (token as usize, edge.log_weight.exp())).collect();
    mass(hmm, &terms)
}

/// `p(next tokens | hidden state that emitted the last one)` for every tail of a text: entry `i` is for the tokens from
/// `i` on, and the last entry is ones.
pub(crate) fn tails(hmm: &Hmm, tokens: &[crate::Token]) -> Vec<Scaled> {
    let mut tails = vec![Scaled::new(vec![1.0; hmm.states()], 0.0)];
    let mut emission = vec![0.0; hmm.states()];
    for &token in tokens.iter().rev() {
        let mut moved = vec![0.0; hmm.states()];
        let log_scale = tails.last().map_or(0.0, |after| {
            hmm.read_emission(token, &mut emission);
            hmm.retreat(&multiply(&emission, &after.values), &mut moved);
            after.log_scale
        });
        tails.push(Scaled::new(moved, log_scale));
    }
    tails.reverse();
    tails
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a fault in a test shows as a panic")]

    use super::*;
    use ndarray::arr2;

    #[test]
    fn rows_beyond_the_cache_are_computed_again() {
        let (transition, emission) =
            (arr2(&[[0.7, 0.3], [0.4, 0.6]]), arr2(&[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]));
        let hmm = Hmm::new(&[0.5, 0.5], transition.view(), emission.view(), crate::Storage::F64).unwrap();
        let attribute = Attribute::from_weights(3, [(1, -0.5), (2, -2.0)]).unwrap();
        let last = Scaled::new(vec![1.0; 2], 0.0);
        for window in [0, 4] {
            let kept = BackwardChain::new(&hmm, &attribute, &last, window);
            let short = BackwardChain::with_cache(3 * 2 * 8, &hmm, &attribute, &last, window);
            for left in [0, 2, 3, 9, 5, 1] {
                assert_eq!(kept.row(&hmm, left), short.row(&hmm, left), "{left} tokens left");
                assert!(short.bytes() <= 3 * 2 * 8);
            }
        }
    }
}
