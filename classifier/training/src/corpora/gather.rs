//! Reading those collections that a folder has.

use std::collections::BTreeSet;
use std::path::Path;

use super::read::{CorpusError, text};
use crate::document::{CorpusPart, Document, hash};

/// Why a collection cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The folder has none of the collections.
    #[error("{folder} has none of the collections {wanted}; see PROVENANCE.md of the data")]
    Absent {
        /// The folder that was named.
        folder: String,
        /// What was looked for.
        wanted: String,
    },
    /// A file of one cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
}

/// Documents of several sources.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    /// The documents, source after source.
    pub documents: Vec<Document>,
    /// The collections that were looked for and are not there.
    pub absent: Vec<String>,
}

/// What reads the files of one collection, from its folder.
pub(super) type Reader = fn(&Path) -> Result<Vec<Document>, SourceError>;

/// Reads those collections that are there.
pub(super) fn gather(folder: &Path, readers: &[(&str, Reader)]) -> Result<Corpus, SourceError> {
    let mut corpus = Corpus::default();
    for (name, read) in readers {
        let place = folder.join(name);
        if place.is_dir() {
            corpus.documents.extend(read(&place)?);
        } else {
            corpus.absent.push((*name).to_owned());
        }
    }
    if corpus.absent.len() == readers.len() {
        let wanted = corpus.absent.join(", ");
        return Err(SourceError::Absent { folder: folder.display().to_string(), wanted });
    }
    Ok(corpus)
}

/// A text whose part follows from a group: texts of one template or one goal have the same.
pub(super) fn document(source: &str, group: &str, text: impl Into<String>, harmful: bool) -> Document {
    let part = CorpusPart::of(group);
    if harmful { Document::harmful(source, part, text) } else { Document::harmless(source, part, text) }
}

/// A text that is a group of its own.
pub(super) fn single(source: &str, text: impl Into<String>, harmful: bool) -> Document {
    let text = text.into();
    document(source, &text.clone(), text, harmful)
}

/// At most so many documents, chosen by their hashes; their order stays.
pub(super) fn sample(documents: Vec<Document>, most: usize) -> Vec<Document> {
    let mut hashes: Vec<u64> = documents.iter().map(|one| hash(&one.text)).collect();
    hashes.sort_unstable();
    match hashes.get(most) {
        Some(&beyond) => documents.into_iter().filter(|one| hash(&one.text) < beyond).collect(),
        None => documents,
    }
}

/// Each text once; those that say nothing not at all.
pub(super) fn distinct(documents: impl Iterator<Item = Document>) -> Vec<Document> {
    let mut seen = BTreeSet::new();
    documents.filter(|one| !one.text.trim().is_empty() && seen.insert(one.text.clone())).collect()
}

/// The lines of a file that say something.
pub(super) fn lines_of(folder: &Path, name: &str) -> Result<Vec<String>, CorpusError> {
    let words = text(folder, name)?;
    Ok(words.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// The names of the files of a folder with one ending, in order.
pub(super) fn names(folder: &Path, ending: &str) -> Result<Vec<String>, CorpusError> {
    let fault = |source| CorpusError::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let name = entry.map_err(fault)?.file_name().to_string_lossy().into_owned();
        if name.ends_with(ending) {
            found.push(name);
        }
    }
    found.sort();
    Ok(found)
}
