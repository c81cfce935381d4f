//! Placement: which controls of a form take which field.
//!
//! The page's description of its controls is a hint. It decides where a value goes within a form, and never whether the form may
//! have it. The form's destination decides that. `browser_signals::matching` says what each control asks for, and why.

use std::collections::{HashMap, HashSet};

use browser_signals::matching::{Asked, Match, Section, match_form, section_of};
use browser_signals::{Control, NodeId, Snapshot};
use policy_dfa::{Basis, Placement, Placements, pointing_suffices};
use sirl::{Field, FieldSet, Kind};
use vault::{field_among, field_of};

/// The fields that the controls of a form seem to ask for, in their order.
pub fn fields_of(page: &Snapshot) -> Vec<Option<Field>> {
    match_form(&page.controls, &page.words).iter().map(|found| found.asked.and_then(field_of)).collect()
}

/// Whether a control can take a value at all: a visible, editable input or select, or for a street a text area.
fn can_take(control: &Control, asked: Option<Asked>) -> bool {
    let holds = match control.tag.as_str() {
        "input" | "select" => true,
        "textarea" => asked == Some(Asked::Street),
        _ => false,
    };
    holds && control.editable && control.visible.known() == Some(&true)
}

/// A control that can take a field.
struct Candidate<'a> {
    control: &'a Control,
    found: &'a Match,
    asked: Asked,
    field: Field,
}

/// The placements of `fields` in the observed form: for each field the first control that fits, and further ones that take a part
/// of the value, or the same value again to confirm it.
pub fn place(page: &Snapshot, fields: FieldSet) -> Vec<Placement> {
    place_at(page, fields, &[]).unwrap_or_default()
}

/// The placements of `fields`, where the agent points at controls of the form for some of them. These fields go nowhere else, except
/// that the page may divide such a value over further controls. `None` if a control is no proposal that the page leaves open: it is
/// not in the form or cannot take a value, it asks for something else, it is in another section than the other controls of an
/// address, or the page says nothing of it and the agent's word is not enough ([`pointing_suffices`]).
pub fn place_at(page: &Snapshot, fields: FieldSet, at: &[(Field, NodeId)]) -> Option<Vec<Placement>> {
    let found = match_form(&page.controls, &page.words);
    let pairs = || page.controls.iter().zip(&found);
    let mut pinned: Vec<Placement> = Vec::new();
    for (field, node) in at {
        let (control, found) = pairs().find(|(control, _)| control.node == *node)?;
        let can_take =
            can_take(control, found.asked) && control.hit.known() == Some(&true) && fields.contains(*field);
        let is_new = !pinned.iter().any(|other| other.node == *node || other.field == *field);
        let placed = |basis| Placement { field: *field, node: *node, basis };
        let basis = match found.asked {
            Some(asked) => field_among(asked, FieldSet::EMPTY.with(*field)).map(|_| Basis::Page),
            None => (found.is_silent(control) && pointing_suffices(page, placed(Basis::Agent)))
                .then_some(Basis::Agent),
        };
        pinned.push(placed(basis.filter(|_| can_take && is_new)?));
    }
    let pin_of = |field: Field| pinned.iter().find(|pin| pin.field == field);
    let candidates = pairs().filter_map(|(control, found)| {
        let asked = found.asked.filter(|_| can_take(control, found.asked))?;
        let field = match pinned.iter().find(|pin| pin.node == control.node) {
            Some(pin) => pin.field,
            None => field_among(asked, fields)?,
        };
        Some(Candidate { control, found, asked, field })
    });
    let mut candidates: Vec<Candidate<'_>> = candidates.collect();
    // A form that asks for the present password changes it, and a new one is made for new accounts alone.
    let is_present = |found: &Match| found.asked == Some(Asked::Password) && !found.confirms;
    if page
        .controls
        .iter()
        .zip(&found)
        .any(|(control, found)| can_take(control, found.asked) && is_present(found))
    {
        candidates.retain(|one| one.field != Field::NewPassword);
    }
    // Where a form asks for both, the e-mail address is not the name of the account.
    if candidates.iter().any(|one| one.asked == Asked::Email) {
        candidates.retain(|one| one.asked == Asked::Email || one.field != Field::Email);
    }
    // What the agent points at comes first; a control of which the page says nothing takes the whole value.
    candidates.retain(|one| pin_of(one.field).is_none_or(|pin| pin.basis == Basis::Page));
    candidates.sort_by_key(|one| pin_of(one.field).is_some_and(|pin| pin.node != one.control.node));
    let has_shipping = candidates.iter().any(|one| one.found.section == Some(Section::Shipping));
    let mut sections: HashMap<Field, Option<Section>> = HashMap::new();
    let mut placed: Vec<(&Candidate<'_>, Placement)> = Vec::new();
    for one in &candidates {
        // A second section of the form asks for the same fields, for another end.
        if has_shipping && one.found.section == Some(Section::Billing) && one.asked.is_of_an_address() {
            continue;
        }
        let section = sections.entry(one.field).or_insert_with(|| one.found.section.clone());
        if *section != one.found.section || placed.len() == Placements::MAX {
            continue;
        }
        let before: Vec<&Candidate<'_>> =
            placed.iter().map(|(other, _)| *other).filter(|other| other.field == one.field).collect();
        if before.is_empty() || goes_on(one, &before, &candidates) {
            placed.push((one, Placement { field: one.field, node: one.control.node, basis: Basis::Page }));
        }
    }
    let mut placed: Vec<Placement> = placed.into_iter().map(|(_, placement)| placement).collect();
    placed.extend(pinned.iter().filter(|pin| pin.basis == Basis::Agent));
    placed.sort_by_key(|one| page.controls.iter().position(|control| control.node == one.node));
    let is_in = |pin: &Placement| placed.iter().any(|one| one.node == pin.node && one.field == pin.field);
    let of_an_address = placed.iter().filter(|one| Kind::Address.allowed_fields().contains(one.field));
    let sections: HashSet<Section> = of_an_address
        .filter_map(|one| page.controls.iter().find(|control| control.node == one.node))
        .filter_map(section_of)
        .collect();
    let strays = has_shipping && sections.contains(&Section::Billing) || sections.len() > 1;
    let agrees = pinned.is_empty() || (pinned.iter().all(is_in) && !strays);
    agrees.then_some(placed).filter(|placed| placed.len() <= Placements::MAX)
}

/// Whether a control takes a field that others of its form have taken: a part that they have not, or the same to confirm it.
fn goes_on(one: &Candidate<'_>, before: &[&Candidate<'_>], all: &[Candidate<'_>]) -> bool {
    let is_new = before.iter().all(|other| other.asked != one.asked);
    match one.asked {
        // The present password is no new one.
        Asked::NewPassword => before.iter().all(|other| other.asked == Asked::NewPassword),
        Asked::Password => one.found.confirms && !is_new,
        Asked::Email | Asked::Username => !is_new && one.found.confirms,
        Asked::BirthDay | Asked::BirthMonth | Asked::BirthYear => {
            is_new && before.iter().all(|other| other.asked != Asked::BirthDate)
        }
        Asked::CardNumber | Asked::OneTimeCode => boxes(one.asked, all) > 1,
        // A whole expiry has no parts beside it.
        Asked::CardExpiryMonth | Asked::CardExpiryYear => {
            is_new && before.iter().all(|other| other.asked != Asked::CardExpiry)
        }
        Asked::GivenName
        | Asked::AdditionalName
        | Asked::FamilyName
        | Asked::FullName
        | Asked::CardName
        | Asked::Street
        | Asked::StreetLine2
        | Asked::StreetLine3
        | Asked::HouseNumber
        | Asked::Phone
        | Asked::PhoneCountryCode => is_new,
        _ => false,
    }
}

/// The boxes that one number is split over; one where it is not split.
fn boxes(asked: Asked, all: &[Candidate<'_>]) -> usize {
    vault::boxes_of(asked, all.iter().filter(|other| other.asked == asked).map(|other| other.control))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::pointing::examples::{control, page};
    use browser_signals::Fact;

    fn all() -> FieldSet {
        Field::ALL.into_iter().collect()
    }

    fn placed(controls: Vec<Control>) -> Vec<(i64, Field)> {
        place(&page(controls), all()).iter().map(|placement| (placement.node.0, placement.field)).collect()
    }

    #[test]
    fn each_control_takes_the_field_that_it_asks_for() {
        for (autocomplete, name, label, expected) in [
            ("shipping street-address", "x", "City", Some(Field::Street)),
            ("", "q", "Postal code", Some(Field::PostalCode)),
            ("", "ship_city", "", Some(Field::City)),
            ("off", "note", "Anything else?", None),
            ("", "", "Sportiness", None),
        ] {
            let found = placed(vec![control(1, autocomplete, name, label)]);
            assert_eq!(found.first().map(|(_, field)| *field), expected, "{autocomplete} {name} {label}");
        }
    }

    #[test]
    fn the_parts_of_a_value_and_its_confirmation_are_placed() {
        let found = placed(vec![
            control(1, "", "first_name", "First name"),
            control(2, "", "last_name", "Last name"),
            control(3, "", "email", "E-mail"),
            control(4, "", "email2", "Confirm e-mail"),
            control(5, "", "email3", "E-mail of a friend"),
            control(6, "", "line1", "First line of address"),
        ]);
        let expected =
            [(1, Field::Name), (2, Field::Name), (3, Field::Email), (4, Field::Email), (6, Field::Street)];
        assert_eq!(found, expected);
    }

    #[test]
    fn goods_are_sent_to_the_section_for_shipping() {
        let of = |section: &str, node: i64| {
            let token = |token: &str| format!("{section} {token}");
            vec![
                control(node, &token("street-address"), "", ""),
                control(node + 1, &token("address-level2"), "", ""),
            ]
        };
        let both = placed([of("billing", 1), of("shipping", 3)].concat());
        assert_eq!(both, [(3, Field::Street), (4, Field::City)]);
        let billing = placed(of("billing", 1));
        assert_eq!(billing, [(1, Field::Street), (2, Field::City)], "a form with one section asks for that");
    }

    #[test]
    fn a_number_is_placed_over_its_boxes_and_not_beside_another() {
        let card = |node, most| {
            let mut box_of = control(node, "", "card_number[]", "Card number");
            box_of.words.max_length = most;
            box_of
        };
        let four: Vec<Control> = (1..=4).map(|node| card(node, Some(4))).collect();
        assert_eq!(placed(four).len(), 4);
        let two: Vec<Control> = (1..=2).map(|node| card(node, None)).collect();
        assert_eq!(placed(two), [(1, Field::CardNumber)]);
    }

    #[test]
    fn a_present_password_is_not_set_as_a_new_one() {
        let password = |node, token: &str, label: &str| {
            let mut control = control(node, token, "", label);
            control.input_type = "password".into();
            control
        };
        let change = placed(vec![
            password(1, "current-password", "Current password"),
            password(2, "new-password", "New password"),
            password(3, "new-password", "Repeat new password"),
        ]);
        assert_eq!(change, [(1, Field::Password)]);
        let code = placed(vec![control(1, "cc-number", "", "Card number"), password(2, "", "CVV")]);
        assert_eq!(
            code,
            [(1, Field::CardNumber), (2, Field::CardCode)],
            "not every hidden text is a password"
        );
    }

    #[test]
    fn a_new_password_is_placed_where_one_is_set_and_nowhere_else() {
        let password = |node, token: &str, label: &str| {
            let mut control = control(node, token, "", label);
            control.input_type = "password".into();
            control
        };
        let new = [Field::Email, Field::NewPassword].into_iter().collect();
        let placed = |controls: Vec<Control>, fields| -> Vec<(i64, Field)> {
            place(&page(controls), fields).iter().map(|one| (one.node.0, one.field)).collect()
        };
        let email = || control(1, "", "email", "E-mail");
        let joins = || vec![email(), password(2, "", "Password"), password(3, "", "Confirm password")];
        let both = [(1, Field::Email), (2, Field::NewPassword), (3, Field::NewPassword)];
        assert_eq!(placed(joins(), new), both);
        assert_eq!(placed(joins(), new.with(Field::Password)), both, "a new one is asked for");
        let stored = [Field::Email, Field::Password].into_iter().collect();
        let both = [(1, Field::Email), (2, Field::Password), (3, Field::Password)];
        assert_eq!(placed(joins(), stored), both, "a stored one may be set");
        assert_eq!(placed(vec![email(), password(2, "", "Password")], new), [(1, Field::Email)]);
        let change = vec![
            password(1, "current-password", "Current password"),
            password(2, "new-password", "New password"),
            password(3, "new-password", "Repeat new password"),
        ];
        assert_eq!(placed(change, new), []);
        let by_words = vec![password(1, "", "Altes Passwort"), password(2, "", "Neues Passwort")];
        assert_eq!(placed(by_words, new), []);
        let unknown = vec![email(), control(2, "", "secret", "Secret")];
        assert_eq!(placed(unknown, new), [(1, Field::Email)]);
    }

    #[test]
    fn covered_or_free_text_controls_take_nothing() {
        let mut area = control(1, "street-address", "", "");
        area.tag = "textarea".into();
        assert_eq!(placed(vec![area.clone()]), [(1, Field::Street)], "a street has lines");
        area.autocomplete = "name".into();
        assert_eq!(placed(vec![area]), []);
        let mut element = control(1, "street-address", "", "");
        element.tag = "div".into();
        assert_eq!(placed(vec![element]), []);
        let mut hidden = control(1, "street-address", "", "");
        hidden.visible = Fact::Unknown;
        assert_eq!(placed(vec![hidden]), []);
    }
}
