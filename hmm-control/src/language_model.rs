//! The interface of a language model.

/// A token's number in the language model's vocabulary.
pub type Token = u32;

/// One sequence in a batch.
pub struct Lane<'a, S> {
    /// The state, which is updated.
    pub state: &'a mut S,
    /// The next tokens to read; at least one.
    pub tokens: &'a [Token],
    /// The slice for the logits of the next token, one for each token of the vocabulary.
    pub logits: &'a mut [f32],
}

/// A language model that gives logits, on any runtime.
///
/// The state holds the text read so far (as a cache of keys and values, say). A clone is a fork; returning to an earlier
/// clone is a rewind.
pub trait LanguageModel {
    /// The state after some tokens.
    type State: Clone + Send;
    /// Why a step failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Size of the vocabulary.
    fn vocabulary(&self) -> usize;

    /// The token that ends a text, where there is one.
    fn end(&self) -> Option<Token>;

    /// A state that has read nothing.
    fn start(&self) -> Self::State;

    /// Reads tokens and writes the logits of the next one. Without tokens it repeats the logits after the last token
    /// read.
    ///
    /// # Errors
    /// When the runtime fails; the state is then unusable.
    fn step(&self, state: &mut Self::State, tokens: &[Token], logits: &mut [f32]) -> Result<(), Self::Error>;

    /// A step of several sequences at once. The default takes them one by one.
    ///
    /// # Errors
    /// The same as [`LanguageModel::step`].
    fn step_batch(&self, lanes: &mut [Lane<'_, Self::State>]) -> Result<(), Self::Error> {
        lanes.iter_mut().try_for_each(|lane| self.step(lane.state, lane.tokens, lane.logits))
    }

    /// A feature vector of the text read so far (the last hidden state, say), for the context-aware prior and for the
    /// start of a distillation; none where the runtime does not expose one.
    fn features<'a>(&self, state: &'a Self::State) -> Option<&'a [f32]> {
        let _ = state;
        None
    }
}
