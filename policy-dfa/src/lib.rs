//! Policy text to automaton to verdict.
//!
//! | module | subject |
//! |---|---|
//! | [`reason`] | the closed list of reasons to deny |
//! | [`question`] | everything a decision may look at |
//! | [`verdict`] | grant, deny, ask |
//! | [`grant`] | the capability that opens the vault, and who may check it |

pub mod grant;
pub mod question;
pub mod reason;
pub mod verdict;

pub use grant::{Audience, Fill, Grant, MayHoldT2, Model, PaymentApi, Redeemed, RedeemError, Terms, Verifier, Wire};
pub use question::{Consent, Event, History, Millis, Placement, Question, SafetyBand, Task, VerbKind};
pub use reason::Reason;
pub use verdict::{ConsentScope, Granted, Prompt, Verdict};
