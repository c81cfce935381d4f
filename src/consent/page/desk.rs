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
    /// That a person has finished by hand, or no.
    ByHand,
    /// That it was read.
    Notice,
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
        if open.shown.is_some() {
            return Err(Refused::Closed);
        }
        open.shown = Some(now);
        let Question { words, subject, takes, until, .. } = &open.question;
        Ok(words.to_json(subject.text(), takes, until.saturating_duration_since(now)))
    }

    /// Takes an answer: the first one that the question offers, and not too early if it is a yes.
    pub fn answer(&self, nonce: &str, subject: &str, answer: Answer, now: Instant) -> Result<(), Refused> {
        let mut open = self.lock();
        let open = asked(&mut open, nonce, now)?;
        let offered = match &open.question.takes {
            Takes::Answers(answers) => answers.contains(&answer),
            Takes::ByHand => matches!(answer, Answer::No | Answer::Once),
            Takes::Code | Takes::Notice => answer == Answer::No,
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

#[cfg(test)]
mod tests {
    use policy_dfa::{ConsentScope, Millis};
    use proptest::prelude::*;

    use super::*;
    use crate::consent::ticket::SubjectOf;
    use crate::consent::{ConsentPrompt, Ticket};

    const LASTS: u64 = 60_000;

    fn question(takes: Takes, began: Instant) -> Question {
        let ticket = Ticket::new([1; 16], SubjectOf::policy(&[0; 32]).finish(), Millis(0));
        let prompt = ConsentPrompt::new(Vec::new(), Vec::new(), ConsentScope::Site, ticket);
        Question {
            nonce: Hidden::new("nonce".to_owned()),
            subject: Hidden::new("subject".to_owned()),
            takes,
            words: Words::of(&prompt, None, None),
            until: began + Duration::from_millis(LASTS),
        }
    }

    /// What somebody does, and how many milliseconds after the last.
    #[derive(Debug, Clone)]
    enum Step {
        Show { right: bool },
        Answer { right: bool, about: bool, answer: Answer },
        Code { right: bool, about: bool },
    }

    fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
        let right = || prop::bool::weighted(0.8);
        let answer = (0..Answer::ALL.len()).prop_map(|which| Answer::ALL[which]);
        let step = prop_oneof![
            right().prop_map(|right| Step::Show { right }),
            (right(), right(), answer).prop_map(|(right, about, answer)| Step::Answer {
                right,
                about,
                answer
            }),
            (right(), right()).prop_map(|(right, about)| Step::Code { right, about }),
        ];
        let wait = prop_oneof![0..5u64, 650..750u64, Just(700), Just(LASTS - 700), 1..LASTS];
        prop::collection::vec((wait, step), 1..8)
    }

    proptest! {
        /// The desk against the sentences of `spec/consent.md`, said once more in another way: what may pass is
        /// decided from the list of everything that happened before.
        #[test]
        fn a_question_is_shown_once_and_answered_once(
            code in any::<bool>(),
            offered in prop::sample::subsequence(Answer::ALL.to_vec(), 1..5),
            steps in steps(),
        ) {
            let began = Instant::now();
            let desk: Arc<Desk> = Arc::default();
            let takes = if code { Takes::Code } else { Takes::Answers(offered.clone()) };
            let mut waiting = desk.put(question(takes, began));
            let (mut at, mut shown_at, mut taken) = (0, None, None);
            for (wait, step) in steps {
                at += wait;
                let now = began + Duration::from_millis(at);
                let nonce = |right| if right { "nonce" } else { "other" };
                let about = |right| if right { "subject" } else { "other" };
                let alive = taken.is_none() && at < LASTS;
                let looked = shown_at.is_some_and(|shown| at - shown >= 700);
                match step {
                    Step::Show { right } => {
                        let shown = desk.show(nonce(right), now).is_ok();
                        prop_assert_eq!(shown, alive && right && shown_at.is_none());
                        if shown {
                            shown_at = Some(at);
                        }
                    }
                    Step::Answer { right, about: subject, answer } => {
                        let result = desk.answer(nonce(right), about(subject), answer, now);
                        let fits = if code { answer == Answer::No } else { offered.contains(&answer) };
                        let may = alive && right && subject && fits;
                        let early = may && answer.agrees() && !looked;
                        prop_assert_eq!(result.is_ok(), may && !early);
                        prop_assert_eq!(result == Err(Refused::Early), early);
                        if result.is_ok() {
                            taken = Some(Some(answer));
                        }
                    }
                    Step::Code { right, about: subject } => {
                        let result = desk.code(nonce(right), about(subject), b"123", now);
                        prop_assert_eq!(result.is_ok(), alive && right && subject && code && looked);
                        if result.is_ok() {
                            taken = Some(None);
                        }
                    }
                }
            }
            let said = match waiting.said.try_recv() {
                Ok(Said::Answer(answer)) => Some(Some(answer)),
                Ok(Said::Code(_)) => Some(None),
                Err(_) => None,
            };
            prop_assert_eq!(said, taken);
            drop(waiting);
            prop_assert_eq!(desk.answer("nonce", "subject", Answer::No, began), Err(Refused::Closed));
        }
    }
}
