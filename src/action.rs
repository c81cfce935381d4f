//! An agent's action, and its JSON.

use browser_signals::Verb;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// One action of an agent.
///
/// It is read from a model's tool call and written as it is read: as its [`Verb`], or as the member `text` of the word
/// `request`. With the feature `schema`, `signals::tool::one_tool::<Action>()` is the schema of such a tool.
///
/// ```
/// use portcullis::Action;
/// use portcullis::signals::Verb;
///
/// let verb = serde_json::from_str(r#"{ "do": "open", "url": "https://shop.example/" }"#).unwrap();
/// assert_eq!(Action::Verb(Verb::Open { url: "https://shop.example/".to_owned() }), verb);
/// let request = serde_json::from_str(r#"{ "do": "request", "text": "REQ.address\nREQ.end" }"#).unwrap();
/// assert_eq!(Action::Request("REQ.address\nREQ.end".to_owned()), request);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A verb on the page.
    Verb(Verb),
    /// Text with a request block (`REQ.` lines up to `REQ.end`), or with a plan.
    Request(String),
}

/// An action that is no verb, as it is written. The doc comments are the descriptions in the schema, which a model reads.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum WrittenRequest {
    /// Ask for values of the user's to be put into the page, or for a purchase; you never see the values
    Request {
        /// Lines such as REQ.address, ended by REQ.end
        text: String,
    },
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Action::Verb(verb) => verb.serialize(serializer),
            Action::Request(text) => WrittenRequest::Request { text: text.clone() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Action, D::Error> {
        // Not as an untagged enum, whose errors do not say what is wrong.
        let written = Map::<String, Value>::deserialize(deserializer)?;
        let is_request = written.get("do").is_some_and(|word| word == "request");
        let written = Value::Object(written);
        let read = if is_request {
            serde_json::from_value(written).map(|WrittenRequest::Request { text }| Action::Request(text))
        } else {
            serde_json::from_value(written).map(Action::Verb)
        };
        read.map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Action {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Action".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let (verb, request) = (Verb::json_schema(generator), WrittenRequest::json_schema(generator));
        schemars::json_schema!({ "oneOf": [verb, request] })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_action_is_read_as_it_is_written() {
        for (action, written) in [
            (Action::Verb(Verb::Read), json!({ "do": "read" })),
            (Action::Request("REQ.end".into()), json!({ "do": "request", "text": "REQ.end" })),
        ] {
            assert_eq!(serde_json::to_value(&action).ok(), Some(written.clone()));
            assert_eq!(serde_json::from_value(written).ok(), Some(action));
        }
        for (written, problem) in [
            (json!({ "do": "request" }), "missing field `text`"),
            (json!({ "do": "request", "text": "REQ.end", "grant": true }), "unknown field `grant`"),
            (json!({ "do": "evaluate", "script": "1" }), "unknown variant `evaluate`"),
            (json!({ "do": "read", "text": "REQ.end" }), "unknown field `text`"),
        ] {
            let read = serde_json::from_value::<Action>(written).map_err(|error| error.to_string());
            assert!(read.as_ref().is_err_and(|error| error.contains(problem)), "{read:?}");
        }
    }

    #[cfg(feature = "schema")]
    #[test]
    fn the_schema_of_one_tool_has_verbs_and_requests() {
        let schema = browser_signals::tool::one_tool::<Action>();
        let words = schema.pointer("/properties/do/enum").and_then(Value::as_array);
        let has = |word: &str| words.is_some_and(|words| words.iter().any(|known| known == word));
        assert!(has("request") && has("open"), "{schema}");
    }
}
