//! Policy text to automaton to verdict.
//!
//! A [`Policy`] is parsed, compiled to an automaton over small finite signals, and checked: only a policy whose
//! invariants are proved over every valuation can decide. [`authority`] makes the decision point and the one verifier
//! that honours its grants.
//!
//! Each room uses only the rooms above it.
//!
//! | room | subject |
//! |---|---|
//! | `vocabulary` | the signals, events, outcomes and reasons that all rooms share |
//! | `language` | the policy language, described in `spec/policy.md`: text and JSON to a [`Policy`], and back |
//! | `automaton` | guards, decision diagrams, the table of states ([`Compiled`]), and its form as bytes |
//! | `decision` | [`Question`] to [`Verdict`], the session's [`History`], and the [`Grant`] that opens the vault |
//! | `analysis` | proofs, warnings, explanations, [differences](diff), [tables and graphs](show) |

mod analysis;
mod automaton;
mod decision;
mod language;
mod vocabulary;

pub use analysis::check::{Statement, Violation, Violations};
pub use analysis::explain::{Barred, Explanation};
pub use analysis::lint::Warning;
pub use analysis::{diff, show};
pub use automaton::bytes::BytesError;
pub use automaton::compile::{Checked, Compiled, Unchecked};
pub use decision::controls::suffices as pointing_suffices;
pub use decision::decide::{DecisionPoint, GRANT_LIFETIME_MS, Granted, Prompt, Verdict, authority};
pub use decision::failed_rule::FailedRule;
pub use decision::grant::{
    Audience, Fill, Grant, MayHoldT2, Model, PaymentApi, Placements, RedeemError, Redeemed, Restore, Terms,
    Ucp, Verifier, Wire,
};
pub use decision::history::{History, SessionEvent};
pub use decision::partial::Partial;
pub use decision::possible::{Possible, Prospect};
pub use decision::provider::ProviderFrame;
pub use decision::question::{Basis, Carried, Consent, Event, Goal, Millis, Placement, Question, Task};
pub use decision::restore::RestoreQuestion;
pub use decision::sign_on::SignOn;
pub use language::error::{PolicyError, Problem};
pub use language::json::{JsonError, JsonProblem};
pub use language::policy::{Policy, SafetyBand, Thresholds};
pub use language::provider::Provider;
pub use vocabulary::alphabet::{Axis, Symbol, Valuation, symbol};
pub use vocabulary::event::{Root, VerbKind};
pub use vocabulary::outcome::{ConsentScope, Delivery, Outcome};
pub use vocabulary::reason::{Reason, Signal};

/// A policy to begin with, small and commented. The examples of these pages use it.
///
/// ```text
#[doc = include_str!("../policies/example.policy")]
/// ```
///
/// It passes every proof and has no warnings:
///
/// ```
/// use policy_dfa::{EXAMPLE_POLICY, Policy};
///
/// let policy = Policy::parse(EXAMPLE_POLICY)?;
/// assert!(policy.warnings().is_empty());
/// let checked = policy.compile()?.check().unwrap();
/// assert!(checked.states() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const EXAMPLE_POLICY: &str = include_str!("../policies/example.policy");

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
