//! The releases to an order by a shop's own protocol.
#![allow(clippy::panic, reason = "a test may fail")]

use browser_signals::{Container, Destination, DocumentId, Fact, Observed, Origin, Snapshot};
use policy_dfa::{
    Consent, DecisionPoint, EXAMPLE_POLICY, Event, Grant, Granted, History, Millis, Policy, Question,
    RedeemError, Task, Ucp, Verdict, Verifier, authority,
};
use sirl::{Claim, Currency, Field, FieldSet, Items, Kind, Money, Pointers, Request};
use vault::{Binding, ReleaseError, Secret, Vault};

use crate::common::{NOW, amount, entropy, page, seen, shop};

/// The vaults' usual policy does not order, so this one is the shipped policy.
fn guard(seed: u8) -> (DecisionPoint, Verifier) {
    let text = include_str!("../../../policies/default.policy");
    assert!(!EXAMPLE_POLICY.contains("ucp") && text.contains("deliver ucp or payment_api"));
    authority(Policy::parse(text).unwrap().compile().unwrap().check().unwrap(), [seed; 16])
}

fn endpoint() -> Destination {
    Destination { origin: shop(), path: "/ucp/v1".into(), method: "POST".into() }
}

/// A grant for an order, decided on observation number 1.
fn grant(point: &mut DecisionPoint, kind: Kind, fields: &[Field]) -> Grant<Ucp> {
    let fields: FieldSet = fields.iter().copied().collect();
    let (at, items, claim) = (Pointers::default(), Items::default(), Claim::default());
    let request = Request { kind, fields, at, items, claim };
    let budget = Money::parse("500.00", Currency::new("USD").unwrap());
    let task =
        Task::new(vec![shop()], vec![Kind::Address, Kind::Contact, Kind::Purchase], budget, Container::T2);
    let amount = (kind == Kind::Purchase).then(amount);
    let question = Question {
        event: Event::Checkout { request: &request, endpoint: &endpoint(), amount },
        page: Some(&seen(page(), 1)),
        task: &task,
        consent: Consent::Given,
        history: History::default(),
        safety: Fact::Unknown,
        now: NOW,
    };
    match point.decide(&question) {
        Verdict::Grant(Granted::Ucp(grant)) => grant,
        other => panic!("no order was granted: {other:?}"),
    }
}

const ADDRESS: [Field; 5] = [Field::Name, Field::Street, Field::City, Field::PostalCode, Field::Country];

fn filled(verifier: Verifier, country: &str) -> Vault {
    let mut entropy = entropy(1);
    let mut vault = Vault::ephemeral(&mut entropy, verifier);
    for (handle, field, value) in [
        ("contact:me", Field::Email, "maria.quintela@mail.example"),
        ("address:home", Field::Name, "Quintela Lopes, Maria"),
        ("address:home", Field::Street, "Rua das Flores 77\nTerceiro andar"),
        ("address:home", Field::City, "Coimbra"),
        ("address:home", Field::PostalCode, "3000-214"),
        ("address:home", Field::Country, country),
    ] {
        vault.insert(handle, field, Secret::new(value), &Binding::Anywhere, &mut entropy).unwrap();
    }
    vault
}

#[test]
fn an_address_is_told_in_the_parts_of_the_protocol() {
    let (mut point, verifier) = guard(1);
    let vault = filled(verifier, "Portugal");
    let fields = vault.order_fields(Kind::Address, &shop());
    assert_eq!(fields, ADDRESS.into_iter().collect());
    let told = vault
        .open_order_data(grant(&mut point, Kind::Address, &ADDRESS), &seen(page(), 2), NOW)
        .ok()
        .unwrap();
    assert_eq!((told.kind(), told.to()), (Kind::Address, &endpoint()));
    told.open(|told| {
        assert_eq!((told.given_name, told.family_name), ("Maria", "Quintela Lopes"));
        assert_eq!((told.street, told.street_rest), ("Rua das Flores 77", "Terceiro andar"));
        assert_eq!(
            (told.city, told.postal_code, told.country, told.region),
            ("Coimbra", "3000-214", "PT", "")
        );
        assert_eq!((told.email, told.phone), ("", ""), "nothing that was not granted");
    });
    let told =
        vault.open_order_data(grant(&mut point, Kind::Contact, &[Field::Email]), &seen(page(), 2), NOW);
    told.ok()
        .unwrap()
        .open(|told| assert_eq!((told.email, told.street), ("maria.quintela@mail.example", "")));
}

#[test]
fn what_cannot_be_told_is_an_error() {
    let told = |country: &str, kind: Kind, fields: &[Field]| {
        let (mut point, verifier) = guard(1);
        let vault = filled(verifier, country);
        vault.open_order_data(grant(&mut point, kind, fields), &seen(page(), 2), NOW).err()
    };
    assert_eq!(told("Portugal", Kind::Address, &ADDRESS), None);
    assert_eq!(told("Atlantis", Kind::Address, &ADDRESS), Some(ReleaseError::Underivable(Field::Country)));
    assert_eq!(told("  ", Kind::Address, &ADDRESS), Some(ReleaseError::NoValue(Field::Country)));
    assert_eq!(told("Portugal", Kind::Address, &[Field::City]), Some(ReleaseError::NotGranted(Field::Name)));
    assert_eq!(told("Portugal", Kind::Contact, &[Field::Phone]), Some(ReleaseError::NoValue(Field::Phone)));
    // A grant for a purchase opens no address, and one for an address no keys.
    assert_eq!(told("Portugal", Kind::Purchase, &[]), Some(ReleaseError::NothingPlaced));
    let (mut point, verifier) = guard(1);
    let vault = filled(verifier, "Portugal");
    let keys = vault.open_mandate(grant(&mut point, Kind::Address, &ADDRESS), &seen(page(), 2), NOW);
    assert_eq!(keys.err(), Some(ReleaseError::NotAPurchase));
}

#[test]
fn the_keys_of_a_purchase_are_for_its_shop_and_amount() {
    let (mut point, verifier) = guard(1);
    let vault = filled(verifier, "Portugal");
    let open = |point: &mut DecisionPoint| {
        vault.open_mandate(grant(point, Kind::Purchase, &[]), &seen(page(), 2), NOW).ok().unwrap()
    };
    let keys = open(&mut point);
    assert_eq!((keys.payee(), keys.amount()), (&shop(), amount()));
    let (surface, agent) = keys.open(|surface, agent| (*surface, *agent));
    assert_ne!(surface, agent);
    // They stay the same, and the public half is that of the surface.
    assert_eq!(open(&mut point).open(|surface, agent| (*surface, *agent)), (surface, agent));
    assert_eq!(vault.mandate_key().unwrap(), public(&surface));
    // Another vault has other keys.
    let other = Vault::ephemeral(&mut entropy(2), guard(2).1);
    assert_ne!(other.mandate_key().unwrap(), vault.mandate_key().unwrap());
}

/// The coordinates of the public key of a secret.
fn public(secret: &[u8; 32]) -> [u8; 64] {
    use p256::elliptic_curve::sec1::ToSec1Point as _;
    let point = p256::SecretKey::from_slice(secret).unwrap().public_key().to_sec1_point(false);
    point.as_bytes()[1..].try_into().unwrap()
}

#[test]
fn a_changed_page_an_old_look_and_a_foreign_grant_open_nothing() {
    let open = |changed: Snapshot, number, now, seed| {
        let (mut point, _) = guard(seed);
        let vault = filled(guard(1).1, "Portugal");
        let fresh: Observed<Snapshot> = seen(changed, number);
        let told = vault.open_order_data(grant(&mut point, Kind::Address, &ADDRESS), &fresh, now).err();
        let keys = vault.open_mandate(grant(&mut point, Kind::Purchase, &[]), &fresh, now).err();
        assert_eq!(told, keys);
        told
    };
    let mut navigated = page();
    navigated.document = Fact::Known(DocumentId::new("loader-2"));
    let mut elsewhere = page();
    elsewhere.origin = Fact::Known(Origin::parse("https://evil.example").unwrap());
    let redeem = |error| Some(ReleaseError::Redeem(error));
    assert_eq!(open(page(), 2, NOW, 1), None);
    assert_eq!(open(navigated, 2, NOW, 1), redeem(RedeemError::Stale));
    assert_eq!(open(elsewhere, 2, NOW, 1), redeem(RedeemError::Stale));
    assert_eq!(open(page(), 1, NOW, 1), redeem(RedeemError::NotFresh));
    assert_eq!(open(page(), 2, Millis(NOW.0 + 60_000), 1), redeem(RedeemError::Expired));
    assert_eq!(open(page(), 2, NOW, 3), redeem(RedeemError::ForeignAuthority));
}
