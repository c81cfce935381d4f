//! The header, the plain part of a vault file, which leads from a passphrase to the data key.
//!
//! It is written when the vault is made, its passphrase changed or its data key replaced. Saving leaves it as it
//! is, so no key that opens it has to stay in memory.

use super::reader::Reader;
use crate::crypto::cipher::{
    Entropy, FORMAT, Key, NONCE, TAG, Unauthentic, context, hash, label, public_bytes,
};
use crate::crypto::kdf::KdfParams;
use crate::crypto::secret::Secret;
use crate::error::{Section, VaultError};

/// The first bytes of every vault file. The control character at the end stops a text listing on some systems.
const MAGIC: [u8; 8] = *b"PCVAULT\x1a";
/// The cipher suite: XChaCha20-Poly1305 with subkeys by HKDF-SHA256.
const SUITE: u8 = 1;
/// The passphrase function: Argon2id, version 1.3.
const KDF: u8 = 1;
const CHECKSUM: usize = 16;
/// The length of the data key's mark, in bytes.
const MARK: usize = 16;

/// The plain part of the file.
pub(crate) struct Header {
    params: KdfParams,
    salt: [u8; 16],
    id: [u8; 16],
    /// Tells one data key of a vault from another, and nothing about either.
    mark: [u8; MARK],
    nonce: [u8; NONCE],
    wrapped: [u8; 32],
    tag: [u8; TAG],
}

/// Derives the mark of a data key, a subkey that is used for nothing else. `None` cannot occur.
fn mark_of(data: &Key, id: &[u8; 16]) -> Option<[u8; MARK]> {
    let mark = data.subkey(id, label("mark").as_bytes())?;
    mark.expose_to_wrap().first_chunk().copied()
}

impl Header {
    /// Makes the header of the vault `id`, with the data key wrapped under a passphrase.
    pub(crate) fn wrap(
        id: [u8; 16],
        data: &Key,
        passphrase: &Secret,
        params: KdfParams,
        entropy: &mut dyn Entropy,
    ) -> Result<Header, VaultError> {
        let salt = public_bytes(entropy);
        let key = params.derive(passphrase, &salt)?;
        let mut header = Header {
            params,
            salt,
            id,
            mark: mark_of(data, &id).ok_or(VaultError::WrongPassphrase)?,
            nonce: [0; NONCE],
            wrapped: [0; 32],
            tag: [0; TAG],
        };
        let mut wrapped = Secret::new(data.expose_to_wrap());
        (header.nonce, header.tag) = key
            .seal(wrapped.expose_mut(), &header.context(), entropy)
            .map_err(|Unauthentic| VaultError::WrongPassphrase)?;
        header.wrapped.copy_from_slice(wrapped.expose());
        Ok(header)
    }

    /// The vault's id.
    pub(crate) fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// The cost of checking the passphrase.
    pub(crate) fn params(&self) -> KdfParams {
        self.params
    }

    /// The header's length in the file.
    pub(super) fn length(&self) -> usize {
        self.to_bytes().len()
    }

    /// Tells if `data` is the key that is wrapped here.
    pub(crate) fn is_key(&self, data: &Key) -> bool {
        mark_of(data, &self.id) == Some(self.mark)
    }

    /// Derives the key of the passphrase.
    pub(crate) fn passphrase_key(&self, passphrase: &Secret) -> Result<Key, VaultError> {
        self.params.derive(passphrase, &self.salt)
    }

    /// Decrypts the data key, if the passphrase is right.
    pub(crate) fn unwrap(&self, passphrase: &Secret) -> Result<Key, VaultError> {
        self.unwrap_with(&self.passphrase_key(passphrase)?)
    }

    /// Decrypts the data key with the key of the passphrase.
    pub(crate) fn unwrap_with(&self, key: &Key) -> Result<Key, VaultError> {
        Key::try_filled(|out| {
            out.copy_from_slice(&self.wrapped);
            key.unseal(self.nonce, out, self.tag, &self.context())
                .map_err(|Unauthentic| VaultError::WrongPassphrase)
        })
    }

    /// The associated data of the wrapped key: the bytes before its nonce.
    fn context(&self) -> Vec<u8> {
        context(&[label("key").as_bytes(), &self.start()])
    }

    /// The bytes before the wrapped key's nonce.
    fn start(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&[SUITE, KDF]);
        for cost in [self.params.memory_kib(), self.params.passes(), self.params.lanes()] {
            bytes.extend_from_slice(&cost.to_le_bytes());
        }
        bytes.extend_from_slice(&self.salt);
        bytes.extend_from_slice(&self.id);
        bytes.extend_from_slice(&self.mark);
        bytes
    }

    /// The header's bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.start();
        bytes.extend_from_slice(&self.nonce);
        bytes.extend_from_slice(&self.wrapped);
        bytes.extend_from_slice(&self.tag);
        let sum = hash(&bytes);
        bytes.extend(sum.iter().take(CHECKSUM));
        bytes
    }

    /// Parses a header, with every check that needs no passphrase.
    pub(crate) fn parse(file: &[u8]) -> Result<Header, VaultError> {
        let section = Section::Header;
        if !file.starts_with(&MAGIC) {
            let cut = MAGIC.starts_with(file);
            return Err(if cut {
                VaultError::Truncated { section, offset: file.len() }
            } else {
                VaultError::NotAVault
            });
        }
        let mut reader = Reader::new(file, 0);
        reader.take(MAGIC.len(), section)?;
        let found = u16::from_le_bytes(reader.array(section)?);
        if found != FORMAT {
            return Err(VaultError::UnsupportedVersion { found });
        }
        let (suite, kdf) = (reader.byte(section)?, reader.byte(section)?);
        let costs = [reader.u32(section)?, reader.u32(section)?, reader.u32(section)?];
        let (salt, id, mark) = (reader.array(section)?, reader.array(section)?, reader.array(section)?);
        let (nonce, wrapped, tag) = (reader.array(section)?, reader.array(section)?, reader.array(section)?);
        let summed = reader.offset();
        let sum: [u8; CHECKSUM] = reader.array(section)?;
        // The sum needs no key. It tells a damaged header from a wrong passphrase, but an attacker can forge it;
        // the tag that is checked after it cannot be forged.
        if !file.get(..summed).is_some_and(|start| hash(start).starts_with(&sum)) {
            return Err(VaultError::Damaged { section, offset: 0 });
        }
        if (suite, kdf) != (SUITE, KDF) {
            return Err(VaultError::UnsupportedSuite { suite, kdf });
        }
        let [memory_kib, passes, lanes] = costs;
        let params = KdfParams::new(memory_kib, passes, lanes)?;
        Ok(Header { params, salt, id, mark, nonce, wrapped, tag })
    }
}

/// The plain facts at the start of a vault's file. They are not authenticated before the passphrase opens it:
/// anyone who can write the file can change them.
///
/// ```no_run
/// let meta = vault::Meta::read(&std::fs::read("vault")?)?;
/// println!("format {}, {} passes", meta.format, meta.costs.passes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// The version of the file format.
    pub format: u16,
    /// The vault's random id.
    pub id: [u8; 16],
    /// The cost of checking a passphrase.
    pub costs: KdfParams,
}

impl Meta {
    /// Reads the facts of a file.
    ///
    /// # Errors
    /// The bytes are no vault file, have another version or costs out of range, or the header is damaged.
    pub fn read(file: &[u8]) -> Result<Meta, VaultError> {
        let header = Header::parse(file)?;
        Ok(Meta { format: FORMAT, id: *header.id(), costs: header.params() })
    }
}
