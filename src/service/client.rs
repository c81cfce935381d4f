//! The client's end of the socket.

use browser_signals::extension::framing::{self, FramingError};
use serde_json::Value;
use tokio::net::UnixStream;

use super::folder::{ServiceFolder, ServiceFolderError};
use super::protocol::{ClientRequest, Hello, Role};

/// Why the service did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No service listens.
    #[error("no service is running; start it with `portcullis serve`")]
    Absent,
    /// The folder is not safe to use.
    #[error(transparent)]
    Folder(ServiceFolderError),
    /// The service refused, with a reason.
    #[error("{message}")]
    Refused {
        /// The error's keyword for programs.
        code: String,
        /// The message for people.
        message: String,
    },
    /// The connection failed.
    #[error(transparent)]
    Framing(#[from] FramingError),
    /// The service ended the connection.
    #[error("the service ended the connection")]
    Ended,
    /// The service's answer is malformed.
    #[error("the service's answer cannot be read")]
    Malformed,
}

/// A user or an agent, connected.
pub struct Client(UnixStream);

impl Client {
    /// Connects in a role, with the auth token from the service's folder.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn connect(folder: &ServiceFolder, role: Role) -> Result<Client, ClientError> {
        let token = match folder.auth_token(role) {
            Ok(token) => token,
            Err(ServiceFolderError::Folder(error)) if error.is_missing() => return Err(ClientError::Absent),
            Err(error) => return Err(ClientError::Folder(error)),
        };
        let stream = UnixStream::connect(folder.socket()).await.map_err(|_| ClientError::Absent)?;
        let mut client = Client(stream);
        let hello = Hello { role, token: &token }.message();
        let welcome = client.exchange(&hello).await?;
        if welcome.get("welcome").is_some() { Ok(client) } else { Err(ClientError::Malformed) }
    }

    /// Makes a request, and waits for the answer, including any prompt to the user.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn ask(&mut self, request: &ClientRequest) -> Result<Value, ClientError> {
        self.exchange(&request.message()).await
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
