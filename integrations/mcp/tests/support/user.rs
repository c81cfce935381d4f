//! A user who agrees to everything.

use std::time::Duration;

use portcullis::consent::{
    Answer, AnswerFuture, Answerer, ConsentPrompt, HandOver, HandOverFuture, HandedOver,
};

/// Agrees to everything; takes this long to consider a hand-over, and declines it.
pub struct Willing {
    pub thinks: Duration,
}

impl Answerer for Willing {
    fn answer<'a>(&'a mut self, _: &'a ConsentPrompt) -> AnswerFuture<'a> {
        Box::pin(std::future::ready(Answer::Once))
    }

    fn offers_hand_over(&self) -> bool {
        true
    }

    fn hand_over<'a>(&'a mut self, _: &'a HandOver) -> HandOverFuture<'a> {
        Box::pin(async {
            tokio::time::sleep(self.thinks).await;
            HandedOver::GoOn
        })
    }
}
