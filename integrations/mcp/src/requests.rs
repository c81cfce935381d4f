//! Requests for values as typed arguments, for a model that does not know the request language. They become the same text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use portcullis::sirl::items::{MAX_ITEMS, MAX_QUANTITY};
use portcullis::sirl::{
    Anticipated, Block, Claim, Currency, Field, FieldSet, Items, Kind, Money, Plan, Pointers, Request,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Number, Value};

// The arguments of `portcullis_request`. A doc comment would be a description in the schema.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskArguments {
    #[schemars(description = "What you ask for; each is answered by a line")]
    pub requests: Option<Vec<AskedValues>>,
    #[schemars(
        description = "The same in the request language, in the place of `requests`: REQ lines, closed by REQ.end"
    )]
    pub block: Option<String>,
}

#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskedValues {
    #[schemars(description = "purchase pays; the others fill a form")]
    kind: NamedKind,
    #[serde(default)]
    #[schemars(description = fields_by_kind())]
    fields: Vec<NamedField>,
    #[serde(default)]
    #[schemars(
        with = "BTreeMap<String, String>",
        description = "Where the page does not say what a box is for: the ref of the box for a field, such as {\"street\": \"e12\"}"
    )]
    at: BTreeMap<NamedField, String>,
    #[serde(default)]
    #[schemars(
        description = "For a purchase: what is bought, for a shop that takes orders by protocol: the shop's id of each item, with the number of pieces"
    )]
    items: BTreeMap<String, Pieces>,
    #[schemars(description = "For a purchase: the amount that the page shows, such as 64.15")]
    total: Option<Number>,
    #[schemars(description = "The currency of `total`, such as USD")]
    currency: Option<String>,
    #[schemars(description = "For a purchase: the ref of the button that pays")]
    control: Option<String>,
}

/// Why typed arguments make no request.
pub type Problem = &'static str;

/// A kind of request, by its name in the request language.
#[derive(Debug, Clone, Copy)]
pub struct NamedKind(Kind);

/// A field, by its name in the request language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedField(Field);

/// A number of pieces of an item.
#[derive(Debug, Clone, Copy)]
struct Pieces(u32);

impl<'de> Deserialize<'de> for NamedKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NamedKind, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        let kind = Kind::from_name(&name).ok_or_else(|| D::Error::custom("there is no such kind of request"));
        kind.map(NamedKind)
    }
}

impl<'de> Deserialize<'de> for NamedField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NamedField, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        Field::from_name(&name).map(NamedField).ok_or_else(|| D::Error::custom("there is no such field"))
    }
}

impl<'de> Deserialize<'de> for Pieces {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pieces, D::Error> {
        let pieces = Value::deserialize(deserializer)?.as_u64().and_then(|pieces| u32::try_from(pieces).ok());
        let pieces = pieces.filter(|pieces| (1..=MAX_QUANTITY).contains(pieces));
        pieces.map(Pieces).ok_or_else(|| {
            let wants = "`items` has a whole number of pieces for each item, from 1 to";
            D::Error::custom(format_args!("{wants} {MAX_QUANTITY}, such as {{\"kettle\": 2}}"))
        })
    }
}

impl JsonSchema for NamedKind {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Kind::ALL.map(Kind::as_str) })
    }
}

impl JsonSchema for NamedField {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Field".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Field::ALL.map(Field::as_str) })
    }
}

impl JsonSchema for Pieces {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Pieces".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": MAX_QUANTITY })
    }
}

fn fields_by_kind() -> String {
    let of = |kind: Kind| {
        let names: Vec<&str> = kind.allowed_fields().iter().map(Field::as_str).collect();
        format!("{}: {}", kind.as_str(), names.join(", "))
    };
    let takes = Kind::ALL.into_iter().filter(|kind| !kind.allowed_fields().is_empty());
    let listed: Vec<String> = takes.map(of).collect();
    format!(
        "The fields, all of the kind but new_password if left out. {}. new_password makes and keeps one for a new account",
        listed.join("; ")
    )
}

impl AskArguments {
    /// The text of the requests.
    pub fn text(self) -> Result<String, Problem> {
        match (self.requests, self.block) {
            (None, Some(block)) => Ok(block),
            (Some(requests), None) if !requests.is_empty() => {
                let requests = requests.into_iter().map(AskedValues::read).collect::<Result<_, _>>()?;
                Ok(Block { requests }.to_string())
            }
            _ => Err("give either `requests` or `block`"),
        }
    }
}

impl AskedValues {
    fn read(self) -> Result<Request, Problem> {
        let NamedKind(kind) = self.kind;
        let mut asked: FieldSet = self.fields.iter().map(|NamedField(field)| *field).collect();
        let mut at = Pointers::default();
        for (NamedField(field), control) in &self.at {
            at = at.with(*field, control).ok_or("`at` names a box by its ref, such as e12")?;
            asked = asked.with(*field);
        }
        if !asked.is_subset_of(kind.allowed_fields()) {
            return Err("this kind of request has no such field; the schema says which belong to it");
        }
        let total = match (self.total, self.currency) {
            (None, None) => None,
            (Some(total), Some(currency)) => {
                let currency =
                    Currency::new(&currency).ok_or("`currency` has three capitals, such as USD")?;
                let amount = Money::parse(&total.to_string(), currency);
                Some(amount.ok_or("`total` is an amount of this currency, without sign or exponent")?)
            }
            _ => return Err("`total` and `currency` go together"),
        };
        if kind != Kind::Purchase && (total.is_some() || self.control.is_some() || !self.items.is_empty()) {
            return Err("`items`, `total`, `currency` and `control` belong to a purchase");
        }
        if self.items.len() > MAX_ITEMS {
            return Err("`items` names too many items for one purchase: at most 20");
        }
        let mut items = Items::default();
        for (id, Pieces(pieces)) in &self.items {
            let problem =
                "`items` names an item by the shop's id of it: at most 64 letters, digits and _ - . : /";
            items = items.with(id, *pieces).ok_or(problem)?;
        }
        let claim = Claim { control: self.control, total, ..Claim::default() };
        Ok(Request { kind, fields: asked, at, items, claim })
    }
}

/// The plan for these kinds of request.
pub fn plan_for(kinds: &[NamedKind]) -> String {
    let anticipated = kinds.iter().map(|NamedKind(kind)| Anticipated {
        kind: *kind,
        fields: FieldSet::EMPTY,
        claim: Claim::default(),
    });
    Plan { anticipated: anticipated.collect() }.to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]
    use portcullis::sirl::parse_block;
    use serde_json::{Value, json};

    use super::*;

    fn text(arguments: Value) -> Result<String, String> {
        let arguments: AskArguments = serde_json::from_value(arguments).map_err(|error| error.to_string())?;
        arguments.text().map_err(str::to_owned)
    }

    #[test]
    fn typed_arguments_are_the_text_of_the_request_language() {
        for (arguments, expected) in [
            (json!({ "requests": [{ "kind": "address" }] }), "REQ.address\nREQ.end"),
            (
                json!({ "requests": [{ "kind": "login", "fields": ["new_password", "email"] }, { "kind": "otp" }] }),
                "REQ.login fields=[\"email\",\"new_password\"]\nREQ.otp\nREQ.end",
            ),
            (
                json!({ "requests": [{ "kind": "address", "fields": ["city"], "at": { "street": "e12" } }] }),
                "REQ.address fields=[\"city\",\"street\"] at={\"street\":\"e12\"}\nREQ.end",
            ),
            (
                json!({ "requests": [{ "kind": "purchase", "total": 64.1, "currency": "USD", "control": "e9" }] }),
                "REQ.purchase ctx={\"control\":\"e9\",\"total\":64.1,\"currency\":\"USD\"}\nREQ.end",
            ),
            (
                json!({ "requests": [{ "kind": "purchase", "items": { "kettle": 2, "gid://mug": 1 } }] }),
                "REQ.purchase items={\"gid://mug\":1,\"kettle\":2}\nREQ.end",
            ),
            (
                json!({ "requests": [{ "kind": "purchase", "items": { "mug": 999 }, "total": 5, "currency": "USD" }] }),
                "REQ.purchase items={\"mug\":999} ctx={\"total\":5,\"currency\":\"USD\"}\nREQ.end",
            ),
            (json!({ "requests": [{ "kind": "otp", "items": {} }] }), "REQ.otp\nREQ.end"),
            (json!({ "block": "REQ.otp\nREQ.end" }), "REQ.otp\nREQ.end"),
        ] {
            let text = text(arguments).unwrap();
            assert_eq!(parse_block(&text).unwrap(), parse_block(expected).unwrap(), "{text}");
        }
        let every: Vec<Value> = Kind::ALL.iter().map(|kind| json!({ "kind": kind.as_str() })).collect();
        parse_block(&text(json!({ "requests": every })).unwrap()).unwrap();
    }

    #[test]
    fn arguments_that_make_no_request_say_why() {
        for (arguments, problem) in [
            (json!({}), "either `requests` or `block`"),
            (json!({ "requests": [] }), "either `requests` or `block`"),
            (json!({ "requests": [{ "kind": "otp" }], "block": "REQ.otp\nREQ.end" }), "either `requests`"),
            (json!({ "requests": [{ "kind": "passport" }] }), "there is no such kind of request"),
            (json!({ "requests": [{ "kind": "otp", "fields": ["street"] }] }), "has no such field"),
            (json!({ "requests": [{ "kind": "otp", "fields": ["shoe_size"] }] }), "there is no such field"),
            (json!({ "requests": [{ "kind": "address", "at": { "street": "#box" } }] }), "by its ref"),
            (json!({ "requests": [{ "kind": "purchase", "total": 5 }] }), "go together"),
            (json!({ "requests": [{ "kind": "purchase", "total": -5, "currency": "USD" }] }), "without sign"),
            (
                json!({ "requests": [{ "kind": "otp", "total": 5, "currency": "USD" }] }),
                "belong to a purchase",
            ),
            (json!({ "requests": [{ "kind": "otp", "value": "123" }] }), "unknown field"),
        ] {
            let said = text(arguments.clone()).unwrap_err();
            assert!(said.contains(problem), "{arguments}: {said}");
        }
    }

    #[test]
    fn items_that_cannot_be_bought_are_refused() {
        let purchase = |items: Value| text(json!({ "requests": [{ "kind": "purchase", "items": items }] }));
        for pieces in
            [json!(0), json!(-1), json!(1.5), json!(2.0), json!(1000), json!("2"), json!([1]), Value::Null]
        {
            let said = purchase(json!({ "mug": pieces })).unwrap_err();
            assert!(said.contains("`items` has a whole number of pieces"), "{pieces}: {said}");
        }
        for id in ["", "the red mug", "a,b", "mug\":1,\"kettle", "caf\u{e9}", &"x".repeat(65)] {
            let said = purchase(json!({ id: 1 })).unwrap_err();
            assert!(said.contains("`items` names an item by the shop's id"), "{id}: {said}");
        }
        let many = |count: usize| (0..count).map(|at| (format!("item{at}"), json!(1))).collect::<Value>();
        assert!(purchase(many(MAX_ITEMS)).is_ok());
        let said = purchase(many(MAX_ITEMS + 1)).unwrap_err();
        assert!(said.contains(&format!("at most {MAX_ITEMS}")), "{said}");
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Purchase) {
            let items = json!({ "requests": [{ "kind": kind.as_str(), "items": { "mug": 1 } }] });
            let said = text(items).unwrap_err();
            assert!(said.contains("`items`") && said.contains("belong to a purchase"), "{said}");
        }
    }

    #[test]
    fn a_plan_of_kinds_is_a_plan_of_the_request_language() {
        let plan = plan_for(&[NamedKind(Kind::Address), NamedKind(Kind::Purchase)]);
        assert_eq!(plan, "PLAN.address\nPLAN.purchase\nPLAN.end");
    }
}
