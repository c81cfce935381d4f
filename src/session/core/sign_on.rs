//! Single sign-on: the question that makes an identity provider part of the task, and the questions about what the agent presses at
//! the provider beyond the login.
//!
//! The provider is the origin that a login of the vault is bound to. Neither an agent's plan nor a page can name it: the guard asks
//! the user when a site of the task leads the browser to such an origin. Without such a login the user is not asked, and the agent
//! reads the same refusal as after a no.

use browser_signals::lookalike::warnings;
use browser_signals::rendered::as_seen;
use browser_signals::{Control, ElementRef, Observed, Origin, Snapshot, Verb};
use policy_dfa::{Consent, ConsentScope, Millis, Reason, SignOn, VerbKind};
use sirl::{Field, FieldSet, Kind};
use url::Url;

use super::block_state::VerbIdentity;
use super::messages::{Command, GuardCommand, Look, RenderedPage, Seen, first_of};
use super::state::{Core, State};
use crate::audit::AuditEvent;
use crate::consent::{Answer, Answered, Asked, ConsentPrompt, Notice, Purpose, ReleaseScope};
use crate::egress::AgreedSignOn;
use crate::guard::agent_actions::{effect_of, name_of};
use crate::guard::purpose::form_place;
use crate::session::decisions::never_granted;
use crate::session::prompts::consent_events;

/// The most providers that the user is asked about in one task.
const MAX_PROVIDERS: usize = 3;

/// The lines of a provider's page that a question shows: those before the pressed button, and its own.
const MAX_LINES: usize = 12;

/// The most characters of such a line.
const MAX_LINE_CHARS: usize = 200;

impl Core {
    /// Shares the sign-on that the user agrees to with the container's egress.
    #[must_use]
    pub fn with_sign_on(mut self, agreed: AgreedSignOn) -> Core {
        self.sign_on = agreed;
        self
    }

    /// The question whether the user logs in at an origin for a site of the task that led there. `None` where it is no question:
    /// the agent then reads that the address is outside of the task, as after a no. Each origin is asked about once in a task, and a
    /// task has one provider. A task with several sites has none: one of them could lead there in the name of another.
    ///
    /// The question is none of those that the policy and the session count, so that what is left of them tells the agent nothing of the
    /// vault. A task has at most `MAX_PROVIDERS` of them.
    pub fn ask_about_sign_on(
        &mut self,
        site: &Origin,
        address: &Url,
        now: Millis,
    ) -> Option<Box<ConsentPrompt>> {
        let provider = &Origin::of(address).ok()?;
        let sign_on = SignOn { provider: provider.clone(), site: site.clone() };
        let is_possible = self.task.sign_on().is_none()
            && self.task.origins() == std::slice::from_ref(site)
            && self.task.kinds().contains(Kind::Login)
            && self.task.clone().signing_on(sign_on).sign_on().is_some()
            && provider.scheme() == "https"
            && !self.policy.history.is_suspected()
            && self.user.asked_providers.len() < MAX_PROVIDERS
            && !self.values.book.never(Kind::Login, provider);
        let password = FieldSet::EMPTY.with(Field::Password);
        let possible_kind = || {
            let (decision, task, history) = (&self.policy.decision, &self.task, &self.policy.history);
            never_granted(decision, task, history, Kind::Login, password).is_none()
        };
        if !is_possible || !possible_kind() || !self.account_at(provider).contains(Field::Password) {
            return None;
        }
        if !self.user.asked_providers.insert(provider.clone()) {
            return None;
        }
        let fields = self.account_at(provider);
        let records = self.own_records(Kind::Login, fields, provider);
        let asked = vec![Asked::SignOn {
            site: site.clone(),
            provider: provider.clone(),
            address: address.to_string(),
            fields,
            records,
        }];
        let longest = self.policy.decision.consent_scope(Kind::Login).unwrap_or(ConsentScope::Session);
        let scope = if longest == ConsentScope::EveryTime { longest } else { ConsentScope::Session };
        let mut prompt = self.prompt(asked, &[], scope, now);
        let looks_like = warnings(provider, self.task.origins());
        prompt.noticed.extend(looks_like.iter().map(|warning| Notice::Host(warning.to_string())));
        Some(Box::new(prompt))
    }

    /// The fields of the login that the vault itself has for an origin. A source does not count: it has not been asked, and a page could
    /// name any site as its provider.
    fn account_at(&self, provider: &Origin) -> FieldSet {
        let all = Kind::Login.default_fields();
        let Ok(vault) = self.values.vault.lock() else { return FieldSet::EMPTY };
        vault.suppliers(Kind::Login, all, provider).into_iter().map(|(_, field)| field).collect()
    }

    /// Settles the answer to [`Core::ask_about_sign_on`]. With a yes the result is a sign-on, which begins with
    /// [`Core::begin_sign_on`] once the events are recorded.
    pub fn answered_about_sign_on(
        &mut self,
        prompt: &ConsentPrompt,
        answered: &Answered,
        now: Millis,
    ) -> (Option<SignOn>, Vec<AuditEvent>) {
        let answer = prompt.ticket().settle(answered, now);
        self.counts.prompts += 1;
        let mut events = consent_events(prompt, answer);
        let Some(Asked::SignOn { site, provider, .. }) = prompt.asked.first().filter(|_| answer.agrees())
        else {
            return (None, events);
        };
        events.push(AuditEvent::SignOn { site: site.clone(), provider: provider.clone() });
        (Some(SignOn { provider: provider.clone(), site: site.clone() }), events)
    }

    /// Makes the provider part of the task: its login may be filled there without another question.
    pub fn begin_sign_on(&mut self, prompt: &ConsentPrompt, sign_on: SignOn, now: Millis) {
        if let Some(Asked::SignOn { provider, fields, records, .. }) = prompt.asked.first() {
            let login =
                ReleaseScope { kind: Kind::Login, fields: *fields, records, to: provider, form: None };
            self.values.book.note(&login, Answer::Session, now);
        }
        self.task = self.task.clone().signing_on(sign_on.clone());
        self.sign_on.agree(sign_on);
    }

    /// Whether a page is the provider's, or is in one of the provider's.
    pub(super) fn is_at_provider(&self, page: &Snapshot) -> bool {
        let is_provider = |origin: &Origin| self.task.sign_on().is_some_and(|both| both.provider == *origin);
        [&page.origin, &page.top_origin].into_iter().filter_map(|origin| origin.known()).any(is_provider)
    }

    /// Whether the user must see the page before a verb: for everything that the agent presses at the provider or sends to it, except
    /// for sending the login that the guard filled, by the one button of a form that is nothing but a login.
    pub(super) fn must_show_page(&self, verb: &Verb, page: &Observed<Snapshot>) -> bool {
        let sends = effect_of(verb, Some(page)) == VerbKind::Submit;
        let is_pointed =
            matches!(verb, Verb::Click { .. } | Verb::Drag { .. } | Verb::Submit { .. } | Verb::Press { .. });
        let goes_where_granted =
            || self.values.releases.all().iter().any(|it| Some(&it.destination) == page.destination.known());
        let sends_login = is_pointed
            && sends
            && self.agent.actions.holds_filled(page.value())
            && is_plain_login(page)
            && goes_where_granted();
        let goes_to = page.destination.known().map(|to| &to.origin);
        let to_provider = sends && self.task.sign_on().is_some_and(|both| goes_to == Some(&both.provider));
        ((is_pointed || sends) && self.is_at_provider(page) || to_provider) && !sends_login
    }

    /// Reads the provider's page for the question about a verb.
    pub(super) fn show_page(&mut self, verb: Verb, origin: Option<Origin>) -> Command {
        if self.prompts_are_spent() {
            return self.refuse_verb(&verb, origin, Reason::QuestionsSpent);
        }
        self.enter(State::ShowingPage { verb }, Command::Read)
    }

    /// Looks again at the target of a verb, with the lines of its page.
    pub(super) fn page_shown(&mut self, verb: Verb, page: Result<RenderedPage, Reason>) -> Command {
        match page {
            Ok(page) => {
                let (look, lines) =
                    (Look::for_verb(&verb), lines_before(&as_seen(&page.text), target_of(&verb)));
                self.enter(State::AimingToAsk { verb, lines }, Command::Look(look))
            }
            Err(reason) => self.refuse_verb(&verb, None, reason),
        }
    }

    /// Asks about a verb at the provider.
    pub(super) fn ask_at_provider(
        &mut self,
        verb: Verb,
        lines: Vec<String>,
        seen: Seen,
        now: Millis,
    ) -> Command {
        let page = match first_of(seen) {
            Ok(page) => page,
            Err(reason) => return self.refuse_verb(&verb, None, reason),
        };
        let origin = page.origin.known().cloned();
        let Some(both) = self.task.sign_on().cloned() else {
            return self.refuse_verb(&verb, origin, Reason::StaleDocument);
        };
        let asked_on = Box::new(VerbIdentity::of(&verb, &page));
        let goes_to = page.destination.known().map(|to| (to.origin.clone(), to.path.to_string()));
        let label = page.target.as_ref().map(name_of).unwrap_or_default();
        let asked = Asked::AtProvider {
            verb: asked_on.effect,
            provider: both.provider,
            site: both.site,
            label,
            goes_to,
            page_says: lines,
        };
        let prompt = Box::new(self.prompt(vec![asked], &[page.value()], ConsentScope::EveryTime, now));
        let state = State::AskingVerb { verb, prompt: prompt.clone(), asked_on };
        self.enter(state, Command::Guard(GuardCommand::Ask(prompt)))
    }

    /// Whether the consent of a verb was asked for with its page shown.
    pub(super) const fn was_shown(consent: Consent) -> bool {
        !matches!(consent, Consent::None)
    }
}

fn target_of(verb: &Verb) -> Option<&ElementRef> {
    match verb {
        Verb::Click { target, .. } | Verb::Drag { target, .. } | Verb::Submit { target } => Some(target),
        _ => None,
    }
}

/// Whether a form is a login with one button that sends it. Another button may mean something else, such as a consent.
fn is_plain_login(page: &Snapshot) -> bool {
    let sends = |control: &&Control| {
        let button = control.tag == "button" && matches!(control.input_type.as_str(), "" | "submit");
        let input = control.tag == "input" && matches!(control.input_type.as_str(), "submit" | "image");
        button || input
    };
    form_place(page, false).purpose == Purpose::Login && page.controls.iter().filter(sends).count() <= 1
}

/// The lines of a page's text up to that of an element, without refs and empty lines. Where the element is not found, the first ones.
fn lines_before(text: &str, target: Option<&ElementRef>) -> Vec<String> {
    let named = target.map(|target| format!("[ref={}]", target.0));
    let all: Vec<&str> = text.lines().collect();
    // A name in quotes comes before the ref, and may hold anything that looks like one.
    let at = named.and_then(|named| {
        all.iter().position(|line| split_at_ref(line).is_some_and(|(_, rest)| rest.starts_with(&named)))
    });
    let shown = |line: &&str| {
        let line = line.trim().trim_start_matches("- ");
        // The ref of an element is between its name and its text.
        let (name, text) = split_at_ref(line).unwrap_or((line, ""));
        let text = text.split_once(']').map_or("", |(_, text)| text);
        let line: String = name.chars().chain(text.chars()).take(MAX_LINE_CHARS).collect();
        line.contains(['"', ':']).then_some(line).filter(|line| line.len() > 1 && !line.ends_with(':'))
    };
    match at {
        Some(at) => {
            let mut before: Vec<String> =
                all.iter().take(at + 1).rev().filter_map(shown).take(MAX_LINES).collect();
            before.reverse();
            before
        }
        None => all.iter().filter_map(shown).take(MAX_LINES).collect(),
    }
}

/// A line before and from the ref of its element. What is in quotes is the page's.
fn split_at_ref(line: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = c == '\\' && !escaped;
        // The text of an element comes after its ref.
        if c == ':' && !quoted {
            return None;
        }
        if !quoted && line.get(at..).is_some_and(|rest| rest.starts_with(" [ref=")) {
            return Some((line.get(..at)?, line.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_before_a_button_are_shown() {
        let text = "- banner:\n  - link \"Home\" [ref=e1]\n- heading \"Allow Evil Mail?\" [level=1] [ref=e2]\n\
                    - paragraph [ref=e5]: It will read your mail.\n- button \"Allow\" [ref=e3]\n- link \"Help\" [ref=e4]";
        let target = ElementRef("e3".to_owned());
        let lines = lines_before(text, Some(&target));
        let expected = [
            "link \"Home\"",
            "heading \"Allow Evil Mail?\" [level=1]",
            "paragraph: It will read your mail.",
            "button \"Allow\"",
        ];
        assert_eq!(lines, expected);
        let odd = "- heading \"Allow TV [ref=e3] to [ref= read\" [ref=e2]\n- button \"Allow\" [ref=e3]";
        let lines = lines_before(odd, Some(&target));
        assert_eq!(lines, ["heading \"Allow TV [ref=e3] to [ref= read\"", "button \"Allow\""]);
        let many: String = (0..40).map(|at| format!("- text: line {at}\n")).collect();
        let lines =
            lines_before(&format!("{many}- button \"Go\" [ref=e9]"), Some(&ElementRef("e9".to_owned())));
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (MAX_LINES, Some("button \"Go\"")));
        assert_eq!(lines_before(&many, Some(&target)).first().map(String::as_str), Some("text: line 0"));
    }
}
