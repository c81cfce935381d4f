//! The session's state machine: events in, commands out. It has no I/O and no clock.
//!
//! Every action of the agent begins with `Event::Act` and ends with `Command::Answer`. In between, the driver
//! carries out one command at a time and reports with one event. An unexpected event ends the action with a denial, so
//! that nothing is released by accident.
//!
//! | module | subject |
//! |---|---|
//! | `agent_messages` | the agent's text in the request language, and its next steps |
//! | `messages` | commands to the driver, and events from it |
//! | `state` | the session, and the step that it waits for |
//! | `subjects` | the state of a session by subject |
//! | `nonces` | random numbers for prompts and placeholders |
//! | `step` | one step, and the walk of a verb |
//! | `block_state` | the state of a request block |
//! | `block` | the walk of a request block |
//! | `survey` | the looks at the page before a block's question, and that question |
//! | `card_fill` | the total that a page names, and which fill of a card counts as a payment |
//! | `choosing` | the user's choice among records that fit alike |
//! | `new_password` | a password that is made for a form, and kept before it is released |
//! | `one_time_code` | a one-time code that is made for a release |
//! | `fetched` | values that a password manager supplies for a release |
//! | `made` | a secret that was made for a release, kept and recorded before it |
//! | `release` | the release of a granted request |
//! | `hand_over` | the offer to finish by hand |
//! | `sign_on` | logins at an identity provider for a site of the task |
//! | `order_state` | the state of an order by the shop's own protocol |
//! | `order` | its walk: looks, decisions and questions |
//! | `order_release` | its releases, and how it ends |

mod agent_messages;
mod block;
pub(super) mod block_state;
mod card_fill;
mod choosing;
mod fetched;
mod hand_over;
mod made;
mod messages;
mod new_password;
mod nonces;
mod one_time_code;
mod order;
mod order_release;
mod order_state;
mod parts;
mod release;
mod sign_on;
mod state;
mod step;
mod subjects;
mod survey;

pub use crate::action::Action;
pub(crate) use agent_messages::AgentMessage;
pub use messages::{Command, Event, GuardCommand, KeyTarget, Look, Payment, RenderedPage};
pub use order_state::OrderCommand;
pub(super) use state::State;
pub use state::{Core, CoreDependencies, MAX_PROMPTS};
pub use subjects::NotRaised;
