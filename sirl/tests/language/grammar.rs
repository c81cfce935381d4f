//! Every text of the grammar is parsed, and every canonical form is a text of the grammar.

use crate::written::corpus::corpus;
use crate::written::edits::{edit, edited};
use crate::written::{block, is_read, kinds, names_an_item_twice, next_bytes, walk};
use proptest::collection::vec;
use proptest::prelude::*;
use sirl::grammar::{MAX_TEXT_CHARS, MAX_WRITTEN_ITEMS};
use sirl::items::{MAX_ITEM_ID_BYTES, MAX_QUANTITY};
use sirl::limits::{MAX_LINE_BYTES, MAX_REQUESTS};
use sirl::{
    Block, Claim, Currency, Field, FieldSet, Grammar, GrammarError, Items, Kind, Money, Pointers, Recognizer,
    Request, Tier, parse_block,
};
use std::sync::LazyLock;

static ALL: LazyLock<Grammar> = LazyLock::new(|| Grammar::for_kinds(&Kind::ALL).unwrap());

/// Tells if the kinds and fields of `block` are within `allowed`.
fn within(block: &Block, allowed: &[(Kind, FieldSet)]) -> bool {
    block.requests.iter().all(|request| {
        let fields =
            allowed.iter().filter(|(kind, _)| *kind == request.kind).flat_map(|(_, fields)| fields.iter());
        let known = allowed.iter().any(|(kind, _)| *kind == request.kind);
        known && request.effective_fields().is_subset_of(fields.collect())
    })
}

#[test]
fn the_corpus_is_classified() {
    for (text, written, read) in corpus() {
        assert_eq!(ALL.accepts(text.as_bytes()), written, "{text}");
        assert_eq!(parse_block(&text).is_ok(), read, "{text}");
        assert!(read || !written, "{text}");
    }
}

/// The largest request has strings full of the longest characters.
#[test]
fn the_longest_line_is_within_the_limits() {
    let text = || Some("\u{10ffff}".repeat(MAX_TEXT_CHARS));
    let claim = Claim {
        origin: text(),
        top_origin: text(),
        origin_request: text(),
        container: Some(Tier::T2),
        tls: Some(false),
        sink: text(),
        purpose: text(),
        control: text(),
        total: Some(Money { minor: Money::MAX_MINOR, currency: Currency::new("USD").unwrap() }),
    };
    let id = |at: usize| format!("{at:x>MAX_ITEM_ID_BYTES$}");
    let named =
        (0..MAX_WRITTEN_ITEMS).fold(Items::default(), |items, at| items.with(&id(at), MAX_QUANTITY).unwrap());
    for (kind, items) in [(Kind::Address, Items::default()), (Kind::Purchase, named)] {
        let (fields, at, claim) = (kind.allowed_fields(), Pointers::default(), claim.clone());
        let request = Request { kind, fields, at, items, claim };
        let block = Block { requests: vec![request; MAX_REQUESTS] };
        let wide = block.to_string().replace(",\"", ", \"").replace("\":", "\": ");
        assert!(wide.lines().all(|line| line.len() <= MAX_LINE_BYTES));
        for text in [block.to_string(), wide] {
            assert!(ALL.accepts(text.as_bytes()));
            assert_eq!(parse_block(&text), Ok(block.clone()));
        }
    }
}

/// An automaton cannot compare an id with all earlier ones, so the parser alone refuses an item that is named twice.
#[test]
fn an_item_named_twice_is_left_to_the_parser() {
    let text = "REQ.purchase items={\"mug\":1,\"mug\":2}\nREQ.end";
    assert!(ALL.accepts(text.as_bytes()));
    assert!(names_an_item_twice(&parse_block(text).unwrap_err()));
}

#[test]
fn fields_must_be_named_where_the_default_is_more() {
    let some = |fields: &[Field]| fields.iter().copied().collect::<FieldSet>();
    let grammar =
        Grammar::for_fields(&[(Kind::Contact, some(&[Field::Name])), (Kind::Purchase, some(&[]))]).unwrap();
    assert!(!grammar.accepts(b"REQ.contact\nREQ.end"));
    assert!(!grammar.accepts(b"REQ.contact fields=[name,email]\nREQ.end"));
    assert!(grammar.accepts(b"REQ.contact fields=[name]\nREQ.end"));
    assert!(grammar.accepts(b"REQ.purchase\nREQ.contact fields=[\"name\"]\nREQ.end"));
    let twice =
        [(Kind::Login, some(&[Field::Email, Field::Username])), (Kind::Login, some(&[Field::Password]))];
    assert!(Grammar::for_fields(&twice).unwrap().accepts(b"REQ.login\nREQ.end"));
}

#[test]
fn invalid_grammars_are_refused() {
    let refused = |kinds: &[(Kind, FieldSet)]| Grammar::for_fields(kinds).unwrap_err();
    assert_eq!(refused(&[]), GrammarError::NoKinds);
    assert_eq!(refused(&[(Kind::Otp, FieldSet::EMPTY)]), GrammarError::NoFields(Kind::Otp));
    let (kind, field) = (Kind::Purchase, Field::Name);
    assert_eq!(refused(&[(kind, FieldSet::EMPTY.with(field))]), GrammarError::FieldNotOfKind { kind, field });
}

/// Tries every set of kinds, with every request of each kind without claims.
#[test]
fn every_set_of_kinds_takes_its_kinds_only() {
    for bits in 1u32..1 << Kind::ALL.len() {
        let kinds: Vec<Kind> =
            (0..Kind::ALL.len()).filter(|at| bits >> at & 1 == 1).map(|at| Kind::ALL[at]).collect();
        let grammar = Grammar::for_kinds(&kinds).unwrap();
        for kind in Kind::ALL {
            let text = format!("REQ.{}\nREQ.end", kind.as_str());
            assert_eq!(grammar.accepts(text.as_bytes()), kinds.contains(&kind), "{kinds:?} {text}");
        }
    }
}

/// Tries every list of fields of every kind, in every order. Those with each field once are accepted, and no others.
#[test]
fn every_order_of_fields_is_accepted() {
    fn orders(left: &[Field], list: &mut Vec<Field>, see: &mut impl FnMut(&[Field])) {
        for field in left {
            list.push(*field);
            see(list);
            let rest: Vec<Field> = left.iter().copied().filter(|other| other != field).collect();
            orders(&rest, list, see);
            list.pop();
        }
    }
    for kind in Kind::ALL {
        let all: Vec<Field> = kind.allowed_fields().iter().collect();
        orders(&all, &mut Vec::new(), &mut |list| {
            let names: Vec<&str> = list.iter().map(|field| field.as_str()).collect();
            let text =
                |names: &[&str]| format!("REQ.{} fields=[{}]\nREQ.end", kind.as_str(), names.join(","));
            assert!(ALL.accepts(text(&names).as_bytes()), "{names:?}");
            let again = [&names[..], &names[..1]].concat();
            assert!(!ALL.accepts(text(&again).as_bytes()), "{again:?}");
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The canonical form of a block is accepted by a grammar that allows its kinds and fields, and by no other.
    #[test]
    fn a_canonical_form_is_in_the_grammar(block in block(), allowed in kinds()) {
        let text = block.to_string();
        prop_assert!(ALL.accepts(text.as_bytes()), "{}", text);
        let grammar = Grammar::for_fields(&allowed).unwrap();
        let named = block.requests.iter().all(|request| !request.fields.is_empty() || {
            let all: FieldSet = allowed.iter().filter(|(kind, _)| *kind == request.kind)
                .flat_map(|(_, fields)| fields.iter()).collect();
            request.kind.default_fields().is_subset_of(all)
        });
        prop_assert_eq!(grammar.accepts(text.as_bytes()), within(&block, &allowed) && named);
    }

    /// A text of the grammar is parsed, has only allowed kinds and fields, and its canonical form is in the grammar
    /// too.
    #[test]
    fn a_text_of_the_grammar_is_parsed(allowed in kinds(), seed in any::<u64>(), lines in 1usize..=18) {
        let grammar = Grammar::for_fields(&allowed).unwrap();
        let text = String::from_utf8(walk(&grammar, seed, lines)).unwrap();
        prop_assert!(grammar.accepts(text.as_bytes()), "{text}");
        let block = match parse_block(&text) {
            Err(error) if names_an_item_twice(&error) => return Ok(()),
            read => read.map_err(|error| TestCaseError::fail(format!("{text}\n{error}")))?,
        };
        prop_assert!(within(&block, &allowed), "{}", text);
        prop_assert_eq!(block.requests.len(), lines.min(MAX_REQUESTS));
        prop_assert!(grammar.accepts(block.to_string().as_bytes()));
    }

    /// A changed text that the grammar accepts is parsed.
    #[test]
    fn an_accepted_text_is_parsed(seed in any::<u64>(), block in block(), edits in vec(edit(), 1..4)) {
        for text in [walk(&ALL, seed, 2), block.to_string().into_bytes()] {
            let text = edited(&text, &edits);
            if ALL.accepts(&text) {
                let text = String::from_utf8(text).unwrap();
                prop_assert!(is_read(&text), "{}", text);
            }
        }
    }

    /// Pushing and removing bytes gives the same state as pushing only the remaining ones, and a refused byte changes
    /// nothing.
    #[test]
    fn a_text_can_be_rewound(seed in any::<u64>(), moves in vec((0usize..40, any::<u8>()), 1..20)) {
        let text = walk(&ALL, seed, 3);
        let mut recognizer = Recognizer::new(&ALL);
        for (back, byte) in moves {
            let done = recognizer.len();
            prop_assert!(recognizer.try_push_bytes(&text[done..(done + 30).min(text.len())]));
            let state = recognizer.state();
            if !next_bytes(&ALL, state).contains(&byte) {
                prop_assert!(!recognizer.try_push_byte(byte) && !recognizer.try_push_bytes(&[byte, b'x']));
                prop_assert_eq!(recognizer.state(), state);
            }
            let kept = recognizer.len().saturating_sub(back);
            recognizer.rewind(back);
            let mut alone = Recognizer::new(&ALL);
            prop_assert!(alone.try_push_bytes(&text[..kept]));
            prop_assert_eq!((recognizer.len(), recognizer.state()), (kept, alone.state()));
        }
    }
}
