//! The exported Lark grammar, run in llguidance, is equivalent to the automaton: it has the same texts, and after
//! every byte the same next bytes.

use std::sync::LazyLock;

use crate::written::corpus::corpus;
use crate::written::edits::{edit, edited};
use crate::written::{block, is_read, kinds, walk};
use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::ApproximateTokEnv;
use llguidance::{Matcher, ParserFactory};
use proptest::collection::vec;
use proptest::prelude::*;
use sirl::{Field, FieldSet, Grammar, Kind, parse_block};

static ALL: LazyLock<Peer> = LazyLock::new(|| Peer::new(Grammar::for_kinds(&Kind::ALL).unwrap()));

/// A grammar and the parser of llguidance for its Lark text, with a token for each byte.
struct Peer {
    grammar: Grammar,
    matcher: Matcher,
}

impl Peer {
    fn new(grammar: Grammar) -> Peer {
        let mut factory = ParserFactory::new_simple(&ApproximateTokEnv::single_byte_env()).unwrap();
        factory.quiet();
        let parser = factory.create_parser(TopLevelGrammar::from_lark(grammar.to_lark()));
        Peer { grammar, matcher: Matcher::new(parser) }
    }

    /// Follows `text` with both until both refuse a byte or the text ends. Returns true if both accept it.
    fn follow(&self, text: &[u8]) -> bool {
        let mut matcher = self.matcher.deep_clone();
        let mut state = self.grammar.start();
        for (at, byte) in text.iter().enumerate() {
            let before = String::from_utf8_lossy(&text[..at]);
            let ours: Vec<u8> = (0..=255).filter(|byte| self.grammar.step(state, *byte).is_some()).collect();
            let theirs: Vec<u8> = match matcher.is_stopped() {
                true => Vec::new(),
                false => {
                    let mask = matcher.compute_mask().unwrap();
                    (0..=255).filter(|byte| mask.is_allowed(u32::from(*byte))).collect()
                }
            };
            assert_eq!(ours, theirs, "{before}");
            assert_eq!(self.grammar.is_accepting(state), accepts(&mut matcher), "{before}");
            let Some(next) = self.grammar.step(state, *byte) else { return false };
            matcher.consume_token(u32::from(*byte)).unwrap();
            state = next;
        }
        assert_eq!(
            self.grammar.is_accepting(state),
            accepts(&mut matcher),
            "{}",
            String::from_utf8_lossy(text)
        );
        self.grammar.is_accepting(state)
    }
}

/// Tells if a block may end here. A matcher stops by itself if no byte can follow.
fn accepts(matcher: &mut Matcher) -> bool {
    matcher.is_stopped() || matcher.is_accepting().unwrap()
}

#[test]
fn both_classify_the_corpus_alike() {
    for (text, written, read) in corpus() {
        assert_eq!(ALL.follow(text.as_bytes()), written, "{text}");
        assert_eq!(parse_block(&text).is_ok(), read, "{text}");
    }
}

#[test]
fn a_forbidden_field_is_in_neither() {
    let fields = FieldSet::EMPTY.with(Field::City).with(Field::Street);
    let peer = Peer::new(Grammar::for_fields(&[(Kind::Address, fields)]).unwrap());
    assert!(peer.follow(b"REQ.address fields=[street,\"city\"]\nREQ.end"));
    assert!(!peer.follow(b"REQ.address\nREQ.end"));
    assert!(!peer.follow(b"REQ.address fields=[city,name]\nREQ.end"));
    assert!(!peer.follow(b"REQ.otp\nREQ.end"));
}

#[test]
fn both_refuse_items_but_for_a_purchase() {
    let items = "items={\"kettle\":2, \"gid://shop/Item/7\": 10}";
    assert!(ALL.follow(format!("REQ.purchase {items} ctx={{tls:true}}\nREQ.end").as_bytes()));
    assert!(!ALL.follow(format!("REQ.address {items}\nREQ.end").as_bytes()));
    assert!(!ALL.follow(format!("REQ.purchase ctx={{tls:true}} {items}\nREQ.end").as_bytes()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn both_treat_walks_and_their_changes_alike(
        allowed in kinds(),
        seed in any::<u64>(),
        lines in 1usize..=4,
        edits in vec(edit(), 1..3),
    ) {
        let peer = Peer::new(Grammar::for_fields(&allowed).unwrap());
        let text = walk(&peer.grammar, seed, lines);
        prop_assert!(peer.follow(&text));
        prop_assert!(is_read(std::str::from_utf8(&text).unwrap()));
        let text = edited(&text, &edits);
        if peer.follow(&text) {
            prop_assert!(is_read(std::str::from_utf8(&text).unwrap()));
        }
    }

    #[test]
    fn both_treat_canonical_forms_and_their_changes_alike(block in block(), edits in vec(edit(), 1..3)) {
        let text = block.to_string().into_bytes();
        prop_assert!(ALL.follow(&text));
        ALL.follow(&edited(&text, &edits));
    }
}
