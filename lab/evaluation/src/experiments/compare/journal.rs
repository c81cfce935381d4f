//! The file of a comparison's trials: one line for each trial, appended and synced when the trial is over. If the run
//! is killed, only the last line may be incomplete; it is cut off when the run continues.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use portcullis::storage::ExclusiveFile;

use super::line::TrialLine;
use super::plan::{Settings, TrialKey};

/// The reason why a comparison's folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("{path} cannot be used: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// Another process writes to it.
    #[error("{0} is in use by another run")]
    Busy(PathBuf),
    /// It holds trials of other settings.
    #[error("{0} holds a comparison with other settings; give another --out, or the settings in it")]
    OtherSettings(PathBuf),
    /// A line in the middle is not a trial.
    #[error("{path}, line {line}: this is no trial: {problem}")]
    Line {
        /// The file.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
}

/// The finished trials of one comparison. The file is locked while this exists.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: ExclusiveFile,
    done: BTreeSet<TrialKey>,
}

/// The file's name within its folder.
pub const TRIALS: &str = "trials.jsonl";
/// The name of the settings' file.
pub const SETTINGS: &str = "settings.json";

impl Journal {
    /// Opens the comparison in `folder`, or starts it. An incomplete last line of a killed run is cut off.
    ///
    /// # Errors
    /// [`JournalError`]; nothing is changed in that case.
    pub fn open(folder: &Path, settings: &Settings) -> Result<Journal, JournalError> {
        let path = folder.join(TRIALS);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| JournalError::Io { path, source }
        };
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed(&path))?;
        let mut file = ExclusiveFile::lock(file).map_err(|_| JournalError::Busy(path.clone()))?;
        keep_settings(folder, settings)?;

        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed(&path))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = parse(&path, bytes.get(..whole).unwrap_or_default())?;
        file.set_len(whole as u64).map_err(failed(&path))?;
        file.seek(SeekFrom::End(0)).map_err(failed(&path))?;
        Ok(Journal { path, file, done: lines.into_iter().map(|line| line.key).collect() })
    }

    /// Returns true if a trial is finished.
    pub fn has(&self, key: &TrialKey) -> bool {
        self.done.contains(key)
    }

    /// Adds a trial. It is on disk when this returns. A trial that is there already keeps its old record.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn append(&mut self, line: &TrialLine) -> Result<(), JournalError> {
        if !self.done.insert(line.key.clone()) {
            return Ok(());
        }
        let failed = |source| JournalError::Io { path: self.path.clone(), source };
        let mut text = serde_json::to_string(line).map_err(|error| failed(error.into()))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(failed)?;
        self.file.sync_data().map_err(failed)
    }
}

/// The trials in a comparison's folder, in the order of their keys, so that the same trials give the same report
/// however often the run was killed.
///
/// # Errors
/// [`JournalError`] if the folder holds no comparison.
pub fn read(folder: &Path) -> Result<(Settings, Vec<TrialLine>), JournalError> {
    let path = folder.join(TRIALS);
    let bytes = fs::read(&path).map_err(|source| JournalError::Io { path: path.clone(), source })?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = parse(&path, bytes.get(..whole).unwrap_or_default())?;
    lines.sort_by(|one, other| one.key.cmp(&other.key));
    lines.dedup_by(|one, other| one.key == other.key);
    Ok((read_settings(&folder.join(SETTINGS))?, lines))
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<TrialLine>, JournalError> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let filled = lines.filter(|(_, line)| !line.is_empty());
    let read = filled.map(|(number, line)| {
        serde_json::from_slice(line).map_err(|error| JournalError::Line {
            path: path.to_owned(),
            line: number + 1,
            problem: error.to_string(),
        })
    });
    read.collect()
}

/// Writes the settings of a new comparison, or compares them with the existing ones.
fn keep_settings(folder: &Path, settings: &Settings) -> Result<(), JournalError> {
    let path = folder.join(SETTINGS);
    if path.exists() {
        return if read_settings(&path)? == *settings {
            Ok(())
        } else {
            Err(JournalError::OtherSettings(folder.to_owned()))
        };
    }
    let failed = |source| JournalError::Io { path: path.clone(), source };
    let text = serde_json::to_string_pretty(settings).map_err(|error| failed(error.into()))?;
    // A rename makes the file appear whole or not at all.
    let half = path.with_extension("new");
    fs::write(&half, text).map_err(failed)?;
    fs::rename(&half, &path).map_err(failed)
}

fn read_settings(path: &Path) -> Result<Settings, JournalError> {
    let failed = |source| JournalError::Io { path: path.to_owned(), source };
    serde_json::from_slice(&fs::read(path).map_err(failed)?).map_err(|error| failed(error.into()))
}
