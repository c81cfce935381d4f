//! The decode loop: logits, look-ahead, mask, sampling, gate and rewind.

use super::controller::{ControlError, Controller, Horizon, MaskWords};
use super::gate::{ClauseGate, ClausePolicy, Next, Verdict};
use super::rate::RateMeter;
use super::sampler::Sampler;
use super::stop::StopSearch;
use crate::{AttributeError, LanguageModel, Progress, Token};

/// A grammar that follows the text and restricts the next token. A clone is a fork.
pub trait Grammar: Clone {
    /// The mask of the allowed tokens; none where all are allowed.
    fn mask(&self) -> Option<&MaskWords>;

    /// Reads a drawn token (not the one that ends the text).
    fn advance(&mut self, token: Token);
}

/// No grammar: every token is allowed.
impl Grammar for () {
    fn mask(&self) -> Option<&MaskWords> {
        None
    }

    fn advance(&mut self, _: Token) {}
}

/// How many tokens are scored at each step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scored {
    /// The whole vocabulary.
    All,
    /// As few as the sampler needs, under a certificate ([`Controller::adjust_candidates`]).
    Candidates {
        /// How many are scored first.
        first: usize,
        /// The share that may be left out where the sampler draws from the whole vocabulary.
        left_out_at_most: f64,
    },
}

/// Why the text ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// This token ended the text: the model's end token, or one of the stop tokens.
    Token(Token),
    /// The stop text of this number in the list. The text before it was shown, the stop text was not.
    Text(usize),
    /// The text reached its longest length.
    Length,
    /// A clause did not pass after all its rewrites. The notice is for the user.
    Stopped {
        /// The notice for the user.
        notice: String,
    },
}

/// A generated text.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// The tokens whose text was shown, without the one that ended it. A token that contains a part of a stop text is not
    /// among them, though the text before the stop text was shown.
    pub tokens: Vec<Token>,
    /// Why it ended.
    pub ended: Ended,
    /// How often a clause was rewritten.
    pub rewinds: usize,
    /// Tokens that were drawn and withdrawn.
    pub withdrawn: usize,
    /// The largest share that a step may have omitted; 0 where every step was exact over the vocabulary.
    pub left_out_mass_at_most: f64,
}

/// Why a text could not be generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError<E: std::error::Error> {
    /// The language model failed.
    #[error("the language model failed: {0}")]
    Model(#[source] E),
    /// Its logits could not be controlled.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The strength left the range of numbers.
    #[error(transparent)]
    Strength(#[from] AttributeError),
}

/// The settings of decoding, shared by many texts.
///
/// The language model reads a token before the gate has judged it, so that a place to rewind to has always been read; a
/// token that fails costs one step of the model.
///
/// ```
/// use hmm_control::{
///     Attribute, ClausePolicy, Controller, Decoding, Ended, Hmm, Horizon, LanguageModel, Lookahead, RateMeter, Sampler,
///     Scored, Storage, Token,
/// };
/// use ndarray::array;
///
/// const WORDS: [&str; 3] = [" yes", " no", "."];
///
/// /// A language model with a uniform distribution.
/// struct Dice;
///
/// impl LanguageModel for Dice {
///     type State = ();
///     type Error = std::convert::Infallible;
///     fn vocabulary(&self) -> usize {
///         3
///     }
///     fn end(&self) -> Option<Token> {
///         None
///     }
///     fn start(&self) {}
///     fn step(&self, _: &mut (), _: &[Token], logits: &mut [f32]) -> Result<(), Self::Error> {
///         logits.fill(0.0);
///         Ok(())
///     }
/// }
///
/// let hmm = Hmm::new(&[1.0], array![[1.0]].view(), array![[0.4, 0.4, 0.2]].view(), Storage::F32)?;
/// // A text with a `no` in it has weight 0.
/// let lookahead = Lookahead::new(hmm, Attribute::from_weights(3, [(1, f64::NEG_INFINITY)])?)?;
/// let decoding = Decoding {
///     model: &Dice,
///     controller: &Controller::new(lookahead.clone(), 1.0)?,
///     horizon: Horizon::Window(8),
///     scored: Scored::All,
///     meter: &RateMeter::new(lookahead, 8),
///     policy: &ClausePolicy::new(0.1, "never say no"),
///     sampler: Sampler::new(1.0)?,
///     read_token: |token: Token, bytes: &mut Vec<u8>| bytes.extend(WORDS[token as usize].bytes()),
///     most_tokens: 20,
///     stop: &[],
/// };
/// # use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let mut shown = String::new();
/// let generated = decoding.generate(&[], (), &mut ChaCha8Rng::seed_from_u64(1), |text| shown += text)?;
/// assert_eq!(generated.ended, Ended::Length);
/// assert!(shown.contains("yes") && !shown.contains("no"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Decoding<'a, M, T> {
    /// The language model.
    pub model: &'a M,
    /// The controller of its logits, at the strength that each clause starts with.
    pub controller: &'a Controller,
    /// The horizon of the look-ahead.
    pub horizon: Horizon,
    /// How much of the vocabulary is scored.
    pub scored: Scored,
    /// The meter that judges a clause.
    pub meter: &'a RateMeter,
    /// The policy for clauses that fail.
    pub policy: &'a ClausePolicy,
    /// How a token is drawn.
    pub sampler: Sampler,
    /// Appends a token's text: `read_token(token, bytes)`.
    pub read_token: T,
    /// The longest text, in tokens.
    pub most_tokens: usize,
    /// Tokens that end a text in addition to the model's end token.
    pub stop: &'a [Token],
}

/// The state that a rewind restores.
#[derive(Clone)]
struct Place<S, G> {
    state: S,
    progress: Progress,
    grammar: G,
    search: StopSearch,
    generated: usize,
}

impl<M: LanguageModel, T: Fn(Token, &mut Vec<u8>)> Decoding<'_, M, T> {
    /// Generates one text after a prompt, and calls `show` with each passed clause as soon as it is finished.
    ///
    /// The prompt updates the look-ahead's belief; it is neither weighed nor shown. The same random numbers give the same
    /// text.
    ///
    /// # Errors
    /// When the model fails, or its logits are not numbers or not as many as the vocabulary. It is not an error that no
    /// token is allowed: the clause is rewritten, and after the last rewrite the text stops.
    pub fn generate<G: Grammar>(
        &self,
        prompt: &[Token],
        grammar: G,
        rng: &mut impl rand::Rng,
        show: impl FnMut(&str),
    ) -> Result<Generated, GenerateError<M::Error>> {
        self.generate_until(&[], prompt, grammar, rng, show)
    }

    /// The same as [`Decoding::generate`], but ends before the first of these stop texts ([`Ended::Text`]), however tokens
    /// split it. A possible beginning of a stop text is held back until it is decided. An empty stop text never matches.
    ///
    /// # Errors
    /// The same as [`Decoding::generate`].
    pub fn generate_until<G: Grammar>(
        &self,
        stop_texts: &[&str],
        prompt: &[Token],
        grammar: G,
        rng: &mut impl rand::Rng,
        mut show: impl FnMut(&str),
    ) -> Result<Generated, GenerateError<M::Error>> {
        let lookahead = self.controller.lookahead();
        let (state, progress) = (self.model.start(), lookahead.start());
        let mut place = Place { state, progress, grammar, search: StopSearch::default(), generated: 0 };
        prompt.iter().for_each(|token| lookahead.observe_prompt(&mut place.progress, *token));
        let mut logits = vec![0.0; self.model.vocabulary()];
        self.read(&mut place, prompt, &mut logits)?;
        let mut gate = ClauseGate::new(self.policy.clone(), place.clone());
        let mut generated = Generated {
            tokens: Vec::new(),
            ended: Ended::Length,
            rewinds: 0,
            withdrawn: 0,
            left_out_mass_at_most: 0.0,
        };
        loop {
            let drawn = if place.generated < self.most_tokens {
                let strength = self.controller.strength() * gate.strength_factor();
                self.draw(strength, &place, &mut logits, &mut generated, rng)?
            } else {
                Drawn::End(Ended::Length)
            };
            let (mut ended, mut dropped) = (None, 0);
            let verdict = match drawn {
                Drawn::Nothing => gate.dead_end(),
                Drawn::End(how) => {
                    if let Ended::Token(token) = how {
                        lookahead.observe(&mut place.progress, token);
                    }
                    ended = Some(how);
                    let rest = place.search.rest();
                    let verdict = match rest.is_empty() {
                        true => Verdict { released: String::new(), next: Next::Continue },
                        // Its tokens were judged when they were drawn.
                        false => gate.push(&rest, &place, |_| f64::INFINITY),
                    };
                    self.finish(&mut gate, &place, verdict)
                }
                Drawn::Token(token) => {
                    let before = place.progress.log_weight;
                    lookahead.observe(&mut place.progress, token);
                    let last = place.progress.log_weight - before;
                    place.grammar.advance(token);
                    place.generated += 1;
                    generated.tokens.push(token);
                    self.read(&mut place, &[token], &mut logits)?;
                    let mut text = Vec::new();
                    (self.read_token)(token, &mut text);
                    let found = place.search.push(stop_texts, &text);
                    let verdict = gate.push(&found.clear, &place, |since| {
                        self.meter.of_clause(&since.progress, last, &place.progress)
                    });
                    match found.stop {
                        None => verdict,
                        Some((number, tokens)) => {
                            ended = Some(Ended::Text(number));
                            dropped = tokens;
                            self.finish(&mut gate, &place, verdict)
                        }
                    }
                }
            };
            if !verdict.released.is_empty() {
                show(&verdict.released);
            }
            match (verdict.next, ended) {
                (Next::Continue, None) => {}
                (Next::Continue, Some(how)) => {
                    let kept = generated.tokens.len().saturating_sub(dropped);
                    generated.tokens.truncate(kept);
                    return Ok(Generated { ended: how, ..generated });
                }
                (Next::Rewrite(back), _) => {
                    place = back;
                    generated.rewinds += 1;
                    generated.withdraw(place.generated);
                    self.read(&mut place, &[], &mut logits)?;
                }
                (Next::Stop { notice }, _) => {
                    generated.withdraw(gate.boundary().generated);
                    return Ok(Generated { ended: Ended::Stopped { notice }, ..generated });
                }
            }
        }
    }

    /// Ends the text after the gate's verdict on its last bytes.
    fn finish<G: Clone>(
        &self,
        gate: &mut ClauseGate<Place<M::State, G>>,
        place: &Place<M::State, G>,
        last: Verdict<Place<M::State, G>>,
    ) -> Verdict<Place<M::State, G>> {
        if !matches!(last.next, Next::Continue) {
            return last;
        }
        let verdict = gate.finish(|since| self.meter.at_end(&since.progress, &place.progress));
        Verdict { released: last.released + &verdict.released, next: verdict.next }
    }

    fn read<G>(
        &self,
        place: &mut Place<M::State, G>,
        tokens: &[Token],
        logits: &mut [f32],
    ) -> Result<(), GenerateError<M::Error>> {
        self.model.step(&mut place.state, tokens, logits).map_err(GenerateError::Model)
    }

    fn draw<G: Grammar>(
        &self,
        strength: f64,
        place: &Place<M::State, G>,
        logits: &mut [f32],
        generated: &mut Generated,
        rng: &mut impl rand::Rng,
    ) -> Result<Drawn, GenerateError<M::Error>> {
        let controller = self.controller.with_strength(strength)?;
        let remaining = self.horizon.remaining(place.generated);
        let mask = place.grammar.mask();
        let adjusted = match self.scored {
            Scored::All => controller.adjust(&place.progress, remaining, logits, mask).map(|()| 0.0),
            Scored::Candidates { first, left_out_at_most } => {
                let coverage = self.sampler.coverage(left_out_at_most);
                let progress = &place.progress;
                controller.adjust_candidates(progress, remaining, logits, mask, coverage, first).map(
                    |certificate| if certificate.exact { 0.0 } else { certificate.left_out_mass_at_most },
                )
            }
        };
        match adjusted {
            Ok(left_out) => {
                generated.left_out_mass_at_most = generated.left_out_mass_at_most.max(left_out);
            }
            Err(ControlError::NothingAllowed) => return Ok(Drawn::Nothing),
            Err(error) => return Err(error.into()),
        }
        Ok(match self.sampler.draw(logits, rng) {
            None => Drawn::Nothing,
            Some(token) if self.model.end() == Some(token) || self.stop.contains(&token) => {
                Drawn::End(Ended::Token(token))
            }
            Some(token) => Drawn::Token(token),
        })
    }
}

enum Drawn {
    Token(Token),
    End(Ended),
    Nothing,
}

impl Generated {
    /// Withdraws all but the first tokens.
    fn withdraw(&mut self, keep: usize) {
        self.withdrawn += self.tokens.len().saturating_sub(keep);
        self.tokens.truncate(keep);
    }
}
