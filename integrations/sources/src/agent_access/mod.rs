//! Bitwarden's Agent Access: a login from a device of the user's, over a relay, in a session that the relay cannot read.
//!
//! The user's device (Bitwarden, or another provider of the protocol) shows a token once. [`Connection::pair`] makes a session key from it,
//! which the vault keeps. [`AgentAccess`] then asks for one login at a time, and the user agrees on the device. The protocol has no list,
//! gives every field of a login at once, and its providers match sites by rules of their own: so the site that the answer names is compared
//! with the wanted origin, and an answer that names none is dropped.
//!
//! The session key is not changed after the pairing but by the protocol's own steps of a day, so who opens the vault and has recorded
//! the relay's traffic since the pairing can read it.
//!
//! | module | subject |
//! |---|---|
//! | [`connection`] | the pairing, and what the vault keeps of it |
//! | [`error`] | failures, each with the user's next step |
//! | [`source`] | the source of the vault |
//!
//! Inside: `relay` (the WebSocket), `message` (the texts that pass through it) and `answer` (the decrypted login).
//!
//! ```no_run
//! # async fn example(token: &str) -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//!
//! use credential_sources::agent_access::{AgentAccess, Connection, RelayAddress};
//!
//! let relay: RelayAddress = "wss://relay.example".parse()?;
//! let connection = Connection::pair(relay, token, Duration::from_secs(30)).await?;
//! let source = AgentAccess::new(connection);
//! # Ok(())
//! # }
//! ```

mod answer;
pub mod connection;
pub mod error;
mod message;
mod relay;
pub mod source;

pub use connection::Connection;
pub use error::AgentAccessError;
pub use relay::RelayAddress;
pub use source::AgentAccess;
