//! The one prompt at plan time: the container, and the releases that the user's words call for.

use browser_signals::lookalike::warnings;
use browser_signals::{Container, Origin};
use policy_dfa::{Consent, ConsentScope, DecisionPoint, Millis};
use sirl::{Field, FieldSet, Kind};
use vault::Vault;

use crate::consent::ticket::SubjectOf;
use crate::consent::{Answer, Asked, ConsentBook, ConsentPrompt, Notice, OpenPages, Release, Ticket};
use crate::intake::Intake;

/// What the user is asked before the container is opened, and how long a yes may stand.
pub(super) struct PlanQuestion {
    asked: Vec<Asked>,
    noticed: Vec<Notice>,
    scope: ConsentScope,
}

impl PlanQuestion {
    /// The question for a task; `None` where it needs nothing of the user's. What stands already is not asked
    /// about again, and neither is what the policy wants to be asked about each time.
    pub(super) fn of(
        intake: &Intake,
        decision: &DecisionPoint,
        book: &ConsentBook,
        vault: &Vault,
    ) -> Option<PlanQuestion> {
        let needs = |kind: &&Kind| **kind == Kind::Purchase || !kind.default_fields().is_empty();
        intake.kinds.iter().find(needs)?;
        let origins = intake.origins.clone();
        let container = Asked::Container { tier: Container::T2, origins, own_browser: None };
        let mut question =
            PlanQuestion { asked: vec![container], noticed: Vec::new(), scope: ConsentScope::Site };
        for (at, origin) in intake.origins.iter().enumerate() {
            let others: Vec<Origin> =
                intake.origins.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, o)| o.clone()).collect();
            let warned = warnings(origin, &others);
            question.noticed.extend(warned.iter().map(|warning| Notice::Host(warning.to_string())));
        }
        for kind in &intake.kinds {
            let Some(scope) = decision.consent_scope(*kind).filter(|s| *s != ConsentScope::EveryTime) else {
                continue;
            };
            for to in &intake.origins {
                question.add(*kind, scope, to, book, vault);
            }
        }
        if question.asked.len() == 1 {
            question.scope = ConsentScope::Session;
        }
        Some(question)
    }

    fn add(&mut self, kind: Kind, scope: ConsentScope, to: &Origin, book: &ConsentBook, vault: &Vault) {
        let supplied = vault.suppliers(kind, kind.default_fields(), to);
        let fields: FieldSet = supplied.iter().map(|(_, field)| *field).collect();
        let records = distinct(supplied);
        let release = Release { kind, fields, records: &records, to, form: None };
        let stands = book.never(kind, to) || book.about(&release, scope, Millis(0)) == Consent::Given;
        if fields.is_empty() || stands {
            return;
        }
        self.scope = if self.scope as u8 <= scope as u8 { self.scope } else { scope };
        self.asked.push(Asked::Release { kind, fields, to: to.clone(), sent_to: None, records, form: None });
    }

    /// The same question where there is no container, but the user's own browser with pages that are open already.
    pub(super) fn in_own_browser(mut self, pages: OpenPages) -> PlanQuestion {
        for asked in &mut self.asked {
            if let Asked::Container { own_browser, .. } = asked {
                *own_browser = Some(pages);
            }
        }
        self
    }

    /// The same question with more that the user should know.
    pub(super) fn noticing(mut self, notices: impl IntoIterator<Item = Notice>) -> PlanQuestion {
        self.noticed.extend(notices);
        self
    }

    /// The prompt, with a random number of its own.
    pub(super) fn prompt(self, policy: &[u8; 32], nonce: [u8; 16]) -> ConsentPrompt {
        let mut subject = SubjectOf::policy(policy);
        for about in &self.asked {
            subject = subject.part(about.to_string().as_bytes());
            subject = about
                .details()
                .iter()
                .fold(subject, |subject, line| subject.part(line.to_string().as_bytes()));
        }
        let ticket = Ticket::new(nonce, subject.finish(), Millis(0));
        ConsentPrompt::new(self.asked, self.noticed, self.scope, ticket)
    }
}

/// The records among suppliers, each once.
pub(super) fn distinct(supplied: Vec<(String, Field)>) -> Vec<String> {
    let mut records: Vec<String> = Vec::new();
    for (handle, _) in supplied {
        if !records.contains(&handle) {
            records.push(handle);
        }
    }
    records
}

/// Notes what was answered to the plan. Once, said of a plan, is for the task that it is the plan of.
pub(super) fn note(prompt: &ConsentPrompt, answer: Answer, book: &mut ConsentBook) {
    let answer = match answer {
        // A no to the plan leaves the task without a container, and so without releases.
        Answer::No => return,
        Answer::Once => Answer::Session,
        answer => answer,
    };
    for asked in &prompt.asked {
        if let Asked::Release { kind, fields, to, records, .. } = asked {
            let release = Release { kind: *kind, fields: *fields, records, to, form: None };
            book.note(&release, answer, Millis(0));
        }
    }
}
