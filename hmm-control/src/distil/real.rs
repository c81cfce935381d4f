//! The two widths that training computes in.

use ndarray::LinalgScalar;
use safetensors::Dtype;
use std::fmt::Debug;
use std::ops::{AddAssign, MulAssign};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A float that training computes in: `f32` for speed, `f64` for checks of the mathematics.
pub trait Real:
    sealed::Sealed + LinalgScalar + PartialOrd + AddAssign + MulAssign + Default + Debug + Send + Sync
{
    /// What is smaller counts as 0: the format's own underflow, drawn early enough that a quotient of two
    /// probabilities never overflows (1e-30 for `f32`, 1e-280 for `f64`).
    const SMALLEST: Self;
    /// The type's name in a file.
    const DTYPE: Dtype;

    /// Rounds. What is below [`Real::SMALLEST`] becomes 0.
    fn from_f64(value: f64) -> Self;

    /// Widens.
    fn to_f64(self) -> f64;

    /// Appends the little-endian bytes.
    fn write(self, bytes: &mut Vec<u8>);

    /// Reads little-endian bytes, as many as the type has.
    fn read(bytes: &[u8]) -> Option<Self>;
}

macro_rules! real {
    ($float:ty, $smallest:expr, $dtype:expr) => {
        impl Real for $float {
            const SMALLEST: $float = $smallest;
            const DTYPE: Dtype = $dtype;

            fn from_f64(value: f64) -> $float {
                let value = value as $float;
                if value < $smallest { 0.0 } else { value }
            }

            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Option<$float> {
                bytes.try_into().ok().map(<$float>::from_le_bytes)
            }
        }
    };
}

real!(f32, 1e-30, Dtype::F32);
real!(f64, 1e-280, Dtype::F64);

/// The sum, in sixteen partial sums so that the compiler may vectorise it; the order is always the same.
pub(super) fn sum<T: Real>(values: &[T]) -> T {
    let mut partial = [T::zero(); 16];
    let mut chunks = values.chunks_exact(16);
    for chunk in &mut chunks {
        partial.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += *value);
    }
    let rest = chunks.remainder().iter().fold(T::zero(), |sum, value| sum + *value);
    partial.iter().fold(rest, |sum, value| sum + *value)
}

/// The sum of products, in the same order as [`sum`].
pub(super) fn dot<T: Real>(left: &[T], right: &[T]) -> T {
    let mut partial = [T::zero(); 16];
    let mut chunks = left.chunks_exact(16);
    let mut others = right.chunks_exact(16);
    for (left, right) in (&mut chunks).zip(&mut others) {
        partial.iter_mut().zip(left.iter().zip(right)).for_each(|(sum, (a, b))| *sum += *a * *b);
    }
    let rest = chunks.remainder().iter().zip(others.remainder());
    let rest = rest.fold(T::zero(), |sum, (a, b)| sum + *a * *b);
    partial.iter().fold(rest, |sum, value| sum + *value)
}
