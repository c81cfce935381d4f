//! The answerer: the interface to the user.

use std::future::Future;
use std::pin::Pin;

use vault::Secret;

use super::answer::Answer;
use super::messages::{HandOver, HandedOver, Warning};
use super::prompt::ConsentPrompt;

/// A future of an answer.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// A future of a card's security code, if the user gives one.
pub type CodeFuture<'a> = Pin<Box<dyn Future<Output = Option<Secret>> + Send + 'a>>;

/// A future of the end of a hand-over.
pub type HandOverFuture<'a> = Pin<Box<dyn Future<Output = HandedOver> + Send + 'a>>;

/// A future that ends when a warning was shown.
pub type WarnFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The interface to the user, who answers prompts. A missing answer is no: when the prompt expires, the session stops
/// waiting and drops the future.
pub trait Answerer: Send {
    /// Asks for an answer to one prompt.
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a>;

    /// Asks for the security code of the card of an agreed payment. It is used for this payment and never stored; the
    /// payment can be made without it.
    fn card_code<'a>(&'a mut self, _card: &'a str, _prompt: &'a ConsentPrompt) -> CodeFuture<'a> {
        Box::pin(std::future::ready(None))
    }

    /// Whether [`hand_over`](Answerer::hand_over) reaches a user who sees the browser's window. By default it does not.
    fn offers_hand_over(&self) -> bool {
        false
    }

    /// Offers the user to finish a refused request manually, and waits until they report the end. The agent does nothing
    /// meanwhile. Unless the user lets it go on, it does and reads nothing more in the task, since the page may show what
    /// the user typed. By default it goes on.
    fn hand_over<'a>(&'a mut self, _offer: &'a HandOver) -> HandOverFuture<'a> {
        Box::pin(std::future::ready(HandedOver::GoOn))
    }

    /// Shows the user a warning, which needs no answer. Nothing waits for the user; by default nothing is shown.
    fn warn<'a>(&'a mut self, _warning: &'a Warning) -> WarnFuture<'a> {
        Box::pin(std::future::ready(()))
    }
}

/// An answerer that follows a rule, for tests and simulations.
pub struct ScriptedAnswerer<F>(pub F);

impl<F: FnMut(&ConsentPrompt) -> Answer + Send> Answerer for ScriptedAnswerer<F> {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        let answer = (self.0)(prompt);
        Box::pin(std::future::ready(answer))
    }
}
