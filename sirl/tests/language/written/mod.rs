//! Texts for tests of grammars: in the grammar, close to it, and in the language outside of it.
#![allow(dead_code, reason = "each test binary uses a part of this")]

pub mod corpus;
pub mod edits;

use proptest::collection::{hash_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use sirl::grammar::{MAX_TEXT_CHARS, MAX_WRITTEN_ITEMS};
use sirl::items::MAX_QUANTITY;
use sirl::{
    Block, Claim, Currency, Field, FieldSet, Grammar, Items, Kind, Money, ParseError, ParseErrorKind,
    Pointers, Request, State, Tier, parse_block,
};

/// A string of a claim that can be written under a mask.
pub fn text() -> impl Strategy<Value = String> {
    let forbidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let c = prop_oneof![
        4 => any::<char>().prop_filter("forbidden", move |c| !forbidden(*c)),
        4 => prop::char::range('a', 'z'),
        2 => select(vec!['"', '\\', '/', '{', '}', '[', ']', ',', ':', ' ', '\'', 'u']),
    ];
    prop_oneof![8 => vec(c.clone(), 0..12), 1 => vec(c, MAX_TEXT_CHARS - 2..=MAX_TEXT_CHARS)]
        .prop_map(String::from_iter)
}

pub fn money() -> impl Strategy<Value = Money> {
    let known = select(vec!["USD", "JPY", "KWD", "CLF", "XYZ"]).prop_map(str::to_owned);
    let minor = prop_oneof![0..=Money::MAX_MINOR, 0..100_000u64];
    (minor, prop_oneof![known, "[A-Z]{3}"])
        .prop_map(|(minor, code)| Money { minor, currency: Currency::new(&code).unwrap() })
}

pub fn claim() -> impl Strategy<Value = Claim> {
    let word = || option::weighted(0.3, text());
    let words = (word(), word(), word(), word(), word(), word());
    let rest = (option::of(select(Tier::ALL.to_vec())), option::of(any::<bool>()), option::of(money()));
    (words, rest).prop_map(
        |((origin, top_origin, origin_request, sink, purpose, control), (container, tls, total))| Claim {
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

/// Controls for some of the fields that a request asks for.
pub fn pointers(kind: Kind, fields: FieldSet) -> impl Strategy<Value = Pointers> {
    let asked = if fields.is_empty() { kind.default_fields() } else { fields };
    let some = subsequence(asked.iter().collect::<Vec<Field>>(), 0..=asked.len());
    some.prop_flat_map(|fields| {
        fields.into_iter().map(|field| (Just(field), "[a-z][a-z0-9]{0,15}")).collect::<Vec<_>>()
    })
    .prop_map(|pointed| {
        pointed.iter().fold(Pointers::default(), |at, (field, control)| at.with(*field, control).unwrap())
    })
}

/// Up to `most` items, for a purchase alone.
pub fn items(kind: Kind, most: usize) -> impl Strategy<Value = Items> {
    let most = if kind == Kind::Purchase { most } else { 0 };
    let id = prop_oneof![9 => "[A-Za-z0-9_.:/-]{1,12}", 1 => "[A-Za-z0-9_.:/-]{64}"];
    hash_map(id, 1..=MAX_QUANTITY, 0..=most).prop_map(|listed| {
        listed.iter().fold(Items::default(), |items, (id, quantity)| items.with(id, *quantity).unwrap())
    })
}

pub fn request() -> impl Strategy<Value = Request> {
    let fields = |kind: Kind| {
        let all: Vec<Field> = kind.allowed_fields().iter().collect();
        let most = all.len();
        subsequence(all, 0..=most).prop_map(FieldSet::from_iter)
    };
    select(Kind::ALL.to_vec())
        .prop_flat_map(move |kind| (Just(kind), fields(kind), claim()))
        .prop_flat_map(|(kind, fields, claim)| {
            (Just(kind), Just(fields), pointers(kind, fields), items(kind, MAX_WRITTEN_ITEMS), Just(claim))
        })
        .prop_map(|(kind, fields, at, items, claim)| Request { kind, fields, at, items, claim })
}

pub fn block() -> impl Strategy<Value = Block> {
    let requests = prop_oneof![9 => vec(request(), 1..=3), 1 => vec(request(), 14..=16)];
    requests.prop_map(|requests| Block { requests })
}

/// Some kinds, each with some fields, at least one if the kind takes any.
pub fn kinds() -> impl Strategy<Value = Vec<(Kind, FieldSet)>> {
    let one = select(Kind::ALL.to_vec()).prop_flat_map(|kind| {
        let all: Vec<Field> = kind.allowed_fields().iter().collect();
        let most = all.len();
        subsequence(all, most.min(1)..=most).prop_map(move |fields| (kind, FieldSet::from_iter(fields)))
    });
    vec(one, 1..4)
}

/// A small source of random numbers for walks (xorshift); its seed comes from proptest.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

/// Tells if the parser accepts `text`, or refuses it only because a purchase names an item twice, which the grammar
/// cannot exclude.
pub fn is_read(text: &str) -> bool {
    parse_block(text).map_or_else(|error| names_an_item_twice(&error), |_| true)
}

pub fn names_an_item_twice(error: &ParseError) -> bool {
    matches!(error.kind, ParseErrorKind::DuplicateItem(_))
}

/// The bytes that the grammar allows after `state`.
pub fn next_bytes(grammar: &Grammar, state: State) -> Vec<u8> {
    (0..=255).filter(|byte| grammar.step(state, *byte).is_some()).collect()
}

/// A complete text of the grammar. Every byte is chosen from the allowed ones with equal chance, except that the
/// closing quote of a string comes sooner, and `REQ.end` after `lines` lines.
pub fn walk(grammar: &Grammar, seed: u64, lines: usize) -> Vec<u8> {
    let mut dice = Dice(seed | 1);
    let (mut state, mut text) = (grammar.start(), Vec::new());
    while !grammar.is_accepting(state) || dice.roll(2) == 0 {
        let mut bytes = next_bytes(grammar, state);
        if bytes.is_empty() {
            break;
        }
        if bytes.len() > 100 && dice.roll(12) == 0 {
            bytes = vec![b'"'];
        }
        if text.ends_with(b"\nREQ.") && bytes.len() > 1 {
            let more = text.iter().filter(|byte| **byte == b'\n').count() < lines;
            bytes.retain(|byte| (*byte != b'e') == more);
        }
        let byte = bytes[dice.roll(bytes.len())];
        state = grammar.step(state, byte).unwrap();
        text.push(byte);
    }
    text
}
