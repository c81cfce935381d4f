//! Unbiased control: sequential Monte Carlo over texts, with the controlled distribution as its proposal.
//!
//! A look-ahead or a mask that changes the distribution of each next token does not give the language model's texts
//! *conditioned* on the attribute: each step is normalised on its own, and the look-ahead is exact for the hidden Markov
//! model alone. [`ParticleDecoding`] writes many texts side by side, each with the weight that this difference leaves it,
//! and continues the heavy ones. Its [`Population`] of weighted texts converges to `p(x) a(x) / Z` as the number of
//! particles grows: `p` is the language model under a sampler, `a` is the attribute's weight of the whole text, 0 outside
//! the grammar, and `Z` is the probability of the attribute, which is estimated too.
//!
//! It costs one text's work for each particle, and shows nothing before the last one has ended.

mod decoding;
mod guide;
mod particle;
mod population;
mod resample;

pub use decoding::{ParticleDecoding, ParticleError};
pub use guide::Guide;
pub use population::{ParticleText, Population, StepReport};
