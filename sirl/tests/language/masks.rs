//! A mask is the set of tokens whose bytes the grammar accepts, for real vocabularies and at every limit.

use std::fmt::Write;
use std::sync::LazyLock;

use crate::written::{Dice, kinds, walk};
use proptest::collection::vec;
use proptest::prelude::*;
use sirl::grammar::MAX_TEXT_CHARS;
use sirl::{Grammar, Kind, MaskTable, State, Vocabulary, VocabularyError};

const END: u32 = 50256;

/// The tokens of GPT-2 as `tiktoken-rs` has them.
static GPT2: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let encoding = tiktoken_rs::r50k_base().unwrap();
    (0..END).map(|id| encoding.decode_bytes(&[id]).unwrap()).collect()
});

static ALL: LazyLock<(Grammar, MaskTable)> = LazyLock::new(|| {
    let grammar = Grammar::for_kinds(&Kind::ALL).unwrap();
    let vocabulary = Vocabulary::from_tokens(GPT2.clone()).with_end(END);
    let table = MaskTable::build(&grammar, &vocabulary);
    (grammar, table)
});

/// Checks the mask at `state` against its definition, token by token, and each step against those of its bytes.
fn mask_is_right(grammar: &Grammar, table: &MaskTable, state: State, text: &str) {
    let mask = table.mask(state);
    let vocabulary = table.vocabulary();
    let mut allowed = Vec::new();
    for token in 0..vocabulary.len() as u32 {
        let next = match vocabulary.token(token) {
            [] => None,
            bytes => bytes.iter().try_fold(state, |state, byte| grammar.step(state, *byte)),
        };
        let ends = vocabulary.ends().contains(&token) && grammar.is_accepting(state);
        if next.is_some() || ends {
            allowed.push(token);
        }
        assert_eq!(table.step(state, token).is_some(), next.is_some() || ends);
        if next.is_some() {
            assert_eq!(table.step(state, token), next);
        }
    }
    assert_eq!(mask.tokens().collect::<Vec<_>>(), allowed, "{text}");
    assert_eq!((mask.count(), mask.words().len()), (allowed.len(), vocabulary.len().div_ceil(64)));
    assert!(allowed.iter().all(|token| mask.contains(*token)) && !mask.contains(u32::MAX));
    assert!(!allowed.is_empty() || grammar.is_accepting(state), "a model is never stuck: {text}");
}

/// The state after `text`.
fn after(grammar: &Grammar, text: &str) -> State {
    text.bytes().fold(grammar.start(), |state, byte| grammar.step(state, byte).unwrap())
}

#[test]
fn masks_of_gpt2_are_right_at_the_limits() {
    let (grammar, table) = &*ALL;
    let mut texts = vec![String::new(), "REQ.".into(), "REQ.otp".into(), "REQ.otp\nREQ.end".into()];
    texts.push("REQ.otp\nREQ.end\n".into());
    for lines in [1, 15, 16] {
        let lines = "REQ.otp\n".repeat(lines);
        texts.extend(["", "R", "REQ", "REQ.", "REQ.e"].map(|tail| format!("{lines}{tail}")));
    }
    for key in ["origin", "purpose", "control"] {
        for left in [0, 1, 2, 3, 15, 64, 65, 127, 128] {
            texts.push(format!("REQ.otp ctx={{{key}:\"{}", "é".repeat(MAX_TEXT_CHARS - left)));
        }
        texts.push(format!("REQ.otp ctx={{{key}:\"\\"));
    }
    for left in [0, 1, 2, 15, 63, 64] {
        let id = "x".repeat(64 - left);
        texts.push(format!("REQ.purchase items={{\"{id}"));
        let nine: String = (0..9).map(|at| format!("\"{at}\":1,")).collect();
        texts.push(format!("REQ.purchase items={{{nine}\"{id}"));
    }
    for tail in ["", "\"a\"", "\"a\":", "\"a\":1", "\"a\":999", "\"a\":1,", "\"a\":1}"] {
        texts.push(format!("REQ.purchase items={{{tail}"));
    }
    for text in texts {
        mask_is_right(grammar, table, after(grammar, &text), &text);
    }
}

/// Within a character there is a state for each of its bytes.
#[test]
fn masks_of_gpt2_are_right_within_a_character() {
    let (grammar, table) = &*ALL;
    for c in ["é", "\u{2027}", "€", "\u{d7ff}", "😀", "\u{10ffff}"] {
        for left in [1, 5] {
            let open = format!("REQ.otp ctx={{origin:\"{}", "x".repeat(MAX_TEXT_CHARS - left));
            let mut state = after(grammar, &open);
            for byte in c.bytes() {
                mask_is_right(grammar, table, state, &open);
                state = grammar.step(state, byte).unwrap();
            }
        }
    }
}

#[test]
fn a_block_ends_with_the_answer_and_not_within_a_token() {
    let (grammar, table) = &*ALL;
    let id = |text: &str| GPT2.iter().position(|token| token == text.as_bytes()).unwrap() as u32;
    let closed = after(grammar, "REQ.otp\nREQ.end");
    assert_eq!(table.mask(closed).tokens().collect::<Vec<_>>(), [id("\n"), END]);
    let end = table.step(closed, END).unwrap();
    assert_eq!((table.mask(end).count(), table.step(end, id("\n"))), (0, None));
    let before = after(grammar, "REQ.otp\nREQ.");
    assert!(table.mask(before).contains(id("end")) && !table.mask(before).contains(END));
    for past in ["ended", "ending", "ends"] {
        assert!(!table.mask(before).contains(id(past)), "{past}");
    }
    assert!(!table.mask(closed).contains(id("\n\n")), "no token goes past the line end");
}

#[test]
fn the_table_is_small() {
    let info = ALL.1.info();
    assert!(info.masks < 1500 && info.bytes < 12_000_000, "{info}");
    assert_eq!((info.tokens, info.longest_token), (END as usize + 1, 128));
    assert!(info.forced_rows > 100 && info.most_allowed < info.tokens, "{info}");
}

/// A byte-level `tokenizer.json` and a `.tiktoken` file give the same vocabulary.
#[test]
fn gpt2_is_read_from_both_files() {
    // The table of the GPT-2 code: printable bytes are their own characters, the others follow U+00FF.
    let plain: Vec<u8> = (b'!'..=b'~').chain(0xa1..=0xac).chain(0xae..=0xff).collect();
    let others: Vec<u8> = (0..=255).filter(|byte| !plain.contains(byte)).collect();
    let character = |byte: u8| match others.iter().position(|other| *other == byte) {
        Some(at) => char::from_u32(256 + at as u32).unwrap(),
        None => char::from(byte),
    };
    let (mut json, mut tiktoken) = (Vec::new(), String::new());
    for (id, token) in GPT2.iter().enumerate() {
        let name: String = token.iter().map(|byte| character(*byte)).collect();
        json.push(format!("{}: {id}", serde_json::to_string(&name).unwrap()));
        writeln!(tiktoken, "{} {id}", base64(token)).unwrap();
    }
    assert_eq!(character(b' '), 'Ġ');
    let json = format!(
        r#"{{"added_tokens": [{{"id": {END}, "content": "<|endoftext|>", "special": true}}],
            "pre_tokenizer": {{"type": "ByteLevel"}}, "decoder": {{"type": "ByteLevel"}},
            "model": {{"type": "BPE", "vocab": {{{}, "<|endoftext|>": {END}}}}}}}"#,
        json.join(",")
    );
    let expected = Vocabulary::from_tokens(GPT2.clone()).with_end(END);
    assert_eq!(Vocabulary::from_tokenizer_json(&json, &["<|endoftext|>"]).unwrap(), expected);
    assert_eq!(Vocabulary::from_tiktoken(&tiktoken).unwrap().with_end(END), expected);
}

fn base64(bytes: &[u8]) -> String {
    let digits: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let chunks = bytes.chunks(3).map(|chunk| {
        let bits = chunk.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        (0..4)
            .map(|at| if at <= chunk.len() { digits[(bits >> (18 - 6 * at) & 63) as usize] } else { '=' })
            .collect()
    });
    chunks.collect::<Vec<String>>().concat()
}

/// A vocabulary in the conventions of Llama 2: the words of GPT-2 that are text, U+2581 for each blank, a token for
/// each byte. No package that tests may depend on has the real one.
fn llama() -> (String, Vec<Vec<u8>>) {
    let mut names = vec!["<unk>".to_owned(), "<s>".to_owned(), "</s>".to_owned()];
    let mut tokens: Vec<Vec<u8>> = vec![Vec::new(); 3];
    for byte in 0..=u8::MAX {
        names.push(format!("<0x{byte:02X}>"));
        tokens.push(vec![byte]);
    }
    for token in GPT2.iter() {
        if let Ok(text) = std::str::from_utf8(token)
            && (text.len() > 1 || text.is_ascii())
            && !text.contains('\n')
        {
            names.push(text.replace(' ', "\u{2581}"));
            tokens.push(token.clone());
        }
    }
    let vocab: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(id, name)| format!("{}: {id}", serde_json::to_string(name).unwrap()))
        .collect();
    let special = |id: usize| format!(r#"{{"id": {id}, "content": "{}", "special": true}}"#, names[id]);
    let json = format!(
        r#"{{"added_tokens": [{}, {}, {}], "pre_tokenizer": null,
            "normalizer": {{"type": "Sequence", "normalizers": [{{"type": "Prepend", "prepend": "\u2581"}},
                {{"type": "Replace", "pattern": {{"String": " "}}, "content": "\u2581"}}]}},
            "decoder": {{"type": "Sequence", "decoders": [
                {{"type": "Replace", "pattern": {{"String": "\u2581"}}, "content": " "}}, {{"type": "ByteFallback"}},
                {{"type": "Fuse"}}]}},
            "model": {{"type": "BPE", "byte_fallback": true, "vocab": {{{}}}}}}}"#,
        special(0),
        special(1),
        special(2),
        vocab.join(",")
    );
    (json, tokens)
}

#[test]
fn a_vocabulary_like_that_of_llama_is_read_and_masked() {
    let (json, tokens) = llama();
    let vocabulary = Vocabulary::from_tokenizer_json(&json, &["</s>"]).unwrap();
    assert_eq!(vocabulary, Vocabulary::from_tokens(tokens).with_end(2));
    let grammar = Grammar::for_kinds(&[Kind::Address, Kind::Purchase]).unwrap();
    let table = MaskTable::build(&grammar, &vocabulary);
    for text in
        ["", "REQ.address", "REQ.address ctx={sink:\"", "REQ.purchase\nREQ.end", "REQ.purchase ctx={total:1,"]
    {
        mask_is_right(&grammar, &table, after(&grammar, text), text);
    }
    let line_end = 3 + u32::from(b'\n');
    let state = after(&grammar, "REQ.address");
    assert_eq!(table.step(state, line_end), Some(after(&grammar, "REQ.address\n")));
}

#[test]
fn other_files_are_refused() {
    let read = |json: &str| Vocabulary::from_tokenizer_json(json, &["</s>"]).unwrap_err();
    assert!(matches!(read("{"), VocabularyError::Json(_)));
    assert!(matches!(read("{}"), VocabularyError::Json(_)));
    assert!(matches!(read(r#"{"model": {"vocab": {"a": "b"}}}"#), VocabularyError::Json(_)));
    let word_piece =
        r#"{"model": {"type": "WordPiece", "vocab": {"a": 0}}, "decoder": {"type": "WordPiece"}}"#;
    assert_eq!(read(word_piece), VocabularyError::UnknownBytes);
    let metaspace =
        r#"{"model": {"vocab": [["</s>", 0], ["\u2581a", -1.5]]}, "decoder": {"type": "Metaspace"}}"#;
    let vocabulary = Vocabulary::from_tokenizer_json(metaspace, &["</s>"]).unwrap();
    assert_eq!(
        (vocabulary.token(0), vocabulary.token(1), vocabulary.ends()),
        (&b""[..], &b" a"[..], &[0][..])
    );
    assert_eq!(
        Vocabulary::from_tokenizer_json(metaspace, &["<|eot|>"]).unwrap_err(),
        VocabularyError::UnknownToken("<|eot|>".to_owned())
    );
    let far = r#"{"model": {"vocab": {"a": 4194304}, "byte_fallback": true}}"#;
    assert_eq!(read(far), VocabularyError::NumberTooLarge(4_194_304));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// A text of the grammar is cut into tokens at random. Every token is allowed, and every mask is right.
    #[test]
    fn masks_of_gpt2_allow_every_text(seed in any::<u64>(), lines in 1usize..=3) {
        let (grammar, table) = &*ALL;
        let text = walk(grammar, seed, lines);
        let (mut state, mut at, mut dice) = (table.start(), 0, Dice(seed | 1));
        while at < text.len() {
            let fits = |token: &u32| text[at..].starts_with(&GPT2[*token as usize]);
            let choices: Vec<u32> = (0..END).filter(fits).collect();
            let mask = table.mask(state);
            prop_assert!(choices.iter().all(|token| mask.contains(*token)));
            if dice.roll(8) == 0 {
                mask_is_right(grammar, table, state, &String::from_utf8_lossy(&text[..at]));
            }
            let token = choices[dice.roll(choices.len())];
            state = table.step(state, token).unwrap();
            at += GPT2[token as usize].len();
        }
        prop_assert!(table.is_accepting(state) && table.mask(state).contains(END));
    }

    /// Synthetic vocabularies have tokens of many lines and of whole strings, so that a token may cross every limit.
    #[test]
    fn masks_of_odd_vocabularies_are_right(
        allowed in kinds(),
        seed in any::<u64>(),
        cuts in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..60),
    ) {
        let grammar = Grammar::for_fields(&allowed).unwrap();
        let full = walk(&grammar, seed, 16);
        let mut tokens = vec![Vec::new()];
        for (from, to) in &cuts {
            let (a, b) = (from.index(full.len()), to.index(full.len()));
            tokens.push(full[a.min(b)..a.max(b)].to_vec());
            tokens.push(full[a.min(b)..(a.min(b) + 3).min(full.len())].to_vec());
        }
        tokens.push("é".repeat(130).into_bytes());
        tokens.push(format!("{}\"", "x".repeat(128)).into_bytes());
        tokens.push(format!("\",purpose:\"{}", "x".repeat(129)).into_bytes());
        let vocabulary = Vocabulary::from_tokens(tokens).with_end(0);
        let table = MaskTable::build(&grammar, &vocabulary);
        let mut state = grammar.start();
        for (at, byte) in full.iter().enumerate() {
            if at % 7 == 0 || full[..at].ends_with(b"\"") || full[..at].ends_with(b"REQ.") {
                let allowed: Vec<u32> = (1..vocabulary.len() as u32)
                    .filter(|token| !vocabulary.token(*token).is_empty() && table.step(state, *token).is_some())
                    .collect();
                let mask: Vec<u32> = table.mask(state).tokens().filter(|token| *token > 0).collect();
                prop_assert_eq!(mask, allowed);
            }
            state = grammar.step(state, *byte).unwrap();
        }
    }
}
