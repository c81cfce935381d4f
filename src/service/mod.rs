//! The guard as a service of this machine, for the user's own browser with the extension, and for an agent.
//!
//! The service listens on a Unix socket in a folder that only the user can open. Every client must belong to the same
//! user, which the system confirms, and must send an auth token that is new with every start. The token determines the
//! client's role, and the role determines the requests that the client may make. A process of the same user that can
//! read the folder has all tokens, and nothing here protects against it.
//!
//! | module | subject |
//! |---|---|
//! | [`protocol`] | versions, roles, messages |
//! | [`folder`] | the folder with the socket and the auth tokens |
//! | [`server`] | the socket and its connections |
//! | [`queue`] | the queue of requests to the one guard and its task |
//! | [`extension_consent`] | prompts on the extension's own consent page |
//! | [`client`] | the client's end of the socket |
//! | `recent` | the recent entries of the audit log, in words |
//! | [`tls`] | the TLS probe of a task's sites |

#[cfg(feature = "browser")]
pub mod client;
#[cfg(feature = "browser")]
pub mod extension_consent;
#[cfg(feature = "browser")]
pub mod folder;
pub mod protocol;
#[cfg(feature = "browser")]
mod queue;
#[cfg(feature = "browser")]
mod recent;
#[cfg(feature = "browser")]
pub mod server;

#[cfg(feature = "browser")]
pub use crate::session::tls;
#[cfg(feature = "browser")]
pub use client::{Client, ClientError};
#[cfg(feature = "browser")]
pub use extension_consent::ExtensionConsent;
#[cfg(feature = "browser")]
pub use folder::{ServiceFolder, ServiceFolderError};
#[cfg(feature = "browser")]
pub use server::{Service, ServiceError, ServiceSettings};
