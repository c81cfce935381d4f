//! A language model with one fixed answer, for tests of the code between a model and its reader.

use std::convert::Infallible;

use hmm_control::{LanguageModel, Token};

use crate::agent::AgentModel;
use crate::tokenizer::{END, TokenizerError, TurnTokenizer};
use crate::turn::Situation;

/// Writes one text for any input, and an arbitrary token where the next one of that text is forbidden.
///
/// ```
/// use agent_model::{dialogue::example, agent::Choice, echo::EchoModel, tokenizer::TurnTokenizer, turn::Situation};
///
/// let tokenizer = TurnTokenizer::learn((0..40).map(|seed| example(seed, false).answer))?;
/// let model = EchoModel::agent("wait: no.", tokenizer)?;
/// let answer = model.answer(&Situation::default(), &mut Choice::Greedy).map_err(|error| error.to_string());
/// assert_eq!(answer.as_deref(), Ok("wait: no."));
/// # Ok::<(), agent_model::tokenizer::TokenizerError>(())
/// ```
pub struct EchoModel {
    answer: Vec<Token>,
    vocabulary: usize,
}

impl EchoModel {
    /// An agent model that answers with a text of one line, without the copying constraint.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn agent(text: &str, tokenizer: TurnTokenizer) -> Result<AgentModel<EchoModel>, TokenizerError> {
        let said = Situation { task: text.to_owned(), ..Situation::default() };
        let tokens = tokenizer.situation(&said)?;
        // The task is between its special token and the three that follow.
        let answer = tokens.get(1..tokens.len().saturating_sub(3)).unwrap_or_default().to_vec();
        Ok(AgentModel::new(EchoModel { answer, vocabulary: tokenizer.vocabulary() }, tokenizer)
            .without_copying())
    }
}

impl LanguageModel for EchoModel {
    type State = Option<usize>;
    type Error = Infallible;

    fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    fn end(&self) -> Option<Token> {
        Some(END)
    }

    fn start(&self) -> Option<usize> {
        None
    }

    fn step(
        &self,
        state: &mut Option<usize>,
        _tokens: &[Token],
        logits: &mut [f32],
    ) -> Result<(), Infallible> {
        let at = state.map_or(0, |at| at + 1);
        *state = Some(at);
        logits.fill(0.0);
        let next = self.answer.get(at).copied().unwrap_or(END);
        if let Some(logit) = logits.get_mut(next as usize) {
            *logit = 9.0;
        }
        Ok(())
    }
}
