//! Policy bytes: reading, writing, and what the check says of a table that nobody compiled.

use policy_dfa::{Axis, BytesError, Compiled, Root, Unchecked, Valuation};
use sha2::{Digest, Sha256};

/// Where the length stands, and how long the checksum is.
const LENGTH: std::ops::Range<usize> = 12..16;
const DIGEST: usize = 32;

/// Reads the input as it is, and again with its length and checksum made right: otherwise hardly an input
/// would get past them.
///
/// # Panics
/// Where what was read is written in another way, or a table is proved that is not that of its rules.
pub fn run(input: &[u8]) {
    judge(input);
    let body = input.get(..input.len().saturating_sub(DIGEST)).unwrap_or(input);
    let mut bytes = body.to_vec();
    let length = u32::try_from(bytes.len() + DIGEST).unwrap_or(u32::MAX);
    if let Some(slot) = bytes.get_mut(LENGTH) {
        slot.copy_from_slice(&length.to_le_bytes());
    }
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest);
    judge(&bytes);
}

fn judge(bytes: &[u8]) {
    let loaded = match Compiled::from_bytes(bytes) {
        Ok(loaded) => loaded,
        Err(error) => return fair(bytes, &error),
    };
    assert!(loaded.to_bytes() == bytes, "what was read is written in another way");
    let rules = match loaded.policy().compile() {
        Ok(rules) => rules,
        // Too many rules for a table: the loaded one cannot be theirs, and the check says so.
        Err(_) => return,
    };
    assert_eq!(loaded.policy_hash(), rules.policy_hash());
    let again = Compiled::from_bytes(bytes);
    let Ok(again) = again else { panic!("read once, and not twice") };
    match loaded.check() {
        Ok(_) => agree(&again, &rules, bytes),
        Err(violations) => {
            assert!(!violations.is_empty(), "not proved, but nothing is named");
            for violation in violations {
                let answer = again.outcome(violation.root, &violation.valuation);
                assert_eq!(answer, violation.outcome, "no counterexample: {violation}");
            }
        }
    }
}

/// Both answer alike for every start, with symbols that depend on the input.
fn agree(one: &Compiled<Unchecked>, other: &Compiled<Unchecked>, bytes: &[u8]) {
    let mut state = bytes.iter().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    for root in Root::all() {
        for _ in 0..8 {
            let mut valuation = Valuation::FIRST;
            for axis in Axis::ALL {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let symbols = u32::try_from(axis.symbols().len()).unwrap_or(1);
                valuation.set(*axis, u8::try_from((state >> 16) % symbols).unwrap_or(0));
            }
            assert_eq!(one.outcome(root, &valuation), other.outcome(root, &valuation), "{root}");
        }
    }
}

/// An error is told in words, and points into the file.
fn fair(bytes: &[u8], error: &BytesError) {
    assert!(!error.to_string().is_empty(), "refused without a reason");
    match error {
        BytesError::Malformed { at, .. }
        | BytesError::OtherAlphabet { at, .. }
        | BytesError::Contradiction { at } => assert!(*at <= bytes.len(), "byte {at} is behind the file"),
        _ => {}
    }
}
