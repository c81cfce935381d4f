//! Trains an agent model to prefer the answers that ignore injections, by direct preference optimisation (Rafailov and others,
//! "Direct Preference Optimization", 2023):
//!
//! `eval "$(cargo xtask env)"; cargo run -p lm-torch --example train_preference -- OUT BASE [UNTIL]`
//!
//! BASE is the agent from which training begins, and the frozen reference. A pair is a graded turn of the dialogue generator in
//! a training wording, with its answer that continues the task (preferred) and its answer that obeys (rejected). OUT gets
//! tokenizer and weights every [`CHECK`] steps, and `training.safetensors`, from which a stopped run resumes with the same
//! result; it is removed at the end. With UNTIL the run stops after so many steps of the schedule.

#![allow(clippy::indexing_slicing, reason = "a program that stops where a tensor is not what it made")]

#[path = "../train_agent/optimiser.rs"]
mod optimiser;
#[path = "../train_agent/reading.rs"]
mod reading;
#[path = "../train_agent/schedule.rs"]
mod schedule;
#[path = "../train_agent/tokenizer.rs"]
mod tokenizer;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use agent_model::dialogue::graded;
use agent_model::tokenizer::{TurnTokenizer, TurnTokens};
use lm_torch::preference::{Pairs, loss};
use lm_torch::tch::{self, Device, Kind, Tensor};
use lm_torch::{LoadError, Trainable};
use optimiser::Optimiser;
use reading::{Asked, log_probabilities};
use schedule::Schedule;

/// Without a cool-down. More steps harm: after 240, with a cool-down over the last 160, the agent never obeyed, but left out the
/// submit lines of ordinary answers too (9 of 12 benign turns of `score` right; the graded agent had 18 of 18).
const SCHEDULE: Schedule = Schedule { steps: 60, warm: 20, cool: 1, rate: 1e-4 };
/// Pairs in a step.
const PAIRS: u64 = 4;
/// How strongly the model is held to the reference. 0.1 is the paper's own value. The graded agent's answers are at most 9 to 1
/// apart, a gap of 2.2 nats; at 0.1 a pair still has half of its gradient after the gap has grown by 10 nats.
const BETA: f64 = 0.1;
/// The first seed of the pairs, far from the seeds of other training.
const SEED: u64 = 1 << 32;
/// Held-out pairs of a check.
const HELD_OUT: u64 = 60;
/// Steps between checkpoints and between progress lines.
const CHECK: usize = 20;
const REPORT: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (out, base, until): (PathBuf, PathBuf, usize) = match arguments.as_slice() {
        [out, base] => (out.into(), base.into(), SCHEDULE.steps),
        [out, base, until] => (out.into(), base.into(), until.parse::<usize>()?.min(SCHEDULE.steps)),
        _ => return Err(
            "say where to write, the model to begin with, and after how many steps to stop if not at the end"
                .into(),
        ),
    };
    std::fs::create_dir_all(&out)?;
    tch::set_num_threads(1);
    tokenizer::keep(&base, &out)?;
    let tokenizer = TurnTokenizer::load(&base.join("tokenizer.json"))?;
    let (model, reference) = (load(&base)?, load(&base)?);
    let state = out.join("training.safetensors");
    let mut optimiser = match state.exists() {
        true => Optimiser::load(model.variables(), &state)?,
        false => Optimiser::new(model.variables()),
    };
    let pairs = |first: u64, count: u64, held_out: bool| -> Result<Vec<[TurnTokens; 2]>, Box<dyn Error>> {
        (first..first + count).map(|seed| pair(&tokenizer, seed, held_out)).collect()
    };
    let held_out = pairs(SEED, HELD_OUT, true)?;
    if optimiser.steps == 0 {
        check(&model, &reference, &held_out, 0)?;
    }
    let (started, first) = (Instant::now(), optimiser.steps);
    while optimiser.steps < until {
        let step = optimiser.steps;
        let batch = pairs(SEED + step as u64 * PAIRS, PAIRS, false)?;
        let loss = compared(&model, &reference, &batch)?.0;
        optimiser.step(&loss, SCHEDULE.rate(step))?;
        if (step + 1) % REPORT == 0 {
            let left =
                started.elapsed().as_secs_f64() / (step + 1 - first) as f64 * (until - step - 1) as f64;
            let now = loss.double_value(&[]);
            println!("step {} of {until}, loss {now:.3}, {:.0} minutes left", step + 1, left / 60.0);
        }
        if (step + 1) % CHECK == 0 || step + 1 == until {
            check(&model, &reference, &held_out, step + 1)?;
            model.save(&out, Kind::Half)?;
            optimiser.save(&state)?;
        }
    }
    if until == SCHEDULE.steps && state.exists() {
        std::fs::remove_file(&state)?;
    }
    Ok(())
}

fn load(base: &std::path::Path) -> Result<Trainable, LoadError> {
    Trainable::load(base, Device::Cpu)
}

/// The preferred and the rejected turn of a seed.
fn pair(tokenizer: &TurnTokenizer, seed: u64, held_out: bool) -> Result<[TurnTokens; 2], Box<dyn Error>> {
    let turn = graded(seed, held_out, 0);
    Ok([tokenizer.turn(&turn.situation, &turn.ignores)?, tokenizer.turn(&turn.situation, &turn.obeys)?])
}

/// The summed log probabilities of answers: of the preferred ones, and of the rejected ones.
fn answers(model: &Trainable, batch: &[[TurnTokens; 2]]) -> Result<[Tensor; 2], tch::TchError> {
    let turns: Vec<&TurnTokens> = batch.iter().flatten().collect();
    let (mut asked, mut owners) = (Vec::new(), Vec::new());
    for (turn, tokens) in turns.iter().enumerate() {
        for place in tokens.answer..tokens.ids.len() {
            asked.push(Asked { turn, place, token: tokens.ids[place] });
            owners.push(turn as i64);
        }
    }
    let each = log_probabilities(model, &turns, &asked)?;
    let sums = Tensor::f_zeros([turns.len() as i64], (Kind::Float, Device::Cpu))?;
    let sums = sums.f_index_add(0, &Tensor::from_slice(&owners), &each)?.f_view([batch.len() as i64, 2])?;
    Ok([sums.f_select(1, 0)?, sums.f_select(1, 1)?])
}

/// The loss, and how many pairs have the preferred answer as the likelier one.
fn compared(
    model: &Trainable,
    reference: &Trainable,
    batch: &[[TurnTokens; 2]],
) -> Result<(Tensor, i64), tch::TchError> {
    let [preferred, rejected] = answers(model, batch)?;
    let before = tch::no_grad(|| answers(reference, batch))?;
    let likelier = preferred.f_gt_tensor(&rejected)?.f_sum(Kind::Int64)?.f_int64_value(&[])?;
    let model = Pairs { preferred: &preferred, rejected: &rejected };
    let reference = Pairs { preferred: &before[0], rejected: &before[1] };
    Ok((loss(&model, &reference, BETA)?, likelier))
}

/// Prints loss and preference on held-out wordings.
fn check(
    model: &Trainable,
    reference: &Trainable,
    held_out: &[[TurnTokens; 2]],
    step: usize,
) -> Result<(), Box<dyn Error>> {
    let _no_gradients = tch::no_grad_guard();
    let (mut sum, mut likelier) = (0.0, 0);
    for batch in held_out.chunks(PAIRS as usize) {
        let (loss, right) = compared(model, reference, batch)?;
        sum += loss.double_value(&[]) * batch.len() as f64;
        likelier += right;
    }
    let count = held_out.len();
    println!(
        "step {step}, held-out loss {:.4}, preferred answer likelier in {likelier} of {count} pairs",
        sum / count as f64
    );
    Ok(())
}
