//! What an agent did in a trial and was answered, and what the user was asked meanwhile.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::agent::Action;

/// An action of the agent, with its answer.
#[derive(Debug, Clone)]
pub struct Taken {
    /// The action.
    pub action: Action,
    /// The answer as the agent read it.
    pub answer: String,
    /// When the answer came.
    pub at: Instant,
}

/// A question to the user, with the answer.
#[derive(Debug, Clone)]
pub struct Question {
    /// The whole question.
    pub text: String,
    /// True if the user agreed.
    pub agreed: bool,
    /// When it was answered.
    pub at: Instant,
}

/// The questions of a trial, shared between its user and its report.
#[derive(Clone, Default)]
pub(crate) struct Questions(Arc<Mutex<Vec<Question>>>);

impl Questions {
    pub(crate) fn note(&self, text: String, agreed: bool) {
        let question = Question { text, agreed, at: Instant::now() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(question);
    }

    pub(crate) fn take(&self) -> Vec<Question> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
