//! Compiled policies as bytes: written and read in Rust, damaged, forged, and read in JavaScript.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod forged;
mod node;
mod random;

use policy_dfa::{BytesError, Compiled, Policy, Root, Unchecked};
use proptest::prelude::*;
use random::{Random, near, policy};
use sha2::{Digest, Sha256};

const SHIPPED: &str = include_str!("../../../policies/default.policy");
/// A file of the first version with layout 1. Later versions must read it as long as the signals are the same.
const FIRST: &[u8] = include_bytes!("../data/default-v1.bytes");
const DIGEST: usize = 32;

fn compiled(text: &str) -> Compiled<Unchecked> {
    Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).compile().unwrap()
}

/// The bytes with a valid length and checksum, so that the later checks are reached.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len().saturating_sub(DIGEST));
    let length = (bytes.len() + DIGEST) as u32;
    if let Some(slot) = bytes.get_mut(12..16) {
        slot.copy_from_slice(&length.to_le_bytes());
    }
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest);
    bytes
}

fn agree(one: &Compiled<Unchecked>, other: &Compiled<Unchecked>, seed: u64) {
    let random = &mut Random(seed);
    for root in Root::all() {
        let wild: Vec<_> = (0..100).map(|_| random.valuation()).collect();
        for valuation in near().iter().chain(&wild) {
            assert_eq!(one.outcome(root, valuation), other.outcome(root, valuation), "{root} {valuation:?}");
        }
    }
}

/// Reads and checks any bytes, asserts that the answers are consistent, and names the result.
fn judged(bytes: &[u8]) -> &'static str {
    let Ok(loaded) = Compiled::from_bytes(bytes) else { return "refused" };
    assert_eq!(loaded.to_bytes(), bytes);
    let rules = loaded.policy().compile().unwrap();
    assert_eq!(rules.policy_hash(), loaded.policy_hash());
    match (loaded.check(), Compiled::from_bytes(bytes)) {
        (Ok(_), Ok(same)) => {
            agree(&same, &rules, 1);
            "proved"
        }
        (Err(violations), Ok(same)) => {
            assert!(violations.iter().all(|one| same.outcome(one.root, &one.valuation) == one.outcome));
            "not proved"
        }
        (_, Err(error)) => panic!("{error}"),
    }
}

#[test]
fn a_policy_survives_writing_and_reading() {
    for (seed, text) in [SHIPPED.to_owned()].into_iter().chain((0..40).map(policy)).enumerate() {
        let written = compiled(&text);
        let bytes = written.to_bytes();
        let read = Compiled::from_bytes(&bytes).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!((read.policy(), read.policy_hash()), (written.policy(), written.policy_hash()));
        agree(&read, &written, seed as u64);
        let (before, after) = (written.check(), read.check());
        assert_eq!(before.is_ok(), after.is_ok());
        assert_eq!(before.err(), after.err());
    }
}

#[test]
fn a_file_of_the_first_layout_is_still_read() {
    let read = Compiled::from_bytes(FIRST).unwrap();
    assert_eq!(read.to_bytes(), FIRST);
    let anew = read.policy().compile().unwrap();
    agree(&read, &anew, 7);
    assert!(read.check().is_ok());
}

/// To be run only after an intended change of the signals, since layout 1 cannot be read with other signals.
#[test]
#[ignore = "writes the file that another test reads"]
fn write_the_file_of_the_first_layout() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/default-v1.bytes");
    std::fs::write(path, compiled(SHIPPED).to_bytes()).unwrap();
}

#[test]
fn every_flipped_bit_and_every_truncation_is_refused() {
    let good = compiled(SHIPPED).to_bytes();
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        assert!(Compiled::from_bytes(&bytes).is_err(), "byte {at}");
        bytes[at] = good[at] ^ 0xff;
        assert!(Compiled::from_bytes(&bytes).is_err(), "byte {at}");
        let error = Compiled::from_bytes(&good[..at]).unwrap_err();
        assert!(matches!(error, BytesError::NotAPolicy | BytesError::Length { .. }), "{at}: {error}");
    }
    let mut longer = good.clone();
    longer.push(0);
    assert!(matches!(Compiled::from_bytes(&longer), Err(BytesError::Length { .. })));
}

#[test]
fn the_message_names_the_problem() {
    let good = compiled(SHIPPED).to_bytes();
    let said = |bytes: &[u8]| Compiled::from_bytes(bytes).unwrap_err().to_string();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    assert!(said(SHIPPED.as_bytes()).starts_with("this is no compiled policy"));
    assert!(said(&with(8, 2)).starts_with("this compiled policy has layout 2, and only layout 1 is read"));
    assert!(said(&good[..100]).contains("it has 100 bytes where it says"), "{}", said(&good[..100]));
    assert!(said(&good[..9]).contains("it has 9 bytes;"), "{}", said(&good[..9]));
    assert!(said(&with(100, 0)).contains("its checksum is another one"));
    let at = good.windows(9).position(|part| part == b"unplanned").unwrap();
    assert!(said(&resealed(with(at, b'U'))).starts_with("the policy was compiled for other signals"));
    let at = good.windows(4).position(|part| part == b"TIER").unwrap();
    assert!(said(&resealed(with(at + 11, b'N'))).contains("is not what its text says"));
}

/// A change of the bytes: a byte, a number, a removed range or a copied range.
#[derive(Debug, Clone)]
enum Change {
    Byte(usize, u8),
    Number(usize, u16),
    Cut(usize, usize),
    Copy(usize, usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let number = prop_oneof![0u16..200, 0x8000u16..0x8030, any::<u16>()];
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (any::<usize>(), number).prop_map(|(at, number)| Change::Number(at, number)),
        (any::<usize>(), 1usize..40).prop_map(|(at, length)| Change::Cut(at, length)),
        (any::<usize>(), any::<usize>(), 1usize..40)
            .prop_map(|(from, to, length)| Change::Copy(from, to, length)),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change], (begin, end): (usize, usize)) -> Vec<u8> {
    for one in changes {
        let offset = |at: usize| begin + at % (end.min(bytes.len()) - begin);
        match *one {
            Change::Byte(at, byte) => {
                let at = offset(at);
                bytes[at] = byte;
            }
            Change::Number(at, number) => {
                let at = offset(at).min(bytes.len() - 2);
                bytes[at..at + 2].copy_from_slice(&number.to_le_bytes());
            }
            Change::Cut(at, length) if bytes.len() > begin + 200 => {
                let at = offset(at);
                bytes.drain(at..(at + length).min(bytes.len()));
            }
            Change::Cut(..) => {}
            Change::Copy(from, to, length) => {
                let (from, to) = (offset(from), offset(to));
                let part = bytes[from..(from + length).min(bytes.len())].to_vec();
                bytes.splice(to..to, part);
            }
        }
    }
    resealed(bytes)
}

/// The range of the content of a part.
fn part(bytes: &[u8], tag: &str) -> (usize, usize) {
    let mut at = 16;
    loop {
        let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        if &bytes[at..at + 4] == tag.as_bytes() {
            return (at + 8, at + 8 + length);
        }
        at += 8 + length;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), magic in any::<bool>()) {
        let mut bytes = bytes;
        if magic {
            bytes.splice(0..0, *b"PCPOLICY\x01\0\0\0\0\0\0\0TEXT");
            bytes = resealed(bytes);
        }
        prop_assert_eq!(judged(&bytes), "refused");
    }

    #[test]
    fn changes_anywhere_are_refused_or_checked(
        seed in 0u64..20,
        changes in prop::collection::vec(change(), 1..5),
    ) {
        let bytes = compiled(&policy(seed)).to_bytes();
        let end = bytes.len() - DIGEST;
        judged(&changed(bytes, &changes, (16, end)));
    }
}

/// Random numbers in the table. Many of them give a well-formed table, and the checker finds that it is not that of the
/// rules.
#[test]
fn a_forged_table_is_proved_only_if_it_is_equivalent_to_the_rules() {
    let good = compiled(SHIPPED).to_bytes();
    let random = &mut Random(5);
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for tag in ["STAT", "ROOT", "OUTC"] {
        let (begin, end) = part(&good, tag);
        for _ in 0..300 {
            let mut bytes = good.clone();
            let at = begin + random.below(end - begin - 1);
            let number = [random.below(120), 0x8000 + random.below(40)][random.below(2)] as u16;
            bytes[at..at + 2].copy_from_slice(&number.to_le_bytes());
            *seen.entry(judged(&resealed(bytes))).or_default() += 1;
        }
    }
    assert!(seen["refused"] > 100 && seen["not proved"] > 50, "{seen:?}");
}
