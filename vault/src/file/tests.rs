//! Every kind of damage to a small file is noticed.

use std::ops::Range;

use browser_signals::Origin;
use sirl::Field;

use super::header::Header;
use super::manifest::{read, write};
use crate::content::binding::Binding;
use crate::content::keys::Keys;
use crate::content::record::Record;
use crate::content::signing::Signing;
use crate::content::state::State;
use crate::crypto::cipher::{Key, hash};
use crate::{KdfParams, Secret, Section, StateName, VaultError};

/// Bytes that differ from call to call and are the same in every run.
fn counter() -> impl FnMut(&mut [u8]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |out: &mut [u8]| {
        for byte in out {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
    }
}

/// A file of two records and a state, and keys that open it without the cost of a passphrase.
struct Sample {
    bytes: Vec<u8>,
    passphrase_key: Key,
    keys: Keys,
}

fn sample() -> Sample {
    let mut entropy = counter();
    let passphrase = Secret::new("a long enough phrase");
    let data = Key::random(&mut entropy);
    let header = Header::wrap([6; 16], &data, &passphrase, KdfParams::FLOOR, &mut entropy).unwrap();
    let id = header.id();
    let keys = Keys::derive(&data, id).unwrap();
    let shop = Binding::Origin(Origin::parse("https://shop.example").unwrap());
    let mut seal = |handle, field, binding: &Binding, value: &[u8]| {
        Record::seal(id, &keys.records, (handle, field, binding), 1, value, &mut entropy).unwrap()
    };
    let records = [
        seal("card:personal", Field::CardNumber, &Binding::Anywhere, b"4111111111111111"),
        seal("address:home", Field::Street, &shop, b"Long Street 12"),
    ];
    let signing = Signing::create(id, &keys.signing, &mut entropy).unwrap();
    let states = [State::seal(StateName::Phrase, id, &keys.states, b"green kettles", &mut entropy).unwrap()];
    let bytes = write(&header, &keys, 7, &records, (&signing, &states), &mut entropy).unwrap();
    let passphrase_key = header.passphrase_key(&passphrase).unwrap();
    Sample { bytes, passphrase_key, keys }
}

/// Unlocks without deriving the passphrase's key, and reads every value.
fn open(sample: &Sample, bytes: &[u8]) -> Result<Vec<Vec<u8>>, VaultError> {
    let header = Header::parse(bytes)?;
    let data = header.unwrap_with(&sample.passphrase_key)?;
    let keys = Keys::derive(&data, header.id()).unwrap();
    let contents = read(bytes, &header, &keys)?;
    assert_eq!(contents.generation, 7);
    let value = |r: &Record| r.unseal(header.id(), &keys.records).ok().unwrap().expose().to_vec();
    let state = |s: &State| s.unseal(header.id(), &keys.states).ok().unwrap().expose().to_vec();
    Ok(contents.records.iter().map(value).chain(contents.states.iter().map(state)).collect())
}

/// Makes the header's sum right again, as an attacker would.
fn mend_sum(bytes: &mut [u8]) {
    let sum = hash(&bytes[..144]);
    bytes[144..160].copy_from_slice(&sum[..16]);
}

#[test]
fn an_untouched_file_opens() {
    let sample = sample();
    let values = open(&sample, &sample.bytes).unwrap();
    let expected = [b"4111111111111111".to_vec(), b"Long Street 12".to_vec(), b"green kettles".to_vec()];
    assert_eq!(values, expected);
    assert_eq!(sample.bytes.len(), STATE.end);
}

/// The parts of the sample, as `spec/vault.md` lays them out.
const HEADER: Range<usize> = 0..160;
const MANIFEST: Range<usize> = 160..160 + 4 + 24 + 512 + 16;
const RECORDS: Range<usize> = MANIFEST.end..MANIFEST.end + 2 * RECORD;
const SIGNING: Range<usize> = RECORDS.end..RECORDS.end + 24 + 64 + 16;
const STATE: Range<usize> = SIGNING.end..SIGNING.end + 24 + 512 + 16;
const RECORD: usize = 24 + 256 + 16;

/// Flips each bit of each byte, and all bits of a byte at once.
#[test]
fn every_changed_byte_is_noticed_and_located() {
    let sample = sample();
    for place in 0..sample.bytes.len() {
        for flipped in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
            let mut bytes = sample.bytes.clone();
            bytes[place] ^= flipped;
            let error =
                open(&sample, &bytes).err().unwrap_or_else(|| panic!("byte {place} ^ {flipped} unnoticed"));
            let damaged = |section, offset| error == VaultError::Damaged { section, offset };
            let expected = match place {
                0..8 => error == VaultError::NotAVault,
                8..10 => matches!(error, VaultError::UnsupportedVersion { .. }),
                _ if HEADER.contains(&place) => damaged(Section::Header, 0),
                _ if MANIFEST.contains(&place) => {
                    let cut = matches!(error, VaultError::Truncated { section: Section::Manifest, .. });
                    cut || damaged(Section::Manifest, MANIFEST.start)
                }
                _ if RECORDS.contains(&place) => {
                    let number = (place - RECORDS.start) / RECORD;
                    damaged(Section::Record(number + 1), RECORDS.start + number * RECORD)
                }
                _ if SIGNING.contains(&place) => damaged(Section::SigningKey, SIGNING.start),
                _ => damaged(Section::State(StateName::Phrase), STATE.start),
            };
            assert!(expected, "byte {place} ^ {flipped}: {error}");
        }
    }
}

#[test]
fn a_changed_header_with_a_right_sum_is_noticed() {
    let sample = sample();
    for place in 10..144 {
        let mut bytes = sample.bytes.clone();
        bytes[place] ^= 1;
        mend_sum(&mut bytes);
        let error = open(&sample, &bytes).err().unwrap_or_else(|| panic!("byte {place} unnoticed"));
        match place {
            10 | 11 => assert!(matches!(error, VaultError::UnsupportedSuite { .. }), "{error}"),
            12..24 => assert!(
                matches!(error, VaultError::KdfOutOfRange { .. } | VaultError::WrongPassphrase),
                "byte {place}: {error}"
            ),
            _ => assert_eq!(error, VaultError::WrongPassphrase, "byte {place}"),
        }
    }
}

#[test]
fn every_shorter_file_is_noticed() {
    let sample = sample();
    for length in 0..sample.bytes.len() {
        let error = open(&sample, &sample.bytes[..length]).expect_err("a shorter file");
        assert!(
            matches!(error, VaultError::Truncated { offset, .. } if offset == length),
            "{length}: {error}"
        );
    }
}

#[test]
fn a_longer_file_is_noticed() {
    let sample = sample();
    let longer = [sample.bytes.as_slice(), &[0]].concat();
    let expected = VaultError::Damaged { section: Section::End, offset: sample.bytes.len() };
    assert_eq!(open(&sample, &longer), Err(expected));
}

#[test]
fn swapped_doubled_and_missing_records_are_noticed() {
    let sample = sample();
    let (start, rest) = sample.bytes.split_at(RECORDS.start);
    let (records, end) = rest.split_at(RECORDS.len());
    let (first, second) = records.split_at(RECORD);
    for wrong in [[second, first].concat(), [first, first].concat(), second.to_vec(), first.to_vec()] {
        let bytes = [start, &wrong, end].concat();
        assert!(open(&sample, &bytes).is_err());
    }
    assert!(open(&sample, &[start, first, second, end].concat()).is_ok());
}

#[test]
fn a_record_does_not_decrypt_anywhere_else() {
    let sample = sample();
    let header = Header::parse(&sample.bytes).unwrap();
    let id = header.id();
    let make = || read(&sample.bytes, &header, &sample.keys).unwrap().records.swap_remove(0);
    let opens = |vault: &[u8; 16], record: &Record| record.unseal(vault, &sample.keys.records).is_ok();
    let shop = Binding::Origin(Origin::parse("https://shop.example").unwrap());
    assert!(opens(id, &make()));
    assert!(!opens(&[0; 16], &make()));
    assert!(!opens(id, &Record { id: [0; 16], ..make() }));
    assert!(!opens(id, &Record { version: 2, ..make() }));
    assert!(!opens(id, &Record { handle: "card:other".into(), ..make() }));
    assert!(!opens(id, &Record { field: Field::CardCode, ..make() }));
    assert!(!opens(id, &Record { binding: shop, ..make() }));
    assert!(make().unseal(id, &sample.keys.manifest).is_err());
}

#[test]
fn a_state_does_not_decrypt_under_another_name_or_key() {
    let sample = sample();
    let header = Header::parse(&sample.bytes).unwrap();
    let make = || read(&sample.bytes, &header, &sample.keys).unwrap().states.swap_remove(0);
    let damaged = |name| Err(VaultError::StateDamaged(name));
    assert!(make().unseal(header.id(), &sample.keys.states).is_ok());
    let renamed = State { name: StateName::Consents, ..make() };
    assert_eq!(renamed.unseal(header.id(), &sample.keys.states).map(|_| ()), damaged(StateName::Consents));
    assert_eq!(make().unseal(header.id(), &sample.keys.records).map(|_| ()), damaged(StateName::Phrase));
    assert_eq!(make().unseal(&[0; 16], &sample.keys.states).map(|_| ()), damaged(StateName::Phrase));
}

#[test]
fn a_manifest_of_another_header_is_refused() {
    let sample = sample();
    let mut bytes = sample.bytes.clone();
    bytes[96] ^= 1; // another wrapping of the same key would differ here
    mend_sum(&mut bytes);
    let error = read(&bytes, &Header::parse(&bytes).unwrap(), &sample.keys).err();
    assert_eq!(error, Some(VaultError::Damaged { section: Section::Manifest, offset: MANIFEST.start }));
}

#[test]
fn lengths_of_values_and_states_do_not_show() {
    let mut entropy = counter();
    let key = Key::random(&mut entropy);
    let place = ("contact:me", Field::Name, &Binding::Anywhere);
    let mut length = |value: String| {
        Record::seal(&[0; 16], &key, place, 1, value.as_bytes(), &mut entropy).unwrap().sealed.len()
    };
    assert_eq!(length("a".into()), 296);
    assert_eq!(length("a".repeat(254)), 296);
    assert_eq!(length("a".repeat(255)), 512 + 40);
    assert_eq!(length("a".repeat(4094)), 4096 + 40);
    let mut length = |length| {
        State::seal(StateName::Settings, &[0; 16], &key, &vec![b'a'; length], &mut entropy)
            .map(|s| s.sealed.len())
    };
    assert_eq!(length(0), Ok(512 + 40));
    assert_eq!(length(508), Ok(512 + 40));
    assert_eq!(length(509), Ok(1024 + 40));
    assert_eq!(length(64 * 1024), Ok(128 * 1024 + 40));
    let too_long = VaultError::StateTooLong { name: StateName::Settings, limit: 64 * 1024 };
    assert_eq!(length(64 * 1024 + 1), Err(too_long));
}
