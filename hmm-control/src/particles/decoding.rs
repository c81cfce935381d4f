//! The loop of sequential Monte Carlo: propose, weigh, resample.

use super::guide::{Guide, Twist};
use super::particle::{Ends, Particle, Proposal};
use super::population::{ParticleText, Population, StepReport};
use super::resample::Weights;
use crate::control::check;
use crate::{ControlError, Ended, Grammar, Lane, LanguageModel, Progress, Sampler, Token};
use std::collections::BTreeSet;

/// Why there are no weighted texts.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParticleError<E: std::error::Error> {
    /// The language model failed.
    #[error("the language model failed: {0}")]
    Model(#[source] E),
    /// A setting is out of its range, or the logits or the mask do not fit the vocabulary.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Every particle has weight 0. The run's estimate of `Z` is then 0, which belongs to a mean over several runs.
    #[error(
        "all {particles} particles have weight 0 after {tokens} tokens: none keeps to the grammar and the attribute and \
         ends in time; use more particles, a longer text, or a guide with a floor above 0"
    )]
    Extinct {
        /// Number of particles.
        particles: usize,
        /// Tokens after which the last one was lost, the one that ends a text included.
        tokens: usize,
    },
}

/// Sequential Monte Carlo over texts: weighted texts of a language model, conditioned on an attribute and a grammar.
///
/// The target is `p(x) a(x) / Z` over the texts `x` that end with an end token or at `most_tokens`. Each step draws the
/// next token `v` of every particle from `q(v)`, proportional to `p(v) psi(x v)` under the mask, and multiplies the
/// particle's weight by `p(v) psi(x v) / (q(v) psi(x))` (twisted sequential Monte Carlo, Zhao et al. 2024,
/// arXiv 2404.17546). The twisting function `psi` is the look-ahead's expectation while the text is written, and the
/// attribute's weight `a` once it has ended. When the effective sample size falls below its share, systematic resampling
/// replaces the particles (Doucet and Johansen 2009, section 3). The product of the mean weights estimates `Z`
/// without bias.
///
/// Without a guide the weights are those of the mask alone, and without either all are equal.
///
/// Costs: a language model's state, and the work of one controlled text, for each particle. The look-ahead reads its
/// matrices once for all particles of a batch.
///
/// ```
/// use hmm_control::particles::{Guide, ParticleDecoding};
/// use hmm_control::{Attribute, Controller, Hmm, Horizon, LanguageModel, Lookahead, Sampler, Storage, Token};
/// use ndarray::array;
///
/// /// A language model that writes token 0 three times of four.
/// struct Coin;
///
/// impl LanguageModel for Coin {
///     type State = ();
///     type Error = std::convert::Infallible;
///     fn vocabulary(&self) -> usize {
///         2
///     }
///     fn end(&self) -> Option<Token> {
///         None
///     }
///     fn start(&self) {}
///     fn step(&self, _: &mut (), _: &[Token], logits: &mut [f32]) -> Result<(), Self::Error> {
///         logits.copy_from_slice(&[3.0_f32.ln(), 0.0]);
///         Ok(())
///     }
/// }
///
/// // The hidden Markov model takes the coin for a fair one. Each token 1 halves the weight of a text.
/// let hmm = Hmm::new(&[1.0], array![[1.0]].view(), array![[0.5, 0.5]].view(), Storage::F64)?;
/// let lookahead = Lookahead::new(hmm, Attribute::from_weights(2, [(1, 0.5_f64.ln())])?)?;
/// let controller = Controller::new(lookahead, 1.0)?;
/// let decoding = ParticleDecoding {
///     model: &Coin,
///     guide: Some(Guide { controller: &controller, horizon: Horizon::Length(4), floor: 1e-6 }),
///     sampler: Sampler::new(1.0)?,
///     most_tokens: 4,
///     must_end: false,
///     stop: &[],
///     particles: 64,
///     resample_below: 0.5,
///     lanes: 64,
///     threads: 1,
/// };
/// # use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let population = decoding.run(&[], (), &mut ChaCha8Rng::seed_from_u64(1))?;
/// // A token's mean weight is 3/4 + 1/4 * 1/2, that of a text of four its fourth power.
/// assert!((population.log_evidence().exp() - 0.875_f64.powi(4)).abs() < 1e-6);
/// assert!(population.effective_sample_size() > 60.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ParticleDecoding<'a, M> {
    /// The language model.
    pub model: &'a M,
    /// The look-ahead; without one every text has attribute weight 1.
    pub guide: Option<Guide<'a>>,
    /// Makes `p(v)` of the model's logits: temperature, top-k and top-p belong to the distribution that is conditioned.
    /// Temperature 1 over the whole vocabulary is the model's own.
    pub sampler: Sampler,
    /// The longest text, in tokens.
    pub most_tokens: usize,
    /// True if a text has to end with an end token among its first `most_tokens` tokens. Otherwise a text that reaches
    /// `most_tokens` is whole as it stands, whether or not the grammar could end there. The guide does not expect the end,
    /// unless the attribute gives every other text weight 0.
    pub must_end: bool,
    /// Tokens that end a text in addition to the model's end token.
    pub stop: &'a [Token],
    /// Number of particles; 0 counts as 1. One particle is plain controlled decoding, except that the weight of a text
    /// that ends now is known rather than expected.
    pub particles: usize,
    /// The particles are resampled when the effective sample size is below this share of their number: 0 never (the texts
    /// are then independent), 1 at every step with uneven weights, 0.5 as is usual.
    pub resample_below: f64,
    /// The most particles of one batch of the language model and the look-ahead; 0 counts as 1. Each takes 12 bytes for
    /// every token of the vocabulary.
    pub lanes: usize,
    /// Threads of the look-ahead; 0 counts as 1.
    pub threads: usize,
}

type Cloud<S, G> = Vec<Particle<S, G>>;

impl<M: LanguageModel> ParticleDecoding<'_, M> {
    /// Writes the texts after a prompt, which updates the look-ahead's belief and is not weighed.
    ///
    /// The same random numbers give the same population. The numbers drawn from `rng` do not depend on `lanes` or
    /// `threads`.
    ///
    /// # Errors
    /// When the model fails, a setting is out of its range, logits or mask do not fit the vocabulary, or
    /// ([`ParticleError::Extinct`]) every particle has weight 0.
    pub fn run<G: Grammar>(
        &self,
        prompt: &[Token],
        grammar: G,
        rng: &mut impl rand::Rng,
    ) -> Result<Population, ParticleError<M::Error>> {
        self.check()?;
        let end_tokens: Vec<Token> = self.stop.iter().copied().chain(self.model.end()).collect();
        let ends = Ends { tokens: &end_tokens, most_tokens: self.most_tokens, must: self.must_end };
        let twist = self.guide.map(|guide| Twist::new(guide, &end_tokens, self.most_tokens));
        let mut logits = vec![0.0; self.model.vocabulary()];
        let first = self.start(prompt, grammar, twist.as_ref(), &mut logits)?;
        let mut cloud: Cloud<M::State, G> =
            (0..self.particles.max(1)).map(|ancestor| Particle { ancestor, ..first.clone() }).collect();
        let (mut steps, mut log_before) = (Vec::new(), 0.0);
        for generated in 0..self.most_tokens {
            // Drawn for all, so that the numbers depend on nothing else.
            let points: Vec<f64> = cloud.iter().map(|_| Sampler::point(rng)).collect();
            let mut writing: Vec<(&mut Particle<M::State, G>, f64)> =
                cloud.iter_mut().zip(points).filter(|(particle, _)| particle.is_writing()).collect();
            if generated == 0 {
                self.begin(twist.as_ref(), &mut writing, &mut logits, ends)?;
            } else {
                for batch in writing.chunks_mut(self.lanes.max(1)) {
                    self.advance(generated, twist.as_ref(), batch, &mut logits, ends)?;
                }
            }
            let weights = weights(&cloud);
            if weights.log_mean == f64::NEG_INFINITY {
                return Err(ParticleError::Extinct { particles: cloud.len(), tokens: generated + 1 });
            }
            let effective = weights.effective();
            let is_over = !cloud.iter().any(Particle::is_writing);
            let alive = cloud.iter().filter(|particle| particle.is_alive());
            steps.push(StepReport {
                effective_sample_size: effective,
                alive: alive.clone().count(),
                ended: alive.filter(|particle| particle.ended.is_some()).count(),
                resampled: !is_over && effective < self.resample_below * cloud.len() as f64,
            });
            if is_over {
                break;
            }
            if steps.last().is_some_and(|step| step.resampled) {
                log_before += weights.log_mean;
                cloud = resample(cloud, &weights.systematic(Sampler::point(rng)));
            }
        }
        self.population(cloud, steps, log_before)
    }

    fn check(&self) -> Result<(), ControlError> {
        if !(0.0..=1.0).contains(&self.resample_below) {
            return Err(ControlError::Setting {
                name: "the share below which particles are resampled",
                given: self.resample_below,
                wanted: "in [0, 1]",
            });
        }
        self.guide.map_or(Ok(()), |guide| guide.check(self.model.vocabulary()))
    }

    /// The first particle after the prompt; `logits` become those of its next token.
    fn start<G: Grammar>(
        &self,
        prompt: &[Token],
        grammar: G,
        twist: Option<&Twist<'_>>,
        logits: &mut [f32],
    ) -> Result<Particle<M::State, G>, ParticleError<M::Error>> {
        let mut state = self.model.start();
        self.model.step(&mut state, prompt, logits).map_err(ParticleError::Model)?;
        let progress = twist.map(|twist| {
            let mut progress = twist.lookahead().start();
            prompt.iter().for_each(|token| twist.lookahead().observe_prompt(&mut progress, *token));
            progress
        });
        let mut particle = Particle {
            state,
            progress,
            grammar,
            tokens: Vec::new(),
            ended: None,
            log_weight: 0.0,
            log_twist: 0.0,
            ancestor: 0,
        };
        if self.most_tokens == 0 {
            particle.ended = Some(Ended::Length);
            let attribute = twist.map(|twist| twist.lookahead().attribute());
            let empty = attribute.map_or(0.0, |attribute| attribute.log_weight(&[]));
            particle.log_weight = if self.must_end { f64::NEG_INFINITY } else { empty };
        }
        Ok(particle)
    }

    /// The first step: the particles are still equal, so that the prompt is read and scored once.
    fn begin<G: Grammar>(
        &self,
        twist: Option<&Twist<'_>>,
        writing: &mut [(&mut Particle<M::State, G>, f64)],
        logits: &mut [f32],
        ends: Ends<'_>,
    ) -> Result<(), ParticleError<M::Error>> {
        let mut log_twists = vec![0.0; twist.map_or(0, |_| logits.len())];
        let Some((first, _)) = writing.first() else { return Ok(()) };
        if let (Some(twist), Some(progress)) = (twist, &first.progress) {
            twist.score(0, &mut [(progress, &mut log_twists)], self.threads);
        }
        let scored = twist.map(|twist| (twist, log_twists.as_slice()));
        let mask = first.grammar.mask();
        check(self.model.vocabulary(), logits, mask)?;
        let proposal = Proposal::new(&self.sampler, logits, scored, mask, 0, ends);
        writing.iter_mut().for_each(|(particle, point)| particle.draw(&proposal, scored, *point, ends));
        observe(twist, writing);
        Ok(())
    }

    /// A step of one batch: the last tokens are read, and the next ones drawn and weighed.
    fn advance<G: Grammar>(
        &self,
        generated: usize,
        twist: Option<&Twist<'_>>,
        batch: &mut [(&mut Particle<M::State, G>, f64)],
        logits: &mut Vec<f32>,
        ends: Ends<'_>,
    ) -> Result<(), ParticleError<M::Error>> {
        let vocabulary = self.model.vocabulary();
        let width = vocabulary.max(1);
        logits.resize(width * batch.len(), 0.0);
        let mut lanes: Vec<Lane<'_, M::State>> = batch
            .iter_mut()
            .zip(logits.chunks_mut(width))
            .map(|((particle, _), logits)| particle.lane(logits))
            .collect();
        self.model.step_batch(&mut lanes).map_err(ParticleError::Model)?;
        let mut log_twists = vec![0.0; if twist.is_some() { width * batch.len() } else { 0 }];
        if let Some(twist) = twist {
            let texts = batch.iter().zip(log_twists.chunks_mut(width));
            let mut texts: Vec<(&Progress, &mut [f64])> =
                texts.filter_map(|((particle, _), out)| Some((particle.progress.as_ref()?, out))).collect();
            twist.score(generated, &mut texts, self.threads);
        }
        let mut rows = log_twists.chunks(width);
        for ((particle, point), logits) in batch.iter_mut().zip(logits.chunks(width)) {
            let scored = twist.zip(rows.next());
            let mask = particle.grammar.mask();
            check(vocabulary, logits, mask)?;
            let proposal = Proposal::new(&self.sampler, logits, scored, mask, generated, ends);
            particle.draw(&proposal, scored, *point, ends);
        }
        observe(twist, batch);
        Ok(())
    }

    fn population<G: Grammar>(
        &self,
        cloud: Cloud<M::State, G>,
        steps: Vec<StepReport>,
        log_before: f64,
    ) -> Result<Population, ParticleError<M::Error>> {
        let (weights, particles) = (weights(&cloud), cloud.len());
        if weights.log_mean == f64::NEG_INFINITY {
            return Err(ParticleError::Extinct { particles, tokens: steps.len() });
        }
        let kept = cloud.into_iter().zip(&weights.shares).filter(|(_, share)| **share > 0.0);
        let (mut texts, mut ancestors) = (Vec::with_capacity(particles), BTreeSet::new());
        for (particle, share) in kept {
            ancestors.insert(particle.ancestor);
            let ended = particle.ended.unwrap_or(Ended::Length);
            texts.push(ParticleText { tokens: particle.tokens, ended, share: *share });
        }
        Ok(Population {
            texts,
            particles,
            log_evidence: log_before + weights.log_mean,
            effective_sample_size: weights.effective(),
            steps,
            ancestors: ancestors.len(),
        })
    }
}

fn weights<S, G: Grammar>(cloud: &Cloud<S, G>) -> Weights {
    Weights::of(cloud.iter().map(|particle| particle.log_weight))
}

/// The look-ahead observes the last token of each text that goes on.
fn observe<S, G: Grammar>(twist: Option<&Twist<'_>>, batch: &mut [(&mut Particle<S, G>, f64)]) {
    let Some(twist) = twist else { return };
    let mut read: Vec<(&mut Progress, Token)> = batch
        .iter_mut()
        .filter(|(particle, _)| particle.is_writing())
        .filter_map(|(particle, _)| Some((particle.progress.as_mut()?, *particle.tokens.last()?)))
        .collect();
    twist.lookahead().observe_batch(&mut read);
}

/// Copies each particle as often as told, all with weight 1. The last copy is the particle itself.
fn resample<S: Clone, G: Grammar>(cloud: Cloud<S, G>, copies: &[usize]) -> Cloud<S, G> {
    let mut next = Vec::with_capacity(cloud.len());
    for (mut particle, copies) in cloud.into_iter().zip(copies) {
        particle.log_weight = 0.0;
        if let Some(clones) = copies.checked_sub(1) {
            next.extend((0..clones).map(|_| particle.clone()));
            next.push(particle);
        }
    }
    next
}
