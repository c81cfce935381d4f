//! Assembles the folder of the collections that models are trained on, from clones of their sources.
//!
//! The collections are not part of the project. `collections.toml` names the source, the commit, the path, the licence
//! and the SHA-256 of each file; the command `assemble` calls [`Manifest::assemble`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use sha2::{Digest, Sha256};

mod extract;

pub use extract::{Extract, ExtractError, html_pages};

/// The sources and the collections, as `collections.toml` lists them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    sources: BTreeMap<String, Source>,
    collections: Vec<Collection>,
}

/// A repository, or a folder of files.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    url: String,
    /// The commit that files are read at; a source without one is a plain folder.
    commit: Option<String>,
    /// How a reader gets a source that is not cloned.
    note: Option<String>,
}

/// A folder of files from one source.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Collection {
    name: String,
    source: String,
    licence: String,
    files: Vec<File>,
}

/// A file of a collection.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    path: String,
    #[serde(default)]
    extract: Extract,
    sha256: String,
}

/// Why a manifest or a request to assemble it is refused.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The manifest is not the TOML that it should be.
    #[error("the manifest of collections is not valid")]
    Form(#[from] toml::de::Error),
    /// The manifest has no source or collection of this name.
    #[error("the manifest has no {what} `{name}`; it has {known}")]
    Unknown {
        /// `source` or `collection`.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
}

/// Why a file of a collection is not in the assembled folder, or is there in another form.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The caller named no folder for the source.
    #[error("is missing: name a clone of {url} with `--from {source_name}=FOLDER`{note}")]
    NoFolder {
        /// The source's name in the manifest.
        source_name: String,
        /// Its address.
        url: String,
        /// How to get it otherwise; empty, or a hint in brackets.
        note: String,
    },
    /// The clone lacks the commit.
    #[error("is missing: {folder} has no commit {commit}: run `git -C {folder} fetch origin {commit}`")]
    NoCommit {
        /// The clone.
        folder: PathBuf,
        /// The commit.
        commit: String,
    },
    /// The source has no such file.
    #[error("is missing: {folder} has no file `{path}`: {reason}")]
    NoFile {
        /// The clone or folder.
        folder: PathBuf,
        /// The path in it.
        path: String,
        /// The message of git or of the system.
        reason: String,
    },
    /// The file could not be made from the one in the source.
    #[error("is missing: it cannot be made from `{path}` of the source: {reason}")]
    Extract {
        /// The path in the source.
        path: String,
        /// Why.
        reason: ExtractError,
    },
    /// The file has other bytes.
    #[error("differs: its SHA-256 is {found}, and the manifest names {expected}")]
    Differs {
        /// The digest in the manifest.
        expected: String,
        /// The digest of the file.
        found: String,
    },
    /// The file could not be written.
    #[error("is missing: it cannot be written: {0}")]
    Write(std::io::Error),
}

/// The outcome of an assembly.
#[derive(Debug, Default)]
pub struct Assembly {
    /// The files that were there already, with the right bytes.
    pub kept: Vec<String>,
    /// The files that were written.
    pub written: Vec<String>,
    /// The files that are missing or differ, by collection and name, with the reason.
    pub problems: Vec<(String, Problem)>,
}

impl Manifest {
    /// The manifest of the collections that the shipped models are trained on.
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn shipped() -> Result<Manifest, ManifestError> {
        let mut manifest = Manifest::parse(include_str!("../../collections.toml"))?;
        let pages = Manifest::parse(include_str!("../../pages.toml"))?;
        manifest.sources.extend(pages.sources);
        manifest.collections.extend(pages.collections);
        Ok(manifest)
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// When the text is not a manifest, or a collection names a source that it does not list.
    pub fn parse(text: &str) -> Result<Manifest, ManifestError> {
        let manifest: Manifest = toml::from_str(text)?;
        for collection in &manifest.collections {
            manifest.known_source(&collection.source)?;
        }
        Ok(manifest)
    }

    /// The names of the collections, in the manifest's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.collections.iter().map(|collection| collection.name.as_str())
    }

    /// One line for each collection: its name, its source, and its licence.
    pub fn summary(&self) -> String {
        let line = |one: &Collection| {
            let url = self.sources.get(&one.source).map_or("", |source| source.url.as_str());
            format!("{}: {} ({url}), {}\n", one.name, one.source, one.licence)
        };
        self.collections.iter().map(line).collect()
    }

    fn known_source(&self, name: &str) -> Result<&Source, ManifestError> {
        self.sources.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.sources.keys().map(String::as_str).collect();
            ManifestError::Unknown { what: "source", name: name.to_owned(), known: known.join(", ") }
        })
    }

    /// Puts every file of the collections into `folder`, read from the clones or folders of the sources by name; with
    /// names in `only`, the files of these collections alone. A file that is there with the right bytes stays.
    ///
    /// # Errors
    /// When a name is not in the manifest. Files that are missing or differ are in [`Assembly::problems`].
    pub fn assemble(
        &self,
        folders: &BTreeMap<String, PathBuf>,
        only: &[String],
        folder: &Path,
    ) -> Result<Assembly, ManifestError> {
        for name in folders.keys() {
            self.known_source(name)?;
        }
        if let Some(name) = only.iter().find(|name| !self.names().any(|known| known == *name)) {
            let known: Vec<&str> = self.names().collect();
            let known = known.join(", ");
            return Err(ManifestError::Unknown { what: "collection", name: name.clone(), known });
        }
        let mut assembly = Assembly::default();
        for collection in &self.collections {
            if !only.is_empty() && !only.contains(&collection.name) {
                continue;
            }
            let source = self.known_source(&collection.source)?;
            for file in &collection.files {
                let name = format!("{}/{}", collection.name, file.name);
                let present = std::fs::read(folder.join(&name)).ok();
                let found = present.as_deref().map(digest);
                if found.as_ref() == Some(&file.sha256) {
                    assembly.kept.push(name);
                    continue;
                }
                match (folders.get(&collection.source), found) {
                    (None, Some(found)) => {
                        let expected = file.sha256.clone();
                        assembly.problems.push((name, Problem::Differs { expected, found }));
                    }
                    (None, None) => {
                        let note = source.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
                        let (source_name, url) = (collection.source.clone(), source.url.clone());
                        assembly.problems.push((name, Problem::NoFolder { source_name, url, note }));
                    }
                    (Some(clone), _) => match file
                        .made(source, clone)
                        .and_then(|bytes| write(&folder.join(&name), &bytes).map_err(Problem::Write))
                    {
                        Ok(()) => assembly.written.push(name),
                        Err(problem) => assembly.problems.push((name, problem)),
                    },
                }
            }
        }
        Ok(assembly)
    }
}

impl File {
    /// The bytes of the file, made from its source.
    fn made(&self, source: &Source, clone: &Path) -> Result<Vec<u8>, Problem> {
        let raw = match (&self.extract, &source.commit) {
            (Extract::HtmlPages { most, only }, _) => {
                extract::html_pages(&clone.join(&self.path), *most, only)
                    .map_err(|reason| Problem::Extract { path: self.path.clone(), reason })?
            }
            (_, Some(commit)) => committed(clone, commit, &self.path)?,
            (_, None) => std::fs::read(clone.join(&self.path)).map_err(|error| Problem::NoFile {
                folder: clone.to_owned(),
                path: self.path.clone(),
                reason: error.to_string(),
            })?,
        };
        let bytes =
            self.extract.apply(raw).map_err(|reason| Problem::Extract { path: self.path.clone(), reason })?;
        let found = digest(&bytes);
        if found == self.sha256 {
            Ok(bytes)
        } else {
            Err(Problem::Differs { expected: self.sha256.clone(), found })
        }
    }
}

/// A file of a repository at a commit, whatever the clone has checked out.
fn committed(clone: &Path, commit: &str, path: &str) -> Result<Vec<u8>, Problem> {
    let git = |arguments: &[&str]| Command::new("git").arg("-C").arg(clone).args(arguments).output();
    let lacks = |reason: String| Problem::NoFile { folder: clone.to_owned(), path: path.to_owned(), reason };
    let blob = git(&["cat-file", "blob", &format!("{commit}:{path}")])
        .map_err(|error| lacks(format!("git does not start: {error}")))?;
    if blob.status.success() {
        return Ok(blob.stdout);
    }
    let reason = String::from_utf8_lossy(&blob.stderr).trim().to_owned();
    match git(&["cat-file", "-e", &format!("{commit}^{{commit}}")]) {
        Ok(known)
            if !known.status.success()
                && git(&["rev-parse", "--git-dir"]).is_ok_and(|dir| dir.status.success()) =>
        {
            Err(Problem::NoCommit { folder: clone.to_owned(), commit: commit.to_owned() })
        }
        _ => Err(lacks(reason)),
    }
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, bytes)
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
