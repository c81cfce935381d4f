//! Values are released for the right grant on the unchanged page, once, and otherwise never.

use crate::common::{
    NOW, amount, entropy, fill_grant, filled, guard, model_grant, model_guard, page, payment_grant, seen,
    shop,
};
use browser_signals::{Container, DocumentId, Fact, NodeId, Origin, Snapshot, TlsState};
use policy_dfa::Signal;
use policy_dfa::{GRANT_LIFETIME_MS, Millis, Reason, RedeemError};
use sirl::{Field, Kind};
use vault::{Binding, ReleaseError, Secret, Vault};

const ADDRESS: [(Field, i64); 3] = [(Field::Street, 11), (Field::City, 12), (Field::Name, 13)];

#[test]
fn a_fill_carries_exactly_the_placed_fields_to_their_controls() {
    let (mut point, verifier) = guard(1);
    let vault = filled(verifier);
    let fill =
        vault.open_fill(fill_grant(&mut point, Kind::Address, &ADDRESS), &seen(page(), 2), NOW).ok().unwrap();
    let nodes: Vec<_> = fill.values.iter().map(|(node, _)| *node).collect();
    assert_eq!(nodes, [NodeId(11), NodeId(12), NodeId(13)]);
    assert_eq!(fill.origin, shop());
    assert_eq!(fill.document, DocumentId::new("loader-1"));
    assert_eq!(fill.form, Some(NodeId(10)));
    assert_eq!(&*fill.destination.path, "/address");
}

#[test]
fn a_payment_gives_the_card_once_with_amount_and_payee() {
    let (mut point, verifier) = guard(1);
    let vault = filled(verifier);
    let card = vault.open_payment(payment_grant(&mut point), &seen(page(), 2), NOW).ok().unwrap();
    assert_eq!(card.handle(), "card:personal");
    assert_eq!(card.amount(), amount());
    assert_eq!(*card.payee(), shop());
    let last = card.open(|card| {
        assert_eq!(card.number(), b"4111 1111 1111 1111");
        assert_eq!(card.expiry(), b"12/31");
        assert_eq!(card.code(), None);
        assert_eq!(card.name(), Some(b"Maria Quintela".as_slice()));
        card.number().last().copied()
    });
    assert_eq!(last, Some(b'1'));
}

#[test]
fn a_model_is_shown_granted_values_that_may_go_to_the_destination() {
    const FIELDS: [(Field, i64); 2] = [(Field::Name, 11), (Field::Email, 12)];
    let shown = |change: fn(&mut Snapshot)| {
        let (mut point, verifier) = model_guard(1);
        let mut vault = filled(verifier);
        let only = Binding::parse("https://shop.example").unwrap();
        vault
            .insert("contact:me", Field::Email, Secret::new("m@shop.example"), &only, &mut entropy(3))
            .unwrap();
        let mut fresh = page();
        change(&mut fresh);
        let grant = model_grant(&mut point, &FIELDS);
        let values = vault.open_to_the_model(grant, &seen(fresh, 2), NOW)?;
        let mut shown = Vec::new();
        values.expose_to_the_model(|field, value| shown.push((field, value.to_owned())));
        Ok(shown)
    };
    let all = vec![(Field::Name, "Maria Quintela".to_owned()), (Field::Email, "m@shop.example".to_owned())];
    assert_eq!(shown(|_| ()), Ok(all));
    // The e-mail address is bound to the shop.
    let elsewhere = |page: &mut Snapshot| {
        if let Fact::Known(to) = &mut page.destination {
            to.origin = Origin::parse("https://other.example").unwrap();
        }
    };
    assert_eq!(shown(elsewhere), Err(ReleaseError::NoValue(Field::Email)));
    let unknown = |page: &mut Snapshot| page.destination = Fact::Unknown;
    assert_eq!(shown(unknown), Err(ReleaseError::DestinationUnknown));
    let low = |page: &mut Snapshot| page.container = Fact::Known(Container::T0);
    assert_eq!(shown(low), Err(ReleaseError::ContainerTooLow(Field::Name)));
    let gone = |page: &mut Snapshot| page.document = Fact::Known(DocumentId::new("loader-2"));
    assert_eq!(shown(gone), Err(ReleaseError::Redeem(RedeemError::Stale)));
}

/// The error of a fill on a page that was changed after the decision.
fn after(change: impl FnOnce(&mut Snapshot)) -> Option<ReleaseError> {
    let (mut point, verifier) = guard(1);
    let vault = filled(verifier);
    let mut changed = page();
    change(&mut changed);
    vault.open_fill(fill_grant(&mut point, Kind::Address, &ADDRESS), &seen(changed, 2), NOW).err()
}

#[test]
fn a_changed_page_is_stale() {
    assert_eq!(after(|_| ()), None);
    let error = ReleaseError::Redeem(RedeemError::Stale);
    assert_eq!(
        after(|page| page.controls[0].autocomplete = "off".into()),
        Some(error),
        "it asks for nothing"
    );
    assert_eq!(
        after(|page| page.controls[0].autocomplete = "cc-csc".into()),
        Some(error),
        "it asks for a code"
    );
    let stale = Some(error);
    let elsewhere = || Fact::Known(Origin::parse("https://evil.example").unwrap());
    assert_eq!(after(|p| p.document = Fact::Known(DocumentId::new("loader-2"))), stale);
    assert_eq!(after(|p| p.document = Fact::Unknown), stale);
    assert_eq!(after(|p| p.origin = elsewhere()), stale);
    assert_eq!(after(|p| p.origin = Fact::Unknown), stale);
    assert_eq!(after(|p| p.form = Some(NodeId(20))), stale);
    assert_eq!(after(|p| p.destination = Fact::Unknown), stale);
    assert_eq!(after(|p| p.controls.truncate(2)), stale);
    assert_eq!(after(|p| p.tls = Fact::Known(TlsState::Broken)), stale);
    assert_eq!(after(|p| p.controls[0].form = Some(NodeId(20))), stale);
    assert_eq!(after(|p| p.controls[0].editable = false), stale);
    assert_eq!(
        after(|p| {
            if let Fact::Known(destination) = &mut p.destination {
                destination.origin = Origin::parse("https://evil.example").unwrap();
            }
        }),
        stale
    );
    assert_eq!(error.reason(), Reason::StaleDocument);
}

/// I4, under every policy: no T2 field below T2, no T1 field in T0.
#[test]
fn a_container_of_a_lower_tier_gets_nothing() {
    let low = |field| Some(ReleaseError::ContainerTooLow(field));
    let refused = |container: Fact<Container>, fields: &[(Field, i64)]| {
        let (mut point, verifier) = guard(1);
        let vault = filled(verifier);
        let mut changed = page();
        changed.container = container;
        vault.open_fill(fill_grant(&mut point, Kind::Address, fields), &seen(changed, 2), NOW).err()
    };
    let (city, street) = ([(Field::City, 12)], [(Field::Street, 11)]);
    assert_eq!(refused(Fact::Known(Container::T2), &street), None);
    assert_eq!(refused(Fact::Known(Container::T1), &city), None);
    assert_eq!(refused(Fact::Known(Container::T1), &street), low(Field::Street));
    assert_eq!(refused(Fact::Known(Container::T0), &street), low(Field::Street));
    assert_eq!(refused(Fact::Known(Container::T0), &city), low(Field::City));
    assert_eq!(refused(Fact::Unknown, &city), Some(ReleaseError::ContainerUnknown));
}

#[test]
fn the_snapshot_must_be_newer_and_the_grant_not_expired() {
    let open = |number, now| {
        let (mut point, verifier) = guard(1);
        let vault = filled(verifier);
        let grant = fill_grant(&mut point, Kind::Address, &ADDRESS);
        vault.open_fill(grant, &seen(page(), number), now).err()
    };
    let last = NOW.0 + GRANT_LIFETIME_MS - 1;
    assert_eq!(open(1, NOW), Some(ReleaseError::Redeem(RedeemError::NotFresh)));
    assert_eq!(open(2, Millis(last)), None);
    assert_eq!(open(2, Millis(last + 1)), Some(ReleaseError::Redeem(RedeemError::Expired)));
    assert_eq!(ReleaseError::Redeem(RedeemError::NotFresh).reason(), Reason::StaleDocument);
    assert_eq!(ReleaseError::Redeem(RedeemError::Expired).reason(), Reason::ConsentExpired);
}

/// I7: a vault accepts only grants of its own authority, even if the policies are equal.
#[test]
fn another_authority_opens_nothing() {
    let (_, verifier) = guard(1);
    let (mut other, _) = guard(2);
    let vault = filled(verifier);
    let foreign = ReleaseError::Redeem(RedeemError::ForeignAuthority);
    let fill = vault.open_fill(fill_grant(&mut other, Kind::Address, &ADDRESS), &seen(page(), 2), NOW);
    assert_eq!(fill.err(), Some(foreign));
    let card = vault.open_payment(payment_grant(&mut other), &seen(page(), 2), NOW);
    assert_eq!(card.err(), Some(foreign));
    assert_eq!(foreign.reason(), Reason::DeliveryForbidden);
}

#[test]
fn a_payment_on_a_changed_page_or_later_is_refused() {
    let open = |changed: Snapshot, number, now| {
        let (mut point, verifier) = guard(1);
        let vault = filled(verifier);
        vault.open_payment(payment_grant(&mut point), &seen(changed, number), now).err()
    };
    let stale = Some(ReleaseError::Redeem(RedeemError::Stale));
    let mut navigated = page();
    navigated.document = Fact::Known(DocumentId::new("loader-2"));
    let mut elsewhere = page();
    elsewhere.origin = Fact::Known(Origin::parse("https://evil.example").unwrap());
    assert_eq!(open(page(), 2, NOW), None);
    assert_eq!(open(navigated, 2, NOW), stale);
    assert_eq!(open(elsewhere, 2, NOW), stale);
    assert_eq!(open(page(), 1, NOW), Some(ReleaseError::Redeem(RedeemError::NotFresh)));
    assert_eq!(
        open(page(), 2, Millis(NOW.0 + GRANT_LIFETIME_MS)),
        Some(ReleaseError::Redeem(RedeemError::Expired))
    );
}

#[test]
fn a_value_that_is_not_stored_is_an_error() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    let phone = fill_grant(&mut point, Kind::Contact, &[(Field::Phone, 11)]);
    let error = vault.open_fill(phone, &seen(page(), 2), NOW).err().unwrap();
    assert_eq!((error, error.reason()), (ReleaseError::NoValue(Field::Phone), Reason::NoValue));
    assert_eq!(vault.remove("card:personal"), Ok(2));
    let error = vault.open_payment(payment_grant(&mut point), &seen(page(), 2), NOW).err();
    assert_eq!(error, Some(ReleaseError::NoValue(Field::CardNumber)));
}

#[test]
fn a_card_is_never_mixed_from_two_records() {
    let (mut point, verifier) = guard(1);
    let mut entropy = entropy(3);
    let mut vault = Vault::ephemeral(&mut entropy, verifier);
    vault
        .insert(
            "card:old",
            Field::CardNumber,
            Secret::new("4000 0000 0000 0002"),
            &Binding::Anywhere,
            &mut entropy,
        )
        .unwrap();
    vault
        .insert("card:new", Field::CardExpiry, Secret::new("01/30"), &Binding::Anywhere, &mut entropy)
        .unwrap();
    let error = vault.open_payment(payment_grant(&mut point), &seen(page(), 2), NOW).err();
    assert_eq!(error, Some(ReleaseError::NoValue(Field::CardExpiry)));
}

#[test]
fn a_locked_vault_releases_nothing() {
    let (mut point, verifier) = guard(1);
    let mut vault = filled(verifier);
    vault.lock();
    let fill = vault.open_fill(fill_grant(&mut point, Kind::Address, &ADDRESS), &seen(page(), 2), NOW);
    assert_eq!(fill.err(), Some(ReleaseError::Locked));
    let card = vault.open_payment(payment_grant(&mut point), &seen(page(), 2), NOW);
    assert_eq!(card.err(), Some(ReleaseError::Locked));
    assert_eq!(vault.scan("anything"), Err(ReleaseError::Locked));
    assert_eq!(vault.scan_released("anything", &[("contact:me", Field::Name)]), Err(ReleaseError::Locked));
    assert_eq!(ReleaseError::Locked.reason(), Reason::VaultLocked);
}

#[test]
fn every_error_has_a_reason_of_the_closed_list() {
    for (error, code) in [
        (ReleaseError::DestinationUnknown, Reason::SignalUnknown(Signal::Destination)),
        (ReleaseError::ContainerUnknown, Reason::SignalUnknown(Signal::Container)),
        (ReleaseError::ContainerTooLow(Field::Street), Reason::InvalidContainer),
        (ReleaseError::NotGranted(Field::Street), Reason::NoControl),
        (ReleaseError::NothingPlaced, Reason::NoControl),
        (ReleaseError::NotAPurchase, Reason::DeliveryForbidden),
        (ReleaseError::NotForModels(Field::Street), Reason::DeliveryForbidden),
        (ReleaseError::Damaged(Field::Street), Reason::ValueDamaged),
        (ReleaseError::Underivable(Field::Street), Reason::ValueUnderivable),
    ] {
        assert_eq!(error.reason(), code);
    }
}

/// Many people and countries have no region. A form that needs one is refused, since an address without it may be another one.
#[test]
fn a_region_that_no_record_has_stays_empty_where_the_form_does_not_need_it() {
    let filled_nodes = |required: bool| {
        let (mut point, verifier) = guard(1);
        let vault = filled(verifier);
        let mut fresh = page();
        fresh.controls[2].autocomplete = "address-level1".into();
        fresh.controls[2].words.required = required;
        let fields = [(Field::Street, 11), (Field::City, 12), (Field::Region, 13)];
        let fill = vault.open_fill(fill_grant(&mut point, Kind::Address, &fields), &seen(fresh, 2), NOW)?;
        Ok(fill.values.iter().map(|(node, _)| *node).collect::<Vec<_>>())
    };
    assert_eq!(filled_nodes(false), Ok(vec![NodeId(11), NodeId(12)]));
    assert_eq!(filled_nodes(true), Err(ReleaseError::NoValue(Field::Region)));
}
