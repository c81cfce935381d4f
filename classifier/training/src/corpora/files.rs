//! Files of texts.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::gather::SourceError;

fn fault(file: &Path, reason: impl ToString) -> SourceError {
    SourceError::File { file: file.display().to_string(), reason: reason.to_string() }
}

/// A whole file; bytes that are not UTF-8 (old collections have some) become the replacement character.
pub fn text(file: &Path) -> Result<String, SourceError> {
    let bytes = std::fs::read(file).map_err(|error| fault(file, error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A file of one JSON value.
pub fn json(file: &Path) -> Result<Value, SourceError> {
    serde_json::from_str(&text(file)?).map_err(|error| fault(file, error))
}

/// A file of one JSON value a line.
pub fn json_lines(file: &Path) -> Result<Vec<Value>, SourceError> {
    let text = text(file)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(number, line)| {
        serde_json::from_str(line).map_err(|error| fault(file, format!("line {}: {error}", number + 1)))
    };
    lines.map(read).collect()
}

/// The lines of a file that say something.
pub fn lines(file: &Path) -> Result<Vec<String>, SourceError> {
    let text = text(file)?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// The rows of comma-separated values (RFC 4180), the first being the names of the columns.
pub fn table(file: &Path) -> Result<Vec<Vec<String>>, SourceError> {
    separated(&text(file)?).map_err(|reason| fault(file, reason))
}

/// The files of a folder with one ending, by name.
pub fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, SourceError> {
    let entries = std::fs::read_dir(folder).map_err(|error| fault(folder, error))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    found.sort();
    Ok(found)
}

fn separated(text: &str) -> Result<Vec<Vec<String>>, &'static str> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(one) = characters.next() {
        match (quoted, one) {
            (true, '"') if characters.next_if_eq(&'"').is_some() => cell.push('"'),
            (true, '"') => quoted = false,
            (true, one) => cell.push(one),
            (false, '"') if cell.is_empty() => quoted = true,
            (false, ',') => row.push(std::mem::take(&mut cell)),
            (false, '\r') if characters.peek() == Some(&'\n') => {}
            (false, '\n') => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            (false, one) => cell.push(one),
        }
    }
    if quoted {
        return Err("a quotation does not end");
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(cell);
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_cells_may_hold_anything() {
        let rows = separated("a,b\r\n\"1,\n\"\"2\"\"\",x\n,\nlast,").unwrap();
        let expected: [&[&str]; 4] = [&["a", "b"], &["1,\n\"2\"", "x"], &["", ""], &["last", ""]];
        assert_eq!(rows, expected);
        assert_eq!(separated("say \"x\",y").unwrap(), [["say \"x\"", "y"]]);
        assert!(separated("a,\"b").is_err());
        assert!(separated("").unwrap().is_empty());
    }
}
