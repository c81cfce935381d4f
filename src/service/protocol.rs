//! Versions, roles, and messages. Every message is JSON with a length prefix (`browser_signals::extension::framing`).
//!
//! ```text
//! {"hello":{"version":1,"role":"agent","word":"..."}}   the first message of a client
//! {"welcome":{"version":1, ...}}                         the service's answer, or:
//! {"error":{"code":"version","message":"..."}}           after which the connection ends
//! ```

use browser_signals::{Origin, Verb};
use serde::Deserialize as _;
use serde_json::{Value, json};
use sirl::Kind;

use crate::Action;
use crate::consent::{Change, ChangeKind, OpenPages};

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
    json!({ "error": { "code": code, "message": message } })
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

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientRequest {
    /// Begins a task, for the user.
    Begin {
        /// The task in the user's words.
        prompt: String,
        /// The user's statement about pages of the task's sites that were open before.
        pages: OpenPages,
    },
    /// Ends the task, for the user.
    End,
    /// The agent's action: it reads the front tab, or sends a request block. It has no other verb in the user's own browser.
    Act(Action),
    /// Lists the standing consents, for the user.
    Standing,
    /// Changes a standing consent. The extension can only make it stricter.
    Change(Change),
}

impl ClientRequest {
    /// Reads a request that the role may make.
    ///
    /// # Errors
    /// [`Refusal::NotForRole`].
    pub fn read(role: Role, message: &Value) -> Result<ClientRequest, Refusal> {
        let text = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_owned);
        let request = match (role, message.get("ask").and_then(Value::as_str)) {
            (Role::User, Some("begin")) => text("prompt")
                .zip(open_pages(message.get("trust_open_pages")))
                .map(|(prompt, pages)| ClientRequest::Begin { prompt, pages }),
            (Role::User, Some("end")) => Some(ClientRequest::End),
            (Role::Agent, _) => Action::deserialize(message)
                .ok()
                .filter(|action| matches!(action, Action::Verb(Verb::Read) | Action::Request(_)))
                .map(ClientRequest::Act),
            (Role::User, Some("standing")) => Some(ClientRequest::Standing),
            (Role::User | Role::Extension, Some(keyword)) => read_change(keyword, message)
                .filter(|it| role == Role::User || !it.how.is_looser())
                .map(ClientRequest::Change),
            _ => None,
        };
        request.ok_or(Refusal::NotForRole)
    }

    /// The request as a message.
    pub fn message(&self) -> Value {
        match self {
            ClientRequest::Begin { prompt, pages } => {
                json!({ "ask": "begin", "prompt": prompt, "trust_open_pages": *pages == OpenPages::Trusted })
            }
            ClientRequest::End => json!({ "ask": "end" }),
            ClientRequest::Act(action) => json!(action),
            ClientRequest::Standing => json!({ "ask": "standing" }),
            ClientRequest::Change(Change { kind, to, how }) => {
                json!({ "ask": keyword_of(*how), "kind": kind.as_str(), "site": to.to_string() })
            }
        }
    }
}

/// The user's statement about open pages. Without one, open pages are not trusted.
fn open_pages(says: Option<&Value>) -> Option<OpenPages> {
    let trusts = says.map_or(Some(false), Value::as_bool)?;
    Some(if trusts { OpenPages::Trusted } else { OpenPages::Wait })
}

const CHANGES: [ChangeKind; 3] = [ChangeKind::Never, ChangeKind::Withdraw, ChangeKind::TakeBack];

const fn keyword_of(how: ChangeKind) -> &'static str {
    match how {
        ChangeKind::Never => "never",
        ChangeKind::Withdraw => "withdraw",
        ChangeKind::TakeBack => "take_back",
    }
}

/// Reads a change: an origin in its canonical spelling, and a kind by its name.
fn read_change(keyword: &str, message: &Value) -> Option<Change> {
    let how = CHANGES.into_iter().find(|how| keyword_of(*how) == keyword)?;
    let kind = message.get("kind").and_then(Value::as_str)?;
    let kind = Kind::ALL.into_iter().find(|known| known.as_str() == kind)?;
    let site = message.get("site").and_then(Value::as_str)?;
    let to = Origin::parse(site).ok().filter(|origin| origin.to_string() == site)?;
    Some(Change { kind, to, how })
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
    fn each_role_has_its_own_requests() {
        let change = |how| {
            let to = Origin::parse("https://shop.example").unwrap();
            ClientRequest::Change(Change { kind: Kind::Address, to, how })
        };
        let requests = [
            ClientRequest::Begin { prompt: "x".into(), pages: OpenPages::Trusted },
            ClientRequest::End,
            ClientRequest::Act(Action::Verb(Verb::Read)),
            ClientRequest::Act(Action::Request("REQ.end".into())),
            ClientRequest::Act(Action::Verb(Verb::Back)),
            ClientRequest::Standing,
            change(ChangeKind::Never),
            change(ChangeKind::Withdraw),
            change(ChangeKind::TakeBack),
        ];
        for (role, may) in [
            (Role::User, [true, true, false, false, false, true, true, true, true]),
            (Role::Agent, [false, false, true, true, false, false, false, false, false]),
            // Only stricter changes.
            (Role::Extension, [false, false, false, false, false, false, true, true, false]),
        ] {
            for (request, may) in requests.iter().zip(may) {
                let read = ClientRequest::read(role, &request.message());
                assert_eq!(
                    read,
                    if may { Ok(request.clone()) } else { Err(Refusal::NotForRole) },
                    "{role:?} {request:?}"
                );
            }
        }
    }

    #[test]
    fn open_pages_are_trusted_only_if_the_user_says_so() {
        let begin = |pages| Ok(ClientRequest::Begin { prompt: "x".into(), pages });
        for (says, read) in [
            (json!({ "ask": "begin", "prompt": "x" }), begin(OpenPages::Wait)),
            (json!({ "ask": "begin", "prompt": "x", "trust_open_pages": false }), begin(OpenPages::Wait)),
            (json!({ "ask": "begin", "prompt": "x", "trust_open_pages": true }), begin(OpenPages::Trusted)),
            (json!({ "ask": "begin", "prompt": "x", "trust_open_pages": "true" }), Err(Refusal::NotForRole)),
            (json!({ "ask": "begin", "prompt": "x", "trust_open_pages": null }), Err(Refusal::NotForRole)),
        ] {
            assert_eq!(ClientRequest::read(Role::User, &says), read, "{says}");
            assert_eq!(ClientRequest::read(Role::Agent, &says), Err(Refusal::NotForRole), "{says}");
        }
    }

    #[test]
    fn a_change_names_a_kind_and_an_origin_in_canonical_spelling() {
        let good = json!({ "ask": "never", "kind": "address", "site": "https://shop.example" });
        assert!(ClientRequest::read(Role::Extension, &good).is_ok());
        for (key, value) in [
            ("kind", json!("everything")),
            ("kind", json!(null)),
            ("site", json!("https://shop.example/")),
            ("site", json!("https://SHOP.example")),
            ("site", json!("shop.example")),
            ("site", json!("null")),
            ("ask", json!("Never")),
        ] {
            let mut bad = good.clone();
            bad[key] = value;
            assert_eq!(ClientRequest::read(Role::Extension, &bad), Err(Refusal::NotForRole), "{bad}");
        }
    }
}
