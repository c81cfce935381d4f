//! Every error: its kind, its place, and the parts that its message does not repeat.

use sirl::error::ParseErrorKind::{self, *};
use sirl::items::{MAX_ITEM_ID_BYTES, MAX_ITEMS, MAX_QUANTITY};
use sirl::limits::{MAX_DEPTH, MAX_EXCERPT_CHARS, MAX_KEYS, MAX_LINE_BYTES, MAX_REQUESTS, MAX_STRING_BYTES};
use sirl::{ClaimKey, Field, Kind, ParseError, parse_block, parse_reply};

/// Parses `line` in a block. Returns the error and the text at its place.
fn fail(line: &str) -> (ParseError, String) {
    let text = format!("{line}\nREQ.end");
    let error = parse_block(&text).expect_err(line);
    let blamed = text[error.span.clone()].to_owned();
    (error, blamed)
}

fn fail_reply(line: &str) -> (ParseError, String) {
    let error = parse_reply(line).expect_err(line);
    let blamed = line[error.span.clone()].to_owned();
    (error, blamed)
}

fn wrong(key: &str) -> impl Fn(&ParseErrorKind) -> bool {
    move |kind| matches!(kind, WrongValue { key: found, .. } if *found == key)
}

#[track_caller]
fn check((error, blamed): (ParseError, String), at: &str, is: impl Fn(&ParseErrorKind) -> bool) {
    assert!(is(&error.kind), "{error:?}");
    assert_eq!(blamed, at, "{error}");
    assert!(error.kind.to_string().starts_with(|c: char| c.is_lowercase() || c == '`'), "{error}");
}

#[test]
fn the_shape_of_a_line() {
    let expected = |kind: &ParseErrorKind| matches!(kind, Expected(_));
    for (line, at) in [
        ("hello", "hello"),
        ("req.otp", "req.otp"),
        (" REQ.otp", " REQ.otp"),
        ("REQ.", ""),
        ("REQ. otp", " "),
        ("REQ.otp,", ","),
        ("REQ.otp foo=1 x", "foo=1"),
        ("REQ.otp fields", "fields"),
        ("REQ.otp fields=", ""),
        ("REQ.otp fields =[]", "fields"),
        ("REQ.otp fields= []", " "),
        ("REQ.otp fields=\"x\"", "\""),
        ("REQ.otp fields=[one_time_code", ""),
        ("REQ.otp fields=[one_time_code}", "}"),
        ("REQ.otp fields=[one_time_code,]", "]"),
        ("REQ.otp fields=[,]", ","),
        ("REQ.otp fields=[one_time_code]ctx={}", "ctx={}"),
        ("REQ.otp ctx={} fields=[one_time_code]", "fields=[one_time_code]"),
        ("REQ.otp ctx={} ctx={}", "ctx={}"),
        ("REQ.otp ctx=[]", "["),
        ("REQ.otp ctx={tls}", "}"),
        ("REQ.otp ctx={tls true}", "t"),
        ("REQ.otp ctx={tls:true", ""),
        ("REQ.otp ctx={tls:true sink:\"x\"}", "s"),
        ("REQ.otp ctx={tls:true,}", "}"),
        ("REQ.otp ctx={:true}", ":"),
        ("REQ.otp ctx={'tls':true}", "'"),
        ("REQ.otp\u{a0}ctx={}", "\u{a0}ctx={}"),
        ("REQ.otp\u{b}", "\u{b}"),
        ("REQ.otp\r\r", "\r"),
    ] {
        check(fail(line), at, expected);
    }
    check(fail("REQ.otp\nREQ.end now"), "now", expected);
    assert!(parse_block("REQ.otp\nREQ.end\r").is_err() && parse_reply("DENY.otp {reason:\"a\"}\r").is_err());
    for line in
        ["", "REQ.otp", "GRANT", "DENY.", "DENY.otp", "DENY.otp{reason:\"a\"}", "DENY.otp {reason:\"a\"} x"]
    {
        let (error, _) = fail_reply(line);
        assert!(expected(&error.kind), "{line}: {error}");
    }
    let (error, _) = fail_reply("DENY.otp {reason:\"a\"}\nDENY.otp {reason:\"a\"}");
    assert!(expected(&error.kind), "one line only: {error}");
}

#[test]
fn names_that_do_not_exist() {
    check(fail("REQ.adress"), "adress", |k| matches!(k, UnknownKind(_)));
    check(fail("REQ.END"), "END", |k| matches!(k, UnknownKind(_)));
    check(fail("REQ.endless"), "endless", |k| matches!(k, UnknownKind(_)));
    check(fail_reply("GRANT.all {}"), "all", |k| matches!(k, UnknownKind(_)));
    let field = |k: &ParseErrorKind| matches!(k, UnknownField { kind: Kind::Contact, .. });
    check(fail("REQ.contact fields=[name, fax]"), "fax", field);
    check(fail("REQ.contact fields=[name,\"Phone\"]"), "\"Phone\"", field);
    check(fail("REQ.contact fields=[\"\"]"), "\"\"", field);
    check(fail("REQ.otp ctx={tsl:true}"), "tsl", |k| matches!(k, UnknownKey { .. }));
    check(fail("REQ.otp ctx={\"reason\":true}"), "\"reason\"", |k| matches!(k, UnknownKey { .. }));
    for reply in [
        "DENY.otp {\"why\":\"a\"}",
        "GRANT.otp {\"why\":\"a\"}",
        "GRANT.purchase {\"why\":\"a\"}",
        "GRANT.purchase {\"why\":{}}",
    ] {
        check(fail_reply(reply), "\"why\"", |k| matches!(k, UnknownKey { .. }));
    }
}

#[test]
fn names_in_the_wrong_place() {
    check(fail("REQ.otp fields=[city]"), "city", |k| {
        *k == FieldNotOfKind { field: Field::City, kind: Kind::Otp }
    });
    check(fail("REQ.purchase fields=[\"cvv\"]"), "\"cvv\"", |k| {
        *k == FieldNotOfKind { field: Field::CardCode, kind: Kind::Purchase }
    });
    check(fail_reply("GRANT.otp {delivered:\"filled\",fields:[city]}"), "city", |k| {
        *k == FieldNotOfKind { field: Field::City, kind: Kind::Otp }
    });
    check(fail("REQ.address fields=[zip,\"postal_code\"]"), "\"postal_code\"", |k| {
        *k == DuplicateField(Field::PostalCode)
    });
    check(fail("REQ.otp fields=[ ]"), "[ ]", |k| *k == NoFields);
    check(fail("REQ.purchase fields=[]"), "[]", |k| *k == NoFields);
    check(fail_reply("GRANT.otp {delivered:\"filled\",fields:[]}"), "[]", |k| *k == NoFields);
}

#[test]
fn each_key_once() {
    for key in ClaimKey::ALL {
        let value = match key {
            ClaimKey::Tls => "true",
            ClaimKey::Container => "\"T1\"",
            ClaimKey::Total => "1",
            ClaimKey::Currency => "\"USD\"",
            _ => "\"a\"",
        };
        let key = key.as_str();
        let line = format!("REQ.otp ctx={{{key}:{value},\"{key}\":{value}}}");
        check(fail(&line), &format!("\"{key}\""), |k| *k == DuplicateKey(key));
    }
    for (reply, key) in [
        ("DENY.otp {reason:\"a\",\"reason\":\"a\"}", "reason"),
        ("GRANT.otp {delivered:\"filled\",\"delivered\":\"filled\"}", "delivered"),
        ("GRANT.otp {fields:[one_time_code],\"fields\":[one_time_code]}", "fields"),
        ("GRANT.purchase {status:\"success\",\"status\":\"success\"}", "status"),
        ("GRANT.purchase {method:\"PaymentRequest\",\"method\":1}", "method"),
        ("GRANT.purchase {card:\"a\",\"card\":\"b\"}", "card"),
        ("GRANT.purchase {amount:1,\"amount\":1}", "amount"),
        ("GRANT.purchase {currency:\"USD\",\"currency\":1}", "currency"),
    ] {
        check(fail_reply(reply), &format!("\"{key}\""), |k| *k == DuplicateKey(key));
    }
}

#[test]
fn values_of_the_wrong_sort() {
    for (entry, key, at) in [
        ("container:\"T3\"", "container", "\"T3\""),
        ("container:T2", "container", "T2"),
        ("container:\"t2\"", "container", "\"t2\""),
        ("tls:\"true\"", "tls", "\"true\""),
        ("tls:TRUE", "tls", "TRUE"),
        ("tls:1", "tls", "1"),
        ("tls:", "tls", "}"),
        ("origin:null", "origin", "null"),
        ("purpose:buying", "purpose", "buying"),
        ("total:\"64.15\",currency:\"USD\"", "total", "\"64.15\""),
        ("total:-1,currency:\"USD\"", "total", "-1"),
        ("total:1e3,currency:\"USD\"", "total", "1e3"),
        ("total:064,currency:\"USD\"", "total", "064"),
        ("total:64.155,currency:\"USD\"", "total", "64.155"),
        ("currency:\"JPY\",total:1.0", "total", "1.0"),
        ("total:99999999999999999999,currency:\"USD\"", "total", "99999999999999999999"),
        ("total:1,currency:USD", "currency", "USD"),
        ("total:1,currency:\"usd\"", "currency", "\"usd\""),
        ("total:1,currency:\"DOLLAR\"", "currency", "\"DOLLAR\""),
    ] {
        check(fail(&format!("REQ.otp ctx={{{entry}}}")), at, wrong(key));
    }
    for (reply, key, at) in [
        ("DENY.otp {reason:\"Because I say so\"}", "reason", "\"Because I say so\""),
        ("DENY.otp {reason:\"a:\"}", "reason", "\"a:\""),
        ("DENY.otp {reason:\"\"}", "reason", "\"\""),
        ("DENY.otp {reason:\"a:b:c\"}", "reason", "\"a:b:c\""),
        ("GRANT.otp {delivered:\"posted\"}", "delivered", "\"posted\""),
        ("GRANT.purchase {status:\"failure\"}", "status", "\"failure\""),
        ("GRANT.purchase {method:\"cash\"}", "method", "\"cash\""),
        ("GRANT.purchase {method:\"ucp\"}", "method", "\"ucp\""),
        ("GRANT.purchase {card:1}", "card", "1"),
        ("GRANT.purchase {amount:\"1\"}", "amount", "\"1\""),
    ] {
        check(fail_reply(reply), at, wrong(key));
    }
}

#[test]
fn keys_that_need_each_other() {
    check(fail("REQ.otp ctx={total:64.15}"), "64.15", |k| *k == MissingKey("currency"));
    check(fail("REQ.otp ctx={currency:\"USD\"}"), "\"USD\"", |k| *k == MissingKey("total"));
    let full = [
        ("status", "\"success\""),
        ("method", "\"PaymentRequest\""),
        ("card", "\"card:a\""),
        ("amount", "64.15"),
        ("currency", "\"USD\""),
    ];
    for (left_out, _) in full {
        let entries: Vec<String> = full
            .iter()
            .filter(|(key, _)| *key != left_out)
            .map(|(key, value)| format!("{key}:{value}"))
            .collect();
        let line = format!("GRANT.purchase {{{}}}", entries.join(","));
        let (error, _) = fail_reply(&line);
        assert_eq!(error.kind, MissingKey(left_out));
    }
    for (line, key) in [
        ("DENY.otp {}", "reason"),
        ("GRANT.otp {fields:[one_time_code]}", "delivered"),
        ("GRANT.otp {delivered:\"filled\"}", "fields"),
        ("GRANT.purchase {status:\"success\",method:\"PaymentRequest\",card:\"a\"}", "amount"),
    ] {
        let (error, blamed) = fail_reply(line);
        assert_eq!((error.kind, blamed.as_str()), (MissingKey(key), &line[line.find('{').unwrap()..]));
    }
}

#[test]
fn nesting() {
    for value in ["{}", "[]", "[[[["] {
        for key in ["origin", "container", "tls", "total", "currency"] {
            check(fail(&format!("REQ.otp ctx={{{key}:{value}}}")), &value[..1], |k| *k == TooDeep);
        }
        check(fail(&format!("REQ.otp fields=[{value}]")), &value[..1], |k| *k == TooDeep);
        check(fail_reply(&format!("DENY.otp {{reason:{value}}}")), &value[..1], |k| *k == TooDeep);
        let reply = format!("GRANT.otp {{fields:[{value}]}}");
        check(fail_reply(&reply), &value[..1], |k| *k == TooDeep);
    }
    assert_eq!(MAX_DEPTH, 2);
    assert!(parse_reply("GRANT.otp {delivered:\"filled\",fields:[one_time_code]}").is_ok());
}

#[test]
fn strings() {
    let of = |value: &str| fail(&format!("REQ.otp ctx={{purpose:{value}}}"));
    for (value, at) in [("\"a", "\"a}"), ("\"", "\"}"), ("\"a\\\"", "\"a\\\"}")] {
        check(of(value), at, |k| *k == UnclosedString);
    }
    for (value, at) in [
        ("\"\\x\"", "\\x"),
        ("\"\\u12\"", "\\u"),
        ("\"\\u00g0\"", "\\u"),
        ("\"\\u+123\"", "\\u"),
        ("\"\\u00é\"", "\\u"),
        ("\"\\ud83d\"", "\\u"),
        ("\"\\ud83dx\"", "\\u"),
        ("\"\\ud83d\\u0041\"", "\\u"),
        ("\"\\ude00\"", "\\u"),
        ("\"\\ud83d\\udbff\"", "\\u"),
        ("\"\\ud83d\\ue000\"", "\\u"),
    ] {
        check(of(value), at, |k| *k == BadEscape);
    }
    check(fail("REQ.otp ctx={purpose:\"\\"), "\\", |k| *k == BadEscape);
    for (value, at) in [
        ("\"a\tb\"", "\t"),
        ("\"a\rb\"", "\r"),
        ("\"\u{0}\"", "\u{0}"),
        ("\"\u{7f}\"", "\u{7f}"),
        ("\"\u{85}\"", "\u{85}"),
        ("\"\u{2028}\"", "\u{2028}"),
        ("\"\u{202e}\"", "\u{202e}"),
        ("\"\u{2066}\"", "\u{2066}"),
        ("\"\\n\"", "\\n"),
        ("\"\\u0000\"", "\\u0000"),
        ("\"\\u200F\"", "\\u200F"),
    ] {
        check(of(value), at, |k| *k == ForbiddenCharacter);
    }
    let longest = "é".repeat(MAX_STRING_BYTES / 2);
    assert!(parse_block(&format!("REQ.otp ctx={{purpose:\"{longest}\"}}\nREQ.end")).is_ok());
    let (error, _) = of(&format!("\"{longest}x\""));
    assert_eq!(error.kind, StringTooLong);
    let (error, _) = of(&format!("\"{}\"", "\\u0041".repeat(MAX_STRING_BYTES + 1)));
    assert_eq!(error.kind, StringTooLong);
    assert!(
        parse_block(&format!("REQ.otp ctx={{purpose:\"{}\"}}\nREQ.end", "\\/".repeat(MAX_STRING_BYTES)))
            .is_ok(),
        "the limit is on what the string means"
    );
}

#[test]
fn lengths() {
    let longest = format!("REQ.otp{}", " ".repeat(MAX_LINE_BYTES - 7));
    assert!(parse_block(&format!("{longest}\nREQ.end")).is_ok());
    check(fail(&format!("{longest} ")), &format!("{longest} "), |k| *k == LineTooLong);
    let (error, _) = fail(&" ".repeat(MAX_LINE_BYTES + 1));
    assert_eq!(error.kind, LineTooLong);
    let (error, _) = fail_reply(&format!("DENY.otp {{reason:\"a\"}}{}", " ".repeat(MAX_LINE_BYTES)));
    assert_eq!(error.kind, LineTooLong);

    let most = "REQ.otp\n".repeat(MAX_REQUESTS);
    assert!(parse_block(&format!("{most}REQ.end")).is_ok());
    check(fail(&format!("{most}REQ.login")), "REQ.login", |k| *k == TooManyRequests);
    assert_eq!(MAX_KEYS, ClaimKey::ALL.len());
}

/// Quotes around bare keys make the canonical line longer than the one that was written.
#[test]
fn the_canonical_line_must_fit_too() {
    let quotes = "\\\"".repeat(MAX_STRING_BYTES);
    let line = |last: usize| {
        let filler = "\\\"".repeat(last);
        format!(
            "REQ.otp ctx={{origin:\"{quotes}\",top_origin:\"{quotes}\",sink:\"{quotes}\",purpose:\"{filler}\"}}"
        )
    };
    let canonical = |line: &str| line.len() + 2 * 4;
    let fits = (0..=MAX_STRING_BYTES).rev().find(|n| canonical(&line(*n)) <= MAX_LINE_BYTES).unwrap();
    let block = parse_block(&format!("{}\nREQ.end", line(fits))).unwrap();
    assert_eq!(parse_block(&block.to_string()), Ok(block));
    let over = line(fits + 1);
    assert!(over.len() <= MAX_LINE_BYTES);
    check(fail(&over), &over, |k| *k == LineTooLong);
}

#[test]
fn blocks() {
    for (text, kind, at) in [
        ("", EmptyBlock, 0..0),
        (" \n\n", EmptyBlock, 3..3),
        ("REQ.end", EmptyBlock, 0..7),
        ("REQ.otp", MissingEnd, 7..7),
        ("REQ.otp\n", MissingEnd, 8..8),
        ("REQ.otp\nREQ.end\nthanks", TrailingText, 16..22),
        ("REQ.otp\nREQ.end\nREQ.end", TrailingText, 16..23),
    ] {
        let error = parse_block(text).unwrap_err();
        assert_eq!((error.kind, error.span), (kind, at), "{text:?}");
    }
}

#[test]
fn the_place_is_in_the_message() {
    let error = parse_block("REQ.otp\r\n\nREQ.login fields=[pasword]\nREQ.end").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 3, column 19: unknown field `pasword`; login takes email, password, username, new_password"
    );
    let error = parse_block("REQ.purchase fields=[city]\nREQ.end").unwrap_err();
    assert_eq!(error.to_string(), "line 1, column 22: purchase does not take `city`; it takes no fields");
}

#[test]
fn long_names_are_cut() {
    let long = "a".repeat(MAX_EXCERPT_CHARS + 1);
    let shown = format!("`{}…`", "a".repeat(MAX_EXCERPT_CHARS));
    for line in
        [format!("REQ.{long}"), format!("REQ.otp fields=[{long}]"), format!("REQ.otp ctx={{{long}:1}}")]
    {
        let (error, _) = fail(&line);
        assert!(error.to_string().contains(&shown), "{error}");
        assert!(!error.to_string().contains(&long), "{error}");
    }
}

/// Possible data of a user is in neither the message nor the debug form, for any place in the text.
#[test]
fn values_are_never_repeated() {
    let secret = "swordfish";
    for line in [
        format!("REQ.otp ctx={{container:\"{secret}\"}}"),
        format!("REQ.otp ctx={{tls:{secret}}}"),
        format!("REQ.otp ctx={{purpose:\"{secret}\\q\"}}"),
        format!("REQ.otp ctx={{purpose:\"{secret}"),
        format!("REQ.otp ctx={{purpose:{secret}}}"),
        format!("REQ.otp ctx={{purpose:\"{secret}\",purpose:\"{secret}\"}}"),
        format!("REQ.otp ctx={{purpose:\"{secret}\",what:\"{secret}\"}}"),
        format!("REQ.otp ctx={{total:1,currency:\"{secret}\"}}"),
        format!("REQ.otp {secret}"),
        format!("REQ.otp ctx={{}} {secret}"),
        format!("my password is {secret}"),
        format!("REQ.otp\nREQ.end {secret}"),
        format!("REQ.otp\nREQ.end\n{secret}"),
        format!("REQ.login fields=[\"my {secret}\"]"),
        format!("REQ.login fields=[\"{secret}{secret}{secret}\"]"),
        format!("REQ.login ctx={{\"{secret}!\":1}}"),
        format!("REQ.purchase items={{\"my {secret}\":1}}"),
        format!("REQ.purchase items={{mug:\"{secret}\"}}"),
        format!("REQ.purchase items={{mug:{secret}}}"),
        format!("REQ.purchase items={{\"a:{secret}\":1,\"a:{secret}\":2}}"),
    ] {
        let (error, _) = fail(&line);
        assert!(!format!("{error} {error:?}").contains(secret), "{error:?}");
    }
    for digits in ["4111111111111111", "4111-1111", "a4111", "1234"] {
        for line in [
            format!("REQ.{digits}"),
            format!("REQ.payment fields=[{digits}]"),
            format!("REQ.payment fields=[\"{digits}\"]"),
            format!("REQ.payment ctx={{{digits}:1}}"),
            format!("REQ.purchase items={{{digits}:1,{digits}:1}}"),
            format!("REQ.purchase items={{mug:{digits}}}"),
            format!("REQ.payment ctx={{total:{digits}x,currency:\"USD\"}}"),
        ] {
            let (error, _) = fail(&line);
            let shown = format!("{} {:?}", error.kind, error.kind);
            assert!(!shown.contains(digits) && !shown.contains("4111"), "{error:?}");
        }
    }
}

#[test]
fn pointers_name_controls_by_their_refs() {
    let at = |pointers: &str| fail(&format!("REQ.address fields=[city] at={{{pointers}}}"));
    check(at(""), "{}", |k| *k == NoPointers);
    check(at("phone:\"e1\""), "phone", |k| *k == FieldNotOfKind { field: Field::Phone, kind: Kind::Address });
    check(at("zip:\"e1\", postal_code:\"e2\""), "postal_code", |k| *k == DuplicateField(Field::PostalCode));
    check(at("town:\"e1\""), "town", |k| matches!(k, UnknownField { .. }));
    let refs =
        ["\"\"", "\"12\"", "\"E1\"", "\"e 1\"", "\"e1-\"", "\"#street\"", "\"e1234567890123456\"", "true"];
    for control in refs {
        check(at(&format!("street:{control}")), control, wrong("street"));
    }
    check(at("street:[\"e1\"]"), "[", |k| *k == TooDeep);
    check(fail("REQ.address ctx={} at={city:\"e1\"}"), "at={city:\"e1\"}", |k| matches!(k, Expected(_)));
    let plan = sirl::parse_plan("PLAN.address at={city:\"e1\"}\nPLAN.end").unwrap_err();
    assert!(matches!(plan.kind, Expected(what) if !what.contains("at=")), "{plan}");
}

#[test]
fn items_are_named_by_their_ids_with_whole_numbers() {
    let of = |items: &str| fail(&format!("REQ.purchase items={{{items}}}"));
    check(of(""), "{}", |k| *k == NoItems);
    check(of(" "), "{ }", |k| *k == NoItems);
    let long = format!("\"{}\"", "x".repeat(MAX_ITEM_ID_BYTES + 1));
    for id in ["\"\"", "\"a mug\"", "\"a,b\"", "\"caf\u{e9}\"", "\"\\u0020\"", &long] {
        check(of(&format!("{id}:1")), id, |k| *k == BadItemId);
    }
    let over = (MAX_QUANTITY + 1).to_string();
    for pieces in ["0", "01", "1.0", "1.5", "1e1", "-1", "+1", "\"1\"", "true", "two", &over] {
        check(of(&format!("mug:{pieces}")), pieces, wrong("items"));
    }
    check(of("mug:"), "}", wrong("items"));
    check(of("mug:[1]"), "[", |k| *k == TooDeep);
    check(of("mug:{}"), "{", |k| *k == TooDeep);
    check(of("mug:1,kettle:1,\"mug\":2"), "\"mug\"", |k| {
        k.to_string().starts_with("the item `mug` is named twice") && matches!(k, DuplicateItem(_))
    });
    let most: Vec<String> = (0..MAX_ITEMS).map(|at| format!("i{at}:1")).collect();
    let most = most.join(",");
    assert!(parse_block(&format!("REQ.purchase items={{{most}}}\nREQ.end")).is_ok());
    check(of(&format!("{most},mug:1")), "mug", |k| *k == TooManyItems);
    for (line, at) in [
        ("REQ.purchase items=[mug]", "["),
        ("REQ.purchase items={mug}", "}"),
        ("REQ.purchase items={mug:1,}", "}"),
        ("REQ.purchase items={a.b:1}", "."),
        ("REQ.purchase items={mug:1", ""),
        ("REQ.purchase items={mug:1}ctx={}", "ctx={}"),
        ("REQ.purchase items={mug:1} items={mug:1}", "items={mug:1}"),
        ("REQ.purchase ctx={} items={mug:1}", "items={mug:1}"),
    ] {
        check(fail(line), at, |k| matches!(k, Expected(_)));
    }
    let (error, _) = fail("REQ.purchase item={mug:1}");
    assert!(error.to_string().contains("`items={...}` or `ctx={...}`"), "{error}");
}

#[test]
fn items_belong_to_a_purchase() {
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Purchase) {
        let line = format!("REQ.{} \t items={{mug:1}}", kind.as_str());
        check(fail(&line), "items=", |k| *k == ItemsNotOfKind(kind));
    }
    let after = "REQ.address fields=[city] at={city:\"e1\"} items={mug:1} ctx={}";
    check(fail(after), "items=", |k| *k == ItemsNotOfKind(Kind::Address));
    let (error, _) = fail("REQ.otp items={mug:1}");
    assert_eq!(error.kind.to_string(), "otp does not take `items`; only purchase does, so leave `items` out");
    let plan = sirl::parse_plan("PLAN.purchase items={mug:1}\nPLAN.end").unwrap_err();
    assert!(matches!(plan.kind, Expected(what) if !what.contains("items")), "{plan}");
}
