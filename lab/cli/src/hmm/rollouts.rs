//! The output of a language model: sampled here, or read from a file.

use std::path::Path;
use std::time::Instant;

use hmm_control::distil::{Rollouts, Sequences, sample_rollouts};
use hmm_control::{LanguageModel, Token};
use language_models::ngram::TopicModel;
use language_models::transformer::TransformerModel;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::failure::Failure;
use crate::progress::{Progress, spoken};

/// Samples texts of at most `longest` tokens from a language model.
pub fn draw(model: &TopicModel, count: usize, longest: usize, seed: u64) -> Sequences {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut sequences = Sequences::new();
    for _ in 0..count {
        sequences.push(&model.write(&model.start(), longest, &mut rng));
    }
    sequences
}

/// The number of texts that a language model in a folder writes at once.
const LANES: usize = 16;

/// Samples texts from the language model in a folder, on one core. The first batch tells the rate and the time that is left.
pub fn draw_from_folder(
    folder: &Path,
    count: usize,
    longest: usize,
    seed: u64,
    progress: &Progress,
) -> Result<Sequences, Failure> {
    progress.say(format!("reading {}", folder.display()));
    let model = TransformerModel::load(folder).map_err(|error| Failure::Input(error.to_string()))?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut sequences = Sequences::new();
    let began = Instant::now();
    for first in (0..count).step_by(LANES) {
        let count_here = LANES.min(count - first);
        let rollouts =
            Rollouts { count: count_here, longest, lanes: LANES, prompts: &[], keep_prompts: false };
        let drawn = sample_rollouts(&model, &rollouts, &mut rng)
            .map_err(|error| Failure::Input(format!("{}: {error}", folder.display())))?;
        drawn.iter().for_each(|text| sequences.push(text));
        let took = began.elapsed();
        let done = sequences.len();
        let rate = sequences.tokens().len() as f64 / took.as_secs_f64().max(1e-9);
        let left = took.mul_f64((count - done) as f64 / done.max(1) as f64);
        progress.set(done as u64, count as u64);
        progress.say(format!(
            "drawing texts, {done} of {count}: {rate:.0} tokens a second, {} left",
            spoken(left)
        ));
    }
    Ok(sequences)
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
