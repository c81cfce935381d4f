//! The client against a peer that lies, fails or gives too much.

#![allow(clippy::cloned_ref_to_slice_refs, reason = "the tables read better")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod support;

use std::os::unix::net::UnixListener;
use std::time::Duration;

use credential_sources::keepassxc::{Client, KeePassXcError, Logins};
use serde_json::json;
use support::mock::{Lie, MockEntry, MockKeePassXc, Plan, User, entry};
use support::{association, in_ms, origin};
use vault::Secret;

const SITE: &str = "https://login.shop.example";

/// The end of what is expected to come, in milliseconds.
const PATIENCE: u64 = 60_000;
/// The time after which a peer that says nothing is given up, in milliseconds.
const SILENCE: u64 = 1_000;

async fn logins(mock: &MockKeePassXc, site: &str) -> Result<Logins, KeePassXcError> {
    logins_in(PATIENCE, mock, site).await
}

async fn logins_in(ms: u64, mock: &MockKeePassXc, site: &str) -> Result<Logins, KeePassXcError> {
    let mut client = Client::connect(&mock.path, in_ms(ms)).await?;
    client.logins(&association(), &origin(site), in_ms(ms)).await
}

/// The counts: exact, elsewhere, unproven, unusable.
type Counts = (usize, usize, usize, usize);

async fn counted(plan: Plan, site: &str) -> Counts {
    let logins = logins(&MockKeePassXc::start(plan), site).await;
    let logins = logins.unwrap_or_else(|error| panic!("{error}"));
    (logins.exact.len(), logins.elsewhere, logins.unproven, logins.unusable)
}

/// Expects these counts. On a machine that stalls for a quarter of a second an entry may stay unproven; then it is asked for again.
async fn expect(plan: Plan, site: &str, expected: Counts) {
    for _ in 0..20 {
        let found = counted(plan.clone(), site).await;
        if found == expected {
            return;
        }
        assert!(found.2 > expected.2, "{found:?}, and not {expected:?}");
    }
    panic!("{expected:?} did not come");
}

fn plan(entries: &[MockEntry]) -> Plan {
    Plan::new(entries.to_vec())
}

fn lying(lie: Lie) -> Plan {
    Plan { lie, ..plan(&[entry(1, SITE)]) }
}

fn on(version: &'static str, user: User, entries: &[MockEntry]) -> Plan {
    Plan { version, user, ..plan(entries) }
}

#[tokio::test]
async fn a_login_comes_with_its_values() {
    expect(plan(&[entry(1, SITE)]), SITE, (1, 0, 0, 0)).await;
    let (mock, logins) = loop {
        let mock = MockKeePassXc::start(plan(&[entry(1, SITE)]));
        let logins = logins(&mock, SITE).await.ok().unwrap();
        if logins.unproven == 0 {
            break (mock, logins);
        }
    };
    let [login] = &*logins.exact else { panic!("{}", logins.exact.len()) };
    assert_eq!(login.uuid, "01".repeat(16));
    assert!(login.user_name.is_same(&Secret::new("ana-1")));
    assert!(login.password.is_same(&Secret::new("hunter-1")));
    assert!(login.code.as_ref().unwrap().is_same(&Secret::new("123456")));
    let asked = mock.asked();
    assert_eq!(asked.len(), 5, "{asked:?}");
    assert_eq!(asked[..2], ["https://login.shop.example:443", "portcullis://login.shop.example:443"]);
    assert!(asked[2..].iter().all(|url| url.starts_with("https://portcullis-check-")), "{asked:?}");
    assert!(!asked[2].contains("shop"));
    assert!(asked[3].ends_with(".login.shop.example:443"));
    assert!(asked[4].ends_with("zogin.shop.example:443"));
}

#[tokio::test]
async fn every_lie_ends_in_its_error_in_time() {
    use KeePassXcError::{
        Changed, Denied, Locked, NoLogins, NotAssociated, NotRunning, Protocol, TimedOut, TooLong,
    };
    let table = [
        (Lie::WrongNonce, Protocol("an answer with another nonce")),
        (Lie::SameNonce, Protocol("an answer with another nonce")),
        (Lie::WrongNonceInside, Protocol("an answer with another nonce inside")),
        (Lie::OtherClient, Protocol("an answer to another client")),
        (Lie::OtherAction, Protocol("an answer to another request")),
        (Lie::OtherKey, Protocol("an answer that does not decrypt")),
        (Lie::NotEncrypted, Protocol("an answer without content")),
        (Lie::Garbage, Protocol("an answer that is no JSON object")),
        (Lie::NoEntryFields, Protocol("an answer without the fields that it needs")),
        (Lie::Flood, Protocol("a flood of notices")),
        (Lie::ErrorNumber(4), Protocol("it cannot read the request")),
        (Lie::ErrorNumber(99), Protocol("an error without a known number")),
        (Lie::ErrorNumber(1), Locked),
        (Lie::ErrorNumber(6), Denied),
        (Lie::ErrorNumber(8), NotAssociated),
        (Lie::ErrorNumber(15), NoLogins),
        (Lie::LockedWhileAsking, Locked),
        (Lie::TenMegabytes, TooLong),
        (Lie::Hang, TimedOut),
        (Lie::DieInTheMiddle, NotRunning),
        (Lie::OtherDatabase, Changed),
        (Lie::Stranger, NotAssociated),
        (Lie::Deaf, TimedOut),
        (Lie::ShortKey, Protocol("a public key of another length")),
    ];
    for (lie, expected) in table {
        let mock = MockKeePassXc::start(lying(lie));
        let ms = if expected == TimedOut { SILENCE } else { PATIENCE };
        let error = logins_in(ms, &mock, SITE).await.err().unwrap();
        assert_eq!(error, expected, "{lie:?}");
        let text = format!("{error} {error:?}");
        assert!(
            !text.contains("hunter") && !text.contains("123456") && !text.contains(support::KEY),
            "{text}"
        );
    }
}

#[tokio::test]
async fn notices_are_split_off() {
    for lie in [Lie::GluedNotices, Lie::ByteByByte] {
        expect(lying(lie), SITE, (1, 0, 0, 0)).await;
    }
}

#[tokio::test]
async fn a_failure_closes_the_connection_and_an_error_answer_does_not() {
    let mock = MockKeePassXc::start(lying(Lie::Garbage));
    let mut client = Client::connect(&mock.path, in_ms(PATIENCE)).await.ok().unwrap();
    assert!(client.logins(&association(), &origin(SITE), in_ms(PATIENCE)).await.is_err());
    assert_eq!(client.test_associate(&association(), in_ms(PATIENCE)).await, Err(KeePassXcError::Closed));

    let mock = MockKeePassXc::start(plan(&[]));
    let mut client = Client::connect(&mock.path, in_ms(PATIENCE)).await.ok().unwrap();
    let error = client.logins(&association(), &origin(SITE), in_ms(PATIENCE)).await.err();
    assert_eq!(error, Some(KeePassXcError::NoLogins));
    assert_eq!(client.test_associate(&association(), in_ms(PATIENCE)).await, Ok(()));
}

#[tokio::test]
async fn an_abandoned_call_closes_the_connection() {
    let mock = MockKeePassXc::start(lying(Lie::Hang));
    let mut client = Client::connect(&mock.path, in_ms(PATIENCE)).await.ok().unwrap();
    let known = association();
    let site = origin(SITE);
    let call = client.logins(&known, &site, in_ms(PATIENCE));
    assert!(tokio::time::timeout(Duration::from_millis(100), call).await.is_err());
    assert_eq!(client.test_associate(&known, in_ms(PATIENCE)).await, Err(KeePassXcError::Closed));
}

#[tokio::test]
async fn nobody_listens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    assert_eq!(Client::connect(&path, in_ms(PATIENCE)).await.err(), Some(KeePassXcError::NoSocket));
    drop(UnixListener::bind(&path).unwrap());
    assert_eq!(Client::connect(&path, in_ms(PATIENCE)).await.err(), Some(KeePassXcError::NotRunning));
}

#[tokio::test]
async fn associating_gives_a_key_that_is_named_by_the_user() {
    let mock = MockKeePassXc::start(plan(&[]));
    let mut client = Client::connect(&mock.path, in_ms(PATIENCE)).await.ok().unwrap();
    let association = client.associate(in_ms(PATIENCE)).await.ok().unwrap();
    assert_eq!(association.name(), "guard");
    let mock = MockKeePassXc::start(lying(Lie::ErrorNumber(6)));
    let mut client = Client::connect(&mock.path, in_ms(PATIENCE)).await.ok().unwrap();
    assert_eq!(client.associate(in_ms(PATIENCE)).await.err(), Some(KeePassXcError::Denied));
}

#[tokio::test]
async fn entries_of_other_origins_are_dropped() {
    let parent = entry(1, "https://shop.example");
    let own = entry(2, SITE);
    expect(plan(&[parent.clone()]), SITE, (0, 1, 0, 0)).await;
    expect(plan(&[parent.clone(), own.clone()]), SITE, (1, 1, 0, 0)).await;
    expect(plan(&[own.clone(), entry(3, SITE)]), SITE, (2, 0, 0, 0)).await;
    expect(plan(&[own.clone()]), "https://notlogin.shop.example", (0, 1, 0, 0)).await;
    expect(plan(&[own.clone()]), "https://login.shop.example:8443", (0, 1, 0, 0)).await;
    let port = entry(4, "https://login.shop.example:8443");
    expect(plan(&[own.clone(), port]), "https://login.shop.example:8443", (1, 1, 0, 0)).await;
    let lax = Plan { compares_schemes: false, ..plan(&[entry(5, "http://login.shop.example")]) };
    expect(lax, SITE, (0, 1, 0, 0)).await;
    let mock = MockKeePassXc::start(plan(&[own]));
    assert_eq!(logins(&mock, "http://login.shop.example").await.err(), Some(KeePassXcError::NotHttps));
    assert!(mock.asked().is_empty());
}

#[tokio::test]
async fn what_a_person_may_withhold_is_no_proof() {
    let (parent, own) = (entry(1, "https://shop.example"), entry(2, SITE));
    // A minute is longer than any test waits: a person's answer is not waited for.
    for user in [User::Refuses(0), User::Refuses(600_000), User::Allows(5_000), User::Allows(600_000)] {
        // Nothing withheld is told from nothing there, so nothing is proved.
        for entries in [&[own.clone()][..], &[parent.clone()], &[parent.clone(), own.clone()]] {
            let (exact, elsewhere, unproven, _) = counted(on("2.7.4", user, entries), SITE).await;
            assert_eq!((exact, elsewhere + unproven), (0, entries.len()), "{user:?}");
        }
        // Since 2.7.7 "no logins" is proof.
        expect(on("2.7.9", user, &[own.clone()]), SITE, (1, 0, 0, 0)).await;
    }
    let refused = on("2.7.9", User::Refuses(50), &[parent.clone()]);
    expect(refused, SITE, (0, 0, 1, 0)).await;
    let refused = on("2.7.9", User::Refuses(50), &[parent.clone(), own.clone()]);
    expect(refused, SITE, (0, 0, 2, 0)).await;
    let allowed = on("2.7.9", User::Allows(5_000), &[parent.clone(), own.clone()]);
    expect(allowed, SITE, (0, 1, 1, 0)).await;
    let never_asked = on("2.7.9", User::NeverAsked, &[parent, own]);
    expect(never_asked, SITE, (1, 1, 0, 0)).await;
}

#[tokio::test]
async fn an_address_that_is_given_back_decides_alone() {
    let with = |number, url, value: &str| MockEntry {
        fields: json!([{"KPH: portcullis": value}]),
        ..entry(number, url)
    };
    let entries = [
        with(1, "https://shop.example", "https://shop.example"),
        with(2, SITE, "https://login.shop.example/path"),
        with(3, SITE, "login.shop.example"),
        with(4, SITE, "http://login.shop.example"),
    ];
    let mock = MockKeePassXc::start(on("2.7.4", User::Refuses(600_000), &entries));
    let logins = logins(&mock, SITE).await.ok().unwrap();
    assert_eq!((logins.exact.len(), logins.elsewhere), (1, 3));
    assert_eq!(logins.exact[0].uuid, "02".repeat(16));
    assert_eq!(mock.asked(), ["https://login.shop.example:443"], "nobody is asked further");
}

#[tokio::test]
async fn values_that_fit_no_box_are_counted() {
    let with = |number, password: &str| MockEntry { password: password.to_owned(), ..entry(number, SITE) };
    let entries = [with(1, "one\ntwo"), with(2, &"x".repeat(5000)), with(3, "good")];
    expect(plan(&entries), SITE, (1, 0, 0, 2)).await;
    let mock = MockKeePassXc::start(plan(&[with(1, &"x".repeat(1 << 20))]));
    assert_eq!(logins(&mock, SITE).await.err(), Some(KeePassXcError::TooLong));
}
