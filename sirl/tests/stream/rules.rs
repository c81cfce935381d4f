//! The rules of the specification on streams.

use sirl::error::ParseErrorKind::{
    Expected, LineTooLong, MissingEnd, MissingPlanEnd, NotUtf8, TooManyRequests, UndeclaredKind, UnknownKind,
};
use sirl::limits::{MAX_LINE_BYTES, MAX_REQUESTS};
use sirl::{Event, Kind, Scanner, Schema};

use super::{oracle, scan};

/// The kinds of the found blocks and plans, and the place and message of errors.
fn found(stream: &str) -> Vec<String> {
    let describe = |event: &Event| match event {
        Event::Block { block, .. } => block.to_string().replace('\n', " "),
        Event::Plan { plan, .. } => plan.to_string().replace('\n', " "),
        Event::Malformed { start, error } => format!("{start}: {error}"),
    };
    scan([stream.as_bytes()]).iter().map(describe).collect()
}

#[test]
fn blocks_and_plans_amid_prose() {
    let stream = "First.\nPLAN.otp\nPLAN.login\nPLAN.end\n```\nREQ.otp\nREQ.end\n```\nREQ.login\n\nREQ.end";
    assert_eq!(
        found(stream),
        ["PLAN.otp PLAN.login PLAN.end", "REQ.otp REQ.end", "REQ.login REQ.end"],
        "in the order of the stream"
    );
    for stream in ["", "nothing", " REQ.otp\n REQ.end\n", "see REQ.otp\nREQ", "PLANREQ.otp\n", "req.otp\n"] {
        assert_eq!(found(stream), [""; 0], "{stream}");
    }
}

#[test]
fn the_rest_of_a_malformed_block_has_no_blocks() {
    let bad = "REQ.adress\nREQ.otp\nPLAN.otp\nPLAN.end\n REQ.end\nREQ.end now\nREQ.login\nREQ.end\n";
    let errors = found(&format!("{bad}REQ.otp\nREQ.end\n"));
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].starts_with("0: line 1, column 5: unknown kind `adress`"), "{}", errors[0]);
    assert_eq!(errors[1], "REQ.otp REQ.end", "scanning goes on behind the line `REQ.end`");
}

#[test]
fn the_rest_of_a_plan_ends_with_the_plan() {
    let errors = found("PLAN.otp\nREQ.otp\nREQ.end\nPLAN.end\nREQ.login\nREQ.end\n");
    assert_eq!(errors, ["0: line 2, column 1: expected `PLAN.<kind>` or `PLAN.end`", "REQ.login REQ.end"]);
    let errors = found("REQ.otp\nPLAN.otp\nPLAN.end\nREQ.end\nPLAN.otp\nPLAN.end\n");
    assert_eq!(errors, ["0: line 2, column 1: expected `REQ.<kind>` or `REQ.end`", "PLAN.otp PLAN.end"]);
}

#[test]
fn a_block_left_open_is_an_error_at_the_end_of_the_stream() {
    for (stream, form) in [("x\nREQ.otp\n", MissingEnd), ("x\nPLAN.otp", MissingPlanEnd)] {
        let events = scan([stream.as_bytes()]);
        let [Event::Malformed { start: 2, error }] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!((&error.kind, error.span.clone()), (&form, stream.len()..stream.len()));
    }
    let cut_off = scan([&b"REQ.otp\nREQ.en"[..]]);
    let [Event::Malformed { start: 0, error }] = cut_off.as_slice() else { panic!("{cut_off:?}") };
    assert!(matches!(error.kind, UnknownKind(_)), "a line that the stream ends in is read as it is");
    assert!(scan([&b"REQ.foo\nREQ.otp"[..]]).len() == 1, "one error for one block");
}

/// An error is reported with its line, not at the end of the block.
#[test]
fn an_error_is_reported_at_once() {
    let mut scanner = Scanner::new(Schema::default());
    let mut events = Vec::new();
    scanner.push(b"REQ.otp\nREQ.foo", |event| events.push(event));
    assert!(events.is_empty());
    scanner.push(b"\n", |event| events.push(event));
    assert!(matches!(events.as_slice(), [Event::Malformed { start: 0, error }] if error.span == (12..15)));
    scanner.push(b"REQ.otp\nREQ.end", |event| panic!("{event:?}"));
    scanner.push(b"\nREQ.otp\nREQ.end\n", |event| events.push(event));
    assert!(matches!(events.as_slice(), [_, Event::Block { .. }]));
}

#[test]
fn invalid_utf8_is_an_error() {
    let prose = b"\xff\xfe\nREQ.otp\nREQ.end\n\xc3";
    assert!(
        matches!(scan([&prose[..]]).as_slice(), [Event::Block { .. }]),
        "outside a block they do not matter"
    );
    for (line, at) in [
        (&b"REQ.otp\xff"[..], 7..8),
        (b"REQ.login ctx={purpose:\"\xc3\xa9\xc3\"}", 26..27),
        (b"REQ.foo \xf0\x9f\x98", 8..11),
    ] {
        for ending in [&b"\nREQ.end\n"[..], b""] {
            let stream = [line, ending].concat();
            let events = scan(stream.chunks(1));
            let [Event::Malformed { start: 0, error }] = events.as_slice() else { panic!("{events:?}") };
            assert_eq!((&error.kind, &error.span), (&NotUtf8, &at), "before the grammar is asked");
        }
    }
    let remains = b"REQ.foo\n\xff\nREQ.end\nREQ.otp\nREQ.end";
    assert_eq!(scan([&remains[..]]).len(), 2, "nor do they in the remains of a block");
}

#[test]
fn a_schema_closes_the_stream_too() {
    let schema = Schema::parse("kind login { email }").unwrap();
    let mut scanner = Scanner::new(schema);
    let mut events = Vec::new();
    scanner.push(b"REQ.login\nREQ.end\nPLAN.otp\nPLAN.end\n", |event| events.push(event));
    let [Event::Block { block, .. }, Event::Malformed { error, .. }] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(block.to_string(), "REQ.login fields=[\"email\"]\nREQ.end");
    assert!(matches!(&error.kind, UndeclaredKind { declared, .. } if declared == &[Kind::Login]));
}

/// Lines near the longest allowed length, with every ending, in every place of a block.
#[test]
fn lines_at_the_limit() {
    for length in MAX_LINE_BYTES - 2..=MAX_LINE_BYTES + 6 {
        for ending in ["\n", "\r\n", "", "\r"] {
            for fill in [" ", "é", "😀", "\r"] {
                for first in ["REQ.otp", "REQ.otp ", "REQ.otp  ", "REQ.otp   "] {
                    let mut line = first.to_owned();
                    while line.len() + fill.len() <= length {
                        line.push_str(fill);
                    }
                    let stream = format!("{line}{ending}REQ.end\nREQ.login\nREQ.end\n");
                    let whole = scan([stream.as_bytes()]);
                    let seen: Vec<_> = whole.iter().map(oracle::seen).collect();
                    assert_eq!(seen, oracle::read(stream.as_bytes()), "{length} {ending:?} {fill:?}");
                    for cut in MAX_LINE_BYTES - 3..(MAX_LINE_BYTES + 8).min(stream.len()) {
                        let (left, right) = stream.as_bytes().split_at(cut);
                        assert_eq!(scan([left, right]), whole, "{length} {ending:?} {fill:?} {cut}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_line_is_too_long_before_it_ends() {
    let mut scanner = Scanner::new(Schema::default());
    let mut events = Vec::new();
    scanner.push(b"REQ.otp", |event| events.push(event));
    for _ in 0..100 {
        scanner.push(&[b' '; 1000], |event| events.push(event));
    }
    let [Event::Malformed { start: 0, error }] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((&error.kind, error.span.clone()), (&LineTooLong, 0..MAX_LINE_BYTES + 1));
    scanner.push(b"\nREQ.end", |event| panic!("{event:?}"));
    scanner.push(&[b' '; 10_000], |event| panic!("{event:?}"));
    scanner.push(b"\nREQ.otp\nREQ.end\n", |event| events.push(event));
    assert!(matches!(events.as_slice(), [_, Event::Block { .. }]), "its last line may be of any length");
}

#[test]
fn a_last_line_that_is_too_long_still_ends_the_block() {
    let stream = format!("REQ.otp\nREQ.end{}\nREQ.login\nREQ.end\n", " ".repeat(MAX_LINE_BYTES));
    let events = found(&stream);
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[0].contains("too long") && events[1] == "REQ.login REQ.end", "{events:?}");
}

#[test]
fn as_many_requests_as_a_block_may_have() {
    let most = "REQ.otp\n".repeat(MAX_REQUESTS);
    assert!(matches!(scan([format!("{most}REQ.end").as_bytes()]).as_slice(), [Event::Block { .. }]));
    let events = scan([format!("{most}REQ.otp\n{most}REQ.end\nREQ.otp\nREQ.end").as_bytes()]);
    let [Event::Malformed { error, .. }, Event::Block { .. }] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!((&error.kind, error.line()), (&TooManyRequests, MAX_REQUESTS + 1));
}

#[test]
fn held_input_is_not_printed() {
    let mut scanner = Scanner::new(Schema::default());
    scanner.push(b"REQ.otp\nREQ.login ctx={purpose:\"swordfish", |event| panic!("{event:?}"));
    assert!(!format!("{scanner:?}").contains("sword"));
    let error = scanner.finish();
    assert!(error.is_some() && !format!("{error:?}").contains("sword"), "nor by an error");
    assert!(!matches!(error, Some(Event::Malformed { error, .. }) if matches!(error.kind, Expected(_))));
}
