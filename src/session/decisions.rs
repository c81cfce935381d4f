//! Decisions: verbs and requests as questions to the policy, and preflight answers to plans.

use browser_signals::{Container, Fact, NodeId, Observed, Origin, Snapshot, Verb};
use policy_dfa::{
    Carried, Consent, ConsentScope, DecisionPoint, Event, Goal, History, Millis, Prospect, Question, Reason,
    SessionEvent, Task, Verdict,
};
use sirl::{Field, FieldSet, Kind, Money, Plan, Request};
use url::Url;

use super::core::Core;
use crate::consent::{ACCOUNT_NAMES, FormPlace, ReleaseScope};
use crate::egress::{AgentText, EgressChecks, TextVerdict};
use crate::guard::agent_actions::effect_of;
use crate::guard::mandate::{NotCovered, SeenOrder};
use crate::guard::placement::place_at;
use crate::intake::has_handle;

impl Core {
    /// Decides a verb on a page.
    pub(in crate::session) fn decide_verb(
        &mut self,
        verb: &Verb,
        page: Option<&Observed<Snapshot>>,
        consent: Consent,
        now: Millis,
    ) -> Verdict {
        let here = page.and_then(|page| page.origin.known().cloned());
        let raised = page.is_none_or(|page| page.container.known() != Some(&Container::T0));
        // The agent may follow links of public pages, unless it carries private text of an earlier task.
        let with_path = raised || self.agent.taint.lock().is_of_earlier();
        let (to, text) = match verb {
            Verb::Open { url } => {
                let Some(target) = parse_target(url, with_path) else {
                    return Verdict::Deny(Reason::AddressRefused);
                };
                (Some((target.origin, target.path)), Some((url.as_str(), target.carried)))
            }
            Verb::Type { text, .. } => (None, Some((text.as_str(), text.clone()))),
            _ => (None, None),
        };
        // Each comparison of text with the vault reveals something about the vault, so comparisons end after a guess.
        if self.policy.history.is_suspected() && text.is_some() {
            return Verdict::Deny(Reason::TaintedSession);
        }
        let carries = match (&text, to.as_ref().map(|(origin, _)| origin).or(here.as_ref())) {
            (None, _) => Fact::Known(Carried::Own),
            (Some((_, carried)), Some(goal)) => Fact::Known(self.agent.taint.lock().carries(carried, goal)),
            (Some(_), None) => Fact::Unknown,
        };
        let has_handle =
            text.as_ref().is_some_and(|(whole, carried)| has_handle(whole) || has_handle(carried));
        let goal = to.as_ref().map(|(origin, path)| Goal { origin, path });
        let event = Event::Verb { verb: effect_of(verb, page), to: goal, carries };
        let verdict = self.decide(event, page, self.policy.history, consent, now);
        // The policy decides first. Text that would not leave anyway is not compared with the vault, so that its refusal
        // reveals nothing.
        if !matches!(verdict, Verdict::Deny(_))
            && let Some(text) = AgentText::of(verb)
        {
            // No page needs it, and it says which records the user has.
            if has_handle {
                return Verdict::Deny(Reason::HandleInText);
            }
            let goes_out = matches!(verdict, Verdict::Grant(_));
            if !self.was_shown_for(verb, here.as_ref())
                && let Err(reason) = self.check_outgoing(text, goes_out)
            {
                return Verdict::Deny(reason);
            }
        }
        verdict
    }

    /// Whether the agent may answer a page's dialog with these words. They are compared as words that it types into a control of that
    /// page, and may not be private text of another site.
    pub(in crate::session) fn may_answer_with(
        &mut self,
        words: &str,
        origin: Option<&Origin>,
    ) -> Result<(), Reason> {
        if self.policy.history.is_suspected() {
            return Err(Reason::TaintedSession);
        }
        let origin = origin.ok_or(Reason::NotApplicable)?;
        let is_private = self.task.container() != Container::T0 || self.agent.taint.lock().is_of_earlier();
        if is_private && self.agent.taint.lock().carries(words, origin) == Carried::Elsewhere {
            return Err(Reason::CrossOriginFlow);
        }
        if has_handle(words) {
            return Err(Reason::HandleInText);
        }
        self.check_outgoing(AgentText::Typed(words), true)
    }

    /// Whether this verb types exactly a value that the model was shown for pages of this origin.
    fn was_shown_for(&self, verb: &Verb, here: Option<&Origin>) -> bool {
        let (Verb::Type { text, .. }, Some(here)) = (verb, here) else { return false };
        let shown = self.values.shown_to_model.iter().filter(|(_, _, origin)| origin == here);
        let shown: Vec<_> = shown.map(|(handle, field, _)| (handle.as_str(), *field)).collect();
        if shown.is_empty() {
            return false;
        }
        let Ok(vault) = self.values.vault.lock() else { return false };
        let found = vault.scan_released(text, &shown).unwrap_or_default();
        // Punctuation around the value, such as the plus of a phone number, carries no information.
        let is_bare = |rest: Option<&str>| rest.is_some_and(|rest| !rest.contains(char::is_alphanumeric));
        found.iter().any(|one| is_bare(text.get(..one.span.start)) && is_bare(text.get(one.span.end..)))
    }

    /// Refuses text that has the form of a protected value, or contains a value of the vault or the rest of one. A value
    /// of the vault ends the session's sensitive access: the agent did not get it from the guard, and a guess must not be
    /// confirmed twice (I13).
    fn check_outgoing(&mut self, text: AgentText<'_>, goes_out: bool) -> Result<(), Reason> {
        match self.settings.egress {
            EgressChecks::On => {}
            #[cfg(feature = "ablation")]
            EgressChecks::Off => return Ok(()),
        }
        let found = {
            let vault = self.values.vault.lock().map_err(|_| Reason::VaultLocked)?;
            let judged = self.agent.sent.judge(
                text,
                goes_out,
                &self.agent.taint.lock(),
                &self.values.detectors,
                &vault,
            );
            judged.map_err(vault::ReleaseError::reason)?
        };
        match found {
            TextVerdict::Clean => Ok(()),
            TextVerdict::Typed => Err(Reason::EgressBlocked),
            TextVerdict::Exact(values) => {
                for value in values {
                    *self.counts.guessed.entry(value).or_default() += 1;
                }
                self.happened(SessionEvent::Suspected);
                Err(Reason::ValueInText)
            }
        }
    }

    /// Decides a request on a page, where the agent may point at controls of its form.
    pub(in crate::session) fn decide_request(
        &mut self,
        request: &Request,
        at: &[(Field, NodeId)],
        page: &Observed<Snapshot>,
        form: &FormPlace,
        consent: Consent,
        now: Millis,
    ) -> Verdict {
        let Some(placements) = place_at(page.value(), request.effective_fields(), at) else {
            return Verdict::Deny(Reason::ControlMismatch);
        };
        let amount = self.amount_of(request, page.value());
        let event = Event::Request { request, placements: &placements, amount };
        let history = self.history_for(request, page.value());
        let consent = match (consent, page.origin.known()) {
            // A never also holds where the policy would ask every time, and if the user said it while a prompt was open.
            (Consent::None | Consent::Given, Some(origin))
                if self.is_refused_for_good(request, page, origin) =>
            {
                Consent::Refused
            }
            (Consent::None, Some(_)) => {
                // Whether the user is asked is decided apart from how many prompts are left.
                let unasked = history.without_prompts();
                match self.decide(event, Some(page), unasked, Consent::None, now) {
                    // An earlier yes makes no new password.
                    Verdict::Ask(prompt) => {
                        let is_new = request.effective_fields().contains(Field::NewPassword);
                        // Nor does it fill a card a second time.
                        let is_asked = is_new || self.repeated_total(request, page.value()).is_some();
                        let scope = if is_asked { ConsentScope::EveryTime } else { prompt.scope };
                        match self.standing_answer(request, page, form, scope, now) {
                            Consent::None if self.is_mandated(request, page) => Consent::Mandated,
                            answer => answer,
                        }
                    }
                    _ => Consent::None,
                }
            }
            (consent, _) => consent,
        };
        self.decide(event, Some(page), history, consent, now)
    }

    /// The user's earlier answer to a prompt that the policy now wants with this scope. An earlier yes does not answer one
    /// that it wants each time. Where it wants it each time because what the agent was told looks unsafe, an earlier no
    /// still holds: a low safety withdraws a yes and nothing else.
    fn standing_answer(
        &self,
        request: &Request,
        page: &Snapshot,
        form: &FormPlace,
        scope: ConsentScope,
        now: Millis,
    ) -> Consent {
        // Where the policy otherwise asks nothing, a no holds for the session.
        let longest = self.policy.decision.consent_scope(request.kind).unwrap_or(ConsentScope::Session);
        let (Some(origin), true) = (page.origin.known(), longest != ConsentScope::EveryTime) else {
            return Consent::None;
        };
        let sent_to = page.destination.known().map_or(origin, |to| &to.origin);
        let kind = request.kind;
        let fields = self.supplied(kind, request.effective_fields(), origin, sent_to);
        let records = &self.records(kind, fields, origin, sent_to);
        let release = ReleaseScope { kind, fields, records, to: origin, form: Some(form) };
        match self.values.book.about(&release, longest, now) {
            Consent::Refused => Consent::Refused,
            _ if scope == ConsentScope::EveryTime => Consent::None,
            answer => answer,
        }
    }

    fn is_mandated(&self, request: &Request, page: &Snapshot) -> bool {
        request.kind == Kind::Purchase && self.mandated(page, request.claim.total) == Some(Ok(()))
    }

    /// Whether the mandate of the task covers a purchase; `None` without a mandate.
    pub(in crate::session) fn mandated(
        &self,
        page: &Snapshot,
        amount: Option<Money>,
    ) -> Option<Result<(), NotCovered>> {
        let mandate = self.agent.mandate.as_ref().filter(|_| self.policy.decision.takes_mandates())?;
        let payee = page.origin.known()?;
        let is_read = self.read.origin.as_ref() == Some(payee);
        let order = self.agent.actions.order(payee, Vec::new(), Vec::new());
        Some(mandate.covers(&SeenOrder {
            payee,
            amount,
            page: if is_read { &self.read.text } else { "" },
            addresses: &order.address,
            shows_address: self.agent.actions.shows_address(mandate.record()),
            actions: &order.actions,
            is_unseen: self.agent.actions.must_be_seen() || !order.refused.is_empty(),
            recurs: !self.page_says_it_recurs(payee).is_empty(),
        }))
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
        let sent_to = page.destination.known().map_or(origin, |to| &to.origin);
        let kind = request.kind;
        let fields = self.supplied(kind, request.effective_fields(), origin, sent_to);
        let records = &self.records(kind, fields, origin, sent_to);
        self.values.book.bind(&ReleaseScope { kind, fields, records, to: origin, form: Some(form) }, now);
    }

    /// Whether the user said never to this kind, for the page, for the page around it or for its form's destination.
    fn is_refused_for_good(&self, request: &Request, page: &Snapshot, origin: &Origin) -> bool {
        let sent_to = page.destination.known().map(|to| &to.origin);
        sent_to
            .into_iter()
            .chain([origin])
            .chain(page.top_origin.known())
            .any(|site| self.values.book.never(request.kind, site))
    }

    /// The preflight of a plan of the model: the kinds that can never be granted in this task. It decides and records
    /// nothing; a plan grants nothing.
    pub(in crate::session) fn preflight(&self, plan: &Plan) -> Vec<(Kind, Reason)> {
        let each = plan.anticipated.iter().filter_map(|request| {
            let refused = never_granted(
                &self.policy.decision,
                &self.task,
                &self.policy.history,
                request.kind,
                request.effective_fields(),
            );
            refused.map(|reason| (request.kind, self.for_want_of_a_user(reason).as_read_by_the_model()))
        });
        let mut ruled_out: Vec<(Kind, Reason)> = Vec::new();
        for found in each {
            if !ruled_out.contains(&found) {
                ruled_out.push(found);
            }
        }
        ruled_out
    }

    pub(in crate::session) fn decide(
        &mut self,
        event: Event<'_>,
        page: Option<&Observed<Snapshot>>,
        history: History,
        consent: Consent,
        now: Millis,
    ) -> Verdict {
        let safety = self.agent.safety.band(self.policy.decision.thresholds());
        let question = Question { event, page, task: &self.task, consent, history, safety, now };
        self.policy.decided = Some(self.policy.decision.valuation(&question));
        self.policy.decision.decide(&question)
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
    let possible = decision.preflight(kind, fields, task, history);
    // A rule that certainly fails is a better reason than one that may come first.
    let certain = possible.failed_rules.first().map(|hurdle| hurdle.reason);
    let reason = || certain.or(possible.reasons.first().copied()).unwrap_or(Reason::DeliveryForbidden);
    (possible.prospect == Prospect::Never).then(reason)
}

/// Fits the fields of a request to a form, and returns those that belong to a later step.
///
/// A request without fields gets those default fields of its kind that the form has a control for. A login may take several
/// pages: its request keeps the fields that this one asks for, and a password that it does not ask for is left for a later
/// one. Where the form asks for the e-mail address as the name of the account, a request for the user name is one for the
/// address.
pub(crate) fn fit_fields(request: &mut Request, page: &Snapshot, at: &[(Field, NodeId)]) -> FieldSet {
    let placed_of = |wanted| {
        let placed = place_at(page, wanted, at).unwrap_or_default();
        placed.iter().map(|placement| placement.field).collect::<FieldSet>()
    };
    let mut wanted = request.effective_fields();
    let mut placed = placed_of(wanted).intersection(wanted);
    if request.kind == Kind::Login && wanted.contains(Field::Username) && !wanted.contains(Field::Email) {
        let address = FieldSet::EMPTY.with(Field::Email);
        let takes_address = placed.intersection(ACCOUNT_NAMES).is_empty() && !placed_of(address).is_empty();
        if takes_address {
            wanted = wanted.without(ACCOUNT_NAMES).with(Field::Email);
            placed = placed_of(wanted).intersection(wanted);
        }
    }
    // A new password is set where it is asked for, and not left for later.
    let new = FieldSet::EMPTY.with(Field::NewPassword);
    let goes_on =
        request.kind == Kind::Login && !placed.is_empty() && wanted.intersection(new).is_subset_of(placed);
    if request.fields.is_empty() || goes_on {
        request.fields = placed;
    }
    let password = FieldSet::EMPTY.with(Field::Password);
    if goes_on { wanted.intersection(password).without(placed) } else { FieldSet::EMPTY }
}

/// The target of a web address.
pub(crate) struct UrlTarget {
    pub(crate) origin: Origin,
    pub(crate) path: String,
    /// The part that can carry text: query and fragment, and the path unless the agent may follow links between sites.
    pub(crate) carried: String,
}

pub(crate) fn parse_target(url: &str, with_path: bool) -> Option<UrlTarget> {
    let url = Url::parse(url).ok()?;
    let origin = Origin::of(&url).ok()?;
    let decoded = |text: &str| -> String {
        url::form_urlencoded::parse(text.as_bytes()).map(|(name, value)| format!("{name} {value} ")).collect()
    };
    let path = if with_path { decoded(url.path()) } else { String::new() };
    let rest = decoded(url.query().unwrap_or("")) + &decoded(url.fragment().unwrap_or(""));
    Some(UrlTarget { origin, path: url.path().to_owned(), carried: path + &rest })
}
