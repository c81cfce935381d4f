//! The header of a safetensors file: its tensors and their positions.

use super::error::{FileError, Form};
use crate::Storage;
use safetensors::tensor::{Dtype, Metadata};
use std::ops::Range;

/// The longest header, in bytes. It bounds what a foreign header can make us allocate; a model's takes 1 KiB.
pub(super) const LONGEST: usize = 1 << 20;

/// Bytes before the header, which hold its length.
pub(super) const PREFIX: usize = 8;

/// The name of our form.
pub(super) const FORMAT: &str = "portcullis-hmm";

impl Form {
    /// Detects the form from the header; the numbers are not read.
    ///
    /// # Errors
    /// When the bytes are not a safetensors file, or one of another form.
    pub fn of(bytes: &[u8]) -> Result<Form, FileError> {
        Header::read(bytes)?.form()
    }
}

/// A header that was checked against the bytes after it: every tensor is within them.
pub(super) struct Header<'a> {
    metadata: Metadata,
    bytes: &'a [u8],
    /// The position of the first tensor.
    data: usize,
}

/// One tensor.
#[derive(Clone)]
pub(super) struct Tensor<'a> {
    pub(super) name: &'static str,
    pub(super) dtype: Dtype,
    pub(super) shape: &'a [usize],
    /// Its position in the file.
    pub(super) range: Range<usize>,
    pub(super) bytes: &'a [u8],
}

impl<'a> Header<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Header<'a>, FileError> {
        Header::parse(bytes).map_err(|error| {
            // Checked last: a safetensors file whose header has 640 bytes begins like an old archive.
            let archive = bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\x80\x02");
            if archive { FileError::PyTorch } else { error }
        })
    }

    fn parse(bytes: &'a [u8]) -> Result<Header<'a>, FileError> {
        let wrong = |reason: String| Err(FileError::NotSafetensors { reason });
        let Some((length, rest)) = bytes.split_first_chunk::<PREFIX>() else {
            return wrong(format!("it has {} bytes, and the length of its header takes 8", bytes.len()));
        };
        let length = u64::from_le_bytes(*length);
        let Some(length) = usize::try_from(length).ok().filter(|length| *length <= LONGEST) else {
            return wrong(format!("its header would take {length} bytes; at most {LONGEST} are read"));
        };
        let Some(text) = rest.get(..length) else {
            return wrong(format!("its header takes {length} bytes, but only {} follow", rest.len()));
        };
        let metadata: Metadata = match serde_json::from_slice(text) {
            Ok(metadata) => metadata,
            // The error's own text names types of the library.
            Err(error) if error.is_data() => {
                return wrong(
                    "its header does not give every tensor a type, a shape and a place that fit each other, without \
                     gaps between the tensors"
                        .to_owned(),
                );
            }
            Err(error) => {
                return wrong(format!(
                    "its header is no JSON (line {}, column {})",
                    error.line(),
                    error.column()
                ));
            }
        };
        let data = PREFIX + length;
        let expected = data.saturating_add(metadata.data_len());
        if expected != bytes.len() {
            return Err(FileError::Length { expected, found: bytes.len() });
        }
        Ok(Header { metadata, bytes, data })
    }

    /// An entry of the header's metadata.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.metadata.metadata().as_ref()?.get(key).map(String::as_str)
    }

    /// All entries of the header's metadata.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.metadata.metadata().iter().flatten();
        entries.map(|(key, value)| (key.as_str(), value.as_str()))
    }

    pub(super) fn form(&self) -> Result<Form, FileError> {
        let has = |name: &str| self.metadata.info(name).is_some();
        if self.text("format") == Some(FORMAT) {
            Ok(Form::Portcullis)
        } else if has("alpha_exp") && has("beta") && has("gamma_exp") {
            Ok(Form::Trace)
        } else if has("alpha_exp") && has("beta") && has("gamma") {
            Ok(Form::CtrlG)
        } else {
            Err(FileError::UnknownForm { found: self.names() })
        }
    }

    pub(super) fn tensor(&self, name: &'static str) -> Result<Tensor<'_>, FileError> {
        let missing = || FileError::Missing { tensor: name, found: self.names() };
        let info = self.metadata.info(name).ok_or_else(missing)?;
        let (start, end) = info.data_offsets;
        let range = self.data.saturating_add(start)..self.data.saturating_add(end);
        let bytes = self.bytes.get(range.clone()).ok_or_else(missing)?;
        Ok(Tensor { name, dtype: info.dtype, shape: &info.shape, range, bytes })
    }

    /// The tensors' names for a message; a foreign file may have many long ones.
    fn names(&self) -> String {
        let names = self.metadata.offset_keys();
        let shown: Vec<String> = names.iter().take(8).map(|name| quoted(name)).collect();
        match names.len() {
            0 => "no tensors".to_owned(),
            count if count > shown.len() => format!("{} and {} more", shown.join(", "), count - shown.len()),
            _ => shown.join(", "),
        }
    }
}

impl Tensor<'_> {
    /// Checks the shape. `expected` has for each dimension its length, or a name where any length above 0 is valid.
    pub(super) fn expect_shape(&self, expected: &[Result<usize, &str>]) -> Result<(), FileError> {
        let fits = self.shape.len() == expected.len()
            && self.shape.iter().zip(expected).all(|(found, expected)| match expected {
                Ok(expected) => found == expected,
                Err(_) => *found > 0,
            });
        if fits {
            return Ok(());
        }
        let words = expected.iter().map(|expected| match expected {
            Ok(length) => length.to_string(),
            Err(word) => (*word).to_owned(),
        });
        Err(FileError::Shape {
            tensor: self.name,
            found: format!("{:?}", self.shape),
            expected: format!("[{}]", words.collect::<Vec<_>>().join(", ")),
        })
    }

    pub(super) fn expect_type(&self, fits: bool, expected: &str) -> Result<(), FileError> {
        if fits {
            return Ok(());
        }
        Err(FileError::Type {
            tensor: self.name,
            found: self.dtype.to_string(),
            expected: expected.to_owned(),
        })
    }
}

/// Foreign text for a message, shortened and without control characters.
pub(super) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        short.push_str("...");
    }
    format!("`{short}`")
}

/// The type that holds a storage's numbers.
pub(super) const fn dtype(storage: Storage) -> Dtype {
    match storage {
        Storage::F64 => Dtype::F64,
        Storage::F32 => Dtype::F32,
        Storage::F16 => Dtype::F16,
        Storage::Bf16 => Dtype::BF16,
        Storage::Bits8 => Dtype::U8,
    }
}

/// A storage's name in the header.
pub(super) const fn storage_name(storage: Storage) -> &'static str {
    match storage {
        Storage::F64 => "f64",
        Storage::F32 => "f32",
        Storage::F16 => "f16",
        Storage::Bf16 => "bf16",
        Storage::Bits8 => "bits8",
    }
}

/// The storage of this name.
pub(super) fn storage_of(name: &str) -> Option<Storage> {
    [Storage::F64, Storage::F32, Storage::F16, Storage::Bf16, Storage::Bits8]
        .into_iter()
        .find(|storage| storage_name(*storage) == name)
}
