//! Which parts of a window its judgement rests on.

use super::LinearClassifier;
use super::sums::Sums;
use crate::{Reason, Window};

/// How many reasons are given.
const REASONS: usize = 4;
/// How many tokens a reason spans.
const TOKENS: usize = 4;

impl LinearClassifier {
    /// The runs of a few words that add most to the log odds, heaviest first, none over another.
    pub(super) fn explain(&self, window: &Window<'_>) -> Vec<Reason> {
        let sums = Sums::new(self, window.text);
        let tokens = sums.tokens();
        let (_, count) = sums.run(0..tokens.len());
        let mut runs: Vec<(i64, usize, usize)> = (0..tokens.len())
            .map(|start| {
                let end = (start + TOKENS).min(tokens.len());
                (sums.run(start..end).0, start, end)
            })
            .filter(|(sum, _, _)| *sum > 0)
            .collect();
        runs.sort_by_key(|(sum, start, _)| (std::cmp::Reverse(*sum), *start));
        let mut chosen: Vec<(i64, usize, usize)> = Vec::new();
        for run in runs {
            if chosen.len() == REASONS {
                break;
            }
            if chosen.iter().all(|(_, start, end)| run.2 <= *start || *end <= run.1) {
                chosen.push(run);
            }
        }
        let reason = |(sum, start, end): (i64, usize, usize)| {
            let (first, last) = (tokens.get(start)?, tokens.get(end.checked_sub(1)?)?);
            let weight = self.evidence(sum, count) as f32;
            Some(Reason { span: first.span().start..last.span().end, weight })
        };
        chosen.into_iter().filter_map(reason).collect()
    }
}
