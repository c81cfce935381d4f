//! What the hidden states hold.

use crate::{Hmm, Token};

/// How far the distributions are from summing to 1, at worst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normalisation {
    /// Over the states' transitions.
    pub transition: f64,
    /// Over the states' emissions.
    pub emission: f64,
}

/// How far the distributions are from 1: a storage rounds. Reads both matrices once.
pub fn normalisation(hmm: &Hmm) -> Normalisation {
    let ones = |matrix: &crate::Matrix| {
        let mut sums = vec![0.0; matrix.columns()];
        let mut row = vec![0.0; matrix.columns()];
        for number in 0..matrix.rows() {
            matrix.read_row(number, &mut row);
            sums.iter_mut().zip(&row).for_each(|(sum, value)| *sum += value);
        }
        sums.iter().map(|sum| (sum - 1.0).abs()).fold(0.0, f64::max)
    };
    Normalisation { transition: ones(hmm.transition()), emission: ones(hmm.emission()) }
}

/// The state that stands for the end of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndState {
    /// Its number.
    pub state: usize,
    /// How likely it emits the end token; 1 by the convention.
    pub emits: f64,
    /// How likely it follows itself; 1 by the convention.
    pub stays: f64,
    /// The largest probability that another state emits the end token with; 0 by the convention.
    pub others: f64,
}

/// Finds the state that emits the end token most of all. None where no state emits it.
pub fn end_state(hmm: &Hmm, end: Token) -> Option<EndState> {
    let mut emission = vec![0.0; hmm.states()];
    hmm.read_emission(end, &mut emission);
    let best = |skip: Option<usize>| {
        let others = emission.iter().copied().enumerate().filter(|(state, _)| Some(*state) != skip);
        others.filter(|(_, value)| *value > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let (state, emits) = best(None)?;
    let mut from = vec![0.0; hmm.states()];
    hmm.transition().read_row(state, &mut from);
    let stays = from.get(state).copied().unwrap_or(0.0);
    Some(EndState { state, emits, stays, others: best(Some(state)).map_or(0.0, |(_, value)| value) })
}

/// The most likely tokens of every state, with their probabilities, the likeliest first. Reads the emissions once.
pub fn top_tokens(hmm: &Hmm, count: usize) -> Vec<Vec<(Token, f64)>> {
    let mut tops: Vec<Vec<(Token, f64)>> = vec![Vec::with_capacity(count + 1); hmm.states()];
    let mut row = vec![0.0; hmm.states()];
    for token in 0..hmm.vocabulary() as Token {
        hmm.read_emission(token, &mut row);
        for (top, &value) in tops.iter_mut().zip(&row) {
            let least = top.get(count.wrapping_sub(1)).map_or(0.0, |(_, least)| *least);
            if value > least {
                let place = top.partition_point(|(_, other)| *other >= value);
                top.insert(place, (token, value));
                top.truncate(count);
            }
        }
    }
    tops
}
