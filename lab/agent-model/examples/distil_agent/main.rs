//! Distils a hidden Markov model from sampled answers (`answers`):
//!
//! `cargo run -p agent-model --example distil_agent -- lab/agent-model/model FOLDER OUT.safetensors [STATES [STEPS [THREADS]]]`
//!
//! FOLDER holds `answers.bin`. The answers to the last twentieth of the situations are held out. The initial
//! states are suffixes of the text ([`suffixes`]). The step with the best held-out likelihood is written. The same answers
//! give the same model on any number of threads.

mod suffixes;

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use agent_model::tokenizer::{END, TurnTokenizer};
use hmm_control::distil::start::{Clustering, KMeans, from_clusters};
use hmm_control::distil::{Options, Rules, Schedule, Sequences, Trainer};
use hmm_control::{ModelFile, Storage};
use suffixes::suffix_clusters;

/// One answer in so many is held out.
const HELD_OUT: usize = 20;
const PSEUDOCOUNT: f64 = 0.001;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, drawn, out, rest @ ..] = arguments.as_slice() else {
        return Err("name the model's folder, the folder of answers and the file to write".into());
    };
    let number = |place: usize, usual: usize| rest.get(place).map_or(Ok(usual), |text| text.parse());
    let (states, steps, threads) = (number(0, 512)?, number(1, 10)?, number(2, 2)?);
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let drawn = Path::new(drawn);
    let tokenizer = TurnTokenizer::load(&Path::new(model).join("tokenizer.json"))?;
    let mut train = Sequences::from_bytes(&std::fs::read(drawn.join("answers.bin"))?)?;
    let all = train.tokens().len();
    // In the order of sampling, so that at most one situation is on both sides.
    let held_out = train.split_off(train.len() / HELD_OUT);
    println!("{} answers, {all} tokens", train.len() + held_out.len());
    let started = Instant::now();
    let rules = Rules { end: Some(END), pseudocount: PSEUDOCOUNT, ..Rules::default() };
    let clustering =
        Clustering { states, vocabulary: tokenizer.vocabulary(), search: KMeans::default(), rules };
    // The last state is the end state.
    let clusters = suffix_clusters(&train, states - 1, tokenizer.token_bytes());
    let first = from_clusters::<f32>(&train, &clusters, &clustering)?;
    println!("clusters after {:.0} s", started.elapsed().as_secs_f64());
    let mut options = Options::new(Schedule::full_batch(steps as u32)?);
    (options.pseudocount, options.end, options.threads) = (PSEUDOCOUNT, Some(END), threads);
    let mut trainer = Trainer::new(first, &train, &held_out, options)?;
    let mut best = f64::NEG_INFINITY;
    while let Some(report) = trainer.step()? {
        let after = started.elapsed().as_secs_f64();
        let held_out = report.held_out.unwrap_or(report.train);
        println!(
            "step {}: {:.3} nats a token, held out {held_out:.3}, after {after:.0} s",
            report.step, report.train
        );
        if held_out > best {
            best = held_out;
            let mut file = ModelFile::new(trainer.hmm(Storage::F16, Storage::Bits8)?);
            file.end_token = Some(END);
            file.notes.insert("tokenizer".to_owned(), "agent-model".to_owned());
            file.write(&mut BufWriter::new(File::create(out)?))?;
        }
    }
    Ok(())
}
