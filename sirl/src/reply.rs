//! The guard's answers to the model.

use crate::{FieldSet, Kind, Money};

/// One `GRANT.<kind>` or `DENY.<kind>` line. Carries handles and names, never a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The values were put where the grant says.
    Delivered {
        /// The kind that was granted.
        kind: Kind,
        /// How they were delivered: `filled` or `wired`.
        delivered: Delivered,
        /// The fields delivered.
        fields: FieldSet,
    },
    /// A purchase was carried out.
    Purchased {
        /// The handle of the card used, such as `card:personal`.
        card: String,
        /// The amount paid, from the guard's own record.
        amount: Money,
    },
    /// Refused.
    Denied {
        /// The kind that was refused.
        kind: Kind,
        /// A reason code of `spec/reasons.md`, such as `invalid_container`.
        reason: String,
    },
}

/// How values were delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// Set into form controls.
    Filled,
    /// To be put in on the wire.
    Wired,
}
