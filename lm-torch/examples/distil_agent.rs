//! Distils a hidden Markov model from the agent model's own answers:
//!
//! `LIBTORCH=/path/to/libtorch cargo run -p lm-torch --example distil_agent -- MODEL OUT.safetensors [ANSWERS [STATES [STEPS [THREADS]]]]`
//!
//! The answers are drawn at temperature 1 over situations of seeds that no training has seen. One in twenty is held out.
//! The same seeds and as many threads give the same file.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use agent_model::dialogue::example;
use agent_model::words::{END, LONGEST_ANSWER, Words};
use hmm_control::distil::start::{Clustering, KMeans, from_contexts};
use hmm_control::distil::{Options, Rollouts, Rules, Schedule, Trainer, sample_rollouts};
use hmm_control::{ModelFile, Storage, Token};
use lm_torch::TorchModel;
use lm_torch::tch::{self, Device, Kind};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The first seed of the situations, and of all chance.
const SEED: u64 = 3 << 32;
/// Answers that are written side by side.
const LANES: usize = 16;
/// One answer in so many is held out.
const HELD_OUT: usize = 20;
const PSEUDOCOUNT: f64 = 0.001;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, out, rest @ ..] = arguments.as_slice() else {
        return Err("name the model's folder and the file to write".into());
    };
    let number = |place: usize, usual: usize| rest.get(place).map_or(Ok(usual), |text| text.parse());
    let (count, states, steps, threads) = (number(0, 2000)?, number(1, 256)?, number(2, 20)?, number(3, 2)?);
    tch::set_num_threads(threads as i32);
    let words = Words::load(&Path::new(model).join("tokenizer.json"))?;
    let language = TorchModel::load(model.as_ref(), Device::Cpu, Kind::Float)?;
    // Situations of like length side by side.
    let mut prompts: Vec<Vec<Token>> = (SEED..SEED + count as u64)
        .map(|seed| words.situation(&example(seed, false).situation))
        .collect::<Result<_, _>>()?;
    prompts.sort_by_key(Vec::len);
    let started = Instant::now();
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let drawn =
        Rollouts { count, longest: LONGEST_ANSWER, lanes: LANES, prompts: &prompts, keep_prompts: false };
    let mut train = sample_rollouts(&language, &drawn, &mut rng)?.shuffled(&mut rng);
    println!(
        "{count} answers, {} tokens, after {:.0} s",
        train.tokens().len(),
        started.elapsed().as_secs_f64()
    );
    let held_out = train.split_off(count / HELD_OUT);
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let mut options = Options::new(Schedule::full_batch(steps as u32)?);
    (options.pseudocount, options.end, options.threads) = (PSEUDOCOUNT, Some(END), threads);
    let clustering = Clustering {
        states,
        vocabulary: words.vocabulary(),
        search: KMeans { threads, ..KMeans::default() },
        rules: Rules { end: Some(END), pseudocount: PSEUDOCOUNT, ..Rules::default() },
    };
    let first = from_contexts::<f32>(&train, &clustering, &mut rng)?;
    let mut trainer = Trainer::new(first, &train, &held_out, options)?;
    while let Some(report) = trainer.step()? {
        let held_out = report.held_out.unwrap_or(f64::NAN);
        println!(
            "step {} of {}: {:.3} nats a token, held out {held_out:.3}",
            report.step, report.steps, report.train
        );
    }
    let mut file = ModelFile::new(trainer.hmm(Storage::F16, Storage::Bits8)?);
    file.end_token = Some(END);
    file.notes.insert("tokenizer".to_owned(), "agent-model".to_owned());
    file.write(&mut BufWriter::new(File::create(out)?))?;
    println!("{out} after {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}
