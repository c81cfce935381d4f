//! JSON as it is signed. Two readers of a signed text must not understand it differently, so a repeated member, a fraction and an integer
//! that a JavaScript reader would round are refused.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The greatest integer that every reader of JSON keeps exact: 2^53 - 1.
pub(crate) const MAX_INTEGER: u64 = (1 << 53) - 1;

/// A text is not JSON as it is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line}, column {column}: a signed JSON text has one value, no repeated member, no fraction and no integer of 2^53 or more"
)]
pub struct JsonFault {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl From<serde_json::Error> for JsonFault {
    fn from(error: serde_json::Error) -> JsonFault {
        JsonFault { line: error.line(), column: error.column() }
    }
}

/// Reads one JSON value.
pub(crate) fn parse(text: &[u8]) -> Result<Value, JsonFault> {
    let Signed(value) = serde_json::from_slice(text)?;
    Ok(value)
}

/// Reads one JSON object.
pub(crate) fn parse_object(text: &[u8]) -> Result<Map<String, Value>, JsonFault> {
    match parse(text)? {
        Value::Object(object) => Ok(object),
        _ => Err(JsonFault { line: 1, column: 1 }),
    }
}

/// The canonical form of RFC 8785.
pub(crate) fn canonical(value: &Value) -> Result<Vec<u8>, JsonFault> {
    Ok(serde_json_canonicalizer::to_vec(value)?)
}

struct Signed(Value);

impl<'de> Deserialize<'de> for Signed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Signed, D::Error> {
        deserializer.deserialize_any(SignedVisitor).map(Signed)
    }
}

struct SignedVisitor;

impl<'de> Visitor<'de> for SignedVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON as it is signed")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > MAX_INTEGER { Err(E::custom("integer")) } else { Ok(value.into()) }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        if value > MAX_INTEGER { Err(E::custom("integer")) } else { Ok(value.into()) }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Signed(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Signed(value))) = members.next_entry::<String, Signed>()? {
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("repeated"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_readers_may_understand_differently_is_refused() {
        for text in [
            r#"{"total":1,"total":2}"#,
            r#"{"a":[{"b":1,"b":1}]}"#,
            "1.0",
            "1e3",
            "9007199254740992",
            "-9007199254740992",
            "{} {}",
            "",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        for text in [r#"{"total":1,"b":{"total":2}}"#, "9007199254740991", "[null,true,-1,\"é\"]"] {
            let value = parse(text.as_bytes()).unwrap();
            assert_eq!(parse(&canonical(&value).unwrap()).unwrap(), value);
        }
        let fault = parse(b"{\"a\":1,\n \"a\":2}").unwrap_err();
        assert_eq!(fault.line, 2);
    }

    /// The example of RFC 8785, section 3.2.3: members are sorted by UTF-16 code units.
    #[test]
    fn members_are_sorted_as_rfc_8785_says() {
        let text = "{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,\"\\ud83d\\ude00\":5,\"\\u0080\":6,\"\\u00f6\":7}";
        let sorted = String::from_utf8(canonical(&parse(text.as_bytes()).unwrap()).unwrap()).unwrap();
        let order: Vec<char> = sorted.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(
            order,
            ['2', '1', '4', '6', '7', '1', '5', '3'],
            "the second 1 is the value of the euro sign"
        );
    }
}
