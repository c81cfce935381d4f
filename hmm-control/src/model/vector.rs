//! Vectors over the hidden states.

/// The product of two vectors, entry by entry.
pub(crate) fn multiply(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(a, b)| a * b).collect()
}

/// A vector over hidden states whose largest entry is 1, and the logarithm of its scale: minus infinity for a vector
/// of zeros.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scaled {
    pub values: Vec<f64>,
    pub log_scale: f64,
}

impl Scaled {
    pub fn new(mut values: Vec<f64>, log_scale: f64) -> Scaled {
        let largest = values.iter().copied().fold(0.0, f64::max);
        if largest <= 0.0 {
            return Scaled { values, log_scale: f64::NEG_INFINITY };
        }
        values.iter_mut().for_each(|value| *value /= largest);
        Scaled { values, log_scale: log_scale + largest.ln() }
    }

    /// The sum of scaled vectors, each times its factor (none means ones). Only a term below 1e-308 of the largest is
    /// lost.
    pub fn sum<'a>(
        length: usize,
        terms: impl Iterator<Item = (&'a Scaled, Option<&'a [f64]>)> + Clone,
    ) -> Scaled {
        let largest = terms.clone().map(|(term, _)| term.log_scale).fold(f64::NEG_INFINITY, f64::max);
        let mut values = vec![0.0; length];
        if largest == f64::NEG_INFINITY {
            return Scaled { values, log_scale: largest };
        }
        for (term, factor) in terms {
            let weight = (term.log_scale - largest).exp();
            match factor {
                Some(factor) => values
                    .iter_mut()
                    .zip(term.values.iter().zip(factor))
                    .for_each(|(sum, (value, factor))| *sum += weight * value * factor),
                None => values.iter_mut().zip(&term.values).for_each(|(sum, value)| *sum += weight * value),
            }
        }
        Scaled::new(values, largest)
    }
}
