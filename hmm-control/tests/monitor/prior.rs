//! The context-aware prior, against a language model that knows more than the hidden Markov model can see.

use hmm_control::prior::{Positions, Prior, PriorError, Rollout, SampleError, Training};
use hmm_control::{Belief, Hmm, LanguageModel, Storage, Token};
use ndarray::{Array1, Array2, array};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::convert::Infallible;

const TOPICS: usize = 3;
const WORDS: usize = 12;
/// A word for each topic that only the language model understands, then the others; the last ends a text.
const VOCABULARY: usize = TOPICS + WORDS + 1;
const WIDTH: usize = 10;

/// A topic is two states that never leave it. The topics' words differ little, so that the filter needs many of them.
fn model() -> Hmm {
    let states = 2 * TOPICS;
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let transition =
        Array2::from_shape_fn((states, states), |(from, to)| match (from / 2 == to / 2, from == to) {
            (false, _) => 0.0,
            (true, same) => {
                if same {
                    0.7
                } else {
                    0.3
                }
            }
        });
    let mut emission = Array2::from_shape_fn((states, VOCABULARY), |(_, token)| match token {
        0..TOPICS => 1.0,
        token if token + 1 == VOCABULARY => 0.1,
        _ => (1.5 * rng.random::<f64>()).exp(),
    });
    emission.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
    Hmm::new(&[1.0 / states as f64; 6], transition.view(), emission.view(), Storage::F64).unwrap()
}

/// Writes what the hidden Markov model would write if it knew the topic, which the first word names.
struct Topical {
    hmm: Hmm,
    /// How the features show the topic; 0 for features that show nothing.
    shown: f32,
    end: Option<Token>,
}

#[derive(Clone)]
struct Reading {
    belief: Option<Belief>,
    topic: usize,
    features: Vec<f32>,
    read: u64,
}

fn given_topic(hmm: &Hmm, topic: usize) -> Belief {
    let known = (0..hmm.states()).map(|state| if state / 2 == topic { 0.5 } else { 0.0 }).collect();
    Belief::from_prior(hmm, known).unwrap()
}

impl LanguageModel for Topical {
    type State = Reading;
    type Error = Infallible;

    fn vocabulary(&self) -> usize {
        VOCABULARY
    }

    fn end(&self) -> Option<Token> {
        self.end
    }

    fn start(&self) -> Reading {
        Reading { belief: None, topic: 0, features: Vec::new(), read: 7 }
    }

    fn step(&self, state: &mut Reading, tokens: &[Token], logits: &mut [f32]) -> Result<(), Infallible> {
        for token in tokens {
            if state.belief.is_none() {
                state.topic = *token as usize % TOPICS;
            }
            let topic = state.topic;
            state.belief.get_or_insert_with(|| given_topic(&self.hmm, topic)).observe(&self.hmm, *token);
            state.read = state.read.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(u64::from(*token) + 1);
        }
        let belief = state.belief.get_or_insert_with(|| Belief::start(&self.hmm));
        for (token, logit) in logits.iter_mut().enumerate() {
            *logit = belief.log_probability(&self.hmm, token as Token) as f32;
        }
        // Noise of its own for every text, an offset, very different scales, and a feature that never changes.
        let mut noise = ChaCha8Rng::seed_from_u64(state.read);
        let mut direction = ChaCha8Rng::seed_from_u64(state.topic as u64);
        state.features = (0..WIDTH)
            .map(|place| {
                let (a, b) = (direction.random::<f32>() - 0.5, noise.random::<f32>() - 0.5);
                if place == 0 {
                    3.0
                } else {
                    100.0 + (self.shown * a + b) * 10.0_f32.powi(place as i32 % 5 - 2)
                }
            })
            .collect();
        Ok(())
    }

    fn features<'a>(&self, state: &'a Reading) -> Option<&'a [f32]> {
        (!state.features.is_empty()).then_some(&state.features)
    }
}

fn rollouts(model: &Topical, count: usize, seed: u64, ahead: usize) -> Vec<Rollout> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let positions = Positions { tokens: ahead, every: ahead, ahead };
    (0..count)
        .flat_map(|number| {
            // Words that say nothing, so that no two texts have the same noise in their features.
            let mut prompt = vec![(number % TOPICS) as Token];
            prompt.extend((0..5).map(|_| rng.random_range(TOPICS..TOPICS + WORDS) as Token));
            Rollout::sample(model, &prompt, positions, &mut rng).unwrap()
        })
        .collect()
}

fn log_probability(hmm: &Hmm, belief: &Belief, tokens: &[Token]) -> f64 {
    let mut belief = belief.clone();
    tokens.iter().map(|token| belief.observe(hmm, *token)).sum()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

#[test]
fn what_the_language_model_knows_beats_what_the_filter_sees() {
    let hmm = model();
    let lm = Topical { hmm: hmm.clone(), shown: 2.0, end: None };
    let (train, held_out, fresh) =
        (rollouts(&lm, 600, 1, 40), rollouts(&lm, 200, 2, 40), rollouts(&lm, 600, 3, 40));
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let trained = Training::default().fit(&hmm, &train, &held_out, &mut rng).unwrap();
    assert!(trained.best > 0 && trained.impossible == 0);
    let comparison = trained.prior.compare(&hmm, &fresh, 40, 2).unwrap();
    println!("{comparison}; best epoch {}", trained.best);
    let oracle = mean(fresh.iter().map(|rollout| {
        let topic = rollout.prefix[0] as usize;
        log_probability(&hmm, &given_topic(&hmm, topic), &rollout.continuation)
    }));
    println!("with the topic known {oracle:.4}");
    assert!(comparison.gain() > 0.4 && comparison.gain() > 8.0 * comparison.standard_error);
    assert!(comparison.prior > oracle - 0.1, "{} against {oracle}", comparison.prior);
    // The rollouts that were trained on must not be much better than fresh ones.
    let last = trained.epochs[trained.best];
    assert!((last.trained - last.held_out).abs() < 1.0);

    // After many tokens the filter has found out by itself: there is little left to gain.
    let late: Vec<Rollout> = fresh
        .iter()
        .map(|rollout| {
            let (before, after) = rollout.continuation.split_at(20);
            let prefix = rollout.prefix.iter().chain(before).copied().collect();
            Rollout { prefix, continuation: after.to_vec(), ..rollout.clone() }
        })
        .collect();
    let later = trained.prior.compare(&hmm, &late, 20, 1).unwrap();
    println!("20 tokens later: {later}");
    assert!(later.gain() < 0.7 * trained.prior.compare(&hmm, &fresh, 20, 1).unwrap().gain());
}

#[test]
fn useless_features_do_no_harm() {
    let hmm = model();
    let lm = Topical { hmm: hmm.clone(), shown: 0.0, end: None };
    let (train, held_out, fresh) =
        (rollouts(&lm, 300, 1, 30), rollouts(&lm, 100, 2, 30), rollouts(&lm, 600, 3, 30));
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let trained = Training::default().fit(&hmm, &train, &held_out, &mut rng).unwrap();
    // The model never leaves a topic and starts in each alike: its start is its stationary distribution.
    let stationary = Belief::start(&hmm);
    let differences: Vec<f64> = fresh
        .iter()
        .map(|rollout| {
            let belief = trained.prior.belief(&hmm, &rollout.features).unwrap();
            log_probability(&hmm, &belief, &rollout.continuation)
                - log_probability(&hmm, &stationary, &rollout.continuation)
        })
        .collect();
    let difference = mean(differences.iter().copied());
    let spread = mean(differences.iter().map(|d| (d - difference).powi(2))).sqrt();
    let noise = spread / (differences.len() as f64).sqrt();
    println!("useless features: {difference:+.4} (standard error {noise:.4}), best epoch {}", trained.best);
    assert!(difference > -0.03 - 2.0 * noise, "{difference}");
}

#[test]
fn forward_and_backward_agree() {
    let hmm = model();
    let lm = Topical { hmm: hmm.clone(), shown: 2.0, end: Some(VOCABULARY as Token - 1) };
    let rollouts = rollouts(&lm, 60, 5, 25);
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let weights = Array2::from_shape_fn((hmm.states(), WIDTH), |_| 0.01 * (rng.random::<f32>() - 0.5));
    let prior = Prior::new(weights, Array1::zeros(hmm.states())).unwrap();
    for tokens in [0, 1, 7, 100] {
        let comparison = prior.compare(&hmm, &rollouts, tokens, 3).unwrap();
        let ahead =
            |rollout: &Rollout| rollout.continuation[..rollout.continuation.len().min(tokens)].to_vec();
        let plain = mean(rollouts.iter().map(|rollout| {
            let mut belief = Belief::start(&hmm);
            rollout.prefix.iter().for_each(|token| {
                belief.observe(&hmm, *token);
            });
            log_probability(&hmm, &belief, &ahead(rollout))
        }));
        let with = mean(rollouts.iter().map(|rollout| {
            let belief = prior.belief(&hmm, &rollout.features).unwrap();
            log_probability(&hmm, &belief, &ahead(rollout))
        }));
        assert!((comparison.plain - plain).abs() < 1e-9 && (comparison.prior - with).abs() < 1e-9);
        assert_eq!((comparison.rollouts, comparison.impossible, comparison.tokens), (60, 0, tokens));
    }
}

#[test]
fn training_is_repeatable_and_threads_change_nothing() {
    let hmm = model();
    let lm = Topical { hmm: hmm.clone(), shown: 2.0, end: None };
    let (train, held_out) = (rollouts(&lm, 150, 1, 20), rollouts(&lm, 50, 2, 20));
    let fit = |threads, seed| {
        let training = Training { epochs: 5, batch: 7, threads, ..Training::default() };
        training.fit(&hmm, &train, &held_out, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap()
    };
    let one = fit(1, 9);
    assert_eq!(one, fit(4, 9));
    assert_eq!(one, fit(0, 9));
    assert!(one.best > 0);
    assert_ne!(one.prior, fit(1, 10).prior);
    // The epoch that was kept is the best, and what was kept is what was measured, but for 32 bits.
    let best = one.epochs[one.best].held_out;
    assert!(one.epochs.iter().all(|epoch| epoch.held_out <= best));
    let kept = one.prior.compare(&hmm, &held_out, 20, 1).unwrap().prior;
    assert!((kept - best).abs() < 1e-3, "{kept} {best}");
}

#[test]
fn what_cannot_be_is_left_out_or_refused() {
    let hmm = model();
    let lm = Topical { hmm: hmm.clone(), shown: 2.0, end: None };
    let good = rollouts(&lm, 12, 1, 6);
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut impossible = good.clone();
    impossible[3].continuation[2] = VOCABULARY as Token;
    let trained = Training::default().fit(&hmm, &impossible, &good, &mut rng).unwrap();
    assert_eq!(trained.impossible, 1);
    let comparison = trained.prior.compare(&hmm, &impossible, 6, 1).unwrap();
    assert_eq!((comparison.rollouts, comparison.impossible), (11, 1));
    assert!(comparison.prior.is_finite());

    let mut refuse = |training: Training, train: &[Rollout], held_out: &[Rollout]| {
        training.fit(&hmm, train, held_out, &mut rng).unwrap_err().to_string()
    };
    let all = Training::default;
    assert!(refuse(all(), &[], &good).starts_with("the training data holds no rollout"));
    assert!(refuse(all(), &good, &[]).starts_with("the held-out data holds no rollout"));
    assert!(refuse(all(), &good, &impossible[3..4]).starts_with("the held-out data holds no rollout"));
    let mut short = good.clone();
    short[5].features.pop();
    assert_eq!(refuse(all(), &short, &good), "a vector of 9 features was given, but 10 are expected");
    short[5].features.push(f32::NAN);
    assert_eq!(refuse(all(), &short, &good), "feature 9 is NaN, which is not a finite number");
    assert_eq!(
        refuse(Training { batch: 0, ..all() }, &good, &good),
        "the batch is 0, but must be at least 1"
    );
    assert!(refuse(Training { rate: 0.0, ..all() }, &good, &good).starts_with("the rate is 0"));
    assert!(refuse(Training { decay: f64::NAN, ..all() }, &good, &good).starts_with("the decay is NaN"));

    let prior = trained.prior;
    assert_eq!(prior.belief(&hmm, &[1.0]), Err(PriorError::Features { found: 1, wanted: WIDTH }));
    let other = Prior::new(array![[1.0], [2.0]], array![0.0, 0.0]).unwrap();
    assert_eq!(other.belief(&hmm, &[1.0]), Err(PriorError::States { found: 2, wanted: 6 }));
    assert!(other.distribution(&[f32::INFINITY]).is_err());
    assert!(Prior::new(array![[1.0], [2.0]], array![0.0]).is_err());
    assert!(Prior::new(array![[1.0], [f32::NAN]], array![0.0, 0.0]).is_err());
    assert!(Prior::new(Array2::zeros((2, 0)), array![0.0, 0.0]).is_err());
    assert!(Prior::new(Array2::zeros((0, 2)), Array1::zeros(0)).is_err());
}

#[test]
fn a_belief_from_a_prior_is_a_distribution() {
    let hmm = model();
    assert!(Belief::from_prior(&hmm, vec![0.5, 0.5]).is_err());
    assert!(Belief::from_prior(&hmm, vec![0.5; 6]).is_err());
    assert!(Belief::from_prior(&hmm, vec![f64::NAN; 6]).is_err());
    let belief = Belief::from_prior(&hmm, vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0]).unwrap();
    assert_eq!((belief.tokens(), belief.log_likelihood()), (0, 0.0));
    assert_eq!(belief.predicted()[2], 1.0);
}

#[test]
fn rollouts_are_cut_where_they_should_be() {
    let hmm = model();
    let lm = Topical { hmm, shown: 1.0, end: None };
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let positions = Positions { tokens: 10, every: 4, ahead: 3 };
    let cut = Rollout::sample(&lm, &[1, 5], positions, &mut rng).unwrap();
    // Positions 0 and 4 have three tokens after them; position 8 has two.
    assert_eq!(cut.iter().map(|rollout| rollout.prefix.len()).collect::<Vec<_>>(), [2, 6]);
    assert!(cut.iter().all(|rollout| rollout.continuation.len() == 3 && rollout.features.len() == WIDTH));
    assert_eq!(cut[1].prefix[2..5], cut[0].continuation[..]);
    // The features are those of the prefix.
    let mut state = lm.start();
    lm.step(&mut state, &cut[1].prefix, &mut [0.0; VOCABULARY]).unwrap();
    assert_eq!(lm.features(&state).unwrap(), cut[1].features);

    // A text that ended has its last positions too, and the end as their last token.
    let end = VOCABULARY as Token - 1;
    let ending = Topical { end: Some(end), ..lm };
    let positions = Positions { tokens: 500, every: 1, ahead: 3 };
    let ended = Rollout::sample(&ending, &[1], positions, &mut rng).unwrap();
    let last = &ended[ended.len() - 1];
    assert_eq!(last.continuation, [end]);
    assert!(ended[..ended.len() - 1].iter().all(|rollout| !rollout.prefix.contains(&end)));

    let refused = |every, ahead| {
        let positions = Positions { tokens: 5, every, ahead };
        Rollout::sample(&ending, &[], positions, &mut ChaCha8Rng::seed_from_u64(3)).unwrap_err()
    };
    assert!(matches!(refused(0, 3), SampleError::Positions));
    assert!(matches!(refused(3, 0), SampleError::Positions));
}

/// Gives one set of logits, and no features unless asked to.
struct Fixed(Vec<f32>, Option<Vec<f32>>);

impl LanguageModel for Fixed {
    type State = Vec<f32>;
    type Error = Infallible;

    fn vocabulary(&self) -> usize {
        self.0.len()
    }

    fn end(&self) -> Option<Token> {
        None
    }

    fn start(&self) -> Vec<f32> {
        self.1.clone().unwrap_or_default()
    }

    fn step(&self, _: &mut Vec<f32>, _: &[Token], logits: &mut [f32]) -> Result<(), Infallible> {
        logits.copy_from_slice(&self.0);
        Ok(())
    }

    fn features<'a>(&self, state: &'a Vec<f32>) -> Option<&'a [f32]> {
        self.1.is_some().then_some(state)
    }
}

#[test]
fn sampling_follows_the_logits() {
    let positions = Positions { tokens: 20_000, every: 20_000, ahead: 20_000 };
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let lm = Fixed(vec![0.0, f32::NEG_INFINITY, 3.0_f32.ln(), 0.0, f32::NEG_INFINITY], Some(vec![1.0]));
    let text = Rollout::sample(&lm, &[], positions, &mut rng).unwrap().remove(0).continuation;
    let share = |token| text.iter().filter(|t| **t == token).count() as f64 / text.len() as f64;
    assert!((share(0) - 0.2).abs() < 0.02 && (share(2) - 0.6).abs() < 0.02 && (share(3) - 0.2).abs() < 0.02);
    assert_eq!((share(1), share(4)), (0.0, 0.0));
    for bad in [vec![f32::NEG_INFINITY; 3], vec![0.0, f32::NAN], vec![f32::INFINITY, 0.0]] {
        let error = Rollout::sample(&Fixed(bad, Some(vec![1.0])), &[], positions, &mut rng).unwrap_err();
        assert!(matches!(error, SampleError::Logits { tokens: 0 }), "{error}");
    }
    let error = Rollout::sample(&Fixed(vec![0.0], None), &[], positions, &mut rng).unwrap_err();
    assert_eq!(error.to_string(), "the language model shows no features; a prior needs them");
}
