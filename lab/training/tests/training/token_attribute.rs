//! Compares the fit with closed forms, a grid search, the conditions of an optimum, and planted weights.

use classifier::TokenAttribute;
use classifier_training::token_attribute::{Example, FitError, FitOptions, fit, sharpened};
use proptest::prelude::*;

fn text(tokens: &[u32], kept: f64, weight: f64) -> Example {
    Example { tokens: tokens.to_vec(), kept, weight }
}

fn options(penalty: f64) -> FitOptions {
    FitOptions { penalty, fewest_texts: 1, tolerance: 1e-10, rounds: 20_000, ..FitOptions::new(20) }
}

/// Returns the objective, written out.
fn objective(examples: &[Example], options: &FitOptions, values: &dyn Fn(u32) -> f64) -> f64 {
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    let error = |example: &Example| {
        let target = -example.kept.max(options.floor).ln();
        let sum: f64 = example.tokens.iter().map(|token| values(*token)).sum();
        example.weight / total * (sum - target).powi(2) / 2.0
    };
    examples.iter().map(error).sum::<f64>() + options.penalty * (0..20).map(values).sum::<f64>()
}

#[test]
fn texts_of_one_token_each_have_a_closed_form() {
    let examples = [
        text(&[1], 0.5, 1.0),
        text(&[1], 0.25, 3.0),
        text(&[2, 2], 0.1, 2.0),
        text(&[3], 1.0, 1.0),
        text(&[4], 0.0, 1.0),
    ];
    let penalty = 0.02;
    let fitted = fit(&examples, &options(penalty)).unwrap();
    let t = |p: f64| -p.ln();
    let expected = [
        (1, (t(0.5) / 8.0 + 3.0 * t(0.25) / 8.0 - penalty) / (4.0 / 8.0)),
        (2, (2.0 * 2.0 * t(0.1) / 8.0 - penalty) / (4.0 * 2.0 / 8.0)),
        (3, 0.0),
        (4, (t(0.01) / 8.0 - penalty) / (1.0 / 8.0)),
    ];
    for (token, value) in expected {
        assert!((f64::from(-fitted.attribute.log_weight(token)) - value).abs() < 1e-6, "{token}");
    }
    assert_eq!(fitted.report.weighted, 3);
    assert!(
        (fitted.report.objective
            - objective(&examples, &options(penalty), &|token| {
                expected.iter().find(|(known, _)| *known == token).map_or(0.0, |(_, value)| *value)
            }))
        .abs()
            < 1e-9
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_on_a_grid_is_better(
        texts in proptest::collection::vec((proptest::collection::vec(0_u32..3, 1..5), 0.0_f64..=1.0, 0.1_f64..3.0), 1..6),
        penalty in 0.0_f64..0.5,
    ) {
        let examples: Vec<Example> = texts.iter().map(|(tokens, kept, weight)| text(tokens, *kept, *weight)).collect();
        let options = options(penalty);
        let fitted = fit(&examples, &options).unwrap();
        let best = objective(&examples, &options, &|token| f64::from(-fitted.attribute.log_weight(token)));
        prop_assert!((best - fitted.report.objective).abs() < 1e-6);
        let steps = || (0..=12).map(|step| f64::from(step) * 0.4);
        for a in steps() {
            for b in steps() {
                for c in steps() {
                    let other = objective(&examples, &options, &|token| [a, b, c].get(token as usize).copied().unwrap_or(0.0));
                    prop_assert!(other >= best - 1e-6, "{a} {b} {c}: {other} < {best}");
                }
            }
        }
    }

    #[test]
    fn the_conditions_of_an_optimum_hold(
        texts in proptest::collection::vec((proptest::collection::vec(0_u32..20, 1..12), 0.0_f64..=1.0, 0.1_f64..3.0), 1..40),
        penalty in 1e-4_f64..0.2,
    ) {
        let examples: Vec<Example> = texts.iter().map(|(tokens, kept, weight)| text(tokens, *kept, *weight)).collect();
        let options = options(penalty);
        let fitted = fit(&examples, &options).unwrap();
        let value = |token: u32| f64::from(-fitted.attribute.log_weight(token));
        let at = objective(&examples, &options, &value);
        prop_assert!(fitted.report.violation < 1e-6, "{:?}", fitted.report);
        // The derivative by each token, from both sides where there are two.
        for token in 0..20 {
            let moved = |step: f64| objective(&examples, &options, &|other| value(other) + if other == token { step } else { 0.0 });
            prop_assert!(moved(1e-4) >= at - 1e-7, "{token} up");
            if value(token) > 1e-4 {
                prop_assert!(moved(-1e-4) >= at - 1e-7, "{token} down");
            }
        }
    }

    #[test]
    fn planted_weights_are_found(seed in 0_u64..1000) {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        // Three of twenty tokens speak against the attribute.
        let planted = |token: u32| match token { 3 => 1.5, 7 => 0.4, 11 => 0.9, _ => 0.0 };
        let examples: Vec<Example> = (0..300).map(|_| {
            let tokens: Vec<u32> = (0..6).map(|_| (next() % 20) as u32).collect();
            let sum: f64 = tokens.iter().map(|token| planted(*token)).sum();
            text(&tokens, (-sum).exp(), 1.0)
        }).collect();
        let fitted = fit(&examples, &FitOptions { penalty: 1e-5, floor: 1e-9, ..options(0.0) }).unwrap();
        for token in 0..20 {
            let found = f64::from(-fitted.attribute.log_weight(token));
            prop_assert!((found - planted(token)).abs() < 2e-3, "{token}: {found}");
        }
        prop_assert!(fitted.report.weighted <= 6, "{:?}", fitted.report);
    }
}

#[test]
fn the_same_texts_give_the_same_bytes_and_rare_tokens_none() {
    let examples: Vec<Example> =
        (0..50).map(|n| text(&[n % 7, n % 5, 19], if n % 7 == 3 { 0.0 } else { 1.0 }, 1.0)).collect();
    let bytes = |examples: &[Example]| fit(examples, &options(1e-3)).unwrap().attribute.to_bytes();
    assert_eq!(bytes(&examples), bytes(&examples));
    let rare = [text(&[1, 2], 0.0, 1.0), text(&[1], 0.0, 1.0)];
    let fitted = fit(&rare, &FitOptions { fewest_texts: 2, ..options(0.0) }).unwrap();
    assert_eq!((fitted.attribute.log_weight(2), fitted.report.weighted), (0.0, 1));
}

#[test]
fn invalid_input_is_refused() {
    let one = [text(&[1], 0.5, 1.0)];
    assert_eq!(fit(&[], &options(0.0)), Err(FitError::Empty));
    for wrong in [
        FitOptions { penalty: -1.0, ..options(0.0) },
        FitOptions { penalty: f64::NAN, ..options(0.0) },
        FitOptions { floor: 0.0, ..options(0.0) },
        FitOptions { floor: 1.0, ..options(0.0) },
        FitOptions { tolerance: 0.0, ..options(0.0) },
    ] {
        assert!(matches!(fit(&one, &wrong), Err(FitError::Option { .. })), "{wrong:?}");
    }
    for (kept, weight) in [(-0.1, 1.0), (1.1, 1.0), (f64::NAN, 1.0), (0.5, 0.0), (0.5, f64::INFINITY)] {
        assert!(matches!(
            fit(&[text(&[1], kept, weight)], &options(0.0)),
            Err(FitError::Example { text: 0, .. })
        ));
    }
    assert!(matches!(fit(&[text(&[20], 0.5, 1.0)], &options(0.0)), Err(FitError::Attribute(_))));
}

#[test]
fn sharpening_is_as_in_the_published_code() {
    // σ(10 (logit .95 − 3)) = σ(10 (2.944 439 − 3)) = σ(−0.555 610)
    assert!((sharpened(0.95, 10.0, 3.0) - 0.364_563).abs() < 1e-5);
    assert!((sharpened(0.5, 1.0, 0.0) - 0.5).abs() < 1e-12);
    assert!(sharpened(0.0, 10.0, 3.0) < 1e-100 && sharpened(1.0, 10.0, 3.0) > 0.999);
}
