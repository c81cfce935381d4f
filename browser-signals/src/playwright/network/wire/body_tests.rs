#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use serde_json::json;
use url::form_urlencoded;

use super::*;

const CARD: &str = "4000001234567899";
const DATE: &str = "07/38";
const REAL: &str = "4111 1111 1111 1111";

fn card<'a>(name: &'a str) -> Change<'a> {
    Change { name, placeholder: CARD, shape: Shape::Digits, value: REAL }
}

fn text(form: BodyFormat<'_>, body: &str, changes: &[Change<'_>]) -> Option<String> {
    substituted(form, body.as_bytes(), changes).map(|out| String::from_utf8(out.to_vec()).unwrap())
}

#[test]
fn only_supported_formats_in_utf8_are_read() {
    let of = BodyFormat::of;
    assert_eq!(of("application/x-www-form-urlencoded"), Some(BodyFormat::UrlEncoded));
    assert_eq!(of("Application/JSON; charset=\"UTF-8\""), Some(BodyFormat::Json));
    assert_eq!(of("multipart/form-data; boundary=ab-c"), Some(BodyFormat::Multipart { boundary: "ab-c" }));
    for other in [
        "",
        "text/plain;charset=UTF-8",
        "application/json; charset=latin1",
        "application/x-www-form-urlencoded;charset=windows-1252",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=a\u{e9}",
        "multipart/form-data; boundary=a b",
        "multipart/mixed; boundary=a",
        "application/ld+json",
    ] {
        assert_eq!(of(other), None, "{other}");
    }
}

#[test]
fn the_value_of_the_named_field_is_replaced_and_nothing_else() {
    let form = BodyFormat::UrlEncoded;
    for (body, goes) in [
        ("card=4000001234567899&a=1", Some("card=4111111111111111&a=1")),
        ("a=1&card=4000+0012+3456+7899", Some("a=1&card=4111+1111+1111+1111")),
        ("a=4000001234567899&card=4000001234567899", Some("a=4000001234567899&card=4111111111111111")),
        ("%63ard=%34000001234567899", Some("%63ard=4111111111111111")),
        ("note=4000001234567899", None),
        ("Card=4000001234567899", None),
        ("card=4000001234567899&card=4000001234567899", None),
        ("card=x4000001234567899", None),
        ("card=400000123456789", None),
        ("4000001234567899=card", None),
        ("card", None),
        ("", None),
    ] {
        assert_eq!(text(form, body, &[card("card")]).as_deref(), goes, "{body}");
    }
}

#[test]
fn all_fields_are_replaced_or_none() {
    let date = || Change { name: "exp", placeholder: DATE, shape: Shape::Expiry, value: "12/29" };
    let both = |body| text(BodyFormat::UrlEncoded, body, &[card("card"), date()]);
    assert_eq!(
        both("exp=07+%2F+38&card=4000001234567899").as_deref(),
        Some("exp=12+%2F+29&card=4111111111111111")
    );
    assert_eq!(both("card=4000001234567899&exp=08/38"), None);
    assert_eq!(both("card=4000001234567899"), None);
    assert_eq!(both("card=07/38&exp=4000001234567899"), None);
}

const PARTS: &str = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B\r\n\
                     Content-Disposition: form-data; name=\"card\"\r\n\r\n4000001234567899\r\n--B--\r\n";

#[test]
fn a_part_of_a_form_is_replaced() {
    let form = BodyFormat::Multipart { boundary: "B" };
    let goes = PARTS.replace(CARD, "4111111111111111");
    assert_eq!(text(form, PARTS, &[card("card")]), Some(goes));
    for other in [
        PARTS.replace("name=\"card\"", "name=\"note\""),
        PARTS.replace("name=\"card\"", "name=\"card\"; filename=\"f\""),
        PARTS.replace("name=\"card\"", "name=\"card\"\r\nContent-Type: text/plain"),
        PARTS.replace("--B--", "--B"),
        PARTS.replace("--B\r\n", "--C\r\n"),
        PARTS.replace("\r\n", "\n"),
        PARTS.replace(CARD, "4000001234567899\r\n"),
        PARTS.replace("name=\"a\"", "name=\"card\"").replace("\r\n1\r\n", &format!("\r\n{CARD}\r\n")),
        String::new(),
        "--B--\r\n".to_owned(),
    ] {
        assert_eq!(text(form, &other, &[card("card")]), None, "{other}");
    }
    let quoted = PARTS.replace("name=\"card\"", "name=\"a%22b\"");
    assert!(text(form, &quoted, &[card("a\"b")]).is_some());
}

#[test]
fn a_member_of_an_object_is_replaced() {
    for (body, goes) in [
        (r#"{"card":"4000001234567899"}"#, Some(r#"{"card":"4111111111111111"}"#)),
        (
            r#"{"x":[1,{"y":"}\""}],"pay":{"card": "4000 0012 3456 7899"}}"#,
            Some(r#"{"x":[1,{"y":"}\""}],"pay":{"card": "4111 1111 1111 1111"}}"#),
        ),
        (
            r#"{"note":"4000001234567899","CARD":"\u0034000001234567899"}"#,
            Some(r#"{"note":"4000001234567899","CARD":"4111111111111111"}"#),
        ),
        (r#"{"note":"4000001234567899"}"#, None),
        (r#"{"card":{"note":"4000001234567899"}}"#, None),
        (r#"{"card":["4000001234567899"]}"#, None),
        (r#"["card","4000001234567899"]"#, None),
        (r#"{"4000001234567899":"card"}"#, None),
        (r#"{"card":4000001234567899}"#, None),
        (r#"{"card":"4000001234567899","card":"4000001234567899"}"#, None),
        (r#"{"card":"4000001234567899""#, None),
        (r#""4000001234567899""#, None),
        ("", None),
    ] {
        assert_eq!(text(BodyFormat::Json, body, &[card("card")]).as_deref(), goes, "{body}");
    }
    let named =
        [r#"{"cardNumber":"#, r#"{"card_number":"#, r#"{"card":{"number":"#, r#"{"p":{"card-number":"#];
    for start in named {
        let end = "}".repeat(start.matches('{').count());
        let body = format!("{start}\"{CARD}\"{end}");
        assert!(text(BodyFormat::Json, &body, &[card("card[number]")]).is_some(), "{body}");
    }
    assert_eq!(
        text(BodyFormat::Json, r#"{"":"4000001234567899"}"#, &[card("_")]),
        None,
        "an empty name matches nothing"
    );
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,3}",
        "\\PC{0,6}",
        Just("card".to_owned()),
        Just(CARD.to_owned()),
        Just("\"&=%+\\\r\n--B".to_owned())
    ]
}

fn plain(value: &'static str) -> Change<'static> {
    Change { name: "card", placeholder: "PLACEHOLDER", shape: Shape::Text, value }
}

const VALUES: [&str; 4] = ["a b&c=d%+", "Gru\u{df} \"\\/", "p--B\u{1f511}", "x"];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..300), text in "[{}\\[\\]\",:a\\\\ 0-9&=\\r\\n-]{0,200}") {
        for form in [BodyFormat::UrlEncoded, BodyFormat::Json, BodyFormat::Multipart { boundary: "B" }] {
            let _ = substituted(form, &body, &[card("card")]);
            let _ = substituted(form, text.as_bytes(), &[card("")]);
        }
    }

    /// An independent reader finds what went in, with the one value changed.
    #[test]
    fn an_independent_parser_reads_the_value_and_the_rest_unchanged(
        before in prop::collection::vec((word(), word()), 0..4),
        after in prop::collection::vec((word(), word()), 0..4),
        value in prop::sample::select(&VALUES[..]),
    ) {
        let own = |(name, text): &(String, String)| name != "card" && !name.contains('\u{0}') && text != "PLACEHOLDER";
        prop_assume!(before.iter().chain(&after).all(own));
        let middle = [("card".to_owned(), "PLACEHOLDER".to_owned())];
        let pairs: Vec<_> = before.iter().chain(&middle).chain(&after).cloned().collect();
        let expected: Vec<_> = pairs
            .iter()
            .map(|(name, text)| (name.clone(), if text == "PLACEHOLDER" { value.to_owned() } else { text.clone() }))
            .collect();

        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
        let out = substituted(BodyFormat::UrlEncoded, body.as_bytes(), &[plain(value)]).unwrap();
        let read: Vec<_> = form_urlencoded::parse(&out).into_owned().collect();
        prop_assert_eq!(&read, &expected);

        let nested = json!({ "list": [before, { "deep": { "card": "PLACEHOLDER" } }], "after": after });
        let out = substituted(BodyFormat::Json, nested.to_string().as_bytes(), &[plain(value)]).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let wanted = json!({ "list": [before, { "deep": { "card": value } }], "after": after });
        prop_assert_eq!(read, wanted);

        // Browsers turn line ends in names into escapes, and leave values as they are.
        let write = |pairs: &[(String, String)]| {
            let part = |(name, text): &(String, String)| {
                let name = name.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22");
                format!("--Boundary7\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
            };
            pairs.iter().map(part).collect::<String>() + "--Boundary7--\r\n"
        };
        let form = BodyFormat::Multipart { boundary: "Boundary7" };
        let out = substituted(form, write(&pairs).as_bytes(), &[plain(value)]).unwrap();
        prop_assert_eq!(String::from_utf8(out.to_vec()).unwrap(), write(&expected));
    }
}
