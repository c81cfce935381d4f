//! The requests of each role, and who may make which.

use browser_signals::{Origin, Verb};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use sirl::Kind;

use super::{Refusal, Role};
use crate::Action;
use crate::consent::{Change, ChangeKind, OpenPages};

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

/// A request of the extension.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum ExtensionRequest {
    /// The task and the standing consents.
    Status,
    /// The recent records of the audit log.
    Trail,
    /// From now on the answer is never.
    Never(ChangedConsent),
    /// A standing yes is revoked.
    Withdraw(ChangedConsent),
    /// A message of the consent page.
    Consent {
        /// The message, unread.
        says: String,
    },
    /// The window of a question was closed.
    Closed {
        /// The question's number.
        nonce: String,
    },
}

impl ExtensionRequest {
    /// The words of all requests.
    pub const WORDS: [&'static str; 6] = ["status", "trail", "never", "withdraw", "consent", "closed"];

    /// Reads a request.
    ///
    /// # Errors
    /// [`Refusal::NotForRole`].
    pub fn read(message: &Value) -> Result<ExtensionRequest, Refusal> {
        ExtensionRequest::deserialize(message).map_err(|_| Refusal::NotForRole)
    }

    /// The change of a standing consent that it makes, if it makes one. It never makes one looser.
    pub fn change(self) -> Option<Change> {
        match self {
            ExtensionRequest::Never(consent) => Some(consent.change(ChangeKind::Never)),
            ExtensionRequest::Withdraw(consent) => Some(consent.change(ChangeKind::Withdraw)),
            _ => None,
        }
    }
}

/// A request of the user, as it is written.
#[derive(Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
enum UserRequest {
    Begin {
        prompt: String,
        /// Without it, open pages are not trusted.
        #[serde(default)]
        trust_open_pages: bool,
    },
    End,
    Standing,
    Never(ChangedConsent),
    Withdraw(ChangedConsent),
    TakeBack(ChangedConsent),
}

/// The consent that a change is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedConsent {
    /// The kind of request.
    pub kind: Kind,
    /// The site, in its canonical spelling.
    #[serde(deserialize_with = "canonical")]
    pub site: Origin,
}

impl ChangedConsent {
    fn change(self, how: ChangeKind) -> Change {
        Change { kind: self.kind, to: self.site, how }
    }
}

fn canonical<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Origin, D::Error> {
    let written = String::deserialize(deserializer)?;
    let origin = Origin::parse(&written).ok().filter(|origin| origin.to_string() == written);
    origin.ok_or_else(|| D::Error::custom("a site is written as https://shop.example"))
}

impl ClientRequest {
    /// Reads a request that the role may make.
    ///
    /// # Errors
    /// [`Refusal::NotForRole`].
    pub fn read(role: Role, message: &Value) -> Result<ClientRequest, Refusal> {
        let request = match role {
            Role::User => UserRequest::deserialize(message).ok().map(ClientRequest::from),
            Role::Agent => Action::deserialize(message)
                .ok()
                .filter(|action| matches!(action, Action::Verb(Verb::Read) | Action::Request(_)))
                .map(ClientRequest::Act),
            Role::Extension => ExtensionRequest::read(message)?.change().map(ClientRequest::Change),
        };
        request.ok_or(Refusal::NotForRole)
    }

    /// The request as a message.
    pub fn message(&self) -> Value {
        let written = match self {
            ClientRequest::Act(action) => return json!(action),
            ClientRequest::Begin { prompt, pages } => {
                UserRequest::Begin { prompt: prompt.clone(), trust_open_pages: *pages == OpenPages::Trusted }
            }
            ClientRequest::End => UserRequest::End,
            ClientRequest::Standing => UserRequest::Standing,
            ClientRequest::Change(Change { kind, to, how }) => {
                let consent = ChangedConsent { kind: *kind, site: to.clone() };
                match how {
                    ChangeKind::Never => UserRequest::Never(consent),
                    ChangeKind::Withdraw => UserRequest::Withdraw(consent),
                    ChangeKind::TakeBack => UserRequest::TakeBack(consent),
                }
            }
        };
        json!(written)
    }
}

impl From<UserRequest> for ClientRequest {
    fn from(written: UserRequest) -> ClientRequest {
        match written {
            UserRequest::Begin { prompt, trust_open_pages } => {
                let pages = if trust_open_pages { OpenPages::Trusted } else { OpenPages::Wait };
                ClientRequest::Begin { prompt, pages }
            }
            UserRequest::End => ClientRequest::End,
            UserRequest::Standing => ClientRequest::Standing,
            UserRequest::Never(consent) => ClientRequest::Change(consent.change(ChangeKind::Never)),
            UserRequest::Withdraw(consent) => ClientRequest::Change(consent.change(ChangeKind::Withdraw)),
            UserRequest::TakeBack(consent) => ClientRequest::Change(consent.change(ChangeKind::TakeBack)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

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

    #[test]
    fn the_extension_has_the_listed_requests_and_no_others() {
        let with = |word: &str| {
            let site = "https://shop.example";
            json!({ "ask": word, "id": 1, "kind": "address", "site": site, "says": "{}", "nonce": "1" })
        };
        for word in ExtensionRequest::WORDS {
            assert!(ExtensionRequest::read(&with(word)).is_ok(), "{word}");
        }
        let error = ExtensionRequest::deserialize(&with("take_back")).unwrap_err().to_string();
        let known: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        assert_eq!(known, ExtensionRequest::WORDS);
    }
}
