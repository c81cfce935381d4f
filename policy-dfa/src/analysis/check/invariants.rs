//! The built-in invariants: statements about single cases.

use sirl::{Kind, Tier};

use crate::automaton::compile::{Compiled, Unchecked};
use crate::automaton::cube::Cube;
use crate::vocabulary::alphabet::{Axis, Mask, mask, symbol};
use crate::vocabulary::event::{EventKind, Root};
use crate::vocabulary::outcome::{Delivery, Outcome};

/// An invariant: its words, and a function that gives the part of a cube that contradicts it.
pub(super) type Invariant = (&'static str, fn(&Compiled<Unchecked>, Root, &Cube, Outcome) -> Option<Cube>);

/// The invariants about single cases. Those about two cases are in `pairs`.
pub(super) const INVARIANTS: [Invariant; 13] = [
    ("no field is released in a container below its tier", |_, root, cube, outcome| {
        let (Root::Request(_, need), true) = (root, outcome.permits()) else { return None };
        use symbol::Container::{T0, T1, Unknown};
        cube.narrowed(
            Axis::Container,
            match need {
                Tier::T0 => mask(&[Unknown]),
                Tier::T1 => mask(&[Unknown, T0]),
                Tier::T2 => mask(&[Unknown, T0, T1]),
            },
        )
    }),
    ("a needed signal that is unknown is refused", |_, root, cube, outcome| {
        let unknown = |axis: &Axis| cube.narrowed(*axis, axis.unknown());
        if outcome.permits() { needed(root).iter().find_map(unknown) } else { None }
    }),
    ("a claim that the browser does not confirm is refused", |_, root, cube, outcome| {
        request(root, outcome)?;
        cube.narrowed(Axis::Claim, mask(&[symbol::Claim::Contradicts]))
    }),
    ("nothing is released that the task did not plan", |_, root, cube, outcome| {
        request(root, outcome)?;
        cube.narrowed(Axis::Plan, mask(&[symbol::Plan::Unplanned]))
    }),
    ("nothing is released outside the task's origins", |_, root, cube, outcome| {
        let kind = request(root, outcome)?.0;
        let goal = cube.narrowed(
            Axis::Destination,
            mask(&[symbol::Destination::Other, symbol::Destination::OtherPlain]),
        );
        cube.narrowed(Axis::Origin, !mask(&[symbol::Origin::Task]))
            .or_else(|| cube.narrowed(Axis::TopOrigin, !mask(&[symbol::TopOrigin::Task])))
            .or_else(|| goal.filter(|_| kind != Kind::Purchase))
    }),
    ("nothing is released over a connection or to a form that is not encrypted", |_, root, cube, outcome| {
        let kind = request(root, outcome)?.0;
        let plain = mask(&[symbol::Destination::TaskPlain, symbol::Destination::OtherPlain]);
        let goal = cube.narrowed(Axis::Destination, plain).filter(|_| kind != Kind::Purchase);
        cube.narrowed(Axis::Tls, !mask(&[symbol::Tls::Valid])).or(goal)
    }),
    (
        "no T2 field is released on the page's own word: its form must go to the task's origins",
        |_, root, cube, outcome| {
            let (Root::Request(_, Tier::T2), Outcome::Grant(Some(Delivery::Fill | Delivery::Wire))) =
                (root, outcome)
            else {
                return None;
            };
            cube.narrowed(Axis::Destination, !mask(&[symbol::Destination::Task]))
        },
    ),
    ("a field is only put into a suitable control that can be seen", |_, root, cube, outcome| {
        let (Root::Request(_, need), Outcome::Grant(Some(Delivery::Fill | Delivery::Wire))) = (root, outcome)
        else {
            return None;
        };
        use symbol::Placement::{FreeText, Lacking, Unplaced};
        let unfit =
            if need == Tier::T2 { mask(&[FreeText, Lacking, Unplaced]) } else { mask(&[Lacking, Unplaced]) };
        cube.narrowed(Axis::Placement, unfit)
            .or_else(|| cube.narrowed(Axis::Visibility, mask(&[symbol::Visibility::Hidden])))
    }),
    ("no T2 field reaches the model", |_, root, cube, outcome| {
        let reaches =
            matches!((root, outcome), (Root::Request(_, Tier::T2), Outcome::Grant(Some(Delivery::Model))));
        reaches.then_some(*cube)
    }),
    ("no T2 field is released unless the user said yes", |_, root, cube, outcome| {
        let granted = matches!((root, outcome), (Root::Request(_, Tier::T2), Outcome::Grant(_)));
        cube.narrowed(Axis::Consent, !mask(&[symbol::Consent::Given])).filter(|_| granted)
    }),
    ("a site that is denied is denied whatever else holds", |policy, root, cube, outcome| {
        let concerned = policy.sites.any_names(root);
        cube.narrowed(Axis::Site, !mask(&[symbol::Site::Free])).filter(|_| concerned && outcome.permits())
    }),
    ("a purchase is paid at the top of its page and within the task's budget", |_, root, cube, outcome| {
        let (Root::Request(Kind::Purchase, _), true) = (root, outcome.permits()) else { return None };
        cube.narrowed(Axis::Frame, !mask(&[symbol::Frame::Top]))
            .or_else(|| cube.narrowed(Axis::Amount, !mask(&[symbol::Amount::Within])))
    }),
    ("no limit of the session is passed", |policy, root, cube, outcome| {
        let session = &policy.policy.session;
        let passed = |limited: bool, axis: Axis, bad: Mask| {
            cube.narrowed(axis, bad).filter(|_| limited && outcome.permits())
        };
        let asks = session.prompts.is_some() && matches!(outcome, Outcome::Ask(_));
        let prompts = passed(asks, Axis::Prompts, mask(&[symbol::Prompts::Spent]));
        let counted = session.uses.contains_key(&EventKind::of(root));
        prompts
            .or_else(|| passed(session.can_bar(root, true), Axis::Taint, mask(&[symbol::Taint::Tainted])))
            .or_else(|| passed(session.can_bar(root, false), Axis::Session, mask(&[symbol::Session::Barred])))
            .or_else(|| passed(counted, Axis::Uses, mask(&[symbol::Uses::Spent])))
    }),
];

/// The request of a root, if the outcome permits it.
fn request(root: Root, outcome: Outcome) -> Option<(Kind, Tier)> {
    match root {
        Root::Request(kind, need) if outcome.permits() => Some((kind, need)),
        _ => None,
    }
}

/// The signals that every release needs, whatever the policy says.
fn needed(root: Root) -> &'static [Axis] {
    use Axis::{Amount, Container, Destination, Document, Frame, Origin, Tls, TopOrigin, Visibility};
    match root {
        Root::Verb(_) => &[],
        Root::Request(Kind::Purchase, _) => &[Container, Origin, TopOrigin, Tls, Frame, Document, Amount],
        Root::Request(..) => &[Container, Origin, TopOrigin, Tls, Frame, Document, Destination, Visibility],
    }
}
