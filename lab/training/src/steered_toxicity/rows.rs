//! The rows of a run, and the file that they are appended to.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::SteeringError;

/// One continuation with its measures. It holds no text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The hash of the prompt.
    pub prompt: u64,
    /// True if the attribute was fitted on the prompt.
    pub seen: bool,
    /// The number of the continuation, from 0.
    pub continuation: usize,
    /// The method's name.
    pub method: String,
    /// The tokens.
    pub tokens: Vec<u32>,
    /// Their log probability under the language model alone, in nats.
    pub log_probability: f64,
    /// Their log weight by the attribute.
    pub log_weight: f64,
    /// For a free continuation the log weight that the hidden Markov model expects after the prompt.
    pub expected: Option<f64>,
    /// The log odds that each judge gives.
    pub judged: Vec<f64>,
    /// The processor's time for writing, in milliseconds. It is the one field that a repetition does not give again.
    pub milliseconds: f64,
}

impl Row {
    /// Returns whether both are the same but for the time that they took.
    pub fn is_same(&self, other: &Row) -> bool {
        Row { milliseconds: 0.0, ..self.clone() } == Row { milliseconds: 0.0, ..other.clone() }
    }
}

/// A file of rows, one JSON value a line.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the file and returns the rows that it has. A last line that a killed run left unfinished is cut off.
    pub(super) fn open(path: &Path) -> Result<(Journal, Vec<Row>), SteeringError> {
        let failed = || SteeringError::file(path);
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            other => other.map_err(failed())?,
        };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let mut rows = Vec::new();
        for line in bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n') {
            if !line.is_empty() {
                let row = serde_json::from_slice(line).map_err(|error| SteeringError::Other {
                    path: path.to_owned(),
                    problem: format!("line {}: {error}", rows.len() + 1),
                })?;
                rows.push(row);
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed())?;
        file.set_len(whole as u64).map_err(failed())?;
        Ok((Journal { path: path.to_owned(), file }, rows))
    }

    /// Appends a row.
    pub(super) fn push(&mut self, row: &Row) -> Result<(), SteeringError> {
        let mut line = serde_json::to_string(row)
            .map_err(std::io::Error::other)
            .map_err(SteeringError::file(&self.path))?;
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(SteeringError::file(&self.path))
    }
}

/// Writes a file as a whole, so that a reader never meets half of it.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), SteeringError> {
    let beside = path.with_extension("new");
    std::fs::write(&beside, bytes).map_err(SteeringError::file(&beside))?;
    std::fs::rename(&beside, path).map_err(SteeringError::file(path))
}
