//! What holds for every run, whatever the models.

use crate::exact::{decoding, stranger};
use crate::models::{Pairs, Table, Target, key};
use crate::support::rng;
use hmm_control::particles::{Guide, ParticleDecoding, ParticleError, Population};
use hmm_control::{Controller, Ended, Horizon, Sampler};
use proptest::prelude::*;
use std::convert::Infallible;

/// A run that is drawn from its numbers.
#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    vocabulary: usize,
    tokens: usize,
    particles: usize,
    resample_below: f64,
    horizon: Option<Horizon>,
    strength: f64,
    floor: f64,
    has_grammar: bool,
    must_end: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let horizon = prop_oneof![
        Just(None),
        (0..8_usize).prop_map(|tokens| Some(Horizon::Window(tokens))),
        (0..8_usize).prop_map(|tokens| Some(Horizon::Length(tokens))),
    ];
    let shape = (any::<u64>(), 3..6_usize, 0..6_usize, 1..24_usize);
    let guide =
        (horizon, prop_oneof![Just(1.0), 0.0..3.0_f64], prop_oneof![Just(0.0), Just(1e-6), Just(1.0)]);
    let rest = (prop_oneof![Just(0.0), Just(0.5), Just(1.0)], any::<bool>(), any::<bool>());
    (shape, guide, rest).prop_map(
        |(
            (seed, vocabulary, tokens, particles),
            (horizon, strength, floor),
            (resample_below, has_grammar, must_end),
        )| {
            Case {
                seed,
                vocabulary,
                tokens,
                particles,
                resample_below,
                horizon,
                strength,
                floor,
                has_grammar,
                must_end,
            }
        },
    )
}

impl Case {
    fn model(&self) -> Table {
        let end = (!self.seed.is_multiple_of(3)).then_some(0);
        Table { seed: self.seed, vocabulary: self.vocabulary, end, spread: 6.0 }
    }

    fn grammar(&self) -> Pairs {
        match self.has_grammar {
            true => Pairs::random(self.vocabulary, &mut rng(self.seed ^ 1)),
            false => Pairs::new(vec![u64::MAX; self.vocabulary + 1]),
        }
    }

    fn run(&self, lanes: usize, threads: usize) -> Result<Population, ParticleError<Infallible>> {
        let states = 1 + self.seed as usize % 3;
        let controller =
            Controller::new(stranger(self.seed, self.vocabulary, states), self.strength).unwrap();
        let guide = self.horizon.map(|horizon| Guide { controller: &controller, horizon, floor: self.floor });
        let model = self.model();
        let decoding = ParticleDecoding {
            sampler: Sampler::new(1.0).unwrap().top_k(1 + self.seed as usize % 7),
            particles: self.particles,
            resample_below: self.resample_below,
            must_end: self.must_end,
            lanes,
            threads,
            ..decoding(&model, guide, self.tokens)
        };
        decoding.run(&[1], self.grammar(), &mut rng(self.seed ^ 2))
    }
}

proptest! {
    #[test]
    fn a_population_is_whole(case in case()) {
        let population = match case.run(100, 1) {
            Ok(population) => population,
            Err(ParticleError::Extinct { particles, tokens }) => {
                prop_assert!(particles == case.particles && tokens <= case.tokens);
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        let range = 1.0..=case.particles as f64;
        prop_assert!(range.contains(&population.effective_sample_size()));
        prop_assert!(population.steps().len() <= case.tokens);
        for (number, step) in population.steps().iter().enumerate() {
            prop_assert!(range.contains(&step.effective_sample_size), "{:?}", step);
            prop_assert!(step.ended <= step.alive && (1..=case.particles).contains(&step.alive));
            let is_last = number + 1 == population.steps().len();
            let is_low = step.effective_sample_size < case.resample_below * case.particles as f64;
            prop_assert_eq!(step.resampled, is_low && !is_last);
        }
        prop_assert!(population.log_evidence().is_finite());
        let texts = population.texts();
        prop_assert!((1..=case.particles).contains(&texts.len()));
        prop_assert!(texts.iter().all(|text| text.share > 0.0 && text.share <= 1.0 + 1e-12));
        prop_assert!((population.mean(|_| 1.0) - 1.0).abs() < 1e-9);
        prop_assert!((1..=texts.len()).contains(&population.ancestors()));
        let drawn = population.draw(&mut rng(case.seed)).unwrap();
        prop_assert!(texts.contains(drawn));
    }

    /// A text that the grammar, the attribute, the length or the sampler forbids never has weight.
    #[test]
    fn what_is_forbidden_has_no_weight(case in case()) {
        let Ok(population) = case.run(100, 1) else { return Ok(()) };
        let lookahead = stranger(case.seed, case.vocabulary, 1 + case.seed as usize % 3);
        let model = case.model();
        let weights = Target {
            model: &Prompted(&model),
            temperature: 1.0,
            attribute: case.horizon.map(|_| lookahead.attribute()),
            grammar: case.grammar(),
            most_tokens: case.tokens,
            must_end: case.must_end,
            stop: &[],
        }
        .weights();
        for text in population.texts() {
            prop_assert!(weights.contains_key(&key(text)), "{:?}", text);
            prop_assert!(text.tokens.len() <= case.tokens);
            prop_assert!(!case.must_end || matches!(text.ended, Ended::Token(_)));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_population(case in case()) {
        prop_assert_eq!(case.run(100, 1), case.run(100, 1));
        let (whole, one, two) = (case.run(100, 1), case.run(1, 1), case.run(3, 2));
        for other in [one, two] {
            match (&whole, other) {
                (Ok(whole), Ok(other)) => {
                    prop_assert!((whole.log_evidence() - other.log_evidence()).abs() < 1e-9);
                    prop_assert_eq!(whole.texts().len(), other.texts().len());
                    for (text, other) in whole.texts().iter().zip(other.texts()) {
                        prop_assert_eq!(&text.tokens, &other.tokens);
                        prop_assert!((text.share - other.share).abs() < 1e-9);
                    }
                }
                (whole, other) => prop_assert_eq!(whole, &other),
            }
        }
    }
}

/// The same model after the prompt of the properties.
struct Prompted<'a>(&'a Table);

impl hmm_control::LanguageModel for Prompted<'_> {
    type State = Vec<hmm_control::Token>;
    type Error = Infallible;

    fn vocabulary(&self) -> usize {
        self.0.vocabulary
    }

    fn end(&self) -> Option<hmm_control::Token> {
        self.0.end
    }

    fn start(&self) -> Self::State {
        vec![1]
    }

    fn step(
        &self,
        state: &mut Self::State,
        tokens: &[hmm_control::Token],
        logits: &mut [f32],
    ) -> Result<(), Infallible> {
        self.0.step(state, tokens, logits)
    }
}
