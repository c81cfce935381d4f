//! A language model that remembers what it said, so that answers which begin alike share its steps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hmm_control::{LanguageModel, Token};

/// Remembers every step of a language model, until [`Remembering::forget`].
///
/// What it remembers takes the room of the states: for an experiment that answers one situation in many ways.
pub struct Remembering<M: LanguageModel> {
    model: M,
    steps: Mutex<Steps<M::State>>,
}

/// By what was read.
type Steps<S> = HashMap<Arc<[Token]>, Step<S>>;

/// Where the model stands, and what it said.
struct Step<S> {
    state: S,
    logits: Arc<[f32]>,
}

impl<M: LanguageModel> Remembering<M> {
    /// Remembers from now on.
    pub fn new(model: M) -> Remembering<M> {
        Remembering { model, steps: Mutex::default() }
    }

    /// Forgets everything.
    pub fn forget(&self) {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// What was read, and where the model stands.
#[derive(Clone)]
pub struct Read<S> {
    text: Arc<[Token]>,
    state: S,
}

impl<M: LanguageModel> LanguageModel for Remembering<M> {
    type State = Read<M::State>;
    type Error = M::Error;

    fn vocabulary(&self) -> usize {
        self.model.vocabulary()
    }

    fn end(&self) -> Option<Token> {
        self.model.end()
    }

    fn start(&self) -> Read<M::State> {
        Read { text: Arc::default(), state: self.model.start() }
    }

    fn step(&self, state: &mut Read<M::State>, tokens: &[Token], logits: &mut [f32]) -> Result<(), M::Error> {
        let text: Arc<[Token]> = state.text.iter().chain(tokens).copied().collect();
        let known = {
            let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
            steps.get(&text).map(|step| (step.state.clone(), Arc::clone(&step.logits)))
        };
        let (after, said) = match known {
            Some(known) => known,
            None => {
                let mut after = state.state.clone();
                self.model.step(&mut after, tokens, logits)?;
                let said: Arc<[f32]> = Arc::from(&*logits);
                let step = Step { state: after.clone(), logits: Arc::clone(&said) };
                self.steps.lock().unwrap_or_else(PoisonError::into_inner).insert(Arc::clone(&text), step);
                (after, said)
            }
        };
        logits.iter_mut().zip(said.iter()).for_each(|(to, from)| *to = *from);
        *state = Read { text, state: after };
        Ok(())
    }

    fn features<'a>(&self, state: &'a Read<M::State>) -> Option<&'a [f32]> {
        self.model.features(&state.state)
    }
}
