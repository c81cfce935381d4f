//! Requests as a tool call: the schema of the tool, and the block of a call.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Grammar;
use super::automaton::MAX_TEXT_CHARS;
use crate::error::Excerpt;
use crate::items::{MAX_ITEM_ID_BYTES, MAX_ITEMS, MAX_QUANTITY, is_item_id};
use crate::limits::MAX_REQUESTS;
use crate::pointers::MAX_REF_BYTES;
use crate::{Block, ClaimKey, Field, FieldSet, Kind, ParseError, Tier, parse_block};

/// An error in the arguments of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolCallError {
    /// The arguments are not JSON, or do not match the schema.
    #[error("the arguments are not of the tool's schema: expected {0}")]
    Form(&'static str),
    /// An object has a key that the schema does not have.
    #[error("unknown key {name}; use {known}")]
    UnknownKey {
        /// The key.
        name: Excerpt,
        /// The keys of the object.
        known: &'static str,
    },
    /// The object has the key twice.
    #[error("`{0}` is given twice; give each key once")]
    DuplicateKey(&'static str),
    /// There are more requests than a block may hold.
    #[error("too many requests; keep a call within {MAX_REQUESTS} of them")]
    TooManyRequests,
    /// A request is invalid. The line of the error is the number of the request.
    #[error("in the request of this line, as text: {0}")]
    Request(#[from] ParseError),
}

impl Grammar {
    /// Writes the tool for the same requests, in the format of chat interfaces: an object with the name, the
    /// description and the schema of the parameters.
    ///
    /// The schema is weaker than the grammar: it requires `total` and `currency` together, but does not limit the
    /// decimals to those of the currency. [`block_from_tool_call`] checks everything.
    ///
    /// ```
    /// let grammar = sirl::Grammar::for_kinds(&[sirl::Kind::Otp])?;
    /// let tool = grammar.to_json_schema();
    /// let items = &tool["function"]["parameters"]["properties"]["requests"]["items"];
    /// assert_eq!(items["anyOf"][0]["properties"]["kind"]["const"], "otp");
    /// # Ok::<(), sirl::GrammarError>(())
    /// ```
    #[must_use]
    pub fn to_json_schema(&self) -> Value {
        let requests: Vec<Value> = self.kinds().map(|(kind, fields)| request(kind, fields)).collect();
        json!({
            "type": "function",
            "function": {
                "name": "request_data",
                "description": "Asks the guard for data of the user, or for a purchase. The guard decides, asks the \
                                user where it must, and answers with names, never with values.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "requests": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": MAX_REQUESTS,
                            "items": { "anyOf": requests },
                        },
                    },
                    "required": ["requests"],
                    "additionalProperties": false,
                },
            },
        })
    }
}

fn request(kind: Kind, fields: FieldSet) -> Value {
    let mut properties = Map::new();
    let mut required = vec!["kind"];
    properties.insert("kind".to_owned(), json!({ "const": kind.as_str() }));
    if !fields.is_empty() {
        let names: Vec<&str> = fields.iter().map(Field::as_str).collect();
        let list = json!({ "type": "array", "items": { "enum": names }, "minItems": 1, "uniqueItems": true });
        properties.insert("fields".to_owned(), list);
        properties.insert("at".to_owned(), at(fields));
        if !kind.default_fields().is_subset_of(fields) {
            required.push("fields");
        }
    }
    if kind == Kind::Purchase {
        properties.insert("items".to_owned(), items());
    }
    properties.insert("ctx".to_owned(), ctx());
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The controls that the model points at, by field.
fn at(fields: FieldSet) -> Value {
    let pattern = format!("^[a-z][a-z0-9]{{0,{}}}$", MAX_REF_BYTES - 1);
    let control = json!({ "type": "string", "pattern": pattern });
    let properties = fields.iter().map(|field| (field.as_str().to_owned(), control.clone()));
    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "additionalProperties": false,
        "minProperties": 1,
    })
}

/// The quantities of a purchase, by the shop's ids of the items.
fn items() -> Value {
    let pattern = format!("^[A-Za-z0-9_.:/-]{{1,{MAX_ITEM_ID_BYTES}}}$");
    json!({
        "type": "object",
        "propertyNames": { "pattern": pattern },
        "additionalProperties": { "type": "integer", "minimum": 1, "maximum": MAX_QUANTITY },
        "minProperties": 1,
        "maxProperties": MAX_ITEMS,
    })
}

fn ctx() -> Value {
    let properties = ClaimKey::ALL.into_iter().map(|key| {
        let value = match key {
            ClaimKey::Container => json!({ "enum": Tier::ALL.map(Tier::as_str) }),
            ClaimKey::Tls => json!({ "type": "boolean" }),
            ClaimKey::Total => json!({ "type": "number", "minimum": 0 }),
            ClaimKey::Currency => json!({ "type": "string", "pattern": "^[A-Z]{3}$" }),
            ClaimKey::Origin
            | ClaimKey::TopOrigin
            | ClaimKey::OriginRequest
            | ClaimKey::Sink
            | ClaimKey::Purpose
            | ClaimKey::Control => json!({ "type": "string", "maxLength": MAX_TEXT_CHARS }),
        };
        (key.as_str().to_owned(), value)
    });
    let (total, currency) = (ClaimKey::Total.as_str(), ClaimKey::Currency.as_str());
    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "additionalProperties": false,
        "dependentRequired": { total: [currency], currency: [total] },
    })
}

/// Makes the block of a call of the tool of [`Grammar::to_json_schema`].
///
/// Each request is written as a line and parsed by [`parse_block`], so it passes the same checks as text. A number
/// is used as it is written, so `64.10` stays exact. The kinds that the tool was offered with are not checked here,
/// because the policy decides on each request.
///
/// # Errors
/// The first part that does not match the schema, or that a line may not hold. A message never repeats a value.
///
/// ```
/// use sirl::grammar::block_from_tool_call;
///
/// let block = block_from_tool_call(r#"{"requests": [
///     {"kind": "purchase", "ctx": {"total": 64.15, "currency": "USD"}}
/// ]}"#)?;
/// assert_eq!(block.to_string(), "REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end");
/// # Ok::<(), sirl::grammar::ToolCallError>(())
/// ```
pub fn block_from_tool_call(arguments: &str) -> Result<Block, ToolCallError> {
    let [requests] = object(arguments, ["requests"], "requests", "an object with `requests`")?;
    let requests = requests.ok_or(ToolCallError::Form("an object with `requests`"))?;
    let requests = list(&requests, "a list of requests")?;
    if requests.len() > MAX_REQUESTS {
        return Err(ToolCallError::TooManyRequests);
    }
    let mut text = String::new();
    for request in &requests {
        text += &line(request)?;
        text.push('\n');
    }
    Ok(parse_block(&(text + "REQ.end"))?)
}

/// Writes one request as a line. Names are words and values are single values, so none can end the line.
fn line(request: &RawValue) -> Result<String, ToolCallError> {
    let names = "kind, fields, at, items, ctx";
    let wanted = "an object with `kind` for each request";
    let keys = ["kind", "fields", "at", "items", "ctx"];
    let [kind, fields, at, items, ctx] = object(request.get(), keys, names, wanted)?;
    let kind = kind.ok_or(ToolCallError::Form(wanted))?;
    let mut line = format!("REQ.{}", word(&kind, "a word for `kind`")?);
    if let Some(fields) = fields {
        let fields = list(&fields, "a list of names for `fields`")?;
        let fields = fields.iter().map(|name| word(name, "a list of names for `fields`"));
        line += &format!(" fields=[{}]", fields.collect::<Result<Vec<_>, _>>()?.join(","));
    }
    if let Some(at) = at {
        let wanted = "an object with the ref of a control for each field of `at`";
        let keys = Field::ALL.map(Field::as_str);
        let controls = object(at.get(), keys, "the fields of the schema", wanted)?;
        let entries = keys.iter().zip(&controls).filter_map(|(key, control)| Some((key, control.as_ref()?)));
        let entries = entries.map(|(key, control)| Ok(format!("\"{key}\":\"{}\"", word(control, wanted)?)));
        line += &format!(" at={{{}}}", entries.collect::<Result<Vec<_>, ToolCallError>>()?.join(","));
    }
    if let Some(items) = items {
        line += &format!(" items={{{}}}", item_entries(&items)?);
    }
    if let Some(ctx) = ctx {
        let keys = ClaimKey::ALL.map(ClaimKey::as_str);
        let known = "the keys of `ctx` in the schema";
        let values = object(ctx.get(), keys, known, "an object for `ctx`")?;
        let mut entries = Vec::new();
        for (key, value) in keys.iter().zip(&values) {
            let Some(value) = value else { continue };
            if value.get().starts_with(['[', '{']) {
                return Err(ToolCallError::Form("a string, a number or a truth value for each key of `ctx`"));
            }
            entries.push(format!("\"{key}\":{}", value.get()));
        }
        line += &format!(" ctx={{{}}}", entries.join(","));
    }
    Ok(line)
}

/// Writes the entries of `items`, repeated ids included, which the parser of the text refuses.
fn item_entries(items: &RawValue) -> Result<String, ToolCallError> {
    let wanted = "an object with the number of pieces for the shop's id of each item of `items`";
    let Entries(entries) = serde_json::from_str(items.get()).map_err(|_| ToolCallError::Form(wanted))?;
    let entry = |(id, pieces): &(String, Box<RawValue>)| {
        let single = !pieces.get().starts_with(['[', '{']);
        let entry = format!("\"{id}\":{}", pieces.get());
        (single && is_item_id(id)).then_some(entry).ok_or(ToolCallError::Form(wanted))
    };
    Ok(entries.iter().map(entry).collect::<Result<Vec<_>, _>>()?.join(","))
}

/// Parses a string of letters, digits, `_` and `-`.
fn word(value: &RawValue, wanted: &'static str) -> Result<String, ToolCallError> {
    let word: String = serde_json::from_str(value.get()).map_err(|_| ToolCallError::Form(wanted))?;
    let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if plain && !word.is_empty() { Ok(word) } else { Err(ToolCallError::Form(wanted)) }
}

fn list(value: &RawValue, wanted: &'static str) -> Result<Vec<Box<RawValue>>, ToolCallError> {
    serde_json::from_str(value.get()).map_err(|_| ToolCallError::Form(wanted))
}

/// Parses an object, and returns the values by key as they are written.
fn object<const N: usize>(
    text: &str,
    keys: [&'static str; N],
    known: &'static str,
    wanted: &'static str,
) -> Result<[Option<Box<RawValue>>; N], ToolCallError> {
    let Entries(entries) = serde_json::from_str(text).map_err(|_| ToolCallError::Form(wanted))?;
    let mut values = [const { None }; N];
    for (name, value) in entries {
        let found = keys.iter().zip(&mut values).find(|(key, _)| **key == name);
        let Some((key, slot)) = found else {
            return Err(ToolCallError::UnknownKey { name: Excerpt::new(&name, true), known });
        };
        if slot.replace(value).is_some() {
            return Err(ToolCallError::DuplicateKey(key));
        }
    }
    Ok(values)
}

/// The entries of an object in the order written, duplicate keys included.
struct Entries(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Entries;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}
