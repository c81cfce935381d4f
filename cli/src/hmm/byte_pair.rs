//! Published byte-pair vocabularies: text to tokens and back.

use hmm_control::Token;
use tiktoken_rs::CoreBPE;

/// A published byte-pair vocabulary that is built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// GPT-2's: 50,257 tokens.
    Gpt2,
    /// That of OpenAI's models of 2024: 200,019 tokens.
    O200k,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Encoding; 2] = [Encoding::Gpt2, Encoding::O200k];

    /// Its name: `gpt2`, `o200k`.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Gpt2 => "gpt2",
            Encoding::O200k => "o200k",
        }
    }

    /// Tokens, the one that ends a text included.
    pub const fn vocabulary(self) -> usize {
        match self {
            Encoding::Gpt2 => 50_257,
            Encoding::O200k => 200_019,
        }
    }

    /// The token that ends a text.
    pub const fn end(self) -> Token {
        match self {
            Encoding::Gpt2 => 50_256,
            Encoding::O200k => 199_999,
        }
    }
}

/// Turns text into tokens and tokens into text.
///
/// ```
/// use portcullis_cli::hmm::byte_pair::{Encoding, Tokenizer};
///
/// let tokenizer = Tokenizer::new(Encoding::Gpt2);
/// let tokens = tokenizer.encode("Hello world");
/// assert_eq!(tokens, [15496, 995]);
/// assert_eq!(tokenizer.decode(&tokens), "Hello world");
/// ```
#[derive(Clone, Copy)]
pub struct Tokenizer {
    encoding: Encoding,
    /// Built once per program.
    table: &'static CoreBPE,
}

impl Tokenizer {
    /// The tokenizer of an encoding. The first call for each takes some tenths of a second.
    pub fn new(encoding: Encoding) -> Tokenizer {
        let table = match encoding {
            Encoding::Gpt2 => tiktoken_rs::r50k_base_singleton(),
            Encoding::O200k => tiktoken_rs::o200k_base_singleton(),
        };
        Tokenizer { encoding, table }
    }

    /// The encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The tokens of a text. A special token that the text spells out is encoded as its letters.
    pub fn encode(&self, text: &str) -> Vec<Token> {
        self.table.encode_ordinary(text)
    }

    /// The text of tokens. A replacement character marks a token that ends within a character or is outside the
    /// vocabulary.
    pub fn decode(&self, tokens: &[Token]) -> String {
        let mut bytes = Vec::new();
        for token in tokens {
            match self.table.decode_bytes(&[*token]) {
                Ok(part) => bytes.extend(part),
                Err(_) => bytes.extend(char::REPLACEMENT_CHARACTER.to_string().as_bytes()),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Encoding, Tokenizer};

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
}
