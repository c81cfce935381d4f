//! Vacuous statements: they hold whatever the policy says.

use sirl::Kind;

use super::warning::{Facts, Warning};
use crate::automaton::cube::Cube;
use crate::decision::partial::Partial;
use crate::language::policy::{Policy, Proof};
use crate::language::spans::RuleId;
use crate::vocabulary::event::{EventKind, Root, Subject};
use crate::vocabulary::outcome::Delivery;

impl Policy {
    /// Statements about impossible cases, or about events that are never granted anyway.
    ///
    /// A statement about a request with `deliver nothing` is not one of them. It guards against a change of that line.
    pub(super) fn vacuous_proofs(&self, facts: &Facts) -> Vec<Warning> {
        let each = self.proofs.iter().enumerate();
        each.filter_map(|(number, proof)| {
            let Some(why) = self.vacuity(proof, facts) else {
                return self.empty_tier_warning(
                    proof.subject(),
                    &format!("`{proof}`"),
                    RuleId::Proof(number),
                );
            };
            Some(Warning {
                message: format!("`{proof}` says nothing: {why}"),
                help: "state what could fail, or remove it".to_owned(),
                span: self.span_of(RuleId::Proof(number)),
            })
        })
        .collect()
    }

    fn vacuity(&self, proof: &Proof, facts: &Facts) -> Option<String> {
        let subject = proof.subject();
        let roots = || Root::all().filter(|root| subject.includes(*root) && self.can_occur(*root));
        match proof {
            Proof::NeverDeliver { delivery, .. } => {
                let pays = *delivery == Delivery::PaymentApi;
                let fits = |root: Root| match root {
                    Root::Checkout(..) => *delivery == Delivery::Ucp,
                    Root::Request(kind, _) => *delivery != Delivery::Ucp && (kind == Kind::Purchase) == pays,
                    Root::Verb(_) => false,
                };
                if !roots().any(fits) && !self.delivers_nothing(subject) {
                    return Some(format!("no policy can deliver `{subject}` by `{}`", delivery.as_str()));
                }
            }
            Proof::NeverGrant { conditions, after, .. } => {
                let narrow = |cube| {
                    conditions.iter().try_fold(cube, |cube: Cube, is| cube.narrowed(is.axis, is.symbols))
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
        let granted = roots().any(|root| facts.granted.contains(&EventKind::of(root)));
        (!granted && !self.delivers_nothing(subject)).then(|| format!("`{subject}` is never granted anyway"))
    }

    /// Whether the policy has `deliver nothing` for a subject.
    fn delivers_nothing(&self, subject: Subject) -> bool {
        match subject {
            Subject::Kind(kind) => self.requests.get(&kind).is_some_and(|rule| rule.deliver.is_empty()),
            Subject::Tier(_) | Subject::Verb(_) => false,
        }
    }
}
