//! The JSON form of a policy, and the messages about malformed ones.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod errors;
mod schema;

use policy_dfa::Policy;
use proptest::prelude::*;
use serde_json::{Value, json};

const DEFAULT: &str = include_str!("../../../policies/default.policy");

fn shipped() -> Value {
    serde_json::from_str(&Policy::parse(DEFAULT).unwrap().to_json()).unwrap()
}

/// The problems of a JSON form, as `line:column path: message; help`.
fn problems(json: &str) -> Vec<String> {
    let error = match Policy::from_json(json) {
        Err(error) => error,
        Ok(policy) => panic!("read as\n{policy}"),
    };
    let lines = error.problems().iter().map(|problem| {
        let help = problem.help.as_deref().map_or(String::new(), |help| format!("; {help}"));
        format!("{}:{} {}: {}{help}", problem.line, problem.column, problem.path, problem.message)
    });
    lines.collect()
}

/// Merges the keys of one object into another, recursively.
fn merge(into: &mut Value, change: Value) {
    match (into, change) {
        (Value::Object(into), Value::Object(change)) => {
            for (key, value) in change {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, change) => *into = change,
    }
}

#[test]
fn the_shipped_policy_survives_json() {
    let policy = Policy::parse(DEFAULT).unwrap();
    let json = policy.to_json();
    let again = Policy::from_json(&json).unwrap();
    assert_eq!(again, policy);
    assert_eq!((again.to_json(), again.to_string()), (json.clone(), policy.to_string()));
    let hash = |policy: &Policy| policy.compile().unwrap().policy_hash();
    assert_eq!(hash(&again), hash(&policy));
    // The layout is part of the format, since people compare files by it.
    let expected = r#"{
  "policy": "default",
  "version": 1,
  "tiers": {
    "T1": ["name", "country", "region", "city", "phone", "email"],
    "T2": [
      "street",
"#;
    assert!(json.starts_with(expected), "{json}");
    for line in [
        r#"        { "container": "fields" },"#,
        r#"        { "destination": "task", "if": { "container": ["T1", "T2"] } },"#,
        r#"      "naming_payee_and_amount": true,"#,
        r#"    "at_most": { "purchase": 1, "prompts": 5 },"#,
        r#"    "after": [{ "event": "suspected_injection", "never": ["T2"], "until": "new_task" }]"#,
        r#"    { "never": "deliver", "subject": "payment", "to": "fill" },"#,
        r#"    { "never": "grant", "subject": "T1", "where": [{ "tls": ["broken", "insecure", "unknown"] }] },"#,
        r#"        { "tls": "valid_or_loopback" },"#,
        r#"        { "destination": "https_or_loopback" },"#,
    ] {
        assert!(json.lines().any(|found| found == line), "{line}\n{json}");
    }
}

#[test]
fn the_order_of_keys_does_not_matter() {
    // A `Value` sorts its keys.
    let sorted = shipped().to_string();
    assert_eq!(Policy::from_json(&sorted).unwrap(), Policy::parse(DEFAULT).unwrap());
}

#[test]
fn every_other_feature_of_the_language_survives_json() {
    let text = "policy \"a\\b\" version 4294967295
        tier T1 { name country region city phone }
        tier T2 { email street postal_code card_number card_expiry card_code government_id password one_time_code }
        threshold T0 0 T1 0.07 T2 1
        request login { container T2 frame same origin sink other, login_form safety reaches the threshold
            consent once per site deliver wire or fill }
        request otp { frame any consent none deliver nothing }
        request purchase { visible consent every time, naming payee and amount deliver payment_api or ucp }
        verb type { flow stays else ask flow own unless container is T0 }
        verb open { }
        site \"*.a.example/account/*\" { only login, type }
        site \"[::1]\" { never purchase }
        session { at most 3 login, 0 purchases, 2 type, 7 prompts, 250.5 USD
            values keep to their path
            after refusal never T1, otp, submit until login
            after login never purchase until new_task }
        prove never grant T2 after refusal where container is not T2 and sink is other or unknown
        prove never deliver purchase to ucp
        prove never grant click after submit";
    let policy = Policy::parse(text).unwrap();
    let json = policy.to_json();
    assert_eq!(Policy::from_json(&json).unwrap(), policy, "{json}");
    assert_eq!(Policy::from_json(&json).unwrap().to_json(), json);
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["policy"], "a\\b");
    assert_eq!(found["thresholds"], json!({ "T0": 0.0, "T1": 0.07, "T2": 1.0 }));
    assert_eq!(
        found["session"]["at_most"],
        json!({ "login": 3, "purchase": 0, "type": 2, "prompts": 7, "money": "250.50 USD" })
    );
    assert_eq!(found["session"]["values"], "path");
    assert_eq!(
        found["verbs"]["type"]["clauses"][1],
        json!({ "flow": "own", "if": { "container": ["T1", "T2"] } })
    );
    assert_eq!(found["sites"][0], json!({ "site": "*.a.example/account/*", "only": ["login", "type"] }));
    assert_eq!(
        found["prove"][0],
        json!({ "never": "grant", "subject": "T2", "after": "refusal",
            "where": [{ "container": ["T0", "T1", "unknown"] }, { "sink": ["other", "unknown"] }] })
    );
}

/// Faults that a `Value` cannot represent: malformed JSON, repeated keys, sizes.
#[test]
fn malformed_json_is_reported_with_its_location() {
    let cases = [
        ("", "1:1 : this is no JSON: EOF while parsing a value"),
        ("{\n  \"policy\": \"a\",\n}", "3:1 : this is no JSON: key must be a string"),
        ("{\n  \"policy\" \"a\" }", "2:12 : this is no JSON: expected `:`"),
        ("[]", "1:1 : expected a policy, an object, found a list"),
        (
            "{ \"policy\": \"a\",\n \"version\": 1, \"policy\": \"b\" }",
            "2:16 policy: `policy` is said twice; keep one of the two",
        ),
        (
            "{ \"policy\": \"\\ud800\", \"version\": 1 }",
            "1:20 : this is no JSON: unexpected end of hex escape",
        ),
        ("{ \"version\": 1 }", "1:1 : `policy` is missing; add a key such as: \"policy\": \"mine\""),
        (
            "{ \"policy\": \"a\", \"version\": 1e0 }",
            "1:29 version: expected the version, a whole number, found `1e0`",
        ),
        ("{ \"policy\": \"a\", \"version\": 1 } x", "1:33 : this is no JSON: trailing characters"),
    ];
    let found: Vec<_> = cases.iter().map(|(json, _)| problems(json).remove(0)).collect();
    let wrong: Vec<_> = found.iter().zip(&cases).filter(|(found, (_, expected))| found != expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let deep = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
    assert!(problems(&deep)[0].ends_with("this is nested deeper than any policy"), "{}", problems(&deep)[0]);
    assert!(problems(&" ".repeat(2_200_000))[0].ends_with("the JSON is longer than 2097152 bytes"));
}

#[test]
fn several_problems_are_reported_at_once() {
    let mut policy = shipped();
    merge(&mut policy, json!({ "colour": 1, "verbs": { "clik": {} }, "prove": [{ "never": "say" }] }));
    assert_eq!(problems(&policy.to_string()).len(), 3);
}

/// A policy beyond the largest size is refused.
#[test]
fn a_policy_of_the_largest_size_survives_json() {
    let start = DEFAULT.split_once("\nprove").unwrap().0;
    let start = format!("{start}\n");
    let statement = |n: usize| {
        format!(
            "prove never grant T2 where safety is {} {}\n",
            SYMBOLS[n % 5],
            " and tls is broken".repeat(n)
        )
    };
    const SYMBOLS: [&str; 5] = ["below", "T0", "T1", "T2", "unknown"];
    let mut text = start;
    for n in 0.. {
        let next = text.clone() + &statement(n);
        if next.len() > 256 * 1024 {
            break;
        }
        text = next;
    }
    let policy = Policy::parse(&text).unwrap();
    assert!(policy.to_string().len() > 250_000);
    assert_eq!(Policy::from_json(&policy.to_json()).unwrap(), policy);
    let mut json: Value = serde_json::from_str(&policy.to_json()).unwrap();
    let more: Vec<_> = (0..900).map(|_| json!({ "tls": ["insecure"] })).collect();
    json["prove"].as_array_mut().unwrap().push(json!({ "never": "grant", "subject": "T1", "where": more }));
    assert!(problems(&json.to_string())[0].contains("longer than 262144 bytes when it is written as text"));
}

#[test]
fn statements_of_a_json_policy_have_locations_in_the_json() {
    let mut json = shipped();
    json["prove"].as_array_mut().unwrap().push(json!({ "never": "grant", "subject": "T1" }));
    let json = json.to_string();
    let statements = Policy::from_json(&json).unwrap().compile().unwrap().examine();
    let broken: Vec<_> = statements.iter().filter(|statement| statement.violation.is_some()).collect();
    assert_eq!(broken.len(), 1);
    assert_eq!(&json[broken[0].span.clone().unwrap()], r#"{"never":"grant","subject":"T1"}"#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The parser never panics, and the location of a problem is inside the text.
    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,80}") {
        if let Err(error) = Policy::from_json(&text) {
            prop_assert!(error.problems().iter().all(|problem| text.get(problem.span.clone()).is_some()));
        }
    }

    /// The shipped policy with a part of it replaced by a value of another type or name.
    #[test]
    fn any_damage_is_parsed_or_refused(index in any::<prop::sample::Index>(), with in 0usize..8) {
        let mut json = shipped();
        let mut paths = Vec::new();
        pointers(&json, String::new(), &mut paths);
        let path = index.get(&paths);
        let others = [json!(null), json!([]), json!({}), json!("T2"), json!("name"), json!(7), json!([[]]), json!("\"{")];
        *json.pointer_mut(path).unwrap() = others[with].clone();
        let text = json.to_string();
        match Policy::from_json(&text) {
            Ok(policy) => prop_assert_eq!(Policy::from_json(&policy.to_json()), Ok(policy)),
            Err(error) => {
                prop_assert!(!error.problems().is_empty());
                prop_assert!(error.problems().iter().all(|problem| text.get(problem.span.clone()).is_some()));
            }
        }
    }
}

fn pointers(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            entries.iter().for_each(|(key, value)| pointers(value, format!("{path}/{key}"), paths));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, value)| pointers(value, format!("{path}/{n}"), paths));
        }
        _ => {}
    }
    paths.push(path);
}
