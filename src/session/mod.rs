//! One task, from the user's first prompt to its end.
//!
//! | module | subject |
//! |---|---|
//! | `core` | the state machine: events in, commands out, no I/O |
//! | `decisions` | verbs and requests as questions to the policy |
//! | `prompts` | consent prompts, and the effects of their answers |
//! | `driving` | the drivers, which carry the commands out in a browser |
//! | `login_by_hand` | a login that the user makes, to save it |
//! | `outcome` | the outcome of an action, and its text for the agent |
//! | `report` | the report of a session with its counts, or why it could not begin |

/// The state machine without a driver. It is public for the tests that play a session event by event.
#[doc(hidden)]
pub mod core;
pub(crate) mod decisions;
pub(crate) mod driving;
mod login_by_hand;
mod outcome;
mod prompts;
mod report;

pub use driving::container::Session;
pub use driving::dialogs::ShownDialog;
pub use driving::downloads::ToldDownload;
pub use driving::pages::{ListedPage, PageRefused};
#[cfg(unix)]
pub(crate) use driving::tab;
pub use driving::task_source::{Proposal, UserTask};
#[cfg(unix)]
pub use driving::tls;
pub use login_by_hand::LoginByHand;
pub use outcome::{ActionOutcome, ActionResult, RequestResult, ShownValues};
#[cfg(unix)]
pub use prompts::changes;
pub use report::{NotEncrypted, SessionError, SessionReport};
