//! The ways in which a file of a collection is made from a file of its source.

use std::collections::HashSet;
use std::io::{Cursor, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

/// How a file of a collection is made from the file in its source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Extract {
    /// It is that file.
    #[default]
    Copy,
    /// It is one member of that archive.
    ZipMember(String),
    /// It is all `.txt` members of that archive in the order of their names, with an empty line between two.
    ZipTexts,
    /// It is the sampled lines of that compressed file.
    GzipLines {
        /// The share of lines that are sampled.
        percent: u8,
    },
    /// Each line of that file is a label, a tab and a text. It has the sampled texts, each as a JSON record on a line
    /// of its own, and of texts with the same letters and digits at most the first.
    LabelledLines {
        /// The share of texts that are sampled.
        percent: u8,
    },
    /// It has pages of that folder of the source, each as a JSON record on a line of its own; see [`html_pages`].
    HtmlPages {
        /// The most pages.
        most: usize,
        /// The names of the only files that count, by their path in the folder; without names all count.
        #[serde(default)]
        only: Vec<String>,
    },
}

/// Why a file could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// The archive cannot be read.
    #[error("the archive cannot be read: {0}")]
    Zip(#[from] zip::result::ZipError),
    /// Compressed data cannot be read.
    #[error("the data cannot be unpacked: {0}")]
    Read(#[from] std::io::Error),
    /// A text is not JSON.
    #[error("a text cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Extract {
    /// The file made from the bytes of the one in the source.
    ///
    /// # Errors
    /// When those bytes are not the archive or the compressed file that they should be.
    pub fn apply(&self, raw: Vec<u8>) -> Result<Vec<u8>, ExtractError> {
        match self {
            Extract::Copy => Ok(raw),
            Extract::ZipMember(name) => member(&mut ZipArchive::new(Cursor::new(raw))?, name),
            Extract::ZipTexts => {
                let mut archive = ZipArchive::new(Cursor::new(raw))?;
                let mut names: Vec<String> = archive
                    .file_names()
                    .map(|name| name.map(std::borrow::Cow::into_owned))
                    .collect::<Result<_, _>>()?;
                names.retain(|name| name.ends_with(".txt"));
                names.sort();
                let texts: Result<Vec<Vec<u8>>, ExtractError> =
                    names.iter().map(|name| member(&mut archive, name)).collect();
                Ok(texts?.join(&b"\n\n"[..]))
            }
            Extract::GzipLines { percent } => {
                let mut text = Vec::new();
                GzDecoder::new(raw.as_slice()).read_to_end(&mut text)?;
                let lines = text.split_inclusive(|byte| *byte == b'\n');
                Ok(lines
                    .filter(|line| is_sampled(line.strip_suffix(b"\n").unwrap_or(line), *percent))
                    .flatten()
                    .copied()
                    .collect())
            }
            Extract::LabelledLines { percent } => labelled(&String::from_utf8_lossy(&raw), *percent),
            // A folder has no bytes of its own: see `html_pages`.
            Extract::HtmlPages { .. } => Ok(raw),
        }
    }
}

/// The sizes in bytes that a page may have: smaller ones only lead to another, and larger ones would outweigh the rest.
const PAGE_BYTES: std::ops::RangeInclusive<u64> = 600..=300_000;

/// Returns pages of a folder and its subfolders as JSON records `{path, html}`, one a line: those files with the
/// endings `.html`, `.htm` and `.xhtml` whose path has the smallest SHA-256, and of equal files the first. Links are
/// not followed.
///
/// # Errors
/// When the folder or a file cannot be read.
pub fn html_pages(folder: &Path, most: usize, only: &[String]) -> Result<Vec<u8>, ExtractError> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let page = path
                .extension()
                .is_some_and(|ending| ["html", "htm", "xhtml"].iter().any(|one| ending == *one));
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && page && PAGE_BYTES.contains(&entry.metadata()?.len()) {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                if only.is_empty() || only.contains(&name) {
                    found.push((Sha256::digest(name.as_bytes()).to_vec(), name));
                }
            }
        }
    }
    found.sort();
    let (mut seen, mut records) = (HashSet::new(), String::new());
    for (_, name) in found {
        // A page in another encoding than UTF-8 would be read wrongly.
        let Ok(html) = String::from_utf8(std::fs::read(folder.join(&name))?) else { continue };
        if seen.len() < most && seen.insert(Sha256::digest(html.as_bytes()).to_vec()) {
            let (name, html) = (serde_json::to_string(&name)?, serde_json::to_string(&html)?);
            records.push_str(&format!("{{\"path\": {name}, \"html\": {html}}}\n"));
        }
    }
    Ok(records.into_bytes())
}

fn member(archive: &mut ZipArchive<Cursor<Vec<u8>>>, name: &str) -> Result<Vec<u8>, ExtractError> {
    let mut bytes = Vec::new();
    archive.by_name(name)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn labelled(text: &str, percent: u8) -> Result<Vec<u8>, ExtractError> {
    let mut seen = HashSet::new();
    let mut records = String::new();
    for line in text.split('\n') {
        let Some((label, text)) = line.trim_end_matches('\r').split_once('\t') else { continue };
        let skeleton: String =
            text.to_lowercase().chars().filter(|one| one.is_alphanumeric() || *one == '_').collect();
        if seen.insert(skeleton) && is_sampled(text.as_bytes(), percent) {
            let (label, text) = (serde_json::to_string(label)?, serde_json::to_string(text)?);
            records.push_str(&format!("{{\"label\": {label}, \"text\": {text}}}\n"));
        }
    }
    Ok(records.into_bytes())
}

/// Returns whether a text is in a sample of this many in a hundred: whether its SHA-256, as a number, is below it
/// modulo 100.
fn is_sampled(text: &[u8], percent: u8) -> bool {
    let rest = Sha256::digest(text).iter().fold(0_u32, |rest, byte| (rest * 256 + u32::from(*byte)) % 100);
    rest < u32::from(percent)
}
