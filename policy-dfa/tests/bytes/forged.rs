//! Forged files with a valid checksum: changed byte by byte and part by part.

use allocation_counter::measure;
use policy_dfa::{BytesError, Compiled};

use crate::random::policy;
use crate::{DIGEST, SHIPPED, compiled, judged, part, resealed};

const HEADER: usize = 16;
const TAGS: [&str; 9] = ["TEXT", "AXES", "OUTC", "STAT", "ROOT", "TIER", "THRE", "SESS", "SITE"];

/// A small policy's file.
fn small() -> Vec<u8> {
    let files = (0..20).map(|seed| compiled(&policy(seed)).to_bytes());
    files.min_by_key(Vec::len).unwrap()
}

/// A part with its tag and length.
fn whole_part(bytes: &[u8], tag: &str) -> std::ops::Range<usize> {
    let (begin, end) = part(bytes, tag);
    begin - 8..end
}

#[test]
fn a_change_of_any_byte_is_refused_or_checked() {
    let good = small();
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for at in HEADER..good.len() - DIGEST {
        for change in [0x01, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] ^= change;
            *seen.entry(judged(&resealed(bytes))).or_default() += 1;
        }
    }
    assert!(seen["refused"] > good.len() && seen.contains_key("not proved"), "{seen:?}");
}

#[test]
fn every_truncation_and_extension_is_refused() {
    let good = small();
    for at in 0..good.len() - DIGEST {
        // The rest gets a valid length and checksum.
        let mut cut = good[..at].to_vec();
        cut.extend([0; DIGEST]);
        assert!(Compiled::from_bytes(&resealed(cut)).is_err(), "cut at {at}");
    }
    for length in [1, 2, 8, 4096] {
        let mut longer = good[..good.len() - DIGEST].to_vec();
        longer.extend(vec![0; length + DIGEST]);
        assert!(Compiled::from_bytes(&resealed(longer)).is_err(), "{length} bytes more");
    }
}

#[test]
fn repeated_and_swapped_parts_are_refused() {
    let good = small();
    for one in TAGS {
        let first = whole_part(&good, one);
        let mut twice = good.clone();
        twice.splice(first.end..first.end, good[first.clone()].iter().copied());
        assert!(Compiled::from_bytes(&resealed(twice)).is_err(), "{one} twice");
        for other in TAGS {
            let second = whole_part(&good, other);
            if first.end <= second.start {
                let swapped = [
                    &good[..first.start],
                    &good[second.clone()],
                    &good[first.end..second.start],
                    &good[first.clone()],
                    &good[second.end..],
                ]
                .concat();
                assert!(Compiled::from_bytes(&resealed(swapped)).is_err(), "{one} and {other}");
            }
        }
    }
}

/// A count or a length that exceeds the file does not cost more than a good file.
#[test]
fn forged_counts_and_lengths_allocate_in_proportion_to_the_file() {
    let good = compiled(SHIPPED).to_bytes();
    // A good file is parsed, and its policy and table are written again.
    let fair = measure(|| drop(Compiled::from_bytes(&good))).bytes_max;
    let most = 64 * good.len() as u64;
    assert!(fair < most, "{fair} bytes for {}", good.len());
    for tag in TAGS {
        let (begin, end) = part(&good, tag);
        for (at, number) in [(begin, &u16::MAX.to_le_bytes()[..]), (begin - 4, &u32::MAX.to_le_bytes()[..])] {
            if at + number.len() > end {
                continue;
            }
            let mut bytes = good.clone();
            bytes[at..at + number.len()].copy_from_slice(number);
            let bytes = resealed(bytes);
            let judging = measure(|| assert!(Compiled::from_bytes(&bytes).is_err(), "{tag} at {at}"));
            assert!(judging.bytes_max <= most, "{tag} at {at}: {judging:?}");
        }
    }
    // A text of ten times the length with one opening repeated. Each byte may be a token, which takes some 50 bytes
    // in a list that doubles. While the list moves, the old one and the new one are there: three times that.
    for opening in ["(", "not ", "policy ", "{", "\"", "request address {"] {
        let text = opening.repeat(10 * good.len() / opening.len());
        let (begin, end) = part(&good, "TEXT");
        let mut bytes = good.clone();
        bytes[begin - 4..begin].copy_from_slice(&(text.len() as u32).to_le_bytes());
        bytes.splice(begin..end, text.bytes());
        let bytes = resealed(bytes);
        let judging = measure(|| {
            assert!(matches!(Compiled::from_bytes(&bytes), Err(BytesError::Text(_))), "{opening}");
        });
        assert!(judging.bytes_max < 160 * bytes.len() as u64, "{opening}: {judging:?}");
    }
}
