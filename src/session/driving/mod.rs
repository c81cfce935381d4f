//! The drivers of a session: the opening, and two ways to carry out the state machine's commands.
//!
//! | module | subject |
//! |---|---|
//! | `task_source` | the user's prompt, whose values move into the vault, or an agent's proposal |
//! | `opening` | the task is sealed from the user's words, and the user is asked once |
//! | `driver` | the part that both drivers share |
//! | `container` | the driver in a container of the guard's browser |
//! | `developer_tools` | the console, requests and scripts of a page in such a container |
//! | `dialogs` | dialogs of a page in such a container |
//! | `downloads` | downloads of such a container's pages |
//! | `uploads` | files of the user's for a page of such a container |
//! | `pages` | further pages of such a container |
//! | `telling` | what the agent is told of such a container's page apart from its text |
//! | `waiting` | requests of such a container that wait for the user |
//! | `keeping` | the offer to keep a login that the user made by hand in such a container |
//! | `restoring` | a saved login in such a container |
//! | `sign_on` | a sign-on in such a container |
//! | `ordering` | orders by the shop's own protocol, from such a container |
//! | `container_actions` | opening a container behind a proxy, looks, verbs, purchases |
//! | `tab` | the driver in tabs of the user's own browser |
//! | `tls` | the TLS probe of a task's sites |

pub(super) mod container;
pub(crate) mod container_actions;
mod developer_tools;
pub(super) mod dialogs;
pub(super) mod downloads;
mod driver;
mod keeping;
mod opening;
mod ordering;
pub(super) mod pages;
mod restoring;
mod sign_on;
#[cfg(unix)]
pub mod tab;
pub(super) mod task_source;
mod telling;
#[cfg(unix)]
pub mod tls;
#[cfg(unix)]
mod uploads;
mod waiting;
