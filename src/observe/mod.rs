//! Observation of an agent without a guard: decisions are recorded, and nothing is blocked.
//!
//! **This is no guard.** It is for a trial in front of an existing agent, and shows which prompts and refusals Portcullis
//! would have caused, and why. Every verb is carried out, every page is shown to the model unchanged, and no prompt
//! appears. It shares with a guard the browser's own signals, a proved policy, and a record without values.
//!
//! It lacks every means of protection, so that nobody can mistake it for a guard:
//!
//! - An [`Observer`] is another type than a [`Guard`](crate::Guard), and no [`Session`](crate::Session) begins with it.
//! - It has no vault, no payment handler and no answerer. It decides without an authority, so it never makes a
//!   [`Grant`](policy_dfa::Grant): the reply to every request is `delivery_forbidden`, and nothing is released.
//! - The names of its constructors and of [`UnguardedSession`] say so, and its record begins with `observing` where a
//!   guard's begins with `started`.
//!
//! ```compile_fail,E0308
//! # use portcullis::observe::Observer;
//! # async fn task(observer: Observer, browser: portcullis::signals::playwright::Browser) {
//! // An observer cannot guard a session.
//! portcullis::Session::begin(observer, &browser, "Buy tea at https://shop.example").await;
//! # }
//! ```
//!
//! The decisions are those of a guard *for the agent's actual actions*. A guard's first refusal would have changed the
//! later ones. The observer assumes that the user says yes to the container and to every prompt. Without a vault it
//! recognises values in a text only by their form.
//!
//! | module | subject |
//! |---|---|
//! | `observer` | the task of an observed agent, and the prompts and refusals that a guard would have caused; no I/O except the record |
//! | `report` | their counts |
//! | `session` | an observed session in a browser, for an agent that sends [`Action`](crate::Action)s |

mod observer;
mod report;
mod session;

pub use crate::audit::WouldHave;
pub use observer::{ObservedTask, Observer};
pub use report::{ObservationReport, ReportRow};
pub use session::{UnguardedError, UnguardedSession};
