//! The proof that a changed policy compiles, holds, and changes only what it states.

use portcullis::policy::diff::{Answer, Change, Diff};
use portcullis::policy::{Policy, Root};
use serde_json::{Map, Value};

use super::ideas::Idea;

/// A policy with the changes that were proved so far.
pub struct Draft {
    form: Value,
    policy: Policy,
}

impl Draft {
    /// Starts with a policy, which must hold itself.
    pub fn of(policy: &Policy) -> Result<Draft, String> {
        let form = serde_json::from_str(&policy.to_json()).map_err(|error| error.to_string())?;
        holds(policy).map_err(|why| format!("the policy does not hold as it is: {why}"))?;
        Ok(Draft { form, policy: policy.clone() })
    }

    /// The policy with all accepted changes.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Accepts a change if the policy with it compiles, every statement holds, and it changes only what the idea
    /// states; returns the difference as text. Otherwise the draft stays as it was, and the error is the reason.
    pub fn take(&mut self, idea: &Idea) -> Result<String, String> {
        let mut form = self.form.clone();
        for (path, value) in &idea.edit {
            put(&mut form, path, value);
        }
        let policy = Policy::from_json(&form.to_string()).map_err(|error| error.to_string())?;
        holds(&policy)?;
        let compiled = |policy: &Policy| policy.compile().map_err(|error| error.to_string());
        let diff = Diff::between(&compiled(&self.policy)?, &compiled(&policy)?);
        if diff.is_empty() {
            return Err("it would change nothing".to_owned());
        }
        if let Some(change) = diff.changes.iter().find(|change| !is_meant(change, idea)) {
            let (old, new) = (change.old, change.new);
            return Err(format!("it would go further than that: what was {old} would be {new}"));
        }
        (self.form, self.policy) = (form, policy);
        Ok(diff.to_string())
    }
}

/// Checks that a change is what an idea states: no answer becomes more permissive, except that a yes of one kind holds
/// longer.
fn is_meant(change: &Change, idea: &Idea) -> bool {
    let rank = |answer: Answer| match answer {
        Answer::Denied => 0,
        Answer::Asked(_) => 1,
        Answer::Granted(_) => 2,
    };
    let same_kind =
        matches!(change.root, Root::Request(kind, _) | Root::Checkout(kind, _) if Some(kind) == idea.loosens);
    match (change.old, change.new) {
        (Answer::Asked(old), Answer::Asked(new)) if new as u8 > old as u8 => same_kind,
        (old, new) => rank(new) <= rank(old),
    }
}

fn holds(policy: &Policy) -> Result<(), String> {
    let compiled = policy.compile().map_err(|error| error.to_string())?;
    let broken = compiled.examine().into_iter().find_map(|statement| statement.violation);
    broken.map_or(Ok(()), |violation| Err(format!("it would break a statement: {violation}")))
}

/// Sets a value at a path, and creates objects on the way; null removes the path.
fn put(form: &mut Value, path: &[String], value: &Value) {
    let Some((last, way)) = path.split_last() else { return };
    let mut at = form;
    for key in way {
        let Some(object) = at.as_object_mut() else { return };
        at = object.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
    }
    if let Some(object) = at.as_object_mut() {
        match value {
            Value::Null => drop(object.remove(last)),
            value => drop(object.insert(last.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use portcullis::sirl::Kind;
    use serde_json::json;

    use super::*;

    fn draft() -> Draft {
        Draft::of(&Policy::parse(portcullis::DEFAULT_POLICY).unwrap()).unwrap()
    }

    fn idea(loosens: Option<Kind>, path: &[&str], value: Value) -> Idea {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        Idea { change: String::new(), because: String::new(), loosens, edit: vec![(path, value)] }
    }

    #[test]
    fn a_change_that_breaks_a_statement_is_rejected() {
        let mut draft = draft();
        let before = draft.policy().to_string();
        let into_forms = idea(
            Some(Kind::Payment),
            &["requests", "payment"],
            json!({
                "clauses": [{ "container": "T2" }, { "origin": "task" }, { "tls": "valid" }, { "frame": "top" },
                    { "destination": "task" }, { "destination": "https" }, { "visible": true }],
                "consent": "every_time", "deliver": ["fill"],
            }),
        );
        let why = draft.take(&into_forms).unwrap_err();
        assert!(why.contains("break a statement"), "{why}");
        assert_eq!(draft.policy().to_string(), before);
    }

    #[test]
    fn a_change_that_permits_more_than_it_states_is_rejected() {
        let mut draft = draft();
        // It claims only to restrict, but a yes would hold longer.
        let sly = idea(None, &["requests", "address", "consent"], "site".into());
        assert!(draft.take(&sly).unwrap_err().contains("go further"));
        let other = idea(Some(Kind::Contact), &["requests", "address", "consent"], "site".into());
        assert!(draft.take(&other).unwrap_err().contains("go further"));
        let honest = idea(Some(Kind::Address), &["requests", "address", "consent"], "site".into());
        assert!(draft.take(&honest).unwrap().contains("address"));
        assert!(draft.take(&honest).unwrap_err().contains("nothing"));
    }
}
