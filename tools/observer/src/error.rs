//! The error in making the networks.

use std::io;
use std::path::PathBuf;

/// An error in making the network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// A namespace, a socket or a file failed.
    #[error("{what}: {error}")]
    System {
        /// The part that failed.
        what: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// The veth pair or its routes failed.
    #[error("{what}: {error}")]
    Veth {
        /// The part that failed.
        what: &'static str,
        /// The kernel's error.
        error: rtnetlink::Error,
    },
    /// A file could not be mounted over another.
    #[error("`mount --bind` on {0} failed: its message is above")]
    Mount(PathBuf),
}

/// Makes an error for `map_err` that names the part that failed.
pub(crate) fn failed<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> NetworkError {
    move |error| NetworkError::System { what, error: error.into() }
}
