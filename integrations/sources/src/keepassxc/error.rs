//! Failures of the client, each with the user's next step. None holds a byte of an answer.

use std::path::PathBuf;

/// A failed request to KeePassXC. The message says what the user does next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeePassXcError {
    /// The runtime folder has no socket of KeePassXC.
    #[error("no socket of KeePassXC is there; start it and turn on Settings > Browser Integration")]
    NoSocket,
    /// Others may have made the socket, or may replace it.
    #[error("{path} {reason}; close KeePassXC, remove that path and start KeePassXC as yourself")]
    UnsafeSocket {
        /// The socket or its folder.
        path: PathBuf,
        /// The defect.
        reason: &'static str,
    },
    /// No program listens at the socket, or it ended during the call.
    #[error("no KeePassXC answers at its socket; start it and unlock its database")]
    NotRunning,
    /// An earlier call failed and closed the connection.
    #[error("this connection to KeePassXC is closed after a failure; connect again")]
    Closed,
    /// The database is locked.
    #[error("the database in KeePassXC is locked; unlock it and try again")]
    Locked,
    /// The open database has no such association, or another key under its name.
    #[error(
        "the database that is open in KeePassXC does not know this guard; open the right one or associate again"
    )]
    NotAssociated,
    /// Another database came to the front during the call.
    #[error(
        "another database was opened in KeePassXC meanwhile; bring the right one to the front and try again"
    )]
    Changed,
    /// The user refused in KeePassXC's window.
    #[error("the request was refused in KeePassXC; ask again and allow it there")]
    Denied,
    /// No entry fits the origin.
    #[error("no login for this site is in KeePassXC; add one with the site's address, or allow it there")]
    NoLogins,
    /// An answer is longer than the client reads.
    #[error("an answer of KeePassXC is longer than 1 MiB; shorten the entries of this site")]
    TooLong,
    /// The deadline passed.
    #[error(
        "no answer of KeePassXC came in time; look for a question in its window, answer it and try again"
    )]
    TimedOut,
    /// The origin is not https.
    #[error("logins are given to https sites only; open the site by https")]
    NotHttps,
    /// The stored association cannot be read.
    #[error("the stored association with KeePassXC is damaged; associate again")]
    NotAnAssociation,
    /// The system gave no random bytes.
    #[error("the system gives no random bytes; try again later")]
    Entropy,
    /// The peer does not keep to the protocol.
    #[error(
        "the program at KeePassXC's socket breaks the protocol ({0}); update KeePassXC and connect again"
    )]
    Protocol(&'static str),
}

impl KeePassXcError {
    /// Reads the number of an error answer.
    pub(super) fn of_code(code: u32) -> KeePassXcError {
        match code {
            1 | 2 => KeePassXcError::Locked,
            6 => KeePassXcError::Denied,
            8 => KeePassXcError::NotAssociated,
            15 => KeePassXcError::NoLogins,
            4 => KeePassXcError::Protocol("it cannot read the request"),
            12 => KeePassXcError::Protocol("it does not know the request"),
            _ => KeePassXcError::Protocol("an error without a known number"),
        }
    }
}
