//! Watching an agent before guarding it: decided and recorded, and nothing is blocked.
//!
//! **This is no guard.** It is for the first days in front of an agent that somebody has already: what would Portcullis
//! have asked, what would it have refused, and why. Every verb is carried out, every page is told as it is, every
//! prompt is let through. What it has of a guard is the eyes: the browser's own signals, a policy that was proved, a
//! record without values.
//!
//! So that it cannot be taken for one, it has nothing that a guard protects with:
//!
//! - An [`Observer`] is another type than a [`Guard`](crate::Guard), and no [`Session`](crate::Session) begins with it.
//! - It has no vault, no payment handler and nobody who answers. It decides without an authority, so no
//!   [`Grant`](policy_dfa::Grant) is ever made: a request is answered with `delivery_forbidden`, and nothing is released.
//! - Its constructors and [`UnguardedSession`] say in their names what they do not do, and its record begins with
//!   `observing` where a guard's begins with `started`.
//!
//! ```compile_fail,E0308
//! # use portcullis::observe::Observer;
//! # async fn task(observer: Observer, browser: portcullis::signals::playwright::Browser) {
//! // What watches cannot guard.
//! portcullis::Session::begin(observer, &browser, "Buy tea at https://shop.example").await;
//! # }
//! ```
//!
//! What is decided is what a guard would have decided *on the way that the agent took*. A guard's first refusal would
//! have changed that way. The user is taken to say yes: to the container at plan time, and to every question. Without a
//! vault it is not known that a text holds one of the user's values, but by its form.
//!
//! | module | subject |
//! |---|---|
//! | `observer` | what would have been asked or refused; no I/O but the record |
//! | `report` | what came together, counted |
//! | `session` | the same with a browser, for an agent that sends [`Action`](crate::Action)s |

mod observer;
mod report;
mod session;

pub use crate::audit::WouldHave;
pub use observer::{ObservedTask, Observer};
pub use report::{ObservationReport, Row};
pub use session::{UnguardedError, UnguardedSession};
