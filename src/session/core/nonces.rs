//! Random numbers that a session derives from its seed.

use sha2::{Digest, Sha256};

/// Random numbers for prompts and placeholders. Each is used once: a hash of the seed and a counter.
pub(in crate::session) struct Nonces {
    seed: [u8; 32],
    used: u64,
}

impl Nonces {
    pub(super) fn new(seed: [u8; 32]) -> Nonces {
        Nonces { seed, used: 0 }
    }

    pub(in crate::session) fn next(&mut self) -> [u8; 16] {
        self.used += 1;
        let hash = Sha256::new().chain_update(self.seed).chain_update(self.used.to_le_bytes()).finalize();
        let mut nonce = [0; 16];
        nonce.iter_mut().zip(hash).for_each(|(out, byte)| *out = byte);
        nonce
    }

    /// Random bytes for the vault's placeholders, independent of every other number.
    pub(super) fn entropy(&mut self) -> impl FnMut(&mut [u8]) + use<> {
        let seed = self.next();
        let mut used = 0_u64;
        move |out: &mut [u8]| {
            for chunk in out.chunks_mut(32) {
                used += 1;
                let hash = Sha256::new().chain_update(b"placeholders").chain_update(seed);
                let hash = hash.chain_update(used.to_le_bytes()).finalize();
                chunk.iter_mut().zip(hash).for_each(|(byte, random)| *byte = random);
            }
        }
    }
}
