//! Texts and their meaning: the paper's examples, both spellings, the canonical form.

use sirl::{
    Block, Claim, Currency, Delivered, Field, FieldSet, Items, Kind, Money, Pointers, PurchaseMethod, Reply,
    Request, Tier, find_block, parse_block, parse_reply,
};

fn money(minor: u64, code: &str) -> Money {
    Money { minor, currency: Currency::new(code).unwrap() }
}

fn print(text: &str) -> String {
    parse_block(text).unwrap_or_else(|error| panic!("{text}\n{error}")).to_string()
}

#[test]
fn the_purchase_of_the_paper_parses() {
    let text = "REQ.purchase ctx={origin_request:\"website\", total:64.15, currency:\"USD\"}\nREQ.end";
    let claim = Claim {
        origin_request: Some("website".to_owned()),
        total: Some(money(6415, "USD")),
        ..Claim::default()
    };
    let (at, items) = (Pointers::default(), Items::default());
    let request = Request { kind: Kind::Purchase, fields: FieldSet::EMPTY, at, items, claim };
    assert_eq!(parse_block(text), Ok(Block { requests: vec![request] }));
}

#[test]
fn a_purchase_names_its_items_in_the_order_written() {
    let text = r#"REQ.purchase items={"kettle":2,"mug":1} ctx={"total":64.15,"currency":"USD"}"#;
    let items = Items::default().with("kettle", 2).and_then(|items| items.with("mug", 1)).unwrap();
    let claim = Claim { total: Some(money(6415, "USD")), ..Claim::default() };
    let (kind, fields, at) = (Kind::Purchase, FieldSet::EMPTY, Pointers::default());
    let request = Request { kind, fields, at, items, claim };
    assert_eq!(request.to_string(), text);
    assert_eq!(parse_block(&format!("{text}\nREQ.end")), Ok(Block { requests: vec![request] }));
}

#[test]
fn a_block_with_every_key_prints_as_it_was_written() {
    let text = concat!(
        r#"REQ.address fields=["city","postal_code"] ctx={"origin":"https://shop.example","container":"T2","purpose":"shipping"}"#,
        "\n",
        r#"REQ.payment fields=["name","card_number","card_expiry","card_code"] ctx={"origin":"o","top_origin":"t","origin_request":"r","container":"T1","tls":true,"sink":"payment form","purpose":"p","control":"e12","total":0.05,"currency":"EUR"}"#,
        "\nREQ.otp\nREQ.end",
    );
    let block = parse_block(text).unwrap();
    assert_eq!(block.to_string(), text);
    let first = &block.requests[0];
    assert_eq!(first.kind, Kind::Address);
    assert_eq!(first.fields, FieldSet::EMPTY.with(Field::City).with(Field::PostalCode));
    assert_eq!(first.claim.container, Some(Tier::T2));
    let second = &block.requests[1].claim;
    assert_eq!((second.tls, second.total), (Some(true), Some(money(5, "EUR"))));
    assert_eq!(second.control.as_deref(), Some("e12"));
}

#[test]
fn other_spellings_print_in_the_canonical_one() {
    for (text, canonical) in [
        ("REQ.address fields=[zip, city]", r#"REQ.address fields=["city","postal_code"]"#),
        (
            "REQ.payment fields=[number,exp,\"cvv\"]",
            r#"REQ.payment fields=["card_number","card_expiry","card_code"]"#,
        ),
        (
            "REQ.address fields=[city] at={street:\"e12\" , city:\"f1e3\"}",
            r#"REQ.address fields=["city","street"] at={"city":"f1e3","street":"e12"}"#,
        ),
        ("REQ.contact at={email:\"e1\"}", r#"REQ.contact at={"email":"e1"}"#),
        (
            "REQ.purchase\titems={ mug :1 ,\"gid:\\/\\/shop\": 12}\tctx={}",
            r#"REQ.purchase items={"mug":1,"gid://shop":12}"#,
        ),
        ("REQ.login\tctx={ tls :\tfalse }  ", r#"REQ.login ctx={"tls":false}"#),
        ("REQ.contact ctx={}", "REQ.contact"),
        (
            "REQ.purchase ctx={currency:\"JPY\",total:1200}",
            r#"REQ.purchase ctx={"total":1200,"currency":"JPY"}"#,
        ),
        (
            "REQ.purchase ctx={total:64,currency:\"USD\"}",
            r#"REQ.purchase ctx={"total":64.00,"currency":"USD"}"#,
        ),
        (
            r#"REQ.otp ctx={"pur\u0070ose":"\"\\\/ \u00e9 \ud83d\ude00 \u0022"}"#,
            "REQ.otp ctx={\"purpose\":\"\\\"\\\\/ é 😀 \\\"\"}",
        ),
        (
            r#"REQ.otp ctx={"purpose":"\ud7ff\ud800\udc00\udbff\udfff\uE000"}"#,
            "REQ.otp ctx={\"purpose\":\"\u{d7ff}\u{10000}\u{10ffff}\u{e000}\"}",
        ),
        ("REQ.otp ctx={purpose:\"\"}", r#"REQ.otp ctx={"purpose":""}"#),
    ] {
        assert_eq!(print(&format!("{text}\nREQ.end")), format!("{canonical}\nREQ.end"));
    }
}

#[test]
fn line_endings_and_empty_lines_do_not_matter() {
    let canonical = "REQ.otp\nREQ.login\nREQ.end";
    for text in [
        "REQ.otp\nREQ.login\nREQ.end",
        "REQ.otp\r\nREQ.login\r\nREQ.end\r\n",
        "\n \t\nREQ.otp\n\nREQ.login  \n\r\nREQ.end\t\n\n \n",
    ] {
        assert_eq!(print(text), canonical);
    }
}

#[test]
fn a_forbidden_character_in_a_constructed_claim_stays_on_its_line() {
    let claim = Claim { purpose: Some("a\nREQ.otp\u{202e}".to_owned()), ..Claim::default() };
    let (at, items) = (Pointers::default(), Items::default());
    let request = Request { kind: Kind::Login, fields: FieldSet::EMPTY, at, items, claim };
    assert_eq!(request.to_string(), r#"REQ.login ctx={"purpose":"a\u000aREQ.otp\u202e"}"#);
    assert!(parse_block(&Block { requests: vec![request] }.to_string()).is_err());
}

#[test]
fn replies_parse_and_print() {
    let fields = FieldSet::EMPTY.with(Field::City).with(Field::PostalCode);
    for (text, reply) in [
        (
            r#"GRANT.address {"delivered":"filled","fields":["city","postal_code"]}"#,
            Reply::Delivered { kind: Kind::Address, delivered: Delivered::Filled, fields },
        ),
        (
            r#"GRANT.otp {"delivered":"wired","fields":["one_time_code"]}"#,
            Reply::Delivered {
                kind: Kind::Otp,
                delivered: Delivered::Wired,
                fields: FieldSet::EMPTY.with(Field::OneTimeCode),
            },
        ),
        (
            r#"GRANT.purchase {"status":"success","method":"PaymentRequest","card":"card:personal","amount":64.15,"currency":"USD"}"#,
            Reply::Purchased {
                method: PurchaseMethod::PaymentRequest,
                card: "card:personal".to_owned(),
                amount: money(6415, "USD"),
            },
        ),
        (
            r#"GRANT.purchase {"status":"success","method":"UCP","card":"card:personal","amount":1200,"currency":"JPY"}"#,
            Reply::Purchased {
                method: PurchaseMethod::Ucp,
                card: "card:personal".to_owned(),
                amount: money(1200, "JPY"),
            },
        ),
        (
            r#"DENY.address {"reason":"invalid_container"}"#,
            Reply::Denied { kind: Kind::Address, reason: "invalid_container".to_owned() },
        ),
        (
            r#"DENY.purchase {"reason":"signal_unknown:tls"}"#,
            Reply::Denied { kind: Kind::Purchase, reason: "signal_unknown:tls".to_owned() },
        ),
    ] {
        assert_eq!(reply.to_string(), text);
        assert_eq!(parse_reply(text).as_ref(), Ok(&reply));
        assert_eq!(parse_reply(&format!("{text} \r\n")), Ok(reply));
    }
    assert!(parse_reply("DENY.otp { reason : \"no_value\" }").is_ok(), "bare keys");
}

#[test]
fn replies_that_carry_values_are_refused() {
    for text in [
        r#"GRANT.address {"city":"Berkeley","zip":"94704"}"#,
        r#"GRANT.payment {"number":"411...11","exp":"12/12","cvv":"123","name":"M M"}"#,
        r#"GRANT.purchase {"status":"success","method":"PaymentRequest","card_last4":"1111","amount":64.15,"currency":"USD"}"#,
    ] {
        let error = parse_reply(text).unwrap_err();
        assert!(error.to_string().contains("unknown key"), "{error}");
        for value in ["Berkeley", "94704", "411", "M M", "1111"] {
            assert!(!error.to_string().contains(value), "{error}");
        }
    }
}

#[test]
fn a_block_is_found_within_prose() {
    let block = "REQ.otp\nREQ.end";
    for (before, after) in [
        ("", ""),
        ("Say REQ.login to log in.\n\n", "\nREQ.login\nREQ.end"),
        ("```\r\n", "\r\n```"),
        (" REQ.login\n", "\n"),
        ("é😀\n", " \t\nmore"),
    ] {
        let text = format!("{before}{block}{after}");
        let (range, found) = find_block(&text).unwrap();
        assert_eq!(range.start, before.len());
        assert!(text[range].trim_end() == block);
        assert_eq!(found, parse_block(block));
    }
    for text in ["", "nothing to ask", "GRANT.otp {}", "a REQ.otp\n REQ.otp"] {
        assert_eq!(find_block(text), None);
    }
}

#[test]
fn a_bad_block_within_prose_is_an_error_with_its_place_in_the_whole_text() {
    let text = "é\nREQ.otp\nREQ.foo\nREQ.end\nmore";
    let (range, found) = find_block(text).unwrap();
    assert_eq!(&text[range], "REQ.otp\nREQ.foo\nREQ.end");
    let error = found.unwrap_err();
    assert_eq!((&text[error.span.clone()], error.line(), error.column()), ("foo", 3, 5));

    let open = "x\nREQ.otp\nand so on";
    let (range, found) = find_block(open).unwrap();
    assert_eq!(range, 2..open.len());
    assert!(found.is_err());
}

#[test]
fn columns_count_characters() {
    let text = "REQ.otp ctx={purpose:\"é😀\", x:1}\nREQ.end";
    let error = parse_block(text).unwrap_err();
    assert_eq!((error.span.start, error.column()), (31, 28));
}

#[test]
fn every_kind_has_the_fields_of_the_specification() {
    for (kind, fields) in [
        (Kind::Address, "name,country,region,city,street,postal_code,company"),
        (Kind::Payment, "name,card_number,card_expiry,card_code"),
        (Kind::Purchase, ""),
        (Kind::Contact, "name,phone,email,username,company"),
        (Kind::Identity, "name,government_id,birth_date"),
        (Kind::Login, "email,password,username,new_password"),
        (Kind::Otp, "one_time_code"),
    ] {
        let names: Vec<&str> = kind.allowed_fields().iter().map(Field::as_str).collect();
        assert_eq!(names.join(","), fields);
        assert!(kind.default_fields().is_subset_of(kind.allowed_fields()));
        assert_eq!(Kind::from_name(kind.as_str()), Some(kind));
        for field in Field::ALL {
            let line = format!("REQ.{} fields=[{}]\nREQ.end", kind.as_str(), field.as_str());
            assert_eq!(parse_block(&line).is_ok(), kind.allowed_fields().contains(field), "{line}");
        }
    }
}

#[test]
fn a_request_without_fields_asks_for_those_of_its_kind() {
    let block = parse_block("REQ.login\nREQ.login fields=[email]\nREQ.end").unwrap();
    let all = FieldSet::EMPTY.with(Field::Email).with(Field::Password).with(Field::Username);
    assert_eq!(block.requests[0].effective_fields(), all);
    assert_eq!(block.requests[1].effective_fields(), FieldSet::EMPTY.with(Field::Email));
    // A password is made only for a request that names it.
    let all_but_new = Kind::Login.allowed_fields().without(FieldSet::EMPTY.with(Field::NewPassword));
    assert_eq!(Kind::Login.default_fields(), all_but_new);
}
