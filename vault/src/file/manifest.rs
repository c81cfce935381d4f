//! The manifest, which is the encrypted list of the sealed parts, and the parts behind it.

use super::header::Header;
use super::list::{self, ListedPart};
use super::reader::Reader;
use crate::content::keys::Keys;
use crate::content::record::Record;
use crate::content::signing::Signing;
use crate::content::state::State;
use crate::crypto::cipher::{Entropy, NONCE, OVERHEAD, TAG, Unauthentic, context, hash, label};
use crate::crypto::secret::Secret;
use crate::error::{Section, VaultError};

/// The manifest is padded to a multiple of this, so that its length does not show those of names.
const PADDING: usize = 512;
/// The longest manifest: 1024 of the longest entries fit.
const LONGEST_MANIFEST: usize = 512 * 1024;

/// The content of a file without its header.
pub(crate) struct Contents {
    /// The number of changes of the vault.
    pub(crate) generation: u64,
    /// The records, in the order in which they were first added.
    pub(crate) records: Vec<Record>,
    /// The sealed seed of the signing key.
    pub(crate) signing: Vec<u8>,
    /// The states.
    pub(crate) states: Vec<State>,
}

/// The associated data of the manifest: the exact header, and with it the vault.
fn manifest_context(header: &[u8]) -> Vec<u8> {
    context(&[label("manifest").as_bytes(), &hash(header)])
}

/// Writes a whole file. `None` cannot occur: a manifest is far below the cipher's limit.
pub(crate) fn write(
    header: &Header,
    keys: &Keys,
    generation: u64,
    records: &[Record],
    (signing, states): (&Signing, &[State]),
    entropy: &mut dyn Entropy,
) -> Option<Vec<u8>> {
    let mut list = list::write(generation, records, &signing.sealed, states)?;
    list.resize(list.len().next_multiple_of(PADDING), 0);

    let mut file = header.to_bytes();
    let context = manifest_context(&file);
    let (nonce, tag) = keys.manifest.seal(&mut list, &context, entropy).ok()?;
    file.extend_from_slice(&u32::try_from(list.len() + OVERHEAD).ok()?.to_le_bytes());
    file.extend_from_slice(&nonce);
    file.extend_from_slice(&list);
    file.extend_from_slice(&tag);
    for record in records {
        file.extend_from_slice(&record.sealed);
    }
    file.extend_from_slice(&signing.sealed);
    for state in states {
        file.extend_from_slice(&state.sealed);
    }
    Some(file)
}

/// Reads the manifest and the parts, each of which must be exactly as it was written.
pub(crate) fn read(file: &[u8], header: &Header, keys: &Keys) -> Result<Contents, VaultError> {
    let section = Section::Manifest;
    let mut reader = Reader::new(file, 0);
    let bytes = reader.take(header.length(), Section::Header)?;
    let start = reader.offset();
    let damaged = VaultError::Damaged { section, offset: start };
    let length = reader.u32(section)? as usize;
    let padded =
        length.checked_sub(OVERHEAD).filter(|n| n % PADDING == 0 && (1..=LONGEST_MANIFEST).contains(n));
    let padded = padded.ok_or_else(|| damaged.clone())?;
    let nonce: [u8; NONCE] = reader.array(section)?;
    let mut list = Secret::new(reader.take(padded, section)?);
    let tag: [u8; TAG] = reader.array(section)?;
    keys.manifest
        .unseal(nonce, list.expose_mut(), tag, &manifest_context(bytes))
        .map_err(|Unauthentic| damaged.clone())?;
    let list = list::read(list.expose(), start).map_err(|_| damaged)?;

    let mut records = Vec::with_capacity(list.records.len());
    for (place, part) in list.records.into_iter().enumerate() {
        let sealed = take(&mut reader, &part, Section::Record(place + 1))?;
        records.push(Record { sealed, ..part.of });
    }
    let signing = take(&mut reader, &list.signing, Section::SigningKey)?;
    let mut states = Vec::with_capacity(list.states.len());
    for part in list.states {
        let sealed = take(&mut reader, &part, Section::State(part.of.name))?;
        states.push(State { sealed, ..part.of });
    }
    if reader.rest().is_empty() {
        Ok(Contents { generation: list.generation, records, signing, states })
    } else {
        Err(VaultError::Damaged { section: Section::End, offset: reader.offset() })
    }
}

/// Takes the bytes of a part, which must be those of the list.
fn take<T>(reader: &mut Reader<'_>, part: &ListedPart<T>, section: Section) -> Result<Vec<u8>, VaultError> {
    let offset = reader.offset();
    let sealed = reader.take(part.length, section)?;
    if part.is(sealed) { Ok(sealed.to_vec()) } else { Err(VaultError::Damaged { section, offset }) }
}
