//! Planted values are found in any place and by any reader, and no others are found.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot be set up has failed")]

use base64::Engine;
use canary::bytes::{Finder, WINDOW};
use canary::{Canaries, Encoding, assert_none};
use proptest::prelude::*;

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn every_canary_is_found_at_every_offset_and_across_every_end_of_a_piece() {
    let canaries = Canaries::from_seed(1);
    let finder = Finder::new(&canaries);
    for canary in canaries.iter() {
        for (planted, encoding) in
            [(canary.bytes().to_vec(), Encoding::Plain), (utf16(canary.text().unwrap()), Encoding::Utf16)]
        {
            for offset in 0..140 {
                let mut data = noise(300, offset as u64);
                data[offset..offset + planted.len()].copy_from_slice(&planted);
                let hits = finder.in_bytes(&data);
                assert_eq!(hits.len(), 1, "{} at {offset}", canary.name());
                assert_eq!((hits[0].name.as_str(), hits[0].encoding), (canary.name(), encoding));
                assert_eq!((hits[0].offset, hits[0].length), (offset as u64, planted.len()));
                for piece in [1, 7, 64] {
                    assert_eq!(finder.in_pieces(&mut data.as_slice(), piece).unwrap(), hits, "{piece}");
                }
            }
        }
    }
}

#[test]
fn every_part_of_twelve_is_found_and_none_of_eleven() {
    let canaries = Canaries::from_seed(2);
    let finder = Finder::new(&canaries);
    for canary in canaries.iter().filter(|canary| canary.bytes().len() > WINDOW) {
        for part in canary.bytes().windows(WINDOW) {
            let found = finder.in_bytes(&[b"\x00\x01", part, b"\x02\x03"].concat());
            assert_eq!((found.len(), found[0].offset), (1, 2), "{}", canary.name());
        }
        for part in canary.bytes().windows(WINDOW - 1) {
            assert!(finder.in_bytes(&[b"\x00\x01", part, b"\x02\x03"].concat()).is_empty());
        }
    }
}

#[test]
fn case_and_separators_do_not_hide_a_value() {
    let canaries = Canaries::from_seed(3);
    let card = canaries.value("card_number").unwrap().replace(' ', "");
    let found = canaries.in_bytes("memory", format!("<{card}>").as_bytes());
    assert_eq!((found.len(), found[0].encoding), (1, Encoding::Separators));
    let name = canaries.value("name").unwrap().to_uppercase();
    let found = canaries.in_bytes("memory", &utf16(&name));
    assert_eq!((found.len(), found[0].encoding), (1, Encoding::Utf16));
    let mut keys = Canaries::default();
    keys.add("key", [200_u8; 32]);
    assert_eq!(keys.in_bytes("memory", &[200; 32]).len(), 1);
}

#[test]
fn other_sets_and_noise_are_not_found() {
    let canaries = Canaries::from_seed(4);
    assert_none(&canaries.in_bytes("noise", &noise(4_000_000, 9)));
    for seed in 5..200 {
        for other in Canaries::from_seed(seed).iter() {
            assert_none(&canaries.in_bytes("another set", other.bytes()));
            assert_none(&canaries.in_text("another set", other.text().unwrap()));
        }
    }
}

#[test]
fn a_folder_is_searched_through_and_a_message_holds_no_value() {
    let canaries = Canaries::from_seed(6);
    let folder = tempfile::tempdir().unwrap();
    let value = |name| canaries.value(name).unwrap();
    std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
    std::fs::write(folder.path().join("a/clean.log"), "nothing here, \u{e9}\n".repeat(50_000)).unwrap();
    assert_none(&canaries.in_folder(folder.path()).unwrap());

    let base64 = base64::engine::general_purpose::STANDARD.encode(value("email"));
    // The value is over the end of a piece of a text, where a character of two bytes is cut.
    let long = ["\u{e9}".repeat(131_060), format!(" {base64} "), "\u{e9}".repeat(70_000)].concat();
    std::fs::write(folder.path().join("a/b/page.html"), long).unwrap();
    let mut image = noise(3_000_000, 1);
    let wide = utf16(value("street"));
    let at = (1 << 20) - 5;
    image[at..at + wide.len()].copy_from_slice(&wide);
    std::fs::write(folder.path().join("a/b/profile.db"), image).unwrap();
    std::fs::write(folder.path().join(format!("{}.txt", value("password"))), "").unwrap();

    let seen = canaries.in_folder(folder.path()).unwrap();
    let mut names: Vec<_> = seen.iter().map(|one| (one.name.as_str(), one.encoding)).collect();
    names.sort_unstable();
    let expected = [("email", Encoding::Base64), ("password", Encoding::Plain), ("street", Encoding::Utf16)];
    assert_eq!(names, expected);
    let image = canaries.in_image(&folder.path().join("a/b/profile.db")).unwrap();
    assert!(image.len() == 1 && image[0].place.ends_with(&format!("at byte {at:#x}, {} bytes", wide.len())));
    let message = *std::panic::catch_unwind(|| assert_none(&seen)).unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("`street`") && message.contains("profile.db"), "{message}");
    assert_none(&canaries.in_text("the message", &message));
}

proptest! {
    #[test]
    fn a_planted_value_is_found_in_any_bytes(
        seed in any::<u64>(),
        before in prop::collection::vec(any::<u8>(), 0..200),
        after in prop::collection::vec(any::<u8>(), 0..200),
        piece in 1_usize..300,
    ) {
        let canaries = Canaries::from_seed(seed);
        let finder = Finder::new(&canaries);
        for canary in canaries.iter() {
            let data = [&before, canary.bytes(), &after].concat();
            let hits = finder.in_bytes(&data);
            prop_assert!(hits.iter().any(|hit| hit.name == canary.name()
                && hit.encoding == Encoding::Plain
                && hit.offset == before.len() as u64));
            prop_assert_eq!(&finder.in_pieces(&mut data.as_slice(), piece).unwrap(), &hits);
        }
    }
}
