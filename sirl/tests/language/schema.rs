//! Schemas are parsed and printed, and limit requests to their declarations.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use sirl::error::ParseErrorKind;
use sirl::limits::{MAX_ALIAS_BYTES, MAX_ALIASES, MAX_SCHEMA_BYTES};
use sirl::{Field, Kind, Schema, SchemaErrorKind, parse_block, parse_block_with, parse_plan_with};

const DEFAULT: &str = include_str!("../../schemas/default.schema");

#[test]
fn the_file_is_the_built_in_schema() {
    assert_eq!(Schema::parse(DEFAULT), Ok(Schema::default()));
    let lines = DEFAULT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert_eq!(Schema::default().to_string(), lines.collect::<Vec<_>>().join("\n"), "and in canonical form");
}

#[test]
fn line_ends_blanks_and_comments_have_no_meaning() {
    let schema =
        Schema::parse("kind login {email} # é\tand so on\r\n#\n\tkind\npurchase alias\nmail for email#")
            .unwrap();
    assert_eq!(schema.to_string(), "kind purchase\nkind login { email }\nalias mail for email");
}

#[test]
fn the_order_of_a_schema_has_no_meaning() {
    let one = Schema::parse("kind otp { one_time_code } kind login { password email } alias b for email alias a for email alias z for one_time_code").unwrap();
    let other = Schema::parse("alias z for one_time_code alias a for email alias b for email kind login { email password } kind otp { one_time_code }").unwrap();
    assert_eq!(one, other);
    let print = "kind login { email password }\nkind otp { one_time_code }\nalias a for email\nalias b for email\nalias z for one_time_code";
    assert_eq!(one.to_string(), print);
}

/// Each error has its text, its place, and its message after the place.
#[test]
fn errors_name_the_place_and_the_remedy() {
    for (text, at, message) in [
        ("", "", "the schema declares no kind; declare one, such as `kind purchase`"),
        ("# kind otp", "", "the schema declares no kind"),
        ("alias town for city", "", "the schema declares no kind"),
        ("kind", "", "expected a kind, such as address"),
        ("kind {", "{", "expected a kind, such as address"),
        ("kinds otp", "kinds", "unknown word `kinds`; did you mean `kind`?"),
        ("field otp", "field", "unknown word `field`; begin with `kind` or `alias`"),
        ("kind adress { city }", "adress", "unknown kind `adress`; did you mean `address`?"),
        ("kind passport", "passport", "unknown kind `passport`; the kinds are those of"),
        ("kind login { emial }", "emial", "unknown field `emial`; did you mean `email`?"),
        ("kind address { zip }", "zip", "unknown field `zip`; did you mean `postal_code`?"),
        ("kind address { shoe_size }", "shoe_size", "unknown field `shoe_size`; a schema cannot add a field"),
        ("kind login { email email }", "email", "`email` is named twice; name each field once"),
        ("kind login { city }", "city", "login cannot ask for `city`; it may ask for email, password"),
        ("kind purchase { name }", "name", "purchase cannot ask for `name`; it may ask for no fields"),
        ("kind login { email", "", "expected a field or `}`"),
        ("kind login { email, password }", ",", "expected a field or `}`"),
        ("kind login {}", "login", "`login` has no fields; name in braces those it may ask for"),
        ("kind login\nkind otp { one_time_code }", "login", "`login` has no fields"),
        ("kind purchase\nkind purchase", "purchase", "`purchase` is declared twice; declare each kind once"),
        ("kind purchase }", "}", "expected `kind` or `alias`"),
        ("kind purchase\nalias", "", "expected an alias, such as zip"),
        ("kind purchase\nalias Zip for city", "Zip", "an alias is a small letter and then"),
        ("kind purchase\nalias 1zip for city", "1zip", "an alias is a small letter and then"),
        ("kind purchase\nalias zip = city", "=", "expected `for` and a field"),
        ("kind purchase\nalias zip city", "city", "expected `for` and a field"),
        ("kind purchase\nalias zip for", "", "expected a field, such as postal_code"),
        ("kind purchase\nalias plz for zip", "zip", "unknown field `zip`; did you mean `postal_code`?"),
        ("kind purchase\nalias city for email", "city", "`city` is a field's own name; choose another"),
        ("kind purchase\nalias cvv for city", "cvv", "this alias always stands for `card_code`; choose"),
        ("kind purchase\nalias town for city", "town", "no kind here may ask for `city`; remove the alias"),
        ("kind purchase # \u{202e}", "\u{202e}", "a comment may not hold control characters"),
        ("kind purchase # \u{0}", "\u{0}", "a comment may not hold control characters"),
        ("kind purchase \u{e9}", "\u{e9}", "expected `kind` or `alias`"),
        (
            "kind login { email }\nalias mail for email alias mail for email",
            "mail",
            "this alias is declared twice",
        ),
    ] {
        let error = Schema::parse(text).unwrap_err();
        assert_eq!(&text[error.span.clone()], at, "{text}: {error}");
        assert!(error.kind.to_string().starts_with(message), "{text}: {error}");
        let before = &text[..error.span.start];
        assert_eq!(error.line(), before.split('\n').count());
        assert_eq!(error.column(), before.split('\n').next_back().unwrap().chars().count() + 1);
    }
    let second =
        Schema::parse("kind login { email }\nalias mail for email alias mail for email").unwrap_err();
    assert_eq!(second.span, 48..52, "the second one is to blame");
}

#[test]
fn limits() {
    let many = |count: usize| {
        let alias = |at: usize| format!("\nalias {}a for email", "a".repeat(at % 20) + &"b".repeat(at / 20));
        format!("kind login {{ email }}{}", (0..count).map(alias).collect::<String>())
    };
    assert_eq!(Schema::parse(&many(MAX_ALIASES)).unwrap().aliases().count(), MAX_ALIASES);
    let error = Schema::parse(&many(MAX_ALIASES + 1)).unwrap_err();
    assert_eq!(error.kind, SchemaErrorKind::TooManyAliases);
    let named = |length: usize| format!("kind login {{ email }} alias {} for email", "a".repeat(length));
    assert!(Schema::parse(&named(MAX_ALIAS_BYTES)).is_ok());
    assert_eq!(Schema::parse(&named(MAX_ALIAS_BYTES + 1)).unwrap_err().kind, SchemaErrorKind::BadAlias);
    let padded = |length: usize| format!("{:length$}", "kind purchase");
    assert!(Schema::parse(&padded(MAX_SCHEMA_BYTES)).is_ok());
    assert_eq!(Schema::parse(&padded(MAX_SCHEMA_BYTES + 1)).unwrap_err().kind, SchemaErrorKind::TooLong);
}

#[test]
fn undeclared_kinds_and_fields_cannot_be_requested() {
    let schema =
        Schema::parse("kind address { city postal_code }\nkind purchase\nalias plz for postal_code").unwrap();
    let read = |text: &str| parse_block_with(&schema, &format!("{text}\nREQ.end"));
    let printed = |text: &str| read(text).unwrap().to_string();
    assert_eq!(printed("REQ.address fields=[plz]"), "REQ.address fields=[\"postal_code\"]\nREQ.end");
    assert_eq!(printed("REQ.purchase"), "REQ.purchase\nREQ.end");
    for (text, at, message) in [
        ("REQ.otp", 4..7, "the kind `otp` is not declared; use address, purchase"),
        ("REQ.foo", 4..7, "the kind `foo` is not declared; use address, purchase"),
        (
            "REQ.address fields=[city,street]",
            25..31,
            "`street` is not declared for address; it takes city, postal_code",
        ),
        (
            "REQ.address fields=[email]",
            20..25,
            "`email` is not declared for address; it takes city, postal_code",
        ),
        ("REQ.address fields=[zip]", 20..23, "unknown field `zip`; address takes city, postal_code"),
        (
            "REQ.address fields=[plz,postal_code]",
            24..35,
            "`postal_code` is named twice; name each field once",
        ),
        ("REQ.purchase fields=[city]", 21..25, "purchase does not take `city`; it takes no fields"),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!((error.kind.to_string().as_str(), error.span), (message, at), "{text}");
    }
    let plan = parse_plan_with(&schema, "PLAN.otp\nPLAN.end").unwrap_err();
    assert!(matches!(plan.kind, ParseErrorKind::UndeclaredKind { .. }));
}

/// A request that names no field asks for the fields that the schema allows.
#[test]
fn a_request_without_fields_stays_within_the_schema() {
    let schema =
        Schema::parse("kind login { email }\nkind contact { name phone email username company }").unwrap();
    let block = parse_block_with(&schema, "REQ.login\nREQ.contact\nREQ.end").unwrap();
    assert_eq!(block.requests[0].effective_fields().iter().collect::<Vec<_>>(), [Field::Email]);
    assert!(block.requests[1].fields.is_empty(), "nothing is written out where nothing is narrowed");
    let plan = parse_plan_with(&schema, "PLAN.login\nPLAN.end").unwrap();
    assert_eq!(plan.anticipated[0].effective_fields().iter().collect::<Vec<_>>(), [Field::Email]);
    assert_eq!(parse_block_with(&schema, &block.to_string()), Ok(block));
}

fn schema_text() -> impl Strategy<Value = String> {
    let kind = |kind: Kind| {
        let all: Vec<&str> = kind.allowed_fields().iter().map(Field::as_str).collect();
        let most = all.len();
        subsequence(all, usize::from(most > 0)..=most).prop_shuffle().prop_map(move |fields| {
            let list = if fields.is_empty() { String::new() } else { format!(" {{ {} }}", fields.join(" ")) };
            format!("kind {}{list}", kind.as_str())
        })
    };
    let kinds = subsequence(Kind::ALL.to_vec(), 1..=7).prop_shuffle();
    let kinds = kinds.prop_flat_map(move |kinds| kinds.into_iter().map(kind).collect::<Vec<_>>());
    let aliases = btree_map("x[a-z0-9_-]{0,9}", select(Field::ALL.to_vec()), 0..6);
    (kinds, aliases).prop_map(|(kinds, aliases)| {
        let declared = kinds.join("\n");
        let is_declared = |field: &Field| declared.split_whitespace().any(|word| word == field.as_str());
        let aliases = aliases.into_iter().filter(|(_, field)| is_declared(field));
        let aliases: String =
            aliases.map(|(name, field)| format!("\nalias {name} for {}", field.as_str())).collect();
        declared + &aliases
    })
}

proptest! {
    #[test]
    fn a_printed_schema_is_parsed_back(text in schema_text()) {
        let schema = Schema::parse(&text).unwrap();
        let print = schema.to_string();
        prop_assert_eq!(Schema::parse(&print), Ok(schema.clone()));
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let mut printed: Vec<&str> = print.split_whitespace().collect();
        words.sort_unstable();
        printed.sort_unstable();
        prop_assert_eq!(words, printed, "nothing is added and nothing is lost");
    }

    /// A schema accepts a block if the block is accepted without one and all its kinds and fields are declared. Its
    /// content is then the same, apart from the default fields of a kind.
    #[test]
    fn a_schema_only_narrows(
        text in schema_text(),
        kinds in vec((select(Kind::ALL.to_vec()), vec(select(Field::ALL.to_vec()), 0..4)), 1..4),
    ) {
        let schema = Schema::parse(&text).unwrap();
        let line = |(kind, fields): &(Kind, Vec<Field>)| {
            let names: Vec<&str> = fields.iter().map(|field| field.as_str()).collect();
            let list = if names.is_empty() { String::new() } else { format!(" fields=[{}]", names.join(",")) };
            format!("REQ.{}{list}\n", kind.as_str())
        };
        let block = format!("{}REQ.end", kinds.iter().map(line).collect::<String>());
        let free = parse_block(&block);
        let bound = parse_block_with(&schema, &block);
        let declared = kinds.iter().all(|(kind, fields)| {
            schema.takes(*kind).is_some_and(|takes| fields.iter().all(|field| takes.contains(*field)))
        });
        prop_assert_eq!(bound.is_ok(), free.is_ok() && declared);
        if let (Ok(bound), Ok(free)) = (bound, free) {
            for (bound, free) in bound.requests.iter().zip(&free.requests) {
                let takes = schema.takes(bound.kind).unwrap();
                prop_assert!(bound.effective_fields().is_subset_of(takes));
                let defaults = takes.intersection(bound.kind.default_fields());
                let expected = match (free.fields.is_empty(), defaults.is_empty()) {
                    (false, _) => free.fields,
                    (true, false) => defaults,
                    (true, true) => takes,
                };
                prop_assert_eq!(bound.effective_fields(), expected);
            }
        }
    }

    #[test]
    fn any_text_is_accepted_or_refused_with_a_place(text in schema_text(), at in any::<Index>(), junk in "\\PC{0,3}|[\\x00-\\x20{}#]") {
        let mut changed = text;
        let at = at.index(changed.len() + 1);
        changed.insert_str(at, &junk);
        match Schema::parse(&changed) {
            Ok(schema) => prop_assert_eq!(Schema::parse(&schema.to_string()), Ok(schema)),
            Err(error) => prop_assert!(changed.get(error.span.clone()).is_some(), "{:?}", error),
        }
    }
}
