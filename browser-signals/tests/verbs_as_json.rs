//! Verbs as JSON, over random ones: what is written is read back, and the schemas of a model's tools accept what is read.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use browser_signals::verb::{ClickManner, HeldKeys, MouseButton, PlaceInElement, TypeManner};
use browser_signals::{ElementRef, Verb, tool};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

fn element() -> impl Strategy<Value = ElementRef> {
    any::<String>().prop_map(ElementRef)
}

fn manner() -> impl Strategy<Value = ClickManner> {
    let button = select(vec![MouseButton::Left, MouseButton::Right]);
    let place = option::of(any::<(i32, i32)>());
    (button, any::<[bool; 5]>(), place).prop_map(|(button, [twice, alt, control, meta, shift], place)| {
        let held = HeldKeys { alt, control, meta, shift };
        ClickManner { button, twice, held, place: place.map(|(x, y)| PlaceInElement { x, y }) }
    })
}

/// Every verb that an agent can write.
fn verb() -> impl Strategy<Value = Verb> {
    let manners = select(vec![TypeManner::AtOnce, TypeManner::KeyByKey]);
    prop_oneof![
        any::<String>().prop_map(|url| Verb::Open { url }),
        Just(Verb::Read),
        (element(), manner()).prop_map(|(target, manner)| Verb::Click { target, manner }),
        element().prop_map(|target| Verb::Hover { target }),
        (element(), element()).prop_map(|(target, onto)| Verb::Drag { target, onto }),
        (element(), any::<String>(), manners).prop_map(|(target, text, manner)| Verb::Type {
            target,
            text,
            manner
        }),
        (element(), vec(any::<String>(), 0..3))
            .prop_map(|(target, options)| Verb::Select { target, options }),
        (element(), any::<bool>()).prop_map(|(target, on)| Verb::Check { target, on }),
        any::<String>().prop_map(|key| Verb::Press { key }),
        any::<u32>().prop_map(|milliseconds| Verb::Wait { milliseconds }),
        element().prop_map(|target| Verb::Submit { target }),
        Just(Verb::Back),
    ]
}

/// The object of a verb, with a member left out or put in: now and then still a verb.
fn nearly_a_verb() -> impl Strategy<Value = Map<String, Value>> {
    let members = select(vec![
        "do",
        "url",
        "target",
        "startTarget",
        "endTarget",
        "doubleClick",
        "button",
        "modifiers",
        "position",
        "text",
        "slowly",
        "values",
        "on",
        "key",
        "milliseconds",
        "manner",
    ]);
    let values = select(vec![
        json!("e1"),
        json!("click"),
        json!("left"),
        json!({ "x": 3, "y": -40 }),
        json!(true),
        json!(7),
        json!(5_000_000_000_u64),
        json!(-7),
        json!(0.5),
        json!([]),
        json!(["Alt"]),
        json!(["Enter"]),
        json!([7]),
        json!({}),
    ]);
    (verb(), option::weighted(0.3, members.clone()), btree_map(members, values, 0..3)).prop_map(
        |(verb, left_out, put_in)| {
            let mut members = json!(verb).as_object().cloned().unwrap();
            left_out.map(|name| members.remove(name));
            members.extend(put_in.into_iter().map(|(name, value)| (name.to_owned(), value)));
            members
        },
    )
}

/// Returns true if a schema accepts a value, by the keywords that these schemas have. Any other fails the test.
fn accepts(schema: &Value, value: &Value) -> bool {
    schema.as_object().unwrap().iter().all(|(keyword, by)| match keyword.as_str() {
        "oneOf" => by.as_array().unwrap().iter().filter(|schema| accepts(schema, value)).count() == 1,
        "type" => match by.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_u64() || value.is_i64(),
            other => panic!("{other} is no type of these schemas"),
        },
        "const" => value == by,
        "enum" => by.as_array().unwrap().contains(value),
        "minimum" => value.as_f64().is_none_or(|number| number >= by.as_f64().unwrap()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| accepts(by, item))),
        "required" => {
            let has = |name: &Value| value.get(name.as_str().unwrap()).is_some();
            by.as_array().unwrap().iter().all(has)
        }
        "properties" => by
            .as_object()
            .unwrap()
            .iter()
            .all(|(name, schema)| value.get(name).is_none_or(|member| accepts(schema, member))),
        "additionalProperties" => {
            assert_eq!(by, false);
            let known = schema["properties"].as_object().unwrap();
            value.as_object().is_none_or(|members| members.keys().all(|name| known.contains_key(name)))
        }
        "description" => true,
        other => panic!("{other} is no keyword of these schemas"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_verb_is_read_as_it_is_written(verb in verb()) {
        let written = serde_json::to_string(&verb).unwrap();
        prop_assert_eq!(serde_json::from_str::<Verb>(&written).unwrap(), verb.clone());
        let mut members = json!(verb).as_object().cloned().unwrap();
        prop_assert!(accepts(&tool::schema::<Verb>(), &json!(members)));
        prop_assert!(accepts(&tool::one_tool::<Verb>(), &json!(members)));
        let word = members.remove("do").unwrap();
        let word = word.as_str().unwrap();
        prop_assert!(accepts(&tool::verb_schema(word).unwrap(), &json!(members)));
        prop_assert_eq!(tool::read_verb(word, members).unwrap(), verb);
    }

    #[test]
    fn the_schema_accepts_exactly_what_is_read(members in nearly_a_verb()) {
        let written = json!(members);
        let read = serde_json::from_value::<Verb>(written.clone());
        prop_assert_eq!(accepts(&tool::schema::<Verb>(), &written), read.is_ok(), "{:?}", read);
        if read.is_ok() {
            prop_assert!(accepts(&tool::one_tool::<Verb>(), &written));
        }
        // A message begins in lower case and names what was written, and no type of the code.
        if let Err(error) = read {
            let error = error.to_string();
            prop_assert!(error.starts_with(char::is_lowercase), "{}", error);
            for name in ["Written", "Verb", "struct", "enum", "u32", "u64"] {
                prop_assert!(!error.contains(name), "{}", error);
            }
        }
    }
}
