//! From tokens to hidden states: the same for reading on with a cache, and for training.

use crate::rotary::{Rotary, Turn};
use crate::weights::{Attention, Inner, Layer, Weights};
use lm_reference::Config;
use tch::{TchError, Tensor};

/// Queries, keys and values of some rows, each `[row, head, head width]`.
pub struct Heads {
    pub queries: Tensor,
    pub keys: Tensor,
    pub values: Tensor,
}

/// The hidden states behind the last norm, a row for each token. `attend(layer, heads)` says what each row takes from
/// the rows that it may see, as `[row, heads * head width]`. Gradients flow, unless the caller has switched them off.
pub fn hidden_states<E: From<TchError>>(
    config: &Config,
    weights: &Weights,
    rotary: Option<&Rotary>,
    tokens: &Tensor,
    positions: &Tensor,
    mut attend: impl FnMut(usize, Heads) -> Result<Tensor, E>,
) -> Result<Tensor, E> {
    let mut rows = Tensor::f_embedding(&weights.tokens, tokens, -1, false, false)?;
    if let Some(table) = &weights.positions {
        rows = rows.f_add(&Tensor::f_embedding(table, positions, -1, false, false)?)?;
    }
    let turn = rotary.map(|rotary| rotary.at(positions)).transpose()?;
    for (number, layer) in weights.layers.iter().enumerate() {
        let heads = heads(config, layer, &layer.before_attention.apply(&rows)?, turn.as_ref())?;
        rows = rows.f_add(&layer.output.apply(&attend(number, heads)?)?)?;
        rows = rows.f_add(&inner(layer, &layer.before_inner.apply(&rows)?)?)?;
    }
    Ok(weights.last.apply(&rows)?)
}

fn heads(config: &Config, layer: &Layer, rows: &Tensor, turn: Option<&Turn>) -> Result<Heads, TchError> {
    let split = |rows: &Tensor, heads: usize| rows.f_view([-1, heads as i64, config.head_width as i64]);
    let (queries, keys, values) = match &layer.attention {
        Attention::Joint(joint) => {
            let joint = joint.apply(rows)?;
            let width = config.query_width() as i64;
            let part = |number: i64| joint.f_narrow(1, number * width, width)?.f_contiguous();
            (part(0)?, part(1)?, part(2)?)
        }
        Attention::Separate { queries, keys, values } => {
            (queries.apply(rows)?, keys.apply(rows)?, values.apply(rows)?)
        }
    };
    let (queries, keys) = (split(&queries, config.heads)?, split(&keys, config.key_value_heads)?);
    let (queries, keys) = match turn {
        Some(turn) => (turn.apply(&queries)?, turn.apply(&keys)?),
        None => (queries, keys),
    };
    Ok(Heads { queries, keys, values: split(&values, config.key_value_heads)? })
}

fn inner(layer: &Layer, rows: &Tensor) -> Result<Tensor, TchError> {
    match &layer.inner {
        Inner::Gelu { widen, narrow } => narrow.apply(&widen.apply(rows)?.f_gelu("tanh")?),
        Inner::Gated { gate, widen, narrow } => {
            narrow.apply(&gate.apply(rows)?.f_silu()?.f_mul(&widen.apply(rows)?)?)
        }
    }
}

/// What queries take from keys and values, each `[batch, head, token, head width]`; the result is
/// `[batch, token, head * head width]`. The queries are the last of the tokens, and see what stands before them.
pub fn attention(queries: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor, TchError> {
    let (new, all) = (queries.size(), keys.size());
    let (Some(&new), Some(&all)) = (new.get(2), all.get(2)) else { return queries.f_contiguous() };
    let mask = match new == 1 || new == all {
        true => None,
        false => {
            let ones = Tensor::f_ones([new, all], (tch::Kind::Bool, queries.device()))?;
            Some(ones.f_tril(all - new)?)
        }
    };
    let grouped = queries.size().get(1) != keys.size().get(1);
    let causal = mask.is_none() && new > 1;
    let taken = Tensor::f_scaled_dot_product_attention(
        queries,
        keys,
        values,
        mask.as_ref(),
        0.0,
        causal,
        None::<f64>,
        grouped,
    )?;
    taken.f_transpose(1, 2)?.f_contiguous()?.f_flatten(2, 3)
}
