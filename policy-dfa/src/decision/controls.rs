//! The controls that the fields of a request are assigned to.

use browser_signals::{Control, Fact, Snapshot};
use sirl::{Field, FieldSet, Request, Tier};

use super::question::{Basis, Placement};
use crate::language::policy::Tiers;
use crate::vocabulary::alphabet::symbol;
use crate::vocabulary::event::NEVER_POINTED;

/// The symbols of the controls of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) placement: symbol::Placement,
    pub(super) visibility: symbol::Visibility,
}

impl Placed {
    /// Each control is looked up once, since a page has many of them, each in memory of its own.
    pub(super) fn of(
        request: &Request,
        placements: &[Placement],
        page: Option<&Snapshot>,
        tiers: &Tiers,
    ) -> Placed {
        let form = page.and_then(|page| page.form);
        let mut named = FieldSet::EMPTY;
        let (mut fits, mut is_exposed, mut is_doubtful) = (true, false, false);
        let mut worst = None;
        for (index, placement) in placements.iter().enumerate() {
            let control = control(page, *placement);
            worst = worst.max(Some(seen(control)));
            named = named.with(placement.field);
            let is_repeated = placements.iter().skip(index + 1).any(|other| other.node == placement.node);
            fits &= !is_repeated && control.is_some_and(|control| control.editable && control.form == form);
            let in_lines =
                placement.field == Field::Street && control.is_some_and(|control| control.tag == "textarea");
            is_exposed |=
                !in_lines && tiers.of(placement.field) == Tier::T2 && control.is_some_and(free_text);
            let is_pointed = placement.basis == Basis::Agent;
            fits &= !is_pointed || page.is_some_and(|page| takes_pointed(page, placement.field, control));
            is_doubtful |= is_pointed || in_lines;
        }
        let fields = request.effective_fields();
        let placement = if !fields.is_subset_of(request.kind.allowed_fields()) {
            symbol::Placement::Lacking
        } else if placements.is_empty() {
            symbol::Placement::Unplaced
        } else if !fits || named != fields {
            symbol::Placement::Lacking
        } else if is_exposed {
            symbol::Placement::FreeText
        } else if is_doubtful {
            symbol::Placement::Doubtful
        } else {
            symbol::Placement::Whole
        };
        Placed { placement, visibility: worst.unwrap_or(symbol::Visibility::Unknown) }
    }
}

fn control(page: Option<&Snapshot>, placement: Placement) -> Option<&Control> {
    page.and_then(|page| page.controls.iter().find(|control| control.node == placement.node))
}

/// Whether the agent's word is enough for a placement, if the user agrees: it never is for card data, passwords, codes and
/// identity numbers, for free text, and for a form that is not sent by `POST`.
pub fn suffices(page: &Snapshot, placement: Placement) -> bool {
    takes_pointed(page, placement.field, control(Some(page), placement))
}

fn takes_pointed(page: &Snapshot, field: Field, control: Option<&Control>) -> bool {
    let is_posted = page.destination.known().is_some_and(|goal| &*goal.method == "POST");
    let takes_a_line = control.is_some_and(|control| !free_text(control));
    is_posted && takes_a_line && !NEVER_POINTED.contains(field)
}

/// Whether a control takes free text, such as a chat box.
fn free_text(control: &Control) -> bool {
    !matches!(control.tag.as_str(), "input" | "select") || control.input_type == "search"
}

/// Whether the user can see a control.
pub(super) fn seen(control: Option<&Control>) -> symbol::Visibility {
    match control.map(|control| (control.visible, control.hit)) {
        Some((Fact::Known(true), Fact::Known(true))) => symbol::Visibility::Seen,
        Some((Fact::Known(false), _) | (_, Fact::Known(false))) => symbol::Visibility::Hidden,
        _ => symbol::Visibility::Unknown,
    }
}
