//! A warning, and the check on tiers that several warnings share.

use std::ops::Range;

use sirl::{Field, Tier};

use crate::language::policy::Policy;
use crate::language::spans::RuleId;
use crate::vocabulary::event::Subject;

/// A warning about a policy. The policy can be used as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The problem, in one lower-case sentence.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// The location in bytes of the text; none for a rule whose location is not stored.
    pub span: Option<Range<usize>>,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl Policy {
    /// A warning where a rule names a tier that no field has.
    pub(super) fn empty_tier_warning(&self, subject: Subject, rule: &str, at: RuleId) -> Option<Warning> {
        let Subject::Tier(tier) = subject else { return None };
        let has = Field::ALL.into_iter().any(|field| self.tier(field) == tier);
        // T0 as a subject means every release, so it need not be the tier of a field.
        (!has && tier > Tier::T0).then(|| Warning {
            message: format!(
                "no field is {tier}, so {rule} is about higher tiers alone",
                tier = tier.as_str()
            ),
            help: "name the tier that is meant, or put a field into this one".to_owned(),
            span: self.span_of(at),
        })
    }
}
