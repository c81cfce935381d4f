//! The proofs: what must hold of every valuation, and a counterexample where it does not.
//!
//! A walk through the automaton ends in one outcome for a whole cube of valuations. The cubes of a root
//! are disjoint and fill the space, so looking at each of them, and for statements about two valuations at
//! each pair, is looking at every valuation there is.

use sirl::{Field, Kind, Tier};

use crate::alphabet::{Axis, Mask, Valuation, mask, symbol};
use crate::compile::{Checked, Compiled, Unchecked};
use crate::policy::{Delivery, Proof, Subject};
use crate::table::{Cube, Outcome, Root};

/// A statement that does not hold, with one case in which it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The statement, in plain words or as the policy wrote it.
    pub statement: String,
    /// What is decided in the case.
    pub root: Root,
    /// The signals of the case.
    pub valuation: Valuation,
    /// What the policy answers.
    pub outcome: Outcome,
    /// The signals that make it a contradiction.
    pub because: Vec<Axis>,
    /// The other signals on which the case depends; those that are in neither list do not matter.
    pub given: Vec<Axis>,
    /// For a statement about two cases: what the other one answers and what sets it apart.
    pub but: Option<String>,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let answer = match self.outcome {
            Outcome::Deny(_, reason) => format!("refused ({})", reason.code()),
            Outcome::Ask(_) => "asked".to_owned(),
            Outcome::Grant(None) => "granted".to_owned(),
            Outcome::Grant(Some(way)) => format!("granted by {}", way.as_str()),
        };
        let facts = |axes: &[Axis]| {
            let each = axes.iter().map(|axis| format!("{} is {}", axis.as_str(), self.valuation.name(*axis)));
            each.collect::<Vec<_>>().join(", ")
        };
        write!(f, "{}: but {} is {answer}", self.statement, self.root)?;
        if !self.because.is_empty() {
            write!(f, " where {}", facts(&self.because))?;
        }
        if !self.given.is_empty() {
            write!(f, " (given that {})", facts(&self.given))?;
        }
        match &self.but {
            Some(but) => write!(f, "; {but}"),
            None => Ok(()),
        }
    }
}

/// A built-in statement: its words, and the part of a cube that contradicts it.
type Invariant = (&'static str, fn(&Compiled<Unchecked>, Root, &Cube, Outcome) -> Option<Cube>);

/// The built-in statements. Those about pairs of cases follow in [`pairs`].
const INVARIANTS: [Invariant; 13] = [
    ("no field is released in a container below its tier", |_, root, cube, outcome| {
        let (Root::Request(_, need), true) = (root, opens(outcome)) else { return None };
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
        let needed = |axis: &&Axis| cube.was_read(**axis) || needed(root).contains(axis);
        let unknown = |axis: &Axis| cube.narrowed(*axis, axis.unknown());
        if opens(outcome) { Axis::ALL.iter().filter(needed).find_map(unknown) } else { None }
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
        let concerned = policy.sites.iter().any(|site| match root {
            Root::Request(kind, _) => site.kinds.contains(&kind),
            Root::Verb(verb) => site.verbs.contains(&verb),
        });
        cube.narrowed(Axis::Site, !mask(&[symbol::Site::Free])).filter(|_| concerned && opens(outcome))
    }),
    ("a purchase is paid at the top of its page and within the task's budget", |_, root, cube, outcome| {
        let (Root::Request(Kind::Purchase, _), true) = (root, opens(outcome)) else { return None };
        cube.narrowed(Axis::Frame, !mask(&[symbol::Frame::Top]))
            .or_else(|| cube.narrowed(Axis::Amount, !mask(&[symbol::Amount::Within])))
    }),
    ("no limit of the session is passed", |policy, root, cube, outcome| {
        let session = policy.session;
        let passed = |limited: bool, axis: Axis, bad: Mask| {
            cube.narrowed(axis, bad).filter(|_| limited && opens(outcome))
        };
        let asks = session.prompts.is_some() && matches!(outcome, Outcome::Ask(_));
        let prompts = passed(asks, Axis::Prompts, mask(&[symbol::Prompts::Spent]));
        let Root::Request(kind, need) = root else { return prompts };
        let locked = session.tainted.is_some_and(|lowest| need >= lowest);
        let counted = session.purchases.is_some() && kind == Kind::Purchase;
        prompts
            .or_else(|| passed(locked, Axis::Taint, mask(&[symbol::Taint::Tainted])))
            .or_else(|| passed(counted, Axis::Purchases, mask(&[symbol::Purchases::Spent])))
    }),
];

/// How many statements every policy is checked for.
pub(crate) const BUILT_IN: usize = INVARIANTS.len() + pairs::STATEMENTS.len();

/// Whether an outcome lets something happen, now or after a yes.
fn opens(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::Deny(..))
}

/// The request of a root, if the outcome opens it.
fn request(root: Root, outcome: Outcome) -> Option<(Kind, Tier)> {
    match root {
        Root::Request(kind, need) if opens(outcome) => Some((kind, need)),
        _ => None,
    }
}

/// The signals without which nothing is released, written in the policy or not.
fn needed(root: Root) -> &'static [Axis] {
    use Axis::{Amount, Container, Destination, Document, Frame, Origin, Tls, TopOrigin, Visibility};
    match root {
        Root::Verb(_) => &[],
        Root::Request(Kind::Purchase, _) => &[Container, Origin, TopOrigin, Tls, Frame, Document, Amount],
        Root::Request(..) => &[Container, Origin, TopOrigin, Tls, Frame, Document, Destination, Visibility],
    }
}

impl Compiled<Unchecked> {
    /// Proves the built-in invariants and the policy's own `prove` lines over every valuation.
    ///
    /// # Errors
    /// Every statement that does not hold, each with a case in which it does not.
    ///
    /// ```
    /// use policy_dfa::Policy;
    ///
    /// # let shipped = include_str!("../../policies/default.policy");
    /// let careless = shipped.replace("container covers the fields", "container T0");
    /// let violations = Policy::parse(&careless).unwrap().compile().unwrap().check().unwrap_err();
    /// assert!(violations[0].to_string().contains("container is T0"));
    /// ```
    pub fn check(self) -> Result<Compiled<Checked>, Vec<Violation>> {
        let mut violations = Vec::new();
        let roots: Vec<_> = Root::all()
            .filter(|root| self.can_occur(*root))
            .map(|root| (root, self.table.paths(root)))
            .collect();
        for (statement, contradicts) in INVARIANTS {
            let found = roots.iter().find_map(|(root, paths)| {
                first(paths, |cube, outcome| contradicts(&self, *root, cube, outcome)).map(
                    |(cube, part, outcome)| violation(statement.to_owned(), *root, (&cube, &part), outcome),
                )
            });
            violations.extend(found);
        }
        violations.extend(pairs::STATEMENTS.iter().filter_map(|pair| pairs::contradiction(pair, &roots)));
        for proof in &self.proofs {
            let found =
                roots.iter().filter(|(root, _)| subject(proof).includes(*root)).find_map(|(root, paths)| {
                    first(paths, |cube, outcome| contradicted(proof, cube, outcome)).map(
                        |(cube, part, outcome)| {
                            violation(format!("`{proof}`"), *root, (&cube.forgot(proof), &part), outcome)
                        },
                    )
                });
            violations.extend(found);
        }
        if violations.is_empty() { Ok(self.marked()) } else { Err(violations) }
    }

    /// Whether any request can start at a root: a purchase always needs the card, and a kind needs one of
    /// the tiers of its fields.
    fn can_occur(&self, root: Root) -> bool {
        match root {
            Root::Verb(_) => true,
            Root::Request(Kind::Purchase, need) => need == Tier::T2,
            Root::Request(kind, need) => {
                kind.allowed_fields().iter().any(|field: Field| self.tiers.of(field) == need)
            }
        }
    }
}

/// The first path of which a part contradicts a statement, and that part.
fn first(
    paths: &[(Cube, Outcome)],
    contradicts: impl Fn(&Cube, Outcome) -> Option<Cube>,
) -> Option<(Cube, Cube, Outcome)> {
    paths.iter().find_map(|(cube, outcome)| contradicts(cube, *outcome).map(|part| (*cube, part, *outcome)))
}

/// A violation in one case of `part`, which is the part of a path's `cube` that contradicts.
fn violation(statement: String, root: Root, (cube, part): (&Cube, &Cube), outcome: Outcome) -> Violation {
    let matters = Axis::ALL.iter().copied().filter(|axis| part.mask(*axis) != axis.full());
    let (because, given) = matters.partition(|axis| part.mask(*axis) != cube.mask(*axis));
    Violation { statement, root, valuation: part.witness(), outcome, because, given, but: None }
}

impl Cube {
    /// The cube without what it says of the signals that a statement names: they are why it fails.
    fn forgot(self, proof: &Proof) -> Cube {
        match proof {
            Proof::NeverGrant { conditions, .. } => {
                conditions.iter().fold(self, |cube, named| cube.freed(named.axis))
            }
            Proof::NeverDeliver { .. } => self,
        }
    }
}

fn subject(proof: &Proof) -> Subject {
    match proof {
        Proof::NeverGrant { subject, .. } | Proof::NeverDeliver { subject, .. } => *subject,
    }
}

impl Subject {
    fn includes(self, root: Root) -> bool {
        match (self, root) {
            (Subject::Tier(lowest), Root::Request(_, need)) => need >= lowest,
            (Subject::Kind(kind), Root::Request(asked, _)) => kind == asked,
            (Subject::Verb(verb), Root::Verb(done)) => verb == done,
            _ => false,
        }
    }
}

fn contradicted(proof: &Proof, cube: &Cube, outcome: Outcome) -> Option<Cube> {
    match (proof, outcome) {
        (Proof::NeverGrant { conditions, .. }, Outcome::Grant(_)) => conditions
            .iter()
            .try_fold(*cube, |cube, condition| cube.narrowed(condition.axis, condition.symbols)),
        (Proof::NeverDeliver { delivery, .. }, Outcome::Grant(Some(way))) if *delivery == way => Some(*cube),
        _ => None,
    }
}

/// Statements about two valuations that differ on one axis.
mod pairs {
    use super::{Axis, Cube, Mask, Outcome, Root, Tier, Violation, mask, opens, symbol, violation};

    /// Words; the axis; whether two outcomes contradict, given their symbols on it.
    pub(super) struct Pair {
        pub(super) words: &'static str,
        axis: Axis,
        contradicts: fn(Root, (u8, Outcome), (u8, Outcome)) -> bool,
    }

    pub(super) const STATEMENTS: [Pair; 3] = [
        Pair {
            words: "a lower safety never turns a refusal into a question or a grant",
            axis: Axis::Safety,
            contradicts: |_, low, high| worse(low.0, high.0) && rank(low.1) > rank(high.1),
        },
        Pair {
            words: "no safety turns a question into a grant of a T2 field",
            axis: Axis::Safety,
            contradicts: |root, one, other| {
                let t2 = matches!(root, Root::Request(_, Tier::T2));
                t2 && matches!((one.1, other.1), (Outcome::Ask(_), Outcome::Grant(_)))
            },
        },
        Pair {
            words: "nobody is asked about what is refused anyway",
            axis: Axis::Consent,
            contradicts: |_, asked, answered| {
                let yes = 1 << answered.0 == mask(&[symbol::Consent::Given]);
                yes && matches!((asked.1, answered.1), (Outcome::Ask(_), Outcome::Deny(..)))
            },
        },
    ];

    fn rank(outcome: Outcome) -> u8 {
        match outcome {
            Outcome::Deny(..) => 0,
            Outcome::Ask(_) => 1,
            Outcome::Grant(_) => 2,
        }
    }

    /// Whether the first safety is worse than the second; not judged is worse than all.
    fn worse(one: u8, other: u8) -> bool {
        let place = |band: u8| if 1 << band == Axis::Safety.unknown() { 0 } else { band + 1 };
        place(one) < place(other)
    }

    pub(super) fn contradiction(pair: &Pair, roots: &[(Root, Vec<(Cube, Outcome)>)]) -> Option<Violation> {
        roots.iter().find_map(|(root, paths)| {
            let both = paths.iter().flat_map(|one| paths.iter().map(move |other| (one, other)));
            both.into_iter().find_map(|(one, other)| case(pair, *root, one, other))
        })
    }

    fn case(pair: &Pair, root: Root, one: &(Cube, Outcome), other: &(Cube, Outcome)) -> Option<Violation> {
        // Every statement is about a first case that opens something.
        if !opens(one.1) {
            return None;
        }
        let shared = one.0.freed(pair.axis).meet(&other.0.freed(pair.axis))?;
        let symbols = |set: Mask| (0..8u8).filter(move |place| set & (1 << place) != 0);
        symbols(one.0.mask(pair.axis)).find_map(|first| {
            let against = |second: &u8| (pair.contradicts)(root, (first, one.1), (*second, other.1));
            let second = symbols(other.0.mask(pair.axis)).find(against)?;
            let part = shared.narrowed(pair.axis, 1 << first)?;
            let mut found = violation(pair.words.to_owned(), root, (&shared, &part), one.1);
            let name = pair.axis.symbols().get(usize::from(second)).copied().unwrap_or("unknown");
            let answer = match other.1 {
                Outcome::Deny(_, reason) => format!("refused ({})", reason.code()),
                Outcome::Ask(_) => "asked".to_owned(),
                Outcome::Grant(_) => "granted".to_owned(),
            };
            found.but = Some(format!("the same is {answer} where {} is {name}", pair.axis.as_str()));
            Some(found)
        })
    }
}

#[cfg(test)]
mod tests;
