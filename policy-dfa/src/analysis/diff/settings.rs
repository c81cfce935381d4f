//! The settings that differ between two policies: everything but the outcome of a single combination of signals.

use sirl::{Field, Kind};

use crate::language::policy::Policy;

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
pub(super) fn changes(old: &Policy, new: &Policy) -> Vec<SettingChange> {
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
            let named = policy.requests.get(&kind).is_some_and(|rule| rule.naming);
            named.then(|| "naming payee and amount".to_owned())
        };
        differ(format!("the question about `{}`", kind.as_str()), naming(old), naming(new));
    }
    let events: std::collections::BTreeSet<_> =
        old.session.uses.keys().chain(new.session.uses.keys()).copied().collect();
    for event in events {
        let limit = |policy: &Policy| policy.session.uses.get(&event).map(|most| format!("at most {most}"));
        differ(format!("the session's limit for `{}`", event.as_str()), limit(old), limit(new));
    }
    let prompts = |policy: &Policy| policy.session.prompts.map(|most| format!("at most {most}"));
    differ("the session's limit for prompts".to_owned(), prompts(old), prompts(new));
    let money = |policy: &Policy| policy.session.money.map(|most| format!("at most {most}"));
    differ("the session's limit for money".to_owned(), money(old), money(new));
    lines("a site rule", old.sites.iter(), new.sites.iter(), &mut found);
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
