//! Many answers, written side by side: what a hidden Markov model of the answers is learnt from.

use hmm_control::{Lane, LanguageModel, Sampler, Token};

use crate::copying::{Copying, Draft};
use crate::mind::{Choice, Mind};
use crate::turn::Situation;
use crate::words::LONGEST_ANSWER;

/// An answer that is being written.
struct Text<'a, S> {
    copying: Option<&'a Copying>,
    state: S,
    logits: Vec<f32>,
    draft: Draft,
    choice: Choice,
    /// The tokens, with the one that ends the answer; without, where it was cut off.
    drawn: Vec<Token>,
    /// What the model has yet to read.
    unread: Vec<Token>,
}

impl<M: LanguageModel> Mind<M> {
    /// An answer to each situation for each of its seeds, in this order, drawn as [`Mind::answer`] draws it: its tokens, with the one that
    /// ends it, where it was not cut off. A situation is read once.
    ///
    /// # Errors
    /// What the model or the tokenizer says.
    pub fn several(
        &self,
        situations: &[(&Situation, Vec<u64>)],
        sampler: Sampler,
    ) -> Result<Vec<Vec<Token>>, Box<dyn std::error::Error + Send + Sync>> {
        let copying: Vec<Option<Copying>> =
            situations.iter().map(|(situation, _)| self.copying(situation)).collect();
        let mut texts: Vec<Text<'_, M::State>> = Vec::new();
        for ((situation, seeds), copying) in situations.iter().zip(&copying) {
            let mut state = self.model().start();
            let mut logits = vec![0.0; self.model().vocabulary()];
            self.model().step(&mut state, &self.words().situation(situation)?, &mut logits)?;
            texts.extend(seeds.iter().map(|seed| Text {
                copying: copying.as_ref(),
                state: state.clone(),
                logits: logits.clone(),
                draft: Draft::default(),
                choice: Choice::drawn(sampler, *seed),
                drawn: Vec::new(),
                unread: Vec::new(),
            }));
        }
        self.write_on(&mut texts)?;
        Ok(texts.into_iter().map(|text| text.drawn).collect())
    }

    /// Writes all texts to their ends.
    fn write_on(&self, texts: &mut [Text<'_, M::State>]) -> Result<(), M::Error> {
        let mut open: Vec<&mut Text<'_, M::State>> = texts.iter_mut().collect();
        while !open.is_empty() {
            open.retain_mut(|text| {
                let Text { copying, logits, draft, choice, drawn, unread, .. } = &mut **text;
                unread.clear();
                let token = choice.choose(logits, |token| self.may_stand(*copying, draft, token));
                let Some(token) = token else { return false };
                drawn.push(token);
                if Some(token) == self.model().end() {
                    return false;
                }
                if let Some(copying) = copying {
                    copying.write(draft, self.words().bytes(token));
                }
                unread.push(token);
                true
            });
            let mut lanes: Vec<Lane<'_, M::State>> = Vec::with_capacity(open.len());
            for text in &mut open {
                let Text { state, logits, unread, .. } = &mut **text;
                lanes.push(Lane { state, tokens: unread, logits });
            }
            if !lanes.is_empty() {
                self.model().step_batch(&mut lanes)?;
            }
            drop(lanes);
            open.retain(|text| text.drawn.len() < LONGEST_ANSWER);
        }
        Ok(())
    }
}
