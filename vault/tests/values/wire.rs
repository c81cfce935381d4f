//! Releases into a request: placeholders that show nothing, unique names, forms that are posted.

use crate::common::{NOW, entropy, filled, guard, page, seen, shop, wire_grant};
use browser_signals::{Container, DocumentId, Fact, NodeId, SealedWire, Shape, Snapshot};
use policy_dfa::Signal;
use policy_dfa::{GRANT_LIFETIME_MS, Millis, Reason, RedeemError};
use sirl::Field;
use vault::{Binding, ReleaseError, Secret, WIRE_VALID_MS};

const CARD: [(Field, i64); 2] = [(Field::CardNumber, 11), (Field::CardExpiry, 12)];

/// A page with the form of a card, whose controls have names.
fn named() -> Snapshot {
    let mut page = page();
    let named = [("number", "cc-number"), ("expiry", "cc-exp"), ("note", "")];
    for (control, (name, autocomplete)) in page.controls.iter_mut().zip(named) {
        (control.name, control.autocomplete) = (name.to_owned(), autocomplete.to_owned());
    }
    page
}

fn open(seed: u64, before: Snapshot, after: Snapshot) -> Result<SealedWire, ReleaseError> {
    let (mut point, verifier) = guard(1);
    let vault = filled(verifier);
    vault.open_wire(wire_grant(&mut point, &CARD, before), &seen(after, 2), NOW, &mut entropy(seed))
}

#[test]
fn a_wire_carries_exactly_the_placed_fields_under_their_names() {
    let wire = open(1, named(), named()).ok().unwrap();
    let shown: Vec<_> = wire.fields.iter().map(|it| (it.node, it.name.as_str(), it.shape)).collect();
    assert_eq!(shown, [(NodeId(11), "number", Shape::Digits), (NodeId(12), "expiry", Shape::Expiry)]);
    assert_eq!(
        (wire.origin, wire.document, wire.form),
        (shop(), DocumentId::new("loader-1"), Some(NodeId(10)))
    );
    assert_eq!((&*wire.destination.path, &*wire.destination.method), ("/address", "POST"));
    assert_eq!(wire.lifetime_ms, WIRE_VALID_MS);
}

/// I13: the same entropy gives the same placeholders for any content of the vault.
#[test]
fn placeholders_do_not_depend_on_the_values() {
    let with = |number: &str, expiry: &str| {
        let (mut point, verifier) = guard(1);
        let (mut vault, mut entropy_in) = (filled(verifier), entropy(9));
        for (field, value) in [(Field::CardNumber, number), (Field::CardExpiry, expiry)] {
            let value = Secret::new(value);
            vault.insert("card:personal", field, value, &Binding::Anywhere, &mut entropy_in).unwrap();
        }
        let grant = wire_grant(&mut point, &CARD, named());
        let wire = vault.open_wire(grant, &seen(named(), 2), NOW, &mut entropy(5)).ok().unwrap();
        wire.fields.iter().map(|field| field.placeholder.clone()).collect::<Vec<_>>()
    };
    let one = with("4111 1111 1111 1111", "12/31");
    assert_eq!(one, with("378282246310005", "2031-12"));
    // This also holds if the value equals the placeholder, since avoiding it would narrow down the value.
    assert_eq!(one, with(&one[0], &one[1]));
    let other = open(6, named(), named()).ok().unwrap();
    assert_ne!(one[0], other.fields[0].placeholder);
}

#[test]
fn a_form_without_unique_names_or_not_posted_gets_nothing() {
    let without = |change: fn(&mut Snapshot)| {
        let mut page = named();
        change(&mut page);
        open(1, page.clone(), page).err()
    };
    assert_eq!(without(|_| ()), None);
    assert_eq!(without(|p| p.controls[0].name.clear()), Some(ReleaseError::NoName(Field::CardNumber)));
    assert_eq!(
        without(|p| p.controls[2].name = "expiry".to_owned()),
        Some(ReleaseError::NoName(Field::CardExpiry))
    );
    let get = |p: &mut Snapshot| {
        if let Fact::Known(destination) = &mut p.destination {
            destination.method = "GET".into();
        }
    };
    assert_eq!(without(get), Some(ReleaseError::NotPosted));
    assert_eq!(ReleaseError::NotPosted.reason(), Reason::DeliveryForbidden);
    assert_eq!(ReleaseError::NoName(Field::CardCode).reason(), Reason::NoControl);
}

#[test]
fn errors_of_a_fill_are_also_errors_of_a_wire() {
    let after = |change: fn(&mut Snapshot)| {
        let mut page = named();
        change(&mut page);
        open(1, named(), page).err()
    };
    let stale = Some(ReleaseError::Redeem(RedeemError::Stale));
    assert_eq!(after(|p| p.document = Fact::Known(DocumentId::new("loader-2"))), stale);
    assert_eq!(after(|p| p.destination = Fact::Unknown), stale);
    assert_eq!(after(|p| p.form = Some(NodeId(20))), stale);
    assert_eq!(after(|p| p.controls[0].editable = false), stale);
    let low = Some(ReleaseError::ContainerTooLow(Field::CardNumber));
    assert_eq!(after(|p| p.container = Fact::Known(Container::T1)), low);
    assert_eq!(after(|p| p.container = Fact::Unknown), Some(ReleaseError::ContainerUnknown));
    assert_eq!(ReleaseError::ContainerUnknown.reason(), Reason::SignalUnknown(Signal::Container));

    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let grant = wire_grant(&mut point, &CARD, named());
    let late = Millis(NOW.0 + GRANT_LIFETIME_MS);
    let error = vault.open_wire(grant, &seen(named(), 2), late, &mut entropy(1)).err();
    assert_eq!(error, Some(ReleaseError::Redeem(RedeemError::Expired)));
    let grant = wire_grant(&mut point, &[(Field::CardNumber, 11), (Field::CardCode, 12)], named());
    let error = vault.open_wire(grant, &seen(named(), 2), NOW, &mut entropy(1)).err();
    assert_eq!(error, Some(ReleaseError::NoValue(Field::CardCode)));
    let grant = wire_grant(&mut point, &CARD, named());
    vault.lock();
    assert_eq!(
        vault.open_wire(grant, &seen(named(), 2), NOW, &mut entropy(1)).err(),
        Some(ReleaseError::Locked)
    );
}
