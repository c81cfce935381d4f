//! What a model expects to ask for.

use crate::{Claim, FieldSet, Kind, Request};

/// A request that a model announces at the start of its task.
///
/// It is not a [`Request`], and nothing turns it into one: no decision comes from it and nothing is granted
/// for it. What it is for is to say at once what can never be granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anticipated {
    /// What would be asked for.
    pub kind: Kind,
    /// The fields that would be asked for; empty means the fields that the kind has by default.
    pub fields: FieldSet,
    /// What the model expects to see. Not evidence, and not a claim that a later request is held to.
    pub claim: Claim,
}

/// One or more anticipated requests closed by `PLAN.end`.
///
/// ```
/// let plan = sirl::parse_plan("PLAN.contact fields=[email]\nPLAN.purchase\nPLAN.end")?;
/// assert_eq!(plan.anticipated.len(), 2);
/// assert_eq!(plan.to_string(), "PLAN.contact fields=[\"email\"]\nPLAN.purchase\nPLAN.end");
/// # Ok::<(), sirl::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What is anticipated, in the order written; never empty.
    pub anticipated: Vec<Anticipated>,
}

impl Anticipated {
    /// The fields that would be asked for: those named, or those of the kind if none is named.
    #[must_use]
    pub const fn effective_fields(&self) -> FieldSet {
        if self.fields.is_empty() { self.kind.default_fields() } else { self.fields }
    }
}

impl Plan {
    /// The plan that lines of the same form as requests make.
    pub(crate) fn of(requests: Vec<Request>) -> Plan {
        let anticipate = |Request { kind, fields, claim }| Anticipated { kind, fields, claim };
        Plan { anticipated: requests.into_iter().map(anticipate).collect() }
    }

    /// The kinds of the plan, each once, in the order of [`Kind::ALL`].
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        let planned = |kind: &Kind| self.anticipated.iter().any(|anticipated| anticipated.kind == *kind);
        Kind::ALL.into_iter().filter(planned)
    }
}
