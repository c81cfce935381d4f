//! Policy text to automaton to verdict.
//!
//! A [`Policy`] is read, compiled to an automaton over small finite signals, and checked: only a policy
//! whose invariants are proved over every valuation can decide. [`authority`] makes the decision point and
//! the one verifier that honours its grants.
//!
//! | module | subject |
//! |---|---|
//! | [`policy`] | a policy as it was written; its text is described in `spec/policy.md` |
//! | [`json`] | the JSON form of a policy |
//! | [`error`] | what is wrong with a policy text, and where |
//! | [`session`] | what counts of a session's history |
//! | [`site`] | host and path patterns |
//! | [`alphabet`] | the signals of a decision, and their symbols |
//! | [`table`] | the automaton |
//! | [`compile`] | from a policy to its automaton |
//! | [`bytes`] | a compiled policy as bytes, and back |
//! | [`check`] | the invariants, proved over the whole space |
//! | [`question`] | everything a decision may look at |
//! | [`valuation`] | from a question to its symbols |
//! | [`decide`] | the decision point |
//! | [`verdict`] | grant, deny, ask |
//! | [`reason`] | the closed list of reasons to deny |
//! | [`explain`] | the reasons in plain words |
//! | [`explanation`] | why an answer, and what would change it |
//! | [`partial`] | what remains possible with what is known |
//! | [`diff`] | what two policies answer differently |
//! | [`lint`] | rules that change nothing |
//! | [`show`] | tables and pictures |
//! | [`grant`] | the capability that opens the vault, and who may check it |

pub mod alphabet;
pub mod bytes;
pub mod check;
mod clause;
pub mod compile;
mod cover;
mod cube;
pub mod decide;
mod diagram;
pub mod diff;
pub mod error;
pub mod explain;
pub mod explanation;
pub mod grant;
mod guard;
pub mod json;
mod lexer;
pub mod lint;
mod parse;
mod parse_session;
mod parser;
pub mod partial;
mod places;
pub mod policy;
mod print;
pub mod question;
pub mod reason;
pub mod session;
pub mod show;
pub mod site;
mod spans;
pub mod table;
pub mod valuation;
pub mod verdict;
mod words;

pub use alphabet::{Axis, Symbol, Valuation, symbol};
pub use bytes::BytesError;
pub use check::{Statement, Violation};
pub use compile::{Checked, Compiled, Unchecked};
pub use decide::{DecisionPoint, GRANT_LIFETIME_MS, authority};
pub use error::{PolicyError, Problem};
pub use explanation::{Barred, Explanation, Hurdle};
pub use grant::{
    Audience, Fill, Grant, MayHoldT2, Model, PaymentApi, Placements, RedeemError, Redeemed, Terms, Verifier,
    Wire,
};
pub use json::{JsonError, JsonProblem};
pub use lint::Warning;
pub use partial::{Partial, Possible, Prospect};
pub use policy::{Delivery, Policy, Thresholds};
pub use question::{Carried, Consent, Event, Goal, Millis, Placement, Question, SafetyBand, Task, VerbKind};
pub use reason::{Reason, Signal};
pub use session::{Happened, History};
pub use table::{Outcome, Root};
pub use verdict::{ConsentScope, Granted, Prompt, Verdict};
