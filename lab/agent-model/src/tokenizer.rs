//! Turns as tokens, and the training of the tokenizer.
//!
//! The tokenizer is a byte-level BPE, so that any text has tokens. Numbers are split into pieces of two digits and element
//! refs into `f3` and `e12`, so that a number that is repeated always has the same tokens.

use std::path::Path;

use tokenizers::models::bpe::{BPE, BpeTrainerBuilder};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, DecoderWrapper, SplitDelimiterBehavior, Tokenizer};
use tokenizers::{Model as _, models::TrainerWrapper};

use crate::dialogue::Example;
use crate::turn::Situation;

/// The token that ends an answer; it also pads batches.
pub const END: u32 = 0;
/// The token before the task.
pub const TASK: u32 = 1;
/// The token before the steps so far.
pub const DONE: u32 = 2;
/// The token before the page.
pub const PAGE: u32 = 3;
/// The token before the answer.
pub const AGENT: u32 = 4;

/// The special tokens, by their numbers.
const SPECIAL_TOKENS: [&str; 5] = ["<|end|>", "<|task|>", "<|done|>", "<|page|>", "<|agent|>"];

/// The longest turn with its answer, in tokens.
pub const WINDOW: usize = 768;

/// The longest answer, in tokens.
pub const LONGEST_ANSWER: usize = 288;

/// Size of the vocabulary.
pub const VOCABULARY: usize = 4096;

/// The pieces of a text before pairs are merged: parts of element refs, words with the space before them, two digits,
/// punctuation.
const PIECES: &str = r#"f\d+(?=e\d)|e\d+(?=[\]"])| ?\p{L}+|\d{1,2}| ?[^\s\p{L}\d]+|\s"#;

/// Why a tokenizer cannot be trained, loaded or used.
#[derive(Debug, thiserror::Error)]
#[error("the tokenizer failed: {0}")]
pub struct TokenizerError(String);

impl From<tokenizers::Error> for TokenizerError {
    fn from(error: tokenizers::Error) -> TokenizerError {
        TokenizerError(error.to_string())
    }
}

/// A turn as tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnTokens {
    /// The numbers of the tokens.
    pub ids: Vec<u32>,
    /// The index of the answer's first token.
    pub answer: usize,
}

/// A tokenizer of turns.
pub struct TurnTokenizer {
    tokenizer: Tokenizer,
    /// The bytes of each token; none for a special token.
    bytes: Vec<Vec<u8>>,
}

impl TurnTokenizer {
    /// Trains a tokenizer of [`VOCABULARY`] tokens from texts.
    ///
    /// # Errors
    /// When the trainer fails.
    pub fn learn(texts: impl Iterator<Item = String> + Send) -> Result<TurnTokenizer, TokenizerError> {
        let special = SPECIAL_TOKENS.map(|token| AddedToken::from(token, true)).to_vec();
        let trainer = BpeTrainerBuilder::new()
            .vocab_size(VOCABULARY)
            .show_progress(false)
            .special_tokens(special)
            .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
            .build();
        let mut tokenizer = Tokenizer::new(BPE::default());
        let split =
            Split::new(SplitPattern::Regex(PIECES.to_owned()), SplitDelimiterBehavior::Isolated, false)?;
        let bytes = ByteLevel::new(false, false, false);
        tokenizer.with_pre_tokenizer(Some(Sequence::new(vec![
            PreTokenizerWrapper::Split(split),
            PreTokenizerWrapper::ByteLevel(bytes),
        ])));
        tokenizer.with_decoder(Some(DecoderWrapper::ByteLevel(bytes)));
        let mut trainer = TrainerWrapper::BpeTrainer(trainer);
        tokenizer.train(&mut trainer, texts)?;
        TurnTokenizer::of(tokenizer)
    }

    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn load(file: &Path) -> Result<TurnTokenizer, TokenizerError> {
        TurnTokenizer::of(Tokenizer::from_file(file)?)
    }

    fn of(tokenizer: Tokenizer) -> Result<TurnTokenizer, TokenizerError> {
        let json = tokenizer.to_string(false)?;
        let read =
            language_models::transformer::Tokenizer::from_json(json.as_bytes(), Path::new("tokenizer.json"))
                .map_err(|error| TokenizerError(error.to_string()))?;
        Ok(TurnTokenizer { tokenizer, bytes: read.token_bytes().to_vec() })
    }

    /// Writes a `tokenizer.json`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, file: &Path) -> Result<(), TokenizerError> {
        Ok(self.tokenizer.save(file, false)?)
    }

    /// Size of the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.tokenizer.get_model().get_vocab_size()
    }

    /// The bytes of a token; none for a special token.
    pub fn bytes(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], Vec::as_slice)
    }

    /// The bytes of all tokens, in the order of their numbers.
    pub fn token_bytes(&self) -> &[Vec<u8>] {
        &self.bytes
    }

    /// The tokens of the model's input, up to the token before the answer. A page that is too long is truncated.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn situation(&self, situation: &Situation) -> Result<Vec<u32>, TokenizerError> {
        let [task, done, page] = situation.parts();
        let mut ids = vec![TASK];
        ids.extend(self.ids(&task)?);
        ids.push(DONE);
        ids.extend(self.ids(&done)?);
        ids.push(PAGE);
        ids.extend(self.ids(&page)?);
        ids.truncate(WINDOW - LONGEST_ANSWER - 1);
        ids.push(AGENT);
        Ok(ids)
    }

    /// The tokens of a turn with its answer.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn example(&self, example: &Example) -> Result<TurnTokens, TokenizerError> {
        self.turn(&example.situation, &example.answer)
    }

    /// The tokens of a situation and an answer to it, with the end token.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn turn(&self, situation: &Situation, text: &str) -> Result<TurnTokens, TokenizerError> {
        let mut ids = self.situation(situation)?;
        let answer = ids.len();
        ids.extend(self.ids(text)?);
        ids.truncate(WINDOW - 1);
        ids.push(END);
        Ok(TurnTokens { ids, answer })
    }

    /// The text of an answer's tokens.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn text(&self, ids: &[u32]) -> Result<String, TokenizerError> {
        Ok(self.tokenizer.decode(ids, true)?)
    }

    /// The tokens of a text alone.
    pub(crate) fn ids(&self, text: &str) -> Result<Vec<u32>, TokenizerError> {
        Ok(self.tokenizer.encode(text, false)?.get_ids().to_vec())
    }
}
