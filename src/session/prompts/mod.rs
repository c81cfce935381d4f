//! Consent prompts: their text and tickets, and the effects of their answers.
//!
//! | module | subject |
//! |---|---|
//! | `upload` | the decision and the prompt about files for a page |
//! | `plan` | the prompt before the container opens |
//! | `ask` | prompts within an action, the page's lines that they quote, and the effects of their answers |
//! | `changes` | changes of standing consents outside of any prompt |

mod ask;
#[cfg(unix)]
pub mod changes;
pub(super) mod plan;
#[cfg(unix)]
pub(super) mod upload;

use sirl::{Field, FieldSet};

use crate::audit::{AuditEvent, AuditSubject};
use crate::consent::SubjectBuilder;
use crate::consent::{Answer, Asked, ConsentPrompt};

/// The audit events of a prompt and its answer.
pub(super) fn consent_events(prompt: &ConsentPrompt, answer: Answer) -> Vec<AuditEvent> {
    let ticket = prompt.ticket().hash();
    let asked = AuditEvent::ConsentAsked {
        ticket,
        about: prompt.asked.iter().map(AuditSubject::from).collect(),
        fields: fields_of(&prompt.asked),
        origin: prompt.asked.iter().find_map(Asked::origin).cloned(),
    };
    vec![asked, AuditEvent::ConsentAnswered { ticket, answer }]
}

/// The fields that the guard would fill.
fn fields_of(asked: &[Asked]) -> FieldSet {
    asked.iter().fold(FieldSet::EMPTY, |all, asked| match asked {
        Asked::Release { fields, .. } | Asked::Tell { fields, .. } | Asked::SignOn { fields, .. } => {
            fields.iter().fold(all, FieldSet::with)
        }
        _ => all,
    })
}

/// The subject of a prompt, to which its answer is bound: the policy, and every line that the user sees.
pub(super) fn subject_of(policy: &[u8; 32], asked: &[Asked]) -> SubjectBuilder {
    asked.iter().fold(SubjectBuilder::policy(policy), |subject, about| {
        let mut subject = subject.part(about.to_string().as_bytes());
        if let Asked::Upload { files, .. } = about {
            subject = files.iter().fold(subject, |subject, file| subject.part(&file.sha256));
        }
        about.details().iter().fold(subject, |subject, line| subject.part(line.to_string().as_bytes()))
    })
}

/// The records of suppliers, each once.
pub(super) fn distinct_records(supplied: Vec<(String, Field)>) -> Vec<String> {
    let mut records: Vec<String> = Vec::new();
    for (handle, _) in supplied {
        if !records.contains(&handle) {
            records.push(handle);
        }
    }
    records
}
