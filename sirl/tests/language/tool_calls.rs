//! A tool call gives the same block as the text, or an error.

use crate::written::block;
use proptest::prelude::*;
use serde_json::{Value, json};
use sirl::grammar::{ToolCallError, block_from_tool_call};
use sirl::{Block, Field, FieldSet, Grammar, Kind, ParseErrorKind, Tier};

/// The arguments for `block`, with the exact decimal of the amount.
fn arguments(block: &Block, pretty: bool) -> String {
    let requests = block.requests.iter().map(|request| {
        let claim = &request.claim;
        let mut ctx: Vec<String> = Vec::new();
        for (key, text) in [
            ("purpose", claim.purpose.as_deref()),
            ("origin", claim.origin.as_deref()),
            ("sink", claim.sink.as_deref()),
            ("control", claim.control.as_deref()),
            ("container", claim.container.map(Tier::as_str)),
            ("currency", claim.total.as_ref().map(|total| total.currency.as_str())),
            ("top_origin", claim.top_origin.as_deref()),
            ("origin_request", claim.origin_request.as_deref()),
        ] {
            ctx.extend(text.map(|text| format!("\"{key}\": {}", json!(text))));
        }
        ctx.extend(claim.tls.map(|tls| format!("\"tls\": {tls}")));
        ctx.extend(claim.total.map(|total| format!("\"total\": {}", total.to_decimal())));
        let names: Vec<&str> = request.fields.iter().map(Field::as_str).collect();
        let fields = if names.is_empty() { String::new() } else { format!(", \"fields\": {}", json!(names)) };
        let at: Vec<String> = request
            .at
            .iter()
            .map(|(field, control)| format!("\"{}\": \"{control}\"", field.as_str()))
            .collect();
        let at = if at.is_empty() { String::new() } else { format!(", \"at\": {{{}}}", at.join(", ")) };
        let items: Vec<String> =
            request.items.iter().map(|(id, pieces)| format!("\"{id}\": {pieces}")).collect();
        let items =
            if items.is_empty() { String::new() } else { format!(", \"items\": {{{}}}", items.join(", ")) };
        let gap = if pretty { "\n   " } else { "" };
        format!(
            "{{{gap}\"kind\": \"{}\"{fields}{at}{items},{gap} \"ctx\": {{{gap}{}}}}}",
            request.kind.as_str(),
            ctx.join(", ")
        )
    });
    format!("{{\"requests\": [{}]}}", requests.collect::<Vec<_>>().join(","))
}

fn refused(requests: &str) -> ToolCallError {
    block_from_tool_call(&format!("{{\"requests\": [{requests}]}}")).unwrap_err()
}

#[test]
fn arguments_outside_of_the_schema_are_refused() {
    for arguments in
        ["", "[]", "{}", "null", "{\"requests\": {}}", "{\"requests\": null}", "{\"requests\": []} x"]
    {
        assert!(matches!(block_from_tool_call(arguments), Err(ToolCallError::Form(_))), "{arguments}");
    }
    for request in [
        "1",
        "{}",
        "{\"kind\": 1}",
        "{\"kind\": \"\"}",
        "{\"kind\": \"otp\\nREQ.payment\"}",
        "{\"kind\": \"otp ctx={}\"}",
        "{\"kind\": \"address\", \"fields\": \"city\"}",
        "{\"kind\": \"address\", \"fields\": [\"city]\"]}",
        "{\"kind\": \"address\", \"at\": {\"street\": 12}}",
        "{\"kind\": \"address\", \"at\": {\"street\": \"e1\\\"\"}}",
        "{\"kind\": \"address\", \"at\": [\"e1\"]}",
        "{\"kind\": \"purchase\", \"items\": [\"mug\"]}",
        "{\"kind\": \"purchase\", \"items\": {\"a mug\": 1}}",
        "{\"kind\": \"purchase\", \"items\": {\"mug\\\":1}\\nREQ.otp\": 1}}",
        "{\"kind\": \"purchase\", \"items\": {\"mug\": [1]}}",
        "{\"kind\": \"otp\", \"ctx\": []}",
        "{\"kind\": \"otp\", \"ctx\": {\"purpose\": {\"a\": 1}}}",
        "{\"kind\": \"otp\", \"ctx\": {\"purpose\": [\n\"REQ.end\"\n]}}",
    ] {
        assert!(matches!(refused(request), ToolCallError::Form(_)), "{request}");
    }
    let twice = ToolCallError::DuplicateKey("tls");
    assert_eq!(refused("{\"kind\": \"otp\", \"ctx\": {\"tls\": true, \"tls\": true}}"), twice);
    assert!(matches!(refused("{\"kind\": \"otp\", \"cvv\": \"918\"}"), ToolCallError::UnknownKey { .. }));
    let many = vec!["{\"kind\": \"otp\"}"; 17].join(",");
    assert_eq!(refused(&many), ToolCallError::TooManyRequests);
}

#[test]
fn the_checks_are_those_of_the_text() {
    let kind = |request: &str| match refused(request) {
        ToolCallError::Request(error) => error.kind,
        other => panic!("{other}"),
    };
    assert_eq!(kind(""), ParseErrorKind::EmptyBlock);
    assert!(matches!(kind("{\"kind\": \"adress\"}"), ParseErrorKind::UnknownKind(_)));
    assert!(matches!(kind("{\"kind\": \"end\"}"), ParseErrorKind::EmptyBlock));
    assert_eq!(kind("{\"kind\": \"otp\", \"fields\": []}"), ParseErrorKind::NoFields);
    assert!(matches!(
        kind("{\"kind\": \"otp\", \"fields\": [\"city\"]}"),
        ParseErrorKind::FieldNotOfKind { .. }
    ));
    assert_eq!(kind("{\"kind\": \"otp\", \"at\": {}}"), ParseErrorKind::NoPointers);
    let at = kind("{\"kind\": \"address\", \"at\": {\"street\": \"12\"}}");
    assert!(matches!(at, ParseErrorKind::WrongValue { key: "street", .. }), "{at:?}");
    let items = |items: &str| kind(&format!("{{\"kind\": \"purchase\", \"items\": {{{items}}}}}"));
    assert_eq!(items(""), ParseErrorKind::NoItems);
    assert!(matches!(items("\"mug\": 1, \"mug\": 2"), ParseErrorKind::DuplicateItem(_)));
    for pieces in ["0", "1.0", "1e0", "-1", "1000", "\"1\"", "true", "null"] {
        let kind = items(&format!("\"mug\": {pieces}"));
        assert!(matches!(kind, ParseErrorKind::WrongValue { key: "items", .. }), "{pieces} {kind:?}");
    }
    let elsewhere = kind("{\"kind\": \"otp\", \"items\": {\"mug\": 1}}");
    assert_eq!(elsewhere, ParseErrorKind::ItemsNotOfKind(Kind::Otp));
    let ctx = |ctx: &str| kind(&format!("{{\"kind\": \"purchase\", \"ctx\": {{{ctx}}}}}"));
    assert_eq!(ctx("\"total\": 1"), ParseErrorKind::MissingKey("currency"));
    for total in ["1e3", "-1", "64.155", "\"64\"", "true", "0.1e1"] {
        let kind = ctx(&format!("\"total\": {total}, \"currency\": \"USD\""));
        assert!(matches!(kind, ParseErrorKind::WrongValue { key: "total", .. }), "{total} {kind:?}");
    }
    assert!(matches!(ctx("\"purpose\": null"), ParseErrorKind::WrongValue { .. }));
    assert_eq!(ctx("\"purpose\": \"a\\nREQ.end\""), ParseErrorKind::ForbiddenCharacter);
    let end = "{\"kind\": \"otp\"}, {\"kind\": \"end\"}, {\"kind\": \"payment\"}";
    assert!(matches!(kind(end), ParseErrorKind::TrailingText));
}

#[test]
fn the_schema_offers_the_kinds_and_fields_of_the_grammar() {
    let city = FieldSet::EMPTY.with(Field::City);
    let login = Kind::Login.allowed_fields();
    let grammar = Grammar::for_fields(&[
        (Kind::Address, city),
        (Kind::Login, login),
        (Kind::Purchase, FieldSet::EMPTY),
    ]);
    let tool = grammar.unwrap().to_json_schema();
    let any = &tool["function"]["parameters"]["properties"]["requests"]["items"]["anyOf"];
    let kinds: Vec<&Value> =
        any.as_array().unwrap().iter().map(|one| &one["properties"]["kind"]["const"]).collect();
    assert_eq!(kinds, ["address", "purchase", "login"]);
    assert_eq!(any[0]["properties"]["fields"]["items"]["enum"], json!(["city"]));
    assert_eq!(any[0]["required"], json!(["kind", "fields"]), "without fields it would ask for all");
    let pointers = &any[0]["properties"]["at"]["properties"];
    assert_eq!(pointers.as_object().unwrap().keys().collect::<Vec<_>>(), ["city"]);
    assert!(any[1]["properties"].get("fields").is_none() && any[1]["properties"].get("at").is_none());
    assert_eq!(any[2]["required"], json!(["kind"]));
    let items = &any[1]["properties"]["items"];
    assert_eq!(items["additionalProperties"], json!({ "type": "integer", "minimum": 1, "maximum": 999 }));
    assert_eq!(items["propertyNames"]["pattern"], "^[A-Za-z0-9_.:/-]{1,64}$");
    assert_eq!((&items["minProperties"], &items["maxProperties"]), (&json!(1), &json!(20)));
    assert!(any[0]["properties"].get("items").is_none() && any[2]["properties"].get("items").is_none());
}

proptest! {
    #[test]
    fn a_call_gives_the_block_of_the_text(block in block(), pretty in any::<bool>()) {
        prop_assert_eq!(block_from_tool_call(&arguments(&block, pretty)), Ok(block));
    }

    #[test]
    fn any_text_is_accepted_or_refused(text in "[\\[\\]{}\",:a-z0-9 \\\\]{0,60}") {
        let _ = block_from_tool_call(&text);
        let _ = block_from_tool_call(&format!("{{\"requests\":[{text}]}}"));
    }
}
