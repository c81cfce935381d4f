//! Look-ahead and constraints against the enumeration of every token string and every hidden path, on small random
//! models and small random automata (invariant I11).

use hmm_control::{Attribute, Constraint, Edge, Hmm, Lookahead, Storage, Token};
use ndarray::Array2;
use proptest::prelude::*;
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

struct Model {
    initial: Vec<f64>,
    transition: Array2<f64>,
    emission: Array2<f64>,
}

fn distribution(rng: &mut ChaCha8Rng, length: usize) -> Vec<f64> {
    // Now and then a zero, so that impossible tokens and transitions come up.
    let mut values: Vec<f64> =
        (0..length).map(|_| if rng.random_bool(0.15) { 0.0 } else { rng.random_range(0.01..1.0) }).collect();
    let kept = rng.random_range(0..length);
    values[kept] += 0.1;
    let sum: f64 = values.iter().sum();
    values.iter().map(|value| value / sum).collect()
}

fn model(rng: &mut ChaCha8Rng, states: usize, vocabulary: usize) -> Model {
    let rows = |rng: &mut ChaCha8Rng, width| {
        let cells: Vec<f64> = (0..states).flat_map(|_| distribution(rng, width)).collect();
        Array2::from_shape_vec((states, width), cells).unwrap()
    };
    Model {
        initial: distribution(rng, states),
        transition: rows(rng, states),
        emission: rows(rng, vocabulary),
    }
}

impl Model {
    fn hmm(&self, storage: Storage) -> Hmm {
        Hmm::new(&self.initial, self.transition.view(), self.emission.view(), storage).unwrap()
    }

    /// `p(text)`, as a sum over every hidden path.
    fn probability(&self, text: &[Token]) -> f64 {
        let states = self.initial.len();
        let paths = states.pow(text.len() as u32);
        (0..paths)
            .map(|mut path| {
                let mut product = 1.0;
                let mut before = None;
                for &token in text {
                    let state = path % states;
                    path /= states;
                    product *= match before {
                        None => self.initial[state],
                        Some(before) => self.transition[[before, state]],
                    } * self.emission[[state, token as usize]];
                    before = Some(state);
                }
                product
            })
            .sum()
    }
}

fn strings(vocabulary: usize, length: usize) -> Vec<Vec<Token>> {
    let count = vocabulary.pow(length as u32);
    (0..count)
        .map(|mut number| {
            (0..length)
                .map(|_| {
                    let token = number % vocabulary;
                    number /= vocabulary;
                    token as Token
                })
                .collect()
        })
        .collect()
}

fn weight(rng: &mut ChaCha8Rng, hard: bool) -> f64 {
    match rng.random_range(0..4) {
        0 => f64::NEG_INFINITY,
        1 | 2 if hard => 0.0,
        1 => 0.0,
        _ if hard => 0.0,
        _ => -rng.random_range(0.0..6.0),
    }
}

fn automaton(rng: &mut ChaCha8Rng, vocabulary: usize, hard: bool) -> Attribute {
    let states = rng.random_range(1..=4);
    let mut builder = Attribute::builder(vocabulary);
    for _ in 0..states {
        let edge = Edge { to: rng.random_range(0..states), log_weight: weight(rng, hard) };
        let log_final = weight(rng, hard);
        builder.state(edge, log_final);
    }
    for state in 0..states {
        for _ in 0..rng.random_range(0..vocabulary) {
            let edge = Edge { to: rng.random_range(0..states), log_weight: weight(rng, hard) };
            builder.edge(state, rng.random_range(0..vocabulary) as Token, edge);
        }
    }
    builder.build(rng.random_range(0..states)).unwrap()
}

/// Compares a logarithm with a plain probability.
fn same(found: f64, wanted: f64) -> Result<(), TestCaseError> {
    if wanted == 0.0 {
        prop_assert_eq!(found, f64::NEG_INFINITY);
    } else {
        prop_assert!(
            (found.exp() - wanted).abs() <= 1e-9 * wanted.max(1e-3),
            "{} for {}",
            found.exp(),
            wanted
        );
    }
    Ok(())
}

fn joined(parts: &[&[Token]]) -> Vec<Token> {
    parts.concat()
}

/// What is left of nearly everything is not a difference of rounded sums.
#[test]
fn a_rare_token_keeps_its_probability() {
    let rare = 1e-9;
    // Eleven tokens whose probabilities round in f32, and the rare one.
    let emission = Array2::from_shape_fn((2, 12), |(state, token)| match token {
        11 => rare * (state + 1) as f64,
        _ => (1.0 - rare * (state + 1) as f64) * (token + 1 + state) as f64 / (66 + 11 * state) as f64,
    });
    let transition = ndarray::array![[0.5, 0.5], [0.1, 0.9]];
    for storage in [Storage::F64, Storage::F32] {
        let hmm = Hmm::new(&[1.0, 0.0], transition.view(), emission.view(), storage).unwrap();
        let banned = (0..11).map(|token| (token, f64::NEG_INFINITY));
        let lookahead = Lookahead::new(hmm, Attribute::from_weights(12, banned).unwrap()).unwrap();
        let found = lookahead.expectation(&lookahead.start(), 1);
        assert!((found - rare.ln()).abs() < 1e-6, "{storage}: {found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_look_ahead_is_the_sum_over_every_continuation(
        seed: u64,
        states in 1..=4_usize,
        vocabulary in 2..=5_usize,
        prompt_length in 0..=1_usize,
        generated_length in 0..=1_usize,
        remaining in 0..=2_usize,
    ) {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let model = model(rng, states, vocabulary);
        let attribute = automaton(rng, vocabulary, false);
        let lookahead = Lookahead::new(model.hmm(Storage::F64), attribute.clone()).unwrap();
        let prompt: Vec<Token> = (0..prompt_length).map(|_| rng.random_range(0..vocabulary) as Token).collect();
        let generated: Vec<Token> =
            (0..generated_length).map(|_| rng.random_range(0..vocabulary) as Token).collect();
        let before = model.probability(&joined(&[&prompt, &generated]));
        prop_assume!(before > 0.0);
        let mut progress = lookahead.start();
        prompt.iter().for_each(|token| lookahead.observe_prompt(&mut progress, *token));
        generated.iter().for_each(|token| lookahead.observe(&mut progress, *token));
        prop_assert!((progress.belief.log_likelihood() - before.ln()).abs() < 1e-9);

        let continuations = strings(vocabulary, remaining);
        let expected = |start: &[Token]| -> (f64, f64) {
            continuations.iter().fold((0.0, 0.0), |(whole, part), rest| {
                let text = joined(&[&generated, start, rest]);
                let probability = model.probability(&joined(&[&prompt, &text]));
                (whole + probability, part + probability * attribute.log_weight(&text).exp())
            })
        };
        let mut scores = vec![0.0; vocabulary];
        lookahead.score_all(&progress, remaining, &mut scores);
        for token in 0..vocabulary as Token {
            let (whole, part) = expected(&[token]);
            // A token that cannot come tells nothing, and there is nothing to compare with.
            if whole > 1e-12 {
                same(scores[token as usize], part / whole)?;
                prop_assert!(scores[token as usize] <= lookahead.bound(&progress, remaining, token) + 1e-9);
            }
            let mut one = [0.0];
            lookahead.score(&progress, remaining, &[token], &mut one);
            prop_assert_eq!(one[0], scores[token as usize]);
        }
        let (whole, part) = expected(&[]);
        same(lookahead.expectation(&progress, remaining), part / whole)?;
    }

    #[test]
    fn a_constraint_is_the_sum_over_every_completion(
        seed: u64,
        states in 1..=3_usize,
        vocabulary in 2..=4_usize,
        shortest in 0..=2_usize,
        more in 0..=1_usize,
        ending_length in 0..=2_usize,
        generated_length in 0..=3_usize,
    ) {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let model = model(rng, states, vocabulary);
        let attribute = automaton(rng, vocabulary, seed % 2 == 0);
        let longest = shortest + more;
        let random = |rng: &mut ChaCha8Rng, length| -> Vec<Token> {
            (0..length).map(|_| rng.random_range(0..vocabulary) as Token).collect()
        };
        let ending = random(rng, ending_length);
        let constraint =
            Constraint::new(model.hmm(Storage::F64), attribute.clone(), shortest..=longest, &ending).unwrap();
        let generated = random(rng, generated_length);
        let before = model.probability(&generated);
        prop_assume!(before > 0.0);
        let mut completion = constraint.start();
        generated.iter().for_each(|token| constraint.observe(&mut completion, *token));

        // Every completed text that begins as the text so far, by its weight and probability.
        let expected = |start: &[Token]| -> f64 {
            let begins = joined(&[&generated, start]);
            (shortest..=longest)
                .flat_map(|length| strings(vocabulary, length))
                .map(|text| (attribute.log_weight(&text).exp(), joined(&[&text, &ending])))
                .filter(|(_, whole)| whole.starts_with(&begins))
                .map(|(weight, whole)| weight * model.probability(&whole))
                .sum()
        };
        let mut scores = vec![0.0; vocabulary];
        constraint.score_all(&completion, &mut scores);
        for token in 0..vocabulary as Token {
            let probability = model.probability(&joined(&[&generated, &[token]]));
            if probability > 1e-12 {
                same(scores[token as usize], expected(&[token]) / probability)?;
            }
            let mut one = [0.0];
            constraint.score(&completion, &[token], &mut one);
            prop_assert_eq!(one[0], scores[token as usize]);
        }
        if !constraint.is_complete(&completion) {
            same(constraint.expectation(&completion), expected(&[]) / before)?;
        }
    }

    #[test]
    fn two_attributes_together_weigh_what_they_weigh_apart(seed: u64, vocabulary in 2..=4_usize) {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let left = automaton(rng, vocabulary, false);
        let right = automaton(rng, vocabulary, true);
        let both = left.and(&right).unwrap();
        for length in 0..=4 {
            for text in strings(vocabulary, length) {
                let wanted = left.log_weight(&text) + right.log_weight(&text);
                let found = both.log_weight(&text);
                prop_assert!(found == wanted || (found - wanted).abs() < 1e-12);
            }
        }
        let strength = rng.random_range(0.1..4.0);
        let raised = left.raised(strength).unwrap();
        for text in strings(vocabulary, 3) {
            let wanted = left.log_weight(&text) * strength;
            prop_assert!(raised.log_weight(&text) == wanted || (raised.log_weight(&text) - wanted).abs() < 1e-9);
        }
    }

    #[test]
    fn phrases_and_lengths_weigh_what_they_say(seed: u64, vocabulary in 2..=3_usize) {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let phrase = |rng: &mut ChaCha8Rng| -> Vec<Token> {
            (0..rng.random_range(1..=3)).map(|_| rng.random_range(0..vocabulary) as Token).collect()
        };
        let phrases: Vec<(Vec<Token>, f64)> =
            (0..rng.random_range(1..=3)).map(|_| (phrase(rng), weight(rng, false))).collect();
        let weighted = Attribute::from_phrases(vocabulary, &phrases).unwrap();
        let wanted_phrase = phrase(rng);
        let required = Attribute::requiring(vocabulary, &wanted_phrase).unwrap();
        let (shortest, longest) = (rng.random_range(0..=2), rng.random_range(2..=4));
        let length = Attribute::of_length(vocabulary, shortest, longest).unwrap();
        let ended = weighted.and(&required).unwrap().ended_by(0).unwrap();
        let holds = |text: &[Token], phrase: &[Token]| text.windows(phrase.len()).filter(|part| *part == phrase).count();
        let one = |yes| if yes { 0.0 } else { f64::NEG_INFINITY };
        for text in (0..=5).flat_map(|length| strings(vocabulary, length)) {
            let weigh = |text: &[Token]| -> f64 {
                // Nothing times minus infinity is nothing.
                phrases.iter().map(|(phrase, weight)| (holds(text, phrase), weight))
                    .filter(|(count, _)| *count > 0).map(|(count, weight)| count as f64 * weight).sum()
            };
            let near = |found: f64, wanted: f64| found == wanted || (found - wanted).abs() < 1e-9;
            prop_assert!(near(weighted.log_weight(&text), weigh(&text)));
            prop_assert_eq!(required.log_weight(&text), one(holds(&text, &wanted_phrase) > 0));
            prop_assert_eq!(length.log_weight(&text), one((shortest..=longest).contains(&text.len())));
            // The end token counts like any other; what comes behind it does not.
            let ended_text = text.iter().position(|token| *token == 0).map_or(&text[..], |end| &text[..=end]);
            let wanted = weigh(ended_text) + one(holds(ended_text, &wanted_phrase) > 0);
            prop_assert!(near(ended.log_weight(&text), wanted), "{:?}", text);
        }
    }

    #[test]
    fn a_pattern_is_seen_however_the_text_is_cut(cuts in proptest::collection::vec(0..6_u32, 0..8)) {
        let tokens = ["1", "12", "a", "-", "2a1", ""];
        let attribute = Attribute::from_pattern(&tokens, "[0-9](?:-?[0-9]){2}", -2.0).unwrap();
        let text: String = cuts.iter().map(|token| tokens[*token as usize]).collect();
        let held = regex_automata::meta::Regex::new("[0-9](?:-?[0-9]){2}").unwrap().is_match(&text);
        prop_assert_eq!(attribute.log_weight(&cuts), if held { -2.0 } else { 0.0 }, "{}", text);
    }

    #[test]
    fn narrow_storages_stay_near(seed: u64, states in 2..=40_usize, vocabulary in 5..=60_usize) {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let model = model(rng, states, vocabulary);
        let wide = model.hmm(Storage::F64);
        let weights: Vec<(Token, f64)> = (0..vocabulary as Token)
            .filter(|token| token % 3 == 0)
            .map(|token| (token, -rng.random_range(0.0..4.0)))
            .collect();
        let attribute = Attribute::from_weights(vocabulary, weights).unwrap();
        let text: Vec<Token> = (0..6).map(|_| rng.random_range(0..vocabulary) as Token).collect();
        let scores = |hmm: Hmm| {
            let lookahead = Lookahead::new(hmm, attribute.clone()).unwrap();
            let mut progress = lookahead.start();
            text.iter().for_each(|token| lookahead.observe(&mut progress, *token));
            let mut scores = vec![0.0; vocabulary];
            lookahead.score_all(&progress, 30, &mut scores);
            scores
        };
        let exact = scores(wide.clone());
        for (storage, tolerance) in
            [(Storage::F32, 1e-4), (Storage::F16, 0.03), (Storage::Bf16, 0.2), (Storage::Bits8, 0.3)]
        {
            // A token that every state nearly excludes may round to one that none emits: no bound holds for it.
            for (found, wanted) in scores(wide.to_storage(storage, storage).unwrap()).iter().zip(&exact) {
                prop_assert!((found - wanted).abs() < tolerance, "{}: {} for {}", storage, found, wanted);
            }
        }
    }
}
