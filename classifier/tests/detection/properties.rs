//! Properties of any text: nothing panics, spans fit, disguised numbers are found, masking is stable.

use classifier::{Detector, Detectors, Normalised, SensitiveKind, mask, normal_form};
use proptest::prelude::*;
use std::sync::OnceLock;

fn detectors() -> &'static Detectors {
    static DETECTORS: OnceLock<Detectors> = OnceLock::new();
    DETECTORS.get_or_init(|| Detectors::standard().unwrap())
}

fn thorough() -> &'static Detectors {
    static DETECTORS: OnceLock<Detectors> = OnceLock::new();
    DETECTORS.get_or_init(|| Detectors::thorough().unwrap())
}

fn masked(text: &str) -> String {
    mask(text, &detectors().detect(text))
}

/// A number of a known issuer: prefix, random digits, and the check digit that makes it valid.
fn card() -> impl Strategy<Value = String> {
    let issuers = prop_oneof![
        Just(("4", 16)),
        Just(("4", 13)),
        Just(("4", 19)),
        Just(("51", 16)),
        Just(("2221", 16)),
        Just(("2720", 16)),
        Just(("34", 15)),
        Just(("37", 15)),
        Just(("6011", 16)),
        Just(("35", 16)),
        Just(("36", 14)),
        Just(("62", 19)),
        Just(("5018", 12)),
        Just(("2200", 16)),
    ];
    (issuers, proptest::collection::vec(0_u32..10, 19))
        .prop_map(|((prefix, length), tail)| {
            let mut digits: Vec<u32> = prefix.chars().filter_map(|digit| digit.to_digit(10)).collect();
            digits.extend(tail.iter().take(length - 1 - prefix.len()));
            let sum: u32 = digits
                .iter()
                .rev()
                .enumerate()
                .map(|(index, digit)| if index % 2 == 0 { digit * 2 / 10 + digit * 2 % 10 } else { *digit })
                .sum();
            digits.push((10 - sum % 10) % 10);
            digits.iter().map(u32::to_string).collect()
        })
        .prop_filter("an article number", |digits: &String| {
            let weights = [1, 3].into_iter().cycle();
            let sum: u32 =
                digits.chars().rev().zip(weights).filter_map(|(c, w)| Some(c.to_digit(10)? * w)).sum();
            digits.len() > 13 || !sum.is_multiple_of(10)
        })
}

const SEPARATORS: [&str; 12] = [
    "",
    "",
    "",
    " ",
    "-",
    ".",
    "\u{a0}",
    "\u{200b}",
    "\u{2011}",
    " - ",
    "\u{ad}\u{e0020}",
    "\u{2009}\u{202e}",
];

fn disguised(digits: &str, choices: &[usize], script: u32) -> String {
    let mut text = String::new();
    for (index, digit) in digits.bytes().enumerate() {
        if index > 0 {
            text.push_str(SEPARATORS[choices[index] % SEPARATORS.len()]);
        }
        text.push(char::from_u32(script + u32::from(digit - b'0')).unwrap());
    }
    text
}

/// Values, and the words that announce them.
const ATTRACTIONS: [&str; 36] = [
    "password: ",
    "password",
    "hunter22!",
    "Passwort lautet ",
    "api_key=",
    "a1B2c3D4e5F6g7H8i9J0",
    "postgres://app:s3cr3tpw@db.example.com/x",
    "://",
    "u:s3cr3tpw@h.example",
    "sk-ant-api03-a1B2c3D4e5F6g7H8i9J0",
    "0123456789abcdef0123456789abcdef-us12",
    "123456789:AAa1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q",
    "your login code is ",
    "123 456",
    " is your security code",
    "code",
    "born on ",
    "12 March 1980",
    "12.03.1980",
    "12 Elm Street, New York, NY 10001",
    "Hauptstraße 5",
    ", 10115 Berlin",
    "10 rue de la Paix",
    "219-09-9999",
    "SSN ",
    "219099999",
    "AB 12 34 56 C",
    "12345678Z",
    "RSSMRA85T10A562S",
    "Passport no. ",
    "L898902C3",
    "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10",
    "<<",
    "\"",
    " is ",
    "[password]",
];

/// Pieces that match every detector, so that values, look-alikes and halves occur next to each other by chance.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("4111 1111 1111 1111".to_owned()),
        Just("DE89 3704 0044 0532 0130 00".to_owned()),
        Just("DE89370400440532013000".to_owned()),
        Just("ann@example.org".to_owned()),
        Just("ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6".to_owned()),
        Just("Bearer a1B2c3D4e5F6g7H8i9J0".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----".to_owned()),
        Just("030 1234567".to_owned()),
        Just("(415) 555-2671".to_owned()),
        Just("+49 30 901820 x12".to_owned()),
        Just("tel 5552671".to_owned()),
        Just("order ".to_owned()),
        Just(" USD".to_owned()),
        Just("office".to_owned()),
        Just("2026-11-20".to_owned()),
        proptest::sample::select(ATTRACTIONS.as_slice()).prop_map(String::from),
        "[ \\-./()+,:@x\u{200b}\u{a0}é\\[\\]]{1,2}",
        "[0-9]{1,6}",
        "[a-z]{1,5}",
        any::<char>().prop_map(String::from),
    ]
}

fn page() -> impl Strategy<Value = String> {
    proptest::collection::vec(piece(), 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Text that leaves is searched like this; a page keeps digits that are grouped like no card.
    #[test]
    fn a_card_number_is_found_in_any_disguise(
        digits in card(),
        choices in proptest::collection::vec(0_usize..100, 20),
        script in prop_oneof![Just(0x30_u32), Just(0xFF10), Just(0x660), Just(0x1D7CE)],
        before in "[a-zé]{0,8}( |: |\\(|, )?",
        after in "( |, |\\)|\n)?[a-zé]{0,8}",
    ) {
        let number = disguised(&digits, &choices, script);
        let text = format!("{before}{number}{after}");
        let place = before.len()..before.len() + number.len();
        let findings = detectors().detect_doubtful(&text);
        let covers = |kind, span: &std::ops::Range<usize>| {
            kind == SensitiveKind::CardNumber && span.start <= place.start && span.end >= place.end
        };
        prop_assert!(findings.iter().any(|finding| covers(finding.kind, &finding.span)), "{text:?}: {findings:?}");
        let safe = mask(&text, &findings);
        prop_assert!(!safe.chars().any(char::is_numeric), "{safe:?}");
        prop_assert_eq!(safe, format!("{before}[card number]{after}"));
    }

    #[test]
    fn a_card_number_in_a_usual_grouping_is_found_in_a_page(
        digits in card(),
        sign in proptest::sample::select(vec!["", " ", "-", ".", "\u{a0}", "\u{2011}", " - ", "\u{200b}"]),
        width in proptest::sample::select(vec![1_usize, 2, 4]),
        before in "([a-zé]{0,8}( |: |\\(|, ))?",
        after in "(( |, |\\)|\n)[a-zé]{0,8})?",
    ) {
        let groups: Vec<&str> = (0..digits.len()).step_by(width)
            .map(|at| &digits[at..digits.len().min(at + width)]).collect();
        let text = format!("{before}{}{after}", groups.join(sign));
        prop_assert_eq!(masked(&text), format!("{before}[card number]{after}"), "{:?}", text);
    }

    #[test]
    fn no_digit_of_a_card_number_stays_between_other_numbers(
        digits in card(),
        before in "[0-9]{1,4}",
        after in "[0-9]{1,4}",
    ) {
        let text = format!("{before} {digits} {after}");
        let safe = masked(&text);
        let kept: String = safe.chars().filter(char::is_ascii_digit).collect();
        prop_assert!(!safe.contains(&digits));
        prop_assert!(kept.len() <= before.len() + after.len(), "{safe:?}");
    }

    #[test]
    fn masking_twice_is_masking_once(text in page()) {
        for detectors in [detectors(), thorough()] {
            let once = mask(&text, &detectors.detect(&text));
            let twice = mask(&once, &detectors.detect(&once));
            prop_assert_eq!(&twice, &once, "{:?}", text);
        }
    }

    #[test]
    fn spans_are_ordered_and_on_character_boundaries(text in prop_oneof![page(), any::<String>()]) {
        let findings = thorough().detect(&text);
        prop_assert!(findings.windows(2).all(|pair| pair[0].span.start <= pair[1].span.start));
        for finding in findings {
            prop_assert!(!finding.span.is_empty());
            prop_assert!(text.get(finding.span.clone()).is_some());
            // The normal form fits its buffer, so that no copy of the value stays in memory.
            let room = finding.span.len() * 36;
            prop_assert!(normal_form(&text, &finding).len() <= room);
        }
    }

    #[test]
    fn folding_keeps_the_order_of_places(text in prop_oneof![page(), any::<String>()]) {
        let folded = Normalised::new(&text);
        let mut last = 0;
        for (at, character) in folded.text().char_indices() {
            let original = folded.original(at..at + character.len_utf8());
            prop_assert!(text.get(original.clone()).is_some_and(|part| !part.is_empty()));
            prop_assert!(original.start >= last);
            last = original.start;
        }
    }

    #[test]
    fn any_two_card_numbers_leave_the_same_trace(first in card(), second in card()) {
        prop_assert_eq!(masked(&format!("paid: {first}.")), masked(&format!("paid: {second}.")));
    }
}
