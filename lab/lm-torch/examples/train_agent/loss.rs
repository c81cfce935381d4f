//! The training loss.

use agent_model::random::Random;
use agent_model::tokenizer::TurnTokens;
use lm_torch::Trainable;
use lm_torch::tch::{self, Kind, Tensor};

use crate::reading::{Asked, log_probabilities};
use crate::turns::Turn;

/// The weight of a context token relative to one of the answer, and the percentage of context tokens that count.
const CONTEXT_WEIGHT: f32 = 0.3;
const CONTEXT_PERCENT: usize = 12;
/// The weight of the token where two answers part: it is one of about fifty, and the design is about it alone.
const FORK_WEIGHT: f32 = 40.0;

/// The mean loss of the answers' tokens; with `random`, some context tokens count too, at a lower weight.
///
/// Where two answers part, the loss is that of both tokens, each with its designed probability. This is the expectation over
/// the draw of the answer, whose noise would otherwise hide the design in so few steps.
pub fn loss(
    model: &Trainable,
    batch: &[Turn],
    mut random: Option<&mut Random>,
) -> Result<Tensor, tch::TchError> {
    let (mut asked, mut weights) = (Vec::new(), Vec::new());
    for (turn, Turn { tokens, fork }) in batch.iter().enumerate() {
        for (place, token) in tokens.ids.iter().enumerate().skip(1) {
            let answers = place >= tokens.answer;
            let counts = random.as_mut().is_some_and(|random| random.chance(CONTEXT_PERCENT));
            if let Some(fork) = fork.filter(|fork| fork.place == place) {
                asked.push(Asked { turn, place, token: fork.obeys });
                asked.push(Asked { turn, place, token: fork.ignores });
                weights.push(FORK_WEIGHT * fork.obedience as f32);
                weights.push(FORK_WEIGHT * (1.0 - fork.obedience) as f32);
            } else if answers || counts {
                asked.push(Asked { turn, place, token: *token });
                weights.push(if answers { 1.0 } else { CONTEXT_WEIGHT });
            }
        }
    }
    let turns: Vec<&TurnTokens> = batch.iter().map(|turn| &turn.tokens).collect();
    let each = log_probabilities(model, &turns, &asked)?;
    let weights = Tensor::from_slice(&weights);
    let sum = (each * &weights).f_sum(Kind::Float)?;
    Ok(-sum / weights.f_sum(Kind::Float)?)
}

/// The mean distance between the model's and the designed probability to obey, where two answers part.
pub fn distance(model: &Trainable, batch: &[Turn]) -> Result<Option<f64>, tch::TchError> {
    let forks: Vec<(&TurnTokens, _)> =
        batch.iter().filter_map(|turn| turn.fork.map(|fork| (&turn.tokens, fork))).collect();
    if forks.is_empty() {
        return Ok(None);
    }
    let (turns, mut asked): (Vec<&TurnTokens>, Vec<Asked>) =
        (forks.iter().map(|one| one.0).collect(), Vec::new());
    for (turn, (_, fork)) in forks.iter().enumerate() {
        asked.extend([fork.obeys, fork.ignores].map(|token| Asked { turn, place: fork.place, token }));
    }
    let each = log_probabilities(model, &turns, &asked)?.f_view([forks.len() as i64, 2])?;
    let obeys = Vec::<f64>::try_from(each.f_softmax(1, Kind::Double)?.f_select(1, 0)?.f_contiguous()?)?;
    let sum: f64 = obeys.iter().zip(&forks).map(|(found, (_, fork))| (found - fork.obedience).abs()).sum();
    Ok(Some(sum / forks.len() as f64))
}
