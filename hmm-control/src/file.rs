//! Models in files: our own form, and the two that others publish.
//!
//! All are safetensors: a header that names tensors, then their numbers. Ours (`spec/hmm-file.md`) holds the
//! matrices as a decode step reads them, so that a mapped file is used where it lies. The published ones are
//! converted once. The library reads bytes and writes to what it is given; who opens files is the caller.

mod error;
mod header;
mod published;
mod read;
mod write;

pub use error::FileError;
pub use published::{ImportOptions, ImportReport, Renormalised};

use crate::matrix::SharedBytes;
use crate::{Hmm, Token};
use header::Header;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

// A safetensors file is little-endian, and its numbers are used where they lie.
const _: () = assert!(cfg!(target_endian = "little"), "hmm-control needs a little-endian processor");

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Ours.
    Portcullis,
    /// As the program of TRACE saves it: tensors `alpha_exp`, `beta`, `gamma_exp`.
    Trace,
    /// As the program of Ctrl-G saves it: tensors `alpha_exp`, `beta`, `gamma`.
    CtrlG,
}

impl Form {
    /// Tells the form by the header; the numbers are not read.
    ///
    /// # Errors
    /// When the bytes are no safetensors file, or one of another form.
    pub fn of(bytes: &[u8]) -> Result<Form, FileError> {
        Header::read(bytes)?.form()
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Portcullis => "Portcullis",
            Form::Trace => "TRACE",
            Form::CtrlG => "Ctrl-G",
        })
    }
}

/// A model and what a file says of it.
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
    /// The token that ends a text, where the model knows one.
    pub end_token: Option<Token>,
    /// Anything else worth keeping, such as the command that made the model. All of the header, these included, has
    /// to fit in 1 MiB.
    pub notes: BTreeMap<String, String>,
}

impl ModelFile {
    /// A model of which nothing else is known.
    pub fn new(hmm: Hmm) -> ModelFile {
        ModelFile { hmm, end_token: None, notes: BTreeMap::new() }
    }

    /// Writes our form. The matrices go out as they lie in memory, without a copy; the same model gives the same
    /// bytes. Give a buffered writer, or a file: the writes are few and large.
    ///
    /// # Errors
    /// When the writer fails, or the notes are too long.
    pub fn write(&self, out: &mut impl Write) -> Result<(), FileError> {
        write::write(self, out)
    }

    /// Reads our form. The matrices stay where they lie in `bytes` (a map of a file, say) and are read once, to check
    /// that they are distributions; a tensor that is not aligned to its numbers, which our own writer never leaves, is
    /// copied. The initial distribution and the scales (4 bytes a row) are copied too.
    ///
    /// # Errors
    /// When the bytes are not such a file, are cut short, or hold no model.
    pub fn read(bytes: SharedBytes) -> Result<ModelFile, FileError> {
        let header = Header::read((*bytes).as_ref())?;
        match header.form()? {
            Form::Portcullis => read::read(&header, &bytes),
            form => Err(FileError::Published { form }),
        }
    }

    /// Converts a published model, TRACE's or Ctrl-G's, to the storages that `options` ask for.
    ///
    /// A state's probabilities lie together in these files and apart in ours, so the tensors are turned block by
    /// block, read twice (once for the sums), and no other copy than the result is held. Distributions that miss 1
    /// by a rounding or by their programs' leak of 1e-10 a transition are divided by their sum.
    ///
    /// # Errors
    /// When the bytes are not such a file or are cut short, a tensor is missing or of another shape or type,
    /// `config.json` speaks of another model, a distribution is none, or the storage is too narrow for the model.
    pub fn import(bytes: &[u8], options: &ImportOptions<'_>) -> Result<(ModelFile, ImportReport), FileError> {
        let header = Header::read(bytes)?;
        published::import(&header, options)
    }

    /// Reads any of the forms: ours in its own storages, for which `options` say nothing, a published one as
    /// [`ModelFile::import`] does, with its report.
    ///
    /// # Errors
    /// As [`ModelFile::read`] and [`ModelFile::import`].
    pub fn open(
        bytes: SharedBytes,
        options: &ImportOptions<'_>,
    ) -> Result<(ModelFile, Option<ImportReport>), FileError> {
        let header = Header::read((*bytes).as_ref())?;
        if header.form()? == Form::Portcullis {
            return Ok((read::read(&header, &bytes)?, None));
        }
        let (file, report) = published::import(&header, options)?;
        Ok((file, Some(report)))
    }
}
