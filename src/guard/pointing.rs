//! Pointing: the form and the controls that the agent chooses.
//!
//! The agent points at a form by using it, and at controls by the `at` of a request. Both choose among what the page shows, and
//! nothing else: the policy decides about the chosen form and controls as about any other.

use browser_signals::matching::{Asked, match_form};
use browser_signals::{DocumentId, FrameId, NodeId, Observed, Snapshot};
use policy_dfa::Basis;
use sirl::{Field, FieldSet};

use super::placement::{place, place_at};
use crate::consent::PointedBox;

/// A form that the agent pointed at: the one whose control it used last, or that was filled last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointedForm {
    frame: FrameId,
    document: DocumentId,
    form: Option<NodeId>,
}

/// The controls of one form that the agent points at by a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointedControls {
    /// Their form.
    pub form: PointedForm,
    /// The field for each.
    pub at: Vec<(Field, NodeId)>,
}

impl PointedForm {
    /// The form of this observation, if its document is known.
    pub fn of(page: &Snapshot) -> Option<PointedForm> {
        let document = page.document.known()?.clone();
        Some(PointedForm { frame: page.frame.clone(), document, form: page.form })
    }

    /// Whether this is the form of an observation.
    pub fn is_of(&self, page: &Snapshot) -> bool {
        PointedForm::of(page).as_ref() == Some(self)
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
        let is_pointed_at = pointed.is_some_and(|pointed| pointed.is_of(page));
        let logs_in = taken.contains(Field::Password) && !asks_for(page, Asked::NewPassword);
        let distinctive = taken.intersection(distinct).len();
        (is_pointed_at && distinctive > 0, logs_in, distinctive, taken.len())
    };
    forms.iter().rev().max_by_key(rank)
}

fn asks_for(page: &Snapshot, asked: Asked) -> bool {
    match_form(&page.controls, &page.words).iter().any(|found| found.asked == Some(asked))
}

/// The controls of which only the agent says what they are for, for the question.
pub fn pointed_boxes(page: &Snapshot, fields: FieldSet, at: &[(Field, NodeId)]) -> Vec<PointedBox> {
    let placed = place_at(page, fields, at).unwrap_or_default();
    let pointed = placed.iter().filter(|placement| placement.basis == Basis::Agent);
    let boxes = pointed.filter_map(|placement| {
        let control = page.controls.iter().find(|control| control.node == placement.node)?;
        let label = if control.label.trim().is_empty() { &control.name } else { &control.label };
        Some(PointedBox { field: placement.field, label: label.clone() })
    });
    boxes.collect()
}

/// Forms for tests.
#[cfg(test)]
pub(crate) mod examples {
    use super::*;
    use browser_signals::{Container, ContainerId, Control, ControlWords, Fact, FormWords, Sink, TlsState};

    /// A text box.
    pub(crate) fn control(node: i64, autocomplete: &str, name: &str, label: &str) -> Control {
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

    /// A form with these controls.
    pub(crate) fn page(controls: Vec<Control>) -> Snapshot {
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
            sandboxed: Fact::Known(false),
            secure_context: Fact::Known(true),
            form: None,
            destination: Fact::Unknown,
            sink: Fact::Known(Sink::Other),
            target: None,
            controls,
            words: FormWords::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::examples::{control, page};
    use super::*;
    use browser_signals::Control;

    #[test]
    fn a_new_password_goes_into_the_form_that_sets_one() {
        let form = |node: i64, token: &str| {
            let mut password = control(node, token, "", "Password");
            password.input_type = "password".into();
            let mut page = page(vec![password, control(node + 1, "email", "", "E-mail")]);
            page.form = Some(NodeId(node));
            Observed::simulated(page, 1)
        };
        let forms = [form(10, "current-password"), form(20, "new-password")];
        let chosen = |field: Field, pointed: Option<&PointedForm>| {
            let fields = FieldSet::EMPTY.with(Field::Email).with(field);
            best_form(&forms, fields, pointed).and_then(|form| form.form)
        };
        assert_eq!(chosen(Field::NewPassword, None), Some(NodeId(20)));
        assert_eq!(chosen(Field::Password, None), Some(NodeId(10)));
        let login = PointedForm::of(forms[0].value());
        assert_eq!(chosen(Field::NewPassword, login.as_ref()), Some(NodeId(20)), "a login sets no password");
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
}
