//! Attributes of a text that are a product over its tokens.

mod sparse;

pub use sparse::{AttributeFileError, SparseAttribute};

/// An attribute that a look-ahead can foresee: the chance that a text has it is close to the product of one weight
/// for each of its tokens (TRACE, Yidou-Weng et al. 2025, section 4).
///
/// Weights are given as their logarithms, at most 0; a token that says nothing of the attribute has 0.
pub trait TokenAttribute {
    /// How many tokens the vocabulary has.
    fn vocabulary(&self) -> usize;

    /// The log weight of a token, at most 0; 0 outside the vocabulary.
    fn log_weight(&self, token: u32) -> f32;

    /// The log weight of a text: the sum over its tokens.
    fn log_weight_of(&self, tokens: &[u32]) -> f64 {
        tokens.iter().map(|token| f64::from(self.log_weight(*token))).sum()
    }
}
