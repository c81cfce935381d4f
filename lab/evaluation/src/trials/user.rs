//! A simulated user, who answers by the truth of the task and makes more errors the more often they are asked.

use std::sync::{Arc, Mutex, PoisonError};

use portcullis::consent::{Answer, AnswerFuture, Answerer, Asked, ConsentPrompt};
use serde::{Deserialize, Serialize};

use crate::random::Random;

/// The error model of a user. The k-th prompt of a user's day is answered wrongly with probability `min(most, base +
/// growth * (k - 1))`, independently of the others.
///
/// ```
/// use evaluation::user::UserModel;
/// let tired = UserModel { base: 0.01, growth: 0.02, most: 0.5 };
/// assert!((tired.error(3) - 0.05).abs() < 1e-12);
/// assert_eq!(UserModel::TRUTHFUL.error(1_000), 0.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UserModel {
    /// The probability of a wrong answer to the first prompt, in `[0, 1]`.
    pub base: f64,
    /// The increase for each further prompt.
    pub growth: f64,
    /// The maximum, in `[0, 1]`; 0.5 is a coin toss.
    pub most: f64,
}

impl UserModel {
    /// A user who never errs.
    pub const TRUTHFUL: UserModel = UserModel { base: 0.0, growth: 0.0, most: 0.5 };

    /// The probability of a wrong answer to the `number`-th prompt, counted from 1.
    pub fn error(&self, number: u64) -> f64 {
        let grown = self.base + self.growth * number.saturating_sub(1) as f64;
        grown.min(self.most).clamp(0.0, 1.0)
    }
}

/// The record of one prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRecord {
    /// The subjects of the prompt: `container`, `release`, `pay`, `reveal`, `verb`.
    pub about: Vec<String>,
    /// True if yes was the right answer.
    pub right: bool,
    /// True if the user said yes.
    pub said: bool,
}

/// The record of a user's prompts, shared with the maker of the user.
pub type PromptRecords = Arc<Mutex<Vec<PromptRecord>>>;

/// Answers prompts as a person with this error model would. `truth` gives the answers of a user who never errs.
pub struct SimulatedUser<T> {
    truth: T,
    model: UserModel,
    random: Random,
    earlier: u64,
    askings: PromptRecords,
    always_agrees: bool,
}

impl<T: FnMut(&ConsentPrompt) -> Answer + Send> SimulatedUser<T> {
    /// A user who has met `earlier` prompts today. The errors follow from `seed`.
    pub fn new(truth: T, model: UserModel, earlier: u64, seed: u64) -> SimulatedUser<T> {
        SimulatedUser {
            truth,
            model,
            random: Random::new(seed),
            earlier,
            askings: PromptRecords::default(),
            always_agrees: false,
        }
    }

    /// The same user, who says yes to everything. The record still has the right answers.
    #[must_use]
    pub fn who_always_agrees(self) -> SimulatedUser<T> {
        SimulatedUser { always_agrees: true, ..self }
    }

    /// The record of the prompts.
    pub fn askings(&self) -> PromptRecords {
        self.askings.clone()
    }

    fn decide(&mut self, prompt: &ConsentPrompt) -> Answer {
        let truth = (self.truth)(prompt);
        let about = prompt.asked.iter().map(|asked| about(asked).to_owned()).collect();
        let errs = self.errs();
        let answer = if self.always_agrees { Answer::Session } else { answer(truth, errs) };
        let asking = PromptRecord { about, right: truth.agrees(), said: answer.agrees() };
        self.askings.lock().unwrap_or_else(PoisonError::into_inner).push(asking);
        answer
    }

    fn errs(&mut self) -> bool {
        self.earlier += 1;
        // A fraction holds 53 bits.
        let drawn = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        drawn < self.model.error(self.earlier)
    }
}

impl<T: FnMut(&ConsentPrompt) -> Answer + Send> Answerer for SimulatedUser<T> {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        let answer = self.decide(prompt);
        Box::pin(std::future::ready(answer))
    }
}

/// The true answer, or its contrary: a no for any yes, a yes for this task for any no.
fn answer(truth: Answer, errs: bool) -> Answer {
    match (errs, truth.agrees()) {
        (false, _) => truth,
        (true, true) => Answer::No,
        (true, false) => Answer::Session,
    }
}

fn about(asked: &Asked) -> &'static str {
    match asked {
        Asked::Container { .. } => "container",
        Asked::Release { .. } => "release",
        Asked::Tell { .. } => "tell",
        Asked::Pay { .. } => "pay",
        Asked::Buy { .. } => "buy",
        Asked::Mandate { .. } => "mandate",
        Asked::Order(_) => "order",
        Asked::NewPassword { .. } => "new_password",
        Asked::Reveal { .. } => "reveal",
        Asked::SignOn { .. } => "sign_on",
        Asked::Upload { .. } => "upload",
        Asked::Restore { .. } => "restore",
        Asked::KeepLogin { .. } => "keep_login",
        Asked::Verb { .. } | Asked::AtProvider { .. } => "verb",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn user(model: UserModel, earlier: u64, seed: u64) -> SimulatedUser<fn(&ConsentPrompt) -> Answer> {
        SimulatedUser::new(|_| Answer::Session, model, earlier, seed)
    }

    #[test]
    fn errors_come_as_often_as_the_model_says() {
        let model = UserModel { base: 0.05, growth: 0.1, most: 0.3 };
        for (number, rate) in [(1u64, 0.05), (2, 0.15), (3, 0.25), (4, 0.3), (90, 0.3)] {
            const USERS: u64 = 20_000;
            let wrong = (0..USERS).filter(|seed| user(model, number - 1, *seed).errs()).count();
            let seen = wrong as f64 / USERS as f64;
            assert!((seen - rate).abs() < 0.012, "{number}: {seen}");
        }
    }

    #[test]
    fn a_wrong_answer_is_the_contrary() {
        for truth in Answer::ALL {
            assert_eq!(answer(truth, false), truth);
            assert_ne!(answer(truth, true).agrees(), truth.agrees());
        }
    }

    proptest! {
        #[test]
        fn the_error_rate_is_a_rate_and_never_falls(
            base in 0.0f64..1.0, growth in 0.0f64..1.0, most in 0.0f64..1.0, number in 1u64..500
        ) {
            let model = UserModel { base, growth, most };
            let (here, next) = (model.error(number), model.error(number + 1));
            prop_assert!((0.0..=1.0).contains(&here) && here <= next && next <= most);
        }

        #[test]
        fn a_user_who_never_errs_never_errs(seed: u64, earlier in 0u64..1000) {
            let mut truthful = user(UserModel::TRUTHFUL, earlier, seed);
            prop_assert!((0..20).all(|_| !truthful.errs()));
        }
    }
}
