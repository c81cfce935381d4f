//! The vectors that the next token's emissions are multiplied with.

use crate::kernel::{Operand, Pair};
use crate::model::{Scaled, multiply};
use crate::{Belief, Edge, Hmm, Token};
use std::collections::BTreeMap;

/// The belief times the backward vector of one state of an automaton.
pub(crate) struct Target {
    pub vector: Vec<f64>,
    pub log_scale: f64,
    /// The logarithm of the expected weight of the rest for a token that no state emits.
    pub log_unseen: f64,
}

impl Target {
    /// The logarithm of the expected weight of the rest after a token, from the products of the token's emissions with
    /// the belief and with the target's vector.
    pub fn log_worth(&self, [whole, part]: [f64; 2]) -> f64 {
        if whole > 0.0 { (part / whole).ln() + self.log_scale } else { self.log_unseen }
    }
}

/// The belief, and a target for each possible next state of the automaton.
pub(crate) struct Targets {
    /// The distribution of the state that emits the next token, normalised for products with stored emissions.
    pub predicted: Vec<f64>,
    belief: Vec<f64>,
    pub targets: Vec<Target>,
    places: BTreeMap<usize, usize>,
}

impl Targets {
    /// Targets for the states of `reached` that `row` has a vector for.
    pub fn new(
        hmm: &Hmm,
        belief: &Belief,
        row: &[Scaled],
        reached: impl IntoIterator<Item = usize>,
    ) -> Targets {
        let mut predicted = belief.predicted().to_vec();
        hmm.normalise_emission(&mut predicted);
        let belief = belief.predicted().to_vec();
        let mut found = Targets { predicted, belief, targets: Vec::new(), places: BTreeMap::new() };
        for to in reached {
            if let Some(scaled) = row.get(to) {
                found.places.insert(to, found.targets.len());
                found.targets.push(found.target(scaled));
            }
        }
        found
    }

    /// A target for any backward vector.
    pub fn target(&self, scaled: &Scaled) -> Target {
        let unseen: f64 = multiply(&self.belief, &scaled.values).iter().sum();
        Target {
            vector: multiply(&self.predicted, &scaled.values),
            log_scale: scaled.log_scale,
            log_unseen: unseen.ln() + scaled.log_scale,
        }
    }

    /// The belief's vector and the targets', in this order, for [`Targets::log_worth`].
    pub fn vectors(&self) -> impl Iterator<Item = &[f64]> {
        let targets = self.targets.iter().map(|target| target.vector.as_slice());
        std::iter::once(self.predicted.as_slice()).chain(targets)
    }

    /// The sum of `log_weight`, the log weight of an edge, and the logarithm of the expected weight of the rest after its
    /// token, from the products of the token's emissions with all vectors.
    pub fn log_worth(&self, log_weight: f64, edge: &Edge, products: &[f64]) -> f64 {
        let place = self.places.get(&edge.to).filter(|_| edge.log_weight > f64::NEG_INFINITY);
        let target = place.and_then(|place| Some((self.targets.get(*place)?, *products.get(place + 1)?)));
        let whole = products.first().copied().unwrap_or(0.0);
        let Some((target, part)) = target else { return f64::NEG_INFINITY };
        log_weight + edge.log_weight + target.log_worth([whole, part])
    }

    /// The vectors prepared for one pass over the emissions.
    pub fn operands(&self, hmm: &Hmm) -> Operands<'_> {
        let storage = hmm.emission().storage();
        Operands {
            targets: self,
            predicted: Operand::new(storage, &self.predicted),
            seconds: self.targets.iter().map(|target| Operand::new(storage, &target.vector)).collect(),
        }
    }
}

/// Targets with prepared vectors.
pub(crate) struct Operands<'a> {
    targets: &'a Targets,
    predicted: Operand,
    seconds: Vec<Operand>,
}

impl Operands<'_> {
    /// `out[i]` is the sum of `log_weight`, the log weight of edge `i`, and the logarithm of the expected weight of the
    /// rest after its token.
    pub fn write(
        &self,
        hmm: &Hmm,
        log_weight: f64,
        edges: impl Iterator<Item = (Token, Edge)>,
        out: &mut [f64],
    ) {
        let mut last = (usize::MAX, None);
        let wanted = edges.zip(out).filter_map(|((token, edge), out)| {
            *out = f64::NEG_INFINITY;
            // Most tokens have the same next state as the token before them.
            if last.0 != edge.to {
                last = (edge.to, self.targets.places.get(&edge.to).copied());
            }
            let second = last.1.filter(|_| edge.log_weight > f64::NEG_INFINITY)?;
            let target = self.targets.targets.get(second)?;
            Some((Pair { row: token as usize, second }, (out, log_weight + edge.log_weight, target)))
        });
        let second = |place: usize| self.seconds.get(place);
        hmm.emission().pairs(wanted, &self.predicted, second, |(out, log_weight, target), products| {
            *out = log_weight + target.log_worth(products);
        });
    }
}
