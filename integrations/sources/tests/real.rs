//! The client against the real KeePassXC. Set `KEEPASSXC` and `KEEPASSXC_CLI` to its programs, and run with
//! `--ignored`. Tests of its windows need `Xvfb` and `xdotool` too.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod support;

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use credential_sources::keepassxc::{Association, Client, KeePassXc, KeePassXcError, Logins};
use serde_json::json;
use support::plain::Plain;
use support::real::{Entry, MASTER, RealKeePassXc, SEED};
use support::{KEY, association, grant, in_ms, origin};
use vault::Secret;
use vault::sources::{Fetched, Source, SourceError};

const FREELY: &str = "AlwaysAllowAccess=true";

fn otp() -> String {
    format!("otpauth://totp/x?secret={SEED}&period=30&digits=6")
}

async fn connect(real: &RealKeePassXc) -> Client {
    Client::connect(&real.socket(), in_ms(5000)).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn ask(client: &mut Client, site: &str) -> Result<Logins, KeePassXcError> {
    let result = client.logins(&association(), &origin(site), in_ms(5000)).await;
    if let Err(error) = &result {
        says_nothing(error);
    }
    result
}

fn says_nothing(error: &KeePassXcError) {
    let text = format!("{error} {error:?}");
    for secret in ["secret", SEED, KEY, MASTER, "user of"] {
        assert!(!text.contains(secret), "{text}");
    }
}

/// The titles of the logins, by their passwords, and the counts of those that were dropped.
async fn titles(client: &mut Client, entries: &[Entry], site: &str) -> (BTreeSet<String>, usize, usize) {
    let logins = match ask(client, site).await {
        Ok(logins) => logins,
        Err(KeePassXcError::NoLogins) => return Default::default(),
        Err(error) => panic!("{site}: {error}"),
    };
    let title = |password: &Secret| {
        let mut titles = entries.iter().filter(|entry| password.is_same(&Secret::new(entry.password())));
        titles.next().map(|entry| entry.title.clone()).unwrap()
    };
    (logins.exact.iter().map(|login| title(&login.password)).collect(), logins.elsewhere, logins.unproven)
}

fn set(titles: &[&str]) -> BTreeSet<String> {
    titles.iter().map(|title| (*title).to_owned()).collect()
}

#[tokio::test]
#[ignore = "needs the real KeePassXC"]
async fn the_right_login_comes_with_its_code() {
    let entries = [
        Entry::new("shop", &["https://shop.com"]).field("otp", &otp()),
        Entry::new("other", &["https://other.com"]),
    ];
    let real = RealKeePassXc::start(&entries, FREELY);
    let mut client = connect(&real).await;
    assert_eq!(client.test_associate(&association(), in_ms(5000)).await, Ok(()));
    let mut before = real.code("shop");
    let logins = loop {
        let logins = ask(&mut client, "https://shop.com").await.ok().unwrap();
        let after = real.code("shop");
        if before == after {
            break logins;
        }
        before = after;
    };
    let [login] = &*logins.exact else { panic!("{}", logins.exact.len()) };
    assert!(login.user_name.is_same(&Secret::new("user of shop")));
    assert!(login.password.is_same(&Secret::new("secret\"of\\shop")));
    assert!(login.code.as_ref().unwrap().is_same(&Secret::new(before)));
    assert!(ask(&mut client, "https://other.com").await.ok().unwrap().exact[0].code.is_none());
    assert_eq!(ask(&mut client, "https://none.com").await.err(), Some(KeePassXcError::NoLogins));
}

#[tokio::test]
#[ignore = "needs the real KeePassXC"]
async fn only_logins_of_exactly_the_origin_come() {
    let entries = [
        Entry::new("base", &["https://shop.com"]),
        Entry::new("base2", &["https://shop.com/account"]),
        Entry::new("login", &["https://login.shop.com"]),
        Entry::new("8443", &["https://shop.com:8443"]),
        Entry::new("443", &["https://shop.com:443"]),
        Entry::new("http", &["http://shop.com"]),
        Entry::new("bare", &["shop.com"]),
        Entry::new("added", &["https://other.com", "https://login.shop.com"]),
        Entry::new("both", &["https://shop.com", "https://login.shop.com"]),
        Entry::new("unlisted", &["https://shop.example"]),
        Entry::new("local", &["https://127.0.0.1:8443"]),
        Entry::new("host", &["https://localhost:8443"]),
        Entry::new("idn", &["https://bücher.de"]),
        Entry::new("cher", &["https://ücher.shop.de"]),
        Entry::new("given", &["https://given.com"]).field("KPH: portcullis", "{URL}"),
        Entry::new("given-added", &["https://given.com", "https://a.given.com"])
            .field("KPH: portcullis", "{URL}"),
    ];
    for settings in [FREELY, "AlwaysAllowAccess=true\nBestMatchOnly=true"] {
        let real = RealKeePassXc::start(&entries, settings);
        let mut client = connect(&real).await;
        let best = settings.contains("Best");
        let table: [(&str, &[&str], usize); 21] = [
            ("https://shop.com", &["base", "base2", "443", "bare", "both"], 0),
            ("https://shop.com:8443", &["8443"], 4),
            ("https://login.shop.com", &["login", "added"], 5),
            ("https://notlogin.shop.com", &[], 7),
            ("https://a.login.shop.com", &[], 7),
            ("https://www.shop.com", &[], 5),
            ("https://evilshop.com", &[], 0),
            ("https://shop.com.evil.com", &[], 0),
            ("https://other.com", &["added"], 0),
            ("https://shop.example", &["unlisted"], 0),
            ("https://evilshop.example", &[], 1),
            ("https://a.shop.example", &[], 1),
            ("https://127.0.0.1:8443", &["local"], 0),
            ("https://127.0.0.1", &[], 0),
            ("https://localhost:8443", &["host"], 0),
            ("https://localhost", &[], 0),
            ("https://a.localhost:8443", &[], 1),
            ("https://bücher.de", &["idn"], 0),
            ("https://given.com", &["given", "given-added"], 0),
            ("https://a.given.com", &[], 2),
            ("https://none.com", &[], 0),
        ];
        for (site, exact, elsewhere) in table {
            let (titles, others, unproven) = titles(&mut client, &entries, site).await;
            assert_eq!(titles, set(exact), "{site} {settings}");
            // With "best match only" KeePassXC holds back what fits worse.
            assert!(others == elsewhere || best, "{site}: {others}");
            assert_eq!(unproven, 0, "{site}");
        }
        // KeePassXC compares this label decoded, and nothing is proved about it.
        assert_eq!(titles(&mut client, &entries, "https://bücher.shop.de").await, (set(&[]), 0, 1));
    }
}

#[tokio::test]
#[ignore = "needs the real KeePassXC"]
async fn schemes_that_are_not_compared_are_noticed() {
    let entries = [Entry::new("plain", &["http://shop.com"]), Entry::new("own", &["https://shop.com"])];
    let real = RealKeePassXc::start(&entries, "AlwaysAllowAccess=true\nMatchUrlScheme=false");
    assert_eq!(titles(&mut connect(&real).await, &entries, "https://shop.com").await, (set(&[]), 2, 0));
}

/// Entries on all hosts of a small alphabet, and each host asked for: what comes is exactly what belongs to it.
#[tokio::test]
#[ignore = "needs the real KeePassXC"]
async fn no_pair_of_hosts_is_confused() {
    let mut hosts = Vec::new();
    for end in ["com", "co.uk", "example", "github.io", "corp", "test"] {
        for name in
            ["a", "aa", "ba", "a.a", "ba.a", "aba.a", "a.ba", "a.aa", "b.a.a", "ab.a.a", "x-a.a", "a.a.a.a"]
        {
            hosts.push(format!("{name}.{end}"));
        }
    }
    hosts.extend(
        ["a", "ba", "localhost", "10.0.0.1", "110.0.0.1", "0.0.0.1", "co.uk", "github.io"].map(str::to_owned),
    );
    let ports = ["", ":8443"];
    let sites: Vec<String> =
        hosts.iter().flat_map(|host| ports.map(|port| format!("https://{host}{port}"))).collect();
    let entries: Vec<Entry> = sites.iter().map(|site| Entry::new(site, &[site])).collect();
    let real = RealKeePassXc::start(&entries, FREELY);
    let mut client = connect(&real).await;
    let (mut given, mut dropped) = (0, 0);
    for site in &sites {
        let (titles, elsewhere, unproven) = titles(&mut client, &entries, site).await;
        if ["ba", "co.uk", "github.io"].contains(&origin(site).host()) {
            // Nothing below a public suffix gets its entries, so nothing is proved about them.
            assert_eq!((titles, unproven > 0), (set(&[]), true), "{site}");
        } else {
            assert_eq!((titles, unproven), (set(&[site]), 0), "{site}");
            given += 1;
        }
        dropped += elsewhere;
    }
    println!("{given} origins, {dropped} entries of others dropped");
}

#[tokio::test]
#[ignore = "needs the real KeePassXC"]
async fn a_locked_database_and_a_foreign_key_are_told_apart() {
    let real = RealKeePassXc::start(&[Entry::new("shop", &["https://shop.com"])], FREELY);
    let mut client = connect(&real).await;
    let other =
        Association::from_bytes(format!("keepassxc-1:{}:guard", KEY.replacen("Bwc", "Cwc", 1)).as_bytes());
    let other = other.unwrap_or_else(|error| panic!("{error}"));
    let error = client.logins(&other, &origin("https://shop.com"), in_ms(5000)).await.err().unwrap();
    assert_eq!(error, KeePassXcError::NotAssociated);
    says_nothing(&error);
    assert_eq!(ask(&mut client, "https://shop.com").await.ok().unwrap().exact.len(), 1);
    let mut plain = Plain::connect(&real.socket());
    assert_eq!(plain.ask(&json!({"action": "lock-database"}))["success"], "true");
    assert_eq!(ask(&mut client, "https://shop.com").await.err(), Some(KeePassXcError::Locked));
    let mut client = connect(&real).await;
    assert_eq!(ask(&mut client, "https://shop.com").await.err(), Some(KeePassXcError::Locked));
    assert_eq!(client.associate(in_ms(5000)).await.err(), Some(KeePassXcError::Locked));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real KeePassXC"]
async fn an_end_or_a_halt_in_the_middle_is_an_error_in_time() {
    let mut real = RealKeePassXc::start(&[Entry::new("shop", &["https://shop.com"])], FREELY);
    let mut client = connect(&real).await;
    real.signal("-STOP");
    let started = Instant::now();
    let known = association();
    let halted = client.logins(&known, &origin("https://shop.com"), in_ms(300)).await.err();
    assert_eq!(halted, Some(KeePassXcError::TimedOut));
    assert!(started.elapsed() < Duration::from_millis(600));
    real.signal("-CONT");
    assert_eq!(ask(&mut client, "https://shop.com").await.err(), Some(KeePassXcError::Closed));
    let mut client = connect(&real).await;
    real.signal("-STOP");
    let started = Instant::now();
    let call = tokio::spawn(async move { ask(&mut client, "https://shop.com").await.err() });
    tokio::time::sleep(Duration::from_millis(200)).await;
    real.kill();
    assert_eq!(call.await.unwrap(), Some(KeePassXcError::NotRunning));
    assert!(started.elapsed() < Duration::from_millis(1000));
    let error = Client::connect(&real.socket(), in_ms(5000)).await.err();
    assert_eq!(error, Some(KeePassXcError::NotRunning), "the socket is left behind");
}

fn remembered(host: &str) -> String {
    json!({"Allow": [host], "Deny": [], "Realm": ""}).to_string()
}

#[tokio::test]
#[ignore = "needs the real KeePassXC"]
async fn with_questions_to_the_user_only_a_given_address_is_proof() {
    let known = |title: &str, url: &str| {
        Entry::new(title, &[url]).custom("KeePassXC-Browser Settings", &remembered("login.shop.com"))
    };
    let entries = [
        known("parent", "https://shop.com"),
        known("own", "https://login.shop.com"),
        known("given", "https://login.shop.com").field("KPH: portcullis", "{URL}"),
    ];
    let real = RealKeePassXc::start(&entries, "");
    let mut client = connect(&real).await;
    let started = Instant::now();
    let result = titles(&mut client, &entries, "https://login.shop.com").await;
    println!("with questions: {result:?} after {:?}", started.elapsed());
    assert_eq!(result, (set(&["given"]), 0, 2));
    assert!(started.elapsed() < Duration::from_millis(1500));
    assert_eq!(ask(&mut client, "https://login.shop.com").await.err(), Some(KeePassXcError::Closed));
    // The question stands in KeePassXC's window, and the next one is withheld at once.
    let mut client = connect(&real).await;
    assert_eq!(titles(&mut client, &entries, "https://login.shop.com").await, (set(&["given"]), 0, 2));
}

/// An X server of the test's own.
struct Screen {
    server: Child,
    display: String,
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Screen {
    fn start() -> Screen {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "1024x768x24"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();
        let mut out = std::io::BufReader::new(server.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut number).unwrap();
        Screen { server, display: format!(":{}", number.trim()) }
    }

    fn xdotool(&self, arguments: &[&str]) -> String {
        let out = Command::new("xdotool").args(arguments).env("DISPLAY", &self.display).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    }

    /// Waits for a window with this title and sends it keys.
    fn answer(&self, title: &str, text: &str, keys: &[&str]) {
        let started = Instant::now();
        let window = loop {
            let found = self.xdotool(&["search", "--onlyvisible", "--name", title]);
            if let Some(window) = found.lines().next() {
                break window.to_owned();
            }
            assert!(started.elapsed() < Duration::from_secs(10), "no window {title}");
            std::thread::sleep(Duration::from_millis(50));
        };
        std::thread::sleep(Duration::from_millis(300));
        self.xdotool(&["windowfocus", "--sync", &window]);
        if !text.is_empty() {
            self.xdotool(&["type", text]);
        }
        for key in keys {
            self.xdotool(&["key", key]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real KeePassXC, Xvfb and xdotool"]
async fn the_user_allows_and_refuses_in_the_window() {
    let screen = Screen::start();
    let entries = [Entry::new("shop", &["https://shop.com"]).field("KPH: portcullis", "{URL}")];
    let real = RealKeePassXc::start_with(&entries, "", &[], Some(&screen.display));
    let mut client = connect(&real).await;
    let refused = tokio::spawn(async move {
        let result = client.associate(in_ms(15_000)).await.err();
        (client, result)
    });
    screen.answer("New key association request", "", &["Escape"]);
    let (mut client, result) = refused.await.unwrap();
    assert_eq!(result, Some(KeePassXcError::Denied));
    let allowed = tokio::spawn(async move {
        let result = client.associate(in_ms(15_000)).await;
        (client, result)
    });
    screen.answer("New key association request", "my guard", &["Return"]);
    let (mut client, result) = allowed.await.unwrap();
    let association = result.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(association.name(), "my guard");
    assert_eq!(client.test_associate(&association, in_ms(5000)).await, Ok(()));
    let asked = tokio::spawn(async move {
        let refused = client.logins(&association, &origin("https://shop.com"), in_ms(15_000)).await.err();
        let allowed = client.logins(&association, &origin("https://shop.com"), in_ms(15_000)).await;
        (refused, allowed.map(|logins| logins.exact.len()))
    });
    screen.answer("Access Request", "", &["Escape"]);
    std::thread::sleep(Duration::from_millis(700));
    screen.answer("Access Request", "", &["Return"]);
    let (refused, allowed) = asked.await.unwrap();
    assert_eq!(
        refused,
        Some(KeePassXcError::NoLogins),
        "2.7.4 says the same of what is refused and what is not there"
    );
    assert_eq!(allowed, Ok(1));
}

/// A whole fetch of the guard's, with its connection, against the protocol's own calls for it: keys, association, logins.
#[tokio::test]
#[ignore = "a measurement with the real KeePassXC"]
async fn the_time_of_a_fetch_against_the_protocols_calls() {
    for (many, named) in [(3, true), (3, false), (300, true), (300, false)] {
        let mut entries: Vec<Entry> =
            (0..many).map(|at| Entry::new(&format!("e{at}"), &[&format!("https://host{at}.com")])).collect();
        let own = Entry::new("own", &["https://login.shop.com"]);
        entries.push(if named { own.field("KPH: portcullis", "{URL}") } else { own });
        let real = RealKeePassXc::start(&entries, FREELY);
        let mut source = KeePassXc::new(real.runtime(), association());
        let wanted = grant::login("https://login.shop.com");
        let (mut bare, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..100 {
            let started = Instant::now();
            let mut plain = Plain::connect(&real.socket());
            plain.test_associate();
            plain.get_logins("https://login.shop.com");
            bare.push(started.elapsed());
            let started = Instant::now();
            assert!(matches!(source.fetch(&wanted, None).await, Ok(Fetched::Values(_))));
            ours.push(started.elapsed());
        }
        bare.sort();
        ours.sort();
        let ratio = ours[50].as_secs_f64() / bare[50].as_secs_f64();
        let how = if named { "with the attribute" } else { "with questions for proof" };
        println!("{many} others, {how}: bare {:?}, fetch {:?}, ratio {ratio:.2}", bare[50], ours[50]);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real KeePassXC, Xvfb and xdotool"]
async fn a_locked_database_asks_the_user_and_then_gives_the_login() {
    let screen = Screen::start();
    let entries = [Entry::new("shop", &["https://shop.com"])];
    let real = RealKeePassXc::start_with(&entries, FREELY, &[], Some(&screen.display));
    let mut plain = Plain::connect(&real.socket());
    assert_eq!(plain.ask(&json!({"action": "lock-database"}))["success"], "true");
    let mut source = KeePassXc::new(real.runtime(), association());
    assert_eq!(source.check().await, Err(SourceError::Locked));
    let fetched = tokio::spawn(async move { source.fetch(&grant::login("https://shop.com"), None).await });
    screen.answer("Unlock Database", MASTER, &["Return"]);
    let Ok(Fetched::Values(values)) = fetched.await.unwrap() else { panic!("no values") };
    assert!(values.password.unwrap().is_same(&Secret::new(entries[0].password())));
}
