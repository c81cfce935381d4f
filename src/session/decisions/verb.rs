//! Decisions about verbs, and checks of the text that a verb sends out.

use browser_signals::{Container, Fact, Observed, Origin, Snapshot, Verb};
use policy_dfa::{Carried, Consent, Event, Goal, Happened, Millis, Reason, Verdict};
use url::Url;

use crate::egress::{AgentText, TextVerdict};
use crate::guard::agent_actions::effect_of;
use crate::session::core::Core;

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
        let with_path = raised || self.taint.is_of_earlier();
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
        // Each comparison of text with the vault reveals something about the vault, so comparisons end after a guess.
        if self.history.is_suspected() && text.is_some() {
            return Verdict::Deny(Reason::TaintedSession);
        }
        let carries = match (&text, to.as_ref().map(|(origin, _)| origin).or(here.as_ref())) {
            (None, _) => Fact::Known(Carried::Own),
            (Some((_, carried)), Some(goal)) => Fact::Known(self.taint.carries(carried, goal)),
            (Some(_), None) => Fact::Unknown,
        };
        let goal = to.as_ref().map(|(origin, path)| Goal { origin, path });
        let event = Event::Verb { verb: effect_of(verb, page), to: goal, carries };
        let verdict = self.decide(event, page, self.history, consent, now);
        // The policy decides first. Text that would not leave anyway is not compared with the vault, so that its refusal
        // reveals nothing.
        if !matches!(verdict, Verdict::Deny(_))
            && let Some((whole, _)) = &text
        {
            let text = if to.is_some() { AgentText::Address(whole) } else { AgentText::Typed(whole) };
            let goes_out = matches!(verdict, Verdict::Grant(_));
            if !self.was_shown_for(verb, here.as_ref())
                && let Err(reason) = self.check_outgoing(text, goes_out)
            {
                return Verdict::Deny(reason);
            }
        }
        verdict
    }

    /// Whether this verb types exactly a value that the model was shown for pages of this origin.
    fn was_shown_for(&self, verb: &Verb, here: Option<&Origin>) -> bool {
        let (Verb::Type { text, .. }, Some(here)) = (verb, here) else { return false };
        let shown = self.shown_to_model.iter().filter(|(_, _, origin)| origin == here);
        let shown: Vec<_> = shown.map(|(handle, field, _)| (handle.as_str(), *field)).collect();
        if shown.is_empty() {
            return false;
        }
        let Ok(vault) = self.vault.lock() else { return false };
        let found = vault.scan_released(text, &shown).unwrap_or_default();
        // Punctuation around the value, such as the plus of a phone number, carries no information.
        let is_bare = |rest: Option<&str>| rest.is_some_and(|rest| !rest.contains(char::is_alphanumeric));
        found.iter().any(|one| is_bare(text.get(..one.span.start)) && is_bare(text.get(one.span.end..)))
    }

    /// Refuses text that has the form of a protected value, or contains a value of the vault or the rest of one. A value
    /// of the vault ends the session's sensitive access: the agent did not get it from the guard, and a guess must not be
    /// confirmed twice (I13).
    fn check_outgoing(&mut self, text: AgentText<'_>, goes_out: bool) -> Result<(), Reason> {
        let found = {
            let vault = self.vault.lock().map_err(|_| Reason::VaultLocked)?;
            let judged = self.sent.judge(text, goes_out, &self.taint, &self.detectors, &vault);
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
