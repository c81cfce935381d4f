//! Policy bytes: reading, writing, and checking a table that was not compiled.

use policy_dfa::{Axis, BytesError, Compiled, Root, Unchecked, Valuation};
use sha2::{Digest, Sha256};

/// The place of the length, and the length of the checksum.
const LENGTH: std::ops::Range<usize> = 12..16;
const DIGEST: usize = 32;

/// Reads the input, and again with a correct length and checksum, since few inputs would pass them.
///
/// # Panics
/// Accepted bytes are written in another form, or a table that is not that of its rules is proved.
pub fn run(input: &[u8]) {
    check(input);
    let body = input.get(..input.len().saturating_sub(DIGEST)).unwrap_or(input);
    let mut bytes = body.to_vec();
    let length = u32::try_from(bytes.len() + DIGEST).unwrap_or(u32::MAX);
    if let Some(slot) = bytes.get_mut(LENGTH) {
        slot.copy_from_slice(&length.to_le_bytes());
    }
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest);
    check(&bytes);
}

fn check(bytes: &[u8]) {
    let loaded = match Compiled::from_bytes(bytes) {
        Ok(loaded) => loaded,
        Err(error) => return check_error(bytes, &error),
    };
    assert!(loaded.to_bytes() == bytes, "the bytes are written in another form than they were read");
    let rules = match loaded.policy().compile() {
        Ok(rules) => rules,
        // The rules are too many for a table, so the loaded one cannot be theirs, and the check reports it.
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

/// Checks that both give the same answers for every root, with symbols that depend on the input.
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

/// Checks that an error has a message and a place in the file.
fn check_error(bytes: &[u8], error: &BytesError) {
    assert!(!error.to_string().is_empty(), "refused without a reason");
    match error {
        BytesError::Malformed { at, .. }
        | BytesError::OtherAlphabet { at, .. }
        | BytesError::Contradiction { at } => assert!(*at <= bytes.len(), "byte {at} is behind the file"),
        _ => {}
    }
}
