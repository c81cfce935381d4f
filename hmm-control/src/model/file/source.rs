//! A published tensor, read as distributions and transposed.

use super::error::FileError;
use super::header::Tensor;
use crate::{Matrix, ModelError, Storage};
use half::{bf16, f16};
use safetensors::tensor::Dtype;

/// Numbers held at once while a tensor is transposed: 16 MiB. Every page of the file is read once for each block that it
/// belongs to, so a smaller block would cost time where the file is larger than the free memory.
const BLOCK: usize = 1 << 21;

/// A tensor whose rows are distributions, by state.
pub(super) struct Source<'a> {
    name: &'static str,
    bytes: &'a [u8],
    rows: usize,
    columns: usize,
    numbers: Numbers,
    logarithms: bool,
}

#[derive(Clone, Copy)]
enum Numbers {
    F64,
    F32,
    F16,
    Bf16,
}

impl Numbers {
    fn bytes(self) -> usize {
        match self {
            Numbers::F64 => 8,
            Numbers::F32 => 4,
            Numbers::F16 | Numbers::Bf16 => 2,
        }
    }

    /// How far from 1 a distribution in these numbers may sum. In 16 bits a logarithm of -10 is off by up to 0.004,
    /// respectively 0.03.
    fn tolerance(self) -> f64 {
        match self {
            Numbers::F64 | Numbers::F32 => 1e-3,
            Numbers::F16 => 1e-2,
            Numbers::Bf16 => 5e-2,
        }
    }

    /// Calls `each` with every number.
    fn decode(self, bytes: &[u8], mut each: impl FnMut(f64)) {
        match self {
            Numbers::F64 => bytes.as_chunks().0.iter().for_each(|bytes| each(f64::from_le_bytes(*bytes))),
            Numbers::F32 => {
                bytes.as_chunks().0.iter().for_each(|bytes| each(f64::from(f32::from_le_bytes(*bytes))));
            }
            Numbers::F16 => {
                bytes.as_chunks().0.iter().for_each(|bytes| each(f16::from_le_bytes(*bytes).to_f64()));
            }
            Numbers::Bf16 => {
                bytes.as_chunks().0.iter().for_each(|bytes| each(bf16::from_le_bytes(*bytes).to_f64()));
            }
        }
    }
}

impl<'a> Source<'a> {
    /// The caller has checked the shape.
    pub(super) fn new(
        tensor: &Tensor<'a>,
        rows: usize,
        columns: usize,
        logarithms: bool,
    ) -> Result<Source<'a>, FileError> {
        let numbers = match tensor.dtype {
            Dtype::F64 => Some(Numbers::F64),
            Dtype::F32 => Some(Numbers::F32),
            Dtype::F16 => Some(Numbers::F16),
            Dtype::BF16 => Some(Numbers::Bf16),
            _ => None,
        };
        tensor.expect_type(numbers.is_some(), "F64, F32, F16 or BF16")?;
        let numbers = numbers.unwrap_or(Numbers::F64);
        Ok(Source { name: tensor.name, bytes: tensor.bytes, rows, columns, numbers, logarithms })
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Calls `each` with up to `count` probabilities of a row, as stored.
    fn each(&self, row: usize, column: usize, count: usize, mut each: impl FnMut(f64)) {
        let width = self.numbers.bytes();
        let start = (row * self.columns + column) * width;
        let bytes = self.bytes.get(start..start + count * width).unwrap_or_default();
        if self.logarithms {
            self.numbers.decode(bytes, |value| each(value.exp()));
        } else {
            self.numbers.decode(bytes, each);
        }
    }

    /// The sum of each row, which is near 1.
    pub(super) fn sums(&self) -> Result<Vec<f64>, FileError> {
        let tolerance = self.numbers.tolerance();
        let mut sums = Vec::with_capacity(self.rows);
        for state in 0..self.rows {
            let mut sum = 0.0;
            let mut wrong = None;
            self.each(state, 0, self.columns, |value| {
                // Written so that a NaN is refused.
                if !(0.0..=1.0 + tolerance).contains(&value) {
                    wrong.get_or_insert(value);
                }
                sum += value;
            });
            if let Some(value) = wrong {
                return Err(ModelError::NotAProbability { part: self.name, state, value }.into());
            }
            if (sum - 1.0).abs() > tolerance {
                return Err(ModelError::NotNormalised { part: self.name, state, sum, tolerance }.into());
            }
            sums.push(sum);
        }
        Ok(sums)
    }

    /// Writes probabilities of a row, divided by the row's sum.
    pub(super) fn read(&self, row: usize, column: usize, sums: &[f64], out: &mut [f64]) {
        let sum = sums.get(row).copied().unwrap_or(1.0);
        let count = out.len();
        let mut out = out.iter_mut();
        self.each(row, column, count, |value| {
            if let Some(out) = out.next() {
                *out = value / sum;
            }
        });
    }

    /// The tensor with rows and columns exchanged, each former row divided by its sum.
    ///
    /// A column of the file costs a read from every row, so as many columns are taken at a time as a block holds.
    pub(super) fn transposed(&self, sums: &[f64], storage: Storage) -> Matrix {
        let wide = (BLOCK / self.rows.max(1)).clamp(1, self.columns.max(1));
        let mut block = vec![0.0; wide * self.rows];
        Matrix::from_rows(self.columns, self.rows, storage, |column, values| {
            let place = column % wide;
            if place == 0 {
                let count = wide.min(self.columns - column);
                for (row, numbers) in block.chunks_exact_mut(wide).enumerate() {
                    let (numbers, _) = numbers.split_at_mut(count);
                    self.read(row, column, sums, numbers);
                }
            }
            let numbers = block.iter().skip(place).step_by(wide);
            values.iter_mut().zip(numbers).for_each(|(value, number)| *value = *number);
        })
    }
}
