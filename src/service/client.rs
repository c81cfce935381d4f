//! The other end of the socket.

use browser_signals::extension::framing::{self, FramingError};
use serde_json::Value;
use tokio::net::UnixStream;

use super::place::{PlaceError, ServicePlace};
use super::protocol::{Hello, Role, Wish};

/// Why the service did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens.
    #[error("no service is running; start it with `portcullis serve`")]
    Absent,
    /// The folder is not safe to use.
    #[error(transparent)]
    Place(PlaceError),
    /// The service refused, and said why.
    #[error("{message}")]
    Refused {
        /// The word for programs.
        code: String,
        /// The word for people.
        message: String,
    },
    /// The connection failed.
    #[error(transparent)]
    Framing(#[from] FramingError),
    /// The service went away.
    #[error("the service ended the connection")]
    Ended,
    /// The service answered what no service does.
    #[error("the service's answer cannot be read")]
    Malformed,
}

/// A user or an agent, connected.
pub struct Client(UnixStream);

impl Client {
    /// Connects in a role, with the word of pairing from the service's folder.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn connect(place: &ServicePlace, role: Role) -> Result<Client, ClientError> {
        let word = match place.word(role) {
            Ok(word) => word,
            Err(PlaceError::Folder(error)) if error.is_missing() => return Err(ClientError::Absent),
            Err(error) => return Err(ClientError::Place(error)),
        };
        let stream = UnixStream::connect(place.socket()).await.map_err(|_| ClientError::Absent)?;
        let mut client = Client(stream);
        let hello = Hello { role, word: &word }.message();
        let welcome = client.exchange(&hello).await?;
        if welcome.get("welcome").is_some() { Ok(client) } else { Err(ClientError::Malformed) }
    }

    /// Asks for something, and waits until it is done: where a person is asked, as long as they take.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn ask(&mut self, wish: &Wish) -> Result<Value, ClientError> {
        self.exchange(&wish.message()).await
    }

    async fn exchange(&mut self, message: &Value) -> Result<Value, ClientError> {
        framing::write(&mut self.0, message.to_string().as_bytes()).await?;
        let answer = framing::read(&mut self.0).await?.ok_or(ClientError::Ended)?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|_| ClientError::Malformed)?;
        let Some(error) = answer.get("error") else { return Ok(answer) };
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Err(ClientError::Refused { code: text("code"), message: text("message") })
    }
}
