//! Who answers.

use std::future::Future;
use std::pin::Pin;

use vault::Secret;

use super::{Answer, ConsentPrompt, HandOver, HandedOver, Warning};

/// A future of an answer.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// A future of a card's security code, if the user gives one.
pub type CodeFuture<'a> = Pin<Box<dyn Future<Output = Option<Secret>> + Send + 'a>>;

/// A future of how an offer to go on by hand ended.
pub type HandOverFuture<'a> = Pin<Box<dyn Future<Output = HandedOver> + Send + 'a>>;

/// A future of a warning that was shown.
pub type WarnFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Whoever answers prompts. No answer is no: the session stops waiting when the prompt runs out, and drops the
/// future.
pub trait Answerer: Send {
    /// Answers one prompt.
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a>;

    /// Asks for the security code of the card that a prompt agreed to pay with. It is used for this payment and
    /// never stored; without one the payment is made without.
    fn card_code<'a>(&'a mut self, _card: &'a str, _prompt: &'a ConsentPrompt) -> CodeFuture<'a> {
        Box::pin(std::future::ready(None))
    }

    /// Whether [`hand_over`](Answerer::hand_over) reaches somebody who sees the browser's window. By default not.
    fn offers_by_hand(&self) -> bool {
        false
    }

    /// Offers the user to finish by hand what the agent did not get, and waits until they say that they have. The
    /// agent does nothing meanwhile. Unless they say that it may go on it does and reads nothing more in the task: what
    /// a person types on a page is nobody's to read. By default it goes on.
    fn hand_over<'a>(&'a mut self, _offer: &'a HandOver) -> HandOverFuture<'a> {
        Box::pin(std::future::ready(HandedOver::GoOn))
    }

    /// Tells the user something that needs no answer. Nothing waits for the user; by default nobody is told.
    fn warn<'a>(&'a mut self, _warning: &'a Warning) -> WarnFuture<'a> {
        Box::pin(std::future::ready(()))
    }
}

/// Answers by a rule, for tests and simulations.
pub struct ScriptedAnswerer<F>(pub F);

impl<F: FnMut(&ConsentPrompt) -> Answer + Send> Answerer for ScriptedAnswerer<F> {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        let answer = (self.0)(prompt);
        Box::pin(std::future::ready(answer))
    }
}
