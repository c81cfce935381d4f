//! The choice of the record that supplies a field.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::common::{NOW, entropy, fill_grant, guard, page, payment_grant, seen, shop};
use browser_signals::Origin;
use proptest::prelude::*;
use proptest::sample::select;
use sirl::{Field, FieldSet, Kind, Tier};
use vault::{Binding, ReleaseError, Secret, Vault, VaultError};

fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

fn binding(text: &str) -> Binding {
    Binding::parse(text).unwrap()
}

fn vault_of(values: &[(&str, Field, &str)]) -> Vault {
    let mut vault = Vault::ephemeral(&mut entropy(1), guard(1).1);
    for (handle, field, bound) in values {
        put(&mut vault, handle, *field, bound).unwrap();
    }
    vault
}

fn put(vault: &mut Vault, handle: &str, field: Field, bound: &str) -> Result<(), VaultError> {
    vault.insert(handle, field, Secret::new("value"), &binding(bound), &mut entropy(2))
}

fn set(fields: &[Field]) -> FieldSet {
    fields.iter().copied().collect()
}

/// The handle that supplies each of the fields, in the set's order.
fn suppliers(vault: &Vault, kind: Kind, fields: &[Field], at: &str) -> Vec<(Field, String)> {
    vault
        .suppliers(kind, set(fields), &origin(at))
        .into_iter()
        .map(|(handle, field)| (field, handle))
        .collect()
}

fn all_from(handle: &str, fields: &[Field]) -> Vec<(Field, String)> {
    set(fields).iter().map(|field| (field, handle.to_owned())).collect()
}

const SHOP: &str = "https://shop.example";

#[test]
fn each_page_of_a_login_gets_its_part_of_the_same_account() {
    let vault = vault_of(&[
        ("contact:me", Field::Email, "anywhere"),
        ("login:old", Field::Email, SHOP),
        ("login:old", Field::Username, SHOP),
        ("login:shop", Field::Username, SHOP),
        ("login:shop", Field::Password, SHOP),
        ("login:other", Field::Email, SHOP),
        ("login:other", Field::Password, SHOP),
    ]);
    for fields in [&[Field::Username][..], &[Field::Password], &[Field::Username, Field::Password]] {
        assert_eq!(
            suppliers(&vault, Kind::Login, fields, SHOP),
            all_from("login:shop", fields),
            "{fields:?}"
        );
    }
    // The account is named by its user name, and not by the address of another one.
    assert_eq!(suppliers(&vault, Kind::Login, &[Field::Email], SHOP), []);
    let named = vault_of(&[("login:old", Field::Username, SHOP), ("contact:me", Field::Email, "anywhere")]);
    assert_eq!(
        suppliers(&named, Kind::Login, &[Field::Username], SHOP),
        all_from("login:old", &[Field::Username])
    );
}

#[test]
fn one_record_is_primary() {
    let vault = vault_of(&[
        ("address:parcel", Field::City, "anywhere"),
        ("address:home", Field::City, "anywhere"),
        ("address:home", Field::Street, "anywhere"),
        ("address:home", Field::Name, "anywhere"),
        ("contact:me", Field::Name, "anywhere"),
        ("address:old", Field::PostalCode, "anywhere"),
    ]);
    let fields = [Field::City, Field::Street, Field::Name];
    assert_eq!(suppliers(&vault, Kind::Address, &fields, SHOP), all_from("address:home", &fields));
    assert_eq!(
        suppliers(&vault, Kind::Address, &[Field::City], SHOP),
        all_from("address:parcel", &[Field::City])
    );
    // No field of an address comes from another address.
    let fields = [Field::City, Field::Street, Field::PostalCode];
    let found = suppliers(&vault, Kind::Address, &fields, SHOP);
    assert_eq!(found, all_from("address:home", &[Field::City, Field::Street]));
    // A name comes from another record if the primary one has none, preferably from one of the same kind.
    let fields = [Field::PostalCode, Field::Name];
    let found = suppliers(&vault, Kind::Address, &fields, SHOP);
    assert_eq!(found[0], (Field::Name, "address:home".to_owned()));
    assert_eq!(found[1], (Field::PostalCode, "address:old".to_owned()));
}

#[test]
fn a_login_is_found_at_its_origin_only() {
    let vault = vault_of(&[
        ("contact:me", Field::Email, "anywhere"),
        ("login:shop", Field::Email, SHOP),
        ("login:shop", Field::Password, SHOP),
        ("login:bank", Field::Password, "https://bank.example"),
    ]);
    let fields = [Field::Email, Field::Password];
    let at = |at| suppliers(&vault, Kind::Login, &fields, at);
    assert_eq!(at(SHOP), all_from("login:shop", &fields));
    let contact = (Field::Email, "contact:me".to_owned());
    assert_eq!(at("https://bank.example"), [contact.clone(), (Field::Password, "login:bank".to_owned())]);
    for elsewhere in [
        "https://www.shop.example",
        "http://shop.example",
        "https://shop.example:8443",
        "https://shop.example.evil.test",
    ] {
        assert_eq!(at(elsewhere), std::slice::from_ref(&contact), "{elsewhere}");
    }
}

#[test]
fn a_record_bound_to_a_place_is_primary_there() {
    let vault = vault_of(&[
        ("address:home", Field::City, "anywhere"),
        ("address:work", Field::City, "site shop.example"),
        ("address:till", Field::City, SHOP),
    ]);
    let at = |at| suppliers(&vault, Kind::Address, &[Field::City], at)[0].1.clone();
    assert_eq!(at(SHOP), "address:till");
    assert_eq!(at("https://www.shop.example"), "address:work");
    assert_eq!(at("https://other.example"), "address:home");
}

#[test]
fn a_record_of_the_preferred_persona_is_primary_if_complete() {
    let mut vault = vault_of(&[
        ("address:ana", Field::Street, "anywhere"),
        ("contact:ana", Field::Name, "anywhere"),
        ("contact:bea", Field::Name, "anywhere"),
        ("address:bea", Field::Street, "anywhere"),
        ("card:ana", Field::CardNumber, "anywhere"),
        ("card:ana", Field::CardExpiry, "anywhere"),
        ("card:bea", Field::CardNumber, "anywhere"),
    ]);
    assert_eq!(vault.personas(), ["ana", "bea"]);
    let address = [Field::Street, Field::Name];
    let card = [Field::CardNumber, Field::CardExpiry];
    let of = |vault: &Vault, kind, fields: &[Field]| {
        suppliers(vault, kind, fields, SHOP).into_iter().map(|(_, handle)| handle).collect::<Vec<_>>()
    };
    assert_eq!(of(&vault, Kind::Address, &address), ["contact:ana", "address:ana"]);
    vault.prefer(Some("bea".to_owned()));
    assert_eq!(of(&vault, Kind::Address, &address), ["contact:bea", "address:bea"]);
    // Bea's card has no expiry, so it cannot be primary, and none of her values are mixed in.
    assert_eq!(of(&vault, Kind::Payment, &card), ["card:ana", "card:ana"]);
    assert_eq!(
        of(&vault, Kind::Payment, &[Field::CardNumber, Field::CardExpiry, Field::Name])[0],
        "contact:ana"
    );
    vault.prefer(Some("carla".to_owned()));
    assert_eq!(of(&vault, Kind::Address, &address), ["contact:ana", "address:ana"]);
    vault.prefer(None);
    assert_eq!(of(&vault, Kind::Address, &address), ["contact:ana", "address:ana"]);
}

#[test]
fn a_record_given_for_this_task_is_primary_even_if_incomplete() {
    let mut vault = vault_of(&[
        ("address:home", Field::Street, "anywhere"),
        ("address:home", Field::PostalCode, "anywhere"),
    ]);
    let fields = [Field::Street, Field::PostalCode];
    let value = Secret::new("17 Quarry Road");
    vault.insert_for_task("address:task", Field::Street, value, &Binding::Anywhere, &mut entropy(3)).unwrap();
    // Shipping to the stored address would be worse than asking for the missing fields.
    let found = suppliers(&vault, Kind::Address, &fields, SHOP);
    assert_eq!(found, [(Field::Street, "address:task".to_owned())]);
    vault.forget_task_values();
    assert_eq!(suppliers(&vault, Kind::Address, &fields, SHOP), all_from("address:home", &fields));
}

/// A fill checks the page's origin and the destination's.
#[test]
fn a_fill_needs_a_value_bound_to_page_and_destination() {
    let open = |bound: &str| {
        let (mut point, verifier) = guard(1);
        let mut vault = Vault::ephemeral(&mut entropy(1), verifier);
        put(&mut vault, "address:home", Field::City, bound).unwrap();
        vault
            .open_fill(fill_grant(&mut point, Kind::Address, &[(Field::City, 12)]), &seen(page(), 2), NOW)
            .err()
    };
    let none = Some(ReleaseError::NoValue(Field::City));
    assert_eq!(open("anywhere"), None);
    assert_eq!(open(SHOP), None);
    assert_eq!(open("site shop.example"), None);
    assert_eq!(open("https://other.example"), none);
    assert_eq!(open("site other.example"), none);
    assert_eq!(open("http://shop.example"), none);
    let vault = vault_of(&[("address:home", Field::City, SHOP)]);
    let elsewhere = origin("https://collect.example");
    let city = set(&[Field::City]);
    assert_eq!(vault.suppliers_to(Kind::Address, city, &shop(), &shop()).len(), 1);
    assert!(vault.suppliers_to(Kind::Address, city, &shop(), &elsewhere).is_empty());
    assert!(vault.suppliers_to(Kind::Address, city, &elsewhere, &shop()).is_empty());
}

#[test]
fn a_card_bound_to_another_payee_is_not_paid_with() {
    let open = |bound: &str, code_bound: Option<&str>| {
        let (mut point, verifier) = guard(1);
        let mut vault = Vault::ephemeral(&mut entropy(1), verifier);
        put(&mut vault, "card:personal", Field::CardNumber, bound).unwrap();
        put(&mut vault, "card:personal", Field::CardExpiry, bound).unwrap();
        if let Some(bound) = code_bound {
            let code = Secret::new("737");
            let bound = binding(bound);
            vault.insert_for_task("card:personal", Field::CardCode, code, &bound, &mut entropy(3)).unwrap();
        }
        let opened = vault.open_payment(payment_grant(&mut point), &seen(page(), 2), NOW);
        opened.map(|card| card.open(|card| card.code().map(<[u8]>::to_vec)))
    };
    let none = Err(ReleaseError::NoValue(Field::CardNumber));
    assert_eq!(open("anywhere", None), Ok(None));
    assert_eq!(open(SHOP, None), Ok(None));
    assert_eq!(open("https://other.example", None), none);
    assert_eq!(open("anywhere", Some(SHOP)), Ok(Some(b"737".to_vec())));
    assert_eq!(open("anywhere", Some("https://other.example")), Ok(None));
}

#[test]
fn bindings_that_a_field_cannot_have_are_refused() {
    let mut vault = vault_of(&[]);
    // A new password is stored as a password.
    for field in Field::ALL.into_iter().filter(|field| *field != Field::NewPassword) {
        let stored = !matches!(field, Field::CardCode | Field::OneTimeCode);
        let site = put(&mut vault, "identity:me", field, "site shop.example");
        match (stored, field.tier()) {
            (false, Tier::T2) => assert_eq!(site, Err(VaultError::NeverToASite(field))),
            (false, _) => assert_eq!(site, Err(VaultError::NeverStored(field))),
            (true, Tier::T2) => assert_eq!(site, Err(VaultError::NeverToASite(field))),
            _ => assert_eq!(site, Ok(())),
        }
        for handle in ["login:me", "otp:me"] {
            let anywhere = put(&mut vault, handle, field, "anywhere");
            assert!(anywhere.is_err(), "{handle} {field:?}");
            assert!(!stored || anywhere == Err(VaultError::NeedsBinding(field)));
            assert_eq!(put(&mut vault, handle, field, SHOP).is_ok(), stored);
        }
        let task = |vault: &mut Vault, handle, bound| {
            vault.insert_for_task(handle, field, Secret::new("1"), &binding(bound), &mut entropy(3))
        };
        assert_eq!(task(&mut vault, "login:me", SHOP), Ok(()));
        assert_eq!(task(&mut vault, "login:me", "anywhere"), Err(VaultError::NeedsBinding(field)));
        let unplaced = matches!(field, Field::Password | Field::OneTimeCode);
        assert_eq!(task(&mut vault, "contact:me", "anywhere").is_err(), unplaced);
    }
    let long = format!("https://{}.example", "a".repeat(400));
    assert_eq!(put(&mut vault, "contact:me", Field::Name, &long), Err(VaultError::BindingTooLong));
    let usual = |handle, field| Binding::usual(handle, field, &shop());
    assert_eq!(usual("login:a", Field::Email), binding(SHOP));
    assert_eq!(usual("contact:a", Field::Password), binding(SHOP));
    assert_eq!(usual("contact:a", Field::Email), Binding::Anywhere);
}

#[test]
fn bindings_are_parsed_as_they_are_printed() {
    for text in ["anywhere", "https://shop.example", "http://shop.example:8080", "site shop.example"] {
        assert_eq!(binding(text).to_string(), text);
    }
    assert_eq!(binding(" https://Shop.example/cart?x "), binding(SHOP));
    for text in
        ["", "Anywhere", "shop.example", "site", "site https://shop.example", "site 127.0.0.1", "ftp://a.b"]
    {
        assert!(Binding::parse(text).is_err(), "{text}");
    }
}

const HANDLES: [&str; 7] =
    ["address:a", "address:b", "contact:a", "contact:b", "card:a", "card:b", "identity:a"];
const PLACES: [&str; 3] = [SHOP, "https://www.shop.example", "https://other.example"];
const KINDS: [Kind; 4] = [Kind::Address, Kind::Contact, Kind::Payment, Kind::Identity];

fn a_value() -> impl Strategy<Value = (&'static str, Field, &'static str)> {
    let field = select(
        [
            Field::Name,
            Field::Email,
            Field::Phone,
            Field::Street,
            Field::City,
            Field::PostalCode,
            Field::CardNumber,
            Field::CardExpiry,
        ]
        .as_slice(),
    );
    (select(&HANDLES[..]), field, select(["anywhere", "anywhere", PLACES[0], PLACES[1]].as_slice()))
}

fn some_fields() -> impl Strategy<Value = Vec<Field>> {
    proptest::collection::vec(select(&Field::ALL[..]), 1..5)
}

/// One vault for every case of a property: making a verifier is slow.
fn emptied() -> MutexGuard<'static, Vault> {
    static VAULT: LazyLock<Mutex<Vault>> = LazyLock::new(|| Mutex::new(vault_of(&[])));
    let mut vault = VAULT.lock().unwrap_or_else(PoisonError::into_inner);
    let handles: Vec<_> = vault.entries().map(|entry| entry.handle.to_owned()).collect();
    for handle in handles {
        vault.remove(&handle).unwrap();
    }
    vault.prefer(None);
    vault
}

fn filled_with(values: &[(&str, Field, &str)]) -> MutexGuard<'static, Vault> {
    let mut vault = emptied();
    for (handle, field, bound) in values {
        put(&mut vault, handle, *field, bound).unwrap();
    }
    vault
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// A record that is bound to one origin changes nothing at another.
    #[test]
    fn a_record_for_one_place_changes_nothing_elsewhere(
        values in proptest::collection::vec(a_value(), 0..10),
        added in a_value(),
        kind in select(&KINDS[..]),
        fields in some_fields(),
    ) {
        let mut vault = filled_with(&values);
        let before = PLACES.map(|place| suppliers(&vault, kind, &fields, place));
        let (_, field, _) = added;
        put(&mut vault, "address:new", field, "https://third.example").unwrap();
        prop_assert_eq!(PLACES.map(|place| suppliers(&vault, kind, &fields, place)), before);
    }

    /// A record without a binding changes nothing if one of the request's kind had all requested fields.
    #[test]
    fn a_later_record_does_not_displace_a_complete_one(
        values in proptest::collection::vec(a_value(), 0..12),
        added in proptest::collection::vec(a_value(), 1..8),
        fields in proptest::collection::vec(select(&Field::ALL[..8]), 1..5),
        place in select(&PLACES[..]),
    ) {
        let mut vault = filled_with(&values);
        for field in &fields {
            put(&mut vault, "address:whole", *field, "anywhere").unwrap();
        }
        let before = suppliers(&vault, Kind::Address, &fields, place);
        for (_, field, _) in added {
            put(&mut vault, "address:new", field, "anywhere").unwrap();
        }
        prop_assert_eq!(suppliers(&vault, Kind::Address, &fields, place), before);
    }

    /// Every supplied value may go to the place, and one record supplies all fields that records do not share.
    #[test]
    fn supplied_values_are_admitted_and_belong_together(
        values in proptest::collection::vec(a_value(), 0..12),
        kind in select(&KINDS[..]),
        fields in some_fields(),
        place in select(&PLACES[..]),
        persona in select([None, Some("a"), Some("b")].as_slice()),
    ) {
        let mut vault = filled_with(&values);
        vault.prefer(persona.map(str::to_owned));
        let found = suppliers(&vault, kind, &fields, place);
        let mut leads: Vec<_> = Vec::new();
        for (field, handle) in &found {
            let entry = vault.entries().find(|e| e.handle == handle && e.field == *field).unwrap();
            prop_assert!(entry.binding.admits(&origin(place)));
            if !matches!(field, Field::Name | Field::Email | Field::Phone) {
                leads.push(handle);
            }
        }
        leads.dedup();
        prop_assert!(leads.len() <= 1);
        // A shared field is supplied if any admitted value of it exists.
        for field in [Field::Name, Field::Email, Field::Phone].into_iter().filter(|f| fields.contains(f)) {
            let there = vault.entries().any(|e| e.field == field && e.binding.admits(&origin(place)));
            prop_assert_eq!(found.iter().any(|(f, _)| *f == field), there);
        }
    }
}

/// The e-mail address of an account names it in a form without a control for the address, and nowhere else.
#[test]
fn an_account_is_named_by_its_user_name_or_its_address() {
    let named = |more: &[(&str, Field, &str)], fields: &[Field]| {
        let login = [("login:shop", Field::Email, SHOP), ("login:shop", Field::Password, SHOP)];
        let vault = vault_of(&[&login[..], more].concat());
        suppliers(&vault, Kind::Login, fields, SHOP)
    };
    let both = [Field::Username, Field::Password];
    let own = |field| (field, "login:shop".to_owned());
    assert_eq!(named(&[], &both), [own(Field::Password), own(Field::Email)]);
    let with_name = [("login:shop", Field::Username, SHOP)];
    assert_eq!(named(&with_name, &both), [own(Field::Password), own(Field::Username)]);
    let contact = vault_of(&[("contact:me", Field::Email, "anywhere")]);
    assert_eq!(suppliers(&contact, Kind::Contact, &[Field::Username], SHOP), [], "a nickname is no address");
    let by_name = vault_of(&[
        ("login:shop", Field::Username, SHOP),
        ("login:shop", Field::Password, SHOP),
        ("contact:me", Field::Email, "anywhere"),
    ]);
    let all = [Field::Username, Field::Email, Field::Password];
    assert_eq!(suppliers(&by_name, Kind::Login, &all, SHOP), [own(Field::Password), own(Field::Username)]);
    let registration = [Field::Username, Field::Email, Field::Password];
    assert_eq!(named(&[], &registration), [own(Field::Email), own(Field::Password)], "no box gets it twice");
}

/// A shop's mail goes where its customer wants it, and never to the address of an account for want of another.
#[test]
fn the_address_of_an_account_never_stands_in_for_that_of_a_person() {
    let values = [
        ("login:shop", Field::Email, SHOP),
        ("login:shop", Field::Password, SHOP),
        ("contact:me", Field::Email, "anywhere"),
    ];
    let vault = vault_of(&values);
    for kind in [Kind::Contact, Kind::Address] {
        assert_eq!(suppliers(&vault, kind, &[Field::Email], SHOP), all_from("contact:me", &[Field::Email]));
    }
    assert_eq!(
        suppliers(&vault, Kind::Login, &[Field::Email], SHOP),
        all_from("login:shop", &[Field::Email])
    );
    let only = vault_of(&values[..2]);
    for kind in [Kind::Contact, Kind::Address, Kind::Identity] {
        assert_eq!(suppliers(&only, kind, &[Field::Email], SHOP), [], "{kind:?}");
    }
}

#[test]
fn the_user_chooses_among_records_that_fit_alike_and_nowhere_else() {
    let mut vault = vault_of(&[
        ("address:home", Field::City, "anywhere"),
        ("address:work", Field::City, "anywhere"),
        ("address:part", Field::Street, "anywhere"),
        ("login:one", Field::Password, SHOP),
        ("login:one", Field::Username, SHOP),
        ("login:two", Field::Password, SHOP),
        ("login:two", Field::Username, SHOP),
    ]);
    let (shop, other) = (Origin::parse(SHOP).unwrap(), Origin::parse("https://other.example").unwrap());
    let city = FieldSet::EMPTY.with(Field::City);
    let login = FieldSet::EMPTY.with(Field::Username).with(Field::Password);
    let rivals = |vault: &Vault, kind, fields, at: &Origin| vault.rivals_among(kind, fields, &[at]);
    assert_eq!(rivals(&vault, Kind::Address, city, &shop), ["address:home", "address:work"]);
    assert_eq!(rivals(&vault, Kind::Login, login, &shop), ["login:one", "login:two"]);
    // One record alone has a street, and no login is for another origin.
    assert_eq!(rivals(&vault, Kind::Address, FieldSet::EMPTY.with(Field::Street), &shop), [""; 0]);
    assert_eq!(rivals(&vault, Kind::Login, login, &other), [""; 0]);

    let supplied =
        |vault: &Vault, kind, fields: &[Field], at| suppliers(vault, kind, fields, at)[0].1.clone();
    vault.choose_record(Kind::Address, &shop, "address:work");
    vault.choose_record(Kind::Login, &shop, "login:two");
    assert_eq!(supplied(&vault, Kind::Address, &[Field::City], SHOP), "address:work");
    assert_eq!(supplied(&vault, Kind::Address, &[Field::City], "https://other.example"), "address:home");
    for field in [Field::Username, Field::Password] {
        assert_eq!(supplied(&vault, Kind::Login, &[field], SHOP), "login:two", "each page of a login");
    }
    // A choice makes no record fit that does not.
    vault.choose_record(Kind::Address, &shop, "address:part");
    assert_eq!(supplied(&vault, Kind::Address, &[Field::City], SHOP), "address:work", "the earlier choice");
    vault.prefer(Some("home".to_owned()));
    assert_eq!(supplied(&vault, Kind::Address, &[Field::City], SHOP), "address:home", "the words name it");
    vault.prefer(None);
    vault.forget_task_values();
    assert_eq!(supplied(&vault, Kind::Address, &[Field::City], SHOP), "address:home", "a new task");
}
