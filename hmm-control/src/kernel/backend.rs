//! The choice of vector instructions; all unsafe code of the kernel is in its module `x86`.

use super::lanes::{Portable, Task};
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use other::Avx512Bf16;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::Avx512Bf16;
#[cfg(target_arch = "x86_64")]
use x86::{Avx2, Avx512};

/// The instructions of this machine, detected once for each operation on a whole matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Backend {
    /// The baseline of the target.
    Portable,
    /// AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// The same and AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Backend {
    pub(crate) fn detect() -> Backend {
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = Avx512::detect() {
            return Backend::Avx512(lanes);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = Avx2::detect() {
            return Backend::Avx2(lanes);
        }
        Backend::Portable
    }

    /// All that this machine has.
    #[cfg(test)]
    pub(super) fn every() -> Vec<Backend> {
        let mut every = vec![Backend::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            every.extend(Avx2::detect().map(Backend::Avx2));
            every.extend(Avx512::detect().map(Backend::Avx512));
        }
        every
    }

    #[inline]
    pub(super) fn run<T: Task>(self, task: T) -> T::Output {
        match self {
            Backend::Portable => task.run(Portable),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2(lanes) => lanes.run(task),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512(lanes) => lanes.run(task),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod other {
    use crate::kernel::bf16::{PairPanel, PairTile};
    use crate::kernel::block::{HEIGHT, Panel};

    /// Instructions that no processor of this target has.
    #[derive(Debug, Clone, Copy)]
    pub(crate) enum Avx512Bf16 {}

    impl Avx512Bf16 {
        pub(crate) fn detect() -> Option<Avx512Bf16> {
            None
        }

        pub(in crate::kernel) fn prefetch<T>(self, _: &T, _: usize) {
            match self {}
        }

        pub(in crate::kernel) fn multiply_pairs(
            self,
            _: &PairTile,
            _: usize,
            _: &[PairPanel],
            _: &mut [Panel; HEIGHT],
        ) {
            match self {}
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! AVX2, FMA and F16C, and AVX-512.
    //!
    //! The only unsafe code of the kernel. There are three reasons for it: an instruction that the processor may not have,
    //! a pointer for a load or a store, and two types for the same 64 bytes of numbers. The types cover the first: only
    //! [`Avx2::detect`] makes an [`Avx2`], after it has detected the features, and likewise [`Avx512::detect`] and
    //! [`Avx512Bf16::detect`]. References cover the second: every pointer comes from a reference to exactly as many bytes
    //! as the instruction reads or writes, and all of these instructions allow any alignment.

    #![allow(unsafe_code, reason = "vector instructions; each use says why it is sound")]

    use crate::kernel::bf16::{PAIRS, PairPanel, PairTile};
    use crate::kernel::block::{COLUMNS, HEIGHT, Panel, Tile};
    use crate::kernel::lanes::{Lanes, Task, WIDTH};
    use half::{bf16, f16};
    use std::arch::x86_64::{
        __m256, __m512, __m512bh, __m512i, _MM_HINT_T1, _mm_loadl_epi64, _mm_loadu_si128, _mm_prefetch,
        _mm256_add_ps, _mm256_castsi256_ps, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi32, _mm256_cvtepu16_epi32,
        _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_slli_epi32,
        _mm256_storeu_ps, _mm512_add_ps, _mm512_dpbf16_ps, _mm512_fmadd_ps, _mm512_loadu_ps,
        _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
    };

    /// A proof that the processor has AVX2, FMA and F16C.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Avx2(());

    impl Avx2 {
        pub(super) fn detect() -> Option<Avx2> {
            let there = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c");
            there.then_some(Avx2(()))
        }

        /// Runs a task in a function that is compiled for these instructions, with the whole task inlined.
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
            // SAFETY: the instruction has no visible effect and faults on no address.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(there.cast()) }
        }
    }

    /// A proof that the processor has AVX-512 besides.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Avx512(Avx2);

    impl Avx512 {
        pub(super) fn detect() -> Option<Avx512> {
            let avx2 = Avx2::detect()?;
            is_x86_feature_detected!("avx512f").then_some(Avx512(avx2))
        }

        /// The same as [`Avx2::run`].
        #[inline]
        pub(super) fn run<T: Task>(self, task: T) -> T::Output {
            #[target_feature(enable = "avx2,fma,f16c,avx512f")]
            fn compiled<T: Task>(lanes: Avx512, task: T) -> T::Output {
                task.run(lanes)
            }
            // SAFETY: `self` proves that the processor has the four features.
            unsafe { compiled(self, task) }
        }

        #[inline(always)]
        fn splat_wide(self, value: f32) -> __m512 {
            // SAFETY: `self` proves that the processor has the instruction.
            unsafe { _mm512_set1_ps(value) }
        }

        #[inline(always)]
        fn load_wide(self, panel: &Panel) -> __m512 {
            // SAFETY: as above, and the reference is to the 64 bytes that are read.
            unsafe { _mm512_loadu_ps(panel.as_flattened().as_ptr()) }
        }

        #[inline(always)]
        fn store_wide(self, vector: __m512, panel: &mut Panel) {
            // SAFETY: as above, and the reference is to the 64 bytes that are written.
            unsafe { _mm512_storeu_ps(panel.as_flattened_mut().as_mut_ptr(), vector) }
        }

        #[inline(always)]
        fn add_wide(self, a: __m512, b: __m512) -> __m512 {
            // SAFETY: `self` proves that the processor has the instruction.
            unsafe { _mm512_add_ps(a, b) }
        }

        #[inline(always)]
        fn multiply_add_wide(self, a: __m512, b: __m512, sum: __m512) -> __m512 {
            // SAFETY: `self` proves that the processor has the instruction.
            unsafe { _mm512_fmadd_ps(a, b, sum) }
        }
    }

    impl Lanes for Avx512 {
        type Vector = __m256;

        #[inline(always)]
        fn splat(self, value: f32) -> __m256 {
            self.0.splat(value)
        }

        #[inline(always)]
        fn load(self, values: &[f32; WIDTH]) -> __m256 {
            self.0.load(values)
        }

        #[inline(always)]
        fn store(self, vector: __m256, values: &mut [f32; WIDTH]) {
            self.0.store(vector, values);
        }

        #[inline(always)]
        fn add(self, a: __m256, b: __m256) -> __m256 {
            self.0.add(a, b)
        }

        #[inline(always)]
        fn multiply_add(self, a: __m256, b: __m256, sum: __m256) -> __m256 {
            self.0.multiply_add(a, b, sum)
        }

        #[inline(always)]
        fn decode_f16(self, values: &[f16; WIDTH]) -> __m256 {
            self.0.decode_f16(values)
        }

        #[inline(always)]
        fn decode_bf16(self, values: &[bf16; WIDTH]) -> __m256 {
            self.0.decode_bf16(values)
        }

        #[inline(always)]
        fn decode_squares(self, values: &[u8; WIDTH]) -> __m256 {
            self.0.decode_squares(values)
        }

        #[inline(always)]
        fn prefetch<T>(self, place: &T, bytes: usize) {
            self.0.prefetch(place, bytes);
        }

        /// Twelve sums of sixteen numbers stay in registers, enough to hide the latency of a multiplication.
        #[inline(always)]
        fn multiply_panel(self, tile: &Tile, start: usize, panel: &[Panel], sums: &mut [Panel; HEIGHT]) {
            let mut totals = [self.splat_wide(0.0); HEIGHT];
            for (column, panel) in (start..COLUMNS).zip(panel) {
                let panel = self.load_wide(panel);
                let add = |row: &[f32; COLUMNS], total| {
                    let value = self.splat_wide(row.get(column).copied().unwrap_or_default());
                    self.multiply_add_wide(value, panel, total)
                };
                each_row!(totals, tile, add, 0 1 2 3 4 5 6 7 8 9 10 11);
            }
            for (sum, total) in sums.iter_mut().zip(totals) {
                self.store_wide(self.add_wide(self.load_wide(sum), total), sum);
            }
        }
    }
    /// A proof that the processor multiplies pairs of bfloat16 numbers.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Avx512Bf16(Avx512);

    impl Avx512Bf16 {
        pub(crate) fn detect() -> Option<Avx512Bf16> {
            let avx512 = Avx512::detect()?;
            is_x86_feature_detected!("avx512bf16").then_some(Avx512Bf16(avx512))
        }

        /// The same as [`Lanes::prefetch`].
        #[inline]
        pub(in crate::kernel) fn prefetch<T>(self, place: &T, bytes: usize) {
            self.0.prefetch(place, bytes);
        }

        /// `sums[r][c] += sum over k of the product of both numbers of tile[r][start + k] with both of panel[k][c]`.
        pub(in crate::kernel) fn multiply_pairs(
            self,
            tile: &PairTile,
            start: usize,
            panel: &[PairPanel],
            sums: &mut [Panel; HEIGHT],
        ) {
            #[target_feature(enable = "avx512f,avx512bf16")]
            fn compiled(tile: &PairTile, start: usize, panel: &[PairPanel], sums: &mut [Panel; HEIGHT]) {
                let mut totals = [_mm512_setzero_ps(); HEIGHT];
                for (column, panel) in (start..PAIRS).zip(panel) {
                    // SAFETY: both types are 64 bytes without any invalid value.
                    let panel = unsafe { std::mem::transmute::<PairPanel, __m512bh>(*panel) };
                    let add = |row: &[u32; PAIRS], total| {
                        let pair = row.get(column).copied().unwrap_or_default().cast_signed();
                        // SAFETY: as above.
                        let pair =
                            unsafe { std::mem::transmute::<__m512i, __m512bh>(_mm512_set1_epi32(pair)) };
                        _mm512_dpbf16_ps(total, pair, panel)
                    };
                    each_row!(totals, tile, add, 0 1 2 3 4 5 6 7 8 9 10 11);
                }
                for (sum, total) in sums.iter_mut().zip(totals) {
                    let place = sum.as_flattened_mut().as_mut_ptr();
                    // SAFETY: the reference is to the 64 bytes that are read and written.
                    unsafe { _mm512_storeu_ps(place, _mm512_add_ps(_mm512_loadu_ps(place), total)) };
                }
            }
            // SAFETY: `self` proves that the processor has both features.
            unsafe { compiled(tile, start, panel, sums) }
        }
    }
}
