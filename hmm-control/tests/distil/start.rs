//! First parameters.

use crate::common::{known, rng, some};
use hmm_control::distil::start::{
    Clustering, KMeans, contexts, from_clusters, from_contexts, from_features, random,
};
use hmm_control::distil::{Expectation, Parameters, Rules, Sequences};
use ndarray::Array2;
use rand::RngExt;

fn clustering(states: usize, vocabulary: usize, end: Option<u32>) -> Clustering {
    let rules = Rules { pseudocount: 0.01, end, successors: None };
    Clustering { states, vocabulary, search: KMeans::default(), rules }
}

fn blobs(clusters: usize, each: usize) -> (Array2<f32>, Vec<usize>) {
    let mut rng = rng(5);
    let of: Vec<usize> = (0..clusters * each).map(|point| point % clusters).collect();
    let points = Array2::from_shape_fn((of.len(), 6), |(point, column)| {
        (of[point] * 7 + column * of[point]) as f32 + rng.random::<f32>()
    });
    (points, of)
}

#[test]
fn clusters_that_lie_apart_are_found() {
    let (points, truth) = blobs(6, 400);
    let search = KMeans { sample: 50, ..KMeans::default() };
    let found = search.run(points.view(), 6, &mut rng(1));
    for (a, b) in (0..truth.len()).zip(1..truth.len()) {
        assert_eq!(found.of[a] == found.of[b], truth[a] == truth[b]);
    }
    let threads = KMeans { threads: some(3), ..search };
    assert_eq!(threads.run(points.view(), 6, &mut rng(1)), found);
}

#[test]
fn fewer_points_than_clusters_is_no_trouble() {
    let (points, _) = blobs(2, 1);
    let found = KMeans::default().run(points.view(), 5, &mut rng(1));
    assert_ne!(found.of[0], found.of[1]);
    let none = KMeans::default().run(Array2::zeros((0, 3)).view(), 2, &mut rng(1));
    assert!(none.of.is_empty());
}

/// Tokens of one state of the known model have near contexts, tokens of different states do not.
#[test]
fn contexts_tell_states_apart() {
    let (_, texts) = known(4, 12, 2000, 9);
    let vectors = contexts(&texts, 12, 16, &mut rng(2));
    assert_eq!(vectors.dim(), (texts.tokens().len(), 64));
    // The first 32 numbers are the token's own.
    let own = |token: u32| {
        let place = texts.tokens().iter().position(|other| *other == token).unwrap();
        vectors.row(place).slice(ndarray::s![..32]).to_owned()
    };
    let distance = |a: u32, b: u32| (&own(a) - &own(b)).mapv(|value| value * value).sum();
    for token in 0..4 {
        assert!(distance(token, token + 4) * 4.0 < distance(token, (token + 1) % 4));
    }
}

#[test]
fn clusters_are_counted_into_parameters() {
    let texts = Sequences::from_iter([[0, 1, 2].as_slice(), &[1, 1, 2], &[]]);
    let exact = Clustering { rules: Rules { end: Some(2), ..Rules::default() }, ..clustering(3, 3, None) };
    let found: Parameters<f64> = from_clusters(&texts, &[0, 1, 0, 0, 1, 0], &exact).unwrap();
    assert_eq!(found.initial, [1.0, 0.0, 0.0]);
    assert_eq!(found.transition, ndarray::array![[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]);
    assert_eq!(found.emission, ndarray::array![[0.5, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let error = from_clusters::<f64>(&texts, &[0; 5], &exact).unwrap_err();
    assert_eq!(error.to_string(), "the list of clusters is for 5 places, the model has 6");
    assert!(from_clusters::<f64>(&texts, &[3; 6], &exact).is_err());
}

/// A start from contexts is worth more than one from chance, and features that name the state more still.
#[test]
fn a_better_start_is_more_likely() {
    let (_, texts) = known(4, 24, 800, 13);
    let score = |model: &Parameters<f32>| {
        Expectation::default().likelihood(model, &texts, 0..texts.len()).unwrap().per_token()
    };
    let chance = score(&random(&texts, 4, 24, None, &mut rng(1)).unwrap());
    let contexts = score(&from_contexts(&texts, &clustering(4, 24, None), &mut rng(1)).unwrap());
    assert!(contexts > chance + 0.3, "{contexts} against {chance}");
    let features = Array2::from_shape_fn((texts.tokens().len(), 4), |(place, column)| {
        f32::from(u8::from(texts.tokens()[place] as usize % 4 == column))
    });
    let named =
        score(&from_features(&texts, features.view(), &clustering(4, 24, None), &mut rng(1)).unwrap());
    assert!(named > chance + 0.3, "{named} against {chance}");
}

/// Words are as frequent as in real texts: a few make most of them, and thousands come once or twice. Clusters that
/// rare words had to themselves would tell half as much.
#[test]
fn a_start_by_contexts_holds_with_words_as_rare_as_real_ones() {
    let (classes, words, mut rng) = (8_u32, 500, rng(31));
    let mut texts = Sequences::new();
    for _ in 0..1500 {
        let mut class = rng.random_range(0..classes);
        let text: Vec<u32> = (0..20)
            .map(|_| {
                class =
                    if rng.random_bool(0.8) { (class + 1) % classes } else { rng.random_range(0..classes) };
                // Zipf's law, by its inverse distribution function.
                let word = (f64::from(words).powf(rng.random::<f64>()) as u32 - 1).min(words - 1);
                class * words + word
            })
            .collect();
        texts.push(&text);
    }
    let vocabulary = (classes * words) as usize;
    let start = from_contexts::<f32>(&texts, &clustering(32, vocabulary, None), &mut rng).unwrap();
    let score = |model: &Parameters<f32>| {
        Expectation::default().likelihood(model, &texts, 0..texts.len()).unwrap().per_token()
    };
    let chance = score(&random(&texts, 32, vocabulary, None, &mut rng).unwrap());
    assert!(score(&start) > chance + 0.1, "{} against {chance}", score(&start));
}

#[test]
fn every_start_keeps_to_the_end_token() {
    let mut texts = Sequences::new();
    let (_, known) = known(3, 9, 50, 2);
    for text in known.iter() {
        texts.push(&[text, &[9]].concat());
    }
    let clustering = clustering(4, 10, Some(9));
    for model in [
        random::<f32>(&texts, 4, 10, Some(9), &mut rng(3)).unwrap(),
        from_contexts::<f32>(&texts, &clustering, &mut rng(3)).unwrap(),
    ] {
        assert_eq!(model.transition.row(3).to_vec(), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(model.emission.row(9).to_vec(), [0.0, 0.0, 0.0, 1.0]);
        assert!(model.emission.column(0).sum() > 0.999);
        assert!(Expectation::default().likelihood(&model, &texts, 0..50).unwrap().log.is_finite());
    }
    // All three other states are in use: the end token takes no cluster from them.
    let model = from_contexts::<f32>(&texts, &clustering, &mut rng(3)).unwrap();
    for state in 0..3 {
        assert!(model.emission.column(state).iter().any(|value| *value > 0.2), "state {state} is empty");
    }
}
