//! KeePassXC as a source of the vault, with a peer that speaks its protocol.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod support;

use credential_sources::keepassxc::KeePassXc;
use support::mock::{Lie, MockEntry, MockKeePassXc, Plan, User, entry};
use support::{association, grant};
use vault::Secret;
use vault::sources::{Account, Fetched, FetchedCode, FetchedValues, Source, SourceError};

const SITE: &str = "https://login.shop.example";

fn plan(entries: &[MockEntry]) -> Plan {
    Plan::new(entries.to_vec())
}

/// Fetches. On a machine that stalls for a quarter of a second an entry may stay unproven; then it is asked for again.
async fn fetch(plan: Plan, account: Option<&Account>) -> Result<Fetched, SourceError> {
    let mut last = Err(SourceError::Unproven);
    for _ in 0..20 {
        let mock = MockKeePassXc::start(plan.clone());
        last = KeePassXc::new(mock.runtime(), association()).fetch(&grant::login(SITE), account).await;
        if !matches!(last, Err(SourceError::Unproven)) || plan.user != User::NeverAsked {
            break;
        }
    }
    last
}

#[tokio::test]
async fn one_account_gives_its_values_and_several_give_their_names() {
    let Ok(Fetched::Values(found)) = fetch(plan(&[entry(1, SITE)]), None).await else { panic!() };
    let FetchedValues { account, username, password, code } = found;
    assert_eq!((account.id, account.label.as_str()), ("01".repeat(16), "ana-1"));
    assert!(username.unwrap().is_same(&Secret::new("ana-1")));
    assert!(password.unwrap().is_same(&Secret::new("hunter-1")));
    assert!(matches!(code, Some(FetchedCode::Code(_))));

    let two = [entry(1, SITE), entry(2, SITE)];
    let Ok(Fetched::Several(accounts)) = fetch(plan(&two), None).await else { panic!() };
    let labels: Vec<&str> = accounts.iter().map(|account| account.label.as_str()).collect();
    assert_eq!(labels, ["ana-1", "ana-2"]);
    let Ok(Fetched::Values(found)) = fetch(plan(&two), accounts.get(1)).await else { panic!() };
    assert!(found.password.unwrap().is_same(&Secret::new("hunter-2")));
    // An account that is gone meanwhile gives nothing, and no other one in its place.
    assert!(matches!(fetch(plan(&[entry(1, SITE)]), accounts.get(1)).await, Ok(Fetched::Nothing)));
}

#[tokio::test]
async fn what_is_of_another_place_or_not_there_is_nothing() {
    assert!(matches!(fetch(plan(&[]), None).await, Ok(Fetched::Nothing)));
    let parent = plan(&[entry(1, "https://shop.example")]);
    assert!(matches!(fetch(parent, None).await, Ok(Fetched::Nothing)));
}

#[tokio::test]
async fn each_failure_has_a_word_for_the_user() {
    let lying = |lie| Plan { lie, ..plan(&[entry(1, SITE)]) };
    for (plan, expected) in [
        (lying(Lie::Stranger), SourceError::NotConnected),
        (lying(Lie::LockedWhileAsking), SourceError::Locked),
        (lying(Lie::DieInTheMiddle), SourceError::NotRunning),
        (lying(Lie::TenMegabytes), SourceError::Answer),
        (Plan { user: User::Refuses(600_000), ..plan(&[entry(1, SITE)]) }, SourceError::Unproven),
    ] {
        let lie = plan.lie;
        assert_eq!(fetch(plan, None).await.err(), Some(expected), "{lie:?}");
    }
    let nowhere = tempfile::tempdir().unwrap();
    let mut absent = KeePassXc::new(nowhere.path().to_owned(), association());
    assert_eq!(absent.check().await, Err(SourceError::NotRunning));
    assert_eq!(absent.fetch(&grant::login(SITE), None).await.err(), Some(SourceError::NotRunning));
}

#[tokio::test]
async fn a_check_asks_for_no_login() {
    let mock = MockKeePassXc::start(plan(&[entry(1, SITE)]));
    assert_eq!(KeePassXc::new(mock.runtime(), association()).check().await, Ok(()));
    assert!(mock.asked().is_empty());
}
