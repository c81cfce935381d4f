//! Reads files of the folder of collections.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The error of a file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file is missing or unreadable.
    #[error("{path} cannot be read: give a folder that `assemble` made (see collections.toml)")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not valid JSON.
    #[error("{path} is not valid JSON: assemble the folder again")]
    Json {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

/// Returns the text of a file; bytes that are not UTF-8 are replaced.
pub fn text(data: &Path, name: &str) -> Result<String, CorpusError> {
    let path = data.join(name);
    let bytes = std::fs::read(&path).map_err(|source| CorpusError::Read { path, source })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the value of a JSON file.
pub fn json(data: &Path, name: &str) -> Result<Value, CorpusError> {
    let words = text(data, name)?;
    serde_json::from_str(&words).map_err(|source| CorpusError::Json { path: data.join(name), source })
}

/// Returns the values of a file with one JSON value per line.
pub fn json_lines(data: &Path, name: &str) -> Result<Vec<Value>, CorpusError> {
    let words = text(data, name)?;
    words
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            serde_json::from_str(line).map_err(|source| CorpusError::Json { path: data.join(name), source })
        })
        .collect()
}

/// Returns the string of this name in a record; empty if there is none.
pub fn field<'a>(record: &'a Value, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the elements of a list; none if the value is not one.
pub fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns every string in a value that is longer than `longer_than` bytes, in order.
pub fn strings<'a>(value: &'a Value, longer_than: usize, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if text.len() > longer_than => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, longer_than, found)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, longer_than, found)),
        _ => {}
    }
}

/// Returns the records of a file of comma-separated values.
pub fn comma_separated(data: &Path, name: &str) -> Result<Vec<Vec<String>>, CorpusError> {
    Ok(records(&text(data, name)?))
}

/// Returns the records of comma-separated values: cells in quotes may contain commas, line breaks and doubled quotes.
pub(crate) fn records(words: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = words.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            '\r' if !quoted => {}
            _ => cell.push(character),
        }
    }
    if !cell.is_empty() || !record.is_empty() {
        record.push(cell);
        records.push(record);
    }
    records
}
