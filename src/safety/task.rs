//! The scores of one task: the lowest of anything that the agent was told decides, and those of single pages are for
//! warnings.

use std::collections::BTreeMap;

use browser_signals::{Fact, Origin};
use classifier::Safety;
use policy_dfa::{SafetyBand, Thresholds};
use sirl::Tier;

use crate::consent::suspicion::{Concern, Suspicion};

/// The most pages that a question names, least safe first.
const MAX_NAMED: usize = 3;

/// The scores of a task.
///
/// The agent remembers what it was told, so the lowest score counts for every release of the task, whatever origin it
/// came from, and it never rises. A new task begins with new scores. Text that the agent was not told does not count.
#[derive(Debug, Default)]
pub(crate) struct TaskSafety {
    /// The lowest score of anything that the agent was told; full while it was told nothing and a page was judged.
    lowest: Option<Safety>,
    /// Whether the agent was told something that nobody judged. Its score is then unknown for the rest of the task.
    has_unjudged: bool,
    /// The lowest score of what was told from each origin; the entry without one is for text that is from no page.
    told: BTreeMap<Option<Origin>, Safety>,
    /// The last score of each page that was judged before a request. The agent may not have been told of it.
    judged: BTreeMap<Origin, Safety>,
}

impl TaskSafety {
    /// Records the score of something that the agent was told; none where nobody judged it.
    pub(crate) fn told(&mut self, page: Option<&Origin>, safety: Option<Safety>) {
        let Some(safety) = safety else {
            self.has_unjudged = true;
            return;
        };
        lower(self.lowest.get_or_insert(safety), safety);
        lower(self.told.entry(page.cloned()).or_insert(safety), safety);
    }

    /// Records the score of a page that was judged and not told. It is for warnings, and lowers nothing.
    pub(crate) fn judged(&mut self, page: &Origin, safety: Option<Safety>) {
        if let Some(safety) = safety {
            self.lowest.get_or_insert(Safety::FULL);
            self.judged.insert(page.clone(), safety);
        }
    }

    /// The band that decides. It is unknown where nothing was judged, or where the agent was told something unjudged.
    pub(crate) fn band(&self, thresholds: Option<Thresholds>) -> Fact<SafetyBand> {
        match (self.lowest, thresholds, self.has_unjudged) {
            (Some(safety), Some(thresholds), false) => Fact::Known(super::band(safety, thresholds)),
            _ => Fact::Unknown,
        }
    }

    /// What looked unsafe in the task, least safe first, and of the pages that a question is about those that do and that
    /// the agent was not told of.
    pub(crate) fn concerns<'a>(
        &self,
        thresholds: Option<Thresholds>,
        about: impl Iterator<Item = &'a Origin>,
    ) -> Vec<Suspicion> {
        let Some(thresholds) = thresholds else { return Vec::new() };
        let mut told: Vec<_> = self.told.iter().filter(|(_, safety)| misses(**safety, thresholds)).collect();
        told.sort_by(|(_, one), (_, other)| one.value().total_cmp(&other.value()));
        let mut all: Vec<Suspicion> = told
            .into_iter()
            .take(MAX_NAMED)
            .map(|(page, safety)| Suspicion {
                concern: concern(*safety, thresholds),
                page: page.clone(),
                told: true,
            })
            .collect();
        for page in about {
            let untold = self.judged.get(page).filter(|safety| misses(**safety, thresholds));
            if let Some(safety) = untold
                && !all.iter().any(|one| one.page.as_ref() == Some(page))
            {
                let concern = concern(*safety, thresholds);
                all.push(Suspicion { concern, page: Some(page.clone()), told: false });
            }
        }
        all
    }
}

fn lower(lowest: &mut Safety, safety: Safety) {
    if safety < *lowest {
        *lowest = safety;
    }
}

fn misses(safety: Safety, thresholds: Thresholds) -> bool {
    safety.value() < thresholds.of(Tier::T2)
}

fn concern(safety: Safety, thresholds: Thresholds) -> Concern {
    match super::band(safety, thresholds) {
        SafetyBand::Below => Concern::High,
        SafetyBand::T0 => Concern::Medium,
        SafetyBand::T1 | SafetyBand::T2 => Concern::Low,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use policy_dfa::Policy;

    fn thresholds() -> Option<Thresholds> {
        Policy::parse(crate::APPROACH_C_POLICY).unwrap().thresholds()
    }

    fn at(value: f64) -> Option<Safety> {
        Safety::new(value).ok()
    }

    fn origin(text: &str) -> Origin {
        Origin::parse(text).unwrap()
    }

    #[test]
    fn the_lowest_told_score_counts_whatever_its_origin_and_does_not_recover() {
        let (one, other) = (origin("https://one.example"), origin("https://other.example"));
        let mut task = TaskSafety::default();
        assert_eq!(task.band(thresholds()), Fact::Unknown, "nothing is judged yet");
        task.told(Some(&one), at(0.9));
        assert_eq!(task.band(thresholds()), Fact::Known(SafetyBand::T2));
        task.told(Some(&other), at(0.3));
        task.told(Some(&one), at(1.0));
        task.told(None, at(1.0));
        assert_eq!(task.band(thresholds()), Fact::Known(SafetyBand::T0));
        assert_eq!(task.band(None), Fact::Unknown);
        assert_eq!(TaskSafety::default().band(thresholds()), Fact::Unknown, "a new task begins anew");
        task.told(Some(&one), None);
        assert_eq!(task.band(thresholds()), Fact::Unknown);
    }

    #[test]
    fn a_page_that_the_agent_was_not_told_of_lowers_nothing_and_is_warned_of() {
        let (here, there) = (origin("https://here.example"), origin("https://there.example"));
        let mut task = TaskSafety::default();
        task.judged(&here, at(0.1));
        assert_eq!(task.band(thresholds()), Fact::Known(SafetyBand::T2));
        let untold = Suspicion { concern: Concern::High, page: Some(here.clone()), told: false };
        assert_eq!(task.concerns(thresholds(), [&here].into_iter()), [untold]);
        assert_eq!(task.concerns(thresholds(), [&there].into_iter()), []);
        task.told(Some(&there), at(0.55));
        task.told(Some(&here), at(0.4));
        let told = |concern, page: &Origin| Suspicion { concern, page: Some(page.clone()), told: true };
        let expected = [told(Concern::Medium, &here), told(Concern::Low, &there)];
        assert_eq!(task.concerns(thresholds(), [&here].into_iter()), expected);
        assert_eq!(task.concerns(None, [&here].into_iter()), []);
    }
}
