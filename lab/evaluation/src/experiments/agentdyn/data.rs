//! The files of a folder with AgentDyn's tasks and runs.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tool_provenance::Tool;

/// A call with its result.
#[derive(Debug, Clone, Deserialize)]
pub struct Call {
    /// The tool.
    #[serde(rename = "f")]
    pub tool: String,
    /// The arguments.
    #[serde(rename = "a", default)]
    pub arguments: Map<String, Value>,
    /// The result.
    #[serde(rename = "r", default)]
    pub result: Value,
    /// The error, if it failed.
    #[serde(rename = "e", default)]
    pub error: Option<String>,
}

impl Call {
    /// The result as the agent reads it.
    pub fn text(&self) -> String {
        self.result.as_str().map_or_else(|| self.result.to_string(), str::to_owned)
    }
}

/// A user's task.
#[derive(Debug, Clone, Deserialize)]
pub struct UserTask {
    /// The suite.
    pub suite: String,
    /// Its name in the suite.
    pub id: String,
    /// The user's words.
    pub prompt: String,
    /// The calls that solve it.
    pub executed: Vec<Call>,
    /// The injected tasks that these calls reach by themselves, so that nothing could stop them.
    #[serde(default)]
    pub also_sets: Vec<String>,
}

/// An injected task.
#[derive(Debug, Clone, Deserialize)]
pub struct InjectedTask {
    /// The suite.
    pub suite: String,
    /// Its name in the suite.
    pub id: String,
    /// The calls that reach its goal.
    pub calls: Vec<Call>,
    /// The indices of calls without which it is not reached.
    pub needed: Vec<usize>,
}

/// A recorded run.
#[derive(Debug, Clone, Deserialize)]
pub struct Run {
    /// The suite.
    pub suite: String,
    /// The user's task; none where the goal of the attack was the user's own words.
    pub user_task: Option<String>,
    /// The injected task; none without an attack.
    pub injection_task: Option<String>,
    /// The model.
    pub model: String,
    /// The turns of the agent.
    turns: Vec<Turn>,
    /// True if the attack succeeded.
    #[serde(default)]
    pub security: Option<bool>,
    /// True if the user's task succeeded.
    #[serde(default)]
    pub utility: Option<bool>,
    /// True if the run can be replayed.
    #[serde(default)]
    pub replays: bool,
    /// True if the goal of the attack was given as the user's own words.
    #[serde(default)]
    pub alone: bool,
    /// The indices of calls that the attack needs.
    #[serde(default)]
    pub attack_needs: Vec<usize>,
    /// The indices of calls that the user's task needs.
    #[serde(default)]
    pub task_needs: Vec<usize>,
}

#[derive(Debug, Clone, Deserialize)]
struct Turn {
    #[serde(default)]
    calls: Vec<Call>,
}

impl Run {
    /// All calls, in their order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.turns.iter().flat_map(|turn| &turn.calls)
    }
}

#[derive(Deserialize)]
struct Schema {
    name: String,
    description: String,
    parameters: Value,
}

/// Everything in a folder.
pub struct Data {
    /// The tools, as their schemas say.
    pub tools: Vec<Tool>,
    /// The users' tasks.
    pub users: Vec<UserTask>,
    /// The injected tasks.
    pub injected: Vec<InjectedTask>,
    /// The recorded runs.
    pub runs: Vec<Run>,
}

/// The reason why a folder cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A file is absent or cannot be read.
    #[error("{path}: {error}; give the folder with AgentDyn's files")]
    Absent {
        /// The file.
        path: PathBuf,
        /// The problem.
        error: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("{path}, line {line}: {error}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line.
        line: usize,
        /// The problem.
        error: serde_json::Error,
    },
}

/// Reads a folder.
///
/// # Errors
/// [`DataError`].
pub fn load(folder: &Path) -> Result<Data, DataError> {
    let schemas: Vec<Schema> = lines(&folder.join("tools.jsonl"))?;
    let runs = folder.join("runs");
    let absent = |error| DataError::Absent { path: runs.clone(), error };
    let mut files: Vec<PathBuf> =
        fs::read_dir(&runs).map_err(absent)?.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "jsonl")) {
        all.extend(lines::<Run>(file)?);
    }
    Ok(Data {
        tools: schemas
            .iter()
            .map(|tool| Tool::read(&tool.name, &tool.description, &tool.parameters))
            .collect(),
        users: lines(&folder.join("user_tasks.jsonl"))?,
        injected: lines(&folder.join("injection_tasks.jsonl"))?,
        runs: all,
    })
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, DataError> {
    let text =
        fs::read_to_string(path).map_err(|error| DataError::Absent { path: path.to_owned(), error })?;
    let read = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| DataError::Line {
            path: path.to_owned(),
            line: at + 1,
            error,
        })
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(read).collect()
}
