//! A one-time code is made from a stored seed, once a step, for the place of its login; the seed leaves the vault in no way.

use crate::common::{NOW, entropy, fill_grant_on, filled, guard, page, seen};
use browser_signals::{NodeId, Snapshot};
use policy_dfa::{DecisionPoint, Fill, Grant, Reason};
use sirl::{Field, Kind};
use vault::{Binding, CodeError, KdfParams, ReleaseError, Secret, SeedError, StateName, Vault, VaultError};

const SEED: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
/// The first second of the second step, whose code is the vector of RFC 6238.
const AT: u64 = 30_000;
const CODE: &str = "287082";

fn second_factor() -> Snapshot {
    let mut page = page();
    page.controls.truncate(1);
    page.controls[0].autocomplete = "one-time-code".into();
    page
}

fn grant(point: &mut DecisionPoint) -> Grant<Fill> {
    fill_grant_on(point, Kind::Otp, &[(Field::OneTimeCode, 11)], second_factor())
}

fn bound(to: &str) -> Binding {
    Binding::parse(to).unwrap()
}

fn with_seed(vault: &mut Vault, handle: &str, to: &str) -> Result<(), VaultError> {
    let seed = format!("otpauth://totp/Shop:ana?secret={SEED}&issuer=Shop");
    vault.insert(handle, Field::OneTimeCode, Secret::new(seed), &bound(to), &mut entropy(3))
}

fn found(vault: &Vault, text: &str) -> usize {
    vault.scan(text).unwrap().len()
}

#[test]
fn a_grant_releases_the_code_of_the_present_step_once() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    with_seed(&mut vault, "login:shop", "https://shop.example").unwrap();
    assert!(vault.makes_codes("login:shop") && !vault.makes_codes("login:other"));
    // Without a code that was made, the grant releases nothing: what is stored is the seed.
    let seed = vault.open_fill(grant(&mut point), &seen(second_factor(), 2), NOW);
    assert_eq!(seed.err(), Some(ReleaseError::NoValue(Field::OneTimeCode)));
    assert_eq!((found(&vault, CODE), found(&vault, SEED)), (0, 1));
    let made = grant(&mut point);
    let before = vault.generation();
    assert_eq!(vault.make_code(&made, AT, &mut entropy(5)), Ok(true));
    assert!(vault.generation() > before, "the step is noted");
    let fill = vault.open_fill(made, &seen(second_factor(), 2), NOW).unwrap();
    assert_eq!(fill.values.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [NodeId(11)]);
    // Until the task ends, texts are searched for the code and for the seed.
    assert_eq!((found(&vault, CODE), found(&vault, &SEED.to_lowercase())), (1, 1));
    let again = grant(&mut point);
    for later in [AT, AT + 29_000, 0] {
        let refused = vault.make_code(&again, later, &mut entropy(6));
        assert!(matches!(refused, Err(CodeError::Wait { seconds: 1..=30 })), "{refused:?}");
        assert_eq!(refused.unwrap_err().reason(), Reason::CodeUsed);
    }
    // A code that is about to end is not given. The next step has a code of its own.
    assert_eq!(vault.make_code(&again, AT + 57_000, &mut entropy(6)), Err(CodeError::Wait { seconds: 3 }));
    assert_eq!(vault.make_code(&again, AT + 30_000, &mut entropy(6)), Ok(true));
    assert_eq!((found(&vault, CODE), found(&vault, SEED)), (0, 1));
    vault.forget_task_values();
    assert!(vault.makes_codes("login:shop"));
}

#[test]
fn a_step_stays_used_after_a_restart_and_under_another_handle() {
    let (mut point, verifier) = guard(1);
    let passphrase = Secret::new("correct horse battery staple");
    let mut vault = Vault::create(&passphrase, &mut entropy(1), KdfParams::FLOOR, verifier).unwrap();
    with_seed(&mut vault, "login:shop", "https://shop.example").unwrap();
    assert_eq!(vault.make_code(&grant(&mut point), AT, &mut entropy(5)), Ok(true));
    let file = vault.to_bytes(&mut entropy(6)).unwrap();
    let text = String::from_utf8_lossy(&file);
    assert!(!text.contains(SEED) && !text.contains(CODE));
    let (mut point, verifier) = guard(1);
    let mut vault = Vault::unlock(&file, &passphrase, verifier).ok().unwrap();
    assert_eq!(found(&vault, CODE), 0, "the code is in no file");
    let refused = vault.make_code(&grant(&mut point), AT + 10_000, &mut entropy(7));
    assert_eq!(refused, Err(CodeError::Wait { seconds: 20 }));
    vault.remove("login:shop").unwrap();
    with_seed(&mut vault, "otp:shop", "https://shop.example").unwrap();
    let refused = vault.make_code(&grant(&mut point), AT + 10_000, &mut entropy(7));
    assert_eq!(refused, Err(CodeError::Wait { seconds: 20 }));
}

#[test]
fn a_seed_is_for_the_place_of_its_login() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    for (handle, to) in
        [("login:a", "https://shop.example.evil.test"), ("login:b", "https://login.shop.example")]
    {
        with_seed(&mut vault, handle, to).unwrap();
    }
    assert_eq!(
        with_seed(&mut vault, "login:c", "site shop.example"),
        Err(VaultError::NeverToASite(Field::OneTimeCode))
    );
    assert_eq!(
        with_seed(&mut vault, "login:c", "anywhere"),
        Err(VaultError::NeedsBinding(Field::OneTimeCode))
    );
    assert_eq!(vault.make_code(&grant(&mut point), AT, &mut entropy(5)), Ok(false));
    assert_eq!(vault.state(StateName::CodeSteps), Ok(None), "no step is used");
    let fill = vault.open_fill(grant(&mut point), &seen(second_factor(), 2), NOW);
    assert_eq!(fill.err(), Some(ReleaseError::NoValue(Field::OneTimeCode)));
}

#[test]
fn a_seed_of_another_place_does_not_replace_the_code_that_the_user_gave() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    with_seed(&mut vault, "login:a", "https://other.example").unwrap();
    let (code, to) = (Secret::new("492813"), bound("https://shop.example"));
    vault.insert_for_task("login:a", Field::OneTimeCode, code, &to, &mut entropy(3)).unwrap();
    assert_eq!(vault.make_code(&grant(&mut point), AT, &mut entropy(5)), Ok(false));
    assert_eq!((found(&vault, "492813"), found(&vault, CODE)), (1, 0));
}

#[test]
fn each_seed_has_steps_of_its_own() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    with_seed(&mut vault, "login:a", "https://shop.example").unwrap();
    assert_eq!(vault.make_code(&grant(&mut point), AT, &mut entropy(5)), Ok(true));
    vault.forget_task_values();
    vault.remove("login:a").unwrap();
    let (other, to) = (Secret::new("KQ4WMZLTOB2XG5DBMNXW2YLS"), bound("https://shop.example"));
    vault.insert("login:b", Field::OneTimeCode, other, &to, &mut entropy(6)).unwrap();
    assert_eq!(vault.make_code(&grant(&mut point), AT, &mut entropy(7)), Ok(true));
}

#[test]
fn a_code_of_the_users_is_for_its_task_and_is_stored_by_nobody() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let (code, to) = (|| Secret::new("492813"), bound("https://shop.example"));
    let stored = vault.insert("login:shop", Field::OneTimeCode, code(), &to, &mut entropy(3));
    assert_eq!(stored, Err(VaultError::BadSeed(SeedError::NotASeed)));
    vault.insert_for_task("login:shop", Field::OneTimeCode, code(), &to, &mut entropy(3)).unwrap();
    let given = grant(&mut point);
    assert_eq!(vault.make_code(&given, AT, &mut entropy(5)), Ok(false));
    assert!(vault.open_fill(given, &seen(second_factor(), 2), NOW).is_ok());
    vault.forget_codes();
    assert_eq!(found(&vault, "492813"), 0);
}

#[test]
fn other_grants_make_no_code_and_a_locked_vault_none_at_all() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    with_seed(&mut vault, "login:shop", "https://shop.example").unwrap();
    let address = fill_grant_on(&mut point, Kind::Address, &[(Field::Street, 11)], page());
    assert_eq!(vault.make_code(&address, AT, &mut entropy(5)), Ok(false));
    vault.lock();
    let locked = vault.make_code(&grant(&mut point), AT, &mut entropy(5));
    assert_eq!(locked.unwrap_err().reason(), Reason::VaultLocked);
}
