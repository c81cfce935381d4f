//! [`ModelFile`], and our own form of it: written as it lies in memory, and read in place.

use super::error::{FileError, Form};
use super::header::{FORMAT, Header, LONGEST, PREFIX, Tensor, dtype, quoted, storage_name, storage_of};
use crate::{Hmm, Matrix, SharedBytes, Token};
use safetensors::tensor::Dtype;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

// A safetensors file is little-endian, and its numbers are used in place.
const _: () = assert!(cfg!(target_endian = "little"), "hmm-control needs a little-endian processor");

/// A model and the metadata of its file.
///
/// ```
/// use hmm_control::{Hmm, ModelFile, Storage};
/// use ndarray::array;
/// use std::sync::Arc;
///
/// let hmm = Hmm::new(
///     &[0.5, 0.5],
///     array![[0.9, 0.1], [0.2, 0.8]].view(),
///     array![[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]].view(),
///     Storage::F32,
/// )?;
/// let mut file = ModelFile::new(hmm);
/// file.end_token = Some(2);
/// file.notes.insert("command".into(), "portcullis-lab hmm distil rollouts.jsonl".into());
///
/// let mut bytes = Vec::new();
/// file.write(&mut bytes)?;
/// let again = ModelFile::read(Arc::new(bytes))?;
/// assert_eq!(again.end_token, Some(2));
/// assert_eq!(again.hmm.emission().bytes(), file.hmm.emission().bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModelFile {
    /// The model.
    pub hmm: Hmm,
    /// The token that ends a text, where the model has one.
    pub end_token: Option<Token>,
    /// Other notes, such as the command that made the model. The whole header, with the notes, has to fit in 1 MiB.
    pub notes: BTreeMap<String, String>,
}

impl ModelFile {
    /// A model without metadata.
    pub fn new(hmm: Hmm) -> ModelFile {
        ModelFile { hmm, end_token: None, notes: BTreeMap::new() }
    }

    /// Writes our form. The matrices are written from memory without a copy; the same model gives the same bytes. The
    /// writes are few and large, so that a file needs no buffer.
    ///
    /// # Errors
    /// When the writer fails, or the notes are too long.
    pub fn write(&self, out: &mut impl Write) -> Result<(), FileError> {
        write(self, out)
    }

    /// Reads our form. The matrices stay in `bytes` (a map of a file, say) and are read once, to check that they are
    /// distributions. A tensor that is not aligned to its numbers is copied (our own writer aligns all). The initial
    /// distribution and the scales (4 bytes per row) are copied too.
    ///
    /// # Errors
    /// When the bytes are not such a file, are cut short, or do not hold a model.
    pub fn read(bytes: SharedBytes) -> Result<ModelFile, FileError> {
        let header = Header::read((*bytes).as_ref())?;
        match header.form()? {
            Form::Portcullis => ModelFile::read_with(&header, &bytes),
            form => Err(FileError::Published { form }),
        }
    }
}

/// The prefix of the names of notes in the header.
const NOTE: &str = "note.";

impl ModelFile {
    /// Reads what `header` describes; the header is that of `bytes`.
    pub(super) fn read_with(header: &Header<'_>, bytes: &SharedBytes) -> Result<ModelFile, FileError> {
        match header.text("version") {
            Some("1") => {}
            Some(other) => return Err(FileError::Version { found: quoted(other) }),
            None => return Err(wrong(header, "version", "`1`")),
        }
        expect(header, "transition", "by target")?;
        expect(header, "emission", "by token")?;
        let initial = header.tensor("initial")?;
        initial.expect_type(initial.dtype == Dtype::F64, "F64")?;
        initial.expect_shape(&[Err("states")])?;
        let initial: Vec<f64> = numbers(&initial, f64::from_le_bytes);
        let states = initial.len();
        let transition = header.tensor("transition")?;
        transition.expect_shape(&[Ok(states), Ok(states)])?;
        let emission = header.tensor("emission")?;
        emission.expect_shape(&[Err("tokens"), Ok(states)])?;
        let transition = read_matrix(header, bytes, &transition, "transition.storage", "transition.scale")?;
        let emission = read_matrix(header, bytes, &emission, "emission.storage", "emission.scale")?;
        let end_token = end_token(header, emission.rows())?;
        let notes = header
            .texts()
            .filter_map(|(key, value)| Some((key.strip_prefix(NOTE)?.to_owned(), value.to_owned())))
            .collect();
        Ok(ModelFile { hmm: Hmm::from_parts(initial, transition, emission)?, end_token, notes })
    }
}

fn wrong(header: &Header<'_>, key: &str, expected: &str) -> FileError {
    let found = header.text(key).map_or("not there".to_owned(), quoted);
    FileError::Metadata { key: key.to_owned(), found, expected: expected.to_owned() }
}

fn expect(header: &Header<'_>, key: &str, expected: &str) -> Result<(), FileError> {
    if header.text(key) == Some(expected) { Ok(()) } else { Err(wrong(header, key, &quoted(expected))) }
}

fn end_token(header: &Header<'_>, vocabulary: usize) -> Result<Option<Token>, FileError> {
    let Some(text) = header.text("end_token") else { return Ok(None) };
    let token: Option<Token> = text.parse().ok();
    match token.filter(|token| usize::try_from(*token).is_ok_and(|token| token < vocabulary)) {
        Some(token) => Ok(Some(token)),
        None => Err(wrong(header, "end_token", &format!("a token below {vocabulary}"))),
    }
}

fn numbers<const SIZE: usize, T>(tensor: &Tensor<'_>, decode: impl Fn([u8; SIZE]) -> T) -> Vec<T> {
    let (chunks, _) = tensor.bytes.as_chunks::<SIZE>();
    chunks.iter().map(|chunk| decode(*chunk)).collect()
}

/// A matrix in place. The caller has checked that the tensor has two dimensions.
fn read_matrix(
    header: &Header<'_>,
    bytes: &SharedBytes,
    tensor: &Tensor<'_>,
    storage_key: &'static str,
    scale_name: &'static str,
) -> Result<Matrix, FileError> {
    let (rows, columns) = (tensor.shape.first().copied(), tensor.shape.last().copied());
    let (rows, columns) = (rows.unwrap_or_default(), columns.unwrap_or_default());
    let storage = header
        .text(storage_key)
        .and_then(storage_of)
        .ok_or_else(|| wrong(header, storage_key, "`f64`, `f32`, `f16`, `bf16` or `bits8`"))?;
    tensor.expect_type(tensor.dtype == dtype(storage), &dtype(storage).to_string())?;
    let mut scales: Arc<[f32]> = Arc::default();
    if storage.is_scaled() {
        let scale = header.tensor(scale_name)?;
        scale.expect_type(scale.dtype == Dtype::F32, "F32")?;
        scale.expect_shape(&[Ok(rows)])?;
        scales = numbers(&scale, f32::from_le_bytes).into();
        check_scales(scale_name, &scales, tensor.bytes, columns * storage.bytes())?;
    }
    let aligned = tensor.bytes.as_ptr().addr().is_multiple_of(storage.bytes());
    let (bytes, range): (SharedBytes, _) = if aligned {
        (Arc::clone(bytes), tensor.range.clone())
    } else {
        (Arc::new(Copied::of(tensor.bytes)), 0..tensor.bytes.len())
    };
    Ok(Matrix::from_bytes(rows, columns, storage, bytes, range, scales)?)
}

/// Products that only compare rows ignore the scales, so a scale must not be 0 for a row that has numbers.
fn check_scales(tensor: &'static str, scales: &[f32], bytes: &[u8], stride: usize) -> Result<(), FileError> {
    for (row, (&value, bytes)) in scales.iter().zip(bytes.chunks_exact(stride)).enumerate() {
        let empty_row = || bytes.iter().all(|byte| *byte == 0);
        let fits = value.is_finite() && value.is_sign_positive() && (value > 0.0 || empty_row());
        if !fits {
            return Err(FileError::Scale { tensor, row, value });
        }
    }
    Ok(())
}

/// Bytes that were copied to an 8-byte boundary.
struct Copied {
    words: Vec<u64>,
    length: usize,
}

impl Copied {
    fn of(bytes: &[u8]) -> Copied {
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        let target: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        target.iter_mut().zip(bytes).for_each(|(target, byte)| *target = *byte);
        Copied { words, length: bytes.len() }
    }
}

impl AsRef<[u8]> for Copied {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words).get(..self.length).unwrap_or_default()
    }
}

/// The alignment of the first tensor in the file. A map begins on a page, so this is a cache line.
const BOUNDARY: usize = 64;

/// A tensor to be written.
struct TensorPart<'a> {
    name: &'static str,
    dtype: String,
    shape: Vec<usize>,
    /// The alignment of its position.
    alignment: usize,
    bytes: &'a [u8],
}

fn write(file: &ModelFile, out: &mut impl Write) -> Result<(), FileError> {
    let parts = parts(file);
    let header = header_text(file, &parts);
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
fn parts(file: &ModelFile) -> Vec<TensorPart<'_>> {
    let hmm = &file.hmm;
    let mut parts = vec![
        TensorPart {
            name: "initial",
            dtype: "F64".to_owned(),
            shape: vec![hmm.states()],
            alignment: 8,
            bytes: bytemuck::cast_slice(hmm.initial()),
        },
        matrix_part("transition", hmm.transition()),
        matrix_part("emission", hmm.emission()),
    ];
    // Stable, so that the transitions come first where both have the same alignment.
    parts.sort_by_key(|part| std::cmp::Reverse(part.alignment));
    let scales =
        [scales_part("transition.scale", hmm.transition()), scales_part("emission.scale", hmm.emission())];
    let length: usize = parts.iter().map(|part| part.bytes.len()).sum();
    // After the matrices if possible, which are then aligned to cache lines for the usual numbers of states.
    let place = if length.is_multiple_of(4) {
        parts.len()
    } else {
        parts.iter().take_while(|part| part.alignment >= 4).count()
    };
    parts.splice(place..place, scales.into_iter().flatten());
    parts
}

fn matrix_part<'a>(name: &'static str, matrix: &'a Matrix) -> TensorPart<'a> {
    TensorPart {
        name,
        dtype: dtype(matrix.storage()).to_string(),
        shape: vec![matrix.rows(), matrix.columns()],
        alignment: matrix.storage().bytes(),
        bytes: matrix.bytes(),
    }
}

fn scales_part<'a>(name: &'static str, matrix: &'a Matrix) -> Option<TensorPart<'a>> {
    matrix.storage().is_scaled().then(|| TensorPart {
        name,
        dtype: "F32".to_owned(),
        shape: vec![matrix.rows()],
        alignment: 4,
        bytes: bytemuck::cast_slice(matrix.scales()),
    })
}

/// The header's text, padded with spaces so that the tensors begin on a cache line.
fn header_text(file: &ModelFile, parts: &[TensorPart<'_>]) -> String {
    let mut texts = Map::new();
    let mut entry = |key: &str, value: &str| texts.insert(key.to_owned(), Value::from(value));
    entry("format", FORMAT);
    entry("version", "1");
    entry("transition", "by target");
    entry("emission", "by token");
    entry("transition.storage", storage_name(file.hmm.transition().storage()));
    entry("emission.storage", storage_name(file.hmm.emission().storage()));
    if let Some(token) = file.end_token {
        entry("end_token", &token.to_string());
    }
    for (key, value) in &file.notes {
        entry(&format!("note.{key}"), value);
    }
    let mut header = Map::from_iter([("__metadata__".to_owned(), Value::Object(texts))]);
    let mut place = 0;
    for part in parts {
        let end = place + part.bytes.len();
        let tensor = json!({ "dtype": part.dtype, "shape": part.shape, "data_offsets": [place, end] });
        header.insert(part.name.to_owned(), tensor);
        place = end;
    }
    let mut text = Value::Object(header).to_string();
    let length = (PREFIX + text.len()).next_multiple_of(BOUNDARY) - PREFIX;
    text.extend(std::iter::repeat_n(' ', length - text.len()));
    text
}
