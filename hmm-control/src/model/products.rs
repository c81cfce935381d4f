//! Products of a matrix with vectors.

use super::matrix::Matrix;
use crate::kernel::{self, Avx512Bf16, Backend, Cells, Narrow, Operand, Packed, PackedBf16, Pair, Storage};
use half::{bf16, f16};
use std::ops::Range;

/// Evaluates the first expression with `$cells` as the numbers of a matrix that is computed in `f32`, the second with
/// them as `f64`.
macro_rules! by_storage {
    ($matrix:expr, $cells:ident => $narrow:expr, $wide:ident => $exact:expr) => {
        match $matrix.storage() {
            Storage::F64 => {
                let $wide = $matrix.cells::<f64>();
                $exact
            }
            Storage::F32 => {
                let $cells = $matrix.cells::<f32>();
                $narrow
            }
            Storage::F16 => {
                let $cells = $matrix.cells::<f16>();
                $narrow
            }
            Storage::Bf16 => {
                let $cells = $matrix.cells::<bf16>();
                $narrow
            }
            Storage::Bits8 => {
                let $cells = $matrix.cells::<u8>();
                $narrow
            }
        }
    };
}

/// Several vectors prepared for products with rows of one storage in one pass.
pub(crate) enum Batch {
    /// One or two, or vectors for rows of `f64`.
    Few(Vec<Operand>),
    /// So many that it pays to decode a block of rows once for all of them.
    Many(Packed),
    /// The same in bfloat16, for rows of bfloat16.
    Rounded(PackedBf16),
}

/// The arithmetic of a batch of products ([`Lookahead::score_batch`](crate::Lookahead::score_batch)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// Products of `f32` numbers, and of `f64` numbers where the emissions are stored so.
    #[default]
    Full,
    /// Products of bfloat16 numbers for the requests that a batch multiplies together, where the emissions are stored so
    /// ([`Storage::Bf16`]) and the processor has AVX512-BF16. Elsewhere, for requests of more than five vectors, and for a
    /// batch of one request with one target, it is [`Precision::Full`]. It rounds the belief, and the belief times what
    /// follows, to 8 bits of precision: `log phi` changes by at most 0.0078, and usually by much less, since the roundings
    /// of many states cancel. An emission below 2^-126 counts as zero. The time is in `spec/performance.md`.
    Bf16,
}

/// The most vectors that are multiplied without decoding blocks of rows first.
const FEW: usize = 2;

impl Batch {
    pub(crate) fn new(storage: Storage, precision: Precision, vectors: &[&[f64]], columns: usize) -> Batch {
        if vectors.len() <= FEW || storage == Storage::F64 {
            Batch::Few(vectors.iter().map(|vector| Operand::new(storage, vector)).collect())
        } else if let (Storage::Bf16, Precision::Bf16, Some(lanes)) =
            (storage, precision, Avx512Bf16::detect())
        {
            Batch::Rounded(PackedBf16::new(lanes, vectors, columns))
        } else {
            Batch::Many(Packed::new(vectors, columns))
        }
    }
}

impl Matrix {
    fn cells<E: bytemuck::Pod>(&self) -> Cells<'_, E> {
        let cells = bytemuck::try_cast_slice(self.bytes()).unwrap_or_default();
        Cells { cells, columns: self.columns() }
    }

    /// `out[r] = sum over c of self[r][c] * vector[c]`: a forward step of a transition matrix that is stored by the
    /// state it goes to, or the probability of every token. Entries of `out` beyond the rows become 0.
    ///
    /// Narrow storages sum in `f32` by blocks, to about 1e-7 of the sum for numbers of one sign.
    pub fn product(&self, vector: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let batch = Batch::new(self.storage(), Precision::Full, &[vector], self.columns());
        self.products(0..out.len(), &batch, |row, products| {
            if let (Some(out), Some(product)) = (out.get_mut(row), products.first()) {
                *out = *product;
            }
        });
    }

    /// `out[c] = sum over r of self[r][c] * vector[r]`: a backward step.
    pub fn transposed_product(&self, vector: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let terms: Vec<(usize, f64)> = vector.iter().copied().enumerate().collect();
        self.add_rows(&terms, out);
    }

    /// `out[c] += sum over the terms (r, factor) of factor * self[r][c]`.
    pub(crate) fn add_rows(&self, terms: &[(usize, f64)], out: &mut [f64]) {
        let scaled: Vec<(usize, f64)> =
            terms.iter().map(|(row, factor)| (*row, factor * self.scale(*row))).collect();
        by_storage!(self,
        cells => kernel::add_rows(Backend::detect(), cells, &scaled, out),
        cells => for (row, factor) in &scaled {
            kernel::add_row(cells.row(*row), *factor, out);
        });
    }

    /// For every row of `rows`, calls `each` with the row's companion value and its products with `first` and with its
    /// own second vector, both without the row's scale (a ratio needs none). A missing row or vector counts as zeros.
    pub(crate) fn pairs<'v, T>(
        &self,
        rows: impl Iterator<Item = (Pair, T)>,
        first: &Operand,
        second: impl Fn(usize) -> Option<&'v Operand>,
        mut each: impl FnMut(T, [f64; 2]),
    ) {
        let backend = Backend::detect();
        by_storage!(self,
        cells => if let Some(first) = narrow(first) {
            kernel::pairs(backend, cells, rows, first, |number| second(number).and_then(narrow), each);
        },
        cells => for (pair, wanted) in rows {
            let part = second(pair.second).map_or(0.0, |second| wide(cells, pair.row, second));
            each(wanted, [wide(cells, pair.row, first), part]);
        });
    }

    /// Calls `each` with every existing row of `rows` and its products with all vectors of the batch. A row's products
    /// do not depend on the range.
    pub(crate) fn products(&self, rows: Range<usize>, batch: &Batch, mut each: impl FnMut(usize, &[f64])) {
        let rows = rows.start..rows.end.min(self.rows());
        let mut values = Vec::new();
        let mut scaled = |row: usize, products: &[f64]| {
            let scale = self.scale(row);
            values.clear();
            values.extend(products.iter().map(|product| product * scale));
            each(row, &values);
        };
        let backend = Backend::detect();
        match batch {
            Batch::Many(packed) => by_storage!(self,
                cells => kernel::products(backend, cells, rows, packed, scaled),
                _cells => {}),
            Batch::Rounded(packed) => kernel::products_bf16(self.cells(), rows, packed, scaled),
            Batch::Few(operands) => by_storage!(self,
            cells => match operands.as_slice() {
                [Operand::Narrow(only)] => {
                    kernel::dots(backend, cells, rows, only, |row, product| scaled(row, &[product]));
                }
                [Operand::Narrow(first), Operand::Narrow(second)] => {
                    let pairs = rows.map(|row| (Pair { row, second: 0 }, row));
                    kernel::pairs(backend, cells, pairs, first, |_| Some(second), |row, pair| scaled(row, &pair));
                }
                _ => {}
            },
            cells => for row in rows {
                let products: Vec<f64> = operands.iter().map(|operand| wide(cells, row, operand)).collect();
                scaled(row, &products);
            }),
        }
    }
}

fn narrow(operand: &Operand) -> Option<&Narrow> {
    match operand {
        Operand::Narrow(narrow) => Some(narrow),
        Operand::Wide(_) => None,
    }
}

fn wide(cells: Cells<'_, f64>, row: usize, operand: &Operand) -> f64 {
    match operand {
        Operand::Wide(vector) => kernel::dot(cells.row(row), vector),
        Operand::Narrow(_) => 0.0,
    }
}
