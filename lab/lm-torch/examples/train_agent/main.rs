//! Trains the agent model from seeds alone: tokenizer, weights and training dialogues.
//!
//! `eval "$(cargo xtask env)"; cargo run -p lm-torch --example train_agent -- OUT [UNTIL]`
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
mod optimiser;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use agent_model::dialogue::{example, texts};
use agent_model::random::Random;
use agent_model::tokenizer::{END, TurnTokenizer, TurnTokens, VOCABULARY, WINDOW};
use batches::{BATCH, Batches};
use lm_torch::tch::{self, Device, Kind, Tensor};
use lm_torch::{Config, Trainable};
use optimiser::Optimiser;

/// Steps in all.
const STEPS: usize = 5_600;
/// Warm-up steps, and cool-down steps at the end.
const WARM: usize = 120;
const COOL: usize = 2_800;
/// The highest learning rate, and the share of it at the end.
const RATE: f64 = 1.3e-3;
const LAST: f64 = 0.02;
/// The weight of a context token relative to one of the answer, and the percentage of context tokens that count.
const CONTEXT_WEIGHT: f32 = 0.3;
const CONTEXT_PERCENT: usize = 12;
/// Steps between checkpoints.
const CHECK: usize = 100;
/// Steps between progress lines.
const REPORT: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (out, until): (PathBuf, usize) = match arguments.as_slice() {
        [out] => (out.into(), STEPS),
        [out, until] => (out.into(), until.parse::<usize>()?.min(STEPS)),
        _ => return Err("say where to write, and after how many steps to stop if not at the end".into()),
    };
    std::fs::create_dir_all(&out)?;
    let (state, tokenizer_file) = (out.join("training.safetensors"), out.join("tokenizer.json"));
    tch::set_num_threads(1);
    tch::manual_seed(7);
    let tokenizer = TurnTokenizer::learn(texts())?;
    tokenizer.save(&tokenizer_file)?;
    let model = Trainable::new(shape(), Device::Cpu)?;
    circuit::prepare(model.variables(), model.config().rope.theta)?;
    let mut optimiser = match state.exists() {
        true => Optimiser::load(model.variables(), &state)?,
        false => Optimiser::new(model.variables()),
    };
    let held_out: Vec<TurnTokens> =
        (0..48).map(|seed| tokenizer.example(&example(seed, true))).collect::<Result<_, _>>()?;
    let mut batches = Batches::new(&tokenizer);
    let (started, begun, mut read) = (Instant::now(), optimiser.steps, 0);
    let mut running: Option<f64> = None;
    while optimiser.steps < until {
        let step = optimiser.steps;
        let batch = batches.of(step)?;
        read += batch.iter().map(|tokens| tokens.ids.len()).sum::<usize>();
        let loss = loss(&model, batch, Some(&mut Random::new(step as u64)))?;
        let now = loss.double_value(&[]);
        running = Some(running.map_or(now, |running| 0.95 * running + 0.05 * now));
        optimiser.step(&loss, rate(step))?;
        let (done, seconds) = (step + 1 - begun, started.elapsed().as_secs_f64());
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
    if until == STEPS && state.exists() {
        std::fs::remove_file(&state)?;
    }
    Ok(())
}

/// Prints the loss on held-out turns.
fn check(model: &Trainable, held_out: &[TurnTokens], step: usize) -> Result<(), Box<dyn Error>> {
    let _no_gradients = tch::no_grad_guard();
    let mut sum = 0.0;
    for batch in held_out.chunks(BATCH) {
        sum += loss(model, batch, None)?.double_value(&[]);
    }
    println!("step {step}, held-out loss of answers {:.4}", sum / held_out.chunks(BATCH).len() as f64);
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

/// The learning rate of a step: linear warm-up, constant, linear cool-down. Before the cool-down, [`STEPS`] may still be
/// changed without losing the steps so far.
fn rate(step: usize) -> f64 {
    let up = (step + 1) as f64 / WARM as f64;
    let down = LAST + (1.0 - LAST) * (STEPS - step) as f64 / COOL as f64;
    RATE * up.min(down).min(1.0)
}

/// The mean loss of the answers' tokens; with `random`, some context tokens count too, at a lower weight.
fn loss(
    model: &Trainable,
    batch: &[TurnTokens],
    mut random: Option<&mut Random>,
) -> Result<Tensor, tch::TchError> {
    let longest = batch.iter().map(|tokens| tokens.ids.len()).max().unwrap_or(2);
    let (mut ids, mut rows, mut next, mut weights) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for tokens in batch {
        let start = ids.len() as i64;
        for (at, pair) in tokens.ids.windows(2).enumerate() {
            let answers = at + 1 >= tokens.answer;
            let counts = random.as_mut().is_some_and(|random| random.chance(CONTEXT_PERCENT));
            if answers || counts {
                rows.push(start + at as i64);
                next.push(i64::from(pair[1]));
                weights.push(if answers { 1.0 } else { CONTEXT_WEIGHT });
            }
        }
        ids.extend(tokens.ids.iter().take(longest - 1).map(|id| i64::from(*id)));
        ids.resize(start as usize + longest - 1, i64::from(END));
    }
    let ids = Tensor::from_slice(&ids).view([batch.len() as i64, longest as i64 - 1]);
    let hidden = model.hidden(&ids)?.f_flatten(0, 1)?.f_index_select(0, &Tensor::from_slice(&rows))?;
    let head = &model.variables().variables()["model.embed_tokens.weight"];
    let logits = hidden.f_matmul(&head.f_tr()?)?;
    let each =
        logits.f_log_softmax(-1, Kind::Float)?.f_gather(1, &Tensor::from_slice(&next).unsqueeze(1), false)?;
    let weights = Tensor::from_slice(&weights);
    let sum = (each.f_squeeze_dim(1)? * &weights).f_sum(Kind::Float)?;
    Ok(-sum / weights.f_sum(Kind::Float)?)
}
