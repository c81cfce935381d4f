//! A made password is in a record of its own before it can be released, and a page gets it by the rules that it was made by.

use crate::common::{NOW, entropy, fill_grant_on, filled, guard, page, seen, shop};
use browser_signals::{NodeId, Snapshot};
use policy_dfa::{DecisionPoint, Fill, Grant, Reason, RedeemError};
use sirl::{Field, Kind};
use vault::{Binding, MakeError, NewPasswordRules, ReleaseError, Secret, Vault, VaultError};

const FIELDS: [(Field, i64); 3] = [(Field::Email, 11), (Field::NewPassword, 12), (Field::NewPassword, 13)];

/// A registration with an e-mail address, a new password and its confirmation.
fn registration() -> Snapshot {
    let mut page = page();
    for (control, token) in page.controls.iter_mut().zip(["email", "new-password", "new-password"]) {
        control.autocomplete = token.into();
        control.input_type = if token == "email" { "email" } else { "password" }.into();
    }
    page
}

fn with_rules(rules: &str) -> Snapshot {
    let mut page = registration();
    page.controls[1].words.password_rules = rules.into();
    page
}

fn rules_of(page: &Snapshot) -> NewPasswordRules {
    NewPasswordRules::of(page.controls.iter().skip(1))
}

fn grant(point: &mut DecisionPoint) -> Grant<Fill> {
    fill_grant_on(point, Kind::Login, &FIELDS, registration())
}

fn entries(vault: &Vault) -> Vec<(String, Field, String)> {
    let described = vault.entries().map(|it| (it.handle.to_owned(), it.field, it.binding.to_string()));
    described.filter(|(handle, ..)| handle.starts_with("login:")).collect()
}

#[test]
fn a_password_is_kept_with_its_address_before_it_is_released() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let (page, made) = (registration(), grant(&mut point));
    assert_eq!(vault.make_password(&made, &rules_of(&page), &mut entropy(5)), Ok(true));
    let place = "https://shop.example".to_owned();
    let handle = "login:shop-example".to_owned();
    let expected =
        [(handle.clone(), Field::Password, place.clone()), (handle.clone(), Field::Email, place.clone())];
    assert_eq!(entries(&vault), expected);
    assert_eq!(vault.made_for(&shop()).map(|(handle, _)| handle.to_owned()), Some(handle.clone()));
    let fill = vault.open_fill(made, &seen(page, 2), NOW).unwrap();
    let nodes: Vec<NodeId> = fill.values.iter().map(|(node, _)| *node).collect();
    assert_eq!(nodes, [NodeId(11), NodeId(12), NodeId(13)]);
    assert_eq!(fill.made, [NodeId(12), NodeId(13)]);
    // A login of this task and of a later one uses the record.
    let login = [Field::Email, Field::Password].into_iter().collect();
    let all = [(handle.clone(), Field::Email), (handle, Field::Password)];
    assert_eq!(vault.suppliers(Kind::Login, login, &shop()), all);
    vault.forget_task_values();
    assert_eq!(vault.suppliers(Kind::Login, login, &shop()), all);
    assert_eq!(vault.made_for(&shop()), None);
}

#[test]
fn the_same_task_makes_one_password_for_one_place_and_no_record_is_replaced() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let place = Binding::Origin(shop());
    let own = Secret::new("an older secret");
    vault.insert("login:shop-example", Field::Password, own, &place, &mut entropy(3)).unwrap();
    let rules = rules_of(&registration());
    for round in 0..100 {
        let made = vault.make_password(&grant(&mut point), &rules, &mut entropy(round));
        assert_eq!(made, Ok(round == 0));
    }
    let handles: Vec<String> = entries(&vault).into_iter().map(|(handle, ..)| handle).collect();
    assert_eq!(handles, ["login:shop-example", "login:shop-example-2", "login:shop-example-2"]);
    // The account of this task is the one that it logs in to.
    let password = [Field::Password].into_iter().collect();
    let supplied = |vault: &Vault| vault.suppliers(Kind::Login, password, &shop()).remove(0).0;
    assert_eq!(supplied(&vault), "login:shop-example-2");
    vault.forget_task_values();
    assert_eq!(
        supplied(&vault),
        "login:shop-example",
        "later it is the older one, unless a prompt names another"
    );
    assert_eq!(vault.make_password(&grant(&mut point), &rules, &mut entropy(7)), Ok(true));
    assert_eq!(vault.new_login(&shop()).as_deref(), Some("login:shop-example-4"));
}

#[test]
fn a_password_that_is_not_kept_is_not_released() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let fresh = || seen(registration(), 2);
    let missing = Err(ReleaseError::NoValue(Field::NewPassword));
    assert_eq!(vault.open_fill(grant(&mut point), &fresh(), NOW).map(drop), missing);
    let made = grant(&mut point);
    vault.make_password(&made, &rules_of(&registration()), &mut entropy(5)).unwrap();
    vault.forget_made(&shop());
    assert_eq!(vault.open_fill(made, &fresh(), NOW).map(drop), missing);
    assert!(entries(&vault).is_empty());
    vault.lock();
    let locked = vault.make_password(&grant(&mut point), &NewPasswordRules::default(), &mut entropy(5));
    assert_eq!(locked.unwrap_err().reason(), Reason::VaultLocked);
}

#[test]
fn a_page_with_other_rules_gets_nothing() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let made = grant(&mut point);
    vault.make_password(&made, &rules_of(&registration()), &mut entropy(5)).unwrap();
    let weaker = with_rules("maxlength: 4; allowed: digit");
    assert_eq!(
        vault.open_fill(made, &seen(weaker.clone(), 2), NOW).map(drop),
        Err(ReleaseError::Redeem(RedeemError::Stale))
    );
    // Whether the kept password meets the other rules is told to nobody.
    for rules in ["maxlength: 4; allowed: digit", "minlength: 1", "allowed: ascii-printable"] {
        let made = vault.make_password(&grant(&mut point), &rules_of(&with_rules(rules)), &mut entropy(5));
        assert_eq!(made, Err(MakeError::Rules), "{rules}");
    }
}

#[test]
fn rules_that_no_password_meets_keep_nothing() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    for rules in
        ["minlength: 9; maxlength: 8", "minlength: 65", "required: lower; required: upper; maxlength: 1"]
    {
        let made = vault.make_password(&grant(&mut point), &rules_of(&with_rules(rules)), &mut entropy(5));
        assert_eq!(made.unwrap_err().reason(), Reason::PasswordRules, "{rules}");
    }
    assert!(entries(&vault).is_empty());
}

#[test]
fn nobody_stores_a_new_password_by_hand() {
    let (_, verifier) = guard(1);
    let mut vault = filled(verifier);
    let place = Binding::Origin(shop());
    let value = || Secret::new("chosen");
    let stored = vault.insert("login:shop", Field::NewPassword, value(), &place, &mut entropy(1));
    assert_eq!(stored, Err(VaultError::MadeByTheGuard));
    let for_task = vault.insert_for_task("login:shop", Field::NewPassword, value(), &place, &mut entropy(1));
    assert_eq!(for_task, Err(VaultError::MadeByTheGuard));
}
