//! Answers, and the tickets that bind each answer to its prompt.

use std::fmt;
use std::time::Duration;

use browser_signals::{Fact, Snapshot};
use policy_dfa::{ConsentScope, Millis};
use sha2::{Digest, Sha256};

/// The user's answer to a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// No. The same question is not asked again in this task, unless the policy requires a question every time.
    No,
    /// No, on this site from now on: the same is refused without a question until the user revokes the answer.
    Never,
    /// Yes, this once.
    Once,
    /// Yes, for the rest of this task.
    Session,
    /// Yes, on this site from now on, until it expires or the user revokes it.
    Site,
}

impl Answer {
    /// Every answer, in the order in which they are offered.
    pub const ALL: [Answer; 5] = [Answer::No, Answer::Once, Answer::Session, Answer::Site, Answer::Never];

    /// Whether it is a yes.
    pub fn agrees(self) -> bool {
        matches!(self, Answer::Once | Answer::Session | Answer::Site)
    }

    /// The answer as one word: `no`, `never`, `once`, `session`, `site`.
    pub fn as_str(self) -> &'static str {
        match self {
            Answer::No => "no",
            Answer::Never => "never",
            Answer::Once => "once",
            Answer::Session => "session",
            Answer::Site => "site",
        }
    }

    /// The answer for a word.
    pub fn from_word(word: &str) -> Option<Answer> {
        Answer::ALL.into_iter().find(|answer| answer.as_str() == word)
    }

    /// Limits the answer to the longest consent that a policy allows: a longer yes becomes a shorter one.
    ///
    /// ```
    /// use portcullis::consent::Answer;
    /// use portcullis::policy::ConsentScope;
    ///
    /// assert_eq!(Answer::Site.within(ConsentScope::EveryTime), Answer::Once);
    /// assert_eq!(Answer::Never.within(ConsentScope::EveryTime), Answer::Never);
    /// ```
    #[must_use]
    pub fn within(self, scope: ConsentScope) -> Answer {
        match (self, scope) {
            (Answer::Session | Answer::Site, ConsentScope::EveryTime) => Answer::Once,
            (Answer::Site, ConsentScope::Session) => Answer::Session,
            (answer, _) => answer,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answer::No => "no",
            Answer::Never => "no, never on this site",
            Answer::Once => "yes, this once",
            Answer::Session => "yes, for this task",
            Answer::Site => "yes, on this site from now on",
        })
    }
}

/// The time within which a prompt must be answered.
pub const ANSWER_TIMEOUT: Millis = Millis(60_000);

/// The time within which nobody has read a question: a yes within it is none.
pub const MIN_READING_TIME: Duration = Duration::from_millis(700);

/// The ticket that binds an answer to a prompt: a nonce, the hash of the question, and the time of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    nonce: [u8; 16],
    subject: Subject,
    asked_at: Millis,
}

impl Ticket {
    /// Makes a ticket. `nonce` has to be random and new.
    pub fn new(nonce: [u8; 16], subject: Subject, asked_at: Millis) -> Ticket {
        Ticket { nonce, subject, asked_at }
    }

    /// The nonce in hexadecimal. Its owner may answer.
    pub fn nonce(&self) -> String {
        hex(&self.nonce)
    }

    /// The hash of the question in hexadecimal.
    pub fn subject(&self) -> String {
        hex(&self.subject.0)
    }

    /// The hash of question and nonce, for the audit log: it connects an answer with its question and reveals neither.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::new().chain_update(self.nonce).chain_update(self.subject.0).finalize().into()
    }

    /// The answer that counts for this ticket's prompt: no, if it belongs to another prompt or is late.
    pub fn settle(&self, answered: &Answered, now: Millis) -> Answer {
        let shown_at = self.asked_at.0.saturating_add(answered.waited.0);
        let late = now.0 >= shown_at.saturating_add(ANSWER_TIMEOUT.0);
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
    reached_nobody: bool,
    /// How long the question waited for those of other sessions before the user saw it.
    waited: Millis,
}

impl Answered {
    pub(super) fn to(ticket: &Ticket, answer: Answer) -> Answered {
        Answered {
            nonce: ticket.nonce,
            subject: ticket.subject.clone(),
            answer,
            reached_nobody: false,
            waited: Millis(0),
        }
    }

    /// A no for want of anybody who could be asked.
    pub(super) fn by_nobody(ticket: &Ticket) -> Answered {
        Answered { reached_nobody: true, ..Answered::to(ticket, Answer::No) }
    }

    /// The answer to a question that waited this long for those of other sessions before the user saw it.
    #[must_use]
    pub fn after_waiting(self, waited: Millis) -> Answered {
        Answered { waited, ..self }
    }

    /// Whether the question reached nobody. The answer is no then.
    pub fn reached_nobody(&self) -> bool {
        self.reached_nobody
    }
}

/// The hash of a question: SHA-256 of its parts, each preceded by its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject([u8; 32]);

/// Builds a [`Subject`] from its parts.
pub struct SubjectBuilder(Sha256);

impl SubjectBuilder {
    /// Begins with the policy that decides.
    pub fn policy(hash: &[u8; 32]) -> SubjectBuilder {
        SubjectBuilder(Sha256::new()).part(hash)
    }

    /// Adds a part.
    #[must_use]
    pub fn part(mut self, bytes: &[u8]) -> SubjectBuilder {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds the browser's facts of a page: container, frame, document, origins, form, destination.
    #[must_use]
    pub fn page(self, page: &Snapshot) -> SubjectBuilder {
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
        Ticket::new([nonce; 16], SubjectBuilder::policy(&[0; 32]).part(about).finish(), Millis(1_000))
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
    fn the_boundaries_of_parts_count() {
        let subject = |parts: &[&[u8]]| {
            let of = parts.iter().fold(SubjectBuilder::policy(&[0; 32]), |of, part| of.part(part));
            of.finish()
        };
        assert_ne!(subject(&[b"ab", b"c"]), subject(&[b"a", b"bc"]));
        assert_ne!(subject(&[b"ab"]), subject(&[b"ab", b""]));
    }
}
