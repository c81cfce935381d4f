//! Upper bounds of adjusted logits, and the tokens with the highest.
//!
//! A decode step passes over the vocabulary a few times here. So the passes are plain loops over 32-bit floats, which the
//! compiler vectorises, and only the few candidates are sorted.

use crate::Token;
use std::cmp::Ordering;

/// An upper bound of each token's adjusted logit, in the order of the tokens, without the tokens taken so far.
///
/// 32 bits suffice: adjusted logits have as many, and rounding keeps the order.
pub(crate) struct Ceilings {
    /// Minus infinity where a token is forbidden or was taken.
    heights: Vec<f32>,
    /// How many tokens remain.
    left: usize,
    top: f32,
}

/// Bounds of the remaining tokens.
pub(crate) struct Rest {
    /// The highest of them; minus infinity where none remains.
    pub highest: f32,
    /// A tight upper bound of the sum of `e^((height - top) / temperature)`.
    pub weight: f64,
}

/// One ceiling in so many is sampled to estimate the height of the wanted ones.
const SAMPLED: usize = 16;
/// Numbers that are processed in parallel.
const LANES: usize = 8;

impl Ceilings {
    pub(crate) fn new(heights: Vec<f32>) -> Ceilings {
        let left = heights.iter().filter(|height| **height > f32::NEG_INFINITY).count();
        let top = highest(&heights);
        Ceilings { heights, left, top }
    }

    /// The highest ceiling of all tokens; minus infinity where every token is forbidden.
    pub(crate) fn top(&self) -> f32 {
        self.top
    }

    /// How many tokens remain.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Removes the `count` highest remaining tokens, the lower number first among equals, or all where there are fewer. They
    /// are in no order.
    pub(crate) fn take(&mut self, count: usize) -> Vec<Token> {
        let count = count.min(self.left);
        let mut found = self.at_least_so_many(count);
        if count < found.len() {
            found.select_nth_unstable_by(count, falling);
            found.truncate(count);
        }
        self.left -= found.len();
        let tokens: Vec<Token> = found.into_iter().map(|(_, token)| token).collect();
        for token in &tokens {
            if let Some(height) = self.heights.get_mut(*token as usize) {
                *height = f32::NEG_INFINITY;
            }
        }
        tokens
    }

    /// At least `count` tokens: all from some height on. The height is estimated from a sample, and lowered until enough are
    /// found.
    fn at_least_so_many(&self, count: usize) -> Vec<(f32, Token)> {
        let from = |least: f32| -> Vec<(f32, Token)> {
            let heights = self.heights.iter().copied().zip(0..);
            heights.filter(|(height, _)| *height >= least && *height > f32::NEG_INFINITY).collect()
        };
        let mut sample: Vec<f32> = self.heights.iter().copied().step_by(SAMPLED).collect();
        let mut place = 2 * (count / SAMPLED) + 8;
        while place < sample.len() {
            let (_, least, _) = sample.select_nth_unstable_by(place, |a, b| b.total_cmp(a));
            let found = from(*least);
            if found.len() >= count {
                return found;
            }
            place *= 4;
        }
        from(f32::NEG_INFINITY)
    }

    /// The bounds of the remaining tokens at a temperature above 0.
    pub(crate) fn rest(&self, temperature: f64) -> Rest {
        // A smaller factor only makes the weights larger.
        let factor = temperature.recip().min(1e30) as f32;
        let mut sums = [0.0_f32; LANES];
        let mut weight = 0.0;
        let (chunks, last) = self.heights.as_chunks::<LANES>();
        // In 32 bits, small numbers would be lost in the sum of many.
        for some in chunks.chunks(64) {
            for lanes in some {
                for (sum, height) in sums.iter_mut().zip(lanes) {
                    *sum += exponential_above((*height - self.top) * factor);
                }
            }
            weight += sums.iter().map(|sum| f64::from(*sum)).sum::<f64>();
            sums = [0.0; LANES];
        }
        let of_last = last.iter().map(|height| f64::from(exponential_above((*height - self.top) * factor)));
        weight += of_last.sum::<f64>();
        Rest { highest: highest(&self.heights), weight: if self.left == 0 { 0.0 } else { weight } }
    }
}

fn falling(a: &(f32, Token), b: &(f32, Token)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

fn highest(heights: &[f32]) -> f32 {
    let (chunks, last) = heights.as_chunks::<LANES>();
    let higher = |a: f32, b: f32| if b > a { b } else { a };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for (lane, height) in lanes.iter_mut().zip(chunk) {
            *lane = higher(*lane, *height);
        }
    }
    lanes.iter().chain(last).copied().fold(f32::NEG_INFINITY, higher)
}

/// An upper bound of `e^x` for `x <= 0`, at most a ten-thousandth above it, without a branch; below -87, where 32 bits
/// end, about `e^-87`.
///
/// `e^x = 2^n 2^f` with `n` the whole number nearest to `x / ln 2`: the first goes into the exponent's bits, the second
/// is the series of `e^(f ln 2)` to the sixth order, which is off by less than a millionth on `|f| <= 1/2`.
fn exponential_above(x: f32) -> f32 {
    /// Adding 1.5 * 2^23 rounds to a whole number and leaves it in the lowest bits.
    const SHIFT: f32 = 12_582_912.0;
    /// Larger than the error of all roundings.
    const MARGIN: f32 = 1.000_05;
    // Also for NaN, which the difference of two infinities gives.
    let x = if x > -87.0 { x } else { -87.0 };
    let scaled = x * std::f32::consts::LOG2_E;
    let shifted = scaled + SHIFT;
    let y = (scaled - (shifted - SHIFT)) * std::f32::consts::LN_2;
    let series = 1.0
        + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y * (1.0 / 120.0 + y * (1.0 / 720.0))))));
    let whole = shifted.to_bits().wrapping_sub(SHIFT.to_bits());
    let power = f32::from_bits(whole.wrapping_add(127) << 23);
    series * power * MARGIN
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_exponential_is_a_tight_upper_bound() {
        let steps = (0..2_000_000).map(|step| -(step as f32) * 4.35e-5);
        for x in steps.chain([0.0, -f32::MIN_POSITIVE, -1e-30, -0.346_573_6, -0.346_573_7]) {
            let (exact, above) = (f64::from(x).exp(), f64::from(exponential_above(x)));
            assert!(above >= exact && above <= exact * 1.0001, "{x}: {exact} {above}");
        }
        for x in [-88.0, -1e9, f32::NEG_INFINITY, f32::NAN] {
            let above = exponential_above(x);
            assert!(above > 0.0 && above < 2e-38, "{x}: {above}");
        }
    }

    fn heights() -> impl Strategy<Value = Vec<f32>> {
        let height = prop_oneof![
            1 => Just(f32::NEG_INFINITY),
            2 => (-3..3).prop_map(|height| height as f32),
            4 => -40.0_f32..10.0,
        ];
        prop::collection::vec(height, 1..900)
    }

    proptest! {
        #[test]
        fn the_highest_are_taken_and_the_rest_is_bounded(
            heights in heights(), counts in prop::collection::vec(0_usize..400, 1..5), temperature in 0.05_f64..4.0,
        ) {
            let mut order: Vec<(f32, Token)> =
                heights.iter().copied().zip(0..).filter(|(height, _)| height.is_finite()).collect();
            order.sort_by(falling);
            let mut ceilings = Ceilings::new(heights);
            let top = ceilings.top();
            prop_assert_eq!(top, order.first().map_or(f32::NEG_INFINITY, |(height, _)| *height));
            for count in counts {
                let mut taken = ceilings.take(count);
                let mut wanted: Vec<Token> =
                    order.drain(..count.min(order.len())).map(|(_, token)| token).collect();
                taken.sort_unstable();
                wanted.sort_unstable();
                prop_assert_eq!(taken, wanted);
                prop_assert_eq!(ceilings.left(), order.len());
                let rest = ceilings.rest(temperature);
                prop_assert_eq!(rest.highest, order.first().map_or(f32::NEG_INFINITY, |(height, _)| *height));
                let exact: f64 =
                    order.iter().map(|(height, _)| (f64::from(height - top) / temperature).exp()).sum();
                prop_assert!(rest.weight >= exact && rest.weight <= exact * 1.0002 + 1e-30);
            }
        }

        #[test]
        fn an_estimate_that_is_too_high_is_corrected(high in 1_usize..40, count in 1_usize..600) {
            // All high ones are in the sample, and the rest of the sample is low.
            let height = |place: usize| if place.is_multiple_of(SAMPLED) && place / SAMPLED < high { 5.0 } else { -5.0 };
            let mut ceilings = Ceilings::new((0..1600).map(height).collect());
            let mut taken = ceilings.take(count);
            taken.sort_unstable();
            prop_assert_eq!(taken.len(), count);
            for place in 0..high.min(count) {
                prop_assert!(taken.contains(&((place * SAMPLED) as Token)));
            }
        }
    }

    #[test]
    fn an_all_forbidden_vocabulary_has_no_tokens() {
        let mut ceilings = Ceilings::new(vec![f32::NEG_INFINITY; 40]);
        assert_eq!((ceilings.left(), ceilings.top()), (0, f32::NEG_INFINITY));
        assert!(ceilings.take(7).is_empty());
        assert_eq!(ceilings.rest(1.0).weight, 0.0);
    }

    #[test]
    fn extreme_temperatures_give_finite_weights() {
        let ceilings = Ceilings::new(vec![3.0, 2.0, -50.0]);
        for temperature in [f64::MIN_POSITIVE, 1e-300, 1e300, f64::MAX] {
            assert!(ceilings.rest(temperature).weight.is_finite());
        }
    }
}
