//! The session's state machine: events in, commands out. It has no I/O and no clock.
//!
//! Every action of the agent begins with [`Event::Act`] and ends with [`Command::Answer`]. In between, the driver
//! carries out one command at a time and reports with one event. An unexpected event ends the action with a denial, so
//! that nothing is released by accident.
//!
//! | module | subject |
//! |---|---|
//! | `messages` | the agent's actions, commands to the driver, and events from it |
//! | `state` | the state of a session |
//! | `step` | one step, and the walk of a verb |
//! | `block_state` | the state of a request block |
//! | `block` | the walk of a request block |
//! | `release` | the release of a granted request |
//! | `hand_over` | the offer to finish by hand |
//! | `replies` | replies to the agent, and the session's counts |
//! | `nonces` | random numbers from a seed |

mod block;
pub(super) mod block_state;
mod hand_over;
mod messages;
mod nonces;
mod release;
pub(crate) mod replies;
mod state;
mod step;

pub(crate) use messages::AgentMessage;
pub use messages::{Action, Command, Event, Look, Payment, RenderedPage};
pub(super) use state::State;
pub use state::{Core, CoreDependencies, MAX_PROMPTS};
