//! Messages of the consent page's script, which are accepted in one spelling only, that of a JSON writer.

use portcullis::consent::Answer;
use portcullis::consent::page::message::{MAX_BYTES, Message};
use serde::{Deserialize, Serialize};

/// A message as a JSON library reads it, with its members in order.
#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Json {
    Show { show: String },
    Answer { nonce: String, subject: String, answer: String },
    Code { nonce: String, subject: String, code: String },
    Account { nonce: String, subject: String, account: String },
}

/// Reads any bytes as a message, and compares it with the result of a JSON library.
///
/// # Panics
/// A message is not written as it was read, or the library and the reader disagree.
pub fn run(input: &[u8]) {
    let read = Message::read(input);
    if let Some(message) = &read {
        let mut written = Vec::new();
        message.write(&mut written);
        assert_eq!(written, input, "read in another spelling");
        assert!(input.len() <= MAX_BYTES, "a message of {} bytes", input.len());
    }
    let json = serde_json::from_slice::<Json>(input).ok().filter(|json| {
        // Only the spelling that the library writes itself counts, with valid members.
        serde_json::to_vec(json).is_ok_and(|written| written == input) && has_valid_members(json)
    });
    let same = match (&read, &json) {
        (None, None) => true,
        (Some(Message::Show { nonce }), Some(Json::Show { show })) => nonce == show,
        (
            Some(Message::Answer { nonce, subject, answer }),
            Some(Json::Answer { nonce: n, subject: s, answer: a }),
        ) => nonce == n && subject == s && answer.as_str() == a,
        (
            Some(Message::Code { nonce, subject, code }),
            Some(Json::Code { nonce: n, subject: s, code: c }),
        ) => nonce == n && subject == s && *code == c.as_bytes(),
        (
            Some(Message::Account { nonce, subject, account }),
            Some(Json::Account { nonce: n, subject: s, account: a }),
        ) => nonce == n && subject == s && account.to_string() == *a,
        _ => false,
    };
    assert!(same, "the reader and a JSON library differ");
}

fn has_valid_members(json: &Json) -> bool {
    let hex = |text: &str, digits| {
        text.len() == digits && text.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
    };
    match json {
        Json::Show { show } => hex(show, 32),
        Json::Answer { nonce, subject, answer } => {
            hex(nonce, 32) && hex(subject, 64) && Answer::ALL.iter().any(|it| it.as_str() == answer)
        }
        Json::Code { nonce, subject, code } => {
            let is_code = code.chars().all(|c| c.is_ascii_alphanumeric()) && (3..=10).contains(&code.len());
            hex(nonce, 32) && hex(subject, 64) && is_code
        }
        Json::Account { nonce, subject, account } => {
            hex(nonce, 32)
                && hex(subject, 64)
                && account.len() == 1
                && ("1"..="9").contains(&account.as_str())
        }
    }
}
