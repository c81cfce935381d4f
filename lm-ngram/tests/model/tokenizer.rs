//! Text comes back, and the vocabularies have the sizes that are stated.

use lm_ngram::{Encoding, Tokenizer};
use proptest::prelude::*;

#[test]
fn sizes_are_as_stated() {
    for encoding in Encoding::ALL {
        let tokenizer = Tokenizer::new(encoding);
        let special = encoding.end();
        assert_eq!(tokenizer.decode(&[special]), "<|endoftext|>", "{}", encoding.name());
        let letters = tokenizer.encode("<|endoftext|>");
        assert!(!letters.contains(&special));
        assert_eq!(tokenizer.decode(&letters), "<|endoftext|>");
        // The last number that stands for something.
        assert_ne!(tokenizer.decode(&[encoding.vocabulary() as u32 - 1]), "\u{fffd}");
        assert_eq!(tokenizer.decode(&[encoding.vocabulary() as u32]), "\u{fffd}");
    }
}

proptest! {
    #[test]
    fn text_comes_back(text in "\\PC{0,40}", which in 0_usize..2) {
        let tokenizer = Tokenizer::new(Encoding::ALL[which]);
        let tokens = tokenizer.encode(&text);
        prop_assert!(tokens.iter().all(|token| (*token as usize) < tokenizer.encoding().vocabulary()));
        prop_assert_eq!(tokenizer.decode(&tokens), text);
    }
}
