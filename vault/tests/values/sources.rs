//! Values of a password manager: fetched for a grant, bound to its exact origin, sealed for the task.

use crate::common::{NOW, entropy, fill_grant_on, filled, guard, page, seen};
use browser_signals::Snapshot;
use policy_dfa::{DecisionPoint, Fill, Grant, Reason};
use sirl::{Field, FieldSet, Kind};
use vault::sources::{Account, FetchedCode, FetchedValues, KeepError, SourceError, Wanted};
use vault::{Binding, CodeError, ReleaseError, Secret, StateName, Vault};

const SOURCE: &str = "KeePassXC";
const NAME: &str = "ana@mail.example";
const PASSWORD: &str = "opal-kettle-harbour";
const SEED: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
/// The first second of the second step, whose code is the vector of RFC 6238.
const AT: u64 = 30_000;
const CODE: &str = "287082";

fn form(tokens: &[&str]) -> Snapshot {
    let mut page = page();
    let first = page.controls[0].clone();
    page.controls = tokens
        .iter()
        .zip(11..)
        .map(|(token, node)| {
            let mut control = first.clone();
            control.node = browser_signals::NodeId(node);
            control.name = (*token).into();
            control.autocomplete = (*token).into();
            control
        })
        .collect();
    page
}

fn login() -> Snapshot {
    form(&["username", "current-password"])
}

fn login_grant(point: &mut DecisionPoint) -> Grant<Fill> {
    fill_grant_on(point, Kind::Login, &[(Field::Username, 11), (Field::Password, 12)], login())
}

fn code_grant(point: &mut DecisionPoint) -> Grant<Fill> {
    fill_grant_on(point, Kind::Otp, &[(Field::OneTimeCode, 11)], form(&["one-time-code"]))
}

fn account(id: &str) -> Account {
    Account { id: id.to_owned(), label: NAME.to_owned() }
}

fn values() -> FetchedValues {
    FetchedValues {
        account: account("1"),
        username: Some(Secret::new(NAME)),
        password: Some(Secret::new(PASSWORD)),
        code: None,
    }
}

fn with_code(code: FetchedCode) -> FetchedValues {
    FetchedValues { code: Some(code), ..values() }
}

fn keep(vault: &mut Vault, wanted: &Wanted, values: FetchedValues) -> Result<bool, KeepError> {
    vault.keep_fetched(wanted, SOURCE, values, AT, &mut entropy(5))
}

fn found(vault: &Vault, text: &str) -> usize {
    vault.scan(text).unwrap().len()
}

#[test]
fn a_grant_wants_what_the_vault_lacks_and_is_filled_from_what_was_fetched() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let grant = login_grant(&mut point);
    let wanted = vault.wanted(&grant).unwrap();
    assert_eq!(wanted.origin().to_string(), "https://shop.example");
    assert_eq!(wanted.fields(), FieldSet::EMPTY.with(Field::Username).with(Field::Password));
    let before = (vault.generation(), found(&vault, PASSWORD));
    assert_eq!(before.1, 0);
    assert_eq!(keep(&mut vault, &wanted, values()), Ok(false));
    assert_eq!((vault.generation(), found(&vault, PASSWORD), found(&vault, NAME)), (before.0, 1, 1));
    assert_eq!(vault.source_of("login:shop-example_1"), Some(SOURCE));
    assert_eq!(vault.fetched_account(SOURCE, wanted.origin()), Some("1"));
    let fill = vault.open_fill(grant, &seen(login(), 2), NOW).unwrap();
    assert_eq!(fill.values.len(), 2);
    // It is asked once in a task, and what it gave ends with the task.
    assert_eq!(vault.wanted(&login_grant(&mut point)), None);
    let file = vault.to_bytes(&mut entropy(6)).unwrap_or_default();
    assert!(!String::from_utf8_lossy(&file).contains(PASSWORD));
    vault.forget_task_values();
    assert_eq!((found(&vault, PASSWORD), vault.source_of("login:shop-example_1")), (0, None));
    assert!(vault.wanted(&login_grant(&mut point)).is_some());
}

#[test]
fn the_users_own_record_comes_first() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let shop = Binding::parse("https://shop.example").unwrap();
    vault.insert("login:own", Field::Password, Secret::new("own"), &shop, &mut entropy(3)).unwrap();
    assert_eq!(vault.wanted(&login_grant(&mut point)), None);
    // One that is bound to another place counts for nothing here.
    vault.remove("login:own").unwrap();
    let other = Binding::parse("https://other.example").unwrap();
    vault.insert("login:own", Field::Password, Secret::new("own"), &other, &mut entropy(3)).unwrap();
    assert!(vault.wanted(&login_grant(&mut point)).is_some());
}

#[test]
fn nothing_is_wanted_for_another_kind_or_for_a_form_that_is_sent_elsewhere() {
    let (mut point, verifier) = guard(1);
    let vault = filled(verifier);
    let address = fill_grant_on(&mut point, Kind::Address, &[(Field::Street, 11)], page());
    assert_eq!(vault.wanted(&address), None);
    let fields = FieldSet::EMPTY.with(Field::Email).with(Field::Password);
    let origin = browser_signals::Origin::parse("https://shop.example").unwrap();
    assert!(vault.not_here(Kind::Contact, fields, &origin).is_empty());
    assert!(!vault.not_here(Kind::Login, fields, &origin).is_empty());
}

#[test]
fn only_wanted_fields_are_kept_and_only_text_of_one_line() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let first = fill_grant_on(&mut point, Kind::Login, &[(Field::Username, 11)], form(&["username"]));
    let wanted = vault.wanted(&first).unwrap();
    keep(&mut vault, &wanted, with_code(FetchedCode::Code(Secret::new("492813")))).unwrap();
    assert_eq!((found(&vault, NAME), found(&vault, PASSWORD), found(&vault, "492813")), (1, 0, 0));
    // The second page of the login takes the rest, from the same account.
    let wanted = vault.wanted(&login_grant(&mut point)).unwrap();
    assert!(wanted.fields().iter().eq([Field::Password]));
    for bad in ["two\nlines", "bell\u{7}", "nul\0"] {
        let values = FetchedValues { password: Some(Secret::new(bad)), ..values() };
        assert_eq!(keep(&mut vault, &wanted, values), Err(KeepError::Damaged), "{bad:?}");
    }
    let long = FetchedValues { password: Some(Secret::new("x".repeat(10 << 20))), ..values() };
    assert_eq!(keep(&mut vault, &wanted, long).unwrap_err().reason(), Reason::ValueDamaged);
    let not_text = FetchedValues { password: Some(Secret::new([0xff, 0xfe])), ..values() };
    assert_eq!(keep(&mut vault, &wanted, not_text), Err(KeepError::Damaged));
    let none = FetchedValues { password: None, ..values() };
    assert_eq!(keep(&mut vault, &wanted, none), Err(KeepError::NoValue));
    assert_eq!(keep(&mut vault, &wanted, values()), Ok(false));
    assert_eq!(found(&vault, PASSWORD), 1);
}

#[test]
fn a_second_account_has_a_handle_of_its_own_and_no_handle_has_a_word_of_the_source() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let wanted = vault.wanted(&login_grant(&mut point)).unwrap();
    keep(&mut vault, &wanted, values()).unwrap();
    let other = FetchedValues {
        account: account("secret title"),
        username: Some(Secret::new("bob")),
        password: Some(Secret::new("granite-lamp")),
        code: None,
    };
    keep(&mut vault, &wanted, other).unwrap();
    let handles: Vec<&str> = vault.entries().filter(|entry| entry.for_task).map(|it| it.handle).collect();
    assert_eq!(
        handles,
        ["login:shop-example_1", "login:shop-example_1", "login:shop-example_2", "login:shop-example_2"]
    );
}

#[test]
fn a_fetched_address_is_for_logins_alone() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let by_address = form(&["email", "current-password"]);
    let grant = fill_grant_on(
        &mut point,
        Kind::Login,
        &[(Field::Email, 11), (Field::Password, 12)],
        by_address.clone(),
    );
    let wanted = vault.wanted(&grant).unwrap();
    keep(&mut vault, &wanted, values()).unwrap();
    assert_eq!(vault.open_fill(grant, &seen(by_address, 2), NOW).unwrap().values.len(), 2);
    let mut vault_with_contact = vault;
    let anywhere = Binding::Anywhere;
    let mail = Secret::new("home@mail.example");
    vault_with_contact.insert("contact:me", Field::Email, mail, &anywhere, &mut entropy(4)).unwrap();
    let email = FieldSet::EMPTY.with(Field::Email);
    let shop = wanted.origin();
    assert_eq!(vault_with_contact.suppliers(Kind::Contact, email, shop)[0].0, "contact:me");
    assert_eq!(vault_with_contact.suppliers(Kind::Login, email, shop)[0].0, "login:shop-example_1");
}

#[test]
fn a_user_name_is_no_address() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let by_address = form(&["email"]);
    let grant = fill_grant_on(&mut point, Kind::Login, &[(Field::Email, 11)], by_address);
    let wanted = vault.wanted(&grant).unwrap();
    let named = FetchedValues { username: Some(Secret::new("ana")), ..values() };
    assert_eq!(keep(&mut vault, &wanted, named), Err(KeepError::NoValue));
}

#[test]
fn a_seed_is_made_a_code_and_wiped_and_a_step_is_used_once() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let wanted = vault.wanted(&code_grant(&mut point)).unwrap();
    let seed = || FetchedCode::Seed(Secret::new(format!("otpauth://totp/x?secret={SEED}")));
    assert_eq!(keep(&mut vault, &wanted, with_code(seed())), Ok(true));
    assert_eq!((found(&vault, CODE), found(&vault, SEED)), (1, 0));
    assert!(vault.state(StateName::CodeSteps).unwrap().is_some(), "the step is noted");
    let grant = code_grant(&mut point);
    assert!(vault.open_fill(grant, &seen(form(&["one-time-code"]), 2), NOW).is_ok());
    // A code is fetched anew each time, and none is given twice.
    let wanted = vault.wanted(&code_grant(&mut point)).unwrap();
    let again = keep(&mut vault, &wanted, with_code(seed()));
    assert_eq!(again, Err(KeepError::Code(CodeError::Wait { seconds: 30 })));
    assert_eq!(again.unwrap_err().reason(), Reason::CodeUsed);
}

#[test]
fn a_code_of_the_source_is_used_once_and_has_the_form_of_one() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let wanted = vault.wanted(&code_grant(&mut point)).unwrap();
    for bad in ["", "12", "12345678901", "49 281", "<code>"] {
        let kept = keep(&mut vault, &wanted, with_code(FetchedCode::Code(Secret::new(bad))));
        assert_eq!(kept, Err(KeepError::Damaged), "{bad:?}");
    }
    assert_eq!(vault.state(StateName::CodeSteps), Ok(None), "no step is used");
    let code = |text: &str| with_code(FetchedCode::Code(Secret::new(text)));
    assert_eq!(keep(&mut vault, &wanted, code("492813")), Ok(true));
    let used = keep(&mut vault, &wanted, code("492813"));
    assert!(matches!(used, Err(KeepError::Code(CodeError::Wait { .. }))), "{used:?}");
    // Another account of the source has steps of its own.
    let other = FetchedValues { account: account("2"), ..code("771204") };
    assert_eq!(keep(&mut vault, &wanted, other), Ok(true));
}

#[test]
fn a_locked_vault_keeps_nothing() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let wanted = vault.wanted(&login_grant(&mut point)).unwrap();
    vault.lock();
    assert_eq!(keep(&mut vault, &wanted, values()).unwrap_err().reason(), Reason::VaultLocked);
    let refused = vault.open_fill(login_grant(&mut point), &seen(login(), 2), NOW);
    assert_eq!(refused.err(), Some(ReleaseError::Locked));
}

#[test]
fn no_error_of_a_source_has_a_word_of_its_own() {
    for error in [
        SourceError::NotRunning,
        SourceError::Locked,
        SourceError::NotConnected,
        SourceError::Refused,
        SourceError::Unsafe,
        SourceError::TooMany,
        SourceError::Alike,
        SourceError::WithoutSite,
        SourceError::Missing,
        SourceError::NotGiven,
        SourceError::NotDecrypted,
        SourceError::Unusable,
        SourceError::GivenUp,
        SourceError::Unproven,
        SourceError::TimedOut,
        SourceError::Answer,
    ] {
        assert_eq!(error.reason().code(), "no_value", "{error}");
        assert_eq!(error.reason(), Reason::SourceUnavailable);
    }
}

#[test]
fn what_was_fetched_for_a_login_is_of_no_use_for_another_kind() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    for handle in ["contact:me", "address:home"] {
        vault.remove(handle).unwrap();
    }
    let wanted = vault.wanted(&login_grant(&mut point)).unwrap();
    keep(&mut vault, &wanted, values()).unwrap();
    let fields = FieldSet::EMPTY.with(Field::Email).with(Field::Username).with(Field::Password);
    assert!(vault.suppliers(Kind::Contact, fields, wanted.origin()).is_empty());
    assert!(vault.suppliers(Kind::Address, fields, wanted.origin()).is_empty());
    assert_eq!(vault.suppliers(Kind::Login, fields, wanted.origin()).len(), 2);
}

#[test]
fn half_an_account_is_never_kept() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let wanted = vault.wanted(&login_grant(&mut point)).unwrap();
    for password in ["", &"x".repeat(4_095)] {
        let values = FetchedValues { password: Some(Secret::new(password)), ..values() };
        assert!(keep(&mut vault, &wanted, values).is_err());
        assert!(!vault.entries().any(|entry| entry.for_task));
        assert_eq!(vault.fetched_account(SOURCE, wanted.origin()), None);
    }
}

#[test]
fn a_login_in_the_users_words_comes_first_too() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let shop = Binding::parse("https://shop.example").unwrap();
    vault.insert_for_task("login:task", Field::Password, Secret::new("own"), &shop, &mut entropy(3)).unwrap();
    assert_eq!(vault.wanted(&login_grant(&mut point)), None);
}

#[test]
fn with_a_user_name_of_the_users_only_that_account_is_kept() {
    let shop = Binding::parse("https://shop.example").unwrap();
    for (own, is_kept) in [("bob", false), (NAME, true)] {
        let (mut point, verifier) = guard(1);
        let mut vault = filled(verifier);
        vault
            .insert_for_task("login:task", Field::Username, Secret::new(own), &shop, &mut entropy(3))
            .unwrap();
        let wanted = vault.wanted(&login_grant(&mut point)).unwrap();
        let kept = keep(&mut vault, &wanted, values());
        assert_eq!(kept, if is_kept { Ok(false) } else { Err(KeepError::NoValue) }, "{own}");
        assert_eq!(found(&vault, PASSWORD), usize::from(is_kept));
    }
}

#[test]
fn an_account_without_a_user_name_or_with_one_of_several_is_kept() {
    let shop = Binding::parse("https://shop.example").unwrap();
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    for (handle, name) in [("login:work", "work"), ("login:home", NAME)] {
        vault.insert(handle, Field::Username, Secret::new(name), &shop, &mut entropy(3)).unwrap();
        vault.insert(handle, Field::Password, Secret::new("own"), &shop, &mut entropy(3)).unwrap();
    }
    // The logins are the vault's own, and the code is the source's.
    let wanted = vault.wanted(&code_grant(&mut point)).unwrap();
    let code = |text: &str| with_code(FetchedCode::Code(Secret::new(text)));
    let of = |name: Option<&str>, text| FetchedValues { username: name.map(Secret::new), ..code(text) };
    assert_eq!(keep(&mut vault, &wanted, of(Some("stranger"), "111111")), Err(KeepError::NoValue));
    assert_eq!(keep(&mut vault, &wanted, of(Some(NAME), "222222")), Ok(true));
    let unnamed = FetchedValues { account: account("2"), ..of(None, "333333") };
    assert_eq!(keep(&mut vault, &wanted, unnamed), Ok(true));
}
