//! Reads the collections that a folder contains.

use std::collections::BTreeSet;
use std::path::Path;

use super::honest::{self, HonestPage};
use super::read::{CorpusError, text};
use crate::document::{CorpusPart, Document, hash};

/// The error of collections that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The folder has none of the collections.
    #[error(
        "{folder} has none of the collections {wanted}: make the folder with `assemble` (see collections.toml)"
    )]
    Absent {
        /// The folder.
        folder: String,
        /// The collections that are read.
        wanted: String,
    },
    /// A file of a collection cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
}

/// The documents of several sources.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    /// The documents, source after source.
    pub documents: Vec<Document>,
    /// The collections that the folder lacks.
    pub absent: Vec<String>,
    /// The honest pages, on which thresholds by page are chosen. The running text of those that models learn from is
    /// among the documents.
    pub pages: Vec<HonestPage>,
}

impl Corpus {
    /// Adds the honest pages of a folder.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn with_pages(mut self, folder: &Path) -> Result<Corpus, SourceError> {
        self.pages = honest::pages(folder)?;
        if self.pages.is_empty() {
            self.absent.push("honest-*".to_owned());
        }
        self.documents.extend(honest::documents(&self.pages));
        Ok(self)
    }
}

/// A reader of the files of one collection, from its folder.
pub(super) type Reader = fn(&Path) -> Result<Vec<Document>, SourceError>;

/// Reads the collections that the folder contains.
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

/// Returns a text whose part follows from a group: texts of one template or one goal share a part.
pub(super) fn document(source: &str, group: &str, text: impl Into<String>, harmful: bool) -> Document {
    let part = CorpusPart::of(group);
    if harmful { Document::harmful(source, part, text) } else { Document::harmless(source, part, text) }
}

/// Returns a text that is a group of its own.
pub(super) fn single(source: &str, text: impl Into<String>, harmful: bool) -> Document {
    let text = text.into();
    document(source, &text.clone(), text, harmful)
}

/// Returns at most `most` documents, chosen by their hashes, in their order.
pub(super) fn sample(documents: Vec<Document>, most: usize) -> Vec<Document> {
    let mut hashes: Vec<u64> = documents.iter().map(|one| hash(&one.text)).collect();
    hashes.sort_unstable();
    match hashes.get(most) {
        Some(&beyond) => documents.into_iter().filter(|one| hash(&one.text) < beyond).collect(),
        None => documents,
    }
}

/// Returns each text once, without empty ones.
pub(super) fn distinct(documents: impl Iterator<Item = Document>) -> Vec<Document> {
    let mut seen = BTreeSet::new();
    documents.filter(|one| !one.text.trim().is_empty() && seen.insert(one.text.clone())).collect()
}

/// Returns the lines of a file that are not empty.
pub(super) fn lines_of(folder: &Path, name: &str) -> Result<Vec<String>, CorpusError> {
    let words = text(folder, name)?;
    Ok(words.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Returns the names of the files of a folder with one ending, in order.
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
