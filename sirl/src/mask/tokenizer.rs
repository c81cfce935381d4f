//! Vocabularies from the `tokenizer.json` of Hugging Face.

use std::collections::HashMap;

use serde_json::Value;

use super::{Vocabulary, VocabularyError};

/// The way in which a tokenizer writes the bytes of its tokens as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// Each byte is one character (GPT-2, Llama 3, Qwen).
    Bytes,
    /// U+2581 is a blank, and `<0x0A>` a single byte (Llama 2, Mistral, Gemma).
    Blanks,
}

impl Vocabulary {
    /// Reads the content of a `tokenizer.json`. `ends` names the tokens that end an answer, such as `</s>` or
    /// `<|endoftext|>`, because the file does not tell them.
    ///
    /// It reads byte-level tokenizers, and those that write U+2581 for a blank, with byte fallback or without. Special
    /// tokens get no bytes. Some tokenizers add a blank before the first word of a text, which is not known here, so
    /// a block must begin on a line of its own.
    ///
    /// # Errors
    /// The file or the tokenizer is of another kind (such as WordPiece), or a name in `ends` has no token.
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
                // The model cannot write a token with a character that is no byte.
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

/// Reads the tokens of the model: an object from name to number (BPE), or a list of names with scores (Unigram).
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

/// Finds the spelling of bytes from the decoder and the parts before the model.
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

/// Decodes a token in which U+2581 is a blank and `<0x0A>` a byte.
fn with_blanks(name: &str) -> Vec<u8> {
    let byte = name.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
    let byte = byte.filter(|digits| digits.len() == 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    match byte {
        Some(byte) => vec![byte],
        None => name.replace('\u{2581}', " ").into_bytes(),
    }
}

/// The byte of each character of a byte-level token. Printable Latin-1 characters are their own bytes, and the other
/// 68 bytes, in order, are the characters from U+0100 on.
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
