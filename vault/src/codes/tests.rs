#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use proptest::prelude::*;

use super::seed::{CodeSeed, SeedError, secret_of};
use super::steps::Steps;

/// The keys of RFC 6238, appendix B, in Base32: the digits 1 to 0 repeated to 20, 32 and 64 bytes.
const KEYS: [(&str, &str); 3] = [
    ("SHA1", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"),
    ("SHA256", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA"),
    (
        "SHA512",
        "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNA",
    ),
];

fn text_of(seed: &CodeSeed) -> String {
    String::from_utf8(seed.to_text().expose().to_vec()).unwrap()
}

fn code_at(text: &str, seconds: u64) -> String {
    let seed = CodeSeed::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let (step, _) = seed.step(seconds);
    seed.code(step).to_string()
}

fn error_of(text: &str) -> SeedError {
    CodeSeed::parse(text).err().unwrap_or_else(|| panic!("it is taken for a seed"))
}

#[test]
fn the_vectors_of_rfc_6238_come_out() {
    let table = [
        (59, ["94287082", "46119246", "90693936"]),
        (1_111_111_109, ["07081804", "68084774", "25091201"]),
        (1_111_111_111, ["14050471", "67062674", "99943326"]),
        (1_234_567_890, ["89005924", "91819424", "93441116"]),
        (2_000_000_000, ["69279037", "90698825", "38618901"]),
        (20_000_000_000, ["65353130", "77737706", "47863826"]),
    ];
    for (seconds, codes) in table {
        for ((algorithm, key), code) in KEYS.iter().zip(codes) {
            let text = format!("otpauth://totp/A:b?secret={key}&algorithm={algorithm}&digits=8");
            assert_eq!(code_at(&text, seconds), code, "{algorithm} at {seconds}");
        }
    }
}

#[test]
fn a_seed_is_read_as_sites_show_it() {
    let plain = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    let expected = code_at(plain, 59);
    assert_eq!(expected, "287082");
    for text in [
        "gezd gnbv gy3t qojq gezd gnbv gy3t qojq",
        " GEZD-GNBV-GY3T-QOJQ-GEZD-GNBV-GY3T-QOJQ \n",
        "otpauth://totp/Shop:ana@mail.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Shop",
        "OTPAUTH://TOTP/x?issuer=Shop&SECRET=gezdgnbvgy3tqojqgezdgnbvgy3tqojq%3D%3D&period=30&digits=6",
    ] {
        assert_eq!(code_at(text, 59), expected, "{text}");
    }
    // A period of another length: the second step of 60 seconds is the second of 30.
    assert_eq!(code_at(&format!("otpauth://totp/x?secret={plain}&period=60"), 119), expected);
}

#[test]
fn a_code_of_steam_has_five_letters() {
    // HMAC-SHA1 of step 1 is the one of the vector 94287082: its 31 bits in base 26, the lowest first.
    let of_steam = code_at("steam://GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 59);
    let mut left = 1_094_287_082_u32;
    let letters = b"23456789BCDFGHJKMNPQRTVWXY";
    let expected: String = (0..5)
        .map(|_| {
            let letter = char::from(letters[(left % 26) as usize]);
            left /= 26;
            letter
        })
        .collect();
    assert_eq!(of_steam, expected);
    let by_encoder = "otpauth://totp/Steam:ana?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&encoder=steam";
    assert_eq!(code_at(by_encoder, 59), expected);
}

#[test]
fn what_is_no_seed_has_an_error_of_its_own() {
    let with = |rest: &str| format!("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ{rest}");
    for (text, error) in [
        ("492813".to_owned(), SeedError::NotASeed),
        ("my password".to_owned(), SeedError::NotASeed),
        (String::new(), SeedError::NotASeed),
        ("https://shop.example/?secret=GEZDGNBVGY3TQOJQ".to_owned(), SeedError::NotASeed),
        ("otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQ&counter=0".to_owned(), SeedError::Counter),
        ("otpauth://totp/x?issuer=y".to_owned(), SeedError::Secret),
        ("otpauth://totp/x?secret=GEZDGNBV".to_owned(), SeedError::Secret),
        (format!("otpauth://totp/x?secret={}", "A".repeat(300)), SeedError::Secret),
        (with("1"), SeedError::Secret),
        (with("&algorithm=MD5"), SeedError::Algorithm),
        (with("&digits=4"), SeedError::Digits),
        (with("&digits=x"), SeedError::Digits),
        (with("&period=0"), SeedError::Period),
        (with("&period=100000"), SeedError::Period),
    ] {
        assert_eq!(error_of(&text), error, "{text}");
    }
}

#[test]
fn what_is_stored_names_no_account() {
    let seed = CodeSeed::parse(
        "otpauth://totp/Shop:ana@mail.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Shop&digits=7",
    );
    let text = text_of(&seed.unwrap());
    let expected =
        "otpauth://totp/?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=SHA1&digits=7&period=30";
    assert_eq!(text, expected);
    assert_eq!(secret_of(&text), Some("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"));
    assert_eq!(secret_of("492813"), None);
}

#[test]
fn a_step_is_new_once_and_no_earlier_one_after_it() {
    let (one, other) = ([1; 8], [2; 8]);
    let mut steps = Steps::default();
    assert!(steps.is_new(one, 7));
    steps.note(one, 7);
    let mut steps = Steps::read(Some(&steps.to_bytes()));
    assert!(!steps.is_new(one, 7) && !steps.is_new(one, 6) && steps.is_new(one, 8) && steps.is_new(other, 7));
    steps.note(one, 9);
    assert_eq!(steps.to_bytes().len(), 16);
    for seed in 0..2000_u64 {
        steps.note(seed.to_be_bytes(), 1000 + seed);
    }
    assert_eq!(steps.to_bytes().len(), 1024 * 16);
    assert!(!steps.is_new(1999_u64.to_be_bytes(), 1000), "the newest is kept");
    assert_eq!(Steps::read(Some(&vec![7; 15])), Steps::default(), "what is not whole is left out");
}

proptest! {
    #[test]
    fn what_is_written_is_read(key in proptest::collection::vec(any::<u8>(), 10..=128), digits in 6..=8_u32,
                               period in 15..=120_u64, at in 0..20_000_000_000_u64) {
        let base32 = data_base32(&key);
        let text = format!("otpauth://totp/x?secret={base32}&digits={digits}&period={period}&algorithm=SHA256");
        let seed = CodeSeed::parse(&text).unwrap();
        let again = CodeSeed::parse(&text_of(&seed)).unwrap();
        let (step, left) = seed.step(at);
        prop_assert_eq!(step * period + (period - left), at);
        prop_assert_eq!(seed.code(step), again.code(step));
        prop_assert_eq!(seed.name(), again.name());
        let own = text_of(&seed);
        prop_assert_eq!(secret_of(&own), Some(base32.as_str()));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,200}", query in "[a-zA-Z0-9=&%+./-]{0,80}") {
        let _first = CodeSeed::parse(&text);
        let _second = CodeSeed::parse(&format!("otpauth://totp/{query}"));
        let _third = CodeSeed::parse(&format!("otpauth://totp/x?secret={query}"));
    }
}

/// Base32 by way of a text of bits.
fn data_base32(bytes: &[u8]) -> String {
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let groups =
        bits.as_bytes().chunks(5).map(|group| format!("{:0<5}", std::str::from_utf8(group).unwrap()));
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    groups.map(|group| char::from(letters[usize::from_str_radix(&group, 2).unwrap()])).collect()
}
