//! The manifest's list, decrypted: what it says of each sealed part of the file.

use browser_signals::Origin;

use super::field_code::{code_of, field_of};
use super::manifest::MOST_RECORDS;
use super::reader::Reader;
use crate::binding::{Binding, LONGEST_BINDING};
use crate::cipher::{Format, hash};
use crate::record::{Record, is_sealed_length};
use crate::signing::SEALED_SEED;
use crate::state::{self, State, StateName};
use crate::{Section, VaultError, handle};
use browser_signals::Site;

/// The list's numbers for the forms of a binding.
const ANYWHERE: u8 = 0;
const ORIGIN: u8 = 1;
const SITE: u8 = 2;

/// A sealed part as the list has it: without its bytes, their length and their hash.
pub(super) struct Part<T> {
    pub(super) of: T,
    pub(super) length: usize,
    pub(super) hash: [u8; 32],
}

impl<T> Part<T> {
    /// Whether these are the bytes.
    pub(super) fn is(&self, sealed: &[u8]) -> bool {
        sealed.len() == self.length && hash(sealed) == self.hash
    }
}

/// What the list says.
pub(super) struct List {
    pub(super) generation: u64,
    pub(super) records: Vec<Part<Record>>,
    /// The seed of the signing key; none in format 1.
    pub(super) signing: Option<Part<()>>,
    pub(super) states: Vec<Part<State>>,
}

/// The list's bytes before padding. `None` cannot occur: every length fits.
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

/// Reads a decrypted list, which starts at `start` of the file. An authentic one was written by this code; one
/// that does not read is still damage, not a panic.
pub(super) fn read(list: &[u8], start: usize, format: Format) -> Result<List, VaultError> {
    let section = Section::Manifest;
    let damaged = VaultError::Damaged { section, offset: start };
    let mut reader = Reader::new(list, start);
    let generation = reader.u64(section)?;
    let count = reader.u32(section)? as usize;
    if count > MOST_RECORDS {
        return Err(damaged);
    }
    let mut records: Vec<Part<Record>> = Vec::with_capacity(count);
    for _ in 0..count {
        let record = read_record(&mut reader, format)?.ok_or_else(|| damaged.clone())?;
        let twice = |other: &Part<Record>| other.of.handle == record.handle && other.of.field == record.field;
        if records.iter().any(twice) {
            return Err(damaged);
        }
        records.push(read_part(&mut reader, record, is_sealed_length)?);
    }
    let (mut signing, mut states) = (None, Vec::<Part<State>>::new());
    if format == Format::V2 {
        signing = Some(read_part(&mut reader, (), |length| length == SEALED_SEED)?);
        for _ in 0..reader.byte(section)? {
            let code = reader.byte(section)?;
            let name = StateName::ALL.into_iter().find(|name| name.code() == code);
            let name = name.filter(|name| states.iter().all(|other| other.of.name != *name));
            let state = State { name: name.ok_or_else(|| damaged.clone())?, sealed: Vec::new() };
            states.push(read_part(&mut reader, state, state::is_sealed_length)?);
        }
    }
    if reader.rest().iter().all(|byte| *byte == 0) {
        Ok(List { generation, records, signing, states })
    } else {
        Err(damaged)
    }
}

/// What stands in the list before a record's length; `None` where it says what no vault has.
fn read_record(reader: &mut Reader<'_>, format: Format) -> Result<Option<Record>, VaultError> {
    let section = Section::Manifest;
    let id = reader.array(section)?;
    let version = reader.u32(section)?;
    let field = field_of(reader.byte(section)?);
    let length = usize::from(reader.byte(section)?);
    let name = std::str::from_utf8(reader.take(length, section)?).ok();
    let binding = match format {
        Format::V1 => Some(Binding::Anywhere),
        Format::V2 => read_binding(reader)?,
    };
    let (Some(field), Some(name), Some(binding)) = (field, name.filter(|n| handle::is_valid(n)), binding)
    else {
        return Ok(None);
    };
    Ok(Some(Record { id, version, handle: name.to_owned(), field, binding, sealed: Vec::new() }))
}

/// A binding, written as this code writes it.
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
) -> Result<Part<T>, VaultError> {
    let (section, offset) = (Section::Manifest, reader.offset());
    let length = reader.u32(section)? as usize;
    let hash = reader.array(section)?;
    if can_be(length) { Ok(Part { of, length, hash }) } else { Err(VaultError::Damaged { section, offset }) }
}
