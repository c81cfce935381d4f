//! Texts round-trip, and the vocabularies have the documented sizes.

use language_models::byte_pair::{Encoding, Tokenizer};
use proptest::prelude::*;

#[test]
fn vocabularies_have_the_documented_sizes() {
    for encoding in Encoding::ALL {
        let tokenizer = Tokenizer::new(encoding);
        let special = encoding.end();
        assert_eq!(tokenizer.decode(&[special]), "<|endoftext|>", "{}", encoding.name());
        let letters = tokenizer.encode("<|endoftext|>");
        assert!(!letters.contains(&special));
        assert_eq!(tokenizer.decode(&letters), "<|endoftext|>");
        // The last number of the vocabulary decodes, and the next does not.
        assert_ne!(tokenizer.decode(&[encoding.vocabulary() as u32 - 1]), "\u{fffd}");
        assert_eq!(tokenizer.decode(&[encoding.vocabulary() as u32]), "\u{fffd}");
    }
}

proptest! {
    #[test]
    fn text_round_trips(text in "\\PC{0,40}", which in 0_usize..2) {
        let tokenizer = Tokenizer::new(Encoding::ALL[which]);
        let tokens = tokenizer.encode(&text);
        prop_assert!(tokens.iter().all(|token| (*token as usize) < tokenizer.encoding().vocabulary()));
        prop_assert_eq!(tokenizer.decode(&tokens), text);
    }
}
