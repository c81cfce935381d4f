//! The client that the guard serves now, and its label in the guard's questions.

use std::sync::{Arc, Mutex, PoisonError};

use portcullis::consent::{
    AnswerFuture, Answerer, CodeFuture, ConsentPrompt, HandOver, HandOverFuture, Notice, WarnFuture, Warning,
};

use super::tokens::ClientLabel;

/// The client that the guard serves now, if it serves one.
#[derive(Clone, Default)]
pub struct CurrentClient(Arc<Mutex<Option<ClientLabel>>>);

impl CurrentClient {
    /// An answerer whose questions name the current client by the user's label, and not by what the client calls itself.
    pub fn named_by(&self, answerer: Box<dyn Answerer>) -> Box<dyn Answerer> {
        Box::new(NamingAnswerer { answerer, client: self.clone() })
    }

    pub(super) fn label(&self) -> Option<ClientLabel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, label: Option<ClientLabel>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = label;
    }
}

struct NamingAnswerer {
    answerer: Box<dyn Answerer>,
    client: CurrentClient,
}

impl NamingAnswerer {
    fn named(&self, prompt: &ConsentPrompt) -> ConsentPrompt {
        let mut prompt = prompt.clone();
        let label = self.client.label().map(|label| Notice::Client(label.to_string()));
        prompt.noticed.splice(0..0, label);
        prompt
    }
}

impl Answerer for NamingAnswerer {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        Box::pin(async move { self.answerer.answer(&self.named(prompt)).await })
    }

    fn card_code<'a>(&'a mut self, card: &'a str, prompt: &'a ConsentPrompt) -> CodeFuture<'a> {
        Box::pin(async move { self.answerer.card_code(card, &self.named(prompt)).await })
    }

    fn reached_the_user(&self) -> bool {
        self.answerer.reached_the_user()
    }

    fn offers_hand_over(&self) -> bool {
        self.answerer.offers_hand_over()
    }

    fn hand_over<'a>(&'a mut self, offer: &'a HandOver) -> HandOverFuture<'a> {
        self.answerer.hand_over(offer)
    }

    fn warn<'a>(&'a mut self, warning: &'a Warning) -> WarnFuture<'a> {
        self.answerer.warn(warning)
    }
}
