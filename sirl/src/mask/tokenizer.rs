//! Vocabularies from the `tokenizer.json` of Hugging Face.

use std::collections::HashMap;

use serde_json::Value;

use super::{Vocabulary, VocabularyError};

/// How a tokenizer writes the bytes of its tokens as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// A character for each byte (GPT-2, Llama 3, Qwen).
    Bytes,
    /// U+2581 for a blank, `<0x0A>` for a byte alone (Llama 2, Mistral, Gemma).
    Blanks,
}

impl Vocabulary {
    /// The vocabulary of a `tokenizer.json`, given its content. The tokens called `ends` end an answer, such as
    /// `</s>` or `<|endoftext|>`: which ones do is not in the file.
    ///
    /// Byte-level tokenizers are read, and those that write U+2581 for a blank, with byte fallback or without.
    /// Special tokens get no bytes. A blank that a tokenizer puts before the first word of a text is not
    /// known here: let a block begin on a line of its own.
    ///
    /// # Errors
    /// Another kind of file, another kind of tokenizer (such as WordPiece), or no token of a name in `ends`.
    ///
    /// ```
    /// let json = r#"{"model": {"type": "BPE", "byte_fallback": true,
    ///     "vocab": {"</s>": 0, "<0x0A>": 1, "▁REQ": 2}},
    ///     "added_tokens": [{"id": 0, "content": "</s>", "special": true}]}"#;
    /// let vocabulary = sirl::Vocabulary::from_tokenizer_json(json, &["</s>"])?;
    /// assert_eq!((vocabulary.token(1), vocabulary.token(2)), (&b"\n"[..], &b" REQ"[..]));
    /// assert_eq!(vocabulary.ends(), [0]);
    /// # Ok::<(), sirl::VocabularyError>(())
    /// ```
    pub fn from_tokenizer_json(content: &str, ends: &[&str]) -> Result<Vocabulary, VocabularyError> {
        let missing = |what: &str| VocabularyError::Json(what.to_owned());
        let file: Value =
            serde_json::from_str(content).map_err(|error| VocabularyError::Json(error.to_string()))?;
        let model = file.get("model").ok_or_else(|| missing("it has no model"))?;
        let tokens = tokens(model).ok_or_else(|| missing("its model has no tokens with numbers"))?;
        let spelling = spelling(&file, model).ok_or(VocabularyError::UnknownBytes)?;
        let bytes_of = byte_characters();
        let mut vocabulary = Vocabulary::default();
        let mut numbers = HashMap::new();
        for (name, id) in &tokens {
            let bytes = match spelling {
                // A token with a character that is no byte is none that the model can write.
                Spelling::Bytes => name.chars().map(|c| bytes_of.get(&c).copied()).collect(),
                Spelling::Blanks => Some(with_blanks(name)),
            };
            vocabulary.set(*id, bytes.unwrap_or_default())?;
            numbers.insert(*name, *id);
        }
        let added = file.get("added_tokens").and_then(Value::as_array);
        for token in added.into_iter().flatten() {
            let id = token.get("id").and_then(Value::as_u64);
            let name = token.get("content").and_then(Value::as_str);
            let (Some(id), Some(name)) = (id, name) else {
                return Err(missing("an added token has no number or no content"));
            };
            let special = token.get("special").and_then(Value::as_bool).unwrap_or(false);
            let number = u32::try_from(id).map_err(|_| VocabularyError::NumberTooLarge(id))?;
            vocabulary = vocabulary.without(number);
            vocabulary.set(id, if special { Vec::new() } else { name.as_bytes().to_vec() })?;
            numbers.insert(name, id);
        }
        for end in ends {
            let id = numbers.get(end).and_then(|id| u32::try_from(*id).ok());
            vocabulary =
                vocabulary.with_end(id.ok_or_else(|| VocabularyError::UnknownToken((*end).to_owned()))?);
        }
        Ok(vocabulary)
    }
}

/// The tokens of the model: an object from name to number (BPE), or a list of names with scores (Unigram).
fn tokens(model: &Value) -> Option<Vec<(&str, u64)>> {
    match model.get("vocab")? {
        Value::Object(vocab) => vocab.iter().map(|(name, id)| Some((name.as_str(), id.as_u64()?))).collect(),
        Value::Array(vocab) => {
            let names = vocab.iter().map(|entry| entry.get(0)?.as_str());
            names.zip(0..).map(|(name, id)| Some((name?, id))).collect()
        }
        _ => None,
    }
}

/// How the tokenizer writes bytes, by its decoder and the parts before its model.
fn spelling(file: &Value, model: &Value) -> Option<Spelling> {
    let mut types = Vec::new();
    for (part, list) in
        [("decoder", "decoders"), ("pre_tokenizer", "pretokenizers"), ("normalizer", "normalizers")]
    {
        let part = file.get(part);
        let nested = part.and_then(|part| part.get(list)?.as_array()).into_iter().flatten();
        types.extend(nested.chain(part).filter_map(|part| part.get("type")?.as_str()));
    }
    let fallback = model.get("byte_fallback").and_then(Value::as_bool).unwrap_or(false);
    if types.contains(&"ByteLevel") {
        Some(Spelling::Bytes)
    } else if fallback || types.contains(&"Metaspace") || types.contains(&"ByteFallback") {
        Some(Spelling::Blanks)
    } else {
        None
    }
}

/// The bytes of a token in which U+2581 is a blank and `<0x0A>` a byte.
fn with_blanks(name: &str) -> Vec<u8> {
    let byte = name.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
    let byte = byte.filter(|digits| digits.len() == 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    match byte {
        Some(byte) => vec![byte],
        None => name.replace('\u{2581}', " ").into_bytes(),
    }
}

/// The byte that each character of a byte-level token stands for: printable Latin-1 for itself, and the
/// other 68 bytes, in order, as the characters from U+0100 on.
fn byte_characters() -> HashMap<char, u8> {
    let mut next = 0x100;
    let mut characters = HashMap::new();
    for byte in 0..=u8::MAX {
        let printable = matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        let code = if printable { u32::from(byte) } else { next };
        if !printable {
            next += 1;
        }
        characters.extend(char::from_u32(code).map(|c| (c, byte)));
    }
    characters
}
