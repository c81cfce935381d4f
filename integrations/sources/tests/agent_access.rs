//! Agent Access, against the relay and the user's side of Bitwarden's own crates, on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

#[path = "support/device.rs"]
mod device;
mod support;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ap_client::CredentialData;
use credential_sources::agent_access::{AgentAccess, AgentAccessError, Connection, RelayAddress};
use device::{Device, relay};
use support::{grant, origin};
use tokio::net::TcpListener;
use vault::Secret;
use vault::sources::{Account, Fetched, FetchedCode, FetchedValues, Source, SourceError};
use zeroize::Zeroizing;

const SHOP: &str = "https://shop.example";
/// Generous: a machine under load answers late.
const LONG: Duration = Duration::from_secs(60);

fn login(host: &str) -> CredentialData {
    CredentialData {
        username: Some("ana".to_owned()),
        password: Some(Zeroizing::new("opal kettle".to_owned())),
        totp: Some("JBSWY3DPEHPK3PXP".to_owned()),
        uri: Some(format!("https://{host}/login")),
        notes: Some("a note that nobody asked for".to_owned()),
        credential_id: Some("aaaa1111".to_owned()),
        domain: Some(host.to_owned()),
    }
}

fn address(relay: SocketAddr) -> RelayAddress {
    format!("ws://{relay}").parse().unwrap()
}

async fn paired(relay: SocketAddr, device: &Device) -> AgentAccess {
    let connection = Connection::pair(address(relay), &device.token().await, LONG).await.unwrap();
    // As the vault keeps it.
    AgentAccess::new(Connection::from_bytes(&connection.to_bytes()).unwrap())
}

fn values(fetched: Result<Fetched, SourceError>) -> FetchedValues {
    match fetched {
        Ok(Fetched::Values(values)) => values,
        Ok(_) => panic!("no values"),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_paired_device_gives_the_login_of_exactly_the_site_each_time() {
    let relay = relay().await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let device = Device::at(relay, move |host| {
        noted.lock().unwrap().push(host.to_owned());
        Some(login(host))
    })
    .await;
    let mut source = paired(relay, &device).await;
    assert_eq!(source.check().await, Ok(()));
    assert!(asked.lock().unwrap().is_empty(), "a check asks for no login");
    // The protocol has no list: the guard asks the user first.
    assert!(source.accounts(&origin(SHOP)).await.unwrap().is_none());
    for _ in 0..2 {
        let found = values(source.fetch(&grant::login(SHOP), None).await);
        assert!(found.username.unwrap().is_same(&Secret::new("ana")));
        assert!(found.password.unwrap().is_same(&Secret::new("opal kettle")));
        assert!(matches!(found.code, Some(FetchedCode::Seed(_))));
        assert_eq!(found.account.id, "aaaa1111");
    }
    assert_eq!(*asked.lock().unwrap(), ["shop.example", "shop.example"]);
    let other = Account { id: "bbbb2222".to_owned(), label: String::new() };
    assert!(matches!(source.fetch(&grant::login(SHOP), Some(&other)).await, Ok(Fetched::Nothing)));
}

/// The protocol's own example provider looks for the wanted host within its entries.
#[tokio::test]
async fn a_device_that_gives_another_sites_login_or_refuses_gives_nothing() {
    let relay = relay().await;
    let answers = [
        Some(login("www.shop.example")),
        Some(login("evil.example")),
        None,
        Some(CredentialData { uri: None, domain: None, ..login("shop.example") }),
        Some(CredentialData { password: Some(Zeroizing::new("x".repeat(100_000))), ..login("shop.example") }),
    ];
    let mut answers = answers.into_iter();
    let device = Device::at(relay, move |_| answers.next().unwrap()).await;
    let mut source = paired(relay, &device).await;
    for expected in
        [None, None, Some(SourceError::NotGiven), Some(SourceError::WithoutSite), Some(SourceError::Unusable)]
    {
        match (source.fetch(&grant::login(SHOP), None).await, expected) {
            (Ok(Fetched::Nothing), None) => {}
            (Err(error), Some(expected)) => assert_eq!(error, expected),
            _ => panic!("something was given, in place of {expected:?}"),
        }
    }
}

/// Each request begins with the same state of the session, so an old answer can be decrypted; the number of the request tells it.
#[tokio::test]
async fn an_answer_that_the_relay_repeats_is_no_answer() {
    let relay = relay().await;
    let mut count = 0;
    let device = Device::repeated_at(relay, move |host| {
        count += 1;
        Some(CredentialData { password: Some(Zeroizing::new(format!("opal {count}"))), ..login(host) })
    })
    .await;
    let mut source = paired(relay, &device).await;
    for number in 1..4 {
        let found = values(source.fetch(&grant::login(SHOP), None).await);
        assert!(found.password.unwrap().is_same(&Secret::new(format!("opal {number}"))), "{number}");
    }
}

#[tokio::test]
async fn a_token_pairs_once_and_a_wrong_one_never() {
    let relay = relay().await;
    let device = Device::at(relay, |host| Some(login(host))).await;
    let token = device.token().await;
    let wrong_key = format!("{}{}", "0".repeat(64), &token[64..]);
    let short = Duration::from_secs(3);
    let pair = |token: String| async move { Connection::pair(address(relay), &token, short).await.err() };
    assert!(pair(wrong_key).await.is_some(), "another key");
    for text in ["", "ABC-DEF-GHI", &token[1..], &token.replace('_', "-")] {
        assert_eq!(pair(text.to_owned()).await, Some(AgentAccessError::BadToken));
    }
    assert_eq!(Connection::pair(address(relay), &token, LONG).await.err(), None);
    assert!(pair(token).await.is_some(), "the same token again");
}

#[tokio::test]
async fn a_relay_that_is_gone_silent_or_loud_is_an_error_without_its_words() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let token = format!("{}_{}", "a".repeat(64), "b".repeat(64));
    let limit = Duration::from_secs(3);
    assert_eq!(
        Connection::pair(address(gone), &token, LONG).await.err(),
        Some(AgentAccessError::Unreachable)
    );

    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = silent.local_addr().unwrap();
    assert_eq!(Connection::pair(address(at), &token, limit).await.err(), Some(AgentAccessError::TimedOut));

    let loud = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = loud.local_addr().unwrap();
    tokio::spawn(async move {
        use futures_util::SinkExt;
        let (tcp, _) = loud.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(tcp).await.unwrap();
        let much = "x".repeat(10 << 20);
        let _ = socket.send(tokio_tungstenite::tungstenite::Message::text(much)).await;
    });
    assert_eq!(Connection::pair(address(at), &token, LONG).await.err(), Some(AgentAccessError::Relay));
}

#[test]
fn bytes_that_are_no_connection_are_named_so() {
    for bytes in
        [&b""[..], b"agent-access-1\n", b"agent-access-1\nws://127.0.0.1:1\nab\nAA==\nAA==\n", b"\xff"]
    {
        assert_eq!(Connection::from_bytes(bytes).err(), Some(AgentAccessError::NotAConnection));
    }
}
