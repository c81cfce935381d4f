//! Batches and cached steps give the same answers as single runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_model::agent::{AgentModel, Choice};
use agent_model::cache::CachedModel;
use agent_model::dialogue::example;
use agent_model::tokenizer::{END, LONGEST_ANSWER};
use hmm_control::{LanguageModel, Sampler, Token};

#[test]
fn a_batch_gives_the_same_answers_as_single_runs() {
    let model = AgentModel::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("model")).unwrap();
    let sampler = Sampler::new(1.0).unwrap();
    let situations = [example(8, false).situation, example(21, false).situation];
    let drawn =
        model.answer_batch(&[(&situations[0], vec![5, 6]), (&situations[1], vec![5])], sampler).unwrap();
    let alone = |situation, seed| model.answer(situation, &mut Choice::drawn(sampler, seed)).unwrap();
    let wanted = [alone(&situations[0], 5), alone(&situations[0], 6), alone(&situations[1], 5)];
    assert_eq!(drawn.len(), wanted.len());
    for (drawn, wanted) in drawn.iter().zip(wanted) {
        assert_eq!(model.tokenizer().text(drawn).unwrap(), wanted);
        assert!(drawn.len() == LONGEST_ANSWER || drawn.last() == Some(&END));
    }
}

/// A model whose logits are the number of tokens read and the last of them; it counts its steps.
struct Counting(Arc<AtomicUsize>);

impl LanguageModel for Counting {
    type State = Vec<f32>;
    type Error = Infallible;

    fn vocabulary(&self) -> usize {
        2
    }

    fn end(&self) -> Option<Token> {
        None
    }

    fn start(&self) -> Vec<f32> {
        Vec::new()
    }

    fn step(&self, state: &mut Vec<f32>, tokens: &[Token], logits: &mut [f32]) -> Result<(), Infallible> {
        self.0.fetch_add(1, Ordering::Relaxed);
        state.extend(tokens.iter().map(|token| *token as f32));
        logits.copy_from_slice(&[state.len() as f32, state.last().copied().unwrap_or(-1.0)]);
        Ok(())
    }

    fn features<'a>(&self, state: &'a Vec<f32>) -> Option<&'a [f32]> {
        Some(state)
    }
}

#[test]
fn a_text_is_read_once_until_the_cache_is_cleared() {
    let steps = Arc::new(AtomicUsize::new(0));
    let model = CachedModel::new(Counting(Arc::clone(&steps)));
    let read = |texts: &[&[Token]]| {
        let (mut state, mut logits) = (model.start(), vec![0.0; 2]);
        texts.iter().for_each(|text| model.step(&mut state, text, &mut logits).unwrap());
        (logits, model.features(&state).unwrap().to_vec())
    };
    let count = || steps.load(Ordering::Relaxed);
    let first = read(&[&[5, 6], &[7]]);
    assert_eq!((count(), &first), (2, &(vec![3.0, 7.0], vec![5.0, 6.0, 7.0])));
    assert_eq!(read(&[&[5, 6], &[7]]), first);
    assert_eq!(count(), 2);
    // Another split of a cached text, and a new text.
    assert_eq!(read(&[&[5, 6, 7]]), first);
    assert_eq!(count(), 2);
    assert_eq!(read(&[&[5, 6], &[8]]).0, [3.0, 8.0]);
    assert_eq!(count(), 3);
    model.clear();
    assert_eq!(read(&[&[5, 6], &[7]]), first);
    assert_eq!(count(), 5);
}
