#![cfg(unix)]
//! A guard in the place of playwright-mcp: an MCP server with the same tools, behind which every call is decided by a
//! [`portcullis::Session`] and every answer is scrubbed.
//!
//! What an agent does to a page (open, click, type, choose, press, read) the session carries out itself, on the element
//! that was decided about. What only looks at it (pictures, the console, the size of the window) goes to the real
//! `@playwright/mcp`, which is joined to the same browser by a relay that lets it see the one container and nothing else,
//! and its answer is scrubbed. All other tools are withheld.
//!
//! | module | subject |
//! |---|---|
//! | [`gateway`] | the server: an MCP client on one side, the guard on the other |
//! | [`settings`] | how it is set up |
//! | [`consent`] | prompts through the MCP client, or in a window of the guard's own |
//! | [`catalogue`] | the tools |
//! | `arrivals` | calls in the order in which they came |
//! | `call` | one call, read from its arguments |
//! | `target` | elements by handle, role, text or selector |
//! | `told` | parts of a page as it was told |
//! | `sitting` | guarded, or only watched |
//! | `engine` | the browser and playwright-mcp, started and started again |
//! | `worker` | owns the guard and the session; one call at a time |
//! | `server` | the protocol |
//! | `upstream` | the real playwright-mcp behind the guard |

pub mod catalogue;
pub mod consent;
pub mod gateway;
pub mod settings;
mod sitting;

mod arrivals;
mod call;
mod engine;
mod server;
mod target;
mod told;
mod upstream;
mod worker;

pub use gateway::{Gateway, GatewayError};
pub use settings::{Allowed, GatewaySettings, Snapshots, UpstreamCommand};
pub use sitting::{LogFor, Seen};
