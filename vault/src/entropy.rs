//! Randomness as an argument.

/// A source of randomness fit for keys. The caller chooses it: the operating system's in a program, a
/// fixed one in a test.
///
/// Every function that takes `&mut [u8]` is one, so a program passes
/// `&mut |out: &mut [u8]| getrandom::fill(out)...` and ends itself where the system has no entropy.
pub trait Entropy {
    /// Overwrites every byte of `out`.
    fn fill(&mut self, out: &mut [u8]);
}

impl<F: FnMut(&mut [u8])> Entropy for F {
    fn fill(&mut self, out: &mut [u8]) {
        self(out);
    }
}

/// `N` random bytes that are not secret: ids, salts, nonces.
pub(crate) fn public_bytes<const N: usize>(entropy: &mut dyn Entropy) -> [u8; N] {
    let mut bytes = [0; N];
    entropy.fill(&mut bytes);
    bytes
}
