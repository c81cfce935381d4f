//! The file format of statistics and checkpoints: safetensors, with our own header in its metadata.

use super::{DistilError, Parameters, Real, Statistics, Totals};
use ndarray::Array2;
use safetensors::{Dtype, SafeTensors, View};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// The key of our header in the file's metadata. There is only one, since the order of several is not fixed.
const NOTE: &str = "distil";

/// A tensor to be written.
pub(super) struct Part {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for Part {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

pub(super) type Parts = Vec<(String, Part)>;

pub(super) fn floats<'a, T: Real>(shape: Vec<usize>, values: impl Iterator<Item = &'a T>) -> Part {
    let mut bytes = Vec::with_capacity(shape.iter().product::<usize>() * size_of::<T>());
    values.for_each(|value| value.write(&mut bytes));
    Part { dtype: T::DTYPE, shape, bytes }
}

pub(super) fn integers(shape: Vec<usize>, values: impl Iterator<Item = i64>) -> Part {
    let mut bytes = Vec::with_capacity(shape.iter().product::<usize>() * 8);
    values.for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    Part { dtype: Dtype::I64, shape, bytes }
}

pub(super) fn push_parameters<T: Real>(parts: &mut Parts, prefix: &str, parameters: &Parameters<T>) {
    let Parameters { initial, transition, emission } = parameters;
    parts.push((format!("{prefix}initial"), floats(vec![initial.len()], initial.iter())));
    for (name, matrix) in [("transition", transition), ("emission", emission)] {
        let part = floats(vec![matrix.nrows(), matrix.ncols()], matrix.iter());
        parts.push((format!("{prefix}{name}"), part));
    }
}

pub(super) fn wrong(part: &str, problem: impl ToString) -> DistilError {
    DistilError::Part { part: part.to_owned(), problem: problem.to_string() }
}

pub(super) fn write(header: &impl Serialize, parts: Parts) -> Result<Vec<u8>, DistilError> {
    let note = serde_json::to_string(header).map_err(|error| wrong("the header", error))?;
    let notes = HashMap::from([(NOTE.to_owned(), note)]);
    safetensors::serialize(parts, Some(notes)).map_err(|error| wrong("the tensors", error))
}

/// The tensors of a file.
pub(super) struct Reader<'a>(SafeTensors<'a>);

impl<'a> Reader<'a> {
    pub(super) fn new<H: DeserializeOwned>(bytes: &'a [u8]) -> Result<(H, Reader<'a>), DistilError> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| wrong("the file", error))?;
        let note = metadata.metadata().as_ref().and_then(|notes| notes.get(NOTE));
        let note =
            note.ok_or_else(|| wrong("the header", "it is not there: distillation did not write this"))?;
        let header = serde_json::from_str(note).map_err(|error| wrong("the header", error))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| wrong("the file", error))?;
        Ok((header, Reader(tensors)))
    }

    /// The bytes of a tensor, which must have this type and shape.
    fn bytes(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<&'a [u8], DistilError> {
        let tensor = self.0.tensor(name).map_err(|_| wrong(name, "it is not there"))?;
        if tensor.dtype() != dtype || tensor.shape() != shape {
            let (found, size) = (tensor.dtype(), tensor.shape());
            return Err(wrong(name, format!("it is {found} {size:?}, but {dtype} {shape:?} was expected")));
        }
        Ok(tensor.data())
    }

    pub(super) fn floats<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>, DistilError> {
        let bytes = self.bytes(name, T::DTYPE, shape)?;
        let values: Vec<T> = bytes.chunks_exact(size_of::<T>()).filter_map(T::read).collect();
        match values.iter().find(|value| !(0.0..f64::INFINITY).contains(&value.to_f64())) {
            Some(value) => {
                Err(wrong(name, format!("it holds {value:?}, which is no probability and no count")))
            }
            None => Ok(values),
        }
    }

    pub(super) fn integers(&self, name: &str, shape: &[usize], most: i64) -> Result<Vec<i64>, DistilError> {
        let bytes = self.bytes(name, Dtype::I64, shape)?;
        let number = |bytes: &[u8]| bytes.try_into().ok().map(i64::from_le_bytes);
        let values: Vec<i64> = bytes.chunks_exact(8).filter_map(number).collect();
        match values.iter().find(|value| !(0..=most).contains(*value)) {
            Some(value) => Err(wrong(name, format!("it holds {value}, which is outside 0 to {most}"))),
            None => Ok(values),
        }
    }

    pub(super) fn parameters<T: Real>(
        &self,
        prefix: &str,
        states: usize,
        vocabulary: usize,
    ) -> Result<Parameters<T>, DistilError> {
        let matrix = |name: &str, rows: usize| {
            let name = format!("{prefix}{name}");
            let values = self.floats(&name, &[rows, states])?;
            Array2::from_shape_vec((rows, states), values).map_err(|error| wrong(&name, error))
        };
        Ok(Parameters {
            initial: self.floats(&format!("{prefix}initial"), &[states])?,
            transition: matrix("transition", states)?,
            emission: matrix("emission", vocabulary)?,
        })
    }
}

/// The numbers of statistics beside their tensors.
#[derive(Serialize, Deserialize)]
pub(super) struct StatisticsHeader {
    states: usize,
    vocabulary: usize,
    /// Tokens that occurred.
    rows: usize,
    sequences: u64,
    positions: u64,
    tokens: u64,
    impossible: u64,
    /// In decimal; the number exceeds what JSON readers agree on.
    log_likelihood: String,
}

impl Statistics {
    /// The counts as bytes: a safetensors file of 64-bit integers, which another machine can merge.
    ///
    /// # Errors
    /// Only if the format refuses them.
    pub fn to_bytes(&self) -> Result<Vec<u8>, DistilError> {
        let (header, parts) = self.parts();
        write(&header, parts)
    }

    pub(super) fn parts(&self) -> (StatisticsHeader, Parts) {
        let (states, rows) = (self.states(), self.emission.len());
        let Totals { sequences, positions, tokens, impossible, log_likelihood } = self.totals;
        let header = StatisticsHeader {
            states,
            vocabulary: self.vocabulary,
            rows,
            sequences,
            positions,
            tokens,
            impossible,
            log_likelihood: log_likelihood.to_string(),
        };
        let emitted = self.emission.keys().map(|token| i64::from(*token));
        let parts = vec![
            ("initial".into(), integers(vec![states], self.initial.iter().copied())),
            ("transition".into(), integers(vec![states, states], self.transition.iter().copied())),
            ("tokens".into(), integers(vec![rows], emitted)),
            ("emission".into(), integers(vec![rows, states], self.emission.values().flatten().copied())),
        ];
        (header, parts)
    }

    /// Reads the bytes of [`Statistics::to_bytes`].
    ///
    /// # Errors
    /// When the bytes are something else, or hold impossible counts; the error names the tensor.
    pub fn from_bytes(bytes: &[u8]) -> Result<Statistics, DistilError> {
        let (header, reader): (StatisticsHeader, Reader) = Reader::new(bytes)?;
        Statistics::from_parts(&header, &reader)
    }

    pub(super) fn from_parts(
        header: &StatisticsHeader,
        reader: &Reader<'_>,
    ) -> Result<Statistics, DistilError> {
        let StatisticsHeader { states, vocabulary, rows, sequences, positions, tokens, impossible, .. } =
            *header;
        let log_likelihood: i128 =
            header.log_likelihood.parse().map_err(|error| wrong("the log likelihood", error))?;
        let totals = Totals { sequences, positions, tokens, impossible, log_likelihood };
        // The sums of a merge must not overflow either.
        totals.check()?;
        let most = Statistics::most(positions)?;
        if vocabulary as u64 > 1 << 32 {
            return Err(wrong("the vocabulary", "it has more than 2^32 tokens"));
        }
        let tokens = reader.integers("tokens", &[rows], vocabulary as i64 - 1)?;
        if !tokens.is_sorted_by(|a, b| a < b) {
            return Err(wrong("tokens", "they do not rise"));
        }
        let counts = reader.integers("emission", &[rows, states], most)?;
        let lines = counts.chunks(states.max(1)).map(<[i64]>::to_vec);
        let emission: BTreeMap<_, _> = tokens.iter().map(|token| *token as u32).zip(lines).collect();
        Ok(Statistics {
            vocabulary,
            totals,
            initial: reader.integers("initial", &[states], most)?,
            transition: reader.integers("transition", &[states, states], most)?,
            emission,
        })
    }
}
