//! `portcullis-lab hmm eval`.

mod measure;
mod report;

use std::path::PathBuf;

use hmm_control::{Attribute, LanguageModel, Lookahead};
use language_models::ngram::TopicModel;

use self::measure::{Measured, measure, perplexity};
use super::language::Language;
use super::rollouts;
use crate::failure::Failure;
use crate::progress::Progress;
use portcullis_cli::hmm::attribute::Wanted;
use portcullis_cli::hmm::model::{self, Model};

#[derive(clap::Args)]
pub struct Eval {
    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    language: Language,
    /// Texts of a language model, in place of one that can be queried: only the perplexity is measured.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["texts", "lm"])]
    rollouts: Option<PathBuf>,
    #[command(flatten)]
    wanted: Wanted,
    /// The topic that a text should not read like, if neither --weights nor --banned is given; the first by default.
    #[arg(long, value_name = "TOPIC")]
    unlike: Option<String>,
    /// The weight of the tokens of that topic.
    #[arg(long, value_name = "S", default_value_t = 0.25)]
    strength: f64,
    /// The number of texts for the perplexity.
    #[arg(long, value_name = "N", default_value_t = 500)]
    sequences: usize,
    /// The most tokens of a text.
    #[arg(long, value_name = "N", default_value_t = 32)]
    length: usize,
    /// The number of text beginnings for all other measurements.
    #[arg(long, value_name = "N", default_value_t = 300)]
    prefixes: usize,
    /// The number of continuations of each that the language model samples.
    #[arg(long, value_name = "N", default_value_t = 100)]
    continuations: usize,
    /// The look-ahead horizons in tokens, measured one after the other.
    #[arg(long, value_name = "K,...", value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16])]
    horizons: Vec<usize>,
    /// The share of the distribution that candidates may leave out.
    #[arg(long, value_name = "SHARE", default_value_t = 1e-3)]
    delta: f64,
    /// The random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print one JSON value instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Eval) -> Result<(), Failure> {
    let progress = Progress::new();
    let file = model::open(&arguments.model.model)?;
    let name = arguments.model.model.display().to_string();
    let measured = if let Some(path) = &arguments.rollouts {
        let sequences = rollouts::read(path)?;
        let texts: Vec<&[hmm_control::Token]> = sequences.iter().collect();
        Measured { drawn: Some(perplexity(None, &file.hmm, &texts)), ..Measured::default() }
    } else {
        if !arguments.language.is_given() {
            return Err(Failure::Input(
                "name texts (--texts), a language model (--lm) or --rollouts".to_owned(),
            ));
        }
        let loaded = arguments.language.load(|what| progress.say(what))?;
        let vocabulary = file.hmm.vocabulary();
        if loaded.model.vocabulary() != vocabulary {
            let message = format!(
                "{name} has {vocabulary} tokens, the language model {}; name another --tokenizer",
                loaded.model.vocabulary()
            );
            return Err(Failure::Input(message));
        }
        let attribute = match arguments.wanted.read(vocabulary, Some(loaded.tokenizer))? {
            Some(attribute) => attribute,
            None => unlike(arguments, &loaded.model)?,
        };
        let lookahead =
            Lookahead::new(file.hmm, attribute).map_err(|error| Failure::Input(error.to_string()))?;
        measure(arguments, &loaded, &lookahead, &progress)
    };
    progress.finish();
    if arguments.json {
        println!("{:#}", report::json(&name, arguments, &measured));
    } else {
        print!("{}", report::text(&name, arguments, &measured));
    }
    Ok(())
}

/// The attribute of not reading like one of the language model's topics.
fn unlike(arguments: &Eval, model: &TopicModel) -> Result<Attribute, Failure> {
    let names: Vec<&str> = model.topics().iter().map(|topic| topic.name.as_str()).collect();
    let number = match &arguments.unlike {
        Some(name) => names.iter().position(|known| known == name).ok_or_else(|| {
            Failure::Input(format!("there is no topic `{name}`; there are {}", names.join(", ")))
        })?,
        None => 0,
    };
    let weights = model.unlike(number, arguments.strength);
    if weights.is_empty() {
        let message = "one topic alone has none to differ from; name --weights or --banned".to_owned();
        return Err(Failure::Input(message));
    }
    Attribute::from_weights(model.vocabulary(), weights).map_err(|error| Failure::Input(error.to_string()))
}
