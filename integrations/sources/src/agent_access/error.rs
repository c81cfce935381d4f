//! Failures of the client, each with the user's next step. None holds a word of the other side.

/// A failed request over Agent Access. The message says what the user does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentAccessError {
    /// The address of the relay has another form.
    #[error(
        "the relay's address is none; write `wss://` and a host, or `ws://127.0.0.1` with a port for a relay on this machine"
    )]
    BadRelay,
    /// The token has another form.
    #[error("this is no token of Agent Access: one has 129 characters; copy it whole from your device")]
    BadToken,
    /// The relay does not answer.
    #[error("the relay cannot be reached; check its address and your network")]
    Unreachable,
    /// The relay takes the connection and breaks the protocol, or ends it.
    #[error("the relay ended the connection, or does not speak Agent Access; check its address")]
    Relay,
    /// No answer came from the device.
    #[error("no answer came from your device in time; see that it listens, and look for a question on it")]
    TimedOut,
    /// The device has another key than the token.
    #[error("your device does not know this connection; make a new token there and connect again")]
    NotConnected,
    /// The device's answer is not understood.
    #[error("the answer of your device is not understood; its version of Agent Access may be another one")]
    Answer,
    /// The bytes in the vault are no connection.
    #[error("the kept connection is damaged; connect again")]
    NotAConnection,
}
