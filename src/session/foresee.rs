//! What a plan can come to: said before any page is open, and before anybody is asked.

use policy_dfa::{DecisionPoint, History, Prospect, Reason, Task};
use sirl::{FieldSet, Kind, Plan};

use super::core::Core;
use super::outcome::plan_answered;

impl Core {
    /// Answers a plan of the model: a refusal for each kind that can never be granted in this task. Nothing
    /// is decided and nothing is recorded; a plan grants nothing.
    pub(super) fn foresee(&self, plan: &Plan) -> String {
        let each = plan.anticipated.iter().filter_map(|wish| {
            let refused =
                never(&self.decision, &self.task, &self.history, wish.kind, wish.effective_fields());
            refused.map(|reason| (wish.kind, reason))
        });
        let mut ruled_out: Vec<(Kind, Reason)> = Vec::new();
        for found in each {
            if !ruled_out.contains(&found) {
                ruled_out.push(found);
            }
        }
        plan_answered(&ruled_out)
    }
}

/// Why a request can never be granted in a task, if so.
pub(super) fn never(
    decision: &DecisionPoint,
    task: &Task,
    history: &History,
    kind: Kind,
    fields: FieldSet,
) -> Option<Reason> {
    let possible = decision.foresee(kind, fields, task, history);
    // A rule that fails for certain tells more than one that may come first.
    let certain = possible.hurdles.first().map(|hurdle| hurdle.reason);
    let reason = || certain.or(possible.reasons.first().copied()).unwrap_or(Reason::DeliveryForbidden);
    (possible.prospect == Prospect::Never).then(reason)
}
