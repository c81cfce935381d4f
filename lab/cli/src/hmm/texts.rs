//! Reads folders of texts as documents.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::Failure;

/// The documents of a file, or of all files of a folder in the order of their names. Notes (`.md`) are left out.
pub fn documents(path: &Path) -> Result<Vec<String>, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::Input(format!("{} cannot be read: {error}", path.display()));
    let mut files: Vec<PathBuf> = if path.is_dir() {
        let entries: Result<Vec<_>, _> = std::fs::read_dir(path).map_err(unreadable)?.collect();
        entries
            .map_err(unreadable)?
            .into_iter()
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
            .collect()
    } else {
        vec![path.to_owned()]
    };
    files.sort();
    let mut documents = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_none_or(|extension| extension != "md")) {
        let text = String::from_utf8_lossy(&crate::files::read_bytes(file)?).into_owned();
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("json") => {
                let value: Value = serde_json::from_str(&text)
                    .map_err(|error| Failure::Input(format!("{}: {error}", file.display())))?;
                documents.extend(of_json(&value));
            }
            _ => documents.extend(of_text(&text)),
        }
    }
    if documents.is_empty() {
        return Err(Failure::Input(format!("{} holds no text", path.display())));
    }
    Ok(documents)
}

/// Paragraphs if there are empty lines, otherwise lines.
fn of_text(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let separator = if text.contains("\n\n") { "\n\n" } else { "\n" };
    let parts = text.split(separator).map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// A document for each element of the outermost list or object: its texts, one a line.
fn of_json(value: &Value) -> Vec<String> {
    let elements: Vec<&Value> = match value {
        Value::Array(list) => list.iter().collect(),
        Value::Object(members) => members.values().collect(),
        other => vec![other],
    };
    let document = |element: &&Value| {
        let mut lines = Vec::new();
        collect(element, &mut lines);
        lines.join("\n")
    };
    elements.iter().map(document).filter(|document| !document.is_empty()).collect()
}

/// A field `text` is the text of the object, and other fields are metadata; otherwise any string of several words is
/// text.
fn collect(value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(members) => match members.get("text") {
            Some(Value::String(text)) => lines.push(text.trim().to_owned()),
            _ => members.values().for_each(|member| collect(member, lines)),
        },
        Value::Array(list) => list.iter().for_each(|element| collect(element, lines)),
        Value::String(text) if is_prose(text) => lines.push(text.trim().to_owned()),
        _ => {}
    }
}

/// At least four words, and no JSON within JSON.
fn is_prose(text: &str) -> bool {
    text.split_whitespace().nth(3).is_some() && !text.starts_with(['{', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_or_lines() {
        assert_eq!(of_text("one\r\ntwo\r\n\r\nthree\n\n\n"), ["one\ntwo", "three"]);
        assert_eq!(of_text("one\ntwo\n"), ["one", "two"]);
        assert!(of_text("\n \n").is_empty());
    }

    #[test]
    fn texts_of_json_without_the_notes_on_them() {
        let dialogue = serde_json::json!([
            {"id": "a b c d", "turns": [{"text": "Hello ", "notes": ["not this one either"]}, {"text": "Hi"}]},
            {"prose": "these are four words", "data": "{\"a\": 1, \"b\": 2, \"c\": 3}", "short": "one two"},
            {"number": 7},
        ]);
        assert_eq!(of_json(&dialogue), ["a b c d\nHello\nHi", "these are four words"]);
    }
}
