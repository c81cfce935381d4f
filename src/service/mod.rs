//! The guard as a service of this machine: for a browser that an extension shows, and an agent beside its user.
//!
//! A Unix socket in a folder that is the user's alone. Whoever connects is of the same user (the system says so) and
//! says a word of pairing that is new with every start; what it may ask for then depends on the role that the word is
//! for. A process of the same user that can read the folder has all of these words: against it nothing here helps.
//!
//! | module | subject |
//! |---|---|
//! | [`protocol`] | versions, roles, what is said |
//! | [`place`] | the folder with the socket and the words of pairing |
//! | [`server`] | the socket, and who is listened to |
//! | [`desk`] | the one guard and its task, one thing at a time |
//! | [`asking`] | asking on the extension's own consent page |
//! | [`client`] | the other end of the socket |
//! | `trail` | the last records of the audit log, in words |
//! | [`tls`] | what is known of a connection that the guard does not see |

#[cfg(feature = "browser")]
pub mod asking;
#[cfg(feature = "browser")]
pub mod client;
#[cfg(feature = "browser")]
pub mod desk;
#[cfg(feature = "browser")]
pub mod place;
pub mod protocol;
#[cfg(feature = "browser")]
pub mod server;
#[cfg(feature = "browser")]
pub mod tls;
#[cfg(feature = "browser")]
mod trail;

#[cfg(feature = "browser")]
pub use asking::Asking;
#[cfg(feature = "browser")]
pub use client::{Client, ClientError};
#[cfg(feature = "browser")]
pub use place::ServicePlace;
#[cfg(feature = "browser")]
pub use server::{Service, ServiceError, ServiceSettings};
