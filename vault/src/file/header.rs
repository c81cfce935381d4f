//! The header: what it takes to get from a passphrase to the data key. Written when the vault is made, its
//! passphrase changed or its data key renewed; saving leaves it as it is, so no key that opens it has to be
//! kept.

use super::reader::Reader;
use crate::cipher::{Format, Key, NONCE, TAG, Unauthentic, context, hash};
use crate::entropy::{Entropy, public_bytes};
use crate::{KdfParams, Secret, Section, VaultError};

/// The first bytes of every vault file. The last one ends a text listing early on some systems, and a
/// transfer that mangles line ends or the high bit is seen at once.
const MAGIC: [u8; 8] = *b"PCVAULT\x1a";
/// XChaCha20-Poly1305 with subkeys by HKDF-SHA256.
const SUITE: u8 = 1;
/// Argon2id, version 1.3.
const KDF: u8 = 1;
const CHECKSUM: usize = 16;
/// The length of a data key's own mark.
const MARK: usize = 16;

/// The plain part of the file.
pub(crate) struct Header {
    format: Format,
    params: KdfParams,
    salt: [u8; 16],
    id: [u8; 16],
    /// Tells one data key of a vault from another, and nothing about either. Zeros in format 1.
    mark: [u8; MARK],
    nonce: [u8; NONCE],
    wrapped: [u8; 32],
    tag: [u8; TAG],
}

/// The mark of a data key: a subkey that is used for nothing else. `None` cannot occur.
fn mark_of(data: &Key, id: &[u8; 16]) -> Option<[u8; MARK]> {
    let mark = data.subkey(id, Format::V2.label("mark").as_bytes())?;
    mark.expose_to_wrap().first_chunk().copied()
}

impl Header {
    /// The header of the vault `id`, with `data` wrapped under a passphrase.
    pub(crate) fn wrap(
        id: [u8; 16],
        data: &Key,
        passphrase: &Secret,
        params: KdfParams,
        entropy: &mut dyn Entropy,
    ) -> Result<Header, VaultError> {
        let salt = public_bytes(entropy);
        Header::wrap_with(id, data, (params, salt), &params.derive(passphrase, &salt)?, entropy)
    }

    /// The same, by the key that a passphrase gives with these costs and this salt.
    fn wrap_with(
        id: [u8; 16],
        data: &Key,
        (params, salt): (KdfParams, [u8; 16]),
        key: &Key,
        entropy: &mut dyn Entropy,
    ) -> Result<Header, VaultError> {
        let mut header = Header {
            format: Format::V2,
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

    /// This header in the format that is written: the same passphrase, costs, salt, vault and data key.
    pub(super) fn modern(
        &self,
        key: &Key,
        data: &Key,
        entropy: &mut dyn Entropy,
    ) -> Result<Header, VaultError> {
        Header::wrap_with(self.id, data, (self.params, self.salt), key, entropy)
    }

    /// The vault's id.
    pub(crate) fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// The format of the file.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// What checking the passphrase costs.
    pub(crate) fn params(&self) -> KdfParams {
        self.params
    }

    /// The header's length in the file.
    pub(super) fn length(&self) -> usize {
        self.to_bytes().len()
    }

    /// Whether `data` is the key that is wrapped here.
    pub(crate) fn is_key(&self, data: &Key) -> bool {
        self.format == Format::V2 && mark_of(data, &self.id) == Some(self.mark)
    }

    /// The key that the passphrase gives.
    pub(crate) fn passphrase_key(&self, passphrase: &Secret) -> Result<Key, VaultError> {
        self.params.derive(passphrase, &self.salt)
    }

    /// The data key, if the passphrase is right.
    pub(crate) fn unwrap(&self, passphrase: &Secret) -> Result<Key, VaultError> {
        self.unwrap_with(&self.passphrase_key(passphrase)?)
    }

    /// The data key, by the key that the passphrase gives.
    pub(crate) fn unwrap_with(&self, key: &Key) -> Result<Key, VaultError> {
        Key::try_filled(|out| {
            out.copy_from_slice(&self.wrapped);
            key.unseal(self.nonce, out, self.tag, &self.context())
                .map_err(|Unauthentic| VaultError::WrongPassphrase)
        })
    }

    /// What the wrapped key is bound to: everything before it but its own nonce.
    fn context(&self) -> Vec<u8> {
        context(&[self.format.label("key").as_bytes(), &self.start()])
    }

    /// The bytes before the wrapped key's nonce.
    fn start(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.format.number().to_le_bytes());
        bytes.extend_from_slice(&[SUITE, KDF]);
        for cost in [self.params.memory_kib(), self.params.passes(), self.params.lanes()] {
            bytes.extend_from_slice(&cost.to_le_bytes());
        }
        bytes.extend_from_slice(&self.salt);
        bytes.extend_from_slice(&self.id);
        if self.format == Format::V2 {
            bytes.extend_from_slice(&self.mark);
        }
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
        let format = [Format::V1, Format::V2].into_iter().find(|format| format.number() == found);
        let format = format.ok_or(VaultError::UnsupportedVersion { found })?;
        let (suite, kdf) = (reader.byte(section)?, reader.byte(section)?);
        let costs = [reader.u32(section)?, reader.u32(section)?, reader.u32(section)?];
        let (salt, id) = (reader.array(section)?, reader.array(section)?);
        let mark = if format == Format::V1 { [0; MARK] } else { reader.array(section)? };
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
        let params = KdfParams::new(memory_kib, passes, lanes)?;
        Ok(Header { format, params, salt, id, mark, nonce, wrapped, tag })
    }
}
