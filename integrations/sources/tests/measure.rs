//! Measurements of the real KeePassXC: the entries that it gives for an address, and its times. Run with `--ignored --nocapture` to see the table.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod support;

use support::plain::Plain;
use support::real::{Entry, RealKeePassXc, SEED, programs};

fn fixture() -> Vec<Entry> {
    vec![
        Entry::new("base", &["https://shop.example"]),
        Entry::new("base-com", &["https://shop.com"]),
        Entry::new("login-com", &["https://login.shop.com"]),
        Entry::new("port8443", &["https://shop.com:8443"]),
        Entry::new("port443", &["https://shop.com:443"]),
        Entry::new("http", &["http://shop.com"]),
        Entry::new("noscheme", &["shop.com"]),
        Entry::new("noscheme-port", &["shop.com:8443"]),
        Entry::new("add-login", &["https://other.com", "https://login.shop.com"]),
        Entry::new("path", &["https://shop.com/account?x=1"]),
        Entry::new("www", &["https://www.shop.com"]),
        Entry::new("pin", &["https://pin.com"]).field("KPH: portcullis", "{URL}").field("KPH: pin", "12"),
        Entry::new("otp", &["https://otp.com"])
            .field("otp", &format!("otpauth://totp/x?secret={SEED}&period=30&digits=6")),
        Entry::new("ip", &["https://127.0.0.1:8443"]),
        Entry::new("ip6", &["https://[::1]"]),
        Entry::new("localhost", &["https://localhost"]),
        Entry::new("idn", &["https://bücher.de"]),
        Entry::new("cher", &["https://ücher.shop.de"]),
        Entry::new("wildcard", &["https://*.wild.com"]),
        Entry::new("quoted", &["\"https://quoted.com\""]),
        Entry::new("github", &["https://github.io"]),
        Entry::new("corp", &["https://intra.corp"]),
    ]
}

const ASKED: &[&str] = &[
    "https://shop.example",
    "https://shop.example:443",
    "https://login.shop.example",
    "https://evilshop.example",
    "https://hop.example",
    "http://shop.example",
    "https://shop.example.evil.com",
    "https://shop.com",
    "https://shop.com:443",
    "https://shop.com:8443",
    "https://shop.com:1",
    "http://shop.com",
    "x://shop.com",
    "https://login.shop.com",
    "https://login.shop.com:443",
    "https://notlogin.shop.com",
    "https://ogin.shop.com",
    "https://a.login.shop.com",
    "https://evilshop.com",
    "https://other.com",
    "https://www.shop.com",
    "https://pin.com",
    "https://127.0.0.1:8443",
    "https://127.0.0.1",
    "https://127.0.0.1:9",
    "https://1127.0.0.1:8443",
    "x://127.0.0.1:8443",
    "https://[::1]",
    "https://[::1]:443",
    "https://localhost",
    "https://localhost:5",
    "https://a.localhost",
    "https://xlocalhost",
    "https://xn--bcher-kva.de",
    "https://xn--bcher-kva.shop.de",
    "https://xn--cher-0ra.shop.de",
    "https://a.wild.com",
    "https://wild.com",
    "https://quoted.com",
    "https://github.io",
    "https://alice.github.io",
    "https://intra.corp",
    "https://a.intra.corp",
    "https://other.corp",
    "https://portcullis-check-0123456789abzogin.shop.com:443",
];

fn table(settings: &str, group: &[(String, String)]) {
    let real = RealKeePassXc::start_with(&fixture(), settings, group, None);
    let mut plain = Plain::connect(&real.socket());
    println!("== {settings:?} {group:?}; handshake {}", plain.last_raw);
    println!("   associate {}", plain.test_associate());
    for asked in ASKED {
        println!("   {asked:55} {}", plain.titles(asked).join(" "));
    }
    println!("   pin: {}", plain.get_logins("https://pin.com"));
    println!("   otp: {}", plain.get_logins("https://otp.com"));
    println!("   raw error: {} {}", plain.get_logins("https://none.com"), plain.last_raw);
    let uuid = plain.get_logins("https://pin.com")["entries"][0]["uuid"].as_str().unwrap().to_owned();
    println!("   by-uuid: {:?}", plain.titles(&format!("keepassxc://by-uuid/{uuid}")));
}

#[test]
#[ignore = "a measurement with the real KeePassXC"]
fn what_is_given_for_which_address() {
    if programs().is_none() {
        return;
    }
    table("AlwaysAllowAccess=true", &[]);
    table("AlwaysAllowAccess=true\nMatchUrlScheme=false", &[]);
    table("AlwaysAllowAccess=true\nBestMatchOnly=true", &[]);
    table("AlwaysAllowAccess=true", &[("BrowserOmitWww".to_owned(), "true".to_owned())]);
}

#[test]
#[ignore = "a measurement with the real KeePassXC"]
fn the_time_of_each_question() {
    let mut entries: Vec<Entry> =
        (0..2000).map(|at| Entry::new(&format!("e{at}"), &[&format!("https://host{at}.com")])).collect();
    entries.push(Entry::new("own", &["https://login.shop.com"]));
    entries.push(Entry::new("parent", &["https://shop.com"]));
    let real = RealKeePassXc::start(&entries, "AlwaysAllowAccess=true");
    let mut plain = Plain::connect(&real.socket());
    plain.test_associate();
    for _ in 0..3 {
        for url in [
            "https://login.shop.com:443",
            "portcullis://login.shop.com:443",
            "https://portcullis-check-0123456789ab.z0123456789ab:443",
            "https://portcullis-check-0123456789ab.login.shop.com:443",
            "https://portcullis-check-0123456789abzogin.shop.com:443",
            "https://login.shop.com",
        ] {
            let started = std::time::Instant::now();
            let titles = plain.titles(url);
            println!("{url:60} {titles:?} {:?}", started.elapsed());
        }
    }
}
