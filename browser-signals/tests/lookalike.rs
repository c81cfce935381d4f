//! Warnings about hosts: deceptive ones, and names that give none.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that fails, fails")]

use browser_signals::lookalike::warnings;
use browser_signals::{HostWarning, Origin, Site};
use proptest::prelude::*;
use proptest::sample::select;

/// Names of well-known sites, which should give no warning.
const BENIGN: [&str; 56] = [
    "google.com",
    "youtube.com",
    "facebook.com",
    "instagram.com",
    "chatgpt.com",
    "x.com",
    "whatsapp.com",
    "wikipedia.org",
    "reddit.com",
    "yahoo.co.jp",
    "yahoo.com",
    "yandex.ru",
    "amazon.com",
    "amazon.de",
    "amazon.co.uk",
    "baidu.com",
    "tiktok.com",
    "netflix.com",
    "linkedin.com",
    "live.com",
    "office.com",
    "microsoft.com",
    "bing.com",
    "naver.com",
    "pinterest.com",
    "twitch.tv",
    "ebay.com",
    "ebay.de",
    "apple.com",
    "spotify.com",
    "paypal.com",
    "github.com",
    "gitlab.com",
    "stackoverflow.com",
    "booking.com",
    "airbnb.com",
    "walmart.com",
    "target.com",
    "etsy.com",
    "zalando.de",
    "otto.de",
    "ikea.com",
    "bbc.co.uk",
    "cnn.com",
    "nytimes.com",
    "theguardian.com",
    "dhl.com",
    "ups.com",
    "fedex.com",
    "usps.com",
    "chase.com",
    "bankofamerica.com",
    "wellsfargo.com",
    "ing.nl",
    "sparkasse.de",
    "visa.com",
];

fn origin(text: &str) -> Origin {
    let text = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    Origin::parse(&text).unwrap()
}

fn warnings_of(of: &str, known: &[&str]) -> Vec<String> {
    let known: Vec<Origin> = known.iter().map(|text| origin(text)).collect();
    warnings(&origin(of), &known).iter().map(ToString::to_string).collect()
}

fn resembles(of: &str, known: &str) -> bool {
    let warning = warnings(&origin(of), &[origin(known)]);
    warning.iter().any(|warning| matches!(warning, HostWarning::Resembles { .. }))
}

fn borrows(of: &str, known: &str) -> bool {
    let warning = warnings(&origin(of), &[origin(known)]);
    warning.iter().any(|warning| matches!(warning, HostWarning::BorrowsName { .. }))
}

#[test]
fn each_warning_prints_as_a_sentence_with_the_ascii_form() {
    let apple = "https://\u{430}pple.com";
    assert_eq!(
        warnings_of(apple, &["apple.com"]),
        [
            "xn--pple-43d.com may be shown as \"\u{430}pple.com\", with letters outside plain ASCII",
            "xn--pple-43d.com mixes letters of several scripts in \"\u{430}pple\"",
            "xn--pple-43d.com looks like \"apple\" when shown, and is another name",
            "xn--pple-43d.com looks much like apple.com, and is another site",
        ]
    );
    // All its letters are Cyrillic.
    let whole = "https://www.\u{430}\u{440}\u{440}\u{4cf}\u{435}.com";
    assert_eq!(
        warnings_of(whole, &["apple.com"]),
        [
            "www.xn--80ak6aa92e.com may be shown as \"www.\u{430}\u{440}\u{440}\u{4cf}\u{435}.com\", with letters outside plain ASCII",
            "www.xn--80ak6aa92e.com looks like \"apple\" when shown, and is another name",
            "www.xn--80ak6aa92e.com looks much like apple.com, and is another site",
        ]
    );
    assert_eq!(
        warnings_of("bank.example.evil.test", &["bank.example"]),
        ["bank.example.evil.test has the name of bank.example in it, and belongs to evil.test"]
    );
    assert_eq!(
        warnings_of("http://0x7f.1:8080", &["bank.example"]),
        [
            "127.0.0.1 is an address in numbers; it does not say who answers there",
            "127.0.0.1 is asked on port 8080, which is not where its website usually is",
        ]
    );
    let long = format!("{}.evil.test", "a-".repeat(30) + "a");
    assert_eq!(warnings_of(&long, &[]), ["…evil.test is unusually long; whose it is stands at its end"]);
    assert_eq!(
        warnings_of("http://shop.example:443", &[]),
        ["shop.example is asked on port 443, which is not where its website usually is"]
    );
}

#[test]
fn letters_of_one_language_are_shown_without_a_warning_of_likeness() {
    for host in [
        "b\u{fc}cher.example",
        "\u{4f8b}\u{3048}.jp",
        "\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.\u{440}\u{444}",
        "sony\u{30b9}\u{30c8}\u{30a2}.jp",
    ] {
        let warnings = warnings(&origin(host), &[]);
        assert!(matches!(warnings[..], [HostWarning::International { .. }]), "{warnings:?}");
    }
    // Browsers map these letters to the plain host.
    for host in ["\u{ff45}xample.com", "ex\u{ad}ample.com", "EXAMPLE.com", "example\u{3002}com"] {
        assert_eq!(warnings(&origin(host), &[origin("example.com")]), [], "{host}");
    }
}

#[test]
fn typing_errors_and_likenesses_of_a_known_site() {
    for (host, known) in [
        ("paypa1.com", "paypal.com"),
        ("www.paypa1.com", "paypal.com"),
        ("paypal.co", "paypal.com"),
        ("paypal.cm", "www.paypal.com"),
        ("g00gle.com", "google.com"),
        ("rnicrosoft.com", "microsoft.com"),
        ("modem.example", "modern.example"),
        ("vvikipedia.org", "wikipedia.org"),
        ("arnazon.com", "amazon.de"),
        ("amaz0n.xyz", "amazon.com"),
        ("gogle.com", "google.com"),
        ("googel.com", "google.com"),
        ("gooogle.com", "google.com"),
        ("stackoverfiow.com", "stackoverflow.com"),
        ("bankofarnerlca.com", "bankofamerica.com"),
        ("p\u{e1}ypal.com", "paypal.com"),
        ("copper-kettel.test", "copper-kettle.test"),
        ("x0.example", "xo.example"),
        // This one is a public suffix itself.
        ("x0.com", "xo.com"),
    ] {
        assert!(resembles(host, known), "{host} {known}");
        assert!(resembles(known, host), "{known} {host}");
    }
    for (host, known) in [
        ("shop.example", "ship.example"),
        ("amazon.de", "amazon.com"),
        ("bank.test", "tank.test"),
        ("pay.shop.example", "shop.example"),
        ("127.0.0.1", "127.0.0.2"),
        ("localhost", "localhosts.test"),
    ] {
        assert!(!resembles(host, known), "{host} {known}");
    }
}

#[test]
fn a_known_name_in_another_site() {
    for (host, known) in [
        ("bank.example.evil.test", "bank.example"),
        ("www.bank.example.evil.test", "https://www.bank.example:8443"),
        ("bank-example.evil.test", "bank.example"),
        ("paypal.evil.test", "paypal.com"),
        ("paypal-login.evil.test", "paypal.com"),
        ("login.secure-paypal.evil.test", "paypal.com"),
        ("paypa1.evil.test", "paypal.com"),
        ("paypal-secure.test", "paypal.com"),
        ("paypal.github.io", "paypal.com"),
        ("www.amazon.co.uk.example", "amazon.co.uk"),
    ] {
        assert!(borrows(host, known), "{host} {known}");
    }
    for (host, known) in [
        ("shop.other.test", "shop.example"),
        ("mybank.example", "bank.example"),
        ("login.bank.example", "bank.example"),
        ("bank.example", "login.bank.example"),
        ("unpaypalled.test", "paypal.com"),
    ] {
        assert!(!borrows(host, known), "{host} {known}");
    }
}

/// Deceptive addresses that are no origins need no warning: they never reach a prompt.
#[test]
fn deceptive_addresses_are_no_origins() {
    for text in [
        "https://bank.test@evil.test",
        "https://example.com.",
        "blob:https://bank.test/1",
        "data:text/html,x",
    ] {
        assert!(Origin::parse(text).is_err(), "{text}");
    }
}

#[test]
fn well_known_sites_give_no_warning_about_each_other() {
    let known: Vec<Origin> = BENIGN.iter().map(|host| origin(host)).collect();
    for host in BENIGN {
        for prefix in ["", "www.", "login."] {
            assert_eq!(warnings(&origin(&format!("{prefix}{host}")), &known), [], "{prefix}{host}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// An origin gives no warning of likeness to itself or to a host of its own site; each warning names the ASCII host.
    #[test]
    fn an_origin_never_warns_against_itself(
        host in prop_oneof![
            "[a-z0-9-]{1,10}(\\.[a-z0-9-]{1,10}){0,4}",
            "[a-z\u{430}-\u{44f}\u{e0}-\u{ff}]{1,8}\\.(com|test|co\\.uk|github\\.io)",
            "[0-9.]{1,12}",
        ],
        port in select(&["", ":8443"][..]),
        below in "[a-z]{1,8}",
    ) {
        let Ok(one) = Origin::parse(&format!("https://{host}{port}")) else { return Ok(()) };
        let alone = warnings(&one, &[]);
        prop_assert_eq!(&warnings(&one, std::slice::from_ref(&one)), &alone);
        for warning in &alone {
            prop_assert!(warning.to_string().starts_with(one.host()), "{}", warning);
        }
        if let (Ok(site), Ok(other)) = (Site::of(&one), Origin::parse(&format!("https://{below}.{host}")))
            && site.contains(&other)
        {
            prop_assert_eq!(&warnings(&one, &[other]), &alone);
        }
    }

    /// A digit in place of the letter that it looks like gives a warning in any name.
    #[test]
    fn a_digit_for_a_letter_gives_a_warning(name in "[a-z]{0,6}[ol][a-z]{0,6}", suffix in select(&["com", "test", "co.uk"][..])) {
        let swapped = name.replace('o', "0").replace('l', "1");
        prop_assume!(name.len() > 1);
        let (host, known) = (format!("{swapped}.{suffix}"), format!("{name}.{suffix}"));
        prop_assert!(resembles(&host, &known));
    }
}
