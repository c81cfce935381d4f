//! Text to tokens and back.

use crate::every_model::fixture;
use language_models::transformer::Tokenizer;
use proptest::prelude::*;
use std::fs;

/// The expected tokens are those of Python's `tokenizers` on the same files.
#[test]
fn tokens_equal_those_of_python() {
    let tokenizer = |name: &str| Tokenizer::load(&fixture("tokenizers").join(name)).unwrap();
    let (levels, pieces) = (tokenizer("byte-level.json"), tokenizer("pieces.json"));
    assert_eq!(levels.encode("the pay page").unwrap(), [258, 264, 271]);
    assert_eq!(levels.encode("Zo\u{eb} \u{652f}\u{4ed8} 12").unwrap(), [289, 291, 283]);
    assert_eq!(pieces.encode("the pay page").unwrap(), [274, 276, 272, 260, 270, 262]);
    let bytes = [259, 93, 265, 198, 174, 259, 233, 151, 178, 231, 190, 155, 259, 52, 53];
    assert_eq!(pieces.encode("Zo\u{eb} \u{652f}\u{4ed8} 12").unwrap(), bytes);
    // Where a text begins, a tokenizer of pieces puts a space.
    assert_eq!(pieces.decode(&bytes), " Zo\u{eb} \u{652f}\u{4ed8} 12");
    assert_eq!(levels.decode(&[289, 291, 283]), "Zo\u{eb} \u{652f}\u{4ed8} 12");
    assert_eq!(
        (levels.token("<|end|>"), pieces.token("</s>"), pieces.token("nothing")),
        (Some(0), Some(1), None)
    );
    assert_eq!(levels.vocabulary(), levels.token_bytes().len());
    // Special tokens decode to nothing; the others together cover every byte.
    assert_eq!((levels.decode(&[0]), pieces.decode(&[0, 1, 2, 999])), (String::new(), String::new()));
    for tokenizer in [&levels, &pieces] {
        for byte in 0..=u8::MAX {
            assert!(tokenizer.token_bytes().contains(&vec![byte]), "{byte}");
        }
    }
}

#[test]
fn an_unsupported_tokenizer_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let fault = || Tokenizer::load(folder.path()).err().unwrap().to_string();
    assert!(fault().starts_with("cannot read ") && fault().contains("tokenizer.json"));
    let text = fs::read_to_string(fixture("tokenizers").join("byte-level.json")).unwrap();
    let write = |from: &str, to: &str| {
        assert!(text.contains(from));
        fs::write(folder.path().join("tokenizer.json"), text.replace(from, to)).unwrap();
        fault()
    };
    assert!(
        write("\"decoder\":{\"type\":\"ByteLevel\"", "\"decoder\":{\"type\":\"CTC\"")
            .contains("its decoder is neither")
    );
    assert!(write("\"type\":\"BPE\"", "\"type\":\"XYZ\"").contains("tokenizer.json: "));
    assert!(write("{", "[").contains("tokenizer.json: "));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_text_round_trips(text in "[ -~\u{a0}-\u{2ff}\u{4e00}-\u{4e20}\n]{0,40}") {
        let tokenizer = Tokenizer::load(&fixture("tokenizers").join("byte-level.json")).unwrap();
        prop_assume!(!text.contains("<|end|>"));
        prop_assert_eq!(tokenizer.decode(&tokenizer.encode(&text).unwrap()), text);
    }
}
