//! Scoring only as many candidates as the certificate needs.

use super::ceilings::{Ceilings, Rest};
use super::controller::{ControlError, Controller, MaskWords};
use crate::{Progress, Token};

/// The sampler that the candidates have to suffice for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coverage {
    /// Sampling from the whole vocabulary: the omitted tokens have at most this share of the controlled distribution at
    /// this temperature. The total variation distance to the full distribution is then at most that.
    Mass {
        /// The share, in `[0, 1)`.
        at_most: f64,
        /// The sampler's temperature, above 0.
        temperature: f64,
    },
    /// The `k` most probable tokens, exactly. 1 is greedy decoding.
    TopK(usize),
    /// The fewest most probable tokens that have a share `p` of the distribution at this temperature, exactly or for a
    /// share between `p * (1 - within)` and `p`. The weight of all omitted tokens can decide whether the last token
    /// belongs to them, and exactness then costs most of the vocabulary.
    TopP {
        /// The relative tolerance of the share, in `[0, 1)`. 0 is exact.
        within: f64,
        /// The share, in `(0, 1]`.
        p: f64,
        /// The sampler's temperature, above 0.
        temperature: f64,
    },
}

/// The guarantee of [`Controller::adjust_candidates`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Tokens that were scored exactly; all others are at minus infinity.
    pub candidates: usize,
    /// An upper bound of the others' share of the controlled distribution, at the temperature of the coverage (1 for
    /// [`Coverage::TopK`]).
    pub left_out_mass_at_most: f64,
    /// True if a sampler with this coverage draws from the same distribution as over the full vocabulary.
    pub exact: bool,
}

/// Where an automaton stands in a text, without a belief about the hidden state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The automaton's state.
    pub state: usize,
    /// The log weight of the generated tokens so far.
    pub log_weight: f64,
    /// Tokens after the next.
    pub remaining: usize,
}

/// The logarithm of a margin for the rounding of a look-ahead in 32 bits. It makes the certificate slightly stricter.
const ROUNDING: f64 = 1e-3;

/// A sum this near to a share could cross it by rounding, and counts as not covered.
const NEAR: f64 = 1e-9;

impl Controller {
    /// Adjusts the logits of as few tokens as suffice for `coverage`, and sets all others to minus infinity.
    ///
    /// Tokens are taken in the order of an upper bound of their adjusted logit, `l(v) + log u_a(v)`, where
    /// `u(v) = P e^w(v) max beta` bounds `phi(v)` for any belief ([`crate::Lookahead::bound`]). The first `first` are
    /// scored (50 to 200 is usual), and their number is doubled until the bounds of the others guarantee `coverage`. The
    /// scored ones have the logits of [`Controller::adjust`]. A token that the mask forbids is not a candidate. When half
    /// the vocabulary does not suffice, all of it is scored.
    ///
    /// # Errors
    /// The same as [`Controller::adjust`], and when a setting of `coverage` is out of its range.
    pub fn adjust_candidates(
        &self,
        progress: &Progress,
        remaining: usize,
        logits: &mut [f32],
        mask: Option<&MaskWords>,
        coverage: Coverage,
        first: usize,
    ) -> Result<Certificate, ControlError> {
        let place = Place { state: progress.state, log_weight: progress.log_weight, remaining };
        self.adjust_candidates_by(place, logits, mask, coverage, first, |tokens, out| {
            self.lookahead().score(progress, remaining, tokens, out);
            Ok(())
        })
    }

    /// The same as [`Controller::adjust_candidates`], for scores that are computed elsewhere, such as on a GPU: `score`
    /// writes `log phi` of each token that it is given. The certificate holds if they differ by less than 0.001 from those of
    /// [`crate::Lookahead::score`] for this controller's look-ahead, in the text of `place` and with as many tokens remaining;
    /// nothing checks that.
    ///
    /// # Errors
    /// The same as [`Controller::adjust_candidates`], and any error of `score`; the logits are then unchanged.
    pub fn adjust_candidates_by<E: From<ControlError>>(
        &self,
        place: Place,
        logits: &mut [f32],
        mask: Option<&MaskWords>,
        coverage: Coverage,
        first: usize,
        mut score: impl FnMut(&[Token], &mut [f64]) -> Result<(), E>,
    ) -> Result<Certificate, E> {
        self.check(logits, mask)?;
        coverage.check()?;
        let ceilings = self.ceilings(place, logits, mask);
        let mut search = Search::new(Ceilings::new(ceilings), coverage);
        let mut wanted = first.max(coverage.least());
        loop {
            let new = search.take(wanted).to_vec();
            let mut log_phi = vec![f64::NEG_INFINITY; new.len()];
            score(&new, &mut log_phi)?;
            for (token, log_phi) in new.into_iter().zip(log_phi) {
                let logit = logits.get(token as usize).copied().map_or(f64::NEG_INFINITY, f64::from);
                search.adjusted.push((logit + self.added(log_phi)) as f32);
            }
            if let Some(certificate) = search.certificate() {
                search.write(logits);
                let some = logits.iter().any(|logit| *logit > f32::NEG_INFINITY);
                return if some { Ok(certificate) } else { Err(ControlError::NothingAllowed.into()) };
            }
            wanted = wanted.saturating_mul(2);
            if wanted > logits.len() / 2 {
                wanted = logits.len();
            }
        }
    }

    /// An upper bound of each token's adjusted logit; minus infinity where it is forbidden.
    fn ceilings(&self, place: Place, logits: &[f32], mask: Option<&MaskWords>) -> Vec<f32> {
        let attribute = self.lookahead().attribute();
        let mut most = vec![f64::NEG_INFINITY; attribute.states()];
        for target in attribute.targets(place.state) {
            if let Some(most) = most.get_mut(target) {
                *most = self.lookahead().most_ahead(target, place.remaining);
            }
        }
        let ceiling = |edge: crate::Edge| {
            let ahead = most.get(edge.to).copied().unwrap_or(f64::NEG_INFINITY);
            self.added((place.log_weight + edge.log_weight + ahead + ROUNDING).min(0.0))
        };
        // Most tokens share one edge.
        let otherwise = ceiling(attribute.otherwise(place.state));
        let mut heights: Vec<f32> =
            logits.iter().map(|logit| (f64::from(*logit) + otherwise) as f32).collect();
        for (token, edge) in attribute.exceptions(place.state) {
            let row = *token as usize;
            if let (Some(height), Some(logit)) = (heights.get_mut(row), logits.get(row)) {
                *height = (f64::from(*logit) + ceiling(*edge)) as f32;
            }
        }
        if let Some(mask) = mask {
            for (heights, word) in heights.chunks_mut(64).zip(mask) {
                let forbidden = (0..).zip(heights).filter(|(bit, _)| word >> bit & 1 == 0);
                forbidden.for_each(|(_, height)| *height = f32::NEG_INFINITY);
            }
        }
        heights
    }
}

impl Coverage {
    fn check(self) -> Result<(), ControlError> {
        let setting = |name, given, wanted, is_right: bool| {
            if is_right { Ok(()) } else { Err(ControlError::Setting { name, given, wanted }) }
        };
        let (Coverage::Mass { temperature, .. } | Coverage::TopP { temperature, .. }) = self else {
            return Ok(());
        };
        setting("the temperature", temperature, "above 0", temperature > 0.0 && temperature.is_finite())?;
        let share = |given| {
            setting("the share left out", given, "at least 0 and below 1", (0.0..1.0).contains(&given))
        };
        match self {
            Coverage::Mass { at_most, .. } => share(at_most),
            Coverage::TopP { p, within, .. } => {
                share(within)?;
                setting("top-p", p, "above 0 and at most 1", p > 0.0 && p <= 1.0)
            }
            Coverage::TopK(_) => Ok(()),
        }
    }

    fn least(self) -> usize {
        if let Coverage::TopK(k) = self { k.max(1) } else { 1 }
    }

    fn temperature(self) -> f64 {
        match self {
            Coverage::Mass { temperature, .. } | Coverage::TopP { temperature, .. } => temperature,
            Coverage::TopK(_) => 1.0,
        }
    }
}

/// The search for enough candidates, in the order of their ceilings.
struct Search {
    coverage: Coverage,
    ceilings: Ceilings,
    /// The candidates so far; the first `adjusted.len()` are scored.
    taken: Vec<Token>,
    adjusted: Vec<f32>,
}

impl Search {
    fn new(ceilings: Ceilings, coverage: Coverage) -> Search {
        Search { coverage, ceilings, taken: Vec::new(), adjusted: Vec::new() }
    }

    /// The next tokens in the order, up to `wanted` in all.
    fn take(&mut self, wanted: usize) -> &[Token] {
        let from = self.taken.len();
        let new = self.ceilings.take(wanted.saturating_sub(from));
        self.taken.extend(new);
        self.taken.get(from..).unwrap_or_default()
    }

    /// The certificate, if the candidates suffice.
    fn certificate(&self) -> Option<Certificate> {
        let temperature = self.coverage.temperature();
        let top = f64::from(self.ceilings.top());
        let weight = |height: f32| ((f64::from(height) - top) / temperature).exp();
        let Rest { highest: highest_left_out, weight: rest } = self.ceilings.rest(temperature);
        let mut kept = self.adjusted.clone();
        if !matches!(self.coverage, Coverage::Mass { .. }) {
            kept.sort_unstable_by(|a, b| b.total_cmp(a));
        }
        let kept_mass: f64 = kept.iter().copied().map(weight).sum();
        let all = self.ceilings.left() == 0;
        let share = match kept_mass > 0.0 {
            _ if all => 0.0,
            true => rest / (kept_mass + rest),
            // Both may have underflowed.
            false => 1.0,
        };
        // Compared in the precision of the logits, where a tie could be broken the other way.
        let above = |height: f32| height > highest_left_out;
        let (suffices, exact) = match self.coverage {
            Coverage::Mass { at_most, .. } => (share <= at_most, all),
            Coverage::TopK(k) => {
                let exact = all || kept.get(k.saturating_sub(1)).copied().is_some_and(above);
                (exact, exact)
            }
            Coverage::TopP { p, within, .. } => {
                let (mut sum, mut before) = (0.0, 0.0);
                let least = p * kept_mass * (1.0 - NEAR);
                let last = kept.iter().copied().find(|height| {
                    before = sum;
                    sum += weight(*height);
                    sum >= least
                });
                // The candidates alone reach `p` with this token. The same token ends the nucleus of some share below `p`
                // of the whole vocabulary, and that of `p` itself if the sum reaches it here too.
                let is_some_share = last.is_some_and(above);
                let exact = before < least && sum >= p * (kept_mass + rest) * (1.0 + NEAR);
                (is_some_share && (share <= within || exact), all || (is_some_share && exact))
            }
        };
        (suffices || all).then_some(Certificate {
            candidates: self.taken.len(),
            left_out_mass_at_most: share,
            exact,
        })
    }

    fn write(&self, logits: &mut [f32]) {
        logits.fill(f32::NEG_INFINITY);
        for (token, adjusted) in self.taken.iter().zip(&self.adjusted) {
            if let Some(logit) = logits.get_mut(*token as usize) {
                *logit = *adjusted;
            }
        }
    }
}
