//! Matrices of probabilities in several storages.
//!
//! A [`Matrix`] is written once and read at every token, and reading it is nearly the whole cost of a look-ahead. So it
//! may be stored in fewer bits than it is computed in: every operation widens to `f32` (to `f64` for
//! [`Storage::F64`]) as it reads, and works on vectors of `f64`.

use super::error::ModelError;
use crate::kernel::{self, Storage};
use half::{bf16, f16};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a matrix, owned or shared (a mapped file, say).
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A matrix of non-negative numbers, row by row, immutable; a clone shares the numbers.
#[derive(Clone)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    storage: Storage,
    bytes: SharedBytes,
    range: Range<usize>,
    scales: Arc<[f32]>,
}

impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Matrix({} x {}, {})", self.rows, self.columns, self.storage)
    }
}

/// Bytes on an 8-byte boundary, so that any storage can be read in place.
struct Aligned {
    words: Vec<u64>,
    length: usize,
}

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words).get(..self.length).unwrap_or_default()
    }
}

impl Matrix {
    /// A matrix from a function that fills one row at a time, so that no second copy of all rows is in memory.
    ///
    /// `fill(row, values)` writes the row's numbers; they must be finite and not negative, which the caller
    /// checks ([`crate::Hmm`] does). The storage rounds them.
    pub fn from_rows(
        rows: usize,
        columns: usize,
        storage: Storage,
        mut fill: impl FnMut(usize, &mut [f64]),
    ) -> Matrix {
        let length = rows * columns * storage.bytes();
        let mut words = vec![0_u64; length.div_ceil(8)];
        let mut scales = Vec::new();
        let mut row = vec![0.0; columns];
        let stride = columns * storage.bytes();
        if stride > 0 {
            let target: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
            for (number, bytes) in target.chunks_exact_mut(stride).take(rows).enumerate() {
                row.fill(0.0);
                fill(number, &mut row);
                if storage.is_scaled() {
                    scales.push(encode_scaled(storage, &row, bytes));
                } else {
                    encode(storage, &row, bytes);
                }
            }
        }
        Matrix {
            rows,
            columns,
            storage,
            bytes: Arc::new(Aligned { words, length }),
            range: 0..length,
            scales: scales.into(),
        }
    }

    /// A matrix over shared bytes, without a copy.
    ///
    /// `scales` is empty for the storages without one, else one number per row.
    ///
    /// # Errors
    /// When the range is not exactly the numbers, or not aligned to them, or there is not one scale per row.
    pub fn from_bytes(
        rows: usize,
        columns: usize,
        storage: Storage,
        bytes: SharedBytes,
        range: Range<usize>,
        scales: Arc<[f32]>,
    ) -> Result<Matrix, ModelError> {
        let alignment = if storage.bytes() == 8 { 8 } else { storage.bytes() };
        let expected = rows.checked_mul(columns).and_then(|cells| cells.checked_mul(storage.bytes()));
        let part = (*bytes).as_ref().get(range.clone());
        let aligned = part.is_some_and(|part| part.as_ptr().addr() % alignment == 0);
        let wanted_scales = if storage.is_scaled() { rows } else { 0 };
        if part.map(<[u8]>::len) != expected || expected.is_none() || !aligned {
            return Err(ModelError::Bytes {
                rows,
                columns,
                storage,
                expected: expected.unwrap_or(usize::MAX),
                alignment,
                found: part.map_or(0, <[u8]>::len),
            });
        }
        if scales.len() != wanted_scales {
            return Err(ModelError::Shape {
                part: "scales",
                found_rows: scales.len(),
                found_columns: 1,
                rows: wanted_scales,
                columns: 1,
            });
        }
        Ok(Matrix { rows, columns, storage, bytes, range, scales })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The storage.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// The raw numbers, as a file stores them.
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref().get(self.range.clone()).unwrap_or_default()
    }

    /// The rows' scales; empty for a storage without.
    pub fn scales(&self) -> &[f32] {
        &self.scales
    }

    /// The same numbers in another storage.
    pub fn to_storage(&self, storage: Storage) -> Matrix {
        Matrix::from_rows(self.rows, self.columns, storage, |row, values| self.read_row(row, values))
    }

    pub(crate) fn scale(&self, row: usize) -> f64 {
        self.scales.get(row).copied().map_or(1.0, f64::from)
    }

    pub(crate) fn row(&self, row: usize) -> kernel::Row<'_> {
        let stride = self.columns * self.storage.bytes();
        let bytes = self.bytes().get(row * stride..(row + 1) * stride).unwrap_or_default();
        kernel::Row::new(self.storage, bytes)
    }

    /// Writes the numbers of one row. A missing row reads as zeros.
    pub fn read_row(&self, row: usize, values: &mut [f64]) {
        values.fill(0.0);
        self.row(row).read(self.scale(row), values);
    }
}

fn encode(storage: Storage, row: &[f64], bytes: &mut [u8]) {
    match storage {
        Storage::F64 => write(row, bytes, f64::to_ne_bytes),
        Storage::F32 => write(row, bytes, |value| (value as f32).to_ne_bytes()),
        Storage::Bf16 => write(row, bytes, |value| bf16::from_f64(value).to_ne_bytes()),
        Storage::F16 | Storage::Bits8 => {}
    }
}

/// Writes numbers of a width known at compile time.
fn write<const WIDTH: usize>(row: &[f64], bytes: &mut [u8], encode: impl Fn(f64) -> [u8; WIDTH]) {
    let targets = bytes.as_chunks_mut().0;
    row.iter().zip(targets).for_each(|(value, target)| *target = encode(*value));
}

/// Encodes a row relative to its largest entry, and returns the scale.
fn encode_scaled(storage: Storage, row: &[f64], bytes: &mut [u8]) -> f32 {
    let largest = row.iter().copied().fold(0.0, f64::max);
    // A scale has to be representable in f32: a row of numbers below its range is a row of zeros.
    let scale = largest as f32;
    if scale <= 0.0 || !scale.is_finite() {
        bytes.fill(0);
        return 0.0;
    }
    let largest = f64::from(scale);
    let relative = |value: f64| (value / largest).clamp(0.0, 1.0);
    if storage == Storage::F16 {
        write(row, bytes, |value| f16::from_f64(relative(value)).to_ne_bytes());
    } else {
        write(row, bytes, |value| [(relative(value).sqrt() * 255.0).round() as u8]);
    }
    if storage == Storage::Bits8 { (largest / (255.0 * 255.0)) as f32 } else { scale }
}
