//! The grammar of a block, in combinators.

use std::collections::BTreeMap;

use super::expr::{Expr, ItemOrder, literal, named, optional, repeat};
use crate::items::MAX_ITEM_ID_BYTES;
use crate::pointers::MAX_REF_BYTES;
use crate::{ClaimKey, Currency, Field, FieldSet, Kind, Tier};

/// The most digits of an amount in minor units.
const AMOUNT_DIGITS: usize = 15;

/// The digits of the largest quantity of an item.
const QUANTITY_DIGITS: usize = 3;

/// The most items of a purchase that a model writes under a mask. With the longest ids and the longest strings of a
/// `ctx`, they are within a line.
pub const MAX_WRITTEN_ITEMS: usize = 10;

/// The grammar of a block of requests of these kinds, each with the fields that it may name.
pub(super) fn block(kinds: &BTreeMap<Kind, FieldSet>) -> Expr {
    let heads = kinds.iter().map(|(kind, fields)| head(*kind, *fields)).collect();
    let line = Expr::Seq(vec![
        literal("REQ."),
        Expr::Counted(Box::new(Expr::Alt(heads))),
        optional(named("ctx", Expr::Seq(vec![literal(" ctx={"), ctx(), literal("}")]))),
        literal("\n"),
    ]);
    Expr::Seq(vec![Expr::Lines(Box::new(named("line", line))), literal("REQ.end"), optional(literal("\n"))])
}

/// The kind, its fields and the controls for them, or the items of a purchase. The fields can be left out only if the default fields are within `fields`.
fn head(kind: Kind, fields: FieldSet) -> Expr {
    let word = literal(kind.as_str());
    if kind == Kind::Purchase {
        return Expr::Seq(vec![word, optional(items())]);
    }
    if fields.is_empty() {
        return word;
    }
    let list = Expr::List {
        name: format!("{}_fields", kind.as_str()),
        items: fields.iter().map(|field| name(Field::as_str(field))).collect(),
        mark: Box::new(comma()),
        order: ItemOrder::Any,
    };
    let list = Expr::Seq(vec![literal(" fields=["), list, literal("]")]);
    let list = if kind.default_fields().is_subset_of(fields) { optional(list) } else { list };
    Expr::Seq(vec![word, list, optional(at(kind, fields))])
}

/// The controls that the model points at, in the order of the canonical form.
fn at(kind: Kind, fields: FieldSet) -> Expr {
    let control = named(
        "ref",
        Expr::Seq(vec![
            literal("\""),
            class('a', 'z'),
            repeat(Expr::Class(vec![('0', '9'), ('a', 'z')]), 0, MAX_REF_BYTES - 1),
            literal("\""),
        ]),
    );
    let entry = |field: Field| Expr::Seq(vec![name(field.as_str()), colon(), control.clone()]);
    let list = Expr::List {
        name: format!("{}_at", kind.as_str()),
        items: fields.iter().map(entry).collect(),
        mark: Box::new(comma()),
        order: ItemOrder::Fixed,
    };
    Expr::Seq(vec![literal(" at={"), list, literal("}")])
}

/// The items of a purchase. It cannot exclude that one is named twice.
fn items() -> Expr {
    // The letters, the digits and `_ - . : /`; from `-` to `:` there is no other character.
    let ranges = vec![('-', ':'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
    let id = Expr::Id { ranges, max: MAX_ITEM_ID_BYTES };
    let pieces = Expr::Seq(vec![class('1', '9'), repeat(digit(), 0, QUANTITY_DIGITS - 1)]);
    let item = Expr::Seq(vec![id, colon(), pieces]);
    let more = repeat(Expr::Seq(vec![comma(), item.clone()]), 0, MAX_WRITTEN_ITEMS - 1);
    named("items", Expr::Seq(vec![literal(" items={"), item, more, literal("}")]))
}

/// The entries of a `ctx`, in the order of the canonical form. An amount and its currency are one entry.
fn ctx() -> Expr {
    let entries = ClaimKey::ALL.into_iter().filter_map(|key| {
        let value = match key {
            ClaimKey::Container => words(Tier::ALL.map(|tier| format!("\"{}\"", tier.as_str()))),
            ClaimKey::Tls => words(["true", "false"]),
            ClaimKey::Total => return Some(named("price", price())),
            ClaimKey::Currency => return None,
            ClaimKey::Origin
            | ClaimKey::TopOrigin
            | ClaimKey::OriginRequest
            | ClaimKey::Sink
            | ClaimKey::Purpose
            | ClaimKey::Control => Expr::Text,
        };
        Some(Expr::Seq(vec![name(key.as_str()), colon(), value]))
    });
    Expr::List {
        name: "claims".to_owned(),
        items: entries.collect(),
        mark: Box::new(comma()),
        order: ItemOrder::Fixed,
    }
}

/// `total` and `currency`. The amount has no more decimals than the currency, and no more digits than allowed.
fn price() -> Expr {
    let by_digits = currencies().into_iter().map(|(digits, codes)| {
        let decimals = match digits {
            0 => Expr::Seq(Vec::new()),
            digits => optional(Expr::Seq(vec![literal("."), repeat(digit(), 1, digits)])),
        };
        let rest = AMOUNT_DIGITS - 1 - digits.min(AMOUNT_DIGITS - 1);
        let whole = Expr::Alt(vec![literal("0"), Expr::Seq(vec![class('1', '9'), repeat(digit(), 0, rest)])]);
        let key = Expr::Seq(vec![comma(), name(ClaimKey::Currency.as_str()), colon()]);
        Expr::Seq(vec![whole, decimals, key, literal("\""), codes, literal("\"")])
    });
    Expr::Seq(vec![name(ClaimKey::Total.as_str()), colon(), Expr::Alt(by_digits.collect())])
}

/// The second letters that follow each first letter, grouped by the third letters that follow the pair.
type Pairs = BTreeMap<Vec<char>, BTreeMap<char, Vec<char>>>;

/// The codes of three capitals, by the number of decimals of the currency.
fn currencies() -> BTreeMap<usize, Expr> {
    let mut thirds: BTreeMap<usize, Pairs> = BTreeMap::new();
    for first in 'A'..='Z' {
        for second in 'A'..='Z' {
            let mut by_digits: BTreeMap<usize, Vec<char>> = BTreeMap::new();
            for third in 'A'..='Z' {
                if let Some(currency) = Currency::new(&String::from_iter([first, second, third])) {
                    by_digits.entry(currency.minor_digits() as usize).or_default().push(third);
                }
            }
            for (digits, letters) in by_digits {
                let pairs = thirds.entry(digits).or_default().entry(letters).or_default();
                pairs.entry(first).or_default().push(second);
            }
        }
    }
    let codes = |groups: Pairs| {
        let mut alternatives = Vec::new();
        for (third, pairs) in groups {
            let mut by_second: BTreeMap<Vec<char>, Vec<char>> = BTreeMap::new();
            for (first, second) in pairs {
                by_second.entry(second).or_default().push(first);
            }
            for (second, first) in by_second {
                alternatives.push(Expr::Seq(vec![letters(&first), letters(&second), letters(&third)]));
            }
        }
        Expr::Alt(alternatives)
    };
    thirds.into_iter().map(|(digits, groups)| (digits, codes(groups))).collect()
}

/// One of these sorted letters.
fn letters(letters: &[char]) -> Expr {
    let mut ranges: Vec<(char, char)> = Vec::new();
    for letter in letters {
        match ranges.last_mut() {
            Some((_, end)) if u32::from(*end) + 1 == u32::from(*letter) => *end = *letter,
            _ => ranges.push((*letter, *letter)),
        }
    }
    Expr::Class(ranges)
}

/// A name, in quotes or bare.
fn name(name: &str) -> Expr {
    words([format!("\"{name}\""), name.to_owned()])
}

fn words<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Expr {
    Expr::Alt(words.into_iter().map(literal).collect())
}

fn class(from: char, to: char) -> Expr {
    Expr::Class(vec![(from, to)])
}

fn digit() -> Expr {
    class('0', '9')
}

/// A comma and perhaps one blank.
fn comma() -> Expr {
    named("comma", Expr::Seq(vec![literal(","), optional(literal(" "))]))
}

/// A colon and perhaps one blank.
fn colon() -> Expr {
    named("colon", Expr::Seq(vec![literal(":"), optional(literal(" "))]))
}
