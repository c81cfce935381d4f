//! The manifest's list, decrypted, which describes each sealed part of the file.

use browser_signals::{Origin, Site};
use sirl::Field;

use super::reader::Reader;
use crate::content::binding::{Binding, LONGEST_BINDING};
use crate::content::handle;
use crate::content::record::{Record, is_sealed_length};
use crate::content::signing::SEALED_SEED;
use crate::content::state::{self, State};
use crate::crypto::cipher::hash;
use crate::error::{Section, VaultError};
use crate::state_name::StateName;

/// The most records in a vault.
pub(crate) const MOST_RECORDS: usize = 1024;
/// The list's numbers for the forms of a binding.
const ANYWHERE: u8 = 0;
const ORIGIN: u8 = 1;
const SITE: u8 = 2;

/// A sealed part in the list, with the length and the hash of its bytes.
pub(super) struct ListedPart<T> {
    pub(super) of: T,
    pub(super) length: usize,
    pub(super) hash: [u8; 32],
}

impl<T> ListedPart<T> {
    /// Tells if these are the part's bytes.
    pub(super) fn is(&self, sealed: &[u8]) -> bool {
        sealed.len() == self.length && hash(sealed) == self.hash
    }
}

/// The list.
pub(super) struct List {
    pub(super) generation: u64,
    pub(super) records: Vec<ListedPart<Record>>,
    /// The seed of the signing key.
    pub(super) signing: ListedPart<()>,
    pub(super) states: Vec<ListedPart<State>>,
}

/// Writes the list without padding. `None` cannot occur: every length fits.
pub(super) fn write(
    generation: u64,
    records: &[Record],
    signing: &[u8],
    states: &[State],
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
        write_binding(&record.binding, &mut list)?;
        write_part(&record.sealed, &mut list)?;
    }
    write_part(signing, &mut list)?;
    list.push(u8::try_from(states.len()).ok()?);
    for state in states {
        list.push(state.name.code());
        write_part(&state.sealed, &mut list)?;
    }
    Some(list)
}

fn write_binding(binding: &Binding, list: &mut Vec<u8>) -> Option<()> {
    let (code, text) = match binding {
        Binding::Anywhere => (ANYWHERE, String::new()),
        Binding::Origin(origin) => (ORIGIN, origin.to_string()),
        Binding::Site(site) => (SITE, site.to_string()),
    };
    list.push(code);
    list.extend_from_slice(&u16::try_from(text.len()).ok()?.to_le_bytes());
    list.extend_from_slice(text.as_bytes());
    Some(())
}

fn write_part(sealed: &[u8], list: &mut Vec<u8>) -> Option<()> {
    list.extend_from_slice(&u32::try_from(sealed.len()).ok()?.to_le_bytes());
    list.extend_from_slice(&hash(sealed));
    Some(())
}

/// Reads a decrypted list, which starts at `start` of the file. An authentic list was written by this code, but a
/// malformed one is reported as damage all the same.
pub(super) fn read(list: &[u8], start: usize) -> Result<List, VaultError> {
    let section = Section::Manifest;
    let damaged = VaultError::Damaged { section, offset: start };
    let mut reader = Reader::new(list, start);
    let generation = reader.u64(section)?;
    let count = reader.u32(section)? as usize;
    if count > MOST_RECORDS {
        return Err(damaged);
    }
    let mut records: Vec<ListedPart<Record>> = Vec::with_capacity(count);
    for _ in 0..count {
        let record = read_record(&mut reader)?.ok_or_else(|| damaged.clone())?;
        let twice =
            |other: &ListedPart<Record>| other.of.handle == record.handle && other.of.field == record.field;
        if records.iter().any(twice) {
            return Err(damaged);
        }
        records.push(read_part(&mut reader, record, is_sealed_length)?);
    }
    let signing = read_part(&mut reader, (), |length| length == SEALED_SEED)?;
    let mut states = Vec::<ListedPart<State>>::new();
    for _ in 0..reader.byte(section)? {
        let code = reader.byte(section)?;
        let name = StateName::ALL.into_iter().find(|name| name.code() == code);
        let name = name.filter(|name| states.iter().all(|other| other.of.name != *name));
        let state = State { name: name.ok_or_else(|| damaged.clone())?, sealed: Vec::new() };
        states.push(read_part(&mut reader, state, state::is_sealed_length)?);
    }
    if reader.rest().iter().all(|byte| *byte == 0) {
        Ok(List { generation, records, signing, states })
    } else {
        Err(damaged)
    }
}

/// Reads a record's entry up to its length; `None` if no vault can have such a record.
fn read_record(reader: &mut Reader<'_>) -> Result<Option<Record>, VaultError> {
    let section = Section::Manifest;
    let id = reader.array(section)?;
    let version = reader.u32(section)?;
    let field = field_of(reader.byte(section)?);
    let length = usize::from(reader.byte(section)?);
    let name = std::str::from_utf8(reader.take(length, section)?).ok();
    let binding = read_binding(reader)?;
    let (Some(field), Some(name), Some(binding)) = (field, name.filter(|n| handle::is_valid(n)), binding)
    else {
        return Ok(None);
    };
    Ok(Some(Record { id, version, handle: name.to_owned(), field, binding, sealed: Vec::new() }))
}

/// Reads a binding, which must have the form in which this code writes it.
fn read_binding(reader: &mut Reader<'_>) -> Result<Option<Binding>, VaultError> {
    let section = Section::Manifest;
    let code = reader.byte(section)?;
    let length = usize::from(u16::from_le_bytes(reader.array(section)?));
    let text = std::str::from_utf8(reader.take(length, section)?).unwrap_or_default();
    let binding = match code {
        ANYWHERE if length == 0 => Some(Binding::Anywhere),
        ORIGIN => Origin::parse(text).ok().filter(|o| o.to_string() == text).map(Binding::Origin),
        SITE => Site::parse(text).ok().filter(|s| s.to_string() == text).map(Binding::Site),
        _ => None,
    };
    Ok(binding.filter(|_| length <= LONGEST_BINDING))
}

fn read_part<T>(
    reader: &mut Reader<'_>,
    of: T,
    can_be: impl Fn(usize) -> bool,
) -> Result<ListedPart<T>, VaultError> {
    let (section, offset) = (Section::Manifest, reader.offset());
    let length = reader.u32(section)? as usize;
    let hash = reader.array(section)?;
    if can_be(length) {
        Ok(ListedPart { of, length, hash })
    } else {
        Err(VaultError::Damaged { section, offset })
    }
}

/// The field's number in a file. A number is never reused.
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
        Field::Username => 15,
        Field::Company => 16,
        Field::BirthDate => 17,
        Field::NewPassword => 18,
    }
}

/// The field with this number.
fn field_of(code: u8) -> Option<Field> {
    Field::ALL.into_iter().find(|field| code_of(*field) == code)
}
