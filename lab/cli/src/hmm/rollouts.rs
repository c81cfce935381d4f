//! The output of a language model: sampled here, or read from a file.

use std::path::Path;

use hmm_control::distil::Sequences;
use hmm_control::{LanguageModel, Token};
use language_models::ngram::TopicModel;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::failure::Failure;

/// Samples texts of at most `longest` tokens from a language model.
pub fn draw(model: &TopicModel, count: usize, longest: usize, seed: u64) -> Sequences {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut sequences = Sequences::new();
    for _ in 0..count {
        sequences.push(&model.write(&model.start(), longest, &mut rng));
    }
    sequences
}

/// Reads token sequences: in our format, or lines that are each a JSON list of token numbers.
pub fn read(path: &Path) -> Result<Sequences, Failure> {
    let bytes = crate::files::read_bytes(path)?;
    let name = path.display().to_string();
    if bytes.starts_with(b"HMMSEQ") {
        return Sequences::from_bytes(&bytes).map_err(|error| Failure::Input(format!("{name}: {error}")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Input(format!("{name}: neither token sequences of ours nor lines of JSON")))?;
    let mut sequences = Sequences::new();
    let mut begins = 0;
    for line in text.split_inclusive('\n') {
        let place = begins..begins + line.trim_end().len();
        begins += line.len();
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<Vec<Token>>(line) {
            Ok(tokens) => sequences.push(&tokens),
            Err(error) => {
                let message = format!("a line is a list of token numbers, such as [15496, 995]: {error}");
                return Err(Failure::Source { name, text, errors: vec![(place, message)] });
            }
        }
    }
    Ok(sequences)
}
