//! JSON schemas for the tools of a model, and the calls of a tool for one verb.
//!
//! A schema is derived from the type that a call is read into, so that the two cannot differ.
//!
//! ```
//! use browser_signals::{Verb, tool};
//! use serde_json::json;
//!
//! // One tool for all verbs: `do` says which one a call is.
//! let schema = tool::one_tool::<Verb>();
//! assert_eq!(schema["required"], json!(["do"]));
//! let call = json!({ "do": "click", "target": "e12" });
//! assert!(serde_json::from_value::<Verb>(call).is_ok());
//!
//! // A tool for each verb.
//! assert_eq!(tool::verb_schema("open").unwrap()["required"], json!(["url"]));
//! let arguments = json!({ "url": "https://shop.example" }).as_object().cloned().unwrap();
//! assert_eq!(tool::read_verb("open", arguments).unwrap(), Verb::Open { url: "https://shop.example".to_owned() });
//! ```

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde_json::{Map, Value, json};

use super::verb::Verb;
use super::written::Written;

/// The member that says which verb it is.
const WHICH: &str = "do";

impl JsonSchema for Verb {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Verb".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Written::json_schema(generator)
    }
}

/// The JSON schema of a tool's arguments, without anything that would only lengthen the model's prompt.
pub fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    shorten(&mut schema);
    schema
}

/// The JSON schema of one tool for a type whose member `do` says what a call is, such as [`Verb`].
///
/// It is one object, since models' interfaces take no alternatives at its top. The description of `do` says which arguments
/// belong to which word, with a question mark for those that may be left out.
pub fn one_tool<T: JsonSchema>() -> Value {
    let alternatives = alternatives(&schema::<T>());
    let words: Vec<&str> = alternatives.iter().map(|alternative| alternative.word.as_str()).collect();
    let lines: Vec<String> = alternatives.iter().map(Alternative::line).collect();
    let which = json!({ "type": "string", "enum": words, "description": lines.join("\n") });
    let mut properties = Map::from_iter([(WHICH.to_owned(), which)]);
    for (name, argument) in alternatives.iter().flat_map(|alternative| &alternative.arguments) {
        let property = properties.entry(name).or_insert_with(|| argument.clone());
        if let Some(description) = described(name, &alternatives)
            && let Some(property) = property.as_object_mut()
        {
            property.insert("description".to_owned(), description.into());
        }
    }
    json!({ "type": "object", "properties": properties, "required": [WHICH], "additionalProperties": false })
}

/// The description of an argument; where several words have it, of each that says something of its own.
fn described(name: &str, alternatives: &[Alternative]) -> Option<String> {
    let of = |alternative: &Alternative| {
        let argument = alternative.arguments.get(name)?;
        Some((alternative.word.clone(), argument.get("description")?.as_str()?.to_owned()))
    };
    let said: Vec<(String, String)> = alternatives.iter().filter_map(of).collect();
    let (_, first) = said.first()?;
    if said.iter().all(|(_, description)| description == first) {
        return Some(first.clone());
    }
    let each: Vec<String> = said.iter().map(|(word, description)| format!("{word}: {description}")).collect();
    Some(each.join("; "))
}

/// The JSON schema of a tool for one verb, by the word of its `do`. `None` where no verb has this word.
pub fn verb_schema(word: &str) -> Option<Value> {
    let mut all = alternatives(&schema::<Verb>()).into_iter();
    let Alternative { arguments, required, .. } = all.find(|one| one.word == word)?;
    Some(json!({
        "type": "object", "properties": arguments, "required": required, "additionalProperties": false,
    }))
}

/// Reads a call of a tool for one verb, by the word of its `do`.
///
/// # Errors
/// The arguments do not fit the verb, or no verb has this word. The message may repeat a value of the call.
pub fn read_verb(word: &str, mut arguments: Map<String, Value>) -> Result<Verb, serde_json::Error> {
    if arguments.insert(WHICH.to_owned(), word.into()).is_some() {
        return Err(serde_json::Error::custom(format!("unknown field `{WHICH}`")));
    }
    serde_json::from_value(Value::Object(arguments))
}

/// One alternative of a type that its member `do` tells apart.
struct Alternative {
    word: String,
    description: String,
    arguments: Map<String, Value>,
    required: Vec<String>,
}

impl Alternative {
    /// The alternative that a schema describes.
    fn read(schema: &Value) -> Option<Alternative> {
        let mut arguments = schema.get("properties")?.as_object()?.clone();
        let word = arguments.remove(WHICH)?.get("const")?.as_str()?.to_owned();
        let required = schema.get("required")?.as_array()?.iter().filter_map(Value::as_str);
        let required = required.filter(|name| *name != WHICH).map(str::to_owned).collect();
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        Some(Alternative { word, description: description.to_owned(), arguments, required })
    }

    /// Its word, its arguments and what it does, on one line.
    fn line(&self) -> String {
        let Alternative { word, description, arguments, required } = self;
        let optional =
            arguments.keys().filter(|name| !required.contains(name)).map(|name| format!("{name}?"));
        let names: Vec<String> = required.iter().cloned().chain(optional).collect();
        match names.as_slice() {
            [] => format!("{word}: {description}"),
            names => format!("{word} ({}): {description}", names.join(", ")),
        }
    }
}

/// The alternatives of a schema, and of those within it.
fn alternatives(schema: &Value) -> Vec<Alternative> {
    match ["oneOf", "anyOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array()) {
        Some(within) => within.iter().flat_map(alternatives).collect(),
        None => Alternative::read(schema).into_iter().collect(),
    }
}

/// Removes titles, formats, defaults, and the type and value `null` of optional parameters, and spells out empty lists.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            // A parameter may have the name of a keyword; its schema is an object, and stays.
            keywords.retain(|name, value| {
                value.is_object() || !matches!(name.as_str(), "title" | "format" | "default")
            });
            if let Some(Value::Array(types)) = keywords.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    keywords.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(values)) = keywords.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            if keywords.get("type").is_some_and(|name| name == "object") {
                keywords.entry("properties").or_insert_with(|| Map::new().into());
                keywords.entry("required").or_insert_with(|| Value::Array(Vec::new()));
            }
            keywords.values_mut().for_each(shorten);
        }
        Value::Array(parts) => parts.iter_mut().for_each(shorten),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    #[test]
    fn one_tool_has_every_verb_and_no_alternatives() {
        let schema = one_tool::<Verb>();
        let words = schema["properties"]["do"]["enum"].as_array().unwrap();
        assert_eq!(words.len(), 12, "{words:?}");
        assert!(schema.get("oneOf").is_none());
        let said = schema["properties"]["do"]["description"].as_str().unwrap();
        assert_eq!(said.lines().count(), words.len());
        for line in ["read: Read the page", "check (target, on): Set a check box or radio button"] {
            assert!(said.lines().any(|known| known == line), "{said}");
        }
        assert!(said.contains("type (target, text, slowly?): "), "{said}");
        let target = schema["properties"]["target"]["description"].as_str().unwrap();
        assert_eq!(target, "The element, by its ref in the page's text, such as e12");
        assert_eq!(schema["properties"]["button"]["enum"], json!(["left", "right"]));
    }

    #[test]
    fn words_that_share_an_argument_say_what_it_is_for_each() {
        #[derive(JsonSchema)]
        #[serde(tag = "do", rename_all = "snake_case")]
        #[expect(dead_code, reason = "only its schema counts")]
        enum Other {
            /// Say something
            Say {
                /// The words
                text: String,
            },
            /// Ask something
            Ask {
                /// The question
                text: String,
            },
        }
        let schema = one_tool::<Other>();
        assert_eq!(schema["properties"]["text"]["description"], "say: The words; ask: The question");
        assert_eq!(schema["properties"]["text"]["type"], "string");
    }

    #[test]
    fn every_verb_has_a_tool_of_its_own() {
        let schema = one_tool::<Verb>();
        for word in schema["properties"]["do"]["enum"].as_array().unwrap() {
            let schema = verb_schema(word.as_str().unwrap()).unwrap();
            assert!(
                schema["properties"].get("do").is_none() && schema["additionalProperties"] == false,
                "{word}"
            );
        }
        assert_eq!(verb_schema("evaluate"), None);
    }

    #[test]
    fn a_call_names_its_verb_by_its_tool_alone() {
        let read = |word: &str, arguments: Value| {
            read_verb(word, arguments.as_object().cloned().unwrap()).map_err(|error| error.to_string())
        };
        assert_eq!(read("back", json!({})), Ok(Verb::Back));
        assert!(
            read("back", json!({ "do": "open", "url": "a" })).unwrap_err().contains("unknown field `do`")
        );
        assert!(read("open", json!({})).unwrap_err().contains("missing field `url`"));
        assert!(read("evaluate", json!({})).unwrap_err().contains("unknown variant `evaluate`"));
    }
}
