//! Statements that hold whatever the policy says.

use sirl::Kind;

use super::{Facts, Warning};
use crate::Partial;
use crate::policy::{Delivery, Policy, Proof, Subject};
use crate::session::Counted;
use crate::spans::Rule;
use crate::table::Root;

impl Policy {
    /// Statements about cases that there are not, or about what is never granted anyway.
    ///
    /// A statement about a request that says `deliver nothing` is meant to keep it so, and is none of them.
    pub(super) fn empty_proofs(&self, facts: &Facts) -> Vec<Warning> {
        let each = self.proofs.iter().enumerate();
        each.filter_map(|(number, proof)| {
            let Some(why) = self.empty(proof, facts) else {
                return self.fieldless(proof.subject(), &format!("`{proof}`"), Rule::Proof(number));
            };
            Some(Warning {
                message: format!("`{proof}` says nothing: {why}"),
                help: "state what could fail, or remove it".to_owned(),
                span: self.place(Rule::Proof(number)),
            })
        })
        .collect()
    }

    fn empty(&self, proof: &Proof, facts: &Facts) -> Option<String> {
        let subject = proof.subject();
        let roots = || Root::all().filter(|root| subject.includes(*root) && self.can_occur(*root));
        match proof {
            Proof::NeverDeliver { delivery, .. } => {
                let pays = *delivery == Delivery::PaymentApi;
                let buys = |root: Root| matches!(root, Root::Request(Kind::Purchase, _));
                let fits = |root: Root| matches!(root, Root::Request(..)) && buys(root) == pays;
                if !roots().any(fits) {
                    return Some(format!("no policy can deliver `{subject}` by `{}`", delivery.as_str()));
                }
            }
            Proof::NeverGrant { conditions, after, .. } => {
                let narrow = |cube| {
                    conditions
                        .iter()
                        .try_fold(cube, |cube: crate::cube::Cube, is| cube.narrowed(is.axis, is.symbols))
                };
                if narrow(Partial::anything().0).is_none() {
                    return Some("its conditions contradict each other".to_owned());
                }
                if !roots().any(|root| narrow(Partial::of(root).0).is_some()) {
                    return Some(format!("its conditions never hold for `{subject}`"));
                }
                if let Some(trigger) = after.filter(|trigger| !facts.can_begin(*trigger)) {
                    return Some(format!("`{trigger}` never happens"));
                }
            }
        }
        let granted = roots().any(|root| facts.granted.contains(&Counted::of(root)));
        (!granted && !self.on_purpose(subject)).then(|| format!("`{subject}` is never granted anyway"))
    }

    /// Whether the policy says itself that nothing of a subject is handed over.
    fn on_purpose(&self, subject: Subject) -> bool {
        match subject {
            Subject::Kind(kind) => self.requests.get(&kind).is_some_and(|rule| rule.deliver.is_empty()),
            Subject::Tier(_) | Subject::Verb(_) => false,
        }
    }
}
