//! The mixture: Bayes' rule, forks, sampling, learning.

use hmm_control::LanguageModel;
use language_models::ngram::{History, NgramError, NgramModel, Topic, TopicModel};
use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const END: u32 = 7;

fn topic(name: &str, share: f64, texts: &[Vec<u32>]) -> Topic {
    let model = NgramModel::train(8, 3, Some(END), texts.iter().map(Vec::as_slice)).unwrap();
    Topic { name: name.to_owned(), model, share }
}

fn corpus() -> impl Strategy<Value = Vec<Vec<u32>>> {
    proptest::collection::vec(proptest::collection::vec(0_u32..7, 1..12), 1..6)
}

proptest! {
    #[test]
    fn posterior_follows_bayes_rule(corpora in proptest::collection::vec((corpus(), 0.1_f64..5.0), 1..4),
                     read in proptest::collection::vec(0_u32..7, 0..10)) {
        let topics: Vec<Topic> = corpora.iter().map(|(texts, share)| topic("one", *share, texts)).collect();
        let model = TopicModel::new(topics.clone()).unwrap();
        // The joint probability of the topic and of all that was read, one token after the other.
        let mut joint: Vec<f64> = topics.iter().map(|topic| topic.share).collect();
        for (at, token) in read.iter().enumerate() {
            for (joint, topic) in joint.iter_mut().zip(&topics) {
                *joint *= topic.model.probability(&History::of(&read[..at]), *token);
            }
        }
        let evidence: f64 = joint.iter().sum();
        let mut state = model.start();
        let mut logits = vec![0.0; 8];
        model.step(&mut state, &read, &mut logits).unwrap();
        let mut distribution = vec![0.0; 8];
        model.distribution(&state, &mut distribution);
        for token in 0..8 {
            let each = joint.iter().zip(&topics);
            let sum: f64 =
                each.map(|(joint, topic)| joint * topic.model.probability(&History::of(&read), token)).sum();
            let expected = sum / evidence;
            prop_assert!((model.probability(&state, token) - expected).abs() < 1e-10);
            prop_assert!((distribution[token as usize] - expected).abs() < 1e-10);
            prop_assert!((f64::from(logits[token as usize]) - expected.ln()).abs() < 1e-5);
        }
        prop_assert!((distribution.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (shown, expected) in state.topics().iter().zip(&joint) {
            prop_assert!((shown - expected / evidence).abs() < 1e-10);
        }
    }

    #[test]
    fn forks_are_independent(first in corpus(), second in corpus(),
                               before in proptest::collection::vec(0_u32..8, 0..8),
                               after in proptest::collection::vec(0_u32..8, 1..8)) {
        let model = TopicModel::new(vec![topic("a", 1.0, &first), topic("b", 2.0, &second)]).unwrap();
        let mut logits = [vec![0.0; 8], vec![0.0; 8]];
        let mut state = model.start();
        model.step(&mut state, &before, &mut logits[0]).unwrap();
        let kept = state.clone();
        model.step(&mut state, &after, &mut logits[0]).unwrap();
        // A fork that reads the same tokens one by one reaches the same state.
        let mut again = kept;
        for token in &after {
            model.step(&mut again, &[*token], &mut logits[1]).unwrap();
        }
        prop_assert_eq!(&logits[0], &logits[1]);
        prop_assert_eq!(&again, &state);
        prop_assert_eq!(model.features(&again), model.features(&state));
    }

    #[test]
    fn bytes_round_trip(first in corpus(), second in corpus()) {
        let model = TopicModel::new(vec![topic("a", 1.0, &first), topic("b", 2.5, &second)]).unwrap();
        let bytes = model.to_bytes();
        prop_assert_eq!(&TopicModel::from_bytes(&bytes).unwrap(), &model);
    }
}

/// Texts in which a token depends on the two before it, in a way that differs between kinds.
fn language(kind: u32, count: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<u32>> {
    let text = |rng: &mut ChaCha8Rng| {
        let mut text: Vec<u32> = vec![rng.random_range(0..7), rng.random_range(0..7)];
        for _ in 0..30 {
            let expected = (text[text.len() - 1] * 3 + text[text.len() - 2] + kind) % 7;
            text.push(if rng.random::<f64>() < 0.8 { expected } else { rng.random_range(0..7) });
        }
        text
    };
    (0..count).map(|_| text(rng)).collect()
}

fn mean_loss(model: &TopicModel, texts: &[Vec<u32>]) -> f64 {
    let mut sum = 0.0;
    for text in texts {
        let mut state = model.start();
        text.iter().for_each(|token| sum -= model.observe(&mut state, *token).unwrap());
    }
    sum / texts.iter().map(Vec::len).sum::<usize>() as f64
}

#[test]
fn longer_contexts_and_topics_predict_unseen_texts_better() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let corpora = [0, 2].map(|kind| language(kind, 200, &mut rng));
    let held_out = [0, 2].map(|kind| language(kind, 50, &mut rng)).concat();
    let train = |order: usize, texts: &[Vec<u32>]| {
        NgramModel::train(8, order, Some(END), texts.iter().map(Vec::as_slice)).unwrap()
    };
    let one = |model| TopicModel::new(vec![Topic { name: "all".to_owned(), model, share: 1.0 }]).unwrap();
    let losses = [1, 3].map(|order| mean_loss(&one(train(order, &corpora.concat())), &held_out));
    let topics = corpora.iter().map(|texts| topic("kind", 1.0, texts)).collect();
    let mixed = mean_loss(&TopicModel::new(topics).unwrap(), &held_out);
    // The uniform distribution over the seven letters, and the language itself, which the mixture must approach.
    let (even, itself) = (
        7_f64.ln(),
        -(0.8 + 0.2 / 7.0_f64).ln() * (0.8 + 0.2 / 7.0) - 6.0 * (0.2 / 7.0) * (0.2_f64 / 7.0).ln(),
    );
    assert!((losses[0] - even).abs() < 0.05, "order 1: {} against {even}", losses[0]);
    assert!(losses[1] < losses[0] - 0.3, "order 3: {} against {}", losses[1], losses[0]);
    assert!(mixed < losses[1] - 0.2, "topics: {mixed} against {}", losses[1]);
    assert!(mixed < itself + 0.25, "topics: {mixed} against {itself}");
}

#[test]
fn samples_follow_the_distribution_of_the_mixture() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let topics = vec![topic("a", 1.0, &language(0, 5, &mut rng)), topic("b", 3.0, &language(3, 5, &mut rng))];
    let model = TopicModel::new(topics).unwrap();
    let mut state = model.start();
    model.observe(&mut state, 4).unwrap();
    let mut distribution = vec![0.0; 8];
    model.distribution(&state, &mut distribution);
    let draws = 100_000;
    let mut drawn = [0.0; 8];
    (0..draws).for_each(|_| drawn[model.sample(&state, &mut rng) as usize] += 1.0 / f64::from(draws));
    for (drawn, expected) in drawn.iter().zip(&distribution) {
        let deviation = (expected * (1.0 - expected) / f64::from(draws)).sqrt();
        assert!((drawn - expected).abs() < 5.0 * deviation, "{drawn} against {expected}");
    }
}

#[test]
fn a_text_ends_with_its_end_or_where_it_is_cut_off() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let model = TopicModel::new(vec![topic("one", 1.0, &[vec![1, 2, 3], vec![1, 2, 1, 2]])]).unwrap();
    let texts: Vec<Vec<u32>> = (0..500).map(|_| model.write(&model.start(), 4, &mut rng)).collect();
    assert!(texts.iter().any(|text| text.len() == 4 && !text.contains(&END)));
    assert!(texts.iter().any(|text| text.len() < 4));
    for text in &texts {
        assert!(text.len() == 4 || text.last() == Some(&END), "{text:?}");
        assert!(text.iter().rev().skip(1).all(|token| *token != END), "{text:?}");
    }
    // The text continues the state: after 1, 2 is likelier than 1.
    let mut reading = model.start();
    model.observe(&mut reading, 1).unwrap();
    let next: Vec<u32> = (0..500).map(|_| model.write(&reading, 1, &mut rng)[0]).collect();
    let count = |token: u32| next.iter().filter(|next| **next == token).count();
    assert!(count(2) > 2 * count(1));
}

#[test]
fn typical_tokens_of_a_topic_have_a_low_weight() {
    let (a, b) = (vec![vec![1, 1, 1, 2, 1, 2, 1, 1, 2, 4]], vec![vec![3, 2, 3, 3, 2, 3, 3, 2, 3, 4]]);
    let model = TopicModel::new(vec![topic("a", 1.0, &a), topic("b", 1.0, &b)]).unwrap();
    let weights = model.unlike(1, 0.5);
    assert_eq!(weights.len(), 1, "{weights:?}");
    let probability = |topic: usize| {
        let before = History::of(&[6, 6, 6]);
        model.topics()[topic].model.probability(&before, 3)
    };
    let expected = -0.5 * (probability(1) / probability(0) / 4.0).ln();
    assert!(weights[0].0 == 3 && (weights[0].1 - expected).abs() < 1e-12, "{weights:?} {expected}");
    assert!(model.unlike(2, 0.5).is_empty());
    assert!(TopicModel::new(vec![topic("a", 1.0, &a)]).unwrap().unlike(0, 1.0).is_empty());
}

#[test]
fn a_topic_recovers_from_a_long_text_of_another() {
    let (ones, twos) = (vec![vec![1; 30]], vec![vec![2; 30]]);
    let model = TopicModel::new(vec![topic("ones", 1.0, &ones), topic("twos", 1.0, &twos)]).unwrap();
    let mut state = model.start();
    (0..2000).for_each(|_| drop(model.observe(&mut state, 1)));
    assert!(state.topics()[1] < 1e-300);
    (0..2500).for_each(|_| drop(model.observe(&mut state, 2)));
    assert!(state.topics()[1] > 0.99);
}

#[test]
fn the_end_begins_a_new_text() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let topics = vec![topic("a", 1.0, &language(0, 3, &mut rng)), topic("b", 3.0, &language(1, 3, &mut rng))];
    let model = TopicModel::new(topics).unwrap();
    let mut state = model.start();
    [1, 2, 3, END].iter().for_each(|token| drop(model.observe(&mut state, *token)));
    assert_eq!(state, model.start());
}

#[test]
fn features_stay_small_distinguish_tokens_and_decay() {
    let model = TopicModel::new(vec![topic("one", 1.0, &[vec![1, 2]])]).unwrap();
    let read = |text: &[u32]| {
        let mut state = model.start();
        text.iter().for_each(|token| drop(model.observe(&mut state, *token)));
        model.features(&state).unwrap().to_vec()
    };
    let apart = |a: &[u32], b: &[u32]| -> f32 {
        read(a).iter().zip(read(b)).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
    };
    assert!(read(&[3; 1000]).iter().all(|value| value.abs() < 7.0));
    assert!(apart(&[1, 2], &[2, 1]) > 1.0);
    let (long, other): (Vec<u32>, Vec<u32>) = ((0..300).map(|at| at % 5).collect(), vec![6; 3]);
    assert!(apart(&long, &[other, long.clone()].concat()) < 1e-3);
}

#[test]
fn incompatible_topics_are_refused() {
    let one = || topic("one", 1.0, &[vec![1, 2]]);
    assert!(matches!(TopicModel::new(vec![]), Err(NgramError::Topics { given: 0, .. })));
    let many = (0..65).map(|_| one()).collect();
    assert!(matches!(TopicModel::new(many), Err(NgramError::Topics { given: 65, .. })));
    for share in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let bad = Topic { share, ..one() };
        assert!(matches!(TopicModel::new(vec![one(), bad]), Err(NgramError::Share { .. })));
    }
    let text: &[u32] = &[1];
    let other = |model| Topic { name: "other".to_owned(), model, share: 1.0 };
    let larger = other(NgramModel::train(9, 2, Some(END), [text]).unwrap());
    let message = TopicModel::new(vec![one(), larger]).unwrap_err().to_string();
    assert_eq!(message, "the topics disagree on the number of tokens: 8 against 9");
    let endless = other(NgramModel::train(8, 2, None, [text]).unwrap());
    let message = TopicModel::new(vec![one(), endless]).unwrap_err().to_string();
    assert_eq!(message, "the topics disagree on the token that ends a text: 7 against none");
    let model = TopicModel::new(vec![one()]).unwrap();
    let mut state = model.start();
    assert!(matches!(model.observe(&mut state, 8), Err(NgramError::Token { token: 8, vocabulary: 8 })));
    assert_eq!(state, model.start());
    let error = model.step(&mut state, &[], &mut [0.0; 7]).unwrap_err();
    assert_eq!(error, NgramError::Logits { given: 7, vocabulary: 8 });
}
