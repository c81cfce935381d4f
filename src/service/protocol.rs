//! Versions, roles, and what is said. Every message is JSON behind its length (`browser_signals::extension::framing`).
//!
//! ```text
//! {"hello":{"version":1,"role":"agent","word":"..."}}   the first message of whoever connects
//! {"welcome":{"version":1, ...}}                         and the answer, or:
//! {"error":{"code":"version","message":"..."}}           after which the connection ends
//! ```

use browser_signals::Origin;
use serde_json::{Value, json};
use sirl::Kind;

use crate::consent::{Change, How, OpenPages};

/// The version that is spoken. Any other is refused: a guard and an extension that half understand each other are
/// worse than none.
pub const VERSION: u64 = 1;

/// The extension's id, made from the public key in its manifest. Only its origin may start the native host.
pub const EXTENSION_ID: &str = "daacjjfokdhnoiohnhhmdcogfbpmpdpo";

/// The name by which the extension asks the browser for the native host.
pub const HOST_NAME: &str = "org.portcullis.host";

/// Who connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The extension, by way of its native host: shows pages, fills forms, shows questions, lists what stands and makes it
    /// stricter.
    Extension,
    /// The agent: reads the tab in front and asks.
    Agent,
    /// The user: begins and ends tasks, takes answers back.
    User,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 3] = [Role::Extension, Role::Agent, Role::User];

    /// The role's name: in a hello, and of the file with its word of pairing.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Extension => "extension",
            Role::Agent => "agent",
            Role::User => "user",
        }
    }
}

/// Why somebody is not listened to. The message is for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Another version.
    #[error(
        "this service speaks version {VERSION} and was spoken to in version {0}; update the older of the two, \
         the extension or `portcullis`"
    )]
    Version(u64),
    /// Not the word of pairing.
    #[error("this is not the service that was paired with; start `portcullis serve` anew and connect again")]
    Pairing,
    /// No hello.
    #[error("the first message must say a version, a role and a word of pairing")]
    NoHello,
    /// Another user.
    #[error("the service belongs to another user")]
    OtherUser,
    /// Too many at the same time.
    #[error("the service is busy; try again")]
    Busy,
    /// Something that the role may not ask for, or that is not understood.
    #[error("this is not understood, or not for this role")]
    NotForRole,
    /// The task cannot be begun.
    #[error("{0}")]
    Task(String),
    /// There is no task.
    #[error("no task is begun; the user begins one with `portcullis task`")]
    NoTask,
}

impl Refusal {
    /// The word for programs.
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

    /// As a message.
    pub fn message(&self) -> Value {
        error(self.code(), &self.to_string())
    }
}

/// An error as a message.
pub fn error(code: &str, message: &str) -> Value {
    json!({ "error": { "code": code, "message": message } })
}

/// The first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello<'a> {
    /// Who connects.
    pub role: Role,
    /// The word of pairing.
    pub word: &'a str,
}

impl<'a> Hello<'a> {
    /// Reads a first message. The version is looked at before anything else: of another one nothing is understood.
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
        let word = hello.get("word").and_then(Value::as_str).ok_or(Refusal::NoHello)?;
        Ok(Hello { role, word })
    }

    /// The message.
    pub fn message(&self) -> Value {
        json!({ "hello": { "version": VERSION, "role": self.role.as_str(), "word": self.word } })
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// The user begins a task.
    Begin {
        /// What the agent is to do, in the user's words.
        prompt: String,
        /// What the user says of pages of its sites that were open before.
        pages: OpenPages,
    },
    /// The user ends it.
    End,
    /// The agent reads the tab in front.
    Read,
    /// The agent asks for something.
    Request(String),
    /// The user lists the answers that stand.
    Standing,
    /// The user changes one. Through the extension it can only become stricter.
    Change(Change),
}

impl Wish {
    /// Reads a wish, as far as the role may have it.
    ///
    /// # Errors
    /// [`Refusal::NotForRole`].
    pub fn read(role: Role, message: &Value) -> Result<Wish, Refusal> {
        let text = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_owned);
        let wish = match (role, message.get("ask").and_then(Value::as_str)) {
            (Role::User, Some("begin")) => text("prompt")
                .zip(open_pages(message.get("trust_open_pages")))
                .map(|(prompt, pages)| Wish::Begin { prompt, pages }),
            (Role::User, Some("end")) => Some(Wish::End),
            (Role::Agent, Some("read")) => Some(Wish::Read),
            (Role::Agent, Some("request")) => text("text").map(Wish::Request),
            (Role::User, Some("standing")) => Some(Wish::Standing),
            (Role::User | Role::Extension, Some(word)) => read_change(word, message)
                .filter(|it| role == Role::User || !it.how.is_looser())
                .map(Wish::Change),
            _ => None,
        };
        wish.ok_or(Refusal::NotForRole)
    }

    /// The message.
    pub fn message(&self) -> Value {
        match self {
            Wish::Begin { prompt, pages } => {
                json!({ "ask": "begin", "prompt": prompt, "trust_open_pages": *pages == OpenPages::Trusted })
            }
            Wish::End => json!({ "ask": "end" }),
            Wish::Read => json!({ "ask": "read" }),
            Wish::Request(text) => json!({ "ask": "request", "text": text }),
            Wish::Standing => json!({ "ask": "standing" }),
            Wish::Change(Change { kind, to, how }) => {
                json!({ "ask": word_of(*how), "kind": kind.as_str(), "site": to.to_string() })
            }
        }
    }
}

/// Who does not say that they trust them does not.
fn open_pages(says: Option<&Value>) -> Option<OpenPages> {
    let trusts = says.map_or(Some(false), Value::as_bool)?;
    Some(if trusts { OpenPages::Trusted } else { OpenPages::Wait })
}

const CHANGES: [How; 3] = [How::Never, How::Withdraw, How::TakeBack];

const fn word_of(how: How) -> &'static str {
    match how {
        How::Never => "never",
        How::Withdraw => "withdraw",
        How::TakeBack => "take_back",
    }
}

/// A change: an origin in its usual spelling, and a kind by its name.
fn read_change(word: &str, message: &Value) -> Option<Change> {
    let how = CHANGES.into_iter().find(|how| word_of(*how) == word)?;
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
    fn a_hello_of_another_version_is_refused_for_that_and_for_nothing_else() {
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
            let hello = Hello { role, word: "abc" };
            assert_eq!(Hello::read(&hello.message()), Ok(hello));
        }
    }

    #[test]
    fn each_role_has_its_own_wishes() {
        let change = |how| {
            let to = Origin::parse("https://shop.example").unwrap();
            Wish::Change(Change { kind: Kind::Address, to, how })
        };
        let wishes = [
            Wish::Begin { prompt: "x".into(), pages: OpenPages::Trusted },
            Wish::End,
            Wish::Read,
            Wish::Request("REQ.end".into()),
            Wish::Standing,
            change(How::Never),
            change(How::Withdraw),
            change(How::TakeBack),
        ];
        for (role, may) in [
            (Role::User, [true, true, false, false, true, true, true, true]),
            (Role::Agent, [false, false, true, true, false, false, false, false]),
            // Stricter, and never looser.
            (Role::Extension, [false, false, false, false, false, true, true, false]),
        ] {
            for (wish, may) in wishes.iter().zip(may) {
                let read = Wish::read(role, &wish.message());
                assert_eq!(
                    read,
                    if may { Ok(wish.clone()) } else { Err(Refusal::NotForRole) },
                    "{role:?} {wish:?}"
                );
            }
        }
    }

    #[test]
    fn only_who_says_so_trusts_open_pages() {
        let begin = |pages| Ok(Wish::Begin { prompt: "x".into(), pages });
        for (says, read) in [
            (json!({ "ask": "begin", "prompt": "x" }), begin(OpenPages::Wait)),
            (json!({ "ask": "begin", "prompt": "x", "trust_open_pages": false }), begin(OpenPages::Wait)),
            (json!({ "ask": "begin", "prompt": "x", "trust_open_pages": true }), begin(OpenPages::Trusted)),
            (json!({ "ask": "begin", "prompt": "x", "trust_open_pages": "true" }), Err(Refusal::NotForRole)),
            (json!({ "ask": "begin", "prompt": "x", "trust_open_pages": null }), Err(Refusal::NotForRole)),
        ] {
            assert_eq!(Wish::read(Role::User, &says), read, "{says}");
            assert_eq!(Wish::read(Role::Agent, &says), Err(Refusal::NotForRole), "{says}");
        }
    }

    #[test]
    fn a_change_names_a_kind_and_an_origin_as_they_are_written() {
        let good = json!({ "ask": "never", "kind": "address", "site": "https://shop.example" });
        assert!(Wish::read(Role::Extension, &good).is_ok());
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
            assert_eq!(Wish::read(Role::Extension, &bad), Err(Refusal::NotForRole), "{bad}");
        }
    }
}
