//! A language model that caches its steps, so that answers with a common prefix share them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hmm_control::{LanguageModel, Token};

/// Caches every step of a language model until [`CachedModel::clear`].
///
/// The cache holds a state and logits per step; it is meant for experiments that answer one situation in many ways.
pub struct CachedModel<M: LanguageModel> {
    model: M,
    steps: Mutex<Steps<M::State>>,
}

/// Cached steps by the tokens read.
type Steps<S> = HashMap<Arc<[Token]>, Step<S>>;

/// A cached step: the state after it, and the logits.
struct Step<S> {
    state: S,
    logits: Arc<[f32]>,
}

impl<M: LanguageModel> CachedModel<M> {
    /// An empty cache over a model.
    pub fn new(model: M) -> CachedModel<M> {
        CachedModel { model, steps: Mutex::default() }
    }

    /// Removes all cached steps.
    pub fn clear(&self) {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The tokens read, and the model's state after them.
#[derive(Clone)]
pub struct CachedState<S> {
    text: Arc<[Token]>,
    state: S,
}

impl<M: LanguageModel> LanguageModel for CachedModel<M> {
    type State = CachedState<M::State>;
    type Error = M::Error;

    fn vocabulary(&self) -> usize {
        self.model.vocabulary()
    }

    fn end(&self) -> Option<Token> {
        self.model.end()
    }

    fn start(&self) -> CachedState<M::State> {
        CachedState { text: Arc::default(), state: self.model.start() }
    }

    fn step(
        &self,
        state: &mut CachedState<M::State>,
        tokens: &[Token],
        logits: &mut [f32],
    ) -> Result<(), M::Error> {
        let text: Arc<[Token]> = state.text.iter().chain(tokens).copied().collect();
        let known = {
            let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
            steps.get(&text).map(|step| (step.state.clone(), Arc::clone(&step.logits)))
        };
        let (after, result) = match known {
            Some(known) => known,
            None => {
                let mut after = state.state.clone();
                self.model.step(&mut after, tokens, logits)?;
                let result: Arc<[f32]> = Arc::from(&*logits);
                let step = Step { state: after.clone(), logits: Arc::clone(&result) };
                self.steps.lock().unwrap_or_else(PoisonError::into_inner).insert(Arc::clone(&text), step);
                (after, result)
            }
        };
        logits.iter_mut().zip(result.iter()).for_each(|(to, from)| *to = *from);
        *state = CachedState { text, state: after };
        Ok(())
    }

    fn features<'a>(&self, state: &'a CachedState<M::State>) -> Option<&'a [f32]> {
        self.model.features(&state.state)
    }
}
