//! What two policies answer differently, and what else differs between them.

mod asides;

pub use asides::Aside;

use crate::alphabet::Valuation;
use crate::compile::Compiled;
use crate::cube::Cube;
use crate::diagram::{Diagrams, Edge};
use crate::policy::Delivery;
use crate::table::{Outcome, Root};
use crate::{ConsentScope, Partial};

/// An answer, without the reason of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Refused.
    Denied,
    /// To be asked, and how long a yes holds.
    Asked(ConsentScope),
    /// Granted: a release by this way, or, with none, a verb.
    Granted(Option<Delivery>),
}

impl Answer {
    fn of(outcome: Outcome) -> Answer {
        match outcome {
            Outcome::Deny(..) => Answer::Denied,
            Outcome::Ask(scope) => Answer::Asked(scope),
            Outcome::Grant(way) => Answer::Granted(way),
        }
    }

    fn all() -> Vec<Answer> {
        let asked = [ConsentScope::EveryTime, ConsentScope::Session, ConsentScope::Site].map(Answer::Asked);
        let released = Delivery::ALL.map(|way| Answer::Granted(Some(way)));
        // What is newly granted is what a person wants to see first.
        let granted = released.into_iter().chain([Answer::Granted(None)]);
        granted.chain(asked).chain([Answer::Denied]).collect()
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Answer::Denied => f.write_str("refused"),
            Answer::Asked(scope) => write!(f, "asked {}", how_often(*scope)),
            Answer::Granted(None) => f.write_str("granted"),
            Answer::Granted(Some(way)) => write!(f, "granted by {}", way.as_str()),
        }
    }
}

/// What differs between two policies. Empty where they mean the same.
///
/// A policy's name and version are labels and no part of it. Its [`Display`](std::fmt::Display) is the whole
/// in plain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// Where the answers differ, event by event.
    pub changes: Vec<Change>,
    /// What differs outside of a single decision: tiers, thresholds, sites, session, statements.
    pub asides: Vec<Aside>,
}

/// Where one event gets another answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The event.
    pub root: Root,
    /// What the old policy answers.
    pub old: Answer,
    /// What the new policy answers. Where both refuse, they do so for different reasons.
    pub new: Answer,
    /// The cases, few and wide. Together they are exactly those that changed so; they may overlap.
    pub parts: Vec<Part>,
    /// How many combinations of signals changed so, of all there are.
    pub count: u128,
}

/// Cases that changed in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The cases.
    pub cases: Partial,
    /// How many combinations of signals they are.
    pub count: u128,
    /// One of them.
    pub witness: Valuation,
}

impl Change {
    /// Whether some of its parts share cases, so that their counts add up to more than its own.
    pub fn overlaps(&self) -> bool {
        self.parts.iter().map(|part| part.count).sum::<u128>() > self.count
    }
}

impl Diff {
    /// Compares two policies over every combination of signals.
    ///
    /// ```
    /// # let text = include_str!("../../policies/default.policy");
    /// use policy_dfa::{Policy, diff::Diff};
    ///
    /// let old = Policy::parse(text).unwrap().compile().unwrap();
    /// let lax = text.replacen("    tls valid\n", "", 1);
    /// let new = Policy::parse(&lax).unwrap().compile().unwrap();
    /// assert!(Diff::between(&old, &old).is_empty());
    /// assert!(Diff::between(&old, &new).to_string().contains("newly granted by fill: `address`"));
    /// ```
    pub fn between<Old, New>(old: &Compiled<Old>, new: &Compiled<New>) -> Diff {
        let occurs = |root: &Root| old.policy.can_occur(*root) || new.policy.can_occur(*root);
        let mut changes: Vec<Change> =
            Root::all().filter(occurs).flat_map(|root| changes(old, new, root)).collect();
        let order = Answer::all();
        changes.sort_by_key(|change| order.iter().position(|answer| *answer == change.new));
        Diff { changes, asides: asides::between(&old.policy, &new.policy) }
    }

    /// Whether the two mean the same.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.asides.is_empty()
    }
}

fn changes<Old, New>(old: &Compiled<Old>, new: &Compiled<New>, root: Root) -> Vec<Change> {
    let mut diagrams = Diagrams::default();
    let before = old.table.diagram(&mut diagrams, root);
    let after = new.table.diagram(&mut diagrams, root);
    if before == after {
        return Vec::new();
    }
    let mut found = Vec::new();
    for was in Answer::all() {
        for is in Answer::all() {
            let region = if (was, is) == (Answer::Denied, Answer::Denied) {
                other_reasons(&mut diagrams, before, after)
            } else if was == is {
                Diagrams::NOTHING
            } else {
                let left = diagrams.where_ends(before, |outcome| Answer::of(outcome) == was);
                let reached = diagrams.where_ends(after, |outcome| Answer::of(outcome) == is);
                diagrams.and(left, reached)
            };
            if region == Diagrams::NOTHING {
                continue;
            }
            let part =
                |cube: Cube| Part { cases: Partial(cube), count: cube.count(), witness: cube.witness() };
            let mut parts: Vec<Part> = diagrams.cover(region, region).into_iter().map(part).collect();
            parts.sort_by_key(|part| std::cmp::Reverse(part.count));
            found.push(Change { root, old: was, new: is, parts, count: diagrams.count(region) });
        }
    }
    found
}

/// Where both refuse, but not for the same reason.
fn other_reasons(diagrams: &mut Diagrams, before: Edge, after: Edge) -> Edge {
    let denied = |outcome: Outcome| Answer::of(outcome) == Answer::Denied;
    let left = diagrams.where_ends(before, denied);
    let right = diagrams.where_ends(after, denied);
    let mut apart = diagrams.and(left, right);
    for outcome in diagrams.outcomes().into_iter().filter(|outcome| denied(*outcome)) {
        let left = diagrams.where_ends(before, |other| other == outcome);
        let right = diagrams.where_ends(after, |other| other == outcome);
        let same = diagrams.and(left, right);
        apart = diagrams.minus(apart, same);
    }
    apart
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.old, self.new) {
            (Answer::Denied, Answer::Denied) => f.write_str("refused for another reason")?,
            (Answer::Granted(Some(old)), Answer::Granted(Some(new))) => {
                write!(f, "granted by {} instead of {}", new.as_str(), old.as_str())?;
            }
            (Answer::Asked(old), Answer::Asked(new)) => {
                write!(f, "asked {} instead of {}", how_often(new), how_often(old))?;
            }
            (old, new) => {
                write!(f, "newly {new}")?;
                match old {
                    Answer::Denied => {}
                    Answer::Asked(_) => f.write_str(", asked before")?,
                    Answer::Granted(_) => f.write_str(", granted before")?,
                }
            }
        }
        let whole = Partial::anything().count();
        write!(f, ": {} in {} of {whole} combinations", self.root, self.count)?;
        for part in self.parts.iter().take(SHOWN) {
            write!(f, "\n    where {} ({})", part.cases, part.count)?;
        }
        if self.parts.len() > SHOWN {
            write!(f, "\n    and {} more such parts", self.parts.len() - SHOWN)?;
        }
        if self.overlaps() {
            f.write_str("\n    (some of these overlap)")?;
        }
        Ok(())
    }
}

/// More parts of a change than this are only counted in its words.
const SHOWN: usize = 6;

fn how_often(scope: ConsentScope) -> &'static str {
    match scope {
        ConsentScope::EveryTime => "every time",
        ConsentScope::Session => "once per session",
        ConsentScope::Site => "once per site",
    }
}

impl std::fmt::Display for Diff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let changes = self.changes.iter().map(ToString::to_string);
        let lines: Vec<String> = changes.chain(self.asides.iter().map(ToString::to_string)).collect();
        f.write_str(if lines.is_empty() { "no difference" } else { "" })?;
        f.write_str(&lines.join("\n"))
    }
}
