//! From tokens to hidden states, for decoding with a cache and for training.

use crate::weights::{Attention, FeedForward, Layer, Weights};
use language_models::transformer::Config;
use tch::{Device, Kind, TchError, Tensor};

/// Queries, keys and values of some rows, each `[row, head, head width]`.
pub struct Heads {
    pub queries: Tensor,
    pub keys: Tensor,
    pub values: Tensor,
}

/// The hidden states after the last norm, a row for each token. `attend(layer, heads)` computes the attention of each
/// row, as `[row, heads * head width]`. Gradients flow unless the caller has switched them off.
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
    let rotation = rotary.map(|rotary| rotary.at(positions)).transpose()?;
    for (number, layer) in weights.layers.iter().enumerate() {
        let heads = heads(config, layer, &layer.before_attention.apply(&rows)?, rotation.as_ref())?;
        rows = rows.f_add(&layer.output.apply(&attend(number, heads)?)?)?;
        rows = rows.f_add(&feed_forward(layer, &layer.before_inner.apply(&rows)?)?)?;
    }
    Ok(weights.last.apply(&rows)?)
}

fn heads(
    config: &Config,
    layer: &Layer,
    rows: &Tensor,
    rotation: Option<&Rotation>,
) -> Result<Heads, TchError> {
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
    let (queries, keys) = match rotation {
        Some(rotation) => (rotation.apply(&queries)?, rotation.apply(&keys)?),
        None => (queries, keys),
    };
    Ok(Heads { queries, keys, values: split(&values, config.key_value_heads)? })
}

fn feed_forward(layer: &Layer, rows: &Tensor) -> Result<Tensor, TchError> {
    match &layer.inner {
        FeedForward::Gelu { widen, narrow } => narrow.apply(&widen.apply(rows)?.f_gelu("tanh")?),
        FeedForward::Gated { gate, widen, narrow } => {
            narrow.apply(&gate.apply(rows)?.f_silu()?.f_mul(&widen.apply(rows)?)?)
        }
    }
}

/// Causal attention of queries, keys and values, each `[batch, head, token, head width]`; the result is
/// `[batch, token, head * head width]`. The queries belong to the last of the tokens.
pub fn attention(queries: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor, TchError> {
    let (new, all) = (queries.size(), keys.size());
    let (Some(&new), Some(&all)) = (new.get(2), all.get(2)) else { return queries.f_contiguous() };
    let mask = match new == 1 || new == all {
        true => None,
        false => {
            let ones = Tensor::f_ones([new, all], (Kind::Bool, queries.device()))?;
            Some(ones.f_tril(all - new)?)
        }
    };
    let grouped = queries.size().get(1) != keys.size().get(1);
    let causal = mask.is_none() && new > 1;
    let attended = Tensor::f_scaled_dot_product_attention(
        queries,
        keys,
        values,
        mask.as_ref(),
        0.0,
        causal,
        None::<f64>,
        grouped,
    )?;
    attended.f_transpose(1, 2)?.f_contiguous()?.f_flatten(2, 3)
}

/// Cosines and sines of every position, a row for each, doubled to the width of a head.
pub struct Rotary {
    cosines: Tensor,
    sines: Tensor,
}

impl Rotary {
    pub fn new(config: &Config, device: Device, kind: Kind) -> Result<Rotary, TchError> {
        let (cosines, sines) = config.rope.table(config.head_width, config.positions);
        let rows = |values: &[f32]| -> Result<Tensor, TchError> {
            let half = Tensor::f_from_slice(values)?.f_view([config.positions as i64, -1])?;
            Tensor::f_cat(&[&half, &half], 1)?.f_to_kind(kind)?.f_to_device(device)
        };
        Ok(Rotary { cosines: rows(&cosines)?, sines: rows(&sines)? })
    }

    /// The rotation of these positions, as `[row, 1, head width]`.
    pub fn at(&self, positions: &Tensor) -> Result<Rotation, TchError> {
        let rows = |table: &Tensor| table.f_index_select(0, positions)?.f_unsqueeze(1);
        Ok(Rotation { cosines: rows(&self.cosines)?, sines: rows(&self.sines)? })
    }
}

/// The rotation of each row.
pub struct Rotation {
    cosines: Tensor,
    sines: Tensor,
}

impl Rotation {
    /// Rotates heads, `[row, head, head width]`; the first half of a head is paired with the second.
    pub fn apply(&self, heads: &Tensor) -> Result<Tensor, TchError> {
        let halves = heads.f_chunk(2, -1)?;
        let [first, second] = halves.as_slice() else { return Ok(heads.shallow_clone()) };
        let rotated = Tensor::f_cat(&[&second.f_neg()?, first], -1)?;
        heads.f_mul(&self.cosines)?.f_add(&rotated.f_mul(&self.sines)?)
    }
}
