//! What a vault's file says of itself without its passphrase.

use crate::file::Header;
use crate::{KdfParams, VaultError};

/// The plain facts at the start of a vault's file. Nobody has vouched for them before the passphrase opens it:
/// whoever can write the file can change them.
///
/// ```no_run
/// let meta = vault::Meta::read(&std::fs::read("vault")?)?;
/// println!("format {}, {} passes", meta.format, meta.costs.passes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// The format's version.
    pub format: u16,
    /// The vault's random id.
    pub id: [u8; 16],
    /// What checking a passphrase costs.
    pub costs: KdfParams,
}

impl Meta {
    /// Reads them.
    ///
    /// # Errors
    /// No vault file, another version, costs out of range, a damaged header.
    pub fn read(file: &[u8]) -> Result<Meta, VaultError> {
        let header = Header::parse(file)?;
        Ok(Meta { format: header.format().number(), id: *header.id(), costs: header.params() })
    }
}
