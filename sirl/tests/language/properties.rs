//! Properties of all blocks, all replies and all texts.

use crate::written::items;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use sirl::items::MAX_ITEMS;
use sirl::limits::{MAX_LINE_BYTES, MAX_REQUESTS};
use sirl::{
    Block, Claim, Currency, Delivered, Field, FieldSet, Kind, Money, ParseError, Pointers, PurchaseMethod,
    Reply, Request, Tier, find_block, parse_block, parse_reply,
};

fn text() -> impl Strategy<Value = String> {
    let forbidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let c = prop_oneof![
        4 => any::<char>().prop_filter("forbidden", move |c| !forbidden(*c)),
        4 => prop::char::range('a', 'z'),
        2 => select(vec!['"', '\\', '/', '{', '}', '[', ']', ',', ':', ' ', '\'', 'u']),
    ];
    vec(c, 0..40).prop_map(String::from_iter)
}

fn money() -> impl Strategy<Value = Money> {
    (0..=Money::MAX_MINOR, select(vec!["USD", "JPY", "KWD", "CLF", "XYZ"]))
        .prop_map(|(minor, code)| Money { minor, currency: Currency::new(code).unwrap() })
}

fn claim() -> impl Strategy<Value = Claim> {
    let words = (
        option::of(text()),
        option::of(text()),
        option::of(text()),
        option::of(text()),
        option::of(text()),
        option::of(text()),
    );
    (words, option::of(select(Tier::ALL.to_vec())), option::of(any::<bool>()), option::of(money())).prop_map(
        |((origin, top_origin, origin_request, sink, purpose, control), container, tls, total)| Claim {
            origin,
            top_origin,
            origin_request,
            container,
            tls,
            sink,
            purpose,
            control,
            total,
        },
    )
}

fn fields(kind: Kind, at_least: usize) -> impl Strategy<Value = FieldSet> {
    let all: Vec<Field> = kind.allowed_fields().iter().collect();
    let most = all.len();
    subsequence(all, at_least.min(most)..=most).prop_map(FieldSet::from_iter)
}

/// Controls for some of the fields that a request asks for.
fn pointers(kind: Kind, fields: FieldSet) -> impl Strategy<Value = Pointers> {
    let asked = if fields.is_empty() { kind.default_fields() } else { fields };
    let some = subsequence(asked.iter().collect::<Vec<Field>>(), 0..=asked.len());
    some.prop_flat_map(|fields| {
        fields.into_iter().map(|field| (Just(field), "[a-z][a-z0-9]{0,15}")).collect::<Vec<_>>()
    })
    .prop_map(|pointed| {
        pointed.iter().fold(Pointers::default(), |at, (field, control)| at.with(*field, control).unwrap())
    })
}

fn request() -> impl Strategy<Value = Request> {
    select(Kind::ALL.to_vec())
        .prop_flat_map(|kind| (Just(kind), fields(kind, 0), claim()))
        .prop_flat_map(|(kind, fields, claim)| {
            (Just(kind), Just(fields), pointers(kind, fields), items(kind, MAX_ITEMS), Just(claim))
        })
        .prop_map(|(kind, fields, at, items, claim)| Request { kind, fields, at, items, claim })
}

fn block() -> impl Strategy<Value = Block> {
    vec(request(), 1..=4).prop_map(|requests| Block { requests })
}

fn reply() -> impl Strategy<Value = Reply> {
    let other = select(Kind::ALL.into_iter().filter(|kind| *kind != Kind::Purchase).collect::<Vec<_>>());
    let delivered = (other, select(Delivered::ALL.to_vec()))
        .prop_flat_map(|(kind, delivered)| (Just(kind), Just(delivered), fields(kind, 1)))
        .prop_map(|(kind, delivered, fields)| Reply::Delivered { kind, delivered, fields });
    let purchased = (select(PurchaseMethod::ALL.to_vec()), text(), money())
        .prop_map(|(method, card, amount)| Reply::Purchased { method, card, amount });
    let denied = (select(Kind::ALL.to_vec()), "[a-z][a-z0-9_]{0,20}(:[a-z][a-z0-9_]{0,9})?")
        .prop_map(|(kind, reason)| Reply::Denied { kind, reason });
    prop_oneof![delivered, purchased, denied]
}

/// Pieces of the language, for texts that fail late.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "REQ.",
        "REQ.end",
        "REQ.address",
        "REQ.purchase",
        "GRANT.",
        "DENY.otp",
        "fields=",
        "ctx=",
        "items=",
        "\"mug\":1",
        "UCP",
        "city",
        "zip",
        "origin",
        "tls",
        "total",
        "currency",
        "container",
        "\"T2\"",
        "\"USD\"",
        "64.15",
        "true",
        "reason",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\u",
        "d83d",
        "\\ude00",
        " ",
        "\t",
        "\n",
        "\r\n",
        "é",
        "😀",
        "\u{202e}",
        "\u{0}",
        "0",
        "-",
    ];
    prop_oneof![9 => select(words.to_vec()).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

#[derive(Debug, Clone)]
enum Edit {
    Insert(Index, String),
    Remove(Index, usize),
    Cut(Index),
    Swap(Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<Index>(), piece()).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        (any::<Index>(), 1usize..4).prop_map(|(at, count)| Edit::Remove(at, count)),
        any::<Index>().prop_map(Edit::Cut),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Edit::Swap(a, b)),
    ]
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for edit in edits {
        if chars.is_empty() {
            break;
        }
        let count = chars.len();
        match edit {
            Edit::Insert(at, piece) => {
                let at = at.index(count);
                chars.splice(at..at, piece.chars());
            }
            Edit::Remove(at, many) => {
                let at = at.index(count);
                chars.drain(at..(at + many).min(count));
            }
            Edit::Cut(at) => chars.truncate(at.index(count)),
            Edit::Swap(a, b) => chars.swap(a.index(count), b.index(count)),
        }
    }
    chars.into_iter().collect()
}

/// Checks that the place of an error is in the text, on character boundaries, with the right line and column.
fn place_is_good(text: &str, error: &ParseError) -> Result<(), TestCaseError> {
    prop_assert!(text.get(error.span.clone()).is_some(), "{:?} in {} bytes", error.span, text.len());
    let before = &text[..error.span.start];
    prop_assert_eq!(error.line(), before.split('\n').count());
    prop_assert_eq!(error.column(), before.split('\n').next_back().unwrap().chars().count() + 1);
    Ok(())
}

fn block_is_sound(text: &str) -> Result<(), TestCaseError> {
    match parse_block(text) {
        Ok(block) => {
            prop_assert!(!block.requests.is_empty() && block.requests.len() <= MAX_REQUESTS);
            let print = block.to_string();
            prop_assert!(print.lines().all(|line| line.len() <= MAX_LINE_BYTES));
            prop_assert_eq!(parse_block(&print), Ok(block));
        }
        Err(error) => place_is_good(text, &error)?,
    }
    if let Some((range, found)) = find_block(text) {
        let inside = text.get(range);
        prop_assert!(inside.is_some_and(|inside| inside.starts_with("REQ.")));
        match found {
            Ok(block) => prop_assert_eq!(parse_block(inside.unwrap_or("")), Ok(block)),
            Err(error) => place_is_good(text, &error)?,
        }
    }
    Ok(())
}

fn reply_is_sound(text: &str) -> Result<(), TestCaseError> {
    match parse_reply(text) {
        Ok(reply) => prop_assert_eq!(parse_reply(&reply.to_string()), Ok(reply)),
        Err(error) => place_is_good(text, &error)?,
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_printed_block_is_parsed_back(block in block(), before in "[a-z é.]{0,9}", after in "[a-z\n]{0,9}") {
        let print = block.to_string();
        prop_assert_eq!(print.lines().count(), block.requests.len() + 1, "one line each");
        prop_assert_eq!(&parse_block(&print), &Ok(block.clone()));
        let text = format!("{before}\n{print}\n{after}");
        let start = before.len() + 1;
        prop_assert_eq!(find_block(&text), Some((start..start + print.len(), Ok(block))));
    }

    #[test]
    fn a_printed_reply_is_parsed_back(reply in reply()) {
        prop_assert_eq!(parse_reply(&reply.to_string()), Ok(reply));
    }

    #[test]
    fn a_changed_block_is_sound(block in block(), edits in vec(edit(), 1..4)) {
        block_is_sound(&apply(&block.to_string(), &edits))?;
    }

    #[test]
    fn a_changed_reply_is_sound(reply in reply(), edits in vec(edit(), 1..4)) {
        reply_is_sound(&apply(&reply.to_string(), &edits))?;
    }

    #[test]
    fn pieces_of_the_language_are_sound(pieces in vec(piece(), 0..30)) {
        let text = pieces.concat();
        block_is_sound(&text)?;
        reply_is_sound(&text)?;
        block_is_sound(&format!("REQ.address ctx={{{text}}}\nREQ.end"))?;
        block_is_sound(&format!("REQ.purchase items={{{text}}}\nREQ.end"))?;
    }

    #[test]
    fn any_bytes_are_sound(bytes in vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        block_is_sound(&text)?;
        reply_is_sound(&text)?;
        block_is_sound(&format!("REQ.{text}\nREQ.end"))?;
    }

    /// No error repeats a card number from any place in a block.
    #[test]
    fn digits_are_never_repeated(
        block in block(),
        at in any::<Index>(),
        edits in vec(edit(), 0..2),
        number in select(vec!["9173826455091726", "9173 8264 5509 1726", "9173-8264-5509-1726", "x9173826455091726"]),
    ) {
        let text = apply(&block.to_string(), &edits);
        let chars: Vec<char> = text.chars().collect();
        let (left, right) = chars.split_at(at.index(chars.len() + 1));
        let text: String = left.iter().copied().chain(number.chars()).chain(right.iter().copied()).collect();
        if let Err(error) = parse_block(&text) {
            let shown = format!("{} {:?}", error.kind, error.kind);
            for part in ["9173", "8264", "5509", "1726"] {
                prop_assert!(!shown.contains(part), "{}", shown);
            }
        }
    }
}

/// Tries every cut and every removal of a character of one block with every construct.
#[test]
fn every_cut_and_every_removal() {
    let text = concat!(
        "REQ.address fields=[zip, \"city\"] ctx={origin:\"https://shop.example\", tls:true, container:\"T2\"}\n",
        "REQ.purchase items={\"kettle\":2, mug:10} ctx={\"purpose\":\"\\u00e9\\ud83d\\ude00\\\"\", total:64.15, currency:\"USD\"}\r\nREQ.end",
    );
    parse_block(text).unwrap();
    for at in 0..text.len() {
        assert!(parse_block(&text[..at]).is_err(), "{}", &text[..at]);
        block_is_sound(&text[..at]).unwrap();
        block_is_sound(&format!("{}{}", &text[..at], &text[at + 1..])).unwrap();
    }
}

/// Parses megabytes, which would take minutes if any part were read repeatedly.
#[test]
fn long_texts_are_parsed_quickly() {
    for piece in [
        "REQ.otp\n",
        "REQ.",
        "\n",
        " ",
        "\"",
        "\\",
        "[",
        "{",
        "REQ.otp ctx={purpose:\"\\u0041\"}\n",
        "REQ.end\n",
        "x\nREQ.otp\n",
        "a,",
    ] {
        let text = piece.repeat(4_000_000 / piece.len());
        let _ = (parse_block(&text).is_ok(), find_block(&text).is_some(), parse_reply(&text).is_ok());
        let text = format!("REQ.otp ctx={{purpose:\"{text}");
        let _ = (parse_block(&text).is_ok(), find_block(&text).is_some(), parse_reply(&text).is_ok());
    }
}
