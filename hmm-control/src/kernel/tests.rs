//! The vector instructions against the portable loops, and both against sums in `f64`.

use super::element::Element;
use super::lanes::{Lanes, Task, WIDTH};
use super::{
    Avx512Bf16, Backend, Cells, Narrow, Operand, Packed, PackedBf16, Pair, Storage, add_rows, dots, pairs,
    products, products_bf16,
};
use half::{bf16, f16};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The definition of a stored number.
trait Stored: Element {
    fn make(random: u16) -> Self;
    fn value(self) -> f64;
}

impl Stored for f32 {
    fn make(random: u16) -> f32 {
        f32::from(random) / 65536.0
    }
    fn value(self) -> f64 {
        f64::from(self)
    }
}

impl Stored for f16 {
    fn make(random: u16) -> f16 {
        // Subnormal numbers too.
        f16::from_f64(f64::from(random) / 65536.0 * if random.is_multiple_of(5) { 1e-7 } else { 1.0 })
    }
    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Stored for bf16 {
    fn make(random: u16) -> bf16 {
        bf16::from_f64(f64::from(random) / 65536.0)
    }
    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Stored for u8 {
    fn make(random: u16) -> u8 {
        (random >> 8) as u8
    }
    fn value(self) -> f64 {
        f64::from(self) * f64::from(self)
    }
}

struct Sample<E> {
    buffer: Vec<E>,
    offset: usize,
    rows: usize,
    columns: usize,
    vectors: Vec<Vec<f64>>,
}

impl<E: Stored> Sample<E> {
    fn new(seed: u64, rows: usize, columns: usize, vectors: usize, offset: usize) -> Sample<E> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let buffer = (0..offset + rows * columns).map(|_| E::make(random.random())).collect();
        let mut vector = |length: usize| (0..length).map(|_| random.random::<f64>()).collect();
        let vectors = (0..vectors).map(|_| vector(columns)).collect();
        Sample { buffer, offset, rows, columns, vectors }
    }

    fn cells(&self) -> Cells<'_, E> {
        Cells { cells: &self.buffer[self.offset..], columns: self.columns }
    }

    fn row(&self, row: usize) -> Vec<f64> {
        self.cells().row(row).iter().map(|value| value.value()).collect()
    }

    /// The product of a row with a vector, in `f64`.
    fn exact(&self, row: usize, vector: usize) -> f64 {
        self.row(row).iter().zip(&self.vectors[vector]).map(|(a, b)| a * b).sum()
    }
}

fn narrow(vector: &[f64]) -> Narrow {
    match Operand::new(Storage::F32, vector) {
        Operand::Narrow(narrow) => narrow,
        Operand::Wide(_) => unreachable!(),
    }
}

fn close(found: f64, exact: f64, what: &str) {
    assert!((found - exact).abs() <= 1.5e-6 * exact.abs() + 1e-30, "{what}: {found} and not {exact}");
}

/// All operations on one sample, on all backends, against sums in `f64`.
fn check<E: Stored>(sample: &Sample<E>) {
    let (rows, columns) = (sample.rows, sample.columns);
    // One missing row among the others.
    let wanted: Vec<usize> = (0..rows).chain([rows + 3]).chain((0..rows).rev()).collect();
    let narrow: Vec<Narrow> = sample.vectors.iter().map(|vector| narrow(vector)).collect();
    let packed = Packed::new(&sample.vectors.iter().map(Vec::as_slice).collect::<Vec<_>>(), columns);
    for backend in Backend::every() {
        let mut seen = 0;
        dots(backend, sample.cells(), 0..rows, &narrow[0], |row, found| {
            assert_eq!(row, seen);
            seen += 1;
            close(found, sample.exact(row, 0), "dot");
        });
        assert_eq!(seen, rows);

        // Each row has its own second vector; the last number means none.
        let second = |row: usize| 1 + row % narrow.len();
        let asked = wanted.iter().map(|row| (Pair { row: *row, second: second(*row) }, *row));
        let mut order = Vec::new();
        pairs(
            backend,
            sample.cells(),
            asked,
            &narrow[0],
            |place| narrow.get(place),
            |row, [first, part]| {
                order.push(row);
                let exact =
                    |vector: usize| if vector < narrow.len() { sample.exact(row, vector) } else { 0.0 };
                close(first, exact(0), "first of a pair");
                close(part, exact(second(row)), "second of a pair");
            },
        );
        assert_eq!(order, wanted);

        let terms: Vec<(usize, f64)> = wanted.iter().map(|row| (*row, 0.25 * (1 + row % 7) as f64)).collect();
        let mut out = vec![1.0; columns];
        add_rows(backend, sample.cells(), &terms, &mut out);
        let mut exact = vec![1.0; columns];
        for (row, factor) in &terms {
            exact.iter_mut().zip(sample.row(*row)).for_each(|(sum, value)| *sum += factor * value);
        }
        out.iter().zip(&exact).for_each(|(found, exact)| close(*found, *exact, "sum of rows"));

        let mut seen = 0;
        products(backend, sample.cells(), 0..rows, &packed, |row, found| {
            assert_eq!((row, found.len()), (seen, sample.vectors.len()));
            seen += 1;
            found.iter().enumerate().for_each(|(vector, found)| {
                close(*found, sample.exact(row, vector), "product of a batch");
            });
        });
        assert_eq!(seen, rows);
    }
}

fn check_all(seed: u64, rows: usize, columns: usize, vectors: usize, offset: usize) {
    check::<f32>(&Sample::new(seed, rows, columns, vectors, offset));
    check::<f16>(&Sample::new(seed, rows, columns, vectors, offset));
    check::<bf16>(&Sample::new(seed, rows, columns, vectors, offset));
    check::<u8>(&Sample::new(seed, rows, columns, vectors, offset));
}

#[test]
fn every_length_and_every_start() {
    for columns in 0..200 {
        check_all(columns as u64, 1 + columns % 6, columns, 2 + columns % 3, columns % 4);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_shape(
        seed: u64, rows in 0_usize..110, columns in 0_usize..2300, vectors in 1_usize..40, offset in 0_usize..9
    ) {
        // Few enough numbers to keep the test short.
        let columns = columns.min(60_000 / (rows + 1) / vectors + 20);
        check_all(seed, rows, columns, vectors, offset);
    }
}

/// Vectors that bfloat16 holds exactly lose nothing by it.
#[test]
fn products_in_bfloat16_are_those_of_the_rounded_vectors() {
    let Some(lanes) = Avx512Bf16::detect() else {
        println!("this processor has no AVX512-BF16");
        return;
    };
    for (rows, columns, vectors, offset) in
        [(1, 1, 3, 0), (13, 7, 5, 3), (61, 1_101, 37, 1), (97, 512, 16, 0), (48, 0, 3, 0)]
    {
        let mut sample: Sample<bf16> = Sample::new(columns as u64, rows, columns, vectors, offset);
        for value in sample.vectors.iter_mut().flatten() {
            *value = bf16::from_f64(*value).to_f64() * 2.0_f64.powi(-600);
        }
        let all: Vec<&[f64]> = sample.vectors.iter().map(Vec::as_slice).collect();
        let mut seen = 0;
        products_bf16(sample.cells(), 0..rows, &PackedBf16::new(lanes, &all, columns), |row, found| {
            assert_eq!((row, found.len()), (seen, vectors));
            seen += 1;
            for (vector, found) in found.iter().enumerate() {
                let exact = sample.exact(row, vector);
                assert!((found - exact).abs() <= 1.5e-6 * exact, "{found} and not {exact}");
            }
        });
        assert_eq!(seen, rows);
    }
}

/// The instruction takes subnormal numbers for zero; scores depend on ratios of far smaller ones.
#[test]
fn products_in_bfloat16_keep_small_shares() {
    let Some(lanes) = Avx512Bf16::detect() else {
        println!("this processor has no AVX512-BF16");
        return;
    };
    // A state that alone emits the token has the share 2^-110 of the largest.
    let cells = [bf16::ZERO, bf16::from_f64(2.0_f64.powi(-20))];
    let vectors: [&[f64]; 4] = [&[1.0, 2.0_f64.powi(-110)], &[1e-300, 0.0], &[1.0, 0.0], &[0.0, 0.0]];
    let mut found: Vec<f64> = Vec::new();
    let packed = PackedBf16::new(lanes, &vectors, 2);
    products_bf16(Cells { cells: &cells, columns: 2 }, 0..1, &packed, |_, all| found.extend(all));
    assert_eq!(found[0], 2.0_f64.powi(-130));
    assert_eq!(found[1..], [0.0; 3]);
}

/// Wider registers change no bit of a product.
#[cfg(target_arch = "x86_64")]
#[test]
fn registers_of_both_widths_give_the_same_bits() {
    let sample: Sample<f16> = Sample::new(7, 61, 1_100, 37, 3);
    let packed = Packed::new(&sample.vectors.iter().map(Vec::as_slice).collect::<Vec<_>>(), sample.columns);
    let found: Vec<Vec<u64>> = Backend::every()
        .into_iter()
        .skip(1)
        .map(|backend| {
            let mut bits = Vec::new();
            products(backend, sample.cells(), 0..sample.rows, &packed, |_, found| {
                bits.extend(found.iter().map(|value| value.to_bits()));
            });
            bits
        })
        .collect();
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn long_sums_keep_their_precision() {
    check_all(1, 5, 32_768, 3, 1);
    check_all(2, 300, 64, 2, 0);
}

/// A vector far below the range of `f32` keeps its precision.
#[test]
fn tiny_vectors_are_scaled() {
    let mut sample: Sample<f16> = Sample::new(5, 9, 70, 20, 0);
    sample.vectors.iter_mut().flatten().for_each(|value| *value *= 1e-200);
    let narrow = narrow(&sample.vectors[3]);
    let relative = |found: f64, exact: f64| assert!((found / exact - 1.0).abs() < 1.5e-6, "{found} {exact}");
    let vectors: Vec<&[f64]> = sample.vectors.iter().map(Vec::as_slice).collect();
    for backend in Backend::every() {
        dots(backend, sample.cells(), 0..9, &narrow, |row, found| relative(found, sample.exact(row, 3)));
        products(backend, sample.cells(), 0..9, &Packed::new(&vectors, 70), |row, found| {
            found.iter().enumerate().for_each(|(vector, found)| relative(*found, sample.exact(row, vector)));
        });
        let mut out = vec![0.0; 70];
        add_rows(backend, sample.cells(), &[(2, 1e-150), (3, 3e-150)], &mut out);
        let exact = sample.row(2).into_iter().zip(sample.row(3)).map(|(a, b)| 1e-150 * a + 3e-150 * b);
        out.iter()
            .zip(exact)
            .filter(|(_, exact)| *exact > 0.0)
            .for_each(|(found, exact)| relative(*found, exact));
    }
}

struct Decode<E>([E; WIDTH]);

impl<E: Element> Task for Decode<E> {
    type Output = [f32; WIDTH];

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> [f32; WIDTH] {
        let mut out = [0.0; WIDTH];
        lanes.store(E::decode(lanes, &self.0), &mut out);
        out
    }
}

/// Every 16-bit pattern, with infinities and NaNs, and every byte.
#[test]
fn every_stored_number_is_decoded_exactly() {
    let same =
        |found: f32, exact: f32| found.to_bits() == exact.to_bits() || (found.is_nan() && exact.is_nan());
    for backend in Backend::every() {
        for bits in (0..=u16::MAX).step_by(WIDTH) {
            let bits: [u16; WIDTH] = std::array::from_fn(|lane| bits + lane as u16);
            let found = backend.run(Decode(bits.map(f16::from_bits)));
            for (found, bits) in found.into_iter().zip(bits) {
                assert!(same(found, f16::from_bits(bits).to_f32()), "f16 {bits:#x}: {found}");
            }
            let found = backend.run(Decode(bits.map(bf16::from_bits)));
            for (found, bits) in found.into_iter().zip(bits) {
                assert!(same(found, bf16::from_bits(bits).to_f32()), "bf16 {bits:#x}: {found}");
            }
            let bytes = bits.map(|bits| bits as u8);
            let found = backend.run(Decode(bytes));
            assert_eq!(found, bytes.map(|byte| f32::from(byte) * f32::from(byte)));
        }
    }
}
