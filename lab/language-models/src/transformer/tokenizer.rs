//! Text to tokens and back, from a `tokenizer.json`.

use super::error::LoadError;
use super::files::read;
use hmm_control::Token;
use serde_json::Value;
use std::path::Path;

/// A tokenizer from a Hugging Face file: byte-level (GPT-2, Qwen2, Llama 3), or of pieces with byte fallback (Llama 2).
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    /// The bytes of each token.
    bytes: Vec<Vec<u8>>,
}

/// How a token's name spells its bytes.
#[derive(Clone, Copy)]
enum Spelling {
    /// A printable character for each byte, as in GPT-2.
    Bytes,
    /// A low line for each space, and `<0x0A>` for a byte that is not a piece.
    Pieces,
}

impl Tokenizer {
    /// Reads a `tokenizer.json`, or the one in a folder.
    ///
    /// # Errors
    /// When it is missing or not supported.
    pub fn load(path: &Path) -> Result<Tokenizer, LoadError> {
        let path = if path.is_dir() { path.join("tokenizer.json") } else { path.to_path_buf() };
        Tokenizer::from_json(&read(&path)?, &path)
    }

    /// Reads the text of a `tokenizer.json`. `path` is for messages.
    ///
    /// # Errors
    /// When it is not supported.
    pub fn from_json(text: &[u8], path: &Path) -> Result<Tokenizer, LoadError> {
        let fault = |what: String| LoadError::Tokenizer { path: path.to_path_buf(), what };
        let json: Value = serde_json::from_slice(text).map_err(|error| fault(error.to_string()))?;
        let spelling = spelling(json.get("decoder")).ok_or_else(|| {
            fault("its decoder is neither byte-level nor of pieces with bytes to fall back on".to_owned())
        })?;
        let inner = tokenizers::Tokenizer::from_bytes(text).map_err(|error| fault(error.to_string()))?;
        let added = inner.get_added_tokens_decoder();
        let count = inner.get_vocab(true).into_values().max().map_or(0, |most| most as usize + 1);
        let bytes = (0..count as Token).map(|token| match (added.get(&token), inner.id_to_token(token)) {
            (Some(added), _) if added.special => Vec::new(),
            (Some(added), _) => added.content.clone().into_bytes(),
            (None, Some(name)) => spelling.read(&name),
            (None, None) => Vec::new(),
        });
        let bytes = bytes.collect();
        Ok(Tokenizer { inner, bytes })
    }

    /// Size of the vocabulary. A model may have more, to round its tables up.
    pub fn vocabulary(&self) -> usize {
        self.bytes.len()
    }

    /// The tokens of a text, without those that begin or end one. Special tokens that the text spells out are encoded
    /// as such: the caller has to remove them from untrusted text before.
    ///
    /// # Errors
    /// The tokenizer's error, if it has no token for an unknown piece.
    pub fn encode(&self, text: &str) -> Result<Vec<Token>, tokenizers::Error> {
        Ok(self.inner.encode_fast(text, false)?.get_ids().to_vec())
    }

    /// The text of tokens. Bytes that are not UTF-8 become replacement characters; special tokens are left out.
    pub fn decode(&self, tokens: &[Token]) -> String {
        let mut bytes = Vec::new();
        tokens.iter().for_each(|token| self.read_token(*token, &mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Appends the bytes of a token (`read_token` of [`hmm_control::Decoding`]): none for a special one.
    pub fn read_token(&self, token: Token, bytes: &mut Vec<u8>) {
        bytes.extend(self.bytes.get(token as usize).into_iter().flatten());
    }

    /// The bytes of each token, in the order of their numbers (for the masks of `sirl`).
    pub fn token_bytes(&self) -> &[Vec<u8>] {
        &self.bytes
    }

    /// The number of a token by its name, such as `<|endoftext|>`.
    pub fn token(&self, name: &str) -> Option<Token> {
        self.inner.token_to_id(name)
    }
}

fn spelling(decoder: Option<&Value>) -> Option<Spelling> {
    let parts = decoder?.get("decoders").and_then(Value::as_array);
    let parts = parts.map_or_else(|| decoder.into_iter().collect(), |parts| parts.iter().collect::<Vec<_>>());
    let has = |kind: &str| parts.iter().any(|part| part.get("type").and_then(Value::as_str) == Some(kind));
    match (has("ByteLevel"), has("ByteFallback") || has("Metaspace")) {
        (true, _) => Some(Spelling::Bytes),
        (false, true) => Some(Spelling::Pieces),
        (false, false) => None,
    }
}

impl Spelling {
    fn read(self, name: &str) -> Vec<u8> {
        match self {
            Spelling::Bytes => {
                // A name with other characters was added literally.
                let bytes: Option<Vec<u8>> = name.chars().map(byte_of).collect();
                bytes.unwrap_or_else(|| name.as_bytes().to_vec())
            }
            Spelling::Pieces => {
                let hex = name.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
                let byte = hex.filter(|hex| hex.len() == 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
                byte.map_or_else(|| name.replace('\u{2581}', " ").into_bytes(), |byte| vec![byte])
            }
        }
    }
}

/// The byte of a character in a byte-level vocabulary: a printable byte is its own character, and the others are the
/// characters from 256 on, in order.
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    match u8::try_from(code) {
        Ok(byte) => printable(byte).then_some(byte),
        Err(_) => (0..=u8::MAX).filter(|byte| !printable(*byte)).nth(code.checked_sub(256)? as usize),
    }
}
