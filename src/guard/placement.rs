//! Placement: which controls of a form take which field.
//!
//! The page's description of its controls is a hint. It decides where a value goes within a form, and never whether the form may
//! have it. The form's destination decides that. `browser_signals::matching` says what each control asks for, and why.

use std::collections::HashMap;

use browser_signals::matching::{Asked, Match, Section, match_form};
use browser_signals::{Control, DocumentId, FrameId, NodeId, Observed, Snapshot};
use policy_dfa::{Placement, Placements};
use sirl::{Field, FieldSet};
use vault::{field_among, field_of};

/// The fields that the controls of a form seem to ask for, in their order.
pub fn fields_of(page: &Snapshot) -> Vec<Option<Field>> {
    match_form(&page.controls, &page.words).iter().map(|found| found.asked.and_then(field_of)).collect()
}

/// Whether a control can take a value at all: a visible, editable input or select.
fn can_take(control: &Control) -> bool {
    control.editable
        && matches!(control.tag.as_str(), "input" | "select")
        && control.visible.known() == Some(&true)
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
    let found = match_form(&page.controls, &page.words);
    let candidates = page.controls.iter().zip(&found).filter_map(|(control, found)| {
        let asked = found.asked.filter(|_| can_take(control))?;
        let field = field_among(asked, fields)?;
        Some(Candidate { control, found, asked, field })
    });
    let mut candidates: Vec<Candidate<'_>> = candidates.collect();
    // Where a form asks for both, the e-mail address is not the name of the account.
    if candidates.iter().any(|one| one.asked == Asked::Email) {
        candidates.retain(|one| one.asked == Asked::Email || one.field != Field::Email);
    }
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
            placed.push((one, Placement { field: one.field, node: one.control.node }));
        }
    }
    placed.into_iter().map(|(_, placement)| placement).collect()
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

/// A form that the agent pointed at: the one whose control it used last, or that was filled last.
///
/// The agent chooses among the forms of a page and nothing else: the policy decides about the form that it chose as about any other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointedForm {
    frame: FrameId,
    document: DocumentId,
    form: Option<NodeId>,
}

impl PointedForm {
    /// The form of this observation, if its document is known.
    pub fn of(page: &Snapshot) -> Option<PointedForm> {
        let document = page.document.known()?.clone();
        Some(PointedForm { frame: page.frame.clone(), document, form: page.form })
    }
}

/// Chooses the form for `fields`. If no form takes any, this is the first form, so that the policy can still give a reason. A field
/// is distinctive if no record of another kind may supply it (a street, and not the name that a newsletter asks for too); where a
/// request has none, all its fields count. The criteria are, in this order:
///
/// 1. the agent pointed at the form, and it takes a distinctive field;
/// 2. it takes a password that exists, if a password is among the fields;
/// 3. it takes more distinctive fields;
/// 4. it takes more fields;
/// 5. it comes earlier.
pub fn best_form<'f>(
    forms: &'f [Observed<Snapshot>],
    fields: FieldSet,
    pointed: Option<&PointedForm>,
) -> Option<&'f Observed<Snapshot>> {
    let distinct: FieldSet = fields.iter().filter(|field| !vault::is_shared(*field)).collect();
    let distinct = if distinct.is_empty() { fields } else { distinct };
    let rank = |form: &&Observed<Snapshot>| {
        let page = form.value();
        let placed = place(page, fields);
        let taken = placed.iter().map(|placement| placement.field).collect::<FieldSet>();
        let is_pointed_at = pointed.is_some() && PointedForm::of(page).as_ref() == pointed;
        let logs_in = taken.contains(Field::Password) && !asks_for(page, Asked::NewPassword);
        let distinctive = taken.intersection(distinct).len();
        (is_pointed_at && distinctive > 0, logs_in, distinctive, taken.len())
    };
    forms.iter().rev().max_by_key(rank)
}

fn asks_for(page: &Snapshot, asked: Asked) -> bool {
    match_form(&page.controls, &page.words).iter().any(|found| found.asked == Some(asked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use browser_signals::{Container, ContainerId, ControlWords, Fact, FormWords, Sink, TlsState};

    fn control(node: i64, autocomplete: &str, name: &str, label: &str) -> Control {
        Control {
            node: NodeId(node),
            form: None,
            tag: "input".into(),
            input_type: "text".into(),
            autocomplete: autocomplete.into(),
            name: name.into(),
            label: label.into(),
            visible: Fact::Known(true),
            hit: Fact::Known(true),
            editable: true,
            filled: false,
            words: ControlWords::default(),
        }
    }

    fn page(controls: Vec<Control>) -> Snapshot {
        Snapshot {
            container: Fact::Known(Container::T2),
            container_id: ContainerId::new("c"),
            frame: FrameId::new("f"),
            document: Fact::Known(DocumentId::new("d")),
            top_document: Fact::Known(DocumentId::new("d")),
            origin: Fact::Unknown,
            path: Fact::Unknown,
            top_origin: Fact::Unknown,
            ancestors: Fact::Known(Vec::new()),
            tls: Fact::Known(TlsState::Valid),
            secure_context: Fact::Known(true),
            form: None,
            destination: Fact::Unknown,
            sink: Fact::Known(Sink::Other),
            target: None,
            controls,
            words: FormWords::default(),
        }
    }

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
    fn a_login_goes_into_the_form_that_logs_in_unless_the_agent_points_at_another() {
        let form = |node: i64, token: &str, more: Vec<Control>| {
            let mut password = control(node, token, "", "Password");
            password.input_type = "password".into();
            let name = control(node + 1, "username", "", "User name");
            let mut page = page([vec![name, password], more].concat());
            page.form = Some(NodeId(node));
            Observed::simulated(page, 1)
        };
        let forms = [
            form(10, "new-password", vec![control(12, "tel", "", "Phone")]),
            form(20, "current-password", Vec::new()),
        ];
        let login = [Field::Username, Field::Email, Field::Password].into_iter().collect();
        let chosen =
            |pointed: Option<&PointedForm>| best_form(&forms, login, pointed).and_then(|form| form.form);
        assert_eq!(chosen(None), Some(NodeId(20)));
        assert_eq!(chosen(PointedForm::of(forms[0].value()).as_ref()), Some(NodeId(10)));
        let newsletter = Observed::simulated(
            Snapshot { form: Some(NodeId(30)), ..page(vec![control(31, "name", "", "Name")]) },
            1,
        );
        let delivery = Observed::simulated(
            Snapshot { form: Some(NodeId(40)), ..page(vec![control(41, "street-address", "", "Street")]) },
            1,
        );
        let pointed = PointedForm::of(newsletter.value());
        let both = [newsletter, delivery];
        let form_of = |fields: &[Field]| {
            best_form(&both, fields.iter().copied().collect(), pointed.as_ref()).and_then(|form| form.form)
        };
        assert_eq!(form_of(&[Field::Name, Field::Street]), Some(NodeId(40)), "a name alone is no address");
        assert_eq!(form_of(&[Field::Name]), Some(NodeId(30)));
        let phone = FieldSet::EMPTY.with(Field::Phone);
        let pointed = PointedForm::of(forms[1].value());
        let found = best_form(&forms, phone, pointed.as_ref()).and_then(|form| form.form);
        assert_eq!(found, Some(NodeId(10)), "the form that was pointed at takes no phone number");
    }

    #[test]
    fn covered_or_free_text_controls_take_nothing() {
        let mut area = control(1, "street-address", "", "");
        area.tag = "textarea".into();
        assert!(!can_take(&area));
        let mut hidden = control(1, "street-address", "", "");
        hidden.visible = Fact::Unknown;
        assert!(!can_take(&hidden));
    }
}
