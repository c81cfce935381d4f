//! The pictures of a model.

use super::plot::{BLUE, GREY, ORANGE, Plot};
use crate::judging::BINS;
use crate::metrics::{Prior, Scored, confusion, reliability_curve, roc_auc, roc_curve};

/// Bars of the picture of scores.
const BARS: usize = 20;

/// The ROC curve, with the place of a threshold on it, as SVG.
pub fn roc_picture(name: &str, scores: &[Scored], threshold: f64) -> String {
    let area = roc_auc(scores).map_or("-".to_owned(), |area| format!("{area:.3}"));
    let mut plot = Plot::new(
        &format!("{name}: ROC, area {area}"),
        "share of harmless texts flagged",
        "share of harmful texts flagged",
    );
    let points: Vec<(f64, f64)> =
        roc_curve(scores).iter().map(|point| (point.false_positive_rate, point.recall)).collect();
    plot.line(GREY, true, &[(0.0, 0.0), (1.0, 1.0)]);
    plot.line(BLUE, false, &points);
    let counted = confusion(scores, threshold);
    plot.dot(ORANGE, (counted.false_positive_rate(), counted.recall()), 5.0);
    plot.legend(&[(BLUE, "model"), (ORANGE, "its threshold for 1 %"), (GREY, "chance")]);
    plot.finish()
}

/// The reliability curve with an even prior, as SVG; a dot's area is the weight of its texts.
pub fn reliability_picture(name: &str, scores: &[Scored]) -> String {
    let mut plot = Plot::new(
        &format!("{name}: reliability, even prior"),
        "risk that the model gave",
        "share that is harmful",
    );
    let curve = reliability_curve(scores, BINS, Prior::Even);
    plot.line(GREY, true, &[(0.0, 0.0), (1.0, 1.0)]);
    let points: Vec<(f64, f64)> = curve.iter().map(|bin| (bin.predicted, bin.observed)).collect();
    plot.line(BLUE, false, &points);
    for bin in &curve {
        let radius = 2.0 + 14.0 * (bin.weight / scores.len().max(1) as f64).sqrt();
        plot.dot(BLUE, (bin.predicted, bin.observed), radius);
    }
    plot.legend(&[(BLUE, "model"), (GREY, "as it should be")]);
    plot.finish()
}

/// How the scores of both sorts are spread, each sort by itself, as SVG.
pub fn score_picture(name: &str, scores: &[Scored]) -> String {
    let mut plot = Plot::new(&format!("{name}: risks"), "risk that the model gave", "share of the sort");
    let width = 1.0 / BARS as f64;
    for (colour, harmful, shift) in [(BLUE, false, 0.0), (ORANGE, true, width / 2.0)] {
        let sort: Vec<Scored> = scores.iter().filter(|one| one.harmful == harmful).copied().collect();
        for bin in reliability_curve(&sort, BARS, Prior::Found) {
            let from = bin.from + shift;
            plot.bar(colour, from, from + width / 2.0, bin.count as f64 / sort.len().max(1) as f64);
        }
    }
    plot.legend(&[(BLUE, "harmless"), (ORANGE, "harmful")]);
    plot.finish()
}
