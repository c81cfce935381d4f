//! The header: what it takes to get from a passphrase to the data key. Written once, when the vault is
//! made; saving leaves it as it is, so no key that opens it has to be kept.

use super::reader::Reader;
use crate::cipher::{Key, NONCE, TAG, Unauthentic, context, hash};
use crate::entropy::{Entropy, public_bytes};
use crate::{KdfParams, Secret, Section, VaultError};

/// The first bytes of every vault file. The last one ends a text listing early on some systems, and a
/// transfer that mangles line ends or the high bit is seen at once.
const MAGIC: [u8; 8] = *b"PCVAULT\x1a";
const VERSION: u16 = 1;
/// XChaCha20-Poly1305 with subkeys by HKDF-SHA256.
const SUITE: u8 = 1;
/// Argon2id, version 1.3.
const KDF: u8 = 1;
const CHECKSUM: usize = 16;

/// The plain part of the file.
pub(crate) struct Header {
    params: KdfParams,
    salt: [u8; 16],
    id: [u8; 16],
    nonce: [u8; NONCE],
    wrapped: [u8; 32],
    tag: [u8; TAG],
}

impl Header {
    /// The header's length, in bytes.
    pub(crate) const LENGTH: usize = 144;

    /// A new vault's header, and its random data key.
    pub(crate) fn create(
        passphrase: &Secret,
        params: KdfParams,
        entropy: &mut dyn Entropy,
    ) -> Result<(Header, Key), VaultError> {
        let mut header = Header {
            params,
            salt: public_bytes(entropy),
            id: public_bytes(entropy),
            nonce: [0; NONCE],
            wrapped: [0; 32],
            tag: [0; TAG],
        };
        let key = params.derive(passphrase, &header.salt)?;
        let data = Key::random(entropy);
        let mut wrapped = Secret::new(data.expose_to_wrap());
        (header.nonce, header.tag) = key
            .seal(wrapped.expose_mut(), &header.context(), entropy)
            .map_err(|Unauthentic| VaultError::WrongPassphrase)?;
        header.wrapped.copy_from_slice(wrapped.expose());
        Ok((header, data))
    }

    /// The vault's id.
    pub(crate) fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// The data key, if the passphrase is right.
    pub(crate) fn unwrap(&self, passphrase: &Secret) -> Result<Key, VaultError> {
        self.unwrap_with(&self.params.derive(passphrase, &self.salt)?)
    }

    /// The data key, by the key that the passphrase gives.
    pub(super) fn unwrap_with(&self, key: &Key) -> Result<Key, VaultError> {
        Key::try_filled(|out| {
            out.copy_from_slice(&self.wrapped);
            key.unseal(self.nonce, out, self.tag, &self.context())
                .map_err(|Unauthentic| VaultError::WrongPassphrase)
        })
    }

    /// What the wrapped key is bound to: everything before it but its own nonce.
    fn context(&self) -> Vec<u8> {
        context(&[b"portcullis vault 1 key", &self.start()])
    }

    /// The bytes before the wrapped key's nonce.
    fn start(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Header::LENGTH);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[SUITE, KDF]);
        for cost in [self.params.memory_kib(), self.params.passes(), self.params.lanes()] {
            bytes.extend_from_slice(&cost.to_le_bytes());
        }
        bytes.extend_from_slice(&self.salt);
        bytes.extend_from_slice(&self.id);
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

    /// Reads a header, checking everything that can be checked without the passphrase.
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
        if found != VERSION {
            return Err(VaultError::UnsupportedVersion { found });
        }
        let (suite, kdf) = (reader.byte(section)?, reader.byte(section)?);
        let costs = [reader.u32(section)?, reader.u32(section)?, reader.u32(section)?];
        let (salt, id) = (reader.array(section)?, reader.array(section)?);
        let (nonce, wrapped, tag) = (reader.array(section)?, reader.array(section)?, reader.array(section)?);
        let summed = reader.offset();
        let sum: [u8; CHECKSUM] = reader.array(section)?;
        // The sum needs no key: it tells a damaged header from a wrong passphrase, and costs an attacker
        // nothing to forge. What an attacker cannot forge is the tag that is checked after it.
        if !file.get(..summed).is_some_and(|start| hash(start).starts_with(&sum)) {
            return Err(VaultError::Damaged { section, offset: 0 });
        }
        if (suite, kdf) != (SUITE, KDF) {
            return Err(VaultError::UnsupportedSuite { suite, kdf });
        }
        let [memory_kib, passes, lanes] = costs;
        Ok(Header { params: KdfParams::new(memory_kib, passes, lanes)?, salt, id, nonce, wrapped, tag })
    }
}
