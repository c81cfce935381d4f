//! Saved logins: sealed in files of their own, opened by a grant alone, and found in texts while they are in a container.

use browser_signals::login::{LoginState, PresentCookies};
use browser_signals::{Container, Fact, Observed, Origin, Snapshot};
use policy_dfa::{
    Consent, DecisionPoint, Grant, History, Millis, Reason, RedeemError, Restore, RestoreQuestion, Task,
    Verifier,
};
use sirl::{Field, Kind};
use vault::logins::{LONGEST_MS, LoginError, LoginId, MAX_LOGINS, SealedLogin};
use vault::{Binding, KdfParams, ReleaseError, Secret, TaskSlot, Vault};

use crate::common::{NOW, entropy, fill_grant_on, guard, page, seen, shop};

const COOKIE: &str = "c00kie-opal-kettle-harbour";
const STORED: &str = "st0red-seven-green-kettles-42";
const DAY_MS: u64 = 86_400_000;
const NOW_MS: u64 = 1_800_000_000_000;

fn state_of(origin: &Origin) -> LoginState {
    LoginState::simulated(origin, &[("sid", COOKIE)], &[("token", STORED)], None)
}

fn state() -> LoginState {
    state_of(&shop())
}

/// The page of a fresh container.
fn blank() -> Snapshot {
    let mut page = page();
    (page.form, page.destination, page.controls) = (None, Fact::Unknown, Vec::new());
    page
}

fn grant(point: &mut DecisionPoint) -> Grant<Restore> {
    let task = Task::new(vec![shop()], vec![Kind::Login], None, Container::T2);
    let page = seen(blank(), 1);
    let (login, consent, history) = (&shop(), Consent::Given, History::default());
    point
        .decide_restore(&RestoreQuestion { login, page: &page, task: &task, consent, history, now: NOW })
        .unwrap()
}

fn fresh() -> Observed<Snapshot> {
    seen(blank(), 2)
}

fn empty(verifier: Verifier) -> Vault {
    Vault::ephemeral(&mut entropy(1), verifier)
}

fn save(vault: &mut Vault) -> SealedLogin {
    vault.save_login(&state(), 7, NOW_MS, &mut entropy(2)).unwrap()
}

fn open(vault: &mut Vault, point: &mut DecisionPoint, bytes: &[u8]) -> Result<String, LoginError> {
    let opened = vault.open_login(grant(point), &fresh(), (NOW, NOW_MS + DAY_MS), bytes, &mut entropy(3));
    opened.map(|(state, handle)| {
        assert!(*state.expose_to_vault() == *self::state().expose_to_vault());
        handle
    })
}

fn found(vault: &Vault, text: &str) -> usize {
    vault.scan(text).unwrap().len()
}

#[test]
fn a_login_is_sealed_and_a_grant_opens_it_and_keeps_its_tokens_for_the_task() {
    let (mut point, verifier) = guard(1);
    let mut vault = empty(verifier);
    let before = vault.generation();
    let sealed = save(&mut vault);
    assert!(vault.generation() > before, "the list is in the vault's file");
    let saved = vault.saved_logins().unwrap();
    assert_eq!(saved, std::slice::from_ref(&sealed.login));
    assert_eq!((&saved[0].origin, saved[0].ends_ms), (&shop(), NOW_MS + 7 * DAY_MS));
    for token in [COOKIE, STORED] {
        assert!(!sealed.bytes.windows(token.len()).any(|bytes| bytes == token.as_bytes()));
        assert_eq!(found(&vault, token), 0, "it is in no container yet");
    }

    let handle = open(&mut vault, &mut point, &sealed.bytes).unwrap();
    assert_eq!(handle, "login:shop-example_0");
    let encoded = format!("x={}", COOKIE.replace('-', "%2D"));
    for text in [COOKIE, STORED, &encoded] {
        let released = [(handle.as_str(), Field::Password)];
        assert_eq!(vault.scan_released(text, &released).unwrap().len(), 1, "{text}");
    }
    // The tokens are no values: nobody lists them, and no form gets one.
    assert_eq!(vault.entries().count(), 0);
    let login = fill_grant_on(&mut point, Kind::Login, &[(Field::Password, 11)], page());
    let filled = vault.open_fill(login, &seen(page(), 9), NOW);
    assert_eq!(filled.err(), Some(ReleaseError::NoValue(Field::Password)));
    // Another task does not find them, and after the task nobody does.
    vault.turn_to(TaskSlot(5));
    assert_eq!(found(&vault, COOKIE), 0);
    vault.turn_to(TaskSlot(0));
    assert_eq!(found(&vault, COOKIE), 1);
    vault.forget_task_values();
    assert_eq!(found(&vault, COOKIE), 0);
}

#[test]
fn the_list_survives_in_the_file_and_a_new_data_key() {
    let passphrase = Secret::new("correct horse battery staple");
    let mut random = entropy(4);
    let (mut point, verifier) = guard(1);
    let mut vault = Vault::create(&passphrase, &mut random, KdfParams::FLOOR, verifier).unwrap();
    let sealed = save(&mut vault);
    open(&mut vault, &mut point, &sealed.bytes).unwrap();
    vault.rotate(&passphrase, &mut random).unwrap();
    assert_eq!(found(&vault, STORED), 1, "the tokens of the task too");
    let file = vault.to_bytes(&mut random).unwrap();
    for token in [COOKIE, STORED] {
        assert!(!file.windows(token.len()).any(|bytes| bytes == token.as_bytes()));
    }
    let (mut point, verifier) = guard(2);
    let mut vault = Vault::unlock(&file, &passphrase, verifier).unwrap();
    assert_eq!(found(&vault, COOKIE), 0, "what was for the task is not in the file");
    open(&mut vault, &mut point, &sealed.bytes).unwrap();
    vault.lock();
    assert_eq!(
        open(&mut vault, &mut point, &sealed.bytes),
        Err(LoginError::Vault(vault::VaultError::Locked))
    );
}

#[test]
fn only_the_newest_file_of_the_same_login_opens() {
    let (mut point, verifier) = guard(1);
    let mut vault = empty(verifier);
    let first = save(&mut vault);
    let other = state_of(&Origin::parse("https://bank.example").unwrap());
    let bank = vault.save_login(&other, 7, NOW_MS, &mut entropy(8)).unwrap();
    let second = vault.save_login(&state(), 7, NOW_MS, &mut entropy(6)).unwrap();
    assert_eq!(second.replaces, Some(first.login.file));
    let damaged = Err(LoginError::Damaged);
    for bytes in [&first.bytes, &bank.bytes, &Vec::new()] {
        assert_eq!(open(&mut vault, &mut point, bytes), damaged);
    }
    for at in (0..second.bytes.len()).step_by(97) {
        let mut changed = second.bytes.clone();
        changed[at] ^= 1;
        assert_eq!(open(&mut vault, &mut point, &changed), damaged, "byte {at}");
    }
    // A copy of the file is worthless in another vault, also where that has a login of the same site.
    let mut thief = empty(guard(1).1);
    assert_eq!(open(&mut thief, &mut point, &second.bytes), Err(LoginError::NotSaved));
    let _own = thief.save_login(&state(), 7, NOW_MS, &mut entropy(7)).unwrap();
    assert_eq!(open(&mut thief, &mut point, &second.bytes), damaged);
    assert!(open(&mut vault, &mut point, &second.bytes).is_ok());

    assert_eq!(vault.forget_login(first.login.id, &mut entropy(5)), Ok(second.login.file));
    assert_eq!(open(&mut vault, &mut point, &second.bytes), Err(LoginError::NotSaved));
    assert_eq!(vault.forget_login(first.login.id, &mut entropy(5)), Err(LoginError::NotSaved));
}

#[test]
fn a_login_ends_with_its_first_lasting_cookie_with_the_users_days_and_after_thirty() {
    let mut vault = empty(guard(1).1);
    let mut ends = |days: u32, cookie_ends: Option<u64>| {
        let expires = cookie_ends.map(|ms| ms as f64 / 1000.0);
        let state = LoginState::simulated(&shop(), &[("sid", COOKIE)], &[], expires);
        vault.save_login(&state, days, NOW_MS, &mut entropy(2)).unwrap().login.ends_ms - NOW_MS
    };
    assert_eq!(ends(7, None), 7 * DAY_MS);
    assert_eq!(ends(7, Some(NOW_MS + 3 * DAY_MS)), 3 * DAY_MS);
    // A cookie of some minutes is not the login's.
    assert_eq!(ends(7, Some(NOW_MS + 60_000)), 7 * DAY_MS);
    assert_eq!(ends(1_000, None), LONGEST_MS);
    assert_eq!(ends(u32::MAX, Some(NOW_MS + 400 * DAY_MS)), LONGEST_MS);
    assert_eq!(ends(0, None), 1);
}

/// A browser would refuse the whole login for the sake of one ended cookie.
#[test]
fn a_cookie_that_has_ended_is_left_out() {
    let (mut point, verifier) = guard(1);
    let mut vault = empty(verifier);
    let ends = (NOW_MS + 3 * DAY_MS) as f64 / 1000.0;
    let short = LoginState::simulated(&shop(), &[("sid", COOKIE)], &[("token", STORED)], Some(ends));
    let sealed = vault.save_login(&short, 30, NOW_MS, &mut entropy(2)).unwrap();
    let mut tokens = |now_ms: u64| {
        let opened =
            vault.open_login(grant(&mut point), &fresh(), (NOW, now_ms), &sealed.bytes, &mut entropy(3));
        opened.map(|(state, _)| state.tokens().iter().map(|token| token.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(tokens(NOW_MS + 2 * DAY_MS).unwrap(), [STORED, COOKIE]);
    assert_eq!(tokens(NOW_MS + 4 * DAY_MS), Err(LoginError::Ended));
    let sooner = (NOW_MS + 3_600_000) as f64 / 1000.0;
    let short = LoginState::simulated(&shop(), &[("sid", COOKIE)], &[("token", STORED)], Some(sooner));
    let sealed = vault.save_login(&short, 30, NOW_MS, &mut entropy(4)).unwrap();
    let opened = vault.open_login(
        grant(&mut point),
        &fresh(),
        (NOW, NOW_MS + 7_200_000),
        &sealed.bytes,
        &mut entropy(3),
    );
    let left: Vec<String> = opened.unwrap().0.tokens().iter().map(|token| token.to_string()).collect();
    assert_eq!(left, [STORED]);
}

#[test]
fn an_ended_login_a_foreign_page_and_a_lower_container_open_nothing() {
    let (mut point, verifier) = guard(1);
    let mut vault = empty(verifier);
    let sealed = save(&mut vault);
    let mut tried = |page: Snapshot, now: Millis, now_ms: u64| {
        let opened = vault.open_login(
            grant(&mut point),
            &seen(page, 2),
            (now, now_ms),
            &sealed.bytes,
            &mut entropy(3),
        );
        opened.err()
    };
    let redeem = |error| Some(LoginError::Release(ReleaseError::Redeem(error)));
    assert_eq!(tried(blank(), NOW, NOW_MS + 7 * DAY_MS), Some(LoginError::Ended));
    assert_eq!(tried(blank(), Millis(NOW.0 + 60_000), NOW_MS), redeem(RedeemError::Expired));
    let elsewhere = |change: fn(&mut Snapshot)| {
        let mut page = blank();
        change(&mut page);
        page
    };
    let other_site =
        elsewhere(|page| page.origin = Fact::Known(Origin::parse("https://evil.example").unwrap()));
    assert_eq!(tried(other_site, NOW, NOW_MS), redeem(RedeemError::Stale));
    let other_context = elsewhere(|page| page.container_id = browser_signals::ContainerId::new("other"));
    assert_eq!(tried(other_context, NOW, NOW_MS), redeem(RedeemError::Stale));
    for tier in [Fact::Known(Container::T1), Fact::Known(Container::T0), Fact::Unknown] {
        let mut page = blank();
        page.container = tier;
        let low = LoginError::Release(ReleaseError::ContainerTooLow(Field::Password));
        assert_eq!(tried(page, NOW, NOW_MS), Some(low));
    }
    assert_eq!(LoginError::Ended.reason(), Reason::NoValue);
    assert_eq!(found(&vault, COOKIE), 0);
    assert_eq!(open(&mut vault, &mut point, &sealed.bytes), Ok("login:shop-example_0".to_owned()));
}

#[test]
fn a_renewal_takes_new_cookies_into_a_new_file_and_keeps_the_end() {
    const NEW: &str = "r0tated-opal-kettle-harbour";
    let (mut point, verifier) = guard(1);
    let mut vault = empty(verifier);
    let sealed = save(&mut vault);
    let present =
        |value: &str| PresentCookies::simulated(LoginState::simulated(&shop(), &[("sid", value)], &[], None));
    let same = vault.renew_login(sealed.login.id, &sealed.bytes, present(COOKIE), &mut entropy(6));
    assert!(same.unwrap().is_none());
    let renewed =
        vault.renew_login(sealed.login.id, &sealed.bytes, present(NEW), &mut entropy(6)).unwrap().unwrap();
    assert_eq!((renewed.login.id, renewed.login.ends_ms), (sealed.login.id, sealed.login.ends_ms));
    assert_eq!(renewed.replaces, Some(sealed.login.file));
    assert_eq!(open(&mut vault, &mut point, &sealed.bytes), Err(LoginError::Damaged));
    let again = vault.renew_login(sealed.login.id, &sealed.bytes, present(COOKIE), &mut entropy(6));
    assert_eq!(again.err(), Some(LoginError::Damaged));
    let (state, handle) = vault
        .open_login(grant(&mut point), &fresh(), (NOW, NOW_MS), &renewed.bytes, &mut entropy(3))
        .unwrap();
    let tokens = state.tokens();
    let has = |text: &str| tokens.iter().any(|token| token.as_str() == text);
    assert!(has(NEW) && has(STORED));
    let released = [(handle.as_str(), Field::Password)];
    assert_eq!(vault.scan_released(NEW, &released).unwrap().len(), 1);
    vault.forget_login_tokens();
    assert_eq!(vault.scan_released(NEW, &released).unwrap().len(), 0);
    let gone = vault.renew_login(LoginId([9; 16]), &renewed.bytes, present(NEW), &mut entropy(6));
    assert_eq!(gone.err(), Some(LoginError::NotSaved));
}

#[test]
fn a_grant_of_another_authority_opens_nothing() {
    let mut vault = empty(guard(1).1);
    let sealed = save(&mut vault);
    let (mut foreign, _) = guard(2);
    let error = LoginError::Release(ReleaseError::Redeem(RedeemError::ForeignAuthority));
    assert_eq!(open(&mut vault, &mut foreign, &sealed.bytes), Err(error));
}

#[test]
fn a_site_has_one_login_and_a_vault_has_a_limit() {
    let (mut point, verifier) = guard(1);
    let mut vault = empty(verifier);
    let first = save(&mut vault);
    let again = save(&mut vault);
    assert_eq!((again.replaces, again.login.id), (Some(first.login.file), first.login.id));
    assert_ne!(again.login.file, first.login.file);
    let nothing = LoginState::new(shop());
    assert_eq!(vault.save_login(&nothing, 7, NOW_MS, &mut entropy(2)).err(), Some(LoginError::Empty));
    let huge = "x1".repeat(5 << 20);
    let huge = LoginState::simulated(&shop(), &[], &[("huge", &huge)], None);
    let too_large = LoginError::TooLarge { limit: 8 };
    assert_eq!(vault.save_login(&huge, 7, NOW_MS, &mut entropy(2)).err(), Some(too_large));
    for number in 1..MAX_LOGINS {
        let origin = Origin::parse(&format!("https://shop{number}.example")).unwrap();
        let saved = vault.save_login(&state_of(&origin), 7, NOW_MS, &mut entropy(1_000 + number as u64));
        assert!(saved.is_ok_and(|saved| saved.replaces.is_none()));
    }
    let origin = Origin::parse("https://one-more.example").unwrap();
    assert_eq!(
        vault.save_login(&state_of(&origin), 7, NOW_MS, &mut entropy(99)).err(),
        Some(LoginError::Full)
    );
    assert_eq!(vault.saved_logins().unwrap().len(), MAX_LOGINS);
    assert!(open(&mut vault, &mut point, &again.bytes).is_ok());
}

#[test]
fn a_record_of_the_users_with_the_guards_name_keeps_its_own_value() {
    let (mut point, verifier) = guard(1);
    let mut vault = empty(verifier);
    let binding = Binding::Origin(shop());
    let own = "login:shop-example_0";
    vault.insert(own, Field::Password, Secret::new("the-users-own"), &binding, &mut entropy(1)).unwrap();
    let sealed = save(&mut vault);
    let handle = open(&mut vault, &mut point, &sealed.bytes).unwrap();
    assert_eq!(handle, "login:shop-example_00");
    let released = [(handle.as_str(), Field::Password)];
    assert_eq!(vault.scan_released("the-users-own", &released).unwrap().len(), 0);
}
