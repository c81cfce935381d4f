//! The published schema describes every policy that the parser accepts, and the parser refuses everything else.

#[path = "../oracle/generate.rs"]
mod generate;

use policy_dfa::Policy;
use proptest::prelude::*;
use regex_automata::meta::Regex;
use serde_json::{Value, json};

use crate::{pointers, shipped};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../spec/policy.schema.json")).unwrap()
}

/// Whether a value matches a schema. It knows the keywords that our schema uses, and panics on any other.
fn is_valid(value: &Value, schema: &Value, root: &Value) -> bool {
    let number = |limit: &Value| limit.as_f64().unwrap();
    let length = |limit: &Value| usize::try_from(limit.as_u64().unwrap()).unwrap();
    schema.as_object().unwrap().iter().all(|(keyword, says)| match keyword.as_str() {
        "$schema" | "$defs" | "title" | "description" => true,
        "$ref" => {
            let name = says.as_str().unwrap().strip_prefix('#').unwrap();
            is_valid(value, root.pointer(name).unwrap(), root)
        }
        "type" => match says.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            other => panic!("no such type: {other}"),
        },
        "enum" => says.as_array().unwrap().contains(value),
        "oneOf" => says.as_array().unwrap().iter().filter(|one| is_valid(value, one, root)).count() == 1,
        "properties" => value.as_object().is_none_or(|entries| {
            entries.iter().all(|(key, inner)| says.get(key).is_none_or(|says| is_valid(inner, says, root)))
        }),
        "additionalProperties" => {
            assert_eq!(says, &json!(false));
            let known = |key: &String| schema["properties"].get(key).is_some();
            value.as_object().is_none_or(|entries| entries.keys().all(known))
        }
        "required" => says.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
        "minProperties" => value.as_object().is_none_or(|entries| entries.len() >= length(says)),
        "maxProperties" => value.as_object().is_none_or(|entries| entries.len() <= length(says)),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| is_valid(item, says, root))),
        "minItems" => value.as_array().is_none_or(|items| items.len() >= length(says)),
        "maxItems" => value.as_array().is_none_or(|items| items.len() <= length(says)),
        "minimum" => value.as_f64().is_none_or(|found| found >= number(says)),
        "maximum" => value.as_f64().is_none_or(|found| found <= number(says)),
        "pattern" => {
            let pattern = Regex::new(says.as_str().unwrap()).unwrap();
            value.as_str().is_none_or(|text| pattern.is_match(text))
        }
        other => panic!("the schema has a keyword that this test does not know: {other}"),
    })
}

#[test]
fn the_shipped_policy_matches_the_schema() {
    assert!(is_valid(&shipped(), &schema(), &schema()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_policy_matches_the_schema(bytes in prop::collection::vec(any::<u8>(), 197)) {
        let json = Policy::parse(&generate::policy(&bytes)).unwrap().to_json();
        prop_assert!(is_valid(&serde_json::from_str(&json).unwrap(), &schema(), &schema()), "{}", json);
    }

    /// A random policy with some part of it replaced by some other part of it.
    #[test]
    fn json_that_does_not_match_the_schema_is_refused(
        bytes in prop::collection::vec(any::<u8>(), 197),
        places in any::<[prop::sample::Index; 2]>(),
        other in 0usize..6,
    ) {
        let json = Policy::parse(&generate::policy(&bytes)).unwrap().to_json();
        let mut json: Value = serde_json::from_str(&json).unwrap();
        let mut paths: Vec<String> = Vec::new();
        pointers(&json, String::new(), &mut paths);
        let from = json.pointer(places[0].get(&paths).as_str()).unwrap().clone();
        let others = [json!(null), json!([]), json!({}), json!(-1), json!(true)];
        *json.pointer_mut(places[1].get(&paths).as_str()).unwrap() = others.get(other).cloned().unwrap_or(from);
        let read = Policy::from_json(&json.to_string());
        prop_assert!(read.is_err() || is_valid(&json, &schema(), &schema()), "{json}");
    }
}
