//! The guarantee of conformal thresholds.

use classifier_training::by_page::threshold;
use classifier_training::metrics::conformal_threshold;
use proptest::prelude::*;

proptest! {
    /// Of any `n + 1` scores, each in turn taken as the new page's and the others as the calibration pages', at most a
    /// share of `alpha` exceeds the threshold. If the pages are exchangeable, each is equally likely to be the new one, so
    /// this is the guarantee, ties included.
    #[test]
    fn at_most_the_rate_of_exchangeable_pages_exceeds_the_threshold(
        scores in prop::collection::vec(prop_oneof![0.0..1.0_f64, Just(0.5), Just(1.0)], 2..120),
        alpha in 0.001..0.999_f64,
    ) {
        let exceeding = (0..scores.len())
            .filter(|new| {
                let mut others = scores.clone();
                let score = others.remove(*new);
                conformal_threshold(&others, alpha).is_some_and(|bound| score > bound)
            })
            .count();
        prop_assert!(exceeding as f64 <= alpha * scores.len() as f64 + 1e-6, "{exceeding} of {}", scores.len());
    }

    /// A page is flagged at or above the stored threshold exactly if it exceeds the bound, unless its risk is 1.
    #[test]
    fn the_stored_threshold_is_just_above_the_bound(
        risks in prop::collection::vec(0.0..1.0_f64, 1..60),
        risk in 0.0..1.0_f64,
        rate in 0.01..0.9_f64,
    ) {
        let flagged = risk >= threshold(&risks, rate);
        let exceeds = conformal_threshold(&risks, rate).is_some_and(|bound| risk > bound);
        prop_assert_eq!(flagged, exceeds);
    }
}

#[test]
fn the_threshold_is_the_order_statistic_with_the_finite_sample_correction() {
    let scores: Vec<f64> = (1..=99).map(f64::from).collect();
    // ceil(100 * 0.99) = 99, and ceil(100 * 0.95) = 95.
    assert_eq!(conformal_threshold(&scores, 0.01), Some(99.0));
    assert_eq!(conformal_threshold(&scores, 0.05), Some(95.0));
    // 99 pages are too few for one in 200: ceil(100 * 0.995) = 100.
    assert_eq!(conformal_threshold(&scores, 0.005), None);
    assert_eq!(conformal_threshold(&[], 0.5), None);
}
