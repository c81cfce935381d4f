//! The drivers of a session: the opening, and two ways to carry out the state machine's commands.
//!
//! | module | subject |
//! |---|---|
//! | `opening` | the task is sealed from the user's words, and the user is asked once |
//! | `intake` | values of the prompt move into the vault |
//! | `container` | the driver in a container of the guard's browser |
//! | `verbs` | looks and verbs in a tab of that browser |
//! | `egress` | the container's proxy |
//! | `payment` | a purchase through the browser's payment interface |
//! | `tab` | the driver in tabs of the user's own browser |
//! | `tls` | the TLS probe of a task's sites |

pub(super) mod container;
mod egress;
mod intake;
mod opening;
mod payment;
#[cfg(unix)]
pub mod tab;
#[cfg(unix)]
pub mod tls;
pub(crate) mod verbs;
