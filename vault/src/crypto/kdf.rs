//! The key of a passphrase, by Argon2id, version 1.3.

#[cfg(test)]
mod tests;

use argon2::{Algorithm, Argon2, Block, ParamsBuilder, Version};
use zeroize::Zeroizing;

use super::cipher::Key;
use super::memory::with_clean_stack;
use super::secret::Secret;
use crate::error::VaultError;

/// The cost of checking a passphrase. A value of this type is within the accepted range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KdfParams {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

impl KdfParams {
    /// The least accepted cost: 19 MiB, 2 passes, 1 lane. A lower one makes guessing cheap.
    pub const FLOOR: KdfParams = KdfParams { memory_kib: 19 * 1024, passes: 2, lanes: 1 };
    /// The highest accepted cost: 512 MiB, 10 passes, 8 lanes. A file that asks for more would stall the program.
    pub const CEILING: KdfParams = KdfParams { memory_kib: 512 * 1024, passes: 10, lanes: 8 };
    /// The cost of a new vault: 64 MiB, 3 passes, 4 lanes.
    pub const DEFAULT: KdfParams = KdfParams { memory_kib: 64 * 1024, passes: 3, lanes: 4 };

    /// Accepts costs between [`KdfParams::FLOOR`] and [`KdfParams::CEILING`]: memory in KiB, passes, lanes.
    ///
    /// # Errors
    /// [`VaultError::KdfOutOfRange`] names the first cost outside the range.
    pub fn new(memory_kib: u32, passes: u32, lanes: u32) -> Result<KdfParams, VaultError> {
        let check = |cost, found, lowest, highest| {
            if (lowest..=highest).contains(&found) {
                Ok(())
            } else {
                Err(VaultError::KdfOutOfRange { cost, found, lowest, highest })
            }
        };
        let (floor, ceiling) = (KdfParams::FLOOR, KdfParams::CEILING);
        check("memory in KiB", memory_kib, floor.memory_kib, ceiling.memory_kib)?;
        check("number of passes", passes, floor.passes, ceiling.passes)?;
        check("number of lanes", lanes, floor.lanes, ceiling.lanes)?;
        Ok(KdfParams { memory_kib, passes, lanes })
    }

    /// The memory, in KiB.
    pub fn memory_kib(self) -> u32 {
        self.memory_kib
    }

    /// The number of passes over the memory.
    pub fn passes(self) -> u32 {
        self.passes
    }

    /// The number of lanes.
    pub fn lanes(self) -> u32 {
        self.lanes
    }

    /// Derives the key of a passphrase and a salt. The working memory is wiped.
    pub(crate) fn derive(self, passphrase: &Secret, salt: &[u8; 16]) -> Result<Key, VaultError> {
        let failed = |_| VaultError::OutOfMemory;
        let params = ParamsBuilder::new()
            .m_cost(self.memory_kib)
            .t_cost(self.passes)
            .p_cost(self.lanes)
            .output_len(32)
            .build()
            .map_err(failed)?;
        let mut memory = Zeroizing::new(Vec::new());
        memory.try_reserve_exact(params.block_count()).map_err(|_| VaultError::OutOfMemory)?;
        memory.resize(params.block_count(), Block::default());
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        Key::try_filled(|out| {
            with_clean_stack(|| {
                argon2
                    .hash_password_into_with_memory(passphrase.expose(), salt, out, memory.as_mut_slice())
                    .map_err(failed)
            })
        })
    }
}
