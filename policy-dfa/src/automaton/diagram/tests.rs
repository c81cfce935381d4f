//! The algebra of regions agrees with plain enumeration.

use proptest::prelude::*;

use super::{Diagrams, Edge, Leaf};
use crate::{Axis, Outcome, Reason, Valuation};

/// The axes of the regions in these tests. They are few enough to enumerate.
const AXES: [Axis; 4] = [Axis::Plan, Axis::Container, Axis::Sink, Axis::Consent];

/// A region as a formula.
#[derive(Debug, Clone)]
enum Formula {
    Test(Axis, u8),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Minus(Box<Formula>, Box<Formula>),
    Select(Box<Formula>, Box<Formula>, Box<Formula>),
}

impl Formula {
    fn holds(&self, v: &Valuation) -> bool {
        match self {
            Formula::Test(axis, symbols) => symbols & (1 << v.get(*axis)) != 0,
            Formula::Not(a) => !a.holds(v),
            Formula::And(a, b) => a.holds(v) && b.holds(v),
            Formula::Or(a, b) => a.holds(v) || b.holds(v),
            Formula::Minus(a, b) => a.holds(v) && !b.holds(v),
            Formula::Select(a, b, c) => {
                if a.holds(v) {
                    b.holds(v)
                } else {
                    c.holds(v)
                }
            }
        }
    }

    fn region(&self, d: &mut Diagrams) -> Edge {
        match self {
            Formula::Test(axis, symbols) => d.test(*axis, *symbols),
            Formula::Not(a) => {
                let a = a.region(d);
                d.not(a)
            }
            Formula::And(a, b) => {
                let (a, b) = (a.region(d), b.region(d));
                d.and(a, b)
            }
            Formula::Or(a, b) => {
                let (a, b) = (a.region(d), b.region(d));
                d.or(a, b)
            }
            Formula::Minus(a, b) => {
                let (a, b) = (a.region(d), b.region(d));
                d.minus(a, b)
            }
            Formula::Select(a, b, c) => {
                let (a, b, c) = (a.region(d), b.region(d), c.region(d));
                d.select(a, b, c)
            }
        }
    }
}

fn formula() -> impl Strategy<Value = Formula> {
    let leaf =
        (prop::sample::select(AXES.to_vec()), any::<u8>()).prop_map(|(axis, set)| Formula::Test(axis, set));
    leaf.prop_recursive(4, 24, 3, |inner| {
        let b = move || inner.clone().prop_map(Box::new);
        prop_oneof![
            b().prop_map(Formula::Not),
            (b(), b()).prop_map(|(x, y)| Formula::And(x, y)),
            (b(), b()).prop_map(|(x, y)| Formula::Or(x, y)),
            (b(), b()).prop_map(|(x, y)| Formula::Minus(x, y)),
            (b(), b(), b()).prop_map(|(x, y, z)| Formula::Select(x, y, z)),
        ]
    })
}

/// Every valuation of the axes above.
fn all() -> Vec<Valuation> {
    AXES.iter().fold(vec![Valuation::FIRST], |done, axis| {
        let places = 0..axis.symbols().len() as u8;
        done.iter()
            .flat_map(|v| {
                places.clone().map(move |place| {
                    let mut v = *v;
                    v.set(*axis, place);
                    v
                })
            })
            .collect()
    })
}

fn holds(d: &Diagrams, region: Edge, v: &Valuation) -> bool {
    let mut at = region;
    while let Some(axis) = d.axis(at) {
        at = d.after(at, axis, v.get(axis));
    }
    d.leaf(at) == Some(Leaf::In)
}

proptest! {
    #[test]
    fn regions_agree_with_their_formulas(formula in formula()) {
        let mut d = Diagrams::default();
        let region = formula.region(&mut d);
        let inside = all().iter().filter(|v| formula.holds(v)).count();
        for v in all() {
            prop_assert_eq!(holds(&d, region, &v), formula.holds(&v));
        }
        let rest: u128 = Axis::ALL.iter().filter(|axis| !AXES.contains(axis)).map(|axis| axis.symbols().len() as u128).product();
        prop_assert_eq!(d.count(region), inside as u128 * rest);
    }

    #[test]
    fn equal_regions_are_the_same_diagram(a in formula(), b in formula()) {
        let mut d = Diagrams::default();
        let (x, y) = (a.region(&mut d), b.region(&mut d));
        prop_assert_eq!(x == y, all().iter().all(|v| a.holds(v) == b.holds(v)));
        let twice = d.not(x);
        prop_assert_eq!(d.not(twice), x);
    }

    #[test]
    fn a_projection_holds_with_some_symbol_of_the_axis(formula in formula(), axis in prop::sample::select(AXES.to_vec())) {
        let mut d = Diagrams::default();
        let region = formula.region(&mut d);
        let projected = d.project(region, axis);
        for v in all() {
            let some = (0..axis.symbols().len() as u8).any(|place| {
                let mut other = v;
                other.set(axis, place);
                formula.holds(&other)
            });
            prop_assert_eq!(holds(&d, projected, &v), some);
        }
    }

    #[test]
    fn nodes_read_the_axes_in_order(formula in formula()) {
        let mut d = Diagrams::default();
        formula.region(&mut d);
        for node in &d.nodes {
            for next in node.next {
                prop_assert!(d.axis(next).is_none_or(|axis| axis > node.axis));
            }
        }
    }
}

#[test]
fn denials_with_different_axes_stay_apart() {
    let mut d = Diagrams::default();
    let one = d.outcome(Outcome::Deny(Axis::Tls, Reason::TlsInvalid));
    let other = d.outcome(Outcome::Deny(Axis::Destination, Reason::TlsInvalid));
    assert_ne!(one, other);
    assert_eq!(d.outcome(Outcome::Deny(Axis::Tls, Reason::TlsInvalid)), one);
}
