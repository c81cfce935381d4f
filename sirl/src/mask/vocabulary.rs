//! Vocabularies, the tokens of models.

/// An error in a vocabulary file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VocabularyError {
    /// A line of a tiktoken file is not a token in Base64, a blank and a number.
    #[error(
        "line {0} is not a token in Base64, a blank and its number; give the content of a .tiktoken file"
    )]
    Line(usize),
    /// The number of a token is too large.
    #[error("token {0} is far beyond the others; give numbers below {limit}", limit = Vocabulary::MAX_TOKENS)]
    NumberTooLarge(u64),
    /// Two tokens have the same number.
    #[error("two tokens have the number {0}; give each its own")]
    NumberTwice(u32),
    /// The text is not the JSON of a tokenizer, or a part of it is missing.
    #[error("not a tokenizer.json: {0}")]
    Json(String),
    /// The tokenizer writes bytes in an unknown way.
    #[error("the tokenizer is neither byte-level nor one with U+2581 for a blank; give its tokens as bytes")]
    UnknownBytes,
    /// There is no token of this name.
    #[error("no token is named `{0}`; name one of the tokenizer's added tokens")]
    UnknownToken(String),
}

/// The bytes of each token of a model, and the tokens that end an answer.
///
/// A mask never allows a token without bytes. Special tokens have none, since their names are no text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vocabulary {
    tokens: Vec<Vec<u8>>,
    ends: Vec<u32>,
}

impl Vocabulary {
    /// The highest number of tokens of a vocabulary.
    pub const MAX_TOKENS: u32 = 1 << 22;

    /// Makes the vocabulary in which token `n` has the bytes `tokens[n]`.
    ///
    /// ```
    /// let vocabulary = sirl::Vocabulary::from_tokens(vec![b"REQ".to_vec(), b".end".to_vec()]).with_end(2);
    /// assert_eq!((vocabulary.len(), vocabulary.token(1), vocabulary.token(2)), (3, &b".end"[..], &b""[..]));
    /// ```
    #[must_use]
    pub fn from_tokens(mut tokens: Vec<Vec<u8>>) -> Vocabulary {
        tokens.truncate(Vocabulary::MAX_TOKENS as usize);
        Vocabulary { tokens, ends: Vec::new() }
    }

    /// Reads a `.tiktoken` file: a line for each token, with its bytes in Base64, a blank, and its number. Such a file
    /// has no special tokens; name the end of an answer by [`Vocabulary::with_end`].
    ///
    /// # Errors
    /// A line has another form, or a number occurs twice.
    ///
    /// ```
    /// let vocabulary = sirl::Vocabulary::from_tiktoken("UkVR 0\nLmVuZA== 1\n")?;
    /// assert_eq!(vocabulary.token(1), b".end");
    /// # Ok::<(), sirl::VocabularyError>(())
    /// ```
    pub fn from_tiktoken(content: &str) -> Result<Vocabulary, VocabularyError> {
        let mut vocabulary = Vocabulary::default();
        for (at, line) in content.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let parts = line.split_once(' ').and_then(|(bytes, id)| Some((base64(bytes)?, id.parse().ok()?)));
            let (bytes, id) = parts.ok_or(VocabularyError::Line(at + 1))?;
            vocabulary.set(id, bytes)?;
        }
        Ok(vocabulary)
    }

    /// Sets the bytes of token `id`, which has none yet.
    pub(super) fn set(&mut self, id: u64, bytes: Vec<u8>) -> Result<(), VocabularyError> {
        let small = u32::try_from(id).ok().filter(|id| *id < Vocabulary::MAX_TOKENS);
        let id = small.ok_or(VocabularyError::NumberTooLarge(id))?;
        if self.tokens.len() <= id as usize {
            self.tokens.resize(id as usize + 1, Vec::new());
        }
        match self.tokens.get_mut(id as usize) {
            Some(token) if token.is_empty() => *token = bytes,
            _ => return Err(VocabularyError::NumberTwice(id)),
        }
        Ok(())
    }

    /// Makes token `id` one that ends an answer: a mask allows it only if a block is complete. Its bytes, if it has
    /// any, are dropped. A number from [`Vocabulary::MAX_TOKENS`] on changes nothing.
    #[must_use]
    pub fn with_end(mut self, id: u32) -> Vocabulary {
        self = self.without(id);
        if id < Vocabulary::MAX_TOKENS && !self.ends.contains(&id) {
            self.ends.push(id);
        }
        self
    }

    /// Excludes token `id` from every mask.
    #[must_use]
    pub fn without(mut self, id: u32) -> Vocabulary {
        if id < Vocabulary::MAX_TOKENS {
            if self.tokens.len() <= id as usize {
                self.tokens.resize(id as usize + 1, Vec::new());
            }
            if let Some(token) = self.tokens.get_mut(id as usize) {
                token.clear();
            }
        }
        self.ends.retain(|end| *end != id);
        self
    }

    /// The number of tokens, including those without bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Tells if there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The bytes of token `id`; empty for a special token and for an unknown number.
    #[must_use]
    pub fn token(&self, id: u32) -> &[u8] {
        self.tokens.get(id as usize).map_or(&[], Vec::as_slice)
    }

    /// The tokens that end an answer.
    #[must_use]
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> + Clone {
        self.tokens.iter().map(Vec::as_slice).zip(0..)
    }
}

/// Decodes Base64 with padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    (bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(base64(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(base64("+/+/").unwrap(), [0xfb, 0xff, 0xbf]);
        for text in ["Zg", "Zg=", "Z===", "Zh==", "Zm9=", "Zm 9", "Zm9v=", "====", "Zg==Zg=="] {
            assert_eq!(base64(text), None, "{text}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let line = |text| Vocabulary::from_tiktoken(text).unwrap_err();
        assert_eq!(line("UkVR 0\nUkVR\n"), VocabularyError::Line(2));
        assert_eq!(line("UkV 0"), VocabularyError::Line(1));
        assert_eq!(line("UkVR x"), VocabularyError::Line(1));
        assert_eq!(line("UkVR 0\nLmVuZA== 0"), VocabularyError::NumberTwice(0));
        assert_eq!(line("UkVR 4194304"), VocabularyError::NumberTooLarge(4_194_304));
    }
}
