//! The language model of a command.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hmm_control::{LanguageModel, Token};
use language_models::ngram::{NgramModel, Topic, TopicModel};
use portcullis_cli::hmm::byte_pair::{Encoding, Tokenizer};

use super::texts;
use crate::failure::Failure;

/// An n-gram language model, trained here or read from a file.
#[derive(clap::Args)]
pub struct Language {
    /// Texts to train an n-gram language model on: folders or files, each a topic of its own.
    #[arg(long, value_name = "FOLDER", num_args = 1..)]
    texts: Vec<PathBuf>,
    /// An n-gram language model that `hmm distil --save-lm` wrote, in place of the texts.
    #[arg(long, value_name = "FILE", conflicts_with = "texts")]
    lm: Option<PathBuf>,
    /// The tokenizer.
    #[arg(long, default_value = "gpt2")]
    pub tokenizer: TokenizerName,
    /// The longest n-gram, in tokens: 1 to 5.
    #[arg(long, default_value_t = 4, value_name = "N")]
    order: usize,
}

/// The built-in vocabularies.
#[derive(Clone, Copy, ValueEnum)]
pub enum TokenizerName {
    /// GPT-2's, of 50,257 tokens.
    Gpt2,
    /// That of OpenAI's models of 2024, of 200,019 tokens.
    O200k,
}

impl TokenizerName {
    pub fn encoding(self) -> Encoding {
        match self {
            TokenizerName::Gpt2 => Encoding::Gpt2,
            TokenizerName::O200k => Encoding::O200k,
        }
    }
}

/// A language model with its held-out documents.
pub struct Loaded {
    pub model: TopicModel,
    pub tokenizer: Tokenizer,
    /// Every twentieth document, each with its end token.
    pub held_out: Vec<Vec<Token>>,
}

/// One document in so many is held out from the training.
const HELD_OUT: usize = 20;

impl Language {
    pub fn is_given(&self) -> bool {
        self.lm.is_some() || !self.texts.is_empty()
    }

    /// Reads or trains it; `say` is called with the current step.
    pub fn load(&self, say: impl Fn(String)) -> Result<Loaded, Failure> {
        let encoding = self.tokenizer.encoding();
        if let Some(path) = &self.lm {
            say(format!("reading {}", path.display()));
            return read(path, encoding);
        }
        if self.texts.is_empty() {
            return Err(Failure::Input("name texts (--texts), or a language model (--lm)".to_owned()));
        }
        let tokenizer = Tokenizer::new(encoding);
        let (mut topics, mut held_out) = (Vec::new(), Vec::new());
        for path in &self.texts {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            say(format!("reading {name}"));
            let mut training = Vec::new();
            for (number, document) in texts::documents(path)?.iter().enumerate() {
                let mut tokens = tokenizer.encode(document);
                if number % HELD_OUT == HELD_OUT - 1 {
                    tokens.push(encoding.end());
                    held_out.push(tokens);
                } else {
                    training.push(tokens);
                }
            }
            say(format!("counting {name}"));
            let texts = training.iter().map(Vec::as_slice);
            let model = NgramModel::train(encoding.vocabulary(), self.order, Some(encoding.end()), texts);
            let bad = |error: language_models::ngram::NgramError| {
                Failure::Input(format!("{}: {error}", path.display()))
            };
            topics.push(Topic { name, model: model.map_err(bad)?, share: 1.0 });
        }
        let model = TopicModel::new(topics).map_err(|error| Failure::Input(error.to_string()))?;
        Ok(Loaded { model, tokenizer, held_out })
    }
}

fn read(path: &Path, encoding: Encoding) -> Result<Loaded, Failure> {
    let bad = |error: String| Failure::Input(format!("{}: {error}", path.display()));
    let model =
        TopicModel::from_bytes(&crate::files::read_bytes(path)?).map_err(|error| bad(error.to_string()))?;
    if model.vocabulary() != encoding.vocabulary() {
        let message = format!(
            "the language model has {} tokens, the tokenizer {} has {}; name another --tokenizer",
            model.vocabulary(),
            encoding.name(),
            encoding.vocabulary()
        );
        return Err(bad(message));
    }
    Ok(Loaded { model, tokenizer: Tokenizer::new(encoding), held_out: Vec::new() })
}
