//! Turns as tokens, and the tokenizer that is learnt from them.
//!
//! The tokenizer is a byte-level BPE: any text has tokens. Numbers are cut into pieces of two digits and handles into
//! `f3` and `e12`, so that what has to be repeated digit by digit always looks the same.

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

/// Ends an answer; also fills up batches.
pub const END: u32 = 0;
/// Stands before the task.
pub const TASK: u32 = 1;
/// Stands before what was done.
pub const DONE: u32 = 2;
/// Stands before the page.
pub const PAGE: u32 = 3;
/// Stands before the answer.
pub const AGENT: u32 = 4;

/// The marks, by their numbers.
const MARKS: [&str; 5] = ["<|end|>", "<|task|>", "<|done|>", "<|page|>", "<|agent|>"];

/// The most tokens of a turn, the answer included.
pub const WINDOW: usize = 768;

/// The most tokens of an answer.
pub const LONGEST_ANSWER: usize = 288;

/// How many tokens there are.
pub const VOCABULARY: usize = 4096;

/// What cuts a text before pairs are merged: numbers of handles, words with the space before them, two digits, signs.
const PIECES: &str = r#"f\d+(?=e\d)|e\d+(?=[\]"])| ?\p{L}+|\d{1,2}| ?[^\s\p{L}\d]+|\s"#;

/// Why there is no tokenizer, or no tokens.
#[derive(Debug, thiserror::Error)]
#[error("the tokenizer failed: {0}")]
pub struct WordsError(String);

impl From<tokenizers::Error> for WordsError {
    fn from(error: tokenizers::Error) -> WordsError {
        WordsError(error.to_string())
    }
}

/// A turn as tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// The numbers of the tokens.
    pub ids: Vec<u32>,
    /// Where the answer begins.
    pub answer: usize,
}

/// A tokenizer of turns.
pub struct Words {
    tokenizer: Tokenizer,
    /// What each token stands for; nothing for a mark.
    bytes: Vec<Vec<u8>>,
}

impl Words {
    /// Learns a tokenizer of [`VOCABULARY`] tokens from texts.
    ///
    /// # Errors
    /// What the tokenizer's trainer says.
    pub fn learn(texts: impl Iterator<Item = String> + Send) -> Result<Words, WordsError> {
        let marks = MARKS.map(|mark| AddedToken::from(mark, true)).to_vec();
        let trainer = BpeTrainerBuilder::new()
            .vocab_size(VOCABULARY)
            .show_progress(false)
            .special_tokens(marks)
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
        Words::of(tokenizer)
    }

    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn load(file: &Path) -> Result<Words, WordsError> {
        Words::of(Tokenizer::from_file(file)?)
    }

    fn of(tokenizer: Tokenizer) -> Result<Words, WordsError> {
        let json = tokenizer.to_string(false)?;
        let read =
            language_models::transformer::Tokenizer::from_json(json.as_bytes(), Path::new("tokenizer.json"))
                .map_err(|error| WordsError(error.to_string()))?;
        Ok(Words { tokenizer, bytes: read.token_bytes().to_vec() })
    }

    /// Writes a `tokenizer.json`.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn save(&self, file: &Path) -> Result<(), WordsError> {
        Ok(self.tokenizer.save(file, false)?)
    }

    /// How many tokens it knows.
    pub fn vocabulary(&self) -> usize {
        self.tokenizer.get_model().get_vocab_size()
    }

    /// The bytes that a token stands for: none for a mark.
    pub fn bytes(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], Vec::as_slice)
    }

    /// The bytes of all tokens, in the order of their numbers.
    pub fn token_bytes(&self) -> &[Vec<u8>] {
        &self.bytes
    }

    /// The tokens of what the model is told, up to the mark behind which it answers. Of a page that is too long, the
    /// end is left out.
    ///
    /// # Errors
    /// What the tokenizer says.
    pub fn situation(&self, situation: &Situation) -> Result<Vec<u32>, WordsError> {
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
    /// What the tokenizer says.
    pub fn example(&self, example: &Example) -> Result<Tokens, WordsError> {
        let mut ids = self.situation(&example.situation)?;
        let answer = ids.len();
        ids.extend(self.ids(&example.answer)?);
        ids.truncate(WINDOW - 1);
        ids.push(END);
        Ok(Tokens { ids, answer })
    }

    /// The text of an answer's tokens.
    ///
    /// # Errors
    /// What the tokenizer says.
    pub fn text(&self, ids: &[u32]) -> Result<String, WordsError> {
        Ok(self.tokenizer.decode(ids, true)?)
    }

    fn ids(&self, text: &str) -> Result<Vec<u32>, WordsError> {
        Ok(self.tokenizer.encode(text, false)?.get_ids().to_vec())
    }
}
