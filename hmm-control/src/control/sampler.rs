//! Sampling a token.

use super::candidates::Coverage;
use super::controller::ControlError;
use crate::Token;
use std::cmp::Ordering;

/// Draws tokens from logits: temperature first, then top-k, then top-p.
///
/// ```
/// use hmm_control::Sampler;
///
/// let sampler = Sampler::new(1.0)?.top_k(2);
/// let kept = sampler.distribution(&[0.0, 3.0_f32.ln(), f32::NEG_INFINITY]);
/// assert_eq!(kept[0].0, 1);
/// assert!((kept[0].1 - 0.75).abs() < 1e-6);
/// # Ok::<(), hmm_control::ControlError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    temperature: f64,
    top_k: Option<usize>,
    top_p: Option<f64>,
}

impl Sampler {
    /// A sampler over the whole vocabulary. Temperature 0 takes the most probable token (the lowest number of equals).
    ///
    /// # Errors
    /// When the temperature is negative or not a finite number.
    pub fn new(temperature: f64) -> Result<Sampler, ControlError> {
        if !temperature.is_finite() || temperature < 0.0 {
            let name = "the temperature";
            return Err(ControlError::Setting { name, given: temperature, wanted: "at least 0" });
        }
        Ok(Sampler { temperature, top_k: None, top_p: None })
    }

    /// Only the `k` most probable tokens; 0 counts as 1.
    #[must_use]
    pub fn top_k(self, k: usize) -> Sampler {
        Sampler { top_k: Some(k.max(1)), ..self }
    }

    /// Only the fewest most probable tokens that have a share `p` together.
    ///
    /// # Errors
    /// When `p` is not above 0 and at most 1.
    pub fn top_p(self, p: f64) -> Result<Sampler, ControlError> {
        if !(p > 0.0 && p <= 1.0) {
            let wanted = "above 0 and at most 1";
            return Err(ControlError::Setting { name: "top-p", given: p, wanted });
        }
        Ok(Sampler { top_p: Some(p), ..self })
    }

    /// The coverage that candidates need for this sampler: exactly its tokens under top-k; under top-p, or over the whole
    /// vocabulary, all but at most this share.
    pub fn coverage(&self, left_out_at_most: f64) -> Coverage {
        let temperature = self.temperature;
        match (self.top_k, self.top_p) {
            _ if temperature == 0.0 => Coverage::TopK(1),
            (Some(k), _) => Coverage::TopK(k),
            (None, Some(p)) if p < 1.0 => Coverage::TopP { p, temperature, within: left_out_at_most },
            _ => Coverage::Mass { at_most: left_out_at_most, temperature },
        }
    }

    /// The tokens that may be drawn, with their probabilities: in falling order under top-k or top-p (the lower number
    /// first among equals), else in the order of their numbers. Empty when no logit is finite; a logit that is not
    /// finite is never drawn.
    pub fn distribution(&self, logits: &[f32]) -> Vec<(Token, f64)> {
        let tokens = logits.iter().zip(0..).filter(|(logit, _)| logit.is_finite());
        // Adding zero makes minus zero equal to zero in the order.
        let mut kept: Vec<(Token, f64)> =
            tokens.map(|(logit, token)| (token, f64::from(*logit) + 0.0)).collect();
        let top_k = if self.temperature == 0.0 { Some(1) } else { self.top_k };
        if let Some(k) = top_k {
            if k < kept.len() {
                kept.select_nth_unstable_by(k - 1, falling);
                kept.truncate(k);
            }
            kept.sort_unstable_by(falling);
        }
        let top = kept.iter().map(|(_, logit)| *logit).fold(f64::NEG_INFINITY, f64::max);
        let temperature = if self.temperature == 0.0 { 1.0 } else { self.temperature };
        kept.iter_mut().for_each(|(_, logit)| *logit = ((*logit - top) / temperature).exp());
        if let Some(p) = self.top_p {
            cut(&mut kept, p);
        }
        let total: f64 = kept.iter().map(|(_, weight)| weight).sum();
        kept.iter_mut().for_each(|(_, weight)| *weight /= total);
        kept
    }

    /// Draws one token; none when no logit is finite.
    pub fn draw(&self, logits: &[f32], rng: &mut impl rand::Rng) -> Option<Token> {
        self.pick(logits, Sampler::point(rng))
    }

    /// 53 random bits: every multiple of 2^-53 in [0, 1) is equally probable.
    pub(crate) fn point(rng: &mut impl rand::Rng) -> f64 {
        (rng.next_u64() >> 11) as f64 * (-53.0_f64).exp2()
    }

    /// The token at a point of the cumulative distribution.
    pub(crate) fn pick(&self, logits: &[f32], point: f64) -> Option<Token> {
        choose(&self.distribution(logits), point)
    }
}

/// The token at a point in [0, 1) of the cumulative distribution; none where every probability is 0.
pub(crate) fn choose(kept: &[(Token, f64)], point: f64) -> Option<Token> {
    let mut sum = 0.0;
    let hit = kept.iter().find(|(_, probability)| {
        sum += probability;
        point < sum
    });
    // The sum may miss 1 by its rounding.
    hit.or_else(|| kept.iter().rev().find(|(_, probability)| *probability > 0.0)).map(|(token, _)| *token)
}

fn falling(a: &(Token, f64), b: &(Token, f64)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// Keeps the fewest heaviest tokens that have a share `p`. Sorts no more than it needs.
fn cut(kept: &mut Vec<(Token, f64)>, p: f64) {
    let total: f64 = kept.iter().map(|(_, weight)| weight).sum();
    let (mut sorted, mut sum, mut reached) = (0, 0.0, 0);
    while reached == sorted && sorted < kept.len() {
        let next = (sorted + 1).saturating_mul(4).max(256).min(kept.len());
        let Some(rest) = kept.get_mut(sorted..) else { return };
        if next - sorted < rest.len() {
            rest.select_nth_unstable_by(next - sorted, falling);
        }
        if let Some(part) = rest.get_mut(..next - sorted) {
            part.sort_unstable_by(falling);
            for (_, weight) in part {
                reached += 1;
                sum += *weight;
                if sum >= p * total {
                    kept.truncate(reached);
                    return;
                }
            }
        }
        sorted = next;
    }
}
