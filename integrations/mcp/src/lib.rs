#![cfg(unix)]
//! A guard in the place of playwright-mcp: an MCP server with the same tools, in which a [`portcullis::Session`] decides every
//! call and scrubs every answer.
//!
//! The session itself carries out the actions on a page (open, click, type, select, press, read), on exactly the element that
//! was decided about. Tools that show what developers see of a page (the console, its requests) are for containers without values of
//! the user's, and their answers are scrubbed. All other tools are withheld.
//!
//! | module | subject |
//! |---|---|
//! | [`gateway`] | the server: an MCP client on one side, the guard on the other |
//! | [`http`] | the server by HTTP, for clients with tokens |
//! | [`settings`] | its settings and errors |
//! | [`consent`] | prompts through the MCP client, or in a window of the guard |
//! | [`catalogue`] | the tools |
//! | `arguments` | the tools' arguments and their JSON schemas |
//! | `call` | a parsed call, and the answer to it |
//! | `parse_call` | parses the name and the arguments of a call |
//! | `server` | the protocol |
//! | `wire` | a message as bytes: its limits, and the errors for bytes that are no message |
//! | `lines` | the transport over a pair of streams |
//! | `queue` | calls in the order of their arrival |
//! | `worker`, `page_calls` | owns the guard and the session, and carries out one call at a time |
//! | `task_session` | the session of a task, guarded or only observed |
//! | `target` | elements by ref, role, text or selector |
//! | `rendered` | parts of the page as it was rendered for the agent |
//! | `known_page` | what the agent was told of the page, and what of a later one is new |
//! | `developer_tools` | the words of the console, of requests and of a script's result |
//! | `requests` | requests for values as typed arguments |
//! | `uploads` | files of the user's for a page |
//! | `downloads` | the words for downloads |
//! | `verify` | checks of what the page shows |
//! | `engine` | the browser |

mod catalogue;
pub mod consent;
pub mod gateway;
pub mod http;
pub mod settings;

mod arguments;
mod call;
mod developer_tools;
mod downloads;
mod engine;
mod known_page;
mod lines;
mod page_calls;
mod parse_call;
mod queue;
mod rendered;
mod requests;
mod server;
mod target;
mod task_session;
mod uploads;
mod verify;
mod wire;
mod worker;

pub use gateway::Gateway;
pub use settings::{Allowed, Capabilities, GatewayError, GatewaySettings, Snapshots};
pub use task_session::{OpenTaskLog, ReceiveReport};

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
