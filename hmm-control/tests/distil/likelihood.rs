//! Expectation-maximisation never makes the training texts less likely.

use crate::common::{parameters, rng, sequences, some, texts};
use hmm_control::distil::{MISSING, Options, Rules, Schedule, Sequences, Successors, Trainer, maximise};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_full_batch_never_lowers_it(
        seed in any::<u64>(), states in 1_usize..=5, lanes in 1_usize..=5, texts in texts(6, 9, 12),
    ) {
        let all = sequences(&texts);
        // Of what is missing alone nothing is learnt, which is an error of its own.
        prop_assume!(all.tokens().iter().any(|token| *token != MISSING));
        let schedule = Schedule::full_batch(15).unwrap();
        let options = Options { pseudocount: 0.0, lanes: some(lanes), ..Options::new(schedule) };
        let none = Sequences::new();
        let model = parameters(states, 6, false, &mut rng(seed));
        let mut trainer = Trainer::new(model, &all, &none, options).unwrap();
        let mut before = f64::NEG_INFINITY;
        while let Some(report) = trainer.step().unwrap() {
            prop_assert!(report.train.is_nan() || report.train >= before - 1e-9, "{} after {before}", report.train);
            before = before.max(report.train);
        }
    }

    /// Nor does it under a mask and with the end token's state, once the model keeps to them.
    #[test]
    fn nor_does_it_under_rules(seed in any::<u64>(), kept in 1_usize..=4, texts in texts(5, 8, 12)) {
        // Token 5 ends every text.
        let texts: Vec<Vec<u32>> = texts.into_iter().map(|mut text| { text.push(5); text }).collect();
        let all = sequences(&texts);
        let model = parameters(5, 6, false, &mut rng(seed));
        let successors = Successors::largest(&model.transition, kept);
        let rules = Rules { pseudocount: 0.0, end: Some(5), successors: Some(successors) };
        let expectation = hmm_control::distil::Expectation::default();
        let step = |model: &_, rules: &Rules| {
            let counts = expectation.statistics(model, &all, 0..all.len()).unwrap();
            (counts.log_likelihood(), maximise(&counts, model, rules).unwrap())
        };
        // The first step, with pseudocounts, makes everything possible that the rules allow.
        let (_, mut model) = step(&model, &Rules { pseudocount: 0.1, ..rules.clone() });
        let mut before = f64::NEG_INFINITY;
        for _ in 0..10 {
            let (log_likelihood, next) = step(&model, &rules);
            prop_assert!(log_likelihood >= before - 1e-8, "{log_likelihood} after {before}");
            before = log_likelihood;
            model = next;
        }
        for state in 0..4 {
            prop_assert!(model.transition.row(state).iter().filter(|value| **value > 0.0).count() <= kept);
            prop_assert_eq!(model.emission[[5, state]], 0.0);
        }
        prop_assert_eq!(model.transition.row(4).to_vec(), vec![0.0, 0.0, 0.0, 0.0, 1.0]);
        prop_assert_eq!(model.emission.column(4).to_vec(), vec![0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }
}
