//! The texts of the protocol, inside what the relay carries and inside what the session encrypts.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A message between the guard and the device.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum Message {
    /// The first half of the handshake.
    HandshakeInit {
        data: String,
        ciphersuite: String,
        psk_id: Option<String>,
    },
    /// Its second half.
    HandshakeResponse {
        data: String,
    },
    CredentialRequest {
        encrypted: String,
    },
    CredentialResponse {
        encrypted: String,
    },
}

/// The content of a [`Message::CredentialRequest`], which the session encrypts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) query: Query<'a>,
    /// In milliseconds since 1970.
    pub(super) timestamp: u64,
    pub(super) request_id: &'a str,
}

/// The wanted login. The protocol can also name one, or search in the text of all; the guard does neither.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Query<'a> {
    Domain(&'a str),
}

/// The content of a [`Message::CredentialResponse`], which the session encrypts. Secret values stay where they are in the decrypted text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response<'a> {
    pub(super) request_id: Option<String>,
    #[serde(borrow)]
    pub(super) credential: Option<Credential<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Credential<'a> {
    #[serde(borrow)]
    pub(super) username: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) password: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) totp: Option<&'a RawValue>,
    pub(super) uri: Option<String>,
    pub(super) credential_id: Option<String>,
    pub(super) domain: Option<String>,
}
