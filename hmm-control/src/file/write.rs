//! Writing our form.

use super::header::{FORMAT, LONGEST, PREFIX, dtype, storage_name};
use super::{FileError, ModelFile};
use crate::Matrix;
use serde_json::{Map, Value, json};
use std::io::Write;

/// What the first tensor's place in the file is a multiple of. A map begins on a page, so this is a cache line.
const BOUNDARY: usize = 64;

/// A tensor to be written.
struct Part<'a> {
    name: &'static str,
    dtype: String,
    shape: Vec<usize>,
    /// What its place has to be a multiple of.
    alignment: usize,
    bytes: &'a [u8],
}

pub(super) fn write(file: &ModelFile, out: &mut impl Write) -> Result<(), FileError> {
    let parts = parts(file);
    let header = header(file, &parts);
    if header.len() > LONGEST {
        return Err(FileError::Notes { found: header.len(), limit: LONGEST });
    }
    let mut all = || {
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        parts.iter().try_for_each(|part| out.write_all(part.bytes))?;
        out.flush()
    };
    all().map_err(FileError::Write)
}

/// The tensors in an order in which each is aligned to its numbers, since safetensors allows no gaps.
fn parts(file: &ModelFile) -> Vec<Part<'_>> {
    let hmm = &file.hmm;
    let mut parts = vec![
        Part {
            name: "initial",
            dtype: "F64".to_owned(),
            shape: vec![hmm.states()],
            alignment: 8,
            bytes: bytemuck::cast_slice(hmm.initial()),
        },
        matrix("transition", hmm.transition()),
        matrix("emission", hmm.emission()),
    ];
    // Stable, so that the transitions stand first where both are alike.
    parts.sort_by_key(|part| std::cmp::Reverse(part.alignment));
    let scales = [scales("transition.scale", hmm.transition()), scales("emission.scale", hmm.emission())];
    let length: usize = parts.iter().map(|part| part.bytes.len()).sum();
    // Behind the matrices if possible: these then lie on cache lines for the usual numbers of states.
    let place = if length.is_multiple_of(4) {
        parts.len()
    } else {
        parts.iter().take_while(|part| part.alignment >= 4).count()
    };
    parts.splice(place..place, scales.into_iter().flatten());
    parts
}

fn matrix<'a>(name: &'static str, matrix: &'a Matrix) -> Part<'a> {
    Part {
        name,
        dtype: dtype(matrix.storage()).to_string(),
        shape: vec![matrix.rows(), matrix.columns()],
        alignment: matrix.storage().bytes(),
        bytes: matrix.bytes(),
    }
}

fn scales<'a>(name: &'static str, matrix: &'a Matrix) -> Option<Part<'a>> {
    matrix.storage().is_scaled().then(|| Part {
        name,
        dtype: "F32".to_owned(),
        shape: vec![matrix.rows()],
        alignment: 4,
        bytes: bytemuck::cast_slice(matrix.scales()),
    })
}

/// The header's text, filled up with spaces so that the tensors begin on a cache line.
fn header(file: &ModelFile, parts: &[Part<'_>]) -> String {
    let mut texts = Map::new();
    let mut say = |key: &str, value: &str| texts.insert(key.to_owned(), Value::from(value));
    say("format", FORMAT);
    say("version", "1");
    say("transition", "by target");
    say("emission", "by token");
    say("transition.storage", storage_name(file.hmm.transition().storage()));
    say("emission.storage", storage_name(file.hmm.emission().storage()));
    if let Some(token) = file.end_token {
        say("end_token", &token.to_string());
    }
    for (key, value) in &file.notes {
        say(&format!("note.{key}"), value);
    }
    let mut header = Map::from_iter([("__metadata__".to_owned(), Value::Object(texts))]);
    let mut place = 0;
    for part in parts {
        let end = place + part.bytes.len();
        let entry = json!({ "dtype": part.dtype, "shape": part.shape, "data_offsets": [place, end] });
        header.insert(part.name.to_owned(), entry);
        place = end;
    }
    let mut text = Value::Object(header).to_string();
    let length = (PREFIX + text.len()).next_multiple_of(BOUNDARY) - PREFIX;
    text.extend(std::iter::repeat_n(' ', length - text.len()));
    text
}
