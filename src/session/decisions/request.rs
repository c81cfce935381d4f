//! Decisions about requests, and preflight answers to plans.

use browser_signals::{Observed, Origin, Snapshot};
use policy_dfa::{
    Consent, ConsentScope, DecisionPoint, Event, History, Millis, Prospect, Reason, Task, Verdict,
};
use sirl::{FieldSet, Kind, Plan, Request};

use crate::consent::{FormPlace, Release};
use crate::guard::placement::place;
use crate::session::core::Core;
use crate::session::core::replies::plan_answered;

impl Core {
    /// Decides a request on a page.
    pub(in crate::session) fn decide_request(
        &mut self,
        request: &Request,
        page: &Observed<Snapshot>,
        form: &FormPlace,
        consent: Consent,
        now: Millis,
    ) -> Verdict {
        let placements = place(page.value(), request.effective_fields());
        let event = Event::Request { request, placements: &placements, amount: request.claim.total };
        let consent = match (consent, page.origin.known()) {
            // A never also holds where the policy would ask every time, and if the user said it while a prompt was open.
            (Consent::None | Consent::Given, Some(origin))
                if self.is_refused_for_good(request, page, origin) =>
            {
                Consent::Refused
            }
            (Consent::None, Some(origin)) => {
                // A standing consent does not answer a prompt that the policy wants every time. Whether it wants one is
                // asked apart from how many prompts are left.
                let unasked = self.history.without_prompts();
                match self.decide(event, Some(page), unasked, Consent::None, now) {
                    Verdict::Ask(prompt) if prompt.scope != ConsentScope::EveryTime => {
                        let (kind, fields) = (request.kind, request.effective_fields());
                        let sent_to = page.destination.known().map_or(origin, |to| &to.origin);
                        let records = &self.records(kind, fields, origin, sent_to);
                        let release = Release { kind, fields, records, to: origin, form: Some(form) };
                        self.book.about(&release, prompt.scope, now)
                    }
                    _ => Consent::None,
                }
            }
            (consent, _) => consent,
        };
        self.decide(event, Some(page), self.history, consent, now)
    }

    /// Binds a consent from the plan prompt, if one allows this release, to the form that receives it.
    pub(in crate::session) fn bind(
        &mut self,
        request: &Request,
        page: &Snapshot,
        form: &FormPlace,
        now: Millis,
    ) {
        let Some(origin) = page.origin.known() else { return };
        let (kind, fields) = (request.kind, request.effective_fields());
        let sent_to = page.destination.known().map_or(origin, |to| &to.origin);
        let records = &self.records(kind, fields, origin, sent_to);
        self.book.bind(&Release { kind, fields, records, to: origin, form: Some(form) }, now);
    }

    /// Whether the user said never to this kind, for the page or for its form's destination.
    fn is_refused_for_good(&self, request: &Request, page: &Snapshot, origin: &Origin) -> bool {
        let sent_to = page.destination.known().map(|to| &to.origin);
        sent_to.into_iter().chain([origin]).any(|place| self.book.never(request.kind, place))
    }

    /// The preflight answer to a plan of the model: a refusal for each kind that can never be granted in this task. It
    /// decides and records nothing; a plan grants nothing.
    pub(in crate::session) fn preflight(&self, plan: &Plan) -> String {
        let each = plan.anticipated.iter().filter_map(|request| {
            let refused = never_granted(
                &self.decision,
                &self.task,
                &self.history,
                request.kind,
                request.effective_fields(),
            );
            refused.map(|reason| (request.kind, reason))
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

/// The reason why a request can never be granted in a task, if there is one.
pub(in crate::session) fn never_granted(
    decision: &DecisionPoint,
    task: &Task,
    history: &History,
    kind: Kind,
    fields: FieldSet,
) -> Option<Reason> {
    let possible = decision.foresee(kind, fields, task, history);
    // A rule that certainly fails is a better reason than one that may come first.
    let certain = possible.hurdles.first().map(|hurdle| hurdle.reason);
    let reason = || certain.or(possible.reasons.first().copied()).unwrap_or(Reason::DeliveryForbidden);
    (possible.prospect == Prospect::Never).then(reason)
}

/// Gives a request without fields those default fields of its kind that the page has a control for.
pub(crate) fn fit_fields(request: &mut Request, page: &Snapshot) {
    if request.fields.is_empty() {
        let wanted = request.effective_fields();
        let placed: FieldSet = place(page, wanted).iter().map(|placement| placement.field).collect();
        request.fields = placed.intersection(wanted);
    }
}
