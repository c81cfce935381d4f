//! Judges whole pages: the risk of a page is that of its worst stretch, and thresholds bound the share of honest pages.

use classifier::{Unfolded, WindowClassifier, WindowPlace, highest_risk};

use crate::CorpusPart;
use crate::corpora::PageText;
use crate::corpora::honest::HonestPage;
use crate::metrics::conformal_threshold;

/// The least words of a name that a model judges; a shorter one is harm only as a canonical override. The guard uses the
/// same number (`page_text/running_text.rs`).
pub const NAME_WORDS: usize = 5;

/// The shares of honest pages for which a model stores thresholds.
pub const PAGE_RATES: [f64; 5] = [0.05, 0.02, 0.01, 0.005, 0.002];

/// The share of honest pages at whose threshold text is withheld.
pub const QUARANTINE_RATE: f64 = 0.005;

/// Returns the risk of a page: the highest of its running text and of its names, one by one.
pub fn page_risk(judge: &dyn WindowClassifier, page: &PageText) -> f64 {
    let worst = |text: &str| highest_risk(&Unfolded::new(text), WindowPlace::Shown, judge).value();
    let names = page.names.iter().filter(|name| name.split_whitespace().count() >= NAME_WORDS);
    names.map(|name| worst(name)).fold(worst(&page.running), f64::max)
}

/// Returns the threshold of a rate from the risks of calibration pages: the least risk above the conformal bound, so that
/// a page is flagged at or above it; 1 where the pages are too few for the rate.
pub fn threshold(risks: &[f64], rate: f64) -> f64 {
    conformal_threshold(risks, rate).map_or(1.0, |bound| bound.next_up().min(1.0))
}

/// Returns the risks of the pages of a part.
pub fn risks(judge: &dyn WindowClassifier, pages: &[HonestPage], part: CorpusPart) -> Vec<f64> {
    pages.iter().filter(|page| page.part == part).map(|page| page_risk(judge, &page.text)).collect()
}
