//! Known values of every kind are found, and look-alikes that shop pages are full of are left alone.

use classifier::{Detector, Detectors, SensitiveKind, mask};

fn masked(text: &str) -> String {
    mask(text, &Detectors::standard().unwrap().detect(text))
}

/// Each value is found alone, in prose, in brackets and at the end of a sentence, as exactly one marker.
fn assert_found(kind: SensitiveKind, values: &[&str]) {
    let marker = kind.marker();
    for value in values {
        for (before, after) in
            [("", ""), ("it is ", " now"), ("(", ")"), ("- text: \"", "\"\n"), ("it: ", ".")]
        {
            let text = format!("{before}{value}{after}");
            assert_eq!(masked(&text), format!("{before}{marker}{after}"), "{text:?}");
        }
    }
}

fn assert_untouched(texts: &[&str]) {
    for text in texts {
        assert_eq!(masked(text), *text);
    }
}

/// Test numbers that card schemes and payment processors publish.
#[test]
fn card_numbers() {
    assert_found(
        SensitiveKind::CardNumber,
        &[
            "4111111111111111",
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            "4111.1111.1111.1111",
            "4111\u{a0}1111\u{a0}1111\u{a0}1111",
            "4111 - 1111 - 1111 - 1111",
            "41 11 11 11 11 11 11 11",
            "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
            "4222222222222",
            "4012888888881881",
            "5555 5555 5555 4444",
            "5105105105105100",
            "2223003122003222",
            "3782 822463 10005",
            "371449635398431",
            "30569309025904",
            "3852 000002 3237",
            "6011111111111117",
            "6011 0009 9013 9424",
            "3530111333300000",
            "6200000000000005",
            "6759649826438453",
            "5019717010103742",
            "2204 1234 5678 9015",
        ],
    );
}

#[test]
fn card_numbers_among_other_digits() {
    assert_eq!(masked("2 4111 1111 1111 1111"), "2 [card number]");
    assert_eq!(masked("4111 1111 1111 1111 12/27"), "[card number] 12/27");
    assert_eq!(masked("No4111111111111111x"), "No[card number]x");
    assert_eq!(masked("4111 1111 1111 1111 5555 5555 5555 4444"), "[card number] [card number]");
    assert_eq!(masked("card 4111111111111111, tel. +49 30 1234567"), "card [card number], tel. [phone]");
}

#[test]
fn other_numbers_are_not_cards() {
    assert_untouched(&[
        "4111111111111112",
        "0000 0000 0000 0000",
        "7111111111111116",
        "41111111111111111111111111111111",
        "Order 112-7654321-1234567",
        "8 900 000 001 rows",
        "1763640000000",
    ]);
}

/// The examples of the IBAN registry.
#[test]
fn ibans() {
    assert_found(
        SensitiveKind::Iban,
        &[
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            "de89 3704 0044 0532 0130 00",
            "DE89-3704-0044-0532-0130-00",
            "GB29 NWBK 6016 1331 9268 19",
            "FR14 2004 1010 0505 0001 3M02 606",
            "ES91 2100 0418 4502 0005 1332",
            "NL91 ABNA 0417 1643 00",
            "NO93 8601 1117 947",
            "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
            "CH93 0076 2011 6238 5295 7",
            "IT60 X054 2811 1010 0000 0123 456",
            "BE68 5390 0754 7034",
            "AT61 1904 3002 3457 3201",
            "PL61 1090 1014 0000 0712 1981 2874",
            "SA03 8000 0000 6080 1016 7519",
            "BR18 0036 0305 0000 1000 9795 493C 1",
        ],
    );
    assert_eq!(masked("IBAN:DE89370400440532013000;BIC"), "IBAN:[iban];BIC");
    assert_untouched(&[
        "DE88370400440532013000",
        "GB30 NWBK 6016 1331 9268 19",
        "XX89370400440532013000",
        "DE8937040044053201300",
        "CODE89370400440532013000",
        "837989e0-7476-496a-be02-e4c69f1f989b",
    ]);
}

#[test]
fn emails() {
    assert_found(
        SensitiveKind::Email,
        &[
            "ann@example.org",
            "Ann.Smith+shop@mail.example.co.uk",
            "a_b-c@x1.museum",
            "jörg@müller.example",
            "1@2.de",
        ],
    );
    assert_eq!(masked("Ann <ann@example.org>, bob@example.org"), "Ann <[email]>, [email]");
    assert_eq!(masked("mailto:ann@example.org?subject=Hi"), "mailto:[email]?subject=Hi");
    assert_untouched(&["@ann_smith", "4 @ 2.50 each", "left-pad@1.3.0", "sale @ example", "hero@2x.png"]);
}

#[test]
fn phones() {
    assert_found(
        SensitiveKind::Phone,
        &[
            "+49 30 901820",
            "+4930901820",
            "+1 (415) 555-2671",
            "+44 (0)20 7946 0958",
            "+33 1 70 18 99 00",
            "+81-3-1234-5678",
            "0049 30 901820",
            "(415) 555-2671",
            "1 (415) 555-2671",
            "415-555-2671",
            "415.555.2671",
            "415 555 2671",
            "1-800-555-0199",
            "415-555-2671 x1234",
            "020 7946 0958",
            "07700 900123",
            "030/901 82 00",
            "0171-1234567",
            "06 12 34 56 78",
            "02.27.96.63.08",
            "(030) 901820",
            "612 34 56 78",
        ],
    );
    for text in [
        "Phone: 5552671",
        "tel:4155552671",
        "Call us at 481 7531",
        "Telefon 9018200",
        "WhatsApp: 98765 43210",
    ] {
        assert!(masked(text).ends_with("[phone]"), "{text}");
    }
    assert_eq!(masked("+49 30 901820 +49 30 901821"), "[phone] [phone]");
}

#[test]
fn other_numbers_are_not_phones() {
    assert_untouched(&[
        "64.15 USD",
        "1,299.00 EUR",
        "1 299 000.00 EUR",
        "EUR 1.299.000,00",
        "$ 415 555 2671",
        "2026-11-20",
        "20.11.2026",
        "20/11/2026 10:30",
        "2026-11-20 10:30:45",
        "20.11.2026 - 24.11.2026",
        "1999-2004",
        "2019 2020 2021 2022",
        "12345-6789",
        "10115 Berlin",
        "1 x 2 x 3",
        "1920 x 1080 x 60",
        "10:30:45",
        "order 1234567890",
        "Order no. 415-555-2671",
        "Item: 0171 1234567",
        "#1234567890",
        "barcode: 0085585730728",
        "ISBN 978-3-16-148410-0",
        "4006381333931",
        "SKU AB-030-1234567",
        "192.168.100.200",
        "version 10.15.7.1234",
        "123 456 789",
        "1.234.567.890",
        "100 200 300 400 500",
        "12 345 678 sold",
        "3.14159265358979",
        "(2019) 12345-678",
        "iPhone 15 Pro 256 GB",
        "dial 49649.82",
        "Call by 2026-11-20",
        "Phone 1,299.00 USD",
        "ratings 4.8 (12,345)",
        "30-day returns, 2-year warranty",
        "size 38 40 42 44 46",
    ]);
}

/// The tokens are made up in the published forms; none is real.
#[test]
fn tokens() {
    let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
    for prefix in [
        "sk_live_",
        "rk_test_",
        "whsec_",
        "sk-",
        "sk-proj-",
        "ghp_",
        "gho_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "AIza",
        "GOCSPX-",
        "ya29.",
        "npm_",
        "hf_",
        "pypi-",
        "SG.",
        "shpat_",
    ] {
        assert_found(SensitiveKind::Token, &[&format!("{prefix}{body}")]);
    }
    assert_found(
        SensitiveKind::Token,
        &[
            "AKIAIOSFODNN7EXAMPLE",
            "SK0123456789abcdef0123456789abcdef",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ==\n-----END PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk=\n-----END OPENSSH PRIVATE KEY-----",
        ],
    );
    assert_eq!(masked("Authorization: Bearer a1B2c3D4e5F6g7H8i9J0"), "Authorization: Bearer [token]");
    assert_eq!(masked("Authorization: Basic YWxhZGRpbjpvcGVuMTIz"), "Authorization: Basic [token]");
    assert_eq!(masked("api_key = \"0f1e2d3c4b5a69788796\""), "api_key = \"[token]\"");
    assert_eq!(masked("accessToken: '0f1e2d3c4b5a69788796'"), "accessToken: '[token]'");
    assert_eq!(masked("-----BEGIN RSA PRIVATE KEY-----\nMIIEvQ"), "[token]");
}

#[test]
fn words_are_not_tokens() {
    assert_untouched(&[
        "the bearer of this letter-of-introduction",
        "sk-learn and scikit-learn",
        "risk-taking-is-not-for-everyone-here",
        "a token: something",
        "token: aaaaaaaaaaaaaaaa1111",
        "task-a1b2c3d4e5f6g7h8i9j0k1l2",
        "eyJust kidding",
        "AKIA is a word",
        "-----BEGIN CERTIFICATE-----",
        "password: ",
        "npm_config_registry",
        "secret: none-of-your-business-my-friend",
    ]);
}

#[test]
fn invisible_and_foreign_characters_hide_nothing() {
    for text in [
        "4111\u{200b}1111\u{200b}1111\u{200b}1111",
        "4\u{2060}1\u{ad}1\u{feff}1\u{202e}1111\u{e0031}1111\u{2066}1111",
        "４１１１ １１１１ １１１１ １１１１",
        "٤١١١ ١١١١ ١١١١ ١١١١",
        "𝟜𝟙𝟙𝟙-𝟏𝟏𝟏𝟏-𝟣𝟣𝟣𝟣-𝟷𝟷𝟷𝟷",
        "4111–1111–1111–1111",
        "4\u{336}1\u{336}1\u{336}1\u{336}1111 1111 1111",
    ] {
        assert_eq!(masked(text), "[card number]", "{text:?}");
    }
    assert_eq!(masked("ann\u{200b}@exam\u{ad}ple.org"), "[email]");
    assert_eq!(masked("ａｎｎ＠ｅｘａｍｐｌｅ．ｏｒｇ"), "[email]");
    assert_eq!(masked("DE89\u{200d}370400440532013000"), "[iban]");
    assert_eq!(masked("ghp_\u{200b}a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"), "[token]");
    assert_eq!(masked("（４１５）５５５−２６７１"), "[phone]");
}
