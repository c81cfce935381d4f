//! Thresholds with a guarantee: split-conformal bounds (Vovk, Gammerman, Shafer 2005, chapter 4).

/// Returns the threshold that a page's score may not exceed: the `k`-th smallest of the `n` scores of calibration
/// pages, with `k = ceil((n + 1)(1 - alpha))`, or none where `k` is greater than `n`, so that `n` pages are too few for
/// the rate.
///
/// If the next page is exchangeable with the calibration pages, its score exceeds the threshold with a probability of
/// at most `alpha`, over the draw of all `n + 1` pages, whatever the distribution of scores is.
pub fn conformal_threshold(scores: &[f64], alpha: f64) -> Option<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    // A rounding error of the product must not raise an exact number to the next one.
    let k = ((sorted.len() + 1) as f64 * (1.0 - alpha) - 1e-9).ceil().max(1.0) as usize;
    sorted.get(k - 1).copied()
}
