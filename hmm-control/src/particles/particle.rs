//! One particle, and the distribution that its next token is drawn from.

use super::guide::Twist;
use crate::control::{allows, choose};
use crate::{Ended, Grammar, Lane, MaskWords, Progress, Sampler, Token};

/// A text with all that continues it. A clone is a fork.
#[derive(Clone)]
pub(super) struct Particle<S, G> {
    /// The language model's state, which has not read the last token yet.
    pub state: S,
    /// The look-ahead's progress, which has observed it.
    pub progress: Option<Progress>,
    pub grammar: G,
    pub tokens: Vec<Token>,
    /// Why the text has ended; none while it is being written.
    pub ended: Option<Ended>,
    /// The log weight since the last resampling.
    pub log_weight: f64,
    /// `log psi` of the text so far, by which its weight was multiplied.
    pub log_twist: f64,
    /// The number of the particle at the first step that this one descends from.
    pub ancestor: usize,
}

impl<S, G: Grammar> Particle<S, G> {
    pub fn is_alive(&self) -> bool {
        self.log_weight > f64::NEG_INFINITY
    }

    pub fn is_writing(&self) -> bool {
        self.ended.is_none() && self.is_alive()
    }

    /// The language model's lane, which reads the last token.
    pub fn lane<'a>(&'a mut self, logits: &'a mut [f32]) -> Lane<'a, S> {
        let last = self.tokens.len().saturating_sub(1);
        Lane { state: &mut self.state, tokens: self.tokens.get(last..).unwrap_or_default(), logits }
    }

    /// Draws the next token, and weighs it. A particle that no token continues has weight 0 from here on. The look-ahead
    /// does not observe the token yet.
    pub fn draw(
        &mut self,
        proposal: &Proposal,
        twist: Option<(&Twist<'_>, &[f64])>,
        point: f64,
        ends: Ends<'_>,
    ) {
        let Some(token) = choose(&proposal.kept, point) else {
            self.log_weight = f64::NEG_INFINITY;
            return;
        };
        let (log_twist, added) = twist.map_or((0.0, 0.0), |(twist, log_twists)| {
            let log_twist = log_twists.get(token as usize).copied().unwrap_or(f64::NEG_INFINITY);
            (log_twist, twist.added(log_twist))
        });
        // p(v) psi(x v) / (q(v) psi(x)) with q(v) = p(v) e^added / total, in which p(v) cancels.
        self.log_weight += proposal.log_total + (log_twist - added) - self.log_twist;
        self.log_twist = log_twist;
        if ends.contains(token) {
            self.ended = Some(Ended::Token(token));
            return;
        }
        self.tokens.push(token);
        self.grammar.advance(token);
        if self.tokens.len() >= ends.most_tokens {
            self.ended = Some(Ended::Length);
        }
    }
}

/// The ways in which a text ends.
#[derive(Clone, Copy)]
pub(super) struct Ends<'a> {
    pub tokens: &'a [Token],
    pub most_tokens: usize,
    /// Whether only these tokens end it.
    pub must: bool,
}

impl Ends<'_> {
    pub fn contains(&self, token: Token) -> bool {
        self.tokens.contains(&token)
    }
}

/// The distribution `q(v)` of a next token: `p(v) e^added(v)` under the mask, divided by its sum.
pub(super) struct Proposal {
    kept: Vec<(Token, f64)>,
    /// The logarithm of that sum; minus infinity where no token is left.
    log_total: f64,
}

impl Proposal {
    /// The proposal for logits of the language model, with `log psi` of every token.
    pub fn new(
        sampler: &Sampler,
        logits: &[f32],
        twist: Option<(&Twist<'_>, &[f64])>,
        mask: Option<&MaskWords>,
        generated: usize,
        ends: Ends<'_>,
    ) -> Proposal {
        let mut kept = sampler.distribution(logits);
        let is_last = ends.must && generated + 1 >= ends.most_tokens;
        kept.retain(|(token, _)| allows(mask, *token as usize) && (!is_last || ends.contains(*token)));
        let mut top = 0.0;
        if let Some((twist, log_twists)) = twist {
            let log_twist = |token: Token| log_twists.get(token as usize).copied();
            let added: Vec<f64> = kept
                .iter()
                .map(|(token, _)| log_twist(*token).map_or(f64::NEG_INFINITY, |log| twist.added(log)))
                .collect();
            // The largest term becomes 0, so that small expectations do not all underflow.
            top = added.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if top > f64::NEG_INFINITY {
                kept.iter_mut().zip(added).for_each(|((_, share), added)| *share *= (added - top).exp());
            } else {
                kept.clear();
            }
        }
        let total: f64 = kept.iter().map(|(_, share)| share).sum();
        if total > 0.0 {
            kept.iter_mut().for_each(|(_, share)| *share /= total);
            Proposal { kept, log_total: top + total.ln() }
        } else {
            Proposal { kept: Vec::new(), log_total: f64::NEG_INFINITY }
        }
    }
}
