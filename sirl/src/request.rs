//! Requests, which are decided and consented to as a block, and announced requests, which form a plan.

use crate::{Claim, FieldSet, Items, Kind, Pointers};

/// One `REQ.<kind>` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The kind of data, or a purchase.
    pub kind: Kind,
    /// The requested fields; empty means the default fields of the kind.
    pub fields: FieldSet,
    /// The controls that the model points at. In a request that was read, their fields are among those that it asks for.
    pub at: Pointers,
    /// The items that a purchase names. In a request that was read, only a purchase has any.
    pub items: Items,
    /// The model's claims about the page.
    pub claim: Claim,
}

/// One or more requests closed by `REQ.end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The requests, in the order written; never empty.
    pub requests: Vec<Request>,
}

impl Request {
    /// The fields that the request asks for: the named ones, or the default fields of the kind.
    ///
    /// ```
    /// use sirl::{Claim, Field, FieldSet, Items, Kind, Pointers, Request};
    ///
    /// let request = Request {
    ///     kind: Kind::Otp,
    ///     fields: FieldSet::EMPTY,
    ///     at: Pointers::default(),
    ///     items: Items::default(),
    ///     claim: Claim::default(),
    /// };
    /// assert!(request.effective_fields().contains(Field::OneTimeCode));
    /// ```
    #[must_use]
    pub const fn effective_fields(&self) -> FieldSet {
        if self.fields.is_empty() { self.kind.default_fields() } else { self.fields }
    }
}

/// A request that a model announces at the start of its task.
///
/// It is not a [`Request`] and never becomes one: nothing is decided or granted for it. It lets the guard report
/// early which requests can never be granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anticipated {
    /// The kind of the later request.
    pub kind: Kind,
    /// The fields of the later request; empty means the default fields of the kind.
    pub fields: FieldSet,
    /// The page that the model expects. It is no evidence, and a later request may claim something else.
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
    /// The anticipated requests, in the order written; never empty.
    pub anticipated: Vec<Anticipated>,
}

impl Anticipated {
    /// The fields of the later request: the named ones, or the default fields of the kind.
    #[must_use]
    pub const fn effective_fields(&self) -> FieldSet {
        if self.fields.is_empty() { self.kind.default_fields() } else { self.fields }
    }
}

impl Plan {
    /// Makes a plan of lines that were parsed as requests.
    pub(crate) fn of(requests: Vec<Request>) -> Plan {
        let anticipate = |Request { kind, fields, claim, .. }| Anticipated { kind, fields, claim };
        Plan { anticipated: requests.into_iter().map(anticipate).collect() }
    }

    /// The kinds of the plan, each once, in the order of [`Kind::ALL`].
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        let planned = |kind: &Kind| self.anticipated.iter().any(|anticipated| anticipated.kind == *kind);
        Kind::ALL.into_iter().filter(planned)
    }
}
