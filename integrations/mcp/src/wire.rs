//! A client's message as bytes: its limits, and the errors for bytes that are no message.
//!
//! rmcp drops bytes that it cannot parse and messages that are too long, and the client waits for an answer that never comes.

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use serde_json::Value;

/// The most bytes of a message.
pub const MAX_BYTES: usize = 16 << 20;

/// The most levels of arrays and objects in a message. A call with its metadata has about six.
const MOST_LEVELS: u32 = 64;

/// The reason why a message is refused before it is read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Oversized {
    /// It is too long.
    #[error("a message has at most 16 MiB; send less in one call")]
    Long,
    /// It is nested too deeply.
    #[error(
        "a message has at most 64 levels of arrays and objects; send arguments that are nested less deeply"
    )]
    Deep,
}

impl Oversized {
    /// The error for the client. The number of the request is unknown, since the message was not read to its end.
    pub fn answer(self) -> Box<TxJsonRpcMessage<RoleServer>> {
        Box::new(JsonRpcMessage::error(ErrorData::invalid_request(self.to_string(), None), None))
    }
}

/// Counts the levels of a JSON text that arrives in parts.
#[derive(Debug, Default)]
pub struct Nesting {
    level: u32,
    in_string: bool,
    escaped: bool,
}

impl Nesting {
    /// Reads the next part of the text.
    ///
    /// # Errors
    /// [`Oversized::Deep`] if the part opens too many levels.
    pub fn read(&mut self, part: &[u8]) -> Result<(), Oversized> {
        for byte in part {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'[' | b'{' if !self.in_string => self.level += 1,
                b']' | b'}' if !self.in_string => self.level = self.level.saturating_sub(1),
                _ => {}
            }
            if self.level > MOST_LEVELS {
                return Err(Oversized::Deep);
            }
        }
        Ok(())
    }
}

/// Parses a message. `None` is a blank line, or a notification or an answer that cannot be parsed: these are never answered.
///
/// # Errors
/// The answer to bytes that are not JSON, or to JSON that is no message.
pub fn parse(
    bytes: &[u8],
) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Box<TxJsonRpcMessage<RoleServer>>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii();
    if bytes.is_empty() {
        return Ok(None);
    }
    if let Ok(message) = serde_json::from_slice(bytes) {
        return Ok(Some(message));
    }
    // The messages of serde_json quote the text, which may hold a value of the user's.
    let value: Value = serde_json::from_slice(bytes).map_err(|_| {
        let error =
            ErrorData::parse_error("the message is not JSON in UTF-8; send one object a message", None);
        Box::new(JsonRpcMessage::error(error, None))
    })?;
    let id = value.get("id").cloned().and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    let is_notification = value.get("method").is_some() && value.get("id").is_none();
    let is_answer = value.get("method").is_none() && (value.get("result").or(value.get("error"))).is_some();
    if is_notification || is_answer {
        return Ok(None);
    }
    let error = ErrorData::invalid_request("the message is not a request of JSON-RPC 2.0", None);
    Err(Box::new(JsonRpcMessage::error(error, id)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use serde_json::json;

    fn answer(bytes: &[u8]) -> Value {
        serde_json::to_value(parse(bytes).unwrap_err()).unwrap()
    }

    #[test]
    fn bytes_that_are_no_message_have_an_error() {
        for bytes in [&b"{"[..], b"hello", b"\"\xff\"", b"{\"jsonrpc\":\"2.0\",\"id\":4111111111111111,}"] {
            let answer = answer(bytes);
            assert_eq!(answer["error"]["code"], -32700, "{answer}");
            assert!(answer.get("id").is_none() && !answer.to_string().contains("4111"), "{answer}");
        }
        for (message, id) in [
            (json!([]), None),
            (json!(7), None),
            (json!({ "jsonrpc": "2.0", "id": 3 }), Some(json!(3))),
            (json!({ "jsonrpc": "1.0", "id": "a", "method": "ping" }), Some(json!("a"))),
        ] {
            let answer = answer(message.to_string().as_bytes());
            assert_eq!(answer["error"]["code"], -32600, "{answer}");
            assert_eq!(answer.get("id").cloned(), id, "{answer}");
        }
    }

    #[test]
    fn messages_are_parsed_and_nothing_else_is_answered() {
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert!(parse(ping).unwrap().is_some());
        assert!(parse(&[b"\xEF\xBB\xBF", &ping[..], b"\r"].concat()).unwrap().is_some());
        for silent in [&b""[..], b" \r", br#"{"method":7}"#, br#"{"id":1,"error":7}"#] {
            assert!(parse(silent).unwrap().is_none());
        }
    }

    #[test]
    fn levels_are_counted_over_parts_and_outside_of_strings() {
        let mut nesting = Nesting::default();
        for _ in 0..3 {
            assert_eq!(nesting.read(&[b'['; 20]), Ok(()));
        }
        assert_eq!(nesting.read(br#""[[[[[[[[\"[[[["#), Ok(()));
        assert_eq!(nesting.read(br#"", "\\", [{}], [[["#), Ok(()));
        assert_eq!(nesting.read(b"]{ {"), Ok(()));
        assert_eq!(nesting.read(b"["), Err(Oversized::Deep));
    }
}
