//! Batches against one request after the other, in every storage.

use hmm_control::{
    Attribute, Belief, Edge, Hmm, Lookahead, Matrix, Precision, Progress, Request, Storage, Token,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const STORAGES: [Storage; 5] = [Storage::F64, Storage::F32, Storage::F16, Storage::Bf16, Storage::Bits8];

fn distributions(random: &mut ChaCha8Rng, rows: usize, columns: usize) -> Matrix {
    let mut numbers: Vec<Vec<f64>> =
        (0..rows).map(|_| (0..columns).map(|_| random.random::<f64>().powi(3) + 1e-4).collect()).collect();
    for column in 0..columns {
        let sum: f64 = numbers.iter().map(|row| row[column]).sum();
        numbers.iter_mut().for_each(|row| row[column] /= sum);
    }
    Matrix::from_rows(rows, columns, Storage::F64, |row, values| values.copy_from_slice(&numbers[row]))
}

fn model(random: &mut ChaCha8Rng, states: usize, vocabulary: usize) -> Hmm {
    let initial = vec![1.0 / states as f64; states];
    let transition = distributions(random, states, states);
    let emission = distributions(random, vocabulary, states);
    Hmm::from_parts(initial, transition, emission).unwrap()
}

/// An automaton with edges of every kind; from each state its tokens lead to up to `spread` states.
fn automaton(random: &mut ChaCha8Rng, states: usize, spread: usize, vocabulary: usize) -> Attribute {
    let mut builder = Attribute::builder(vocabulary);
    let edge = |random: &mut ChaCha8Rng, from: usize| {
        let log_weight = match random.random_range(0..4) {
            0 => f64::NEG_INFINITY,
            1 => 0.0,
            _ => -3.0 * random.random::<f64>(),
        };
        Edge { to: (from + random.random_range(0..spread)) % states, log_weight }
    };
    for state in 0..states {
        builder.state(Edge { to: state, log_weight: -0.1 }, -0.5);
    }
    for state in 0..states {
        for token in 0..vocabulary {
            if random.random_range(0..3) == 0 {
                builder.edge(state, token as Token, edge(random, state));
            }
        }
    }
    builder.build(0).unwrap()
}

fn close(found: &[f64], wanted: &[f64], tolerance: f64) {
    for (found, wanted) in found.iter().zip(wanted) {
        let same = found == wanted || (found - wanted).abs() <= tolerance;
        assert!(same, "{found} and not {wanted}");
    }
}

/// Requests that stand at different places of different texts.
fn requests(lookahead: &Lookahead, random: &mut ChaCha8Rng, count: usize) -> Vec<(Progress, usize)> {
    let vocabulary = lookahead.hmm().vocabulary() as Token;
    (0..count)
        .map(|number| {
            let mut progress = lookahead.start();
            (0..number % 4)
                .for_each(|_| lookahead.observe(&mut progress, random.random_range(0..vocabulary)));
            (progress, random.random_range(0..6))
        })
        .collect()
}

fn score_batch(
    lookahead: &Lookahead,
    texts: &[(Progress, usize)],
    threads: usize,
    length: usize,
) -> Vec<Vec<f64>> {
    score_batch_by(lookahead, texts, threads, length, Precision::Full)
}

fn score_batch_by(
    lookahead: &Lookahead,
    texts: &[(Progress, usize)],
    threads: usize,
    length: usize,
    precision: Precision,
) -> Vec<Vec<f64>> {
    let mut outs = vec![vec![7.0; length]; texts.len()];
    let mut requests: Vec<Request<'_>> = texts
        .iter()
        .zip(&mut outs)
        .map(|((progress, remaining), out)| Request { progress, remaining: *remaining, out })
        .collect();
    lookahead.score_batch(&mut requests, threads, precision);
    outs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_batch_is_one_text_after_the_other(
        seed: u64, states in 1_usize..70, vocabulary in 1_usize..150, count in 0_usize..20
    ) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let model = model(&mut random, states, vocabulary);
        for storage in STORAGES {
            let Ok(hmm) = model.to_storage(storage, storage) else { continue };
            let tolerance = if storage == Storage::F64 { 0.0 } else { 1e-6 };
            let mut apart = vec![Belief::start(&hmm); count];
            let mut together = apart.clone();
            for _ in 0..3 {
                // One token is outside the vocabulary.
                let tokens: Vec<Token> = (0..count).map(|_| random.random_range(0..=vocabulary as Token)).collect();
                let wanted: Vec<f64> =
                    apart.iter_mut().zip(&tokens).map(|(belief, token)| belief.observe(&hmm, *token)).collect();
                let mut texts: Vec<_> = together.iter_mut().zip(tokens).collect();
                let found = Belief::observe_batch(&hmm, &mut texts);
                close(&found, &wanted, tolerance);
                for (found, wanted) in together.iter().zip(&apart) {
                    close(found.predicted(), wanted.predicted(), tolerance);
                    close(&[found.log_likelihood()], &[wanted.log_likelihood()], 3.0 * tolerance);
                    prop_assert_eq!(found.tokens(), wanted.tokens());
                }
            }
        }
    }

    #[test]
    fn scores_of_a_batch_are_the_scores(
        seed: u64, states in 1_usize..40, vocabulary in 1_usize..130, count in 1_usize..14, spread in 1_usize..7
    ) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let model = model(&mut random, states, vocabulary);
        let attribute = automaton(&mut random, 7, spread, vocabulary);
        for storage in STORAGES {
            let Ok(hmm) = model.to_storage(storage, storage) else { continue };
            let tolerance = if storage == Storage::F64 { 0.0 } else { 3e-6 };
            let lookahead = Lookahead::new(hmm, attribute.clone()).unwrap();
            let texts = requests(&lookahead, &mut random, count);
            let found = score_batch(&lookahead, &texts, 1, vocabulary);
            for ((progress, remaining), found) in texts.iter().zip(&found) {
                let mut wanted = vec![0.0; vocabulary];
                lookahead.score_all(progress, *remaining, &mut wanted);
                close(found, &wanted, tolerance);
                let tokens: Vec<Token> = (0..vocabulary as Token).rev().step_by(2).collect();
                let mut some = vec![0.0; tokens.len()];
                lookahead.score(progress, *remaining, &tokens, &mut some);
                for (token, some) in tokens.iter().zip(&some) {
                    prop_assert_eq!(*some, wanted[*token as usize], "a candidate is scored as one of all");
                }
            }
            for threads in [0, 2, 3, 1000] {
                prop_assert_eq!(&score_batch(&lookahead, &texts, threads, vocabulary), &found);
            }
            let rounded = score_batch_by(&lookahead, &texts, 1, vocabulary, Precision::Bf16);
            prop_assert_eq!(&score_batch_by(&lookahead, &texts, 3, vocabulary, Precision::Bf16), &rounded);
            for (rounded, found) in rounded.iter().flatten().zip(found.iter().flatten()) {
                let is_as_close = if storage == Storage::Bf16 { (rounded - found).abs() < 0.008 } else { false };
                prop_assert!(rounded == found || is_as_close, "{storage}: {rounded} and not {found}");
            }
        }
    }
}

#[test]
fn texts_taken_in_together_move_as_one_by_one() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let hmm = model(&mut random, 12, 30);
    let attribute = automaton(&mut random, 5, 3, 30);
    let lookahead = Lookahead::new(hmm, attribute).unwrap();
    let mut apart: Vec<Progress> =
        requests(&lookahead, &mut random, 9).into_iter().map(|(progress, _)| progress).collect();
    let mut together = apart.clone();
    apart.iter_mut().enumerate().for_each(|(number, text)| lookahead.observe(text, number as Token));
    let mut texts: Vec<_> =
        together.iter_mut().enumerate().map(|(number, text)| (text, number as Token)).collect();
    lookahead.observe_batch(&mut texts);
    assert_eq!(together, apart);
}

/// Room for fewer scores than there are tokens, for none, or for more: what is beyond the vocabulary is left alone.
#[test]
fn room_of_any_length() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let hmm = model(&mut random, 9, 100).to_storage(Storage::F16, Storage::F16).unwrap();
    let attribute = automaton(&mut random, 3, 2, 100);
    let lookahead = Lookahead::new(hmm, attribute).unwrap();
    let texts = requests(&lookahead, &mut random, 3);
    let whole = score_batch(&lookahead, &texts, 2, 100);
    for length in [0, 1, 50, 99, 103] {
        for (found, whole) in score_batch(&lookahead, &texts, 2, length).iter().zip(&whole) {
            let common = length.min(100);
            assert_eq!(found[..common], whole[..common]);
            assert!(found[common..].iter().all(|left| *left == 7.0));
        }
    }
}
