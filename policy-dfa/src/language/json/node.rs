//! JSON as a tree whose values know their source locations.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::language::error::Fault;

/// The deepest nesting that is read. No policy nests as deep.
const MAX_DEPTH: usize = 10;

/// One value.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) span: Range<usize>,
    pub(super) value: Value<'a>,
}

#[derive(Debug)]
pub(super) enum Value<'a> {
    Null,
    Flag(bool),
    /// The digits as they are written, so that none is lost.
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Map(Vec<Entry<'a>>),
}

/// One key with its value.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) key_span: Range<usize>,
    pub(super) node: Node<'a>,
}

/// The entries of an object in their order, repeated keys included.
struct Entries<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries<'de>, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
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

impl<'a> Node<'a> {
    pub(super) fn read(json: &'a str) -> Result<Node<'a>, Fault> {
        let raw = serde_json::from_str(json).map_err(|error| not_json(json, 0, &error))?;
        Node::of(json, raw, 0)
    }

    fn of(json: &'a str, raw: &'a RawValue, depth: usize) -> Result<Node<'a>, Fault> {
        let span = span(json, raw);
        let text = raw.get();
        let fault = |error: serde_json::Error| not_json(json, span.start, &error);
        if depth > MAX_DEPTH {
            return Err(Fault::new(span, "this is nested deeper than any policy"));
        }
        let value = match text.as_bytes().first() {
            Some(b'{') => {
                let Entries(entries) = serde_json::from_str(text).map_err(fault)?;
                let read = |(key, value): (&'a RawValue, &'a RawValue)| {
                    let key_span = self::span(json, key);
                    let key = unescaped(key.get()).map_err(|error| not_json(json, key_span.start, &error))?;
                    Ok(Entry { key, key_span, node: Node::of(json, value, depth + 1)? })
                };
                Value::Map(entries.into_iter().map(read).collect::<Result<_, Fault>>()?)
            }
            Some(b'[') => {
                let items: Vec<&'a RawValue> = serde_json::from_str(text).map_err(fault)?;
                let read = |item| Node::of(json, item, depth + 1);
                Value::List(items.into_iter().map(read).collect::<Result<_, Fault>>()?)
            }
            Some(b'"') => Value::Text(unescaped(text).map_err(fault)?),
            Some(b't') => Value::Flag(true),
            Some(b'f') => Value::Flag(false),
            Some(b'n') => Value::Null,
            _ => Value::Number(text),
        };
        Ok(Node { span, value })
    }

    /// The path of keys and indexes to a byte of the JSON.
    pub(super) fn path_to(&self, at: usize) -> String {
        let mut path = String::new();
        let mut node = self;
        while node.span.start < at {
            match &node.value {
                Value::Map(entries) => {
                    let Some(entry) =
                        entries.iter().find(|e| (e.key_span.start..e.node.span.end).contains(&at))
                    else {
                        break;
                    };
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(&shortened(&entry.key));
                    node = &entry.node;
                }
                Value::List(items) => {
                    let Some(index) = items.iter().position(|item| item.span.contains(&at)) else { break };
                    path.push_str(&format!("[{index}]"));
                    let Some(item) = items.get(index) else { break };
                    node = item;
                }
                _ => break,
            }
        }
        path
    }

    /// The value as it is named in a message.
    pub(super) fn shown(&self) -> String {
        match &self.value {
            Value::Null => "`null`".to_owned(),
            Value::Flag(flag) => format!("`{flag}`"),
            Value::Number(digits) => format!("`{}`", shortened(digits)),
            Value::Text(text) => format!("`\"{}\"`", shortened(text)),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "an object".to_owned(),
        }
    }
}

/// Text of the user, short enough for a message and without invisible characters.
pub(super) fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(60).flat_map(char::escape_default).collect();
    shown = shown.replace("\\'", "'").replace("\\\"", "\"");
    if text.chars().nth(60).is_some() { shown + "..." } else { shown }
}

/// The content of a JSON string.
fn unescaped(raw: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Ok(Cow::Borrowed(plain)),
        _ => serde_json::from_str::<String>(raw).map(Cow::Owned),
    }
}

/// The location of a part of the JSON.
fn span(json: &str, part: &RawValue) -> Range<usize> {
    let start = (part.get().as_ptr() as usize).saturating_sub(json.as_ptr() as usize);
    start..start + part.get().len()
}

/// The fault that `serde_json` found in a part that begins at `from`.
fn not_json(json: &str, from: usize, error: &serde_json::Error) -> Fault {
    let part = json.get(from..).unwrap_or("");
    let lines = part.split_inclusive('\n').take(error.line().saturating_sub(1));
    let start = from + lines.map(str::len).sum::<usize>();
    let mut at = (start + error.column().saturating_sub(1)).min(json.len());
    while !json.is_char_boundary(at) {
        at -= 1;
    }
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or("it cannot be read");
    Fault::new(at..at, format!("this is no JSON: {what}"))
}
