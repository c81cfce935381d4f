//! The twisting function: what the look-ahead expects of the beginning of a text.

use crate::{Attribute, ControlError, Controller, Horizon, Lookahead, Precision, Progress, Request, Token};
use std::collections::VecDeque;

/// The look-ahead that guides the particles. It changes how well the texts are found, never which distribution they
/// converge to.
#[derive(Clone, Copy)]
pub struct Guide<'a> {
    /// The look-ahead, and the strength of the *proposal*: more than 1 proposes the attribute more often than the
    /// look-ahead expects it. The weights undo it. To condition on another power of the attribute, raise the attribute
    /// itself ([`Attribute::raised`]).
    pub controller: &'a Controller,
    /// The horizon. It is cut at the longest length of the text. A window that ends before the text does is a worse guide
    /// and as unbiased.
    pub horizon: Horizon,
    /// The share, in [0, 1], that is expected where the look-ahead expects exactly 0 but the automaton can still be
    /// satisfied in the tokens that are left. 0 trusts the zeros: it is right where the hidden Markov model is the
    /// language model, and otherwise loses the texts that the hidden Markov model, or the window, holds impossible. A
    /// small share (`1e-6`) keeps them at nearly no cost.
    pub floor: f64,
}

impl Guide<'_> {
    pub(super) fn lookahead(&self) -> &Lookahead {
        self.controller.lookahead()
    }

    pub(super) fn check(&self, vocabulary: usize) -> Result<(), ControlError> {
        let own = self.lookahead().hmm().vocabulary();
        if own != vocabulary {
            return Err(ControlError::Logits { found: vocabulary, vocabulary: own });
        }
        if !(0.0..=1.0).contains(&self.floor) {
            return Err(ControlError::Setting {
                name: "the floor of the guide",
                given: self.floor,
                wanted: "in [0, 1]",
            });
        }
        Ok(())
    }
}

/// The logarithm of the twisting function `psi` of every next token.
///
/// It is `phi(v)` of [`Lookahead::score_all`], but for two cases. The weight of a text that ends with `v` is known, so
/// that `psi` is this weight. And a `phi` of 0 is replaced by the floor where the automaton is not yet lost.
pub(super) struct Twist<'a> {
    guide: Guide<'a>,
    /// The tokens that end a text.
    ends: &'a [Token],
    most_tokens: usize,
    /// By state of the automaton: the fewest tokens to a text of positive weight. Empty without a floor.
    distances: Vec<usize>,
}

impl<'a> Twist<'a> {
    pub fn new(guide: Guide<'a>, ends: &'a [Token], most_tokens: usize) -> Twist<'a> {
        let attribute = guide.lookahead().attribute();
        let distances = if guide.floor > 0.0 { distances(attribute) } else { Vec::new() };
        Twist { guide, ends, most_tokens, distances }
    }

    /// The same term that a controller adds to a logit.
    pub fn added(&self, log_twist: f64) -> f64 {
        self.guide.controller.added(log_twist)
    }

    pub fn lookahead(&self) -> &Lookahead {
        self.guide.lookahead()
    }

    /// Writes `log psi` of every token, for texts of `generated` tokens.
    pub fn score(&self, generated: usize, texts: &mut [(&Progress, &mut [f64])], threads: usize) {
        let left = self.most_tokens.saturating_sub(generated.saturating_add(1));
        if left == 0 {
            for (progress, out) in texts {
                let tokens = self.lookahead().attribute().edges(progress.state);
                tokens
                    .zip(out.iter_mut())
                    .for_each(|((token, _), out)| *out = self.finished(progress, token));
            }
            return;
        }
        let remaining = self.guide.horizon.remaining(generated).min(left);
        let mut requests: Vec<Request<'_>> =
            texts.iter_mut().map(|(progress, out)| Request { progress, remaining, out }).collect();
        self.lookahead().score_batch(&mut requests, threads, Precision::Full);
        for (progress, out) in texts {
            self.raise(progress, left, out);
            for &end in self.ends {
                if let Some(out) = out.get_mut(end as usize) {
                    *out = self.finished(progress, end);
                }
            }
        }
    }

    /// The log weight of the whole text that ends with a token.
    fn finished(&self, progress: &Progress, token: Token) -> f64 {
        let attribute = self.lookahead().attribute();
        let edge = attribute.step(progress.state, token);
        progress.log_weight + edge.log_weight + attribute.log_final(edge.to)
    }

    /// Replaces the zeros that the automaton does not share.
    fn raise(&self, progress: &Progress, left: usize, out: &mut [f64]) {
        if self.distances.is_empty() || !out.contains(&f64::NEG_INFINITY) {
            return;
        }
        let edges = self.lookahead().attribute().edges(progress.state);
        for ((_, edge), out) in edges.zip(out) {
            let is_open = self.distances.get(edge.to).is_some_and(|tokens| *tokens <= left);
            if *out == f64::NEG_INFINITY && is_open {
                *out = progress.log_weight + edge.log_weight + self.guide.floor.ln();
            }
        }
    }
}

/// By state: the fewest tokens after which a text has a positive weight; `usize::MAX` where there are none.
fn distances(attribute: &Attribute) -> Vec<usize> {
    let states = attribute.states();
    let mut before = vec![Vec::new(); states];
    for state in 0..states {
        let edges = attribute.exceptions(state).iter().map(|(_, edge)| *edge);
        for edge in edges.chain([attribute.otherwise(state)]) {
            if let Some(before) = before.get_mut(edge.to).filter(|_| edge.log_weight > f64::NEG_INFINITY) {
                before.push(state);
            }
        }
    }
    let is_final = |state: &usize| attribute.log_final(*state) > f64::NEG_INFINITY;
    let mut distances = vec![usize::MAX; states];
    let mut waiting: VecDeque<(usize, usize)> =
        (0..states).filter(is_final).map(|state| (state, 0)).collect();
    while let Some((state, tokens)) = waiting.pop_front() {
        if let Some(distance) = distances.get_mut(state).filter(|distance| **distance == usize::MAX) {
            *distance = tokens;
            let sources = before.get(state).into_iter().flatten();
            waiting.extend(sources.map(|source| (*source, tokens + 1)));
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Edge;

    #[test]
    fn distances_count_the_fewest_tokens_and_skip_forbidden_edges() {
        let mut builder = Attribute::builder(3);
        let forbidden = Edge { to: 3, log_weight: f64::NEG_INFINITY };
        for to in [1, 2, 3] {
            builder.state(Edge { to, log_weight: -0.5 }, f64::NEG_INFINITY);
        }
        builder.state(Edge { to: 3, log_weight: 0.0 }, -1.0);
        // Its only way to the final state is forbidden.
        let lost = builder.state(forbidden, f64::NEG_INFINITY);
        builder.edge(lost, 1, Edge { to: lost, log_weight: 0.0 });
        builder.edge(0, 2, Edge { to: 2, log_weight: -0.5 });
        assert_eq!(distances(&builder.build(0).unwrap()), [2, 2, 1, 0, usize::MAX]);
    }
}
