//! Products of stored rows with vectors: the inner loops that all the cost of a look-ahead goes into.

use crate::Storage;
use half::{bf16, f16};

/// A vector made ready to be multiplied with rows of one storage.
pub(crate) enum Operand {
    Wide(Vec<f64>),
    Narrow(Vec<f32>),
}

impl Operand {
    pub(crate) fn new(storage: Storage, vector: &[f64]) -> Operand {
        if storage == Storage::F64 {
            Operand::Wide(vector.to_vec())
        } else {
            Operand::Narrow(vector.iter().map(|value| *value as f32).collect())
        }
    }
}

/// A sum of rows, in the width that the storage computes in.
pub(crate) enum Accumulator {
    Wide(Vec<f64>),
    Narrow(Vec<f32>),
}

impl Accumulator {
    pub(crate) fn new(storage: Storage, length: usize) -> Accumulator {
        if storage == Storage::F64 {
            Accumulator::Wide(vec![0.0; length])
        } else {
            Accumulator::Narrow(vec![0.0; length])
        }
    }

    pub(crate) fn write(&self, out: &mut [f64]) {
        match self {
            Accumulator::Wide(sum) => out.copy_from_slice(sum),
            Accumulator::Narrow(sum) => out.iter_mut().zip(sum).for_each(|(out, sum)| *out = f64::from(*sum)),
        }
    }
}

/// One stored row, without its scale.
#[derive(Clone, Copy)]
pub(crate) enum Row<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    F16(&'a [f16]),
    Bf16(&'a [bf16]),
    Bits8(&'a [u8]),
}

fn square(value: u8) -> f32 {
    let value = f32::from(value);
    value * value
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
            Row::Bits8(row) => out.zip(row).for_each(|(out, value)| *out = scale * f64::from(square(*value))),
        }
    }

    /// The product with a vector.
    pub(crate) fn dot(self, vector: &Operand) -> f64 {
        match (self, vector) {
            (Row::F64(row), Operand::Wide(vector)) => row.iter().zip(vector).map(|(a, b)| a * b).sum(),
            (row, Operand::Narrow(vector)) => row.sum_narrow(vector),
            _ => 0.0,
        }
    }

    /// The products with two vectors, in one reading of the row.
    pub(crate) fn dot_pair(self, first: &Operand, second: &Operand) -> (f64, f64) {
        (self.dot(first), self.dot(second))
    }

    /// `sum += factor * row`.
    pub(crate) fn add_scaled(self, factor: f64, sum: &mut Accumulator) {
        match (self, sum) {
            (Row::F64(row), Accumulator::Wide(sum)) => {
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += factor * value);
            }
            (row, Accumulator::Narrow(sum)) => row.add_narrow(factor as f32, sum),
            _ => {}
        }
    }

    fn sum_narrow(self, vector: &[f32]) -> f64 {
        let sum: f32 = match self {
            Row::F64(_) => 0.0,
            Row::F32(row) => row.iter().zip(vector).map(|(a, b)| a * b).sum(),
            Row::F16(row) => row.iter().zip(vector).map(|(a, b)| a.to_f32() * b).sum(),
            Row::Bf16(row) => row.iter().zip(vector).map(|(a, b)| a.to_f32() * b).sum(),
            Row::Bits8(row) => row.iter().zip(vector).map(|(a, b)| square(*a) * b).sum(),
        };
        f64::from(sum)
    }

    fn add_narrow(self, factor: f32, sum: &mut [f32]) {
        let sum = sum.iter_mut();
        match self {
            Row::F64(_) => {}
            Row::F32(row) => sum.zip(row).for_each(|(sum, value)| *sum += factor * value),
            Row::F16(row) => sum.zip(row).for_each(|(sum, value)| *sum += factor * value.to_f32()),
            Row::Bf16(row) => sum.zip(row).for_each(|(sum, value)| *sum += factor * value.to_f32()),
            Row::Bits8(row) => sum.zip(row).for_each(|(sum, value)| *sum += factor * square(*value)),
        }
    }
}
