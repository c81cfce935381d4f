//! Members of JSON objects that the browser or a content script sends.

use serde_json::Value;

/// A string member.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}

/// The number of an element; none for zero, which the page scripts use for "no element".
pub(crate) fn number(object: &Value, name: &str) -> Option<u64> {
    object.get(name).and_then(Value::as_u64).filter(|number| *number != 0)
}
