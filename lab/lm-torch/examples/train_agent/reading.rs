//! Log probabilities of the tokens of a batch of turns.

use agent_model::tokenizer::{END, TurnTokens};
use lm_torch::Trainable;
use lm_torch::tch::{self, Kind, Tensor};

/// A token at a place of a turn; it need not be the one that the turn has there.
#[derive(Clone, Copy)]
pub struct Asked {
    pub turn: usize,
    pub place: usize,
    pub token: u32,
}

/// The log probability of each asked token after the tokens before its place, `[asked]`.
pub fn log_probabilities(
    model: &Trainable,
    turns: &[&TurnTokens],
    asked: &[Asked],
) -> Result<Tensor, tch::TchError> {
    // The last token of a turn is only predicted.
    let width = turns.iter().map(|tokens| tokens.ids.len()).max().unwrap_or(2) - 1;
    let mut ids = Vec::with_capacity(turns.len() * width);
    for (number, tokens) in turns.iter().enumerate() {
        ids.extend(tokens.ids.iter().take(width).map(|id| i64::from(*id)));
        ids.resize((number + 1) * width, i64::from(END));
    }
    let rows: Vec<i64> = asked.iter().map(|one| (one.turn * width + one.place - 1) as i64).collect();
    let next: Vec<i64> = asked.iter().map(|one| i64::from(one.token)).collect();
    let ids = Tensor::from_slice(&ids).view([turns.len() as i64, width as i64]);
    let hidden = model.hidden(&ids)?.f_flatten(0, 1)?.f_index_select(0, &Tensor::from_slice(&rows))?;
    let head = &model.variables().variables()["model.embed_tokens.weight"];
    let logits = hidden.f_matmul(&head.f_tr()?)?;
    let each = logits.f_log_softmax(-1, Kind::Float)?;
    each.f_gather(1, &Tensor::from_slice(&next).unsqueeze(1), false)?.f_squeeze_dim(1)
}
