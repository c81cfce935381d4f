//! Positions, turned into queries and keys.

use lm_reference::Config;
use tch::{Device, Kind, TchError, Tensor};

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

    /// The rows of these positions, as `[row, 1, head width]`.
    pub fn at(&self, positions: &Tensor) -> Result<Turn, TchError> {
        let rows = |table: &Tensor| table.f_index_select(0, positions)?.f_unsqueeze(1);
        Ok(Turn { cosines: rows(&self.cosines)?, sines: rows(&self.sines)? })
    }
}

/// By how much each row is turned.
pub struct Turn {
    cosines: Tensor,
    sines: Tensor,
}

impl Turn {
    /// Turns heads, `[row, head, head width]`: the first half of a head is paired with the second.
    pub fn apply(&self, heads: &Tensor) -> Result<Tensor, TchError> {
        let halves = heads.f_chunk(2, -1)?;
        let [first, second] = halves.as_slice() else { return Ok(heads.shallow_clone()) };
        let turned = Tensor::f_cat(&[&second.f_neg()?, first], -1)?;
        heads.f_mul(&self.cosines)?.f_add(&turned.f_mul(&self.sines)?)
    }
}
