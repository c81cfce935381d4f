//! The three answers.

use sirl::{FieldSet, Kind, Money};

use crate::{Fill, Grant, Model, PaymentApi, Reason, Wire};

/// The answer to one question.
#[allow(clippy::large_enum_variant, reason = "a verdict is looked at at once and never kept in numbers")]
#[derive(Debug)]
#[must_use = "a verdict that nobody looks at protects nobody"]
pub enum Verdict {
    /// Yes; the capability is inside.
    Grant(Granted),
    /// No, and the first reason why.
    Deny(Reason),
    /// Only if the user agrees.
    Ask(Prompt),
}

/// What was granted.
#[derive(Debug)]
#[must_use = "an unused grant is lost"]
pub enum Granted {
    /// A verb may be carried out.
    Verb,
    /// Values may be filled into the page.
    Fill(Grant<Fill>),
    /// Values may be put in on the wire.
    Wire(Grant<Wire>),
    /// A purchase may be made by the guard.
    PaymentApi(Grant<PaymentApi>),
    /// Values may be handed to the model.
    Model(Grant<Model>),
}

/// How long an answer of the user holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConsentScope {
    /// For this one use.
    EveryTime,
    /// For this task, on the site where it was given.
    Session,
    /// On this site, in later sessions too, until the user takes it back.
    Site,
}

/// What the user has to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The kind of request, or `None` for a verb.
    pub kind: Option<Kind>,
    /// The fields it is about.
    pub fields: FieldSet,
    /// For a purchase: the amount.
    pub amount: Option<Money>,
    /// How long a yes holds.
    pub scope: ConsentScope,
}
