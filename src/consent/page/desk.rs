//! The one question that the page may show now, and its one answer.
//!
//! No clock is read here: every step is told the time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use vault::Secret;

use super::words::Words;
use crate::consent::Answer;
use crate::loopback::Hidden;

/// How long a question has to be in front of the user before it takes a yes.
pub(super) const LOOK_FIRST: Duration = Duration::from_millis(700);

/// What the user said.
pub(super) enum Said {
    Answer(Answer),
    Code(Secret),
}

/// What a question takes.
#[derive(Clone)]
pub(super) enum Takes {
    /// One of these.
    Answers(Vec<Answer>),
    /// A security code, or no.
    Code,
}

/// Why a step was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// There is no such question, or it does not take this, or not any more.
    Closed,
    /// The question has not been in front of the user for long enough.
    Early,
}

/// A question.
pub(super) struct Question {
    pub nonce: Hidden,
    pub subject: Hidden,
    pub takes: Takes,
    pub words: Words,
    /// When it runs out.
    pub until: Instant,
}

struct Open {
    question: Question,
    shown: Option<Instant>,
    reply: Option<oneshot::Sender<Said>>,
}

/// Holds at most one question.
#[derive(Default)]
pub(super) struct Desk {
    open: Mutex<Option<Open>>,
}

/// Takes the question off the desk when dropped: nobody waits for its answer any more.
pub(super) struct Waiting {
    desk: Arc<Desk>,
    pub said: oneshot::Receiver<Said>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        *self.desk.lock() = None;
    }
}

impl Desk {
    /// Puts a question on the desk, in place of any other.
    pub fn put(self: &Arc<Desk>, question: Question) -> Waiting {
        let (reply, said) = oneshot::channel();
        *self.lock() = Some(Open { question, shown: None, reply: Some(reply) });
        Waiting { desk: self.clone(), said }
    }

    /// Gives the question's words out, once.
    pub fn show(&self, nonce: &str, now: Instant) -> Result<serde_json::Value, Refused> {
        let mut open = self.lock();
        let open = asked(&mut open, nonce, now)?;
        if open.shown.replace(now).is_some() {
            return Err(Refused::Closed);
        }
        let Question { words, subject, takes, until, .. } = &open.question;
        Ok(words.to_json(subject.text(), takes, until.saturating_duration_since(now)))
    }

    /// Takes an answer: the first one that the question offers, and not too early if it is a yes.
    pub fn answer(&self, nonce: &str, subject: &str, answer: Answer, now: Instant) -> Result<(), Refused> {
        let mut open = self.lock();
        let open = asked(&mut open, nonce, now)?;
        let offered = match &open.question.takes {
            Takes::Answers(answers) => answers.contains(&answer),
            Takes::Code => answer == Answer::No,
        };
        open.take(subject, offered, answer.agrees(), now, || Said::Answer(answer))
    }

    /// Takes a security code, where one is asked for.
    pub fn code(&self, nonce: &str, subject: &str, code: &[u8], now: Instant) -> Result<(), Refused> {
        let mut open = self.lock();
        let open = asked(&mut open, nonce, now)?;
        let offered = matches!(open.question.takes, Takes::Code);
        open.take(subject, offered, true, now, || {
            Said::Code(Secret::filled(code.len(), |bytes| bytes.copy_from_slice(code)))
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn take(
        &mut self,
        subject: &str,
        offered: bool,
        yes: bool,
        now: Instant,
        said: impl FnOnce() -> Said,
    ) -> Result<(), Refused> {
        if !offered || !self.question.subject.is(subject) {
            return Err(Refused::Closed);
        }
        let looked = self.shown.is_some_and(|shown| now.saturating_duration_since(shown) >= LOOK_FIRST);
        if yes && !looked {
            return Err(Refused::Early);
        }
        let reply = self.reply.take().ok_or(Refused::Closed)?;
        reply.send(said()).map_err(|_| Refused::Closed)
    }
}

/// The question on the desk, if it has this nonce and waits for an answer.
fn asked<'a>(open: &'a mut Option<Open>, nonce: &str, now: Instant) -> Result<&'a mut Open, Refused> {
    open.as_mut()
        .filter(|open| open.question.nonce.is(nonce) && now < open.question.until && open.reply.is_some())
        .ok_or(Refused::Closed)
}
