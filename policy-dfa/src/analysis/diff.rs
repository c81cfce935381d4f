//! The differences between two policies: in their outcomes, and in their settings.

use std::collections::BTreeSet;

use sirl::{Field, Kind};

use crate::automaton::compile::Compiled;
use crate::automaton::cube::Cube;
use crate::automaton::diagram::{Diagrams, Edge};
use crate::decision::partial::Partial;
use crate::language::policy::Policy;
use crate::vocabulary::alphabet::Valuation;
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::{ConsentScope, Delivery, Outcome};

/// An outcome without the reason of a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Refused.
    Denied,
    /// The user is asked, and consent holds this long.
    Asked(ConsentScope),
    /// Granted: a release by this delivery, or, with none, a verb.
    Granted(Option<Delivery>),
}

impl Answer {
    fn of(outcome: Outcome) -> Answer {
        match outcome {
            Outcome::Deny(..) => Answer::Denied,
            Outcome::Ask(scope) => Answer::Asked(scope),
            Outcome::Grant(delivery) => Answer::Granted(delivery),
        }
    }

    fn all() -> Vec<Answer> {
        let asked = ConsentScope::ALL.map(Answer::Asked);
        let released = Delivery::ALL.map(|delivery| Answer::Granted(Some(delivery)));
        // New grants come first, since they matter most to a reader.
        let granted = released.into_iter().chain([Answer::Granted(None)]);
        granted.chain(asked).chain([Answer::Denied]).collect()
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Answer::Denied => f.write_str("refused"),
            Answer::Asked(scope) => write!(f, "asked {}", scope.how_often()),
            Answer::Granted(None) => f.write_str("granted"),
            Answer::Granted(Some(delivery)) => write!(f, "granted by {}", delivery.as_str()),
        }
    }
}

/// The differences between two policies. Empty where they are equivalent.
///
/// The name and the version of a policy are labels and are not compared. The [`Display`](std::fmt::Display) lists the
/// differences in plain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The cases with another outcome, event by event.
    pub changes: Vec<Change>,
    /// The differences in tiers, thresholds, sites, session limits and statements.
    pub settings: Vec<SettingChange>,
}

/// The cases in which one event gets another answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The event.
    pub root: Root,
    /// The answer of the old policy.
    pub old: Answer,
    /// The answer of the new policy. Where both refuse, they do so for different reasons.
    pub new: Answer,
    /// The cases as a few wide parts. Together they are exactly the cases that changed in this way. They may overlap.
    pub parts: Vec<ChangedCases>,
    /// The number of combinations of signals that changed in this way.
    pub count: u128,
}

/// Cases that changed in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedCases {
    /// The cases.
    pub cases: Partial,
    /// The number of combinations of signals.
    pub count: u128,
    /// One of them.
    pub witness: Valuation,
}

impl Change {
    /// Whether some of its parts share cases, so that the sum of their counts is higher than its own.
    pub fn overlaps(&self) -> bool {
        self.parts.iter().map(|part| part.count).sum::<u128>() > self.count
    }
}

impl Diff {
    /// Compares two policies over every combination of signals.
    ///
    /// ```
    /// use policy_dfa::{EXAMPLE_POLICY, Policy, diff::Diff};
    ///
    /// let old = Policy::parse(EXAMPLE_POLICY).unwrap().compile().unwrap();
    /// let lax = EXAMPLE_POLICY.replacen("    tls valid or loopback\n", "", 1);
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
        Diff { changes, settings: setting_changes(&old.policy, &new.policy) }
    }

    /// Whether the two policies are equivalent.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.settings.is_empty()
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
            let part = |cube: Cube| ChangedCases {
                cases: Partial(cube),
                count: cube.count(),
                witness: cube.witness(),
            };
            let mut parts: Vec<ChangedCases> = diagrams.cover(region, region).into_iter().map(part).collect();
            parts.sort_by_key(|part| std::cmp::Reverse(part.count));
            found.push(Change { root, old: was, new: is, parts, count: diagrams.count(region) });
        }
    }
    found
}

/// The region in which both policies refuse, but not for the same reason.
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
                write!(f, "asked {} instead of {}", new.how_often(), old.how_often())?;
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
        for part in self.parts.iter().take(MAX_LISTED) {
            write!(f, "\n    where {} ({})", part.cases, part.count)?;
        }
        if self.parts.len() > MAX_LISTED {
            write!(f, "\n    and {} more such parts", self.parts.len() - MAX_LISTED)?;
        }
        if self.overlaps() {
            f.write_str("\n    (some of these overlap)")?;
        }
        Ok(())
    }
}

/// The most parts of a change that its words list. The others are only counted.
const MAX_LISTED: usize = 6;

impl std::fmt::Display for Diff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let changes = self.changes.iter().map(ToString::to_string);
        let lines: Vec<String> = changes.chain(self.settings.iter().map(ToString::to_string)).collect();
        f.write_str(if lines.is_empty() { "no difference" } else { "" })?;
        f.write_str(&lines.join("\n"))
    }
}

/// A setting that differs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettingChange {
    /// The setting.
    pub what: String,
    /// Its value in the old policy, if it has one.
    pub old: Option<String>,
    /// Its value in the new policy, if it has one.
    pub new: Option<String>,
}

impl std::fmt::Display for SettingChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => write!(f, "{}: {new} instead of {old}", self.what),
            (Some(old), None) => write!(f, "{}, no more: {old}", self.what),
            (None, Some(new)) => write!(f, "{}, new: {new}", self.what),
            (None, None) => f.write_str(&self.what),
        }
    }
}

/// The settings that differ, in the order of the text.
fn setting_changes(old: &Policy, new: &Policy) -> Vec<SettingChange> {
    let mut found = Vec::new();
    let mut differ = |what: String, old: Option<String>, new: Option<String>| {
        if old != new {
            found.push(SettingChange { what, old, new });
        }
    };
    for field in Field::ALL {
        let tier = |policy: &Policy| Some(policy.tier(field).as_str().to_owned());
        differ(format!("the tier of `{}`", field.as_str()), tier(old), tier(new));
    }
    let thresholds = |policy: &Policy| {
        policy.thresholds.map(|thresholds| {
            let [t0, t1, t2] = thresholds.digits();
            format!("T0 {t0} T1 {t1} T2 {t2}")
        })
    };
    differ("the thresholds of safety".to_owned(), thresholds(old), thresholds(new));
    for kind in Kind::ALL {
        let naming = |policy: &Policy| {
            let rule = policy.requests.get(&kind).filter(|rule| rule.naming)?;
            let mandate = if rule.mandate { ", unless mandated" } else { "" };
            Some(format!("naming payee and amount{mandate}"))
        };
        differ(format!("the question about `{}`", kind.as_str()), naming(old), naming(new));
        // Both ways give answers of their own; only their order shows in none.
        let first = |policy: &Policy| {
            let rule = policy.requests.get(&kind).filter(|rule| rule.orders() && rule.in_page().is_some())?;
            let first = if rule.deliver.first() == Some(&Delivery::Ucp) { "ucp" } else { "the page" };
            Some(format!("{first} first"))
        };
        differ(format!("the order of the ways to deliver `{}`", kind.as_str()), first(old), first(new));
    }
    let events: BTreeSet<_> = old.session.uses.keys().chain(new.session.uses.keys()).copied().collect();
    for event in events {
        let limit = |policy: &Policy| policy.session.uses.get(&event).map(|most| format!("at most {most}"));
        differ(format!("the session's limit for `{}`", event.as_str()), limit(old), limit(new));
    }
    let prompts = |policy: &Policy| policy.session.prompts.map(|most| format!("at most {most}"));
    differ("the session's limit for prompts".to_owned(), prompts(old), prompts(new));
    let money = |policy: &Policy| policy.session.money.map(|most| format!("at most {most}"));
    differ("the session's limit for money".to_owned(), money(old), money(new));
    let own_path = |policy: &Policy| policy.session.own_path.then(|| "values keep to their path".to_owned());
    differ("how far released values go".to_owned(), own_path(old), own_path(new));
    lines("a site rule", old.sites.iter(), new.sites.iter(), &mut found);
    let providers = |policy: &Policy| policy.providers.iter().map(|it| it.to_string()).collect::<Vec<_>>();
    lines("a provider", providers(old).into_iter(), providers(new).into_iter(), &mut found);
    lines("a session rule", old.session.bars.iter(), new.session.bars.iter(), &mut found);
    lines("a statement to prove", old.proofs.iter(), new.proofs.iter(), &mut found);
    found
}

/// Adds the lines that only one of the two policies has. The order of the lines does not matter.
fn lines<T: PartialEq + ToString>(
    what: &str,
    old: impl Iterator<Item = T> + Clone,
    new: impl Iterator<Item = T> + Clone,
    found: &mut Vec<SettingChange>,
) {
    let change = |old, new| SettingChange { what: what.to_owned(), old, new };
    let removed = old.clone().filter(|line| !new.clone().any(|other| other == *line));
    let added = new.clone().filter(|line| !old.clone().any(|other| other == *line));
    found.extend(removed.map(|line| change(Some(line.to_string()), None)));
    found.extend(added.map(|line| change(None, Some(line.to_string()))));
}
