//! The texts to learn from: read from a file, or drawn from a language model by all processes.
//!
//! Every process holds all of them, since a step may take any part of their random order: 4 bytes a token, beside gigabytes of parameters.
//! What costs time, the drawing, is divided: a text follows from the seed and its own number, so that a process draws a range of numbers and
//! sends the others what it drew.

use std::path::{Path, PathBuf};

use hmm_control::distil::Sequences;
use hmm_control::{LanguageModel, Token};
use language_models::ngram::TopicModel;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::failure::Failure;
use crate::files::{read, write_whole};
use crate::group::Group;

/// GPT-2's vocabulary, and the token in it that ends a text.
const GPT2: (usize, Token) = (50_257, 50_256);

/// The random numbers of a drawn text are those of a stream of its own. The streams below are the training's.
const STREAMS: u64 = 1 << 63;

#[derive(clap::Args)]
pub struct Texts {
    /// The token sequences, in the format of `portcullis-lab hmm distil --save-rollouts`. Each process reads them.
    #[arg(long, value_name = "FILE", required_unless_present = "lm")]
    rollouts: Option<PathBuf>,
    /// An n-gram language model to draw texts from, which `portcullis-lab hmm distil --save-lm` wrote. Each process draws a part.
    #[arg(long, value_name = "FILE", conflicts_with = "rollouts")]
    lm: Option<PathBuf>,
    /// The number of texts to draw.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    sequences: usize,
    /// The most tokens of a drawn text.
    #[arg(long, value_name = "N", default_value_t = 32)]
    length: usize,
    /// The output file of the drawn texts.
    #[arg(long, value_name = "FILE", requires = "lm")]
    save_rollouts: Option<PathBuf>,
    /// The number of tokens in the vocabulary of the rollouts. GPT-2's by default, with its end token.
    #[arg(long, value_name = "V", requires = "rollouts")]
    vocabulary: Option<usize>,
    /// The token that ends a text, in a vocabulary of another size than GPT-2's.
    #[arg(long, value_name = "TOKEN", requires = "vocabulary")]
    end: Option<Token>,
    /// The share of the texts that is held out for measuring the likelihood.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.02)]
    held_out: f64,
}

/// The texts of a training, and what their tokens are.
pub struct Loaded {
    pub train: Sequences,
    pub held_out: Sequences,
    pub vocabulary: usize,
    pub end: Option<Token>,
}

impl Texts {
    /// The same texts in every process, divided and ordered as `portcullis-lab hmm distil` does.
    pub fn load(&self, group: &Group, seed: u64) -> Result<Loaded, Failure> {
        let (mut all, vocabulary, end) = match (&self.rollouts, &self.lm) {
            (_, Some(path)) => {
                let model = group.agree(model(path))?;
                (self.draw(group, &model, seed)?, model.vocabulary(), model.end())
            }
            (Some(path), None) => {
                let all = group.agree(rollouts(path))?;
                group.agree(same(group, path, &all))?;
                let (vocabulary, end) = match self.vocabulary {
                    Some(vocabulary) => (vocabulary, self.end),
                    None => (GPT2.0, Some(GPT2.1)),
                };
                (all, vocabulary, end)
            }
            (None, None) => return group.agree(Err(Failure::input("name --rollouts or --lm".to_owned()))),
        };
        if let Some(path) = &self.save_rollouts {
            let written = if group.is_first() { write_whole(path, &all.to_bytes()) } else { Ok(()) };
            group.agree(written)?;
        }
        let share = self.held_out;
        let is_share = (0.0..1.0).contains(&share);
        let refused = || Failure::input(format!("--held-out is {share}; it must be at least 0 and below 1"));
        group.agree(is_share.then_some(()).ok_or_else(refused))?;
        let held_out = all.split_off((all.len() as f64 * share) as usize);
        let train = all.shuffled(&mut ChaCha8Rng::seed_from_u64(seed));
        Ok(Loaded { train, held_out, vocabulary, end })
    }

    /// Draws a range of texts here and takes the others' from them.
    fn draw(&self, group: &Group, model: &TopicModel, seed: u64) -> Result<Sequences, Failure> {
        let (count, size) = (self.sequences as u128, group.size() as u128);
        let bound = |rank: usize| (count * rank as u128 / size) as u64;
        let mut own = Sequences::new();
        for number in bound(group.rank())..bound(group.rank() + 1) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(STREAMS | number);
            own.push(&model.write(&model.start(), self.length, &mut rng));
        }
        let own = own.to_bytes();
        let lengths = group.gather(&[own.len() as u64]);
        let mut all = Sequences::new();
        for (rank, length) in lengths.iter().flatten().enumerate() {
            let mut bytes = if rank == group.rank() { own.clone() } else { vec![0; *length as usize] };
            group.broadcast(rank, &mut bytes);
            let part = group.agree(Sequences::from_bytes(&bytes).map_err(Failure::from))?;
            part.iter().for_each(|text| all.push(text));
        }
        Ok(all)
    }
}

fn model(path: &Path) -> Result<TopicModel, Failure> {
    let model = TopicModel::from_bytes(&read(path)?);
    model.map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

fn rollouts(path: &Path) -> Result<Sequences, Failure> {
    let sequences = Sequences::from_bytes(&read(path)?);
    sequences.map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// Checks that this process has the texts of the first one. Each reads a file of its own, which may lie on its own machine.
fn same(group: &Group, path: &Path, texts: &Sequences) -> Result<(), Failure> {
    let words =
        texts.iter().map(|text| text.len() as u64).chain(texts.tokens().iter().map(|t| u64::from(*t)));
    // FNV-1a finds a mistake, and not a forgery.
    let hash =
        words.fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| (hash ^ word).wrapping_mul(0x100_0000_01b3));
    let all = group.gather(&[hash]);
    let first = all.iter().flatten().next();
    if first == Some(&hash) {
        return Ok(());
    }
    Err(Failure::input(format!("{} holds other texts than at rank 0", path.display())))
}
