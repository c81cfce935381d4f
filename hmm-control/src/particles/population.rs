//! The weighted texts that sequential Monte Carlo ends with.

use crate::control::choose;
use crate::{Ended, Sampler, Token};

/// A text with its share of the population's weight.
#[derive(Debug, Clone, PartialEq)]
pub struct ParticleText {
    /// The tokens, without the one that ended it.
    pub tokens: Vec<Token>,
    /// Why it ended: [`Ended::Token`] or [`Ended::Length`].
    pub ended: Ended,
    /// Its share of the weight, in (0, 1]; the shares of a population sum to 1. The same text may stand there several
    /// times, and then has the sum of its shares.
    pub share: f64,
}

/// How one step went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// The effective sample size after the step's tokens were weighed, in [1, number of particles].
    pub effective_sample_size: f64,
    /// Particles of positive weight.
    pub alive: usize,
    /// Those of them whose text has ended.
    pub ended: usize,
    /// Whether the particles were resampled after the step.
    pub resampled: bool,
}

/// The result of [`super::ParticleDecoding::run`]: weighted texts that stand for `p(x) a(x) / Z`.
///
/// A mean over the shares is consistent: its error and its bias shrink with the number of particles (by its root, and by
/// the number itself). `exp(log_evidence)` times a share is unbiased for any number.
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    pub(super) texts: Vec<ParticleText>,
    pub(super) particles: usize,
    pub(super) log_evidence: f64,
    pub(super) effective_sample_size: f64,
    pub(super) steps: Vec<StepReport>,
    pub(super) ancestors: usize,
}

impl Population {
    /// The texts of positive weight, at most one for each particle.
    pub fn texts(&self) -> &[ParticleText] {
        &self.texts
    }

    /// Number of particles.
    pub fn particles(&self) -> usize {
        self.particles
    }

    /// The logarithm of the estimate of `Z`, the mean weight of the language model's texts: for an attribute of weights 0
    /// and 1, the probability that a text of the language model has it and keeps to the grammar. `Z` itself is estimated
    /// without bias, so its logarithm is too low on average.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The effective sample size of the shares, in [1, number of particles]: about as many independent texts would
    /// estimate a mean equally well. It counts copies of one text as different, so [`Population::ancestors`] belongs to it.
    pub fn effective_sample_size(&self) -> f64 {
        self.effective_sample_size
    }

    /// One report for each token of the longest text.
    pub fn steps(&self) -> &[StepReport] {
        &self.steps
    }

    /// How often the particles were resampled.
    pub fn resamplings(&self) -> usize {
        self.steps.iter().filter(|step| step.resampled).count()
    }

    /// How many particles of the first step have descendants in the population. Few of many mean that the texts share their
    /// beginning because of resampling: more particles are needed, or a better guide.
    pub fn ancestors(&self) -> usize {
        self.ancestors
    }

    /// The estimated mean of a function of the text.
    pub fn mean(&self, of: impl Fn(&ParticleText) -> f64) -> f64 {
        self.texts.iter().map(|text| text.share * of(text)).sum()
    }

    /// Draws a text by its share. None only of a population without texts, which a run never returns.
    ///
    /// Several draws from one population are not independent; those from different runs are.
    pub fn draw(&self, rng: &mut impl rand::Rng) -> Option<&ParticleText> {
        let shares: Vec<(Token, f64)> = (0..).zip(self.texts.iter().map(|text| text.share)).collect();
        let place = choose(&shares, Sampler::point(rng))?;
        self.texts.get(place as usize)
    }
}
