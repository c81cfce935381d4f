//! The manifest, which lists every record, and the records behind it.

use sirl::Field;

use super::Header;
use super::reader::Reader;
use crate::cipher::{Keys, NONCE, OVERHEAD, TAG, Unauthentic, context, hash};
use crate::entropy::Entropy;
use crate::record::{Record, is_sealed_length};
use crate::{Secret, Section, VaultError, handle};

/// The most records in a vault.
pub(crate) const MOST_RECORDS: usize = 1024;
/// The manifest is padded to a multiple of this, so that names do not show in its length.
const PADDING: usize = 512;
/// The most that a manifest can take: 1024 entries of the longest kind.
const LONGEST_MANIFEST: usize = 128 * 1024;

/// What a file holds beside its header.
pub(crate) struct Contents {
    /// How often the vault was changed.
    pub(crate) generation: u64,
    /// The records, in the order they were first put in.
    pub(crate) records: Vec<Record>,
}

/// The field's number in a file. Numbers are never given anew.
fn code_of(field: Field) -> u8 {
    match field {
        Field::Name => 1,
        Field::Country => 2,
        Field::Region => 3,
        Field::City => 4,
        Field::Phone => 5,
        Field::Email => 6,
        Field::Street => 7,
        Field::PostalCode => 8,
        Field::CardNumber => 9,
        Field::CardExpiry => 10,
        Field::CardCode => 11,
        Field::GovernmentId => 12,
        Field::Password => 13,
        Field::OneTimeCode => 14,
    }
}

/// What the manifest is bound to: the exact header, and so the vault.
fn manifest_context(header: &[u8]) -> Vec<u8> {
    context(&[b"portcullis vault 1 manifest", &hash(header)])
}

/// The bytes of a whole file. `None` cannot occur: a manifest is far below the cipher's limit.
pub(crate) fn write(
    header: &Header,
    keys: &Keys,
    generation: u64,
    records: &[Record],
    entropy: &mut dyn Entropy,
) -> Option<Vec<u8>> {
    let mut list = Vec::new();
    list.extend_from_slice(&generation.to_le_bytes());
    list.extend_from_slice(&u32::try_from(records.len()).ok()?.to_le_bytes());
    for record in records {
        list.extend_from_slice(&record.id);
        list.extend_from_slice(&record.version.to_le_bytes());
        list.push(code_of(record.field));
        list.push(u8::try_from(record.handle.len()).ok()?);
        list.extend_from_slice(record.handle.as_bytes());
        list.extend_from_slice(&u32::try_from(record.sealed.len()).ok()?.to_le_bytes());
        list.extend_from_slice(&hash(&record.sealed));
    }
    list.resize(list.len().next_multiple_of(PADDING), 0);

    let mut file = header.to_bytes();
    let (nonce, tag) = keys.manifest.seal(&mut list, &manifest_context(&file), entropy).ok()?;
    file.extend_from_slice(&u32::try_from(list.len() + OVERHEAD).ok()?.to_le_bytes());
    file.extend_from_slice(&nonce);
    file.extend_from_slice(&list);
    file.extend_from_slice(&tag);
    for record in records {
        file.extend_from_slice(&record.sealed);
    }
    Some(file)
}

/// Reads manifest and records, each of which must be exactly what was written.
pub(crate) fn read(file: &[u8], keys: &Keys) -> Result<Contents, VaultError> {
    let section = Section::Manifest;
    let mut reader = Reader::new(file, 0);
    let header = reader.take(Header::LENGTH, Section::Header)?;
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
        .unseal(nonce, list.expose_mut(), tag, &manifest_context(header))
        .map_err(|Unauthentic| damaged.clone())?;
    // An authentic manifest was written by this code; one that does not read is still damage, not a panic.
    let (generation, entries) = read_list(list.expose(), start).map_err(|_| damaged)?;

    let mut records = Vec::with_capacity(entries.len());
    for (place, entry) in entries.into_iter().enumerate() {
        let section = Section::Record(place + 1);
        let offset = reader.offset();
        let sealed = reader.take(entry.length, section)?;
        if hash(sealed) != entry.hash {
            return Err(VaultError::Damaged { section, offset });
        }
        records.push(Record { sealed: sealed.to_vec(), ..entry.record });
    }
    if reader.rest().is_empty() {
        Ok(Contents { generation, records })
    } else {
        Err(VaultError::Damaged { section: Section::End, offset: reader.offset() })
    }
}

/// One line of the manifest: a record without its bytes, their length and their hash.
struct Entry {
    record: Record,
    length: usize,
    hash: [u8; 32],
}

/// Reads the decrypted manifest.
fn read_list(list: &[u8], start: usize) -> Result<(u64, Vec<Entry>), VaultError> {
    let section = Section::Manifest;
    let damaged = VaultError::Damaged { section, offset: start };
    let mut reader = Reader::new(list, start);
    let generation = reader.u64(section)?;
    let count = reader.u32(section)? as usize;
    if count > MOST_RECORDS {
        return Err(damaged);
    }
    let mut entries: Vec<Entry> = Vec::with_capacity(count);
    for _ in 0..count {
        let id = reader.array(section)?;
        let version = reader.u32(section)?;
        let code = reader.byte(section)?;
        let field =
            Field::ALL.into_iter().find(|field| code_of(*field) == code).ok_or_else(|| damaged.clone())?;
        let name = usize::from(reader.byte(section)?);
        let name = std::str::from_utf8(reader.take(name, section)?).map_err(|_| damaged.clone())?;
        let length = reader.u32(section)? as usize;
        let hash = reader.array(section)?;
        let twice = entries.iter().any(|e| e.record.handle == name && e.record.field == field);
        if !handle::is_valid(name) || !is_sealed_length(length) || twice {
            return Err(damaged);
        }
        let record = Record { id, version, handle: name.to_owned(), field, sealed: Vec::new() };
        entries.push(Entry { record, length, hash });
    }
    if reader.rest().iter().all(|byte| *byte == 0) { Ok((generation, entries)) } else { Err(damaged) }
}
