//! Which instructions to use.

use super::lanes::{Lanes, Portable};
#[cfg(target_arch = "x86_64")]
use super::x86::Avx2;

/// Work that is written for any lanes. `run` and all that it calls is `#[inline(always)]`, so that it is compiled
/// for the instructions of the function that it is inlined into.
pub(super) trait Task {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// The instructions found on this machine: asked for once for an operation on a whole matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Backend {
    /// What every processor of the target has.
    Portable,
    /// AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

impl Backend {
    pub(crate) fn detect() -> Backend {
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = Avx2::detect() {
            return Backend::Avx2(lanes);
        }
        Backend::Portable
    }

    #[inline]
    pub(super) fn run<T: Task>(self, task: T) -> T::Output {
        match self {
            Backend::Portable => task.run(Portable),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2(lanes) => lanes.run(task),
        }
    }
}
