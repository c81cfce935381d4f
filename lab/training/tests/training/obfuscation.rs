//! Every obfuscation is undone by an independent decoder.

use base64::Engine;
use classifier::Normalised;
use classifier_training::obfuscation::Obfuscation;
use proptest::prelude::*;

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec("[A-Za-zäß0-9,.!?'-]{1,8}", 1..8).prop_map(|words| words.join(" "))
}

fn from_hex(digits: &str) -> Vec<u8> {
    let pairs: Vec<char> = digits.chars().collect();
    pairs.chunks(2).map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap()).collect()
}

fn from_percent(text: &str) -> Vec<u8> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap().as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(&piece[..2], 16).unwrap());
        bytes.extend(piece[2..].bytes());
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn every_way_can_be_undone(text in words()) {
        let hidden = |way: Obfuscation| way.apply(&text);
        let shown: String = hidden(Obfuscation::ZeroWidth)
            .chars()
            .filter(|one| !matches!(one, '\u{200B}' | '\u{200C}' | '\u{2060}'))
            .collect();
        prop_assert_eq!(&shown, &text);
        let untagged: String = hidden(Obfuscation::Tags)
            .chars()
            .map(|one| match u32::from(one) {
                code @ 0xE0020..=0xE007E => char::from_u32(code - 0xE0000).unwrap(),
                _ => one,
            })
            .collect();
        prop_assert_eq!(&untagged, &text);
        prop_assert!(!hidden(Obfuscation::Tags).bytes().any(|byte| byte.is_ascii_graphic()));
        let folded = hidden(Obfuscation::Fullwidth);
        let folded = Normalised::new(&folded);
        let plain = Normalised::new(&text);
        prop_assert_eq!(folded.text(), plain.text());
        prop_assert!(!hidden(Obfuscation::Fullwidth).bytes().any(|byte| byte.is_ascii_graphic()));
        let decoded = base64::engine::general_purpose::STANDARD.decode(hidden(Obfuscation::Base64)).unwrap();
        prop_assert_eq!(decoded, text.as_bytes());
        prop_assert_eq!(from_hex(&hidden(Obfuscation::Hexadecimal)), text.as_bytes());
        prop_assert_eq!(from_percent(&hidden(Obfuscation::Percent)), text.as_bytes());
        prop_assert_eq!(Obfuscation::Reversed.apply(&hidden(Obfuscation::Reversed)), text.clone());
        let spaced = hidden(Obfuscation::SpacedOut);
        let read: Vec<String> = spaced.split("   ").map(|word| word.replace(' ', "")).collect();
        prop_assert_eq!(read.join(" "), text);
    }

    #[test]
    fn look_alikes_keep_the_length_and_leave_no_vowel(text in words()) {
        let hidden = Obfuscation::Homoglyphs.apply(&text);
        prop_assert_eq!(hidden.chars().count(), text.chars().count());
        prop_assert!(!hidden.contains(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']));
        let changed = hidden.chars().zip(text.chars()).filter(|(after, before)| after != before);
        for (after, before) in changed {
            prop_assert!(before.is_ascii_alphabetic() && !after.is_ascii(), "{} {}", before, after);
            prop_assert_eq!(before.is_lowercase(), after.is_lowercase());
        }
    }
}

#[test]
fn names_are_distinct() {
    let names: std::collections::BTreeSet<&str> = Obfuscation::ALL.iter().map(|way| way.name()).collect();
    assert_eq!(names.len(), Obfuscation::ALL.len());
}
