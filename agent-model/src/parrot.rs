//! A language model that says one text, for tests of what stands between a model and its reader.

use std::convert::Infallible;

use hmm_control::{LanguageModel, Token};

use crate::mind::Mind;
use crate::turn::Situation;
use crate::words::{END, Words, WordsError};

/// Says one text, whatever it reads, and any token where it is kept from the next of that text.
///
/// ```
/// use agent_model::{dialogue::example, mind::Choice, parrot::Parrot, turn::Situation, words::Words};
///
/// let words = Words::learn((0..40).map(|seed| example(seed, false).answer))?;
/// let mind = Parrot::mind("wait: no.", words)?;
/// let answer = mind.answer(&Situation::default(), &mut Choice::Greedy).map_err(|error| error.to_string());
/// assert_eq!(answer.as_deref(), Ok("wait: no."));
/// # Ok::<(), agent_model::words::WordsError>(())
/// ```
pub struct Parrot {
    says: Vec<Token>,
    vocabulary: usize,
}

impl Parrot {
    /// A mind that answers a text of one line, with these words, and copies nothing.
    ///
    /// # Errors
    /// What the tokenizer says.
    pub fn mind(text: &str, words: Words) -> Result<Mind<Parrot>, WordsError> {
        let said = Situation { task: text.to_owned(), ..Situation::default() };
        let tokens = words.situation(&said)?;
        // The task stands between its mark and the three that follow.
        let says = tokens.get(1..tokens.len().saturating_sub(3)).unwrap_or_default().to_vec();
        Ok(Mind::new(Parrot { says, vocabulary: words.vocabulary() }, words).freely())
    }
}

impl LanguageModel for Parrot {
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
        let next = self.says.get(at).copied().unwrap_or(END);
        if let Some(logit) = logits.get_mut(next as usize) {
            *logit = 9.0;
        }
        Ok(())
    }
}
