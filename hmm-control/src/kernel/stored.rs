//! Rows as a matrix stores them.

use crate::Storage;
use half::{bf16, f16};

/// One stored row, without its scale.
#[derive(Clone, Copy)]
pub(crate) enum Row<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    F16(&'a [f16]),
    Bf16(&'a [bf16]),
    Bits8(&'a [u8]),
}

impl<'a> Row<'a> {
    /// A row over bytes that `Matrix` has checked: a wrong length or alignment reads as an empty row.
    pub(crate) fn new(storage: Storage, bytes: &'a [u8]) -> Row<'a> {
        match storage {
            Storage::F64 => Row::F64(bytemuck::try_cast_slice(bytes).unwrap_or_default()),
            Storage::F32 => Row::F32(bytemuck::try_cast_slice(bytes).unwrap_or_default()),
            Storage::F16 => Row::F16(bytemuck::try_cast_slice(bytes).unwrap_or_default()),
            Storage::Bf16 => Row::Bf16(bytemuck::try_cast_slice(bytes).unwrap_or_default()),
            Storage::Bits8 => Row::Bits8(bytes),
        }
    }

    /// Writes `scale * row`.
    pub(crate) fn read(self, scale: f64, out: &mut [f64]) {
        let out = out.iter_mut();
        match self {
            Row::F64(row) => out.zip(row).for_each(|(out, value)| *out = *value),
            Row::F32(row) => out.zip(row).for_each(|(out, value)| *out = f64::from(*value)),
            Row::F16(row) => out.zip(row).for_each(|(out, value)| *out = scale * value.to_f64()),
            Row::Bf16(row) => out.zip(row).for_each(|(out, value)| *out = value.to_f64()),
            Row::Bits8(row) => out.zip(row).for_each(|(out, value)| {
                let root = f64::from(*value);
                *out = scale * root * root;
            }),
        }
    }
}
