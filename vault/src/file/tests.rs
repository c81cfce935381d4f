//! Damage of every kind to a small file.

use sirl::Field;

use super::header::Header;
use super::manifest::{read, write};
use crate::cipher::{Key, Keys, hash};
use crate::record::Record;
use crate::{KdfParams, Secret, Section, VaultError};

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

/// A file of two records, and what opens it without the cost of a passphrase.
struct Sample {
    bytes: Vec<u8>,
    passphrase_key: Key,
    keys: Keys,
}

fn sample() -> Sample {
    let mut entropy = counter();
    let passphrase = Secret::new("a long enough phrase");
    let (header, data) = Header::create(&passphrase, KdfParams::FLOOR, &mut entropy).unwrap();
    let keys = Keys::derive(&data, header.id()).unwrap();
    let mut seal = |handle, field, value: &str| {
        Record::seal(header.id(), &keys.records, (handle, field), 1, &Secret::new(value), &mut entropy)
            .unwrap()
    };
    let records = [
        seal("card:personal", Field::CardNumber, "4111111111111111"),
        seal("address:home", Field::Street, "Long Street 12"),
    ];
    let bytes = write(&header, &keys, 7, &records, &mut entropy).unwrap();
    let salt = bytes[24..40].try_into().unwrap();
    let passphrase_key = KdfParams::FLOOR.derive(&passphrase, &salt).unwrap();
    Sample { bytes, passphrase_key, keys }
}

/// Everything that unlocking does but for deriving the passphrase's key, and then reads every value.
fn open(sample: &Sample, bytes: &[u8]) -> Result<Vec<Vec<u8>>, VaultError> {
    let header = Header::parse(bytes)?;
    let data = header.unwrap_with(&sample.passphrase_key)?;
    let keys = Keys::derive(&data, header.id()).unwrap();
    let contents = read(bytes, &keys)?;
    assert_eq!(contents.generation, 7);
    let value = |r: &Record| r.unseal(header.id(), &keys.records).ok().unwrap().expose().to_vec();
    Ok(contents.records.iter().map(value).collect())
}

/// Makes the header's sum right again, as an attacker would.
fn mend_sum(bytes: &mut [u8]) {
    let sum = hash(&bytes[..128]);
    bytes[128..144].copy_from_slice(&sum[..16]);
}

#[test]
fn an_untouched_file_opens() {
    let sample = sample();
    let values = open(&sample, &sample.bytes).unwrap();
    assert_eq!(values, [b"4111111111111111".to_vec(), b"Long Street 12".to_vec()]);
    assert_eq!(sample.bytes.len(), 144 + 4 + 24 + 512 + 16 + 2 * (24 + 256 + 16));
}

#[test]
fn every_changed_bit_is_noticed_and_placed() {
    let sample = sample();
    let manifest = 144..144 + 4 + 24 + 512 + 16;
    for place in 0..sample.bytes.len() {
        for bit in [0, 3, 7] {
            let mut bytes = sample.bytes.clone();
            bytes[place] ^= 1 << bit;
            let error =
                open(&sample, &bytes).err().unwrap_or_else(|| panic!("byte {place} bit {bit} unnoticed"));
            let expected = match place {
                0..8 => error == VaultError::NotAVault,
                8..10 => matches!(error, VaultError::UnsupportedVersion { .. }),
                10..144 => matches!(error, VaultError::Damaged { section: Section::Header, .. }),
                _ if manifest.contains(&place) => matches!(
                    error,
                    VaultError::Damaged { section: Section::Manifest, offset: 144 }
                        | VaultError::Truncated { section: Section::Manifest, .. }
                ),
                _ => {
                    let number = (place - manifest.end) / 296;
                    let offset = manifest.end + number * 296;
                    error == VaultError::Damaged { section: Section::Record(number + 1), offset }
                }
            };
            assert!(expected, "byte {place} bit {bit}: {error}");
        }
    }
}

#[test]
fn a_changed_header_with_a_right_sum_is_noticed() {
    let sample = sample();
    for place in 10..128 {
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
    let (start, records) = sample.bytes.split_at(144 + 556);
    let (first, second) = records.split_at(296);
    for wrong in [[second, first].concat(), [first, first].concat(), second.to_vec(), first.to_vec()] {
        let bytes = [start, &wrong].concat();
        assert!(open(&sample, &bytes).is_err());
    }
}

#[test]
fn a_record_does_not_decrypt_anywhere_else() {
    let sample = sample();
    let header = Header::parse(&sample.bytes).unwrap();
    let id = header.id();
    let make = || read(&sample.bytes, &sample.keys).unwrap().records.swap_remove(0);
    let opens = |vault: &[u8; 16], record: &Record| record.unseal(vault, &sample.keys.records).is_ok();
    assert!(opens(id, &make()));
    assert!(!opens(&[0; 16], &make()));
    assert!(!opens(id, &Record { id: [0; 16], ..make() }));
    assert!(!opens(id, &Record { version: 2, ..make() }));
    assert!(!opens(id, &Record { handle: "card:other".into(), ..make() }));
    assert!(!opens(id, &Record { field: Field::CardCode, ..make() }));
    assert!(make().unseal(id, &sample.keys.manifest).is_err());
}

#[test]
fn a_manifest_of_another_header_is_refused() {
    let sample = sample();
    let mut bytes = sample.bytes.clone();
    bytes[80] ^= 1; // another wrapping of the same key would differ here
    mend_sum(&mut bytes);
    let error = read(&bytes, &sample.keys).err();
    assert_eq!(error, Some(VaultError::Damaged { section: Section::Manifest, offset: 144 }));
}

#[test]
fn lengths_of_values_do_not_show() {
    let mut entropy = counter();
    let key = Key::random(&mut entropy);
    let mut length = |value: String| {
        Record::seal(&[0; 16], &key, ("contact:me", Field::Name), 1, &Secret::new(value), &mut entropy)
            .unwrap()
            .sealed
            .len()
    };
    assert_eq!(length("a".into()), 296);
    assert_eq!(length("a".repeat(254)), 296);
    assert_eq!(length("a".repeat(255)), 512 + 40);
    assert_eq!(length("a".repeat(4094)), 4096 + 40);
}
