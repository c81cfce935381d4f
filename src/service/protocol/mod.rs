//! Versions, roles, and messages. Every message is JSON with a length prefix (`browser_signals::extension::framing`).
//!
//! ```text
//! {"hello":{"version":1,"role":"agent","word":"..."}}   the first message of a client
//! {"welcome":{"version":1, ...}}                         the service's answer, or:
//! {"error":{"code":"version","message":"..."}}           after which the connection ends
//! ```

mod requests;

use browser_signals::Origin;
use serde::Serialize;
use serde_json::{Value, json};

pub use requests::{ChangedConsent, ClientRequest, ExtensionRequest};

/// The version of the protocol. Any other is refused, because a partial understanding between guard and extension is
/// unsafe.
pub const VERSION: u64 = 1;

/// The extension's id, made from the public key in its manifest. Only its origin may start the native host.
pub const EXTENSION_ID: &str = "daacjjfokdhnoiohnhhmdcogfbpmpdpo";

/// The name by which the extension asks the browser for the native host.
pub const HOST_NAME: &str = "org.portcullis.host";

/// The role of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The extension, through its native host. It shows pages, fills forms, shows prompts, and lists standing consents and
    /// makes them stricter.
    Extension,
    /// The agent. It reads the front tab and requests values.
    Agent,
    /// The user. They begin and end tasks, and withdraw consents.
    User,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 3] = [Role::Extension, Role::Agent, Role::User];

    /// The role's name in a hello, which is also the name of the file with its auth token.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Extension => "extension",
            Role::Agent => "agent",
            Role::User => "user",
        }
    }
}

/// Why the service refuses a client or a request. The message is for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The client has another version.
    #[error(
        "this service speaks version {VERSION} and was spoken to in version {0}; update the older of the two, \
         the extension or `portcullis`"
    )]
    Version(u64),
    /// The auth token is wrong.
    #[error("this is not the service that was paired with; start `portcullis serve` anew and connect again")]
    Pairing,
    /// The first message is no hello.
    #[error("the first message must say a version, a role and an auth token")]
    NoHello,
    /// The client belongs to another user.
    #[error("the service belongs to another user")]
    OtherUser,
    /// There are too many clients or requests.
    #[error("the service is busy; try again")]
    Busy,
    /// The request is unknown, or not allowed for the role.
    #[error("this is not understood, or not for this role")]
    NotForRole,
    /// The task cannot begin.
    #[error("{0}")]
    Task(String),
    /// There is no open task.
    #[error("no task is begun; the user begins one with `portcullis task`")]
    NoTask,
}

impl Refusal {
    /// The error's keyword for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Refusal::Version(_) => "version",
            Refusal::Pairing => "pairing",
            Refusal::NoHello => "no_hello",
            Refusal::OtherUser => "other_user",
            Refusal::Busy => "busy",
            Refusal::NotForRole => "not_for_role",
            Refusal::Task(_) => "task",
            Refusal::NoTask => "no_task",
        }
    }

    /// The error as a message.
    pub fn message(&self) -> Value {
        error(self.code(), &self.to_string())
    }
}

/// An error as a message.
pub fn error(code: &str, message: &str) -> Value {
    json!(ServiceMessage::Error { error: ErrorMessage { code, message } })
}

/// A message of the service to a client, beside its requests to the extension.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ServiceMessage<'a> {
    /// It accepts the client.
    Welcome {
        /// The answer for an accepted client.
        welcome: &'a Welcome,
    },
    /// It refuses the client or a request. The native host says so too where it cannot reach the service.
    Error {
        /// The error.
        error: ErrorMessage<'a>,
    },
    /// It answers a request of the extension.
    Told {
        /// The number of the request.
        told: &'a Value,
        /// The answer.
        answer: Value,
    },
}

/// An error as a message has it.
#[derive(Debug, Serialize)]
pub struct ErrorMessage<'a> {
    /// The keyword for programs.
    pub code: &'a str,
    /// The message for people.
    pub message: &'a str,
}

/// The answer for an accepted client.
#[derive(Debug, Clone, Serialize)]
pub struct Welcome {
    /// [`VERSION`].
    pub version: u64,
    /// The part for the extension.
    #[serde(flatten)]
    pub extension: Option<ExtensionWelcome>,
}

/// The part of a welcome that is for the extension.
#[derive(Debug, Clone, Serialize)]
pub struct ExtensionWelcome {
    /// The compiled policy, in Base64.
    pub policy: String,
    /// Its hash, in hexadecimal digits.
    pub hash: String,
    /// The sites whose documents are loaded under rules.
    pub sealed: Vec<Origin>,
    /// The only origins that stay open to pages with values of the user's.
    pub narrow: Vec<Origin>,
}

/// The first message of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello<'a> {
    /// The client's role.
    pub role: Role,
    /// The auth token of the role.
    pub token: &'a str,
}

impl<'a> Hello<'a> {
    /// Reads a first message. It checks the version before anything else, since another version has other messages.
    ///
    /// # Errors
    /// [`Refusal::Version`], [`Refusal::NoHello`].
    pub fn read(message: &'a Value) -> Result<Hello<'a>, Refusal> {
        let hello = message.get("hello").ok_or(Refusal::NoHello)?;
        match hello.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => return Err(Refusal::Version(other)),
            None => return Err(Refusal::NoHello),
        }
        let role = hello.get("role").and_then(Value::as_str).ok_or(Refusal::NoHello)?;
        let role = Role::ALL.into_iter().find(|known| known.as_str() == role).ok_or(Refusal::NoHello)?;
        let token = hello.get("word").and_then(Value::as_str).ok_or(Refusal::NoHello)?;
        Ok(Hello { role, token })
    }

    /// The hello as a message.
    pub fn message(&self) -> Value {
        json!({ "hello": { "version": VERSION, "role": self.role.as_str(), "word": self.token } })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    #[test]
    fn a_hello_of_another_version_is_refused_for_its_version_only() {
        for message in [
            json!({ "hello": { "version": 2, "role": "agent", "word": "x" } }),
            json!({ "hello": { "version": 2 } }),
            json!({ "hello": { "version": 2, "role": "king" } }),
        ] {
            assert_eq!(Hello::read(&message), Err(Refusal::Version(2)), "{message}");
        }
        for message in [
            json!({}),
            json!({ "hello": { "version": "1", "role": "agent", "word": "x" } }),
            json!({ "hello": { "version": 1, "role": "king", "word": "x" } }),
            json!({ "hello": { "version": 1, "role": "agent" } }),
        ] {
            assert_eq!(Hello::read(&message), Err(Refusal::NoHello), "{message}");
        }
        for role in Role::ALL {
            let hello = Hello { role, token: "abc" };
            assert_eq!(Hello::read(&hello.message()), Ok(hello));
        }
    }

    #[test]
    fn the_extension_is_told_more_than_other_clients() {
        let welcome = |extension| {
            let welcome = Welcome { version: VERSION, extension };
            json!(ServiceMessage::Welcome { welcome: &welcome })
        };
        assert_eq!(welcome(None), json!({ "welcome": { "version": 1 } }));
        let told = ExtensionWelcome {
            policy: "AA==".into(),
            hash: "00".into(),
            sealed: vec![Origin::parse("https://shop.example").unwrap()],
            narrow: Vec::new(),
        };
        assert_eq!(
            welcome(Some(told))["welcome"],
            json!({ "version": 1, "policy": "AA==", "hash": "00", "sealed": ["https://shop.example"], "narrow": [] })
        );
    }
}
