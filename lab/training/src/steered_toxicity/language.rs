//! The texts that a language model learns from, tweets and open corpora, and the language model of n-grams.

use std::path::Path;

use hmm_control::Token;
use language_models::ngram::{NgramModel, Topic, TopicModel};
use serde_json::Value;

use super::SteeringError;
use super::judges::Texts;
use crate::corpora::toxicity::{self, joined};
use crate::corpora::{json, text};

/// The longest n-gram, in tokens.
const ORDER: usize = 4;

/// One open text in so many is held out.
const HELD_OUT: usize = 20;

/// The prior share of the tweets, where each other topic has 1. With 1 for all, a third of the continuations of the trial
/// were violations by the second judge and none by the first, which misses most of them.
const TWEETS: f64 = 8.0;

/// The texts of a topic that a language model learns from.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicTexts {
    /// The name of the topic.
    pub name: &'static str,
    /// The share of the topic, relative to those of the others.
    pub share: f64,
    /// The texts.
    pub texts: Vec<String>,
}

/// The texts that a language model of this experiment learns from, and texts that it must not see.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageTexts {
    /// The topics: tweets, films, speeches, stories and dialogues.
    pub topics: Vec<TopicTexts>,
    /// Open texts that are held out; no tweets are among them.
    pub held_out: Vec<String>,
}

impl LanguageTexts {
    /// Reads them from the folder of the collections.
    ///
    /// # Errors
    /// When a collection is missing or cannot be read.
    pub fn read(data: &Path) -> Result<LanguageTexts, SteeringError> {
        LanguageTexts::with_tweets(data, Texts::new(toxicity::read(data)?.documents).tweets)
    }

    pub(super) fn with_tweets(data: &Path, tweets: Vec<String>) -> Result<LanguageTexts, SteeringError> {
        let mut topics = vec![TopicTexts { name: "tweets", share: TWEETS, texts: tweets }];
        let mut held_out = Vec::new();
        let speeches = ["lm-nltk-public-domain/state_union.txt", "lm-nltk-public-domain/inaugural.txt"];
        let stories = ["lm-sherlock/sherlock.txt", "lm-tinyshakespeare/input.txt"];
        for (name, all) in [
            ("films", films(data)?),
            ("speeches", paragraphs(data, &speeches)?),
            ("stories", paragraphs(data, &stories)?),
            ("dialogues", dialogues(data)?),
        ] {
            let mut texts = Vec::new();
            for (number, text) in all.into_iter().enumerate() {
                if number % HELD_OUT == HELD_OUT - 1 { held_out.push(text) } else { texts.push(text) }
            }
            topics.push(TopicTexts { name, share: 1.0, texts });
        }
        Ok(LanguageTexts { topics, held_out })
    }

    /// The tokens of each topic.
    pub(super) fn sizes(&self, encode: &dyn Fn(&str) -> Vec<Token>) -> Vec<(String, usize)> {
        let tokens =
            |topic: &TopicTexts| topic.texts.iter().map(|text| encode(&format!(" {text}")).len()).sum();
        self.topics.iter().map(|topic| (topic.name.to_owned(), tokens(topic))).collect()
    }
}

/// Trains the n-grams. They have no token that ends a text, so that every continuation has the same length and no method can
/// gain by stopping.
pub(super) fn train(
    texts: &LanguageTexts,
    vocabulary: usize,
    encode: &dyn Fn(&str) -> Vec<Token>,
) -> Result<TopicModel, SteeringError> {
    let mut topics = Vec::new();
    for TopicTexts { name, share, texts } in &texts.topics {
        let learned: Vec<Vec<Token>> = texts.iter().map(|text| encode(&format!(" {text}"))).collect();
        let model = NgramModel::train(vocabulary, ORDER, None, learned.iter().map(Vec::as_slice))?;
        topics.push(Topic { name: (*name).to_owned(), model, share: *share });
    }
    Ok(TopicModel::new(topics)?)
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
