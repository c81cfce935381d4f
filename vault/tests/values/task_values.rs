//! Values for one task are in memory only and can be released.

use crate::common::{NOW, amount, entropy, guard, page, payment_grant, seen};
use sirl::Field;
use vault::{Binding, KdfParams, Secret, TaskSlot, Vault, VaultError};

const STORED: &str = "4929 1234 5678 9012";
const GIVEN: &str = "4111 1111 1111 1111";

fn insert(vault: &mut Vault, handle: &str, field: Field, value: &str) -> Result<(), VaultError> {
    vault.insert_for_task(handle, field, Secret::new(value), &Binding::Anywhere, &mut entropy(4))
}

fn made(verifier: policy_dfa::Verifier) -> Vault {
    let mut entropy = entropy(5);
    let mut vault =
        Vault::create(&Secret::new("open sesame"), &mut entropy, KdfParams::FLOOR, verifier).ok().unwrap();
    for (field, value) in [(Field::CardNumber, STORED), (Field::CardExpiry, "08/29")] {
        vault.insert("card:task", field, Secret::new(value), &Binding::Anywhere, &mut entropy).unwrap();
    }
    vault
}

#[test]
fn they_are_never_written_and_are_no_change() {
    let mut vault = made(guard(1).1);
    let before = vault.to_bytes(&mut entropy(6)).unwrap();
    insert(&mut vault, "card:task", Field::CardNumber, GIVEN).unwrap();
    insert(&mut vault, "card:task", Field::CardCode, "737").unwrap();
    insert(&mut vault, "contact:task", Field::Email, "ana@mail.example").unwrap();
    assert_eq!((vault.to_bytes(&mut entropy(6)).unwrap(), vault.generation()), (before, 2));
    let of_task: Vec<_> = vault.entries().filter(|e| e.for_task).map(|e| (e.handle, e.field)).collect();
    let expected =
        [("card:task", Field::CardNumber), ("card:task", Field::CardCode), ("contact:task", Field::Email)];
    assert_eq!(of_task, expected);
    assert_eq!(vault.remove("contact:task"), Ok(0));
    assert_eq!(vault.entries().count(), 5);
}

#[test]
fn they_are_preferred_to_a_stored_value_and_both_are_searched_for() {
    let (mut point, verifier) = guard(1);
    let mut vault = made(verifier);
    insert(&mut vault, "card:task", Field::CardNumber, GIVEN).unwrap();
    let found = |vault: &Vault, text: &str| {
        vault.scan_released(text, &[("card:task", Field::CardNumber)]).unwrap().len()
    };
    assert_eq!((found(&vault, STORED), found(&vault, GIVEN)), (1, 1));
    let card = vault.open_payment(payment_grant(&mut point), &seen(page(), 2), NOW).ok().unwrap();
    assert_eq!(card.amount(), amount());
    assert!(card.open(|card| card.number() == GIVEN.as_bytes() && card.expiry() == b"08/29"));
    vault.forget_task_values();
    assert_eq!((found(&vault, STORED), found(&vault, GIVEN)), (1, 0));
    let card = vault.open_payment(payment_grant(&mut point), &seen(page(), 3), NOW).ok().unwrap();
    assert!(card.open(|card| card.number() == STORED.as_bytes()));
}

#[test]
fn they_obey_the_rules_of_values_and_are_forgotten_in_a_locked_vault() {
    let mut vault = made(guard(1).1);
    assert_eq!(insert(&mut vault, "card task", Field::Name, "a"), Err(VaultError::BadHandle));
    assert_eq!(insert(&mut vault, "card:task", Field::Name, ""), Err(VaultError::EmptyValue(Field::Name)));
    insert(&mut vault, "contact:task", Field::Name, "Ana Quintela").unwrap();
    vault.lock();
    assert_eq!(insert(&mut vault, "contact:task", Field::Name, "a"), Err(VaultError::Locked));
    vault.forget_task_values();
    vault.reopen(&Secret::new("open sesame")).unwrap();
    assert!(vault.scan("Ana Quintela").unwrap().is_empty());
}

#[test]
fn tasks_in_other_slots_have_values_of_their_own_also_after_a_new_data_key() {
    let mut vault = made(guard(1).1);
    let found = |vault: &Vault, text: &str| vault.scan(text).unwrap().len();
    insert(&mut vault, "address:task", Field::Street, "12 Quarry Lane").unwrap();
    vault.prefer(Some("work".to_owned()));
    vault.turn_to(TaskSlot(1));
    assert_eq!((vault.entries().filter(|e| e.for_task).count(), found(&vault, "12 Quarry Lane")), (0, 0));
    insert(&mut vault, "address:task", Field::Street, "9 Harbour Road").unwrap();
    vault.rotate(&Secret::new("open sesame"), &mut entropy(7)).unwrap();
    assert_eq!((found(&vault, "12 Quarry Lane"), found(&vault, "9 Harbour Road")), (0, 1));
    vault.turn_to(TaskSlot::default());
    assert_eq!((found(&vault, "12 Quarry Lane"), found(&vault, "9 Harbour Road")), (1, 0));
    vault.forget_task_values();
    vault.turn_to(TaskSlot(1));
    assert_eq!((found(&vault, "12 Quarry Lane"), found(&vault, "9 Harbour Road")), (0, 1));
    assert_eq!(found(&vault, STORED), 1, "what is stored belongs to every slot");
}
