//! The built-in invariants: statements about single valuations, and about pairs that differ on one axis.

use sirl::{Kind, Tier};

use super::violation::{Paths, Violation, outcome_in_words, violation};
use crate::automaton::compile::{Compiled, Unchecked};
use crate::automaton::cube::Cube;
use crate::automaton::guards::reaching;
use crate::language::clause::Test;
use crate::vocabulary::alphabet::{Axis, Mask, mask, symbol};
use crate::vocabulary::event::{EventKind, ORDERED, Root, takes_card_or_id};
use crate::vocabulary::outcome::{ConsentScope, Delivery, Outcome};

/// An invariant: its words, and a function that gives the part of a cube that contradicts it.
pub(super) type Invariant = (&'static str, fn(&Compiled<Unchecked>, Root, &Cube, Outcome) -> Option<Cube>);

/// The invariants about single valuations.
pub(super) const INVARIANTS: [Invariant; 20] = [
    ("no field is released in a container below its tier", |_, root, cube, outcome| {
        let (_, need) = request(root, outcome)?;
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
    (
        "nothing is released outside the task's origins, but card data in a named provider's frame",
        |policy, root, cube, outcome| {
            let kind = request(root, outcome)?.0;
            let goal = cube.narrowed(
                Axis::Destination,
                mask(&[
                    symbol::Destination::Other,
                    symbol::Destination::OtherPlain,
                    symbol::Destination::OtherLoopback,
                ]),
            );
            let mut home = mask(&[symbol::Origin::Task]);
            if lets_provider_in(policy, kind) {
                home |= mask(&[symbol::Origin::Provider]);
            }
            cube.narrowed(Axis::Origin, !home)
                .or_else(|| cube.narrowed(Axis::TopOrigin, !mask(&[symbol::TopOrigin::Task])))
                .or_else(|| goal.filter(|_| has_goal(root)))
        },
    ),
    (
        "a provider's frame takes card data alone, after a yes to this one release, and sends them to the provider alone",
        |policy, root, cube, outcome| {
            let kind = request(root, outcome)?.0;
            let within = mask(&[symbol::Frame::Provider]);
            let provider = mask(&[symbol::Origin::Provider]);
            let goal = mask(&[symbol::Destination::Provider]);
            if !lets_provider_in(policy, kind) {
                // `frame any` lets every frame pass, and the origin is still the task's.
                return cube
                    .narrowed(Axis::Origin, provider)
                    .or_else(|| cube.narrowed(Axis::Destination, goal).filter(|_| has_goal(root)));
            }
            let asks_each_time = match outcome {
                Outcome::Ask(scope) => scope == ConsentScope::EveryTime,
                Outcome::Grant(delivery) => {
                    delivery == Some(Delivery::Fill)
                        && cube.mask(Axis::Consent) & !mask(&[symbol::Consent::Given]) == 0
                }
                Outcome::Deny(..) => true,
            };
            let there = cube.narrowed(Axis::Frame, within);
            let elsewhere = cube.narrowed(Axis::Frame, !within);
            there
                .filter(|_| !asks_each_time)
                .or_else(|| there?.narrowed(Axis::Origin, !provider))
                .or_else(|| there?.narrowed(Axis::Destination, !goal))
                .or_else(|| elsewhere?.narrowed(Axis::Origin, provider))
                .or_else(|| elsewhere?.narrowed(Axis::Destination, goal))
        },
    ),
    (
        "nothing is released over a connection or to a form that is not encrypted, unless the policy names loopback",
        |policy, root, cube, outcome| {
            let kind = request(root, outcome)?.0;
            let named = |of: fn(Test) -> bool| {
                // What the section says of this machine is about a page's forms. Nothing is ordered there.
                let rule = policy.policy.requests.get(&kind).filter(|_| matches!(root, Root::Request(..)));
                rule.is_some_and(|rule| {
                    rule.clauses.iter().any(|clause| of(clause.test) && clause.test.passes_loopback())
                })
            };
            let mut encrypted = mask(&[symbol::Tls::Valid]);
            if named(|test| matches!(test, Test::Tls(_))) {
                encrypted |= mask(&[symbol::Tls::Loopback]);
            }
            let mut plain = mask(&[symbol::Destination::TaskPlain, symbol::Destination::OtherPlain]);
            if !named(|test| matches!(test, Test::DestinationChannel(_))) {
                plain |= mask(&[symbol::Destination::TaskLoopback, symbol::Destination::OtherLoopback]);
            }
            let goal = cube.narrowed(Axis::Destination, plain).filter(|_| has_goal(root));
            cube.narrowed(Axis::Tls, !encrypted).or(goal)
        },
    ),
    (
        "no card data and no government identity number go over a connection in clear, not even on this machine",
        |_, root, cube, outcome| {
            request(root, outcome).filter(|(kind, _)| takes_card_or_id(*kind))?;
            let loopback = mask(&[symbol::Destination::TaskLoopback, symbol::Destination::OtherLoopback]);
            let goal = cube.narrowed(Axis::Destination, loopback).filter(|_| has_goal(root));
            cube.narrowed(Axis::Tls, mask(&[symbol::Tls::Loopback])).or(goal)
        },
    ),
    (
        "no T2 field is released on the page's own word: its form must go to the task's origins, or to a named provider",
        |policy, root, cube, outcome| {
            let (Root::Request(kind, Tier::T2), Outcome::Grant(Some(Delivery::Fill | Delivery::Wire))) =
                (root, outcome)
            else {
                return None;
            };
            let mut named = mask(&[symbol::Destination::Task, symbol::Destination::TaskLoopback]);
            if lets_provider_in(policy, kind) {
                named |= mask(&[symbol::Destination::Provider]);
            }
            cube.narrowed(Axis::Destination, !named)
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
    (
        "a control that only the user can judge, by the agent's word or for a street in a text area, is filled after a yes for this one time",
        |_, root, cube, outcome| {
            let Root::Request(..) = root else { return None };
            let doubtful = cube.narrowed(Axis::Placement, mask(&[symbol::Placement::Doubtful]))?;
            match outcome {
                Outcome::Ask(scope) => (scope != ConsentScope::EveryTime).then_some(doubtful),
                Outcome::Grant(_) => doubtful.narrowed(Axis::Consent, !mask(&[symbol::Consent::Given])),
                Outcome::Deny(..) => None,
            }
        },
    ),
    ("no T2 field reaches the model", |_, root, cube, outcome| {
        let reaches =
            matches!((root.asked(), outcome), (Some((_, Tier::T2)), Outcome::Grant(Some(Delivery::Model))));
        reaches.then_some(*cube)
    }),
    (
        "no T2 field is released unless the user said yes, to it or for a purchase to the mandate of the task",
        |policy, root, cube, outcome| {
            let (Some((kind, Tier::T2)), Outcome::Grant(_)) = (root.asked(), outcome) else { return None };
            cube.narrowed(Axis::Consent, !yes(policy, kind))
        },
    ),
    (
        "a low safety that asks leaves no earlier yes in force: each release below the threshold is asked about",
        |policy, root, cube, outcome| {
            let (kind, need) = root.asked()?;
            let rule = policy.policy.requests.get(&kind)?;
            let asks = rule.clauses.iter().any(|clause| clause.test == Test::Safety && clause.soft);
            let low = cube.narrowed(Axis::Safety, !reaching(need)).filter(|_| asks)?;
            match outcome {
                Outcome::Ask(scope) => (scope != ConsentScope::EveryTime).then_some(low),
                Outcome::Grant(_) => low.narrowed(Axis::Consent, !mask(&[symbol::Consent::Given])),
                Outcome::Deny(..) => None,
            }
        },
    ),
    ("a site that is denied is denied whatever else holds", |policy, root, cube, outcome| {
        let concerned = policy.sites.any_names(root);
        cube.narrowed(Axis::Site, !mask(&[symbol::Site::Free])).filter(|_| concerned && outcome.permits())
    }),
    (
        "a purchase is paid at the top of its page and within the task's budget, and no card goes into a form whose page names more",
        |_, root, cube, outcome| match request(root, outcome)?.0 {
            Kind::Purchase => cube
                .narrowed(Axis::Frame, !mask(&[symbol::Frame::Top]))
                .or_else(|| cube.narrowed(Axis::Amount, !mask(&[symbol::Amount::Within]))),
            Kind::Payment => cube.narrowed(Axis::Amount, mask(&[symbol::Amount::Over])),
            _ => None,
        },
    ),
    (
        "an order by `ucp` goes from the top frame of the task's own page, over a valid connection, to that page's own origin over https",
        |_, root, cube, outcome| {
            // Over all events, so that no grant by `ucp` is left out, whatever it is granted for.
            let by_ucp = outcome == Outcome::Grant(Some(Delivery::Ucp));
            let ordered = matches!(root, Root::Checkout(..)) && outcome.permits();
            if !by_ucp && !ordered {
                return None;
            }
            cube.narrowed(Axis::Origin, !mask(&[symbol::Origin::Task]))
                .or_else(|| cube.narrowed(Axis::TopOrigin, !mask(&[symbol::TopOrigin::Task])))
                .or_else(|| cube.narrowed(Axis::Tls, !mask(&[symbol::Tls::Valid])))
                .or_else(|| cube.narrowed(Axis::Frame, !mask(&[symbol::Frame::Top])))
                .or_else(|| cube.narrowed(Axis::Document, !mask(&[symbol::Document::Known])))
                .or_else(|| cube.narrowed(Axis::Destination, !mask(&[symbol::Destination::Task])))
        },
    ),
    (
        "a purchase by `ucp` is placed in a T2 container, within the task's budget, and after a yes that names payee and amount or by the mandate of the task",
        |policy, root, cube, outcome| {
            let Root::Checkout(Kind::Purchase, _) = root else { return None };
            if !outcome.permits() {
                return None;
            }
            // The yes to an amount is one only if the question names it.
            let naming = policy.policy.requests.get(&Kind::Purchase).is_some_and(|rule| rule.naming);
            let unasked = match outcome {
                _ if !naming => Some(*cube),
                Outcome::Grant(_) => cube.narrowed(Axis::Consent, !yes(policy, Kind::Purchase)),
                Outcome::Ask(scope) => (scope != ConsentScope::EveryTime).then_some(*cube),
                Outcome::Deny(..) => None,
            };
            cube.narrowed(Axis::Container, !mask(&[symbol::Container::T2]))
                .or_else(|| cube.narrowed(Axis::Amount, !mask(&[symbol::Amount::Within])))
                .or(unasked)
        },
    ),
    (
        "an order takes the fields of an address, of contact data or of a purchase alone, and goes by `ucp` and no other way, as nothing else does",
        |_, root, cube, outcome| {
            let by_ucp = outcome == Outcome::Grant(Some(Delivery::Ucp));
            match root {
                Root::Checkout(kind, _) if outcome.permits() => {
                    let astray =
                        !ORDERED.contains(&kind) || (matches!(outcome, Outcome::Grant(_)) && !by_ucp);
                    let foreign = cube.narrowed(
                        Axis::Placement,
                        mask(&[symbol::Placement::Lacking, symbol::Placement::Doubtful]),
                    );
                    if astray { Some(*cube) } else { foreign }
                }
                Root::Request(..) | Root::Verb(_) if by_ucp => Some(*cube),
                _ => None,
            }
        },
    ),
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

/// Whether the policy fills this kind into the frame of a provider that it names.
fn lets_provider_in(policy: &Compiled<Unchecked>, kind: Kind) -> bool {
    let rule = policy.policy.requests.get(&kind).filter(|_| kind == Kind::Payment);
    let named = !policy.policy.providers.is_empty();
    named && rule.is_some_and(|rule| rule.clauses.iter().any(|clause| clause.test.passes_provider()))
}

/// The answers that are a yes to a T2 field of this kind, or to a purchase.
fn yes(policy: &Compiled<Unchecked>, kind: Kind) -> Mask {
    let mandated = if takes_mandate(policy, kind) { mask(&[symbol::Consent::Mandated]) } else { 0 };
    mask(&[symbol::Consent::Given]) | mandated
}

/// Whether the policy lets the task's mandate take the place of a question about this kind.
fn takes_mandate(policy: &Compiled<Unchecked>, kind: Kind) -> bool {
    kind == Kind::Purchase && policy.policy.requests.get(&kind).is_some_and(|rule| rule.mandate)
}

/// The request of a root, in a page or at a shop's endpoint, if the outcome permits it.
fn request(root: Root, outcome: Outcome) -> Option<(Kind, Tier)> {
    root.asked().filter(|_| outcome.permits())
}

/// Whether the request goes where the destination says: into a form of the page, or to a shop's endpoint. A purchase in a page has
/// neither.
fn has_goal(root: Root) -> bool {
    !matches!(root, Root::Request(Kind::Purchase, _))
}

/// The signals that every release needs, whatever the policy says.
fn needed(root: Root) -> &'static [Axis] {
    use Axis::{Amount, Container, Destination, Document, Frame, Origin, Tls, TopOrigin, Visibility};
    match root {
        Root::Verb(_) => &[],
        Root::Request(Kind::Purchase, _) => &[Container, Origin, TopOrigin, Tls, Frame, Document, Amount],
        Root::Checkout(Kind::Purchase, _) => {
            &[Container, Origin, TopOrigin, Tls, Frame, Document, Destination, Amount]
        }
        Root::Checkout(..) => &[Container, Origin, TopOrigin, Tls, Frame, Document, Destination],
        Root::Request(..) => &[Container, Origin, TopOrigin, Tls, Frame, Document, Destination, Visibility],
    }
}

/// A statement about two outcomes whose valuations differ on one axis.
pub(super) struct Pair {
    pub(super) words: &'static str,
    axis: Axis,
    /// The answers of the user that it is about.
    answers: fn() -> Mask,
    /// Whether two outcomes contradict the statement, given the symbols on the axis.
    contradicts: fn(Root, (u8, Outcome), (u8, Outcome)) -> bool,
}

/// The invariants about pairs of valuations.
pub(super) const PAIRS: [Pair; 4] = [
    Pair {
        words: "a lower safety never turns a refusal into a question or a grant",
        axis: Axis::Safety,
        answers: any_answer,
        contradicts: |_, low, high| worse(low.0, high.0) && rank(low.1) > rank(high.1),
    },
    Pair {
        words: "no safety turns a question into a grant of a T2 field, but where a mandate of the user's covers it",
        axis: Axis::Safety,
        answers: || !mask(&[symbol::Consent::Mandated]),
        contradicts: |root, one, other| {
            let t2 = matches!(root.asked(), Some((_, Tier::T2)));
            t2 && matches!((one.1, other.1), (Outcome::Ask(_), Outcome::Grant(_)))
        },
    },
    Pair {
        words: "nobody is asked about what is refused anyway",
        axis: Axis::Consent,
        answers: any_answer,
        contradicts: |_, asked, answered| {
            let yes = 1 << answered.0 == mask(&[symbol::Consent::Given]);
            yes && matches!((asked.1, answered.1), (Outcome::Ask(_), Outcome::Deny(..)))
        },
    },
    Pair {
        words: "a mandate grants nothing that a yes of the user's would not",
        axis: Axis::Consent,
        answers: any_answer,
        contradicts: |_, mandated, answered| {
            let is = |symbol, index: u8| 1 << index == mask(&[symbol]);
            is(symbol::Consent::Mandated, mandated.0)
                && is(symbol::Consent::Given, answered.0)
                && matches!(mandated.1, Outcome::Grant(_))
                && mandated.1 != answered.1
        },
    },
];

fn any_answer() -> Mask {
    Axis::Consent.full()
}

fn rank(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Deny(..) => 0,
        Outcome::Ask(_) => 1,
        Outcome::Grant(_) => 2,
    }
}

/// Whether the first safety band is below the second. An unknown safety is below all.
fn worse(one: u8, other: u8) -> bool {
    let order = |band: u8| if 1 << band == Axis::Safety.unknown() { 0 } else { band + 1 };
    order(one) < order(other)
}

/// The counterexample to a statement about pairs with the fewest signals.
pub(super) fn contradicting_pair(pair: &Pair, roots: &Paths) -> Option<Violation> {
    let found = roots.iter().flat_map(|(root, paths)| {
        let both = paths.iter().flat_map(|one| paths.iter().map(move |other| (one, other)));
        both.into_iter().filter_map(|(one, other)| contradiction(pair, *root, one, other))
    });
    found.min_by_key(Violation::size)
}

fn contradiction(
    pair: &Pair,
    root: Root,
    one: &(Cube, Outcome),
    other: &(Cube, Outcome),
) -> Option<Violation> {
    // In every statement the first case is not denied.
    if !one.1.permits() {
        return None;
    }
    let about = |cube: &Cube| cube.narrowed(Axis::Consent, (pair.answers)());
    let (one, other) = ((about(&one.0)?, one.1), (about(&other.0)?, other.1));
    let shared = one.0.freed(pair.axis).intersect(&other.0.freed(pair.axis))?;
    let symbols = |set: Mask| (0..8u8).filter(move |index| set & (1 << index) != 0);
    symbols(one.0.mask(pair.axis)).find_map(|first| {
        let against = |second: &u8| (pair.contradicts)(root, (first, one.1), (*second, other.1));
        let second = symbols(other.0.mask(pair.axis)).find(against)?;
        let part = shared.narrowed(pair.axis, 1 << first)?;
        let mut found = violation(pair.words.to_owned(), root, (&shared, &part), one.1);
        let name = pair.axis.symbols().get(usize::from(second)).copied().unwrap_or("unknown");
        let (axis, answer) = (pair.axis.as_str(), outcome_in_words(other.1));
        found.but = Some(format!("the same is {answer} where {axis} is {name}"));
        Some(found)
    })
}
