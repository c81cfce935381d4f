//! What a language model has to offer.

use crate::Token;

/// One sequence in a batch.
pub struct Lane<'a, S> {
    /// The state, which is moved on.
    pub state: &'a mut S,
    /// The tokens that follow what the state has read; at least one.
    pub tokens: &'a [Token],
    /// Room for the logits of the next token, as many as the vocabulary has tokens.
    pub logits: &'a mut [f32],
}

/// A language model that gives logits, whatever it runs on.
///
/// The state is what it has read so far (a cache of keys and values, say). Cloning it is a fork; keeping a clone and
/// going back to it is a rewind.
pub trait LanguageModel {
    /// What has been read so far.
    type State: Clone + Send;
    /// Why a step failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// How many tokens there are.
    fn vocabulary(&self) -> usize;

    /// The token that ends a text, where there is one.
    fn end(&self) -> Option<Token>;

    /// A state that has read nothing.
    fn start(&self) -> Self::State;

    /// Reads tokens and writes the logits of the next one. With no tokens it writes the logits that follow what was
    /// read before.
    ///
    /// # Errors
    /// What the runtime says; the state is then as good as lost.
    fn step(&self, state: &mut Self::State, tokens: &[Token], logits: &mut [f32]) -> Result<(), Self::Error>;

    /// A step of several sequences at once. One by one, unless the runtime knows better.
    ///
    /// # Errors
    /// As for [`LanguageModel::step`].
    fn step_batch(&self, lanes: &mut [Lane<'_, Self::State>]) -> Result<(), Self::Error> {
        lanes.iter_mut().try_for_each(|lane| self.step(lane.state, lane.tokens, lane.logits))
    }

    /// A vector that stands for what was read (the last hidden state, say), for the context-aware prior and for the
    /// start of a distillation; none where the runtime does not show it.
    fn features<'a>(&self, state: &'a Self::State) -> Option<&'a [f32]> {
        let _ = state;
        None
    }
}
