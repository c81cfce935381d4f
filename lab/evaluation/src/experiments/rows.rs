//! A file of finished rows, one line of JSON each, from which a killed run goes on.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use portcullis::storage::ExclusiveFile;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::trials::EvaluationError;

/// The finished rows of an experiment. The file is locked while this exists; an incomplete last line of a killed run is cut off.
#[derive(Debug)]
pub struct RowFile<T> {
    path: PathBuf,
    file: ExclusiveFile,
    rows: PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned> RowFile<T> {
    /// Opens the file, or starts it, and gives the rows that are there.
    ///
    /// # Errors
    /// [`EvaluationError::Failed`] if the file cannot be used, [`EvaluationError::Input`] if another run uses it or a line is no row.
    pub fn open(path: &Path) -> Result<(RowFile<T>, Vec<T>), EvaluationError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let busy = || EvaluationError::Input(format!("{} is in use by another run", path.display()));
        let file = ExclusiveFile::lock(file).map_err(|_| busy())?;
        let bytes = fs::read(path)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64)?;
        let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n').enumerate();
        let row = |(number, line): (usize, &[u8])| {
            serde_json::from_slice(line).map_err(|error| {
                let place = format!("{}, line {}", path.display(), number + 1);
                EvaluationError::Input(format!("{place}: this is no row of this experiment: {error}"))
            })
        };
        let rows = lines.filter(|(_, line)| !line.is_empty()).map(row).collect::<Result<_, _>>()?;
        Ok((RowFile { path: path.to_owned(), file, rows: PhantomData }, rows))
    }

    /// Adds a row. It is on disk when this returns.
    ///
    /// # Errors
    /// [`EvaluationError::Failed`] if the file cannot be written.
    pub fn append(&mut self, row: &T) -> Result<(), EvaluationError> {
        let failed = |problem: String| EvaluationError::Failed(format!("{}: {problem}", self.path.display()));
        let mut text = serde_json::to_string(row).map_err(|error| failed(error.to_string()))?;
        text.push('\n');
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_run_goes_on_after_its_last_whole_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/rows.jsonl");
        let (mut file, rows) = RowFile::<(u64, String)>::open(&path).unwrap();
        assert!(rows.is_empty());
        file.append(&(1, "one".to_owned())).unwrap();
        assert!(RowFile::<(u64, String)>::open(&path).is_err(), "one run at a time");
        drop(file);
        let mut killed = OpenOptions::new().append(true).open(&path).unwrap();
        killed.write_all(b"[2,\"tw").unwrap();
        let (mut file, rows) = RowFile::<(u64, String)>::open(&path).unwrap();
        assert_eq!(rows, [(1, "one".to_owned())]);
        file.append(&(2, "two".to_owned())).unwrap();
        drop(file);
        let (_file, rows) = RowFile::<(u64, String)>::open(&path).unwrap();
        assert_eq!(rows.len(), 2);
    }

    #[test]
    fn another_experiments_rows_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        fs::write(&path, "[1,\"one\"]\n{}\n").unwrap();
        let Err(EvaluationError::Input(message)) = RowFile::<(u64, String)>::open(&path) else { panic!() };
        assert!(message.contains("rows.jsonl, line 2"), "{message}");
    }
}
