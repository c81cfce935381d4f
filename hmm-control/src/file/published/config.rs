//! `config.json`, which lies beside a published model.

use super::super::FileError;
use crate::Token;
use serde_json::Value;

/// What it says beyond the sizes, which the tensors say too.
pub(super) struct Config {
    pub(super) end_token: Option<Token>,
}

impl Config {
    /// Reads the text and compares it with the model beside it. TRACE calls the states `hidden_size`, Ctrl-G
    /// `hidden_states`.
    pub(super) fn read(text: &str, states: usize, vocabulary: usize) -> Result<Config, FileError> {
        let wrong = |reason: String| FileError::Config { reason };
        let json: Value = serde_json::from_str(text)
            .map_err(|error| wrong(format!("no JSON (line {}, column {})", error.line(), error.column())))?;
        let number = |key: &str| match json.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_u64()
                .map(Some)
                .ok_or_else(|| wrong(format!("`{key}` is no whole number of at least 0"))),
        };
        for (key, found, what) in [
            ("hidden_size", states, "rows"),
            ("hidden_states", states, "rows"),
            ("vocab_size", vocabulary, "columns"),
        ] {
            if let Some(said) = number(key)?.filter(|said| usize::try_from(*said) != Ok(found)) {
                return Err(wrong(format!("`{key}` is {said}, but tensor `beta` has {found} {what}")));
            }
        }
        let end_token = match number("eos_token_id")? {
            None => None,
            Some(token) => Some(
                Token::try_from(token)
                    .ok()
                    .filter(|token| usize::try_from(*token).is_ok_and(|token| token < vocabulary))
                    .ok_or_else(|| {
                        wrong(format!("`eos_token_id` is {token}, but the model has {vocabulary} tokens"))
                    })?,
            ),
        };
        Ok(Config { end_token })
    }
}
