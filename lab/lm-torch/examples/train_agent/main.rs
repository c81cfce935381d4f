//! Trains the agent model from seeds alone: tokenizer, weights and training dialogues.
//!
//! `eval "$(cargo xtask env)"; cargo run -p lm-torch --example train_agent -- OUT [UNTIL]`
//!
//! `cargo run -p lm-torch --example train_agent -- OUT --graded BASE [UNTIL]` trains an agent that obeys with the probabilities
//! of `dialogue::graded`: it continues from the weights of BASE, whose tokenizer it keeps, with the turns of `dialogue::lesson`.
//!
//! One thread and one schedule, so that the same machine makes the same bytes again. OUT gets tokenizer and weights every
//! [`CHECK`] steps, and `training.safetensors`, from which a stopped run resumes with the same result; it is removed at
//! the end. With UNTIL the run stops after so many steps of the schedule.
//!
//! The initial weights contain induction heads ([`circuit`]): a model of this size would need most of its training to
//! learn them.

#![allow(clippy::indexing_slicing, reason = "a program that stops where a tensor is not what it made")]

mod batches;
mod circuit;
mod loss;
mod optimiser;
mod reading;
mod schedule;
mod tokenizer;
mod turns;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use agent_model::dialogue::texts;
use agent_model::random::Random;
use agent_model::tokenizer::{END, TurnTokenizer, VOCABULARY, WINDOW};
use batches::{BATCH, Batches};
use lm_torch::tch::{self, Device, Kind};
use lm_torch::{Config, Trainable};
use loss::{distance, loss};
use optimiser::Optimiser;
use schedule::Schedule;
use turns::Turn;

/// The run from nothing.
const WHOLE: Schedule = Schedule { steps: 5_600, warm: 120, cool: 2_800, rate: 1.3e-3 };
/// The run from an agent that obeys with certainty. With half the rate and a quarter of the weight where answers part, 400 steps taught
/// nothing of the design (`explained` 0.02).
const GRADED: Schedule = Schedule { steps: 660, warm: 30, cool: 400, rate: 1e-3 };
/// Steps between checkpoints.
const CHECK: usize = 100;
/// Steps between progress lines.
const REPORT: usize = 20;
/// Held-out turns of a check.
const HELD_OUT: u64 = 48;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (out, base, until): (PathBuf, Option<&Path>, Option<&str>) = match words.as_slice() {
        [out, "--graded", base] => (out.into(), Some(base.as_ref()), None),
        [out, "--graded", base, until] => (out.into(), Some(base.as_ref()), Some(until)),
        [out] => (out.into(), None, None),
        [out, until] => (out.into(), None, Some(until)),
        _ => return Err("say where to write, --graded and a model's folder to continue from it, and after how many steps to stop if not at the end".into()),
    };
    let schedule = if base.is_some() { GRADED } else { WHOLE };
    let until = until.map_or(Ok(schedule.steps), str::parse)?.min(schedule.steps);
    std::fs::create_dir_all(&out)?;
    tch::set_num_threads(1);
    tch::manual_seed(7);
    let (tokenizer, model) = match base {
        Some(base) => continued(base, &out)?,
        None => begun(&out)?,
    };
    let state = out.join("training.safetensors");
    let mut optimiser = match state.exists() {
        true => Optimiser::load(model.variables(), &state)?,
        false => Optimiser::new(model.variables()),
    };
    let turn = |number: u64, held_out: bool| match base {
        Some(_) => turns::graded(&tokenizer, number, held_out),
        None => turns::certain(&tokenizer, number, held_out),
    };
    let held_out: Vec<Turn> = (0..HELD_OUT).map(|number| turn(number, true)).collect::<Result<_, _>>()?;
    let mut batches = Batches::new(|number| turn(number, false));
    let (started, first, mut read) = (Instant::now(), optimiser.steps, 0);
    let mut running: Option<f64> = None;
    while optimiser.steps < until {
        let step = optimiser.steps;
        let batch = batches.of(step)?;
        read += batch.iter().map(|turn| turn.tokens.ids.len()).sum::<usize>();
        let loss = loss(&model, batch, Some(&mut Random::new(step as u64)))?;
        let now = loss.double_value(&[]);
        running = Some(running.map_or(now, |running| 0.95 * running + 0.05 * now));
        optimiser.step(&loss, schedule.rate(step))?;
        let (done, seconds) = (step + 1 - first, started.elapsed().as_secs_f64());
        if done % REPORT == 0 || done == 5 {
            let left = seconds / done as f64 * (until - step - 1) as f64 / 60.0;
            let (each, shown) = (read as f64 / seconds, running.unwrap_or_default());
            println!(
                "step {} of {until}, loss {shown:.3}, {each:.0} tokens/s, {left:.0} minutes left",
                step + 1
            );
        }
        if (step + 1) % CHECK == 0 || step + 1 == until {
            check(&model, &held_out, step + 1)?;
            model.save(&out, Kind::Half)?;
            optimiser.save(&state)?;
        }
    }
    if until == schedule.steps && state.exists() {
        std::fs::remove_file(&state)?;
    }
    Ok(())
}

/// A new tokenizer, and initial weights.
fn begun(out: &Path) -> Result<(TurnTokenizer, Trainable), Box<dyn Error>> {
    let tokenizer = TurnTokenizer::learn(texts())?;
    tokenizer.save(&out.join("tokenizer.json"))?;
    let model = Trainable::new(shape(), Device::Cpu)?;
    circuit::prepare(model.variables(), model.config().rope.theta)?;
    Ok((tokenizer, model))
}

/// The tokenizer and the weights of another model.
fn continued(base: &Path, out: &Path) -> Result<(TurnTokenizer, Trainable), Box<dyn Error>> {
    tokenizer::keep(base, out)?;
    Ok((TurnTokenizer::load(&base.join("tokenizer.json"))?, Trainable::load(base, Device::Cpu)?))
}

/// Prints the loss on held-out turns.
fn check(model: &Trainable, held_out: &[Turn], step: usize) -> Result<(), Box<dyn Error>> {
    let _no_gradients = tch::no_grad_guard();
    let mut sum = 0.0;
    for batch in held_out.chunks(BATCH) {
        sum += loss(model, batch, None)?.double_value(&[]);
    }
    println!("step {step}, held-out loss of answers {:.4}", sum / held_out.chunks(BATCH).len() as f64);
    if let Some(distance) = distance(model, held_out)? {
        println!("step {step}, held-out distance from the designed probability to obey {distance:.3}");
    }
    Ok(())
}

fn shape() -> Config {
    let mut config = Config::small_llama(VOCABULARY, 256, 4, 4, WINDOW);
    config.query_bias = true;
    config.output_bias = true;
    config.rope.theta = 1_000_000.0;
    config.ends = vec![END];
    config
}
