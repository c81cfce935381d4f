//! Compares the metrics with slow ones that follow the definitions.

use classifier_training::metrics::{
    Bin, Confusion, Interval, Prior, Scored, bootstrap, brier_score, confusion, expected_calibration_error,
    operating_at, reliability_curve, roc_auc, roc_curve, wilson,
};
use proptest::prelude::*;

/// Few distinct scores, so that there are ties; sometimes many.
fn scores() -> impl Strategy<Value = Vec<Scored>> {
    let coarse = (0_u8..=8, any::<bool>()).prop_map(|(score, harmful)| (f64::from(score) / 8.0, harmful));
    let fine = (0.0_f64..=1.0, any::<bool>());
    let one = prop_oneof![coarse, fine].prop_map(|(score, harmful)| Scored { score, harmful });
    prop::collection::vec(one, 0..60)
}

/// Every pair of a harmful and a harmless text.
fn auc_by_pairs(scores: &[Scored]) -> Option<f64> {
    let (mut pairs, mut won) = (0.0, 0.0);
    for a in scores.iter().filter(|one| one.harmful) {
        for b in scores.iter().filter(|one| !one.harmful) {
            pairs += 1.0;
            won += if a.score > b.score {
                1.0
            } else if a.score == b.score {
                0.5
            } else {
                0.0
            };
        }
    }
    (pairs > 0.0).then(|| won / pairs)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn the_area_is_the_share_of_pairs_in_order(scores in scores()) {
        match (roc_auc(&scores), auc_by_pairs(&scores)) {
            (Some(fast), Some(slow)) => prop_assert!((fast - slow).abs() < 1e-12, "{fast} {slow}"),
            (fast, slow) => prop_assert_eq!(fast, slow),
        }
    }

    #[test]
    fn the_area_is_the_area_under_the_curve(scores in scores()) {
        let curve = roc_curve(&scores);
        prop_assert_eq!((curve[0].false_positive_rate, curve[0].recall), (0.0, 0.0));
        let area: f64 = curve
            .windows(2)
            .map(|pair| {
                (pair[1].false_positive_rate - pair[0].false_positive_rate)
                    * f64::midpoint(pair[0].recall, pair[1].recall)
            })
            .sum();
        if let Some(auc) = roc_auc(&scores) {
            prop_assert!((area - auc).abs() < 1e-9);
            let last = curve.last().unwrap();
            prop_assert_eq!((last.false_positive_rate, last.recall), (1.0, 1.0));
        }
        for point in curve {
            let counted = confusion(&scores, point.threshold);
            prop_assert_eq!(counted.recall(), point.recall);
            prop_assert_eq!(counted.false_positive_rate(), point.false_positive_rate);
        }
    }

    #[test]
    fn turning_the_truth_round_turns_the_area_round(scores in scores()) {
        let turned: Vec<Scored> =
            scores.iter().map(|one| Scored { harmful: !one.harmful, ..*one }).collect();
        if let (Some(one), Some(other)) = (roc_auc(&scores), roc_auc(&turned)) {
            prop_assert!((one + other - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn no_threshold_within_the_rate_catches_more(scores in scores(), rate in 0.0_f64..=1.0) {
        let point = operating_at(&scores, rate);
        prop_assert_eq!(point.confusion, confusion(&scores, point.threshold));
        prop_assert!(point.confusion.false_positive_rate() <= rate);
        for candidate in scores.iter().map(|one| one.score) {
            let other = confusion(&scores, candidate);
            if other.false_positive_rate() <= rate {
                prop_assert!(other.recall() <= point.confusion.recall());
                prop_assert!(candidate >= point.threshold);
            }
            // A rate that is reached exactly is allowed.
            let exact = operating_at(&scores, other.false_positive_rate()).confusion;
            prop_assert!(exact.recall() >= other.recall());
        }
    }

    #[test]
    fn counts_are_those_of_counting(scores in scores(), threshold in 0.0_f64..=1.0) {
        let count = |harmful: bool, flagged: bool| {
            scores.iter().filter(|one| one.harmful == harmful && (one.score >= threshold) == flagged).count()
        };
        let expected = Confusion {
            caught: count(true, true),
            missed: count(true, false),
            wrong: count(false, true),
            passed: count(false, false),
        };
        let counted = confusion(&scores, threshold);
        prop_assert_eq!(counted, expected);
        let (precision, recall) = (counted.precision(), counted.recall());
        if precision + recall > 0.0 {
            prop_assert!((counted.f1() - 2.0 * precision * recall / (precision + recall)).abs() < 1e-12);
        } else {
            prop_assert_eq!(counted.f1(), 0.0);
        }
    }

    #[test]
    fn bins_hold_the_texts_between_their_ends(scores in scores(), bins in 1_usize..12) {
        let curve = reliability_curve(&scores, bins, Prior::Found);
        prop_assert_eq!(curve.iter().map(|bin| bin.count).sum::<usize>(), scores.len());
        let mut expected_error = 0.0;
        for place in 0..bins {
            let (from, to) = (place as f64 / bins as f64, (place + 1) as f64 / bins as f64);
            let last = place + 1 == bins;
            let inside: Vec<&Scored> = scores
                .iter()
                .filter(|one| {
                    let scaled = one.score * bins as f64;
                    scaled >= place as f64 && (scaled < (place + 1) as f64 || last)
                })
                .collect();
            let found: Vec<&Bin> = curve.iter().filter(|bin| bin.from == from && bin.to == to).collect();
            prop_assert_eq!(found.len(), usize::from(!inside.is_empty()));
            if let Some(bin) = found.first() {
                let n = inside.len() as f64;
                let predicted = inside.iter().map(|one| one.score).sum::<f64>() / n;
                let observed = inside.iter().filter(|one| one.harmful).count() as f64 / n;
                prop_assert_eq!(bin.count, inside.len());
                prop_assert!((bin.predicted - predicted).abs() < 1e-12);
                prop_assert!((bin.observed - observed).abs() < 1e-12);
                expected_error += n / scores.len() as f64 * (predicted - observed).abs();
            }
        }
        prop_assert!((expected_calibration_error(&scores, bins, Prior::Found) - expected_error).abs() < 1e-12);
    }

    #[test]
    fn the_brier_score_parts_into_reliability_resolution_and_uncertainty(
        levels in prop::collection::vec((0_u8..=8, any::<bool>()), 1..60),
    ) {
        // Murphy 1973: exact where every bin holds one distinct score. Nine bins hold the nine levels.
        let scores: Vec<Scored> = levels
            .into_iter()
            .map(|(level, harmful)| Scored { score: f64::from(level) / 8.0, harmful })
            .collect();
        let n = scores.len() as f64;
        let base = scores.iter().filter(|one| one.harmful).count() as f64 / n;
        let curve = reliability_curve(&scores, 9, Prior::Found);
        let reliability: f64 = curve.iter().map(|b| b.count as f64 * (b.predicted - b.observed).powi(2)).sum();
        let resolution: f64 = curve.iter().map(|b| b.count as f64 * (b.observed - base).powi(2)).sum();
        let expected = (reliability - resolution) / n + base * (1.0 - base);
        prop_assert!((brier_score(&scores, Prior::Found).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn an_even_prior_is_as_many_of_one_sort_as_of_the_other(scores in scores(), bins in 1_usize..12) {
        // Every harmful text counts as often as there are harmless ones, and the other way round.
        let harmful = scores.iter().filter(|one| one.harmful).count();
        let harmless = scores.len() - harmful;
        prop_assume!(harmful > 0 && harmless > 0);
        let copies = |one: &Scored| std::iter::repeat_n(*one, if one.harmful { harmless } else { harmful });
        let many: Vec<Scored> = scores.iter().flat_map(copies).collect();
        let error = expected_calibration_error(&scores, bins, Prior::Even);
        prop_assert!((error - expected_calibration_error(&many, bins, Prior::Found)).abs() < 1e-9);
        let brier = brier_score(&scores, Prior::Even).unwrap();
        prop_assert!((brier - brier_score(&many, Prior::Found).unwrap()).abs() < 1e-9);
        let (even, found) =
            (reliability_curve(&scores, bins, Prior::Even), reliability_curve(&many, bins, Prior::Found));
        prop_assert_eq!(even.len(), found.len());
        for (one, other) in even.iter().zip(&found) {
            prop_assert!((one.predicted - other.predicted).abs() < 1e-9);
            prop_assert!((one.observed - other.observed).abs() < 1e-9);
        }
    }

    #[test]
    fn wilson_holds_the_rates_that_a_score_test_would_not_refuse(trials in 1_usize..400, part in 0.0_f64..=1.0) {
        // Wilson's interval is the set of p with |rate - p| <= z sqrt(p (1 - p) / n); searched here by halving.
        let successes = (part * trials as f64) as usize;
        let (n, rate) = (trials as f64, successes as f64 / trials as f64);
        let kept = |p: f64| (rate - p).abs() <= 1.959_963_984_540_054 * (p * (1.0 - p) / n).sqrt();
        let border = |mut inside: f64, mut outside: f64| {
            for _ in 0..80 {
                let middle = f64::midpoint(inside, outside);
                if kept(middle) { inside = middle } else { outside = middle }
            }
            inside
        };
        let interval = wilson(successes, trials);
        prop_assert!((interval.low - border(rate, 0.0)).abs() < 1e-9);
        prop_assert!((interval.high - border(rate, 1.0)).abs() < 1e-9);
    }
}

#[test]
fn a_bootstrap_of_a_share_is_close_to_wilson_and_repeats_itself() {
    let scores: Vec<Scored> = (0..1000)
        .map(|number| Scored { score: f64::from(number % 10) / 10.0, harmful: number < 600 })
        .collect();
    let recall = |scores: &[Scored]| Some(confusion(scores, 0.65).recall());
    let drawn = bootstrap(&scores, 2000, 7, recall).unwrap();
    let exact = wilson(180, 600);
    assert!(
        (drawn.low - exact.low).abs() < 0.01 && (drawn.high - exact.high).abs() < 0.01,
        "{drawn:?} {exact:?}"
    );
    assert_eq!(bootstrap(&scores, 2000, 7, recall), Some(drawn));
    assert_ne!(bootstrap(&scores, 2000, 8, recall), Some(drawn));
}

#[test]
fn a_bootstrap_keeps_the_numbers_of_both_sorts() {
    let scores = [Scored::harmful(0.5), Scored::harmless(0.1), Scored::harmless(0.2)];
    let counts = |drawn: &[Scored]| {
        assert_eq!(drawn.iter().filter(|one| one.harmful).count(), 1);
        assert_eq!(drawn.len(), 3);
        Some(1.0)
    };
    assert_eq!(bootstrap(&scores, 50, 1, counts), Some(Interval { low: 1.0, high: 1.0 }));
    assert_eq!(bootstrap(&scores, 50, 1, |_| None), None);
    assert_eq!(bootstrap(&[], 50, 1, roc_auc), None);
}

#[test]
fn undefined_measures_are_none() {
    assert_eq!(roc_auc(&[]), None);
    assert_eq!(roc_auc(&[Scored::harmful(0.3)]), None);
    assert_eq!(roc_auc(&[Scored::harmless(0.3)]), None);
    assert_eq!(brier_score(&[], Prior::Found), None);
    assert_eq!(expected_calibration_error(&[], 10, Prior::Even), 0.0);
    assert!(reliability_curve(&[Scored::harmful(0.3)], 0, Prior::Found).is_empty());
    assert_eq!(operating_at(&[], 0.01).threshold, f64::INFINITY);
    assert_eq!(wilson(0, 0), Interval { low: 0.0, high: 1.0 });
}

#[test]
fn nan_is_flagged() {
    let scores = [Scored::harmful(0.9), Scored::harmless(f64::NAN), Scored::harmless(0.1)];
    assert_eq!(confusion(&scores, 0.5), Confusion { caught: 1, missed: 0, wrong: 1, passed: 1 });
    assert_eq!(roc_auc(&scores), Some(0.5));
    assert_eq!(reliability_curve(&scores, 2, Prior::Found).len(), 2);
}

#[test]
fn wilson_agrees_with_published_values() {
    for (successes, trials, low, high) in
        [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
    {
        let interval = wilson(successes, trials);
        assert!((interval.low - low).abs() < 5e-5 && (interval.high - high).abs() < 5e-5, "{interval:?}");
    }
}
