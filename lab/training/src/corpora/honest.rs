//! Honest pages: HTML documents of packages and saved forms of public sites (`pages.toml`).
//!
//! The part of a page follows from its source, which the manifest's names of the collections say: models learn from
//! pages of some sources, thresholds by page are chosen on those of others, and the rest are only measured.

use std::path::Path;

use super::html::{PageText, read_html};
use super::read::{CorpusError, field, json_lines};
use crate::{CorpusPart, Document};

/// The beginnings of the names of the collections, with their parts.
const PARTS: [(&str, CorpusPart); 3] = [
    ("honest-train-", CorpusPart::Training),
    ("honest-calibrate-", CorpusPart::Development),
    ("honest-judge-", CorpusPart::Test),
];
/// The least bytes of running text and names together; a page with less only leads to another.
const LEAST: usize = 120;

/// A page of an honest source.
#[derive(Debug, Clone)]
pub struct HonestPage {
    /// The source.
    pub source: String,
    /// Its part.
    pub part: CorpusPart,
    /// The file's path in the source.
    pub path: String,
    /// Its text.
    pub text: PageText,
}

/// Reads the honest pages of a folder, source by source in the order of their names; none if it has no such collection.
///
/// # Errors
/// When the folder or a file of it cannot be read.
pub fn pages(data: &Path) -> Result<Vec<HonestPage>, CorpusError> {
    let fault = |source| CorpusError::Read { path: data.to_owned(), source };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(data).map_err(fault)? {
        names.push(entry.map_err(fault)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let mut pages = Vec::new();
    for name in names {
        let Some((source, part)) =
            PARTS.iter().find_map(|(start, part)| Some((name.strip_prefix(start)?, *part)))
        else {
            continue;
        };
        for record in json_lines(data, &format!("{name}/pages.jsonl"))? {
            let text = read_html(field(&record, "html"));
            let names: usize = text.names.iter().map(String::len).sum();
            if text.running.len() + names >= LEAST {
                let (source, path) = (source.to_owned(), field(&record, "path").to_owned());
                pages.push(HonestPage { source, part, path, text });
            }
        }
    }
    Ok(pages)
}

/// Returns the running text of the pages that models learn from, as harmless documents.
pub fn documents(pages: &[HonestPage]) -> Vec<Document> {
    let learned = pages.iter().filter(|page| page.part == CorpusPart::Training);
    let document = |page: &HonestPage| {
        Document::harmless(&format!("honest/{}", page.source), page.part, page.text.running.clone())
    };
    learned.filter(|page| !page.text.running.trim().is_empty()).map(document).collect()
}
