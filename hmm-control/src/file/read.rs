//! Reading our form, in place.

use super::header::{Header, Tensor, dtype, quoted, storage_of};
use super::{FileError, ModelFile};
use crate::matrix::SharedBytes;
use crate::{Hmm, Matrix, Token};
use safetensors::tensor::Dtype;
use std::sync::Arc;

/// What the header puts in front of the names of notes.
const NOTE: &str = "note.";

/// Reads what `header` describes; the header is that of `bytes`.
pub(super) fn read(header: &Header<'_>, bytes: &SharedBytes) -> Result<ModelFile, FileError> {
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
    let transition = matrix(header, bytes, &transition, "transition.storage", "transition.scale")?;
    let emission = matrix(header, bytes, &emission, "emission.storage", "emission.scale")?;
    let end_token = end_token(header, emission.rows())?;
    let notes = header
        .texts()
        .filter_map(|(key, value)| Some((key.strip_prefix(NOTE)?.to_owned(), value.to_owned())))
        .collect();
    Ok(ModelFile { hmm: Hmm::from_parts(initial, transition, emission)?, end_token, notes })
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

/// A matrix in place. The caller has checked that it has two dimensions.
fn matrix(
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

/// Products that only compare rows leave the scales out, so a scale must not hide what a row holds.
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
