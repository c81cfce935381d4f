//! The language model: n-grams over tweets and over open corpora.

use std::path::Path;

use hmm_control::Token;
use language_models::ngram::{NgramModel, Topic, TopicModel};
use serde_json::Value;

use super::SteeringError;
use crate::corpora::toxicity::joined;
use crate::corpora::{json, text};

/// The longest n-gram, in tokens.
const ORDER: usize = 4;

/// One open text in so many is held out.
const HELD_OUT: usize = 20;

/// The prior share of the tweets, where each other topic has 1. With 1 for all, a third of the continuations of the trial
/// were violations by the second judge and none by the first, which misses most of them.
const TWEETS: f64 = 8.0;

/// A language model with open texts that it did not learn from.
pub(super) struct Language {
    pub(super) model: TopicModel,
    pub(super) held_out: Vec<String>,
    /// The tokens learned from, by topic.
    pub(super) sizes: Vec<(String, usize)>,
}

/// Trains the language model. It has no token that ends a text, so that every continuation has the same length and no
/// method can gain by stopping.
pub(super) fn train(
    data: &Path,
    tweets: Vec<String>,
    vocabulary: usize,
    encode: &dyn Fn(&str) -> Vec<Token>,
) -> Result<Language, SteeringError> {
    let mut held_out = Vec::new();
    let (mut topics, mut sizes) = (Vec::new(), Vec::new());
    let open = [
        ("films", films(data)?),
        (
            "speeches",
            paragraphs(
                data,
                &["lm-nltk-public-domain/state_union.txt", "lm-nltk-public-domain/inaugural.txt"],
            )?,
        ),
        ("stories", paragraphs(data, &["lm-sherlock/sherlock.txt", "lm-tinyshakespeare/input.txt"])?),
        ("dialogues", dialogues(data)?),
    ];
    for (name, texts) in [("tweets", tweets)].into_iter().chain(open) {
        let mut learned: Vec<Vec<Token>> = Vec::new();
        for (number, text) in texts.into_iter().enumerate() {
            if name != "tweets" && number % HELD_OUT == HELD_OUT - 1 {
                held_out.push(text);
            } else {
                learned.push(encode(&format!(" {text}")));
            }
        }
        sizes.push((name.to_owned(), learned.iter().map(Vec::len).sum()));
        let model = NgramModel::train(vocabulary, ORDER, None, learned.iter().map(Vec::as_slice))?;
        let share = if name == "tweets" { TWEETS } else { 1.0 };
        topics.push(Topic { name: name.to_owned(), model, share });
    }
    Ok(Language { model: TopicModel::new(topics)?, held_out, sizes })
}

/// Reads sentences from plots and reviews of films.
fn films(data: &Path) -> Result<Vec<String>, SteeringError> {
    let mut sentences = Vec::new();
    for name in [
        "lm-nltk-subjectivity/plot.tok.gt9.5000",
        "lm-nltk-subjectivity/quote.tok.gt9.5000",
        "lm-nltk-sentence-polarity/rt-polarity.neg",
        "lm-nltk-sentence-polarity/rt-polarity.pos",
    ] {
        let words = text(data, name)?;
        sentences.extend(words.lines().map(|line| joined(&line.split_whitespace().collect::<Vec<_>>())));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    Ok(sentences)
}

/// Reads paragraphs, each as one line.
fn paragraphs(data: &Path, names: &[&str]) -> Result<Vec<String>, SteeringError> {
    let mut found = Vec::new();
    for name in names {
        let words = text(data, name)?.replace("\r\n", "\n");
        let lines = words.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
        found.extend(lines.filter(|line| !line.is_empty()));
    }
    Ok(found)
}

/// Reads what is said in dialogues of a file that the attribute was not fitted on.
fn dialogues(data: &Path) -> Result<Vec<String>, SteeringError> {
    let dialogues = json(data, "lm-taskmaster4/data_01.json")?;
    let said = dialogues
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|dialogue| dialogue.get("utterances")?.as_array())
        .flatten()
        .filter_map(|utterance| utterance.get("text").and_then(Value::as_str))
        .filter(|text| text.len() >= 20);
    Ok(said.map(str::to_owned).collect())
}
