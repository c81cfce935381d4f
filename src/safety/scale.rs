//! The scale of a page's safety: which numbers honest pages reach.

use classifier::Safety;

/// A piecewise linear function from the monitor's probability to the safety of a page, so that the thresholds of the
/// shipped policies are levels that a known share of honest pages reaches.
///
/// The file is a JSON list of pairs: a probability and the safety that it stands for, both rising.
#[derive(Debug, Clone, PartialEq)]
pub struct PageScale {
    pairs: Vec<(f64, f64)>,
}

/// The error of a scale that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScaleError {
    /// It is not a list of pairs.
    #[error("the scale is not a list of pairs of numbers")]
    Form(#[from] serde_json::Error),
    /// The pairs do not rise.
    #[error("the scale's pairs are not between 0 and 1 and rising in both numbers")]
    Order,
}

impl PageScale {
    /// A scale through these pairs, and through 0 and 1.
    ///
    /// # Errors
    /// [`ScaleError::Order`] where a number is not above the one before it, or not between 0 and 1.
    pub fn new(pairs: Vec<(f64, f64)>) -> Result<PageScale, ScaleError> {
        let all: Vec<(f64, f64)> =
            std::iter::once((0.0, 0.0)).chain(pairs).chain(std::iter::once((1.0, 1.0))).collect();
        let rises = |(one, next): (&(f64, f64), &(f64, f64))| one.0 < next.0 && one.1 < next.1;
        let rising = all.iter().zip(all.iter().skip(1)).all(rises);
        if rising { Ok(PageScale { pairs: all }) } else { Err(ScaleError::Order) }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// Where the bytes are no scale.
    pub fn from_json(bytes: &[u8]) -> Result<PageScale, ScaleError> {
        PageScale::new(serde_json::from_slice(bytes)?)
    }

    /// The safety that a probability stands for.
    pub fn safety(&self, probability: Safety) -> Safety {
        let value = probability.value();
        let above = self.pairs.partition_point(|(from, _)| *from <= value).min(self.pairs.len() - 1);
        let pair = |at: usize| self.pairs.get(at).copied().unwrap_or((1.0, 1.0));
        let ((x0, y0), (x1, y1)) = (pair(above.saturating_sub(1)), pair(above));
        let share = if x1 > x0 { (value - x0) / (x1 - x0) } else { 1.0 };
        Safety::new((y0 + share * (y1 - y0)).clamp(0.0, 1.0)).unwrap_or(Safety::NONE)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_scale_goes_through_its_pairs_and_rises() {
        let scale = PageScale::from_json(b"[[0.001, 0.2], [0.4, 0.5], [0.9, 0.6]]").unwrap();
        let at = |value: f64| scale.safety(Safety::new(value).unwrap()).value();
        for (from, to) in [(0.0, 0.0), (0.001, 0.2), (0.4, 0.5), (0.9, 0.6), (0.95, 0.8), (1.0, 1.0)] {
            assert!((at(from) - to).abs() < 1e-12, "{from}");
        }
        assert!((0..1000).all(|k| at(f64::from(k) / 1000.0) < at(f64::from(k + 1) / 1000.0)));
        for bad in
            ["[[0.4, 0.5], [0.3, 0.6]]", "[[0.4, 0.5], [0.5, 0.5]]", "[[0.0, 0.5]]", "[[0.5, 1.0]]", "{}"]
        {
            assert!(PageScale::from_json(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
