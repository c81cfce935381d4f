//! Turning a verb or a request into a question to the policy.

use browser_signals::{Container, Fact, Observed, Origin, Snapshot, Verb};
use classifier::Safety;
use policy_dfa::{
    Carried, Consent, ConsentScope, Event, Goal, Happened, History, Millis, Question, Reason, SafetyBand,
    VerbKind, Verdict,
};
use sirl::{FieldSet, Request};
use url::Url;

use super::core::Core;
use crate::consent::{FormPlace, Release};
use crate::egress::{AgentText, TextVerdict};
use crate::placement::place;
use crate::safety::band;

/// The policy's word for a verb.
pub(crate) fn kind_of(verb: &Verb) -> VerbKind {
    match verb {
        Verb::Open { .. } => VerbKind::Open,
        Verb::Read => VerbKind::Read,
        // Whoever may click may point.
        Verb::Click { .. } | Verb::Hover { .. } => VerbKind::Click,
        Verb::Type { .. } => VerbKind::Type,
        Verb::Select { .. } | Verb::Check { .. } => VerbKind::Choose,
        Verb::Press { .. } => VerbKind::Press,
        Verb::Submit { .. } => VerbKind::Submit,
        Verb::Wait { .. } | Verb::Back => VerbKind::Idle,
    }
}

/// What a verb would do: a click on a submit button submits its form, and so does Enter, wherever the focus
/// is. Enter names no form whose destination could be checked, so it ends as an unknown destination.
pub(crate) fn effect_of(verb: &Verb, page: Option<&Observed<Snapshot>>) -> VerbKind {
    let submits = match verb {
        Verb::Click { .. } => page.and_then(|page| page.target.as_ref()).is_some_and(|target| {
            target.form.is_some()
                && matches!(
                    (target.tag.as_str(), target.input_type.as_str()),
                    ("button", "submit" | "") | ("input", "submit" | "image")
                )
        }),
        Verb::Press { key } => key == "Enter",
        _ => false,
    };
    if submits { VerbKind::Submit } else { kind_of(verb) }
}

impl Core {
    /// Decides a verb on a page.
    pub(super) fn decide_verb(
        &mut self,
        verb: &Verb,
        page: Option<&Observed<Snapshot>>,
        consent: Consent,
        now: Millis,
    ) -> Verdict {
        let here = page.and_then(|page| page.origin.known().cloned());
        let raised = page.is_none_or(|page| page.container.known() != Some(&Container::T0));
        // Links of public pages can be followed, unless the agent brings something along that was not public.
        let with_path = raised || self.readings.is_of_earlier();
        let (to, text) = match verb {
            Verb::Open { url } => {
                let Some(target) = parse_target(url, with_path) else {
                    return Verdict::Deny(Reason::MalformedRequest);
                };
                (Some((target.origin, target.path)), Some((url.as_str(), target.carried)))
            }
            Verb::Type { text, .. } => (None, Some((text.as_str(), text.clone()))),
            _ => (None, None),
        };
        // Comparing text with the vault answers a question about the vault. It is not answered for ever.
        if self.history.is_suspected() && text.is_some() {
            return Verdict::Deny(Reason::TaintedSession);
        }
        let carries = match (&text, to.as_ref().map(|(origin, _)| origin).or(here.as_ref())) {
            (None, _) => Fact::Known(Carried::Own),
            (Some((_, carried)), Some(goal)) => Fact::Known(self.readings.carries(carried, goal)),
            (Some(_), None) => Fact::Unknown,
        };
        let goal = to.as_ref().map(|(origin, path)| Goal { origin, path });
        let event = Event::Verb { verb: effect_of(verb, page), to: goal, carries };
        let verdict = self.decide(event, page, self.history, consent, now);
        // The policy first: text that would not go anywhere anyway is not compared, so its refusal tells nothing.
        if !matches!(verdict, Verdict::Deny(_))
            && let Some((whole, _)) = &text
        {
            let text = if to.is_some() { AgentText::Address(whole) } else { AgentText::Typed(whole) };
            let goes_out = matches!(verdict, Verdict::Grant(_));
            if !self.was_told_for(verb, here.as_ref())
                && let Err(reason) = self.judge_outgoing(text, goes_out)
            {
                return Verdict::Deny(reason);
            }
        }
        verdict
    }

    /// Whether this types a value, and nothing beside it, that the model was told for pages of this origin.
    fn was_told_for(&self, verb: &Verb, here: Option<&Origin>) -> bool {
        let (Verb::Type { text, .. }, Some(here)) = (verb, here) else { return false };
        let told = self.told.iter().filter(|(_, _, origin)| origin == here);
        let told: Vec<_> = told.map(|(handle, field, _)| (handle.as_str(), *field)).collect();
        if told.is_empty() {
            return false;
        }
        let Ok(vault) = self.vault.lock() else { return false };
        let found = vault.scan_released(text, &told).unwrap_or_default();
        // Signs before and after it, such as the plus of a phone number, are no more of anything.
        let is_bare = |rest: Option<&str>| rest.is_some_and(|rest| !rest.contains(char::is_alphanumeric));
        found.iter().any(|one| is_bare(text.get(..one.span.start)) && is_bare(text.get(one.span.end..)))
    }

    /// Refuses text that has the form of something protected, or holds a value of the vault, or the rest of one.
    /// A value ends the session's sensitive access: whoever has one did not get it from us, and who guessed it
    /// is not answered again (I13).
    fn judge_outgoing(&mut self, text: AgentText<'_>, goes_out: bool) -> Result<(), Reason> {
        let found = {
            let vault = self.vault.lock().map_err(|_| Reason::VaultLocked)?;
            let judged = self.sent.judge(text, goes_out, &self.readings, &self.detectors, &vault);
            judged.map_err(vault::ReleaseError::reason)?
        };
        match found {
            TextVerdict::Clean => Ok(()),
            TextVerdict::Typed => Err(Reason::EgressBlocked),
            TextVerdict::Exact(values) => {
                for value in values {
                    *self.counts.guessed.entry(value).or_default() += 1;
                }
                self.happened(Happened::Suspected);
                Err(Reason::EgressBlocked)
            }
        }
    }

    /// Decides a request on a page.
    pub(super) fn decide_request(
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
            // A never holds also where the policy would ask every time, and where it was said while a question was open.
            (Consent::None | Consent::Given, Some(origin))
                if self.is_refused_for_good(request, page, origin) =>
            {
                Consent::Refused
            }
            (Consent::None, Some(origin)) => {
                // A question that must be put every time is not answered by a standing consent. How often
                // it must be put is asked apart from how many prompts are left.
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

    /// Binds the yes to a plan, if it is one that lets this go, to the form that it goes into.
    pub(super) fn bind(&mut self, request: &Request, page: &Snapshot, form: &FormPlace, now: Millis) {
        let Some(origin) = page.origin.known() else { return };
        let (kind, fields) = (request.kind, request.effective_fields());
        let sent_to = page.destination.known().map_or(origin, |to| &to.origin);
        let records = &self.records(kind, fields, origin, sent_to);
        self.book.bind(&Release { kind, fields, records, to: origin, form: Some(form) }, now);
    }

    /// Whether the user said never to this kind, for the page or for where its form goes.
    fn is_refused_for_good(&self, request: &Request, page: &Snapshot, origin: &Origin) -> bool {
        let sent_to = page.destination.known().map(|to| &to.origin);
        sent_to.into_iter().chain([origin]).any(|place| self.book.never(request.kind, place))
    }

    fn decide(
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

    /// The least safe page of an origin counts for all of it: what the model has read there, it has read.
    pub(super) fn note_safety(&mut self, origin: &Origin, safety: Option<Safety>) {
        let Some(safety) = safety else { return };
        let lowest = self.safeties.entry(origin.clone()).or_insert(safety);
        if safety < *lowest {
            *lowest = safety;
        }
    }

    /// How safe a page is: as what was read of its top document's origin. Nobody judged what was not read.
    fn safety_of(&self, page: Option<&Observed<Snapshot>>) -> Fact<SafetyBand> {
        let origin = page.and_then(|page| page.top_origin.known());
        let safety = origin.and_then(|origin| self.safeties.get(origin));
        match (safety, self.decision.thresholds()) {
            (Some(safety), Some(thresholds)) => Fact::Known(band(*safety, thresholds)),
            _ => Fact::Unknown,
        }
    }

    /// A request without fields asks for those of its kind that the page has a place for.
    pub(crate) fn fit_fields(request: &mut Request, page: &Snapshot) {
        if request.fields.is_empty() {
            let wanted = request.effective_fields();
            let placed: FieldSet = place(page, wanted).iter().map(|placement| placement.field).collect();
            request.fields = placed.intersection(wanted);
        }
    }
}

/// Where an address goes.
pub(crate) struct Target {
    pub(crate) origin: Origin,
    pub(crate) path: String,
    /// The part of it that can carry something: query and fragment, and the path where following links from
    /// site to site is not the task.
    pub(crate) carried: String,
}

pub(crate) fn parse_target(url: &str, with_path: bool) -> Option<Target> {
    let url = Url::parse(url).ok()?;
    let origin = Origin::of(&url).ok()?;
    let decoded = |text: &str| -> String {
        url::form_urlencoded::parse(text.as_bytes()).map(|(name, value)| format!("{name} {value} ")).collect()
    };
    let path = if with_path { decoded(url.path()) } else { String::new() };
    let rest = decoded(url.query().unwrap_or("")) + &decoded(url.fragment().unwrap_or(""));
    Some(Target { origin, path: url.path().to_owned(), carried: path + &rest })
}
