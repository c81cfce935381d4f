//! The receiver operating characteristics of the scores that separate hostile from benign pages.

use portcullis::policy::Policy;
use portcullis::sirl::Tier;
use portcullis::{APPROACH_A_POLICY, APPROACH_C_POLICY};

use super::line::TrialLine;
use crate::report::Approach;
use crate::report::plot::{Plot, colour};

/// A receiver operating characteristic: for every threshold, the share of benign and of hostile pages at or above it.
#[derive(Debug, Clone, PartialEq)]
struct Roc {
    points: Vec<(f64, f64)>,
    /// The area under the curve: the probability that a hostile page's score is higher than a benign one's, with ties
    /// counted half.
    area: f64,
}

/// The share of `values` at or above `cut`.
fn share(values: &[f64], cut: f64) -> f64 {
    values.iter().filter(|value| **value >= cut).count() as f64 / values.len().max(1) as f64
}

/// The curve of scores that are high for hostile pages; `None` if one half is empty.
fn roc(hostile: &[f64], benign: &[f64]) -> Option<Roc> {
    if hostile.is_empty() || benign.is_empty() {
        return None;
    }
    let mut cuts: Vec<f64> = hostile.iter().chain(benign).copied().collect();
    cuts.sort_by(|one, other| other.total_cmp(one));
    cuts.dedup();
    let at = |cut: &f64| (share(benign, *cut), share(hostile, *cut));
    let points: Vec<(f64, f64)> = [(0.0, 0.0)].into_iter().chain(cuts.iter().map(at)).collect();
    let trapezoid = |pair: &[(f64, f64)]| match pair {
        [(x0, y0), (x1, y1)] => (x1 - x0) * (y0 + y1) / 2.0,
        _ => 0.0,
    };
    let area = points.windows(2).map(trapezoid).sum();
    Some(Roc { points, area })
}

/// One score of the trials of an approach, hostile and benign.
fn scores(lines: &[TrialLine], approach: Approach, score: fn(&TrialLine) -> Option<f64>) -> [Vec<f64>; 2] {
    [true, false].map(|hostile| {
        let own = lines.iter().filter(|line| line.key.approach == approach && line.key.hostile == hostile);
        own.filter_map(score).collect()
    })
}

/// The report's section.
pub(super) fn section(lines: &[TrialLine]) -> String {
    let plots = [risks(lines), safeties(lines)].concat();
    if plots.is_empty() {
        return String::new();
    }
    format!(
        "<h2>Scores</h2><p>A trial counts by its worst page. Trials of one template are alike, so the steps of a \
         curve are fewer than its trials.</p><div class=\"two\">{plots}</div>"
    )
}

fn empty(title: &str) -> Plot {
    let mut plot =
        Plot::new(title, "benign pages taken for hostile", "hostile pages found", (0.0, 1.0), (0.0, 1.0));
    plot.curve(&[(0.0, 0.0), (1.0, 1.0)], "#bbb", true);
    plot
}

/// The shipped classifier's highest risk on the pages that the bare agent read.
fn risks(lines: &[TrialLine]) -> String {
    let [hostile, benign] = scores(lines, Approach::None, |line| line.risk);
    let Some(roc) = roc(&hostile, &benign) else { return String::new() };
    let mut plot = empty(&format!("Risk of injection, without a guard: area {:.3}", roc.area));
    plot.curve(&roc.points, colour(Approach::None), false);
    plot.finish()
}

/// The guard's own `Safety`, with the thresholds of the shipped policies.
fn safeties(lines: &[TrialLine]) -> String {
    let policies = [(Approach::A, APPROACH_A_POLICY), (Approach::C, APPROACH_C_POLICY)];
    let plots = policies.map(|(approach, policy)| {
        // The score is negated, so that hostile pages score high as in the other plot.
        let [hostile, benign] = scores(lines, approach, |line| line.safety.map(|safety| 1.0 - safety));
        let Some(roc) = roc(&hostile, &benign) else { return String::new() };
        let mut plot = empty(&format!("Safety under {}: area {:.3}", approach.as_str(), roc.area));
        plot.curve(&roc.points, colour(approach), false);
        for (tier, threshold) in thresholds(policy) {
            // A safety below the threshold is asked about; a safety at the threshold is not.
            let below = |values: &[f64]| {
                values.iter().filter(|value| 1.0 - **value < threshold).count() as f64 / values.len() as f64
            };
            let (x, y) = (below(&benign), below(&hostile));
            let name = format!("{} {threshold:.2}", tier.as_str());
            plot.point((x, x, x), (y, y, y), true, colour(approach), &name);
        }
        plot.finish()
    });
    plots.concat()
}

/// The thresholds of a policy's tiers.
fn thresholds(policy: &str) -> Vec<(Tier, f64)> {
    let thresholds = Policy::parse(policy).ok().and_then(|policy| policy.thresholds());
    thresholds.map_or_else(Vec::new, |all| [Tier::T1, Tier::T2].map(|tier| (tier, all.of(tier))).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::compare::plan::TrialKey;
    use crate::suite::kind::ScenarioKind;
    use crate::trials::judge::Judgement;
    use proptest::prelude::*;

    #[test]
    fn the_area_is_one_for_separated_scores_and_a_half_for_useless_ones() {
        assert_eq!(roc(&[0.9, 0.8], &[0.1, 0.2]).unwrap().area, 1.0);
        assert_eq!(roc(&[0.1], &[0.9]).unwrap().area, 0.0);
        assert_eq!(roc(&[0.5; 4], &[0.5; 3]).unwrap().area, 0.5);
        assert_eq!(roc(&[], &[0.5]), None);
    }

    #[test]
    fn a_threshold_is_plotted_at_its_share_of_denials() {
        let line = |hostile: bool, seed: u64, safety: f64| {
            let key = TrialKey {
                seed,
                kind: ScenarioKind::Review,
                hostile,
                approach: Approach::A,
                agent: "x".to_owned(),
            };
            TrialLine { safety: Some(safety), ..TrialLine::judged(&key, &Judgement::default()) }
        };
        let lines = [line(true, 1, 0.0), line(true, 2, 1.0), line(false, 1, 1.0)];
        let html = section(&lines);
        assert!(html.contains("Safety under A: area 0.750"), "{html}");
        assert!(
            !html.contains("under C") && !html.contains("without a guard"),
            "nothing of what was not run"
        );
        for (tier, threshold) in thresholds(APPROACH_A_POLICY) {
            assert!(html.contains(&format!("{} {threshold:.2}", tier.as_str())), "{html}");
        }
        assert_eq!(thresholds(APPROACH_A_POLICY).len(), 2);
        assert_eq!(section(&[]), "");
    }

    proptest! {
        #[test]
        fn the_area_is_the_share_of_pairs_in_the_right_order(
            hostile in proptest::collection::vec(0u8..6, 1..12), benign in proptest::collection::vec(0u8..6, 1..12)
        ) {
            let values = |scores: &[u8]| scores.iter().map(|score| f64::from(*score)).collect::<Vec<_>>();
            let (hostile, benign) = (values(&hostile), values(&benign));
            let mut right = 0.0;
            for one in &hostile {
                for other in &benign {
                    right += if one > other { 1.0 } else if one == other { 0.5 } else { 0.0 };
                }
            }
            let pairs = (hostile.len() * benign.len()) as f64;
            prop_assert!((roc(&hostile, &benign).unwrap().area - right / pairs).abs() < 1e-12);
        }
    }
}
