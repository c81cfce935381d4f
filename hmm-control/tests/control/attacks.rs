//! What a review found, kept as tests.

use hmm_control::distil::{Options, Parameters, Schedule, Sequences, Statistics, Trainer};
use hmm_control::{
    Attribute, Belief, ClausePolicy, Hmm, Lookahead, Next, RateMeter, Scorer, Storage, StreamGate,
};
use ndarray::{Array2, array};

struct NoBad;

impl Scorer for NoBad {
    fn score(&mut self, text: &str) -> f64 {
        if text.ends_with("bad thing.") { 0.0 } else { 1.0 }
    }
}

/// A harmless clause before each rewrite does not buy another one for ever.
#[test]
fn a_model_that_apologises_before_each_rewrite_is_stopped() {
    let policy = ClausePolicy::new(0.5, "nothing bad");
    let most = policy.rewinds_in_all;
    let mut gate = StreamGate::new(policy, NoBad, 0);
    for rewrites in 0..=most {
        match gate.push(b"Sorry for that. bad thing. ").next {
            Next::Rewrite(_) => gate.resume(),
            Next::Stop { notice } => {
                assert_eq!(rewrites, most);
                assert!(notice.contains("nothing bad") && !notice.contains("bad thing"));
                return;
            }
            Next::Continue => panic!("a bad clause passed"),
        }
    }
    panic!("{most} rewrites and no end");
}

#[test]
fn a_list_of_words_takes_one_state() {
    let words: Vec<(Vec<u32>, f64)> = (0..1000).map(|word| (vec![word], f64::NEG_INFINITY)).collect();
    assert_eq!(Attribute::from_phrases(2000, &words).unwrap().states(), 1);
    let words = [(vec![1], -1.0), (vec![1, 2], -2.0), (vec![2, 1, 2], -4.0)];
    let attribute = Attribute::from_phrases(3, &words).unwrap();
    assert_eq!(attribute.states(), 4);
    assert_eq!(attribute.log_weight(&[2, 1, 2]), -7.0);
}

#[test]
fn a_forbidden_end_stays_forbidden_and_a_wanted_one_counts() {
    let banned = Attribute::from_weights(3, [(2, f64::NEG_INFINITY)]).unwrap().ended_by(2).unwrap();
    assert_eq!(banned.log_weight(&[0, 2]), f64::NEG_INFINITY);
    let wanted = Attribute::requiring(3, &[1, 2]).unwrap().ended_by(2).unwrap();
    assert_eq!(wanted.log_weight(&[1, 2, 0]), 0.0);
}

#[test]
fn what_only_a_forbidden_token_leads_to_is_no_state() {
    let long = Attribute::from_grammar(2, 0, |at: &u32| vec![(0, (at + 1) % 50)], |at| *at == 0).unwrap();
    let phrases = Attribute::from_phrases(2, &[(vec![1, 1, 1, 1], -1.0)]).unwrap();
    assert_eq!(long.and(&phrases).unwrap().states(), 50);
}

#[test]
fn a_pattern_without_end_is_refused_before_it_fills_the_memory() {
    assert!(Attribute::from_pattern(&["1"], "(?:[0-9]{1000}){1000}", -1.0).is_err());
}

/// A belief that is replaced in the middle of a clause (the context-aware prior) counts the clause's tokens as before.
#[test]
fn a_new_belief_leaves_the_rate_as_it_was() {
    let (transition, emission) = (array![[0.9, 0.1], [0.2, 0.8]], array![[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]);
    let hmm = Hmm::new(&[0.5, 0.5], transition.view(), emission.view(), Storage::F64).unwrap();
    let attribute = Attribute::from_weights(3, [(2, -1.0)]).unwrap();
    let lookahead = Lookahead::new(hmm.clone(), attribute).unwrap();
    let meter = RateMeter::new(lookahead.clone(), 4);
    let since = lookahead.start();
    let mut now = since.clone();
    [0, 2, 2, 1, 2].iter().for_each(|token| lookahead.observe(&mut now, *token));
    let before = meter.of_clause(&since, -1.0, &now);
    now.belief = Belief::from_prior(&hmm, now.belief.predicted().to_vec()).unwrap();
    assert!((meter.of_clause(&since, -1.0, &now) - before).abs() < 1e-12);
}

#[test]
fn parameters_that_are_none_are_refused() {
    let texts = Sequences::from_iter([[0].as_slice()]);
    let options = || Options::new(Schedule::full_batch(1).unwrap());
    let nothing = Parameters {
        initial: vec![],
        transition: Array2::<f32>::zeros((0, 0)),
        emission: Array2::zeros((1, 0)),
    };
    assert!(Trainer::new(nothing.clone(), &texts, &texts, options()).is_err());
    assert!(hmm_control::distil::Expectation::default().statistics(&nothing, &texts, 0..1).is_err());
    let crooked = Parameters { initial: vec![1.0], transition: Array2::zeros((2, 1)), ..nothing };
    assert!(Trainer::new(crooked, &texts, &texts, options()).is_err());
}

/// A token of a probability that has no inverse in 32 bits is impossible, and nothing else is lost with it.
#[test]
fn a_hardly_possible_token_spoils_no_counts() {
    let parameters = Parameters {
        initial: vec![1.0, 1e-20],
        transition: array![[0.5_f32, 0.5], [0.5, 0.5]],
        emission: array![[1.0_f32, 1.0], [0.0, 1e-20]],
    };
    let texts = Sequences::from_iter([[1, 0, 0].as_slice(), &[0, 0]]);
    let expectation = hmm_control::distil::Expectation::default();
    let counts = expectation.statistics(&parameters, &texts, 0..2).unwrap();
    assert_eq!(counts.impossible(), 1);
    let moves: f64 = (0..4).map(|pair| counts.transition(pair / 2, pair % 2)).sum();
    assert!((moves - 3.0).abs() < 1e-6, "{moves}");
}

#[test]
fn a_missing_shard_is_noticed() {
    let texts = Sequences::from_iter([[0, 1].as_slice(), &[1, 0], &[0, 0]]);
    let nothing = Sequences::new();
    let first =
        Parameters { initial: vec![1.0], transition: array![[1.0_f64]], emission: array![[0.5], [0.5]] };
    let mut trainer =
        Trainer::new(first, &texts, &nothing, Options::new(Schedule::full_batch(2).unwrap())).unwrap();
    let part = trainer.expectation().statistics(trainer.parameters(), &texts, 0..2).unwrap();
    assert!(trainer.apply(&part).is_err());
    let mut whole = part.clone();
    whole.merge(&trainer.expectation().statistics(trainer.parameters(), &texts, 2..3).unwrap()).unwrap();
    assert!(trainer.apply(&whole).is_ok());
    assert!(Statistics::from_bytes(&whole.to_bytes().unwrap()).is_ok());
}
