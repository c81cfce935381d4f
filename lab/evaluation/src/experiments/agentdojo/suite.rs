//! The files: one suite of tasks each, as exported from AgentDojo.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

/// One call of a tool.
#[derive(Debug, Clone, Deserialize)]
pub struct Call {
    /// The tool's name.
    pub function: String,
    /// Its arguments by name.
    pub args: Map<String, Value>,
}

/// A task of the user.
#[derive(Debug, Clone, Deserialize)]
pub struct UserTask {
    /// The name within the suite.
    pub id: String,
    /// The user's own words.
    pub prompt: String,
    /// The calls that solve it.
    pub ground_truth: Vec<Call>,
}

/// A task of the attacker.
#[derive(Debug, Clone, Deserialize)]
pub struct InjectionTask {
    /// The name within the suite.
    pub id: String,
    /// The attacker's text.
    pub goal: String,
    /// The calls that carry it out. Some tasks list none; those cannot be replayed.
    pub ground_truth: Vec<Call>,
}

/// A tool that the suite offers.
#[derive(Debug, Clone, Deserialize)]
pub struct Offered {
    /// Its name.
    pub name: String,
    /// What it says of itself.
    #[serde(default)]
    pub description: String,
    /// The JSON schema of its arguments.
    #[serde(default)]
    pub parameters: Value,
}

/// Tasks, tools and the environment they work in.
#[derive(Debug, Clone, Deserialize)]
pub struct Suite {
    /// The suite's name.
    pub suite: String,
    /// The tasks of the user.
    pub user_tasks: Vec<UserTask>,
    /// The tasks of the attacker.
    pub injection_tasks: Vec<InjectionTask>,
    /// The tools.
    pub tools: Vec<Offered>,
    /// The texts of the environment that an attacker can replace, by the name of their place.
    #[serde(default)]
    pub injection_vectors: BTreeMap<String, String>,
    /// The state before any call.
    pub environment: Value,
}

/// The reason why there is nothing to replay.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The folder is not there, or has no `.json` file.
    #[error("no suites in {}: give the folder with AgentDojo's exported suites (banking.json, workspace.json)", .0.display())]
    Absent(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the file system.
        error: std::io::Error,
    },
    /// A file is not a suite.
    #[error("{} is not a suite: {error}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        error: serde_json::Error,
    },
}

/// Reads every `.json` file of a folder, in the order of their names.
///
/// # Errors
/// The folder is absent or holds no suite; a file cannot be read, or is not a suite.
pub fn load(folder: &Path) -> Result<Vec<Suite>, LoadError> {
    let absent = || LoadError::Absent(folder.to_owned());
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|_| absent())?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    if paths.is_empty() {
        return Err(absent());
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| LoadError::Unreadable { path: path.clone(), error })?;
        serde_json::from_str(&text).map_err(|error| LoadError::Malformed { path, error })
    };
    paths.into_iter().map(read).collect()
}
