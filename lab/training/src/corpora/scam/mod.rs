//! Scam messages, which ask for money or secrets under a pretext, and ordinary ones.
//!
//! | source | harmful | harmless |
//! |---|---|---|
//! | `sms` | text messages that were labelled as spam | the others |
//! | `written` | messages of this project in English, German, French and Spanish, see [`written`] | honest notices of the same senders |
//! | `domains` | a short message with a domain of a deny list | the same with an ordinary one |
//! | `reviews`, `shops`, `talk` | none | text of ordinary pages, see [`super::ordinary`] |
//! | `own/…` | none | our own harmless lines and outlines of pages, see [`super::own`] |
//!
//! The spear-phishing collection has goals and victims but no messages; for each of its four goals there are messages
//! in `written`.

mod written;

use std::path::Path;

use serde_json::Value;

pub use self::written::written;
use super::benign::own;
use super::gather::{Corpus, Reader, SourceError, distinct, document, gather, lines_of, names, sample};
use super::ordinary;
use super::read::{json, json_lines};
use crate::document::{CorpusPart, Document};

/// The source of real text messages.
pub const MESSAGES: &str = "sms";

/// The number of domains of each sort; there are far more, and they add little.
const DOMAINS: usize = 2000;

/// The weight of a domain; a message has 1.
const DOMAIN_WEIGHT: f32 = 0.3;

/// The weight of a message; ordinary texts have 1, and there are more of them.
const MESSAGE_WEIGHT: f32 = 10.0;

/// The number of times that each of our own harmless lines is filled, and the split of these lines.
const OWN_LINES: usize = 6;
const OWN_SPLIT: u64 = 1;

const READERS: [(&str, Reader); 3] =
    [("scam-sms-spam", messages), ("scam-domains-polkadot", denied), ("benign-domains-opendns", allowed)];

/// Reads the sources that a folder contains; `written` is always included.
///
/// # Errors
/// When the folder has none of them, or a file of one cannot be read.
pub fn read(folder: &Path) -> Result<Corpus, SourceError> {
    let mut corpus = gather(folder, &READERS)?;
    corpus.documents.extend(written());
    let more = ordinary::read(folder)?;
    corpus.documents.extend(more.documents);
    corpus.absent.extend(more.absent);
    corpus.documents.extend(own(OWN_LINES, OWN_SPLIT));
    Ok(corpus)
}

fn messages(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let mut documents = Vec::new();
    for file in names(folder, ".jsonl")? {
        for line in json_lines(folder, &file)? {
            let field = |name: &str| line.get(name).and_then(Value::as_str);
            if let (Some(text), Some(label)) = (field("text"), field("label")) {
                let text = text.trim_matches(['"', ' ', '\t']);
                documents.push(
                    document(MESSAGES, &skeleton(text), text, label == "spam").weighing(MESSAGE_WEIGHT),
                );
            }
        }
    }
    Ok(distinct(documents.into_iter()))
}

/// Returns the first words without numbers. Spam comes in near copies that differ in a code or an amount, and a model
/// must not be judged on a copy of a training text.
fn skeleton(text: &str) -> String {
    let letters =
        |word: &str| word.chars().filter(|one| one.is_alphabetic()).collect::<String>().to_lowercase();
    let words = text.split_whitespace().map(letters).filter(|word| !word.is_empty());
    words.take(6).collect::<Vec<String>>().join(" ")
}

/// Returns a domain in a carrier. Both sorts have the same carriers, so that only the domain distinguishes them.
fn carried(domain: &str, harmful: bool) -> Document {
    const CARRIERS: [&str; 4] = ["{}", "see {}", "https://{}/", "more at {}"];
    let carrier = CARRIERS.get(domain.len() % CARRIERS.len()).unwrap_or(&"{}");
    let carried = document("domains", domain, carrier.replace("{}", domain), harmful).weighing(DOMAIN_WEIGHT);
    // Thresholds are for messages and pages, so domains do not affect them.
    let part = if carried.part == CorpusPart::Development { CorpusPart::Training } else { carried.part };
    Document { part, ..carried }
}

fn denied(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let value = json(folder, "all.json")?;
    let domains = value.get("deny").and_then(Value::as_array).into_iter().flatten();
    let documents = domains.filter_map(Value::as_str).map(|domain| carried(domain, true));
    Ok(sample(distinct(documents), DOMAINS))
}

fn allowed(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let lines = lines_of(folder, "opendns-random-domains.txt")?;
    Ok(sample(distinct(lines.iter().map(|domain| carried(domain, false))), DOMAINS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_copies_share_a_part() {
        let one = "WINNER! Claim your 900 prize code K7 now, call 0900";
        let other = "WINNER! Claim your 250 prize, code P31 now!! call 0901";
        assert_eq!(skeleton(one), "winner claim your prize code k");
        assert_eq!(skeleton(other), "winner claim your prize code p");
    }
}
