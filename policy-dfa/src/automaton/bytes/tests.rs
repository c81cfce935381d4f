//! The reader refuses changed files with a valid checksum.

use sha2::{Digest, Sha256};

use super::BytesError;
use super::layout::{DIGEST, HEADER};
use crate::automaton::diagram::{Diagrams, Edge};
use crate::automaton::table::Table;
use crate::{Axis, Compiled, ConsentScope, Delivery, Outcome, Policy, Reason, Root, Unchecked};

const SHIPPED: &str = include_str!("../../../policies/default.policy");

fn shipped() -> Compiled<Unchecked> {
    Policy::parse(SHIPPED).unwrap().compile().unwrap()
}

/// The shipped policy's bytes with one change to the table's outcomes.
fn with_outcomes(change: impl Fn(Outcome) -> Outcome) -> Vec<u8> {
    let mut policy = shipped();
    let mut table = Table::default();
    for outcome in policy.table.outcomes() {
        table.add_outcome(change(*outcome)).unwrap();
    }
    policy.table.rows().for_each(|(axis, row)| table.add_state(axis, row).unwrap());
    policy.table.starts().iter().for_each(|start| table.add_start(*start).unwrap());
    policy.table = table;
    policy.to_bytes()
}

/// The bytes with a valid length and checksum.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - DIGEST);
    let length = (bytes.len() + DIGEST) as u32;
    bytes[HEADER - 4..HEADER].copy_from_slice(&length.to_le_bytes());
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest);
    bytes
}

/// The offset of a part's content.
fn part(bytes: &[u8], tag: &str) -> usize {
    let mut at = HEADER;
    while &bytes[at..at + 4] != tag.as_bytes() {
        at += 8 + u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
    }
    at + 8
}

fn refused(bytes: Vec<u8>) -> BytesError {
    Compiled::from_bytes(&resealed(bytes)).unwrap_err()
}

#[test]
fn check_finds_every_kind_of_outcome_that_differs_from_the_rules() {
    type Change = fn(Outcome) -> Outcome;
    let changes: [(Change, &str); 4] = [
        (
            |outcome| match outcome {
                Outcome::Ask(ConsentScope::EveryTime) => Outcome::Ask(ConsentScope::Site),
                other => other,
            },
            "asked",
        ),
        (
            |outcome| match outcome {
                Outcome::Grant(Some(Delivery::Fill)) => Outcome::Grant(Some(Delivery::Wire)),
                other => other,
            },
            "by the rules it is granted by fill",
        ),
        (
            |outcome| match outcome {
                Outcome::Deny(axis, Reason::TlsInvalid) => Outcome::Deny(axis, Reason::LowSafety),
                other => other,
            },
            "by the rules it is refused (tls_invalid)",
        ),
        (
            |outcome| match outcome {
                Outcome::Deny(Axis::Consent, reason) => Outcome::Deny(Axis::Plan, reason),
                other => other,
            },
            "by the rules it is refused (consent_denied)",
        ),
    ];
    for (change, expected) in changes {
        let loaded = Compiled::from_bytes(&with_outcomes(change)).unwrap();
        let found = loaded.check().unwrap_err();
        let [only] = &*found else { panic!("{found:?}") };
        assert!(only.to_string().contains(expected), "{expected} not in {only}");
        assert!(only.statement.starts_with("the answer is that of the rules"));
    }
    assert!(Compiled::from_bytes(&with_outcomes(|outcome| outcome)).unwrap().check().is_ok());
}

#[test]
fn a_forged_table_with_exponentially_many_paths_is_refused_at_once() {
    // Two states an axis, each leading to both of the next axis: the number of paths doubles with every axis.
    let mut policy = shipped();
    let mut diagrams = Diagrams::default();
    let leaf = |diagrams: &mut Diagrams, outcome| diagrams.outcome(outcome);
    let one = leaf(&mut diagrams, Outcome::Grant(None));
    let other = leaf(&mut diagrams, Outcome::Ask(ConsentScope::EveryTime));
    let mut pair: [Edge; 2] = [one, other];
    for axis in Axis::ALL.iter().rev() {
        let [a, b] = pair;
        pair = [
            diagrams.state(*axis, |index| if index % 2 == 0 { a } else { b }),
            diagrams.state(*axis, |index| if index % 2 == 0 { b } else { a }),
        ];
    }
    let roots: Vec<_> = Root::all().map(|_| pair[0]).collect();
    policy.table = Table::flat(&diagrams, &roots).unwrap();
    let loaded = Compiled::from_bytes(&policy.to_bytes()).unwrap();
    assert_eq!(loaded.check().unwrap_err().len(), 1);
}

#[test]
fn the_numbers_of_a_table_are_validated() {
    let good = shipped().to_bytes();
    assert!(Compiled::from_bytes(&resealed(good.clone())).is_ok());
    let malformed = |tag: &str, offset: usize, value: &[u8], expected: &str| {
        let mut bytes = good.clone();
        let at = part(&bytes, tag) + offset;
        bytes[at..at + value.len()].copy_from_slice(value);
        let error = refused(bytes);
        assert!(error.to_string().contains(expected), "{tag}+{offset}: {error}");
    };
    let not_there = "goes on to what is not there";
    malformed("STAT", 3, &[0, 0], not_there);
    malformed("STAT", 3, &[255, 127], not_there);
    malformed("STAT", 3, &[255, 255], not_there);
    malformed("STAT", 2, &[21], "no signal has this number");
    malformed("STAT", 2, &[255], "no signal has this number");
    malformed("OUTC", 2, &[3], "an outcome that does not exist");
    malformed("OUTC", 3, &[77], "an outcome that does not exist");
    malformed("ROOT", 0, &[28], "an event");
    malformed("ROOT", 0, &[30], "an event");
    malformed("ROOT", 4, b"A", "an event");
    let start = 2 + 2 + "address".len() + 2 + "T0".len();
    malformed("ROOT", start, &[255, 127], "a start leads to what is not there");
    malformed("ROOT", start, &[255, 255], "a start leads to what is not there");
    malformed("AXES", 4, b"P", "a signal or symbol");
    malformed("TEXT", 0, &[128], "part `TEXT`");
    malformed("TEXT", 0, b"q", "cannot be read");
    for (tag, value) in [("TIER", b'x'), ("SESS", 9), ("SITE", 1)] {
        malformed(tag, 0, &[value], "not what its text says");
    }
}

#[test]
fn a_state_that_points_to_itself_or_to_a_later_state_is_refused() {
    let good = shipped();
    let bytes = good.to_bytes();
    // Each target of each state, changed to the state itself and to the last state.
    let mut at = part(&bytes, "STAT") + 2;
    for (number, (_, row)) in good.table.rows().enumerate() {
        at += 1;
        for _ in row {
            for forged in [number as u16, (good.states() - 1) as u16] {
                let mut bytes = bytes.clone();
                bytes[at..at + 2].copy_from_slice(&forged.to_le_bytes());
                assert!(matches!(refused(bytes), BytesError::Malformed { part: "STAT", .. }), "{number}");
            }
            at += 2;
        }
    }
}

#[test]
fn a_successor_that_reads_the_same_or_an_earlier_signal_is_refused() {
    let good = shipped();
    let bytes = good.to_bytes();
    let axes: Vec<_> = good.table.rows().map(|(axis, _)| axis).collect();
    let mut at = part(&bytes, "STAT") + 2;
    let mut tried = 0;
    for (number, (axis, row)) in good.table.rows().enumerate() {
        at += 1;
        let unfit = axes[..number].iter().position(|earlier| *earlier <= axis);
        if let Some(unfit) = unfit {
            let mut bytes = bytes.clone();
            bytes[at..at + 2].copy_from_slice(&(unfit as u16).to_le_bytes());
            assert!(matches!(refused(bytes), BytesError::Malformed { part: "STAT", .. }), "{number}");
            tried += 1;
        }
        at += 2 * row.len();
    }
    assert!(tried > 20, "{tried}");
}

#[test]
fn parts_in_another_order_and_left_over_bytes_are_refused() {
    let good = shipped().to_bytes();
    for tag in ["TEXT", "AXES", "OUTC", "STAT", "ROOT", "TIER", "THRE", "SESS", "SITE"] {
        let begin = part(&good, tag);
        let mut renamed = good.clone();
        renamed[begin - 5] = b'!';
        refused(renamed);
        for grown in [1u32, 1 << 31, u32::MAX] {
            let mut bytes = good.clone();
            let length = u32::from_le_bytes(bytes[begin - 4..begin].try_into().unwrap());
            bytes[begin - 4..begin].copy_from_slice(&length.wrapping_add(grown).to_le_bytes());
            refused(bytes);
        }
        // One more byte in the part, with a valid length.
        let mut bytes = good.clone();
        let length = u32::from_le_bytes(bytes[begin - 4..begin].try_into().unwrap());
        bytes[begin - 4..begin].copy_from_slice(&(length + 1).to_le_bytes());
        bytes.insert(begin + length as usize, b'\n');
        refused(bytes);
    }
    let mut behind = good.clone();
    behind.insert(good.len() - DIGEST, 0);
    assert!(matches!(refused(behind), BytesError::Contradiction { .. }));
}
