//! Text of ordinary pages and ordinary talk: harmless, and not about harm.

use std::path::Path;

use serde_json::Value;

use super::gather::{Corpus, Reader, SourceError, distinct, gather, lines_of, names, sample, single};
use super::read::json;
use crate::document::Document;

/// The largest number of documents of a source.
const MOST: usize = 4000;

/// The names of the sources.
pub const SOURCES: [&str; 3] = ["reviews", "shops", "talk"];

const READERS: [(&str, Reader); 5] = [
    ("benign-pros-cons", reviews),
    ("benign-product-reviews-1", annotated_reviews),
    ("benign-dummyjson", shop),
    ("benign-webshop", wishes),
    ("lm-taskmaster4-reward", talk),
];

/// Reads the collections that a folder contains; all may be absent.
///
/// # Errors
/// When a file cannot be read.
pub fn read(folder: &Path) -> Result<Corpus, SourceError> {
    match gather(folder, &READERS) {
        Err(SourceError::Absent { .. }) => {
            let absent = READERS.iter().map(|(name, _)| (*name).to_owned()).collect();
            Ok(Corpus { absent, ..Corpus::default() })
        }
        other => other,
    }
}

fn some(source: &str, texts: impl Iterator<Item = String>) -> Vec<Document> {
    sample(distinct(texts.map(|text| single(source, text, false))), MOST)
}

fn reviews(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let mut lines = lines_of(folder, "IntegratedPros.txt")?;
    lines.extend(lines_of(folder, "IntegratedCons.txt")?);
    // <Pros>text</Pros>
    let inside = |line: String| {
        let text = line.split_once('>')?.1;
        Some(text.rsplit_once("</").map_or(text, |(text, _)| text).replace("&amp;", "&"))
    };
    Ok(some("reviews", lines.into_iter().filter_map(inside)))
}

fn annotated_reviews(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let mut texts = Vec::new();
    for file in names(folder, ".txt")? {
        // feature[+2]##sentence
        let sentences = lines_of(folder, &file)?.into_iter();
        texts.extend(
            sentences.filter_map(|line| line.split_once("##").map(|(_, text)| text.trim().to_owned())),
        );
    }
    Ok(some("reviews", texts.into_iter()))
}

fn shop(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let mut texts = Vec::new();
    for (file, list, field) in [
        ("products.json", "", "description"),
        ("posts.json", "", "body"),
        ("comments.json", "", "body"),
        ("products.json", "", "returnPolicy"),
        ("products.json", "", "shippingInformation"),
        ("products.json", "reviews", "comment"),
        ("recipes.json", "", "instructions"),
    ] {
        let value = json(folder, file)?;
        for entry in value.as_array().into_iter().flatten() {
            let inner = entry.get(list).and_then(Value::as_array);
            let entries = inner.map_or_else(|| vec![entry], |inner| inner.iter().collect());
            for entry in entries {
                match entry.get(field) {
                    Some(Value::String(text)) => texts.push(text.clone()),
                    Some(Value::Array(lines)) => {
                        texts.extend(lines.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(some("shops", texts.into_iter()))
}

fn wishes(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let value = json(folder, "human_goals.json")?;
    let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    Ok(some("shops", texts.map(str::to_owned)))
}

fn talk(folder: &Path) -> Result<Vec<Document>, SourceError> {
    let mut texts = Vec::new();
    for file in names(folder, ".json")?.iter().take(2) {
        let value = json(folder, file)?;
        let entries = value.as_array().into_iter().flatten();
        for context in entries.filter_map(|entry| entry.get("context").and_then(Value::as_str)) {
            // The turns are JSON within JSON; one that is cut off is skipped.
            let turns: Vec<Value> = serde_json::from_str(context).unwrap_or_default();
            texts.extend(turns.iter().filter_map(|turn| turn.get("text")?.as_str()).map(str::to_owned));
        }
    }
    Ok(some("talk", texts.into_iter()))
}
