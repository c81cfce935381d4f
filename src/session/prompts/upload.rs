//! Files for a page: the decision, the prompt and the effect of its answer.

use browser_signals::{Container, Fact, Observed, Origin, Snapshot, TlsState};
use policy_dfa::{
    Carried, Consent, ConsentScope, Event, Millis, Reason, SessionEvent, Signal, VerbKind, Verdict,
};

use super::consent_events;
use crate::audit::AuditEvent;
use crate::consent::{Answered, Asked, AskedFile, ConsentPrompt};
use crate::session::core::Core;

/// Where the files of an upload go.
pub(in crate::session) struct UploadTarget {
    /// The site whose page gets them.
    pub(in crate::session) site: Origin,
    path: String,
    /// The origin and path that the form is sent to, if there is a form.
    sent_to: Option<(Origin, String)>,
}

impl UploadTarget {
    /// The origins that get the files.
    pub(in crate::session) fn origins(&self) -> Vec<Origin> {
        let form = self.sent_to.iter().map(|(origin, _)| origin.clone());
        std::iter::once(self.site.clone()).chain(form).collect()
    }

    /// The verb by which the policy decides. A script of the page may do anything with an input that has no form, on the page's own
    /// site: every other one is closed.
    fn verb(&self) -> VerbKind {
        if self.sent_to.is_some() { VerbKind::Submit } else { VerbKind::Click }
    }
}

impl Core {
    /// Whether the user may be asked about files for the observed input.
    ///
    /// An upload is decided as the sending of the input's form, or as a click where it has none. Beyond that it is a release: only in a
    /// raised container, on a site of the task, over a connection that is encrypted or on this machine, to sites of the task.
    pub(in crate::session) fn may_upload(
        &mut self,
        page: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<UploadTarget, Reason> {
        if self.user.taken_over {
            return Err(Reason::TakenOver);
        }
        if page.container.known().is_none_or(|container| *container == Container::T0) {
            return Err(Reason::InvalidContainer);
        }
        if self.policy.history.is_suspected() {
            return Err(Reason::TaintedSession);
        }
        let site = page.origin.known().ok_or(Reason::SignalUnknown(Signal::Origin))?;
        if !self.task.is_about(site) {
            return Err(Reason::OriginMismatch);
        }
        match page.tls {
            Fact::Known(TlsState::Valid | TlsState::Loopback) => {}
            Fact::Known(_) => return Err(Reason::TlsInvalid),
            Fact::Unknown => return Err(Reason::SignalUnknown(Signal::Tls)),
        }
        let path = page.path.known().map(|path| path.to_string()).unwrap_or_default();
        let sent_to = match (page.form, &page.destination) {
            (None, _) => None,
            (Some(_), Fact::Known(to)) => Some((to.origin.clone(), to.path.to_string())),
            (Some(_), Fact::Unknown) => return Err(Reason::SignalUnknown(Signal::Destination)),
        };
        let target = UploadTarget { site: site.clone(), path, sent_to };
        if !target.origins().iter().all(|origin| self.task.is_about(origin)) {
            return Err(Reason::WrongDestination);
        }
        let event = Event::Verb { verb: target.verb(), to: None, carries: Fact::Known(Carried::Own) };
        match self.decide(event, Some(page), self.policy.history, Consent::None, now) {
            Verdict::Deny(reason) => Err(reason),
            Verdict::Grant(_) | Verdict::Ask(_) if self.prompts_are_spent() => Err(Reason::QuestionsSpent),
            Verdict::Grant(_) | Verdict::Ask(_) => Ok(target),
        }
    }

    /// The prompt about an upload. It is asked every time.
    pub(in crate::session) fn ask_about_upload(
        &mut self,
        files: Vec<AskedFile>,
        target: &UploadTarget,
        page: &Snapshot,
        now: Millis,
    ) -> ConsentPrompt {
        let label = page.target.as_ref().map(|control| control.label.to_string()).unwrap_or_default();
        let UploadTarget { site, path, sent_to } = target;
        let asked =
            Asked::Upload { files, site: site.clone(), path: path.clone(), label, sent_to: sent_to.clone() };
        self.prompt(vec![asked], &[page], ConsentScope::EveryTime, now)
    }

    /// Whether the answer is yes, and its records. A yes counts as the verb in the policy's history.
    pub(in crate::session) fn answered_about_upload(
        &mut self,
        prompt: &ConsentPrompt,
        answered: &Answered,
        target: &UploadTarget,
        now: Millis,
    ) -> (bool, Vec<AuditEvent>) {
        let answer = self.settle_answer(prompt, answered, now);
        if answer.agrees() {
            self.happened(SessionEvent::Done(target.verb()));
        }
        (answer.agrees(), consent_events(prompt, answer))
    }
}
