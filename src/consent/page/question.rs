//! The one question that the page may show now, and its one answer.
//!
//! This module reads no clock: the caller passes the time to every step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::oneshot;
use vault::Secret;

use super::content::{Accepts, PageContent};
use crate::consent::{Answer, MIN_READING_TIME};
use crate::system::loopback::Hidden;

/// The user's reply.
pub(super) enum Reply {
    Answer(Answer),
    Code(Secret),
    /// An account, by its place in the list.
    Account(usize),
}

/// Why a step was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// There is no such question, or it does not accept this reply, or no longer.
    Closed,
    /// The question has not been shown to the user for long enough.
    Early,
}

/// A question.
pub(super) struct Question {
    pub nonce: Hidden,
    pub subject: Hidden,
    pub accepts: Accepts,
    pub content: PageContent,
    /// The time of expiry.
    pub until: Instant,
}

struct State {
    question: Question,
    shown: Option<Instant>,
    reply: Option<oneshot::Sender<Reply>>,
}

/// The slot for at most one question.
#[derive(Default)]
pub(super) struct QuestionSlot {
    state: Mutex<Option<State>>,
}

/// An open question. Dropping it empties the slot, since no one waits for the reply any more.
pub(super) struct OpenQuestion {
    slot: Arc<QuestionSlot>,
    pub reply: oneshot::Receiver<Reply>,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        *self.slot.lock() = None;
    }
}

impl QuestionSlot {
    /// Puts a question in the slot, in place of any other.
    pub fn put(self: &Arc<QuestionSlot>, question: Question) -> OpenQuestion {
        let (sender, reply) = oneshot::channel();
        *self.lock() = Some(State { question, shown: None, reply: Some(sender) });
        OpenQuestion { slot: self.clone(), reply }
    }

    /// Returns the question's content, once.
    pub fn show(&self, nonce: &str, now: Instant) -> Result<serde_json::Value, Refused> {
        let mut state = self.lock();
        let state = waiting(&mut state, nonce, now)?;
        if state.shown.is_some() {
            return Err(Refused::Closed);
        }
        state.shown = Some(now);
        let Question { content, subject, accepts, until, .. } = &state.question;
        Ok(content.to_json(subject.text(), accepts, until.saturating_duration_since(now)))
    }

    /// Accepts the first answer that the question offers. A yes must not come too early.
    pub fn answer(&self, nonce: &str, subject: &str, answer: Answer, now: Instant) -> Result<(), Refused> {
        let mut state = self.lock();
        let state = waiting(&mut state, nonce, now)?;
        let offered = match &state.question.accepts {
            Accepts::Answers(answers) => answers.contains(&answer),
            Accepts::HandOver => matches!(answer, Answer::No | Answer::Once),
            Accepts::Code(_) | Accepts::Account { .. } | Accepts::Notice => answer == Answer::No,
        };
        state.accept(subject, offered, answer.agrees(), now, || Reply::Answer(answer))
    }

    /// Accepts a code, where the question asks for one that can be this.
    pub fn code(&self, nonce: &str, subject: &str, code: &[u8], now: Instant) -> Result<(), Refused> {
        let mut state = self.lock();
        let state = waiting(&mut state, nonce, now)?;
        let offered = matches!(&state.question.accepts, Accepts::Code(asked) if asked.accepts(code));
        state.accept(subject, offered, true, now, || {
            Reply::Code(Secret::filled(code.len(), |bytes| bytes.copy_from_slice(code)))
        })
    }

    /// Accepts an account, by its number from 1, where the question has so many.
    pub fn account(&self, nonce: &str, subject: &str, account: u8, now: Instant) -> Result<(), Refused> {
        let mut state = self.lock();
        let state = waiting(&mut state, nonce, now)?;
        let place = usize::from(account).checked_sub(1);
        let place =
            place.filter(|at| matches!(state.question.accepts, Accepts::Account { count } if *at < count));
        state.accept(subject, place.is_some(), true, now, || Reply::Account(place.unwrap_or_default()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn accept(
        &mut self,
        subject: &str,
        offered: bool,
        yes: bool,
        now: Instant,
        reply: impl FnOnce() -> Reply,
    ) -> Result<(), Refused> {
        if !offered || !self.question.subject.is(subject) {
            return Err(Refused::Closed);
        }
        let looked = self.shown.is_some_and(|shown| now.saturating_duration_since(shown) >= MIN_READING_TIME);
        if yes && !looked {
            return Err(Refused::Early);
        }
        let sender = self.reply.take().ok_or(Refused::Closed)?;
        sender.send(reply()).map_err(|_| Refused::Closed)
    }
}

/// The question in the slot, if it has this nonce and waits for a reply.
fn waiting<'a>(state: &'a mut Option<State>, nonce: &str, now: Instant) -> Result<&'a mut State, Refused> {
    state
        .as_mut()
        .filter(|it| it.question.nonce.is(nonce) && now < it.question.until && it.reply.is_some())
        .ok_or(Refused::Closed)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use policy_dfa::{ConsentScope, Millis};
    use proptest::prelude::*;

    use super::*;
    use crate::consent::{AskedCode, ConsentPrompt, SubjectBuilder, Ticket};

    const LASTS: u64 = 60_000;

    fn question(accepts: Accepts, began: Instant) -> Question {
        let ticket = Ticket::new([1; 16], SubjectBuilder::policy(&[0; 32]).finish(), Millis(0));
        let prompt = ConsentPrompt::new(Vec::new(), Vec::new(), ConsentScope::Site, ticket);
        Question {
            nonce: Hidden::new("nonce".to_owned()),
            subject: Hidden::new("subject".to_owned()),
            content: PageContent::of(&prompt, &accepts, None),
            accepts,
            until: began + Duration::from_millis(LASTS),
        }
    }

    /// One step of a client.
    #[derive(Debug, Clone)]
    enum Step {
        Show { right: bool },
        Answer { right: bool, about: bool, answer: Answer },
        Code { right: bool, about: bool },
        Account { right: bool, about: bool, account: u8 },
    }

    /// The kind of reply that a question asks for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Asks {
        Answer,
        Code,
        Account,
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
            (right(), right(), 0..5u8).prop_map(|(right, about, account)| Step::Account {
                right,
                about,
                account
            }),
        ];
        let wait = prop_oneof![0..5u64, 650..750u64, Just(700), Just(LASTS - 700), 1..LASTS];
        prop::collection::vec((wait, step), 1..8)
    }

    proptest! {
        /// Compares the slot with a second implementation of the rules in `spec/consent.md`, which decides by the list of
        /// all earlier steps.
        #[test]
        fn a_question_is_shown_once_and_answered_once(
            asks in prop::sample::select(vec![Asks::Answer, Asks::Code, Asks::Account]),
            offered in prop::sample::subsequence(Answer::ALL.to_vec(), 1..5),
            steps in steps(),
        ) {
            let began = Instant::now();
            let slot: Arc<QuestionSlot> = Arc::default();
            let card = || AskedCode::Card("card:me".to_owned());
            let accepts = match asks {
                Asks::Answer => Accepts::Answers(offered.clone()),
                Asks::Code => Accepts::Code(card()),
                Asks::Account => Accepts::Account { count: 3 },
            };
            let mut open = slot.put(question(accepts, began));
            let (mut at, mut shown_at, mut taken, mut chosen) = (0, None, None, None);
            for (wait, step) in steps {
                at += wait;
                let now = began + Duration::from_millis(at);
                let nonce = |right| if right { "nonce" } else { "other" };
                let about = |right| if right { "subject" } else { "other" };
                let alive = taken.is_none() && at < LASTS;
                let looked = shown_at.is_some_and(|shown| at - shown >= 700);
                match step {
                    Step::Show { right } => {
                        let shown = slot.show(nonce(right), now).is_ok();
                        prop_assert_eq!(shown, alive && right && shown_at.is_none());
                        if shown {
                            shown_at = Some(at);
                        }
                    }
                    Step::Answer { right, about: subject, answer } => {
                        let result = slot.answer(nonce(right), about(subject), answer, now);
                        let is_choice = asks == Asks::Answer;
                        let fits = if is_choice { offered.contains(&answer) } else { answer == Answer::No };
                        let may = alive && right && subject && fits;
                        let early = may && answer.agrees() && !looked;
                        prop_assert_eq!(result.is_ok(), may && !early);
                        prop_assert_eq!(result == Err(Refused::Early), early);
                        if result.is_ok() {
                            taken = Some(Some(answer));
                        }
                    }
                    Step::Code { right, about: subject } => {
                        let result = slot.code(nonce(right), about(subject), b"123", now);
                        prop_assert_eq!(result.is_ok(), alive && right && subject && asks == Asks::Code && looked);
                        if result.is_ok() {
                            taken = Some(None);
                        }
                    }
                    Step::Account { right, about: subject, account } => {
                        let result = slot.account(nonce(right), about(subject), account, now);
                        let fits = asks == Asks::Account && (1..=3).contains(&account);
                        prop_assert_eq!(result.is_ok(), alive && right && subject && fits && looked);
                        if result.is_ok() {
                            (taken, chosen) = (Some(None), Some(usize::from(account) - 1));
                        }
                    }
                }
            }
            let reply = match open.reply.try_recv() {
                Ok(Reply::Answer(answer)) => Some(Some(answer)),
                Ok(Reply::Code(_)) => Some(None),
                Ok(Reply::Account(place)) => {
                    prop_assert_eq!(Some(place), chosen);
                    Some(None)
                }
                Err(_) => None,
            };
            prop_assert_eq!(reply, taken);
            drop(open);
            prop_assert_eq!(slot.answer("nonce", "subject", Answer::No, began), Err(Refused::Closed));
        }
    }
}
