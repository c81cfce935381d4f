//! The forms that TRACE and Ctrl-G publish.
//!
//! The formats are taken from their programs: `src/hmm.py` of TRACE (commit 222ab6f) and `ctrlg/hmm.py` of Ctrl-G (db7c6ad). Both
//! save `alpha_exp` (`h x h`, probabilities, row: the state a transition comes from) and `beta` (`h x V`,
//! logarithms). TRACE's `gamma_exp` (`1 x h`) holds probabilities, Ctrl-G's `gamma` (`h`) logarithms. TRACE's
//! files also hold what it computed for a classifier (`weighted_beta`, as large as `beta`); it is not read.

use super::error::{FileError, Form};
use super::format::ModelFile;
use super::header::{Header, Tensor};
use super::source::Source;
use crate::{Hmm, Matrix, SharedBytes, Storage, Token};
use serde_json::Value;

/// How a published model is converted.
#[derive(Debug, Clone, Copy)]
pub struct ImportOptions<'a> {
    /// The storage of the transitions.
    pub transition: Storage,
    /// The storage of the emissions.
    pub emission: Storage,
    /// The text of the `config.json` of a published model. It names the token that ends a text, and the model's sizes.
    pub config: Option<&'a str>,
}

impl Default for ImportOptions<'_> {
    /// 16-bit floats for both, no `config.json`.
    fn default() -> Self {
        ImportOptions { transition: Storage::F16, emission: Storage::F16, config: None }
    }
}

/// The report of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportReport {
    /// The form of the file.
    pub form: Form,
    /// The distribution whose sum was furthest from 1 before it was divided by it.
    pub largest: Renormalised,
    /// The last state, if it is the end of the text: it stays where it is and emits one token, both with a
    /// probability of at least 0.99, and the token is that of `config.json` if there is one.
    pub end_state: Option<usize>,
    /// The token that ends a text: that of `config.json`, else the one that the end state emits.
    pub end_token: Option<Token>,
}

/// A distribution that was divided by its sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Renormalised {
    /// The tensor.
    pub tensor: &'static str,
    /// The state whose distribution it is; 0 for the initial one.
    pub state: usize,
    /// The sum before.
    pub sum: f64,
}

/// The least probability with which the last state has to stay and to emit its token to count as the end.
const END: f64 = 0.99;

impl ModelFile {
    /// Converts a published model, TRACE's or Ctrl-G's, to the storages that `options` ask for.
    ///
    /// A state's probabilities are contiguous in these files and not in ours, so the tensors are transposed block by
    /// block, read twice (once for the sums), and only the result is held in memory. Distributions that miss 1 by a
    /// rounding, or by their programs' leak of 1e-10 per transition, are divided by their sum.
    ///
    /// # Errors
    /// When the bytes are not such a file or are cut short, a tensor is missing or of another shape or type,
    /// `config.json` describes another model, a distribution is invalid, or the storage is too narrow for the model.
    pub fn import(bytes: &[u8], options: &ImportOptions<'_>) -> Result<(ModelFile, ImportReport), FileError> {
        let header = Header::read(bytes)?;
        import(&header, options)
    }

    /// Reads any of the forms: ours in its own storages, whatever the options, and a published one by
    /// [`ModelFile::import`], with its report.
    ///
    /// # Errors
    /// The same as [`ModelFile::read`] and [`ModelFile::import`].
    pub fn open(
        bytes: SharedBytes,
        options: &ImportOptions<'_>,
    ) -> Result<(ModelFile, Option<ImportReport>), FileError> {
        let header = Header::read((*bytes).as_ref())?;
        if header.form()? == Form::Portcullis {
            return Ok((ModelFile::read_with(&header, &bytes)?, None));
        }
        let (file, report) = import(&header, options)?;
        Ok((file, Some(report)))
    }
}

fn import(header: &Header<'_>, options: &ImportOptions<'_>) -> Result<(ModelFile, ImportReport), FileError> {
    let form = header.form()?;
    let (initial, logarithms) = match form {
        Form::Portcullis => return Err(FileError::NotPublished),
        Form::Trace => (header.tensor("gamma_exp")?, false),
        Form::CtrlG => (header.tensor("gamma")?, true),
    };
    let transition = header.tensor("alpha_exp")?;
    transition.expect_shape(&[Err("states"), Err("states")])?;
    let states = transition.shape.first().copied().unwrap_or_default();
    transition.expect_shape(&[Ok(states), Ok(states)])?;
    let emission = header.tensor("beta")?;
    emission.expect_shape(&[Ok(states), Err("tokens")])?;
    let vocabulary = emission.shape.last().copied().unwrap_or_default();
    expect_vector(&initial, states)?;
    let config = options.config.map(|text| Config::read(text, states, vocabulary)).transpose()?;

    let initial = Source::new(&initial, 1, states, logarithms)?;
    let transition = Source::new(&transition, states, states, false)?;
    let emission = Source::new(&emission, states, vocabulary, true)?;
    let sums = [initial.sums()?, transition.sums()?, emission.sums()?];
    let [initial_sums, transition_sums, emission_sums] = &sums;

    let mut first = vec![0.0; states];
    initial.read(0, 0, initial_sums, &mut first);
    let (end_state, emitted) = end(&transition, transition_sums, &emission, emission_sums);
    let end_token = config.as_ref().and_then(|config| config.end_token).or(emitted);
    let end_state = end_state.filter(|_| end_token == emitted);
    let largest = [
        furthest(initial.name(), initial_sums),
        furthest(transition.name(), transition_sums),
        furthest(emission.name(), emission_sums),
    ]
    .into_iter()
    .fold(Renormalised { tensor: emission.name(), state: 0, sum: 1.0 }, further);

    let by_target: Matrix = transition.transposed(transition_sums, options.transition);
    let by_token: Matrix = emission.transposed(emission_sums, options.emission);
    let mut file = ModelFile::new(Hmm::from_parts(first, by_target, by_token)?);
    file.end_token = end_token;
    file.notes.insert("imported from".to_owned(), form.to_string());
    Ok((file, ImportReport { form, largest, end_state, end_token }))
}

/// TRACE stores its initial distribution as a matrix of one row.
fn expect_vector(tensor: &Tensor<'_>, states: usize) -> Result<(), FileError> {
    match tensor.shape {
        [1, _] => tensor.expect_shape(&[Ok(1), Ok(states)]),
        _ => tensor.expect_shape(&[Ok(states)]),
    }
}

/// The last state and the token that it emits, if it is the end of the text.
fn end(
    transition: &Source<'_>,
    transition_sums: &[f64],
    emission: &Source<'_>,
    emission_sums: &[f64],
) -> (Option<usize>, Option<Token>) {
    let last = transition_sums.len().saturating_sub(1);
    let mut stays = [0.0];
    transition.read(last, last, transition_sums, &mut stays);
    let mut tokens = vec![0.0; emission.columns()];
    emission.read(last, 0, emission_sums, &mut tokens);
    let sure = tokens.iter().position(|probability| *probability >= END);
    match sure.and_then(|token| Token::try_from(token).ok()) {
        Some(token) if stays[0] >= END => (Some(last), Some(token)),
        _ => (None, None),
    }
}

fn furthest(tensor: &'static str, sums: &[f64]) -> Renormalised {
    let all = sums.iter().enumerate().map(|(state, &sum)| Renormalised { tensor, state, sum });
    all.fold(Renormalised { tensor, state: 0, sum: 1.0 }, further)
}

fn further(one: Renormalised, other: Renormalised) -> Renormalised {
    if (other.sum - 1.0).abs() > (one.sum - 1.0).abs() { other } else { one }
}

/// The values of `config.json` beyond the sizes, which the tensors have too.
struct Config {
    end_token: Option<Token>,
}

impl Config {
    /// Reads the text and compares it with the model. TRACE calls the states `hidden_size`, Ctrl-G
    /// `hidden_states`.
    fn read(text: &str, states: usize, vocabulary: usize) -> Result<Config, FileError> {
        let wrong = |reason: String| FileError::Config { reason };
        let json: Value = serde_json::from_str(text)
            .map_err(|error| wrong(format!("no JSON (line {}, column {})", error.line(), error.column())))?;
        let number = |key: &str| match json.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_u64()
                .map(Some)
                .ok_or_else(|| wrong(format!("`{key}` is no whole number of at least 0"))),
        };
        for (key, found, what) in [
            ("hidden_size", states, "rows"),
            ("hidden_states", states, "rows"),
            ("vocab_size", vocabulary, "columns"),
        ] {
            if let Some(said) = number(key)?.filter(|said| usize::try_from(*said) != Ok(found)) {
                return Err(wrong(format!("`{key}` is {said}, but tensor `beta` has {found} {what}")));
            }
        }
        let end_token = match number("eos_token_id")? {
            None => None,
            Some(token) => Some(
                Token::try_from(token)
                    .ok()
                    .filter(|token| usize::try_from(*token).is_ok_and(|token| token < vocabulary))
                    .ok_or_else(|| {
                        wrong(format!("`eos_token_id` is {token}, but the model has {vocabulary} tokens"))
                    })?,
            ),
        };
        Ok(Config { end_token })
    }
}
