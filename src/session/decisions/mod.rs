//! Decisions: verbs and requests as questions to the policy.
//!
//! | module | subject |
//! |---|---|
//! | `verb` | decisions about verbs, and checks of outgoing text |
//! | `request` | decisions about requests, and preflight answers to plans |

mod request;
mod verb;

use browser_signals::{Fact, Observed, Origin, Snapshot};
use classifier::Safety;
use policy_dfa::{Consent, Event, History, Millis, Question, SafetyBand, Verdict};

use super::core::Core;
use crate::safety::band;
pub(crate) use request::fit_fields;
pub(super) use request::never_granted;
pub(crate) use verb::parse_target;

impl Core {
    pub(super) fn decide(
        &mut self,
        event: Event<'_>,
        page: Option<&Observed<Snapshot>>,
        history: History,
        consent: Consent,
        now: Millis,
    ) -> Verdict {
        let safety = self.safety_of(page);
        let question = Question { event, page, task: &self.task, consent, history, safety, now };
        self.decided = Some(self.decision.valuation(&question));
        self.decision.decide(&question)
    }

    /// Records the safety of a page that the model read. The least safe page of an origin counts for the whole origin.
    pub(in crate::session) fn note_safety(&mut self, origin: &Origin, safety: Option<Safety>) {
        let Some(safety) = safety else { return };
        let lowest = self.safeties.entry(origin.clone()).or_insert(safety);
        if safety < *lowest {
            *lowest = safety;
        }
    }

    /// The safety of a page: that of the read pages of its top document's origin. An unread page has none.
    fn safety_of(&self, page: Option<&Observed<Snapshot>>) -> Fact<SafetyBand> {
        let origin = page.and_then(|page| page.top_origin.known());
        let safety = origin.and_then(|origin| self.safeties.get(origin));
        match (safety, self.decision.thresholds()) {
            (Some(safety), Some(thresholds)) => Fact::Known(band(*safety, thresholds)),
            _ => Fact::Unknown,
        }
    }
}
