//! AVX2, FMA and F16C.
//!
//! The only unsafe code of the kernels. There are two reasons for it: an instruction that the processor may not have,
//! and a pointer for a load or a store. The first is answered by the type: only [`Avx2::detect`] makes an [`Avx2`],
//! after it asked the processor. The second by references: every pointer comes from one to exactly as many bytes as
//! the instruction reads or writes, and all of them allow any alignment.

#![allow(unsafe_code, reason = "vector instructions; each use says why it is sound")]

use super::backend::Task;
use super::lanes::{Lanes, WIDTH};
use half::{bf16, f16};
use std::arch::x86_64::{
    __m256, _MM_HINT_T1, _mm_loadl_epi64, _mm_loadu_si128, _mm_prefetch, _mm256_add_ps, _mm256_castsi256_ps,
    _mm256_cvtepi32_ps, _mm256_cvtepu8_epi32, _mm256_cvtepu16_epi32, _mm256_cvtph_ps, _mm256_fmadd_ps,
    _mm256_loadu_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_slli_epi32, _mm256_storeu_ps,
};

/// The proof that the processor has AVX2, FMA and F16C.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Avx2> {
        let there = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        there.then_some(Avx2(()))
    }

    /// Does a task in a function compiled for these instructions, into which all of the task is inlined.
    #[inline]
    pub(super) fn run<T: Task>(self, task: T) -> T::Output {
        #[target_feature(enable = "avx2,fma,f16c")]
        fn compiled<T: Task>(lanes: Avx2, task: T) -> T::Output {
            task.run(lanes)
        }
        // SAFETY: `self` proves that the processor has the three features.
        unsafe { compiled(self, task) }
    }
}

impl Lanes for Avx2 {
    type Vector = __m256;

    #[inline(always)]
    fn splat(self, value: f32) -> __m256 {
        // SAFETY: `self` proves that the processor has the instruction.
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    fn load(self, values: &[f32; WIDTH]) -> __m256 {
        // SAFETY: as above, and the reference is to the 32 bytes that are read.
        unsafe { _mm256_loadu_ps(values.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, vector: __m256, values: &mut [f32; WIDTH]) {
        // SAFETY: as above, and the reference is to the 32 bytes that are written.
        unsafe { _mm256_storeu_ps(values.as_mut_ptr(), vector) }
    }

    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves that the processor has the instruction.
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    fn multiply_add(self, a: __m256, b: __m256, sum: __m256) -> __m256 {
        // SAFETY: `self` proves that the processor has the instruction.
        unsafe { _mm256_fmadd_ps(a, b, sum) }
    }

    #[inline(always)]
    fn decode_f16(self, values: &[f16; WIDTH]) -> __m256 {
        // SAFETY: `self` proves that the processor has the instructions, and the reference is to the 16 bytes read.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(values.as_ptr().cast())) }
    }

    #[inline(always)]
    fn decode_bf16(self, values: &[bf16; WIDTH]) -> __m256 {
        // SAFETY: `self` proves that the processor has the instructions, and the reference is to the 16 bytes read.
        unsafe {
            let bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(values.as_ptr().cast()));
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits))
        }
    }

    #[inline(always)]
    fn decode_squares(self, values: &[u8; WIDTH]) -> __m256 {
        // SAFETY: `self` proves that the processor has the instructions, and the reference is to the 8 bytes read.
        unsafe {
            let wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(values.as_ptr().cast()));
            let root = _mm256_cvtepi32_ps(wide);
            _mm256_mul_ps(root, root)
        }
    }

    #[inline(always)]
    fn prefetch<T>(self, place: &T, bytes: usize) {
        let there = std::ptr::from_ref(place).wrapping_byte_add(bytes);
        // SAFETY: the instruction reads nothing that the program could see and faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(there.cast()) }
    }
}
