//! A client of KeePassXC: logins of exactly one origin, over the socket that KeePassXC opens for browsers.
//!
//! The user starts and unlocks KeePassXC, allows the association once in its window and can revoke it there. Its
//! own matching of addresses is laxer than ours, and an answer names no address. So [`Client::logins`] proves with
//! further questions that an entry belongs to the origin, and drops what it cannot prove; see [`exact`].
//!
//! The peer is known by the socket alone: another program of the same user can put its own socket there. A program
//! with that right can read the guard's memory as well.
//!
//! | module | subject |
//! |---|---|
//! | [`socket`] | the place of the socket, and whose it is |
//! | [`client`] | the connection: handshake, association, logins |
//! | [`association`] | the key that a database knows the guard by |
//! | [`exact`] | the questions that prove an entry's origin |
//! | [`error`] | failures, each with the user's next step |
//! | [`source`] | the source of the vault |
//!
//! Inside: `proof` (asking those questions), `wire` (bytes within a deadline), `stream` (JSON objects of a byte stream), `message` (the encrypted
//! envelope) and `answer` (the decrypted answer, whose strings become secrets).
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//!
//! use browser_signals::Origin;
//! use credential_sources::keepassxc::{Client, socket};
//! use tokio::time::Instant;
//!
//! let path = socket::find(std::env::var("XDG_RUNTIME_DIR")?.as_ref())?;
//! let soon = || Instant::now() + Duration::from_secs(10);
//! let mut client = Client::connect(&path, soon()).await?;
//! let association = client.associate(Instant::now() + Duration::from_secs(120)).await?;
//! let answer = client.logins(&association, &Origin::parse("https://shop.example")?, soon()).await?;
//! println!("{} logins, {} of other sites", answer.exact.len(), answer.elsewhere);
//! # Ok(())
//! # }
//! ```

mod answer;
pub mod association;
pub mod client;
pub mod error;
pub mod exact;
mod message;
mod proof;
pub mod socket;
pub mod source;
mod stream;
mod wire;

pub use association::Association;
pub use client::{Client, Login, Logins};
pub use error::KeePassXcError;
pub use source::KeePassXc;
