//! Which answer belongs to which prompt.

use browser_signals::{Fact, Snapshot};
use policy_dfa::Millis;
use sha2::{Digest, Sha256};

use super::Answer;

/// How long a prompt waits for its answer.
pub const ANSWER_WITHIN: Millis = Millis(60_000);

/// What binds an answer to a prompt: a number used once, the hash of what was asked, and when it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    nonce: [u8; 16],
    subject: Subject,
    asked_at: Millis,
}

impl Ticket {
    /// A ticket. `nonce` has to be random and new.
    pub fn new(nonce: [u8; 16], subject: Subject, asked_at: Millis) -> Ticket {
        Ticket { nonce, subject, asked_at }
    }

    /// The number, in hexadecimal: whoever shows it may answer.
    pub fn nonce(&self) -> String {
        hex(&self.nonce)
    }

    /// The hash of what was asked, in hexadecimal.
    pub fn subject(&self) -> String {
        hex(&self.subject.0)
    }

    /// The hash of what was asked and of the number, for the record: it says which answer belongs to which
    /// question, and nothing of either.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::new().chain_update(self.nonce).chain_update(self.subject.0).finalize().into()
    }

    /// What an answer to this ticket's prompt says, `now`: no, if it belongs to another prompt or is late.
    pub fn settle(&self, answered: &Answered, now: Millis) -> Answer {
        let late = now.0 >= self.asked_at.0.saturating_add(ANSWER_WITHIN.0);
        let ours = answered.nonce == self.nonce && answered.subject == self.subject;
        if ours && !late { answered.answer } else { Answer::No }
    }
}

/// An answer with the ticket of its prompt. Made by [`super::ConsentPrompt::answered`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    nonce: [u8; 16],
    subject: Subject,
    answer: Answer,
}

impl Answered {
    pub(super) fn to(ticket: &Ticket, answer: Answer) -> Answered {
        Answered { nonce: ticket.nonce, subject: ticket.subject.clone(), answer }
    }
}

/// The hash of everything that an answer is about: SHA-256 of its parts, each preceded by its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject([u8; 32]);

/// Collects the parts of a [`Subject`].
pub struct SubjectOf(Sha256);

impl SubjectOf {
    /// Begins with the policy that decides.
    pub fn policy(hash: &[u8; 32]) -> SubjectOf {
        SubjectOf(Sha256::new()).part(hash)
    }

    /// Adds a part.
    #[must_use]
    pub fn part(mut self, bytes: &[u8]) -> SubjectOf {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds what the browser says of a page: container, frame, document, origins, form, destination.
    #[must_use]
    pub fn page(self, page: &Snapshot) -> SubjectOf {
        let known = |fact: Option<String>| fact.unwrap_or_default();
        fn fact<T: ToString>(fact: &Fact<T>) -> Option<String> {
            fact.known().map(|value| format!("={}", value.to_string()))
        }
        let destination = page.destination.known();
        self.part(page.container_id.as_str().as_bytes())
            .part(page.container.known().map_or("", |container| container.as_str()).as_bytes())
            .part(page.frame.as_str().as_bytes())
            .part(page.document.known().map_or("", |document| document.as_str()).as_bytes())
            .part(known(fact(&page.origin)).as_bytes())
            .part(known(fact(&page.path)).as_bytes())
            .part(known(fact(&page.top_origin)).as_bytes())
            .part(known(page.form.map(|form| form.0.to_string())).as_bytes())
            .part(known(destination.map(|to| format!("{} {} {}", to.method, to.origin, to.path))).as_bytes())
    }

    /// The hash.
    pub fn finish(self) -> Subject {
        Subject(self.0.finalize().into())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(nonce: u8, about: &[u8]) -> Ticket {
        Ticket::new([nonce; 16], SubjectOf::policy(&[0; 32]).part(about).finish(), Millis(1_000))
    }

    #[test]
    fn an_answer_counts_for_its_own_prompt_and_in_time() {
        let asked = ticket(1, b"address");
        let yes = Answered::to(&asked, Answer::Once);
        assert_eq!(asked.settle(&yes, Millis(1_000)), Answer::Once);
        assert_eq!(asked.settle(&yes, Millis(60_999)), Answer::Once);
        assert_eq!(asked.settle(&yes, Millis(61_000)), Answer::No);
        assert_eq!(ticket(2, b"address").settle(&yes, Millis(1_000)), Answer::No);
        assert_eq!(ticket(1, b"contact").settle(&yes, Millis(1_000)), Answer::No);
    }

    #[test]
    fn parts_do_not_run_together() {
        let subject = |parts: &[&[u8]]| {
            let of = parts.iter().fold(SubjectOf::policy(&[0; 32]), |of, part| of.part(part));
            of.finish()
        };
        assert_ne!(subject(&[b"ab", b"c"]), subject(&[b"a", b"bc"]));
        assert_ne!(subject(&[b"ab"]), subject(&[b"ab", b""]));
    }
}
