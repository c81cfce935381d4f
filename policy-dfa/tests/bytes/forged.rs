//! Compiled policies that somebody forged byte by byte and part by part, each sealed anew: so the checksum hides nothing.

use allocation_counter::measure;
use policy_dfa::{BytesError, Compiled};

use crate::random::policy;
use crate::{DIGEST, SHIPPED, compiled, judged, part, sealed};

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
fn every_byte_may_be_anything_and_is_judged_as_what_it_is() {
    let good = small();
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for at in HEADER..good.len() - DIGEST {
        for change in [0x01, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] ^= change;
            *seen.entry(judged(&sealed(bytes))).or_default() += 1;
        }
    }
    assert!(seen["refused"] > good.len() && seen.contains_key("not proved"), "{seen:?}");
}

#[test]
fn every_cut_and_everything_appended_is_refused() {
    let good = small();
    for at in 0..good.len() - DIGEST {
        // With the length and checksum of what is left.
        let mut cut = good[..at].to_vec();
        cut.extend([0; DIGEST]);
        assert!(Compiled::from_bytes(&sealed(cut)).is_err(), "cut at {at}");
    }
    for length in [1, 2, 8, 4096] {
        let mut longer = good[..good.len() - DIGEST].to_vec();
        longer.extend(vec![0; length + DIGEST]);
        assert!(Compiled::from_bytes(&sealed(longer)).is_err(), "{length} bytes more");
    }
}

#[test]
fn parts_twice_and_parts_in_each_others_place_are_refused() {
    let good = small();
    for one in TAGS {
        let first = whole_part(&good, one);
        let mut twice = good.clone();
        twice.splice(first.end..first.end, good[first.clone()].iter().copied());
        assert!(Compiled::from_bytes(&sealed(twice)).is_err(), "{one} twice");
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
                assert!(Compiled::from_bytes(&sealed(swapped)).is_err(), "{one} and {other}");
            }
        }
    }
}

/// Numbers that promise more than the file holds cost no more than the file does.
#[test]
fn forged_counts_and_lengths_allocate_in_proportion_to_the_file() {
    let good = compiled(SHIPPED).to_bytes();
    // What a good file costs: the text is parsed, and policy and table are written anew.
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
            let bytes = sealed(bytes);
            let judging = measure(|| assert!(Compiled::from_bytes(&bytes).is_err(), "{tag} at {at}"));
            assert!(judging.bytes_max <= most, "{tag} at {at}: {judging:?}");
        }
    }
    // A text of nothing but beginnings, as long as ten policies: each of its bytes may be a token of its own, which takes
    // some 50 bytes, in a list that doubles.
    for opening in ["(", "not ", "policy ", "{", "\"", "request address {"] {
        let text = opening.repeat(10 * good.len() / opening.len());
        let (begin, end) = part(&good, "TEXT");
        let mut bytes = good.clone();
        bytes[begin - 4..begin].copy_from_slice(&(text.len() as u32).to_le_bytes());
        bytes.splice(begin..end, text.bytes());
        let bytes = sealed(bytes);
        let judging = measure(|| {
            assert!(matches!(Compiled::from_bytes(&bytes), Err(BytesError::Text(_))), "{opening}");
        });
        assert!(judging.bytes_max < 128 * bytes.len() as u64, "{opening}: {judging:?}");
    }
}
