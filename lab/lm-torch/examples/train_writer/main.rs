//! Trains the small transformer that writes in `portcullis-lab evaluate --question rq1-toxicity --transformer`:
//!
//! `eval "$(cargo xtask env)"; cargo run -p lm-torch --example train_writer -- COLLECTIONS OUT [UNTIL]`
//!
//! COLLECTIONS is the folder of the collections, which are not part of the project; the model learns from the same texts, in the same
//! shares, as the experiment's n-grams. Every text begins after GPT-2's end token, which is never a token to predict, so that the model
//! ends no text. OUT gets the weights every [`CHECK`] steps, and `training.safetensors`, from which a stopped run resumes with the same
//! result; it is removed at the end. With UNTIL the run stops after so many steps of the schedule.

#![allow(clippy::indexing_slicing, reason = "a program that stops where a tensor is not what it made")]

#[path = "../train_agent/optimiser.rs"]
mod optimiser;
#[path = "../train_agent/schedule.rs"]
mod schedule;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use agent_model::random::Random;
use classifier_training::steered_toxicity::LanguageTexts;
use lm_torch::tch::{self, Device, Kind, Reduction, Tensor};
use lm_torch::{Config, Trainable};
use optimiser::Optimiser;
use schedule::Schedule;

/// The schedule and the sizes were fixed before the first run, by the time that it takes.
const SCHEDULE: Schedule = Schedule { steps: 3_000, warm: 100, cool: 1_000, rate: 2e-3 };
const LAYERS: usize = 4;
const WIDTH: usize = 128;
const HEADS: usize = 4;
/// The tokens of GPT-2, and the one after which a text begins.
const VOCABULARY: usize = 50_257;
const END: u32 = 50_256;
/// The most tokens of a training text; of a longer one a part is taken. The experiment reads at most a prompt and twenty tokens.
const LONGEST: usize = 48;
/// The positions of the model, for longer prompts.
const POSITIONS: usize = 256;
/// Texts in a step.
const BATCH: usize = 48;
/// Steps whose texts are sorted by length together, so that the texts of a batch are about as long.
const POOL: usize = 16;
/// One text in so many is held out.
const HELD_OUT: usize = 20;
/// The most held-out texts of a topic in a check.
const CHECKED: usize = 400;
const SEED: i64 = 32;
/// Steps between checkpoints and between progress lines.
const CHECK: usize = 500;
const REPORT: usize = 50;

/// A topic's texts as tokens.
struct Topic {
    name: &'static str,
    share: f64,
    learned: Vec<Vec<u32>>,
    held_out: Vec<Vec<u32>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (data, out, until): (PathBuf, PathBuf, usize) = match arguments.as_slice() {
        [data, out] => (data.into(), out.into(), SCHEDULE.steps),
        [data, out, until] => (data.into(), out.into(), until.parse::<usize>()?.min(SCHEDULE.steps)),
        _ => return Err(
            "say where the collections are, where to write, and after how many steps to stop if not at the end"
                .into(),
        ),
    };
    std::fs::create_dir_all(&out)?;
    let topics = topics(LanguageTexts::read(&data)?)?;
    tch::manual_seed(SEED);
    let mut config = Config::small_llama(VOCABULARY, WIDTH, LAYERS, HEADS, POSITIONS);
    (config.begin, config.ends) = (Some(END), vec![END]);
    let model = Trainable::new(config, Device::Cpu)?;
    let state = out.join("training.safetensors");
    let mut optimiser = match state.exists() {
        true => Optimiser::load(model.variables(), &state)?,
        false => Optimiser::new(model.variables()),
    };
    let (started, first) = (Instant::now(), optimiser.steps);
    let mut pool = (usize::MAX, Vec::new());
    while optimiser.steps < until {
        let step = optimiser.steps;
        if pool.0 != step / POOL {
            pool = (step / POOL, batches(&topics, step / POOL));
        }
        let loss = loss(&model, &pool.1[step % POOL])?;
        optimiser.step(&loss, SCHEDULE.rate(step))?;
        if (step + 1) % REPORT == 0 {
            let left =
                started.elapsed().as_secs_f64() / (step + 1 - first) as f64 * (until - step - 1) as f64;
            let now = loss.double_value(&[]);
            println!("step {} of {until}, loss {now:.3}, {:.0} minutes left", step + 1, left / 60.0);
        }
        if (step + 1) % CHECK == 0 || step + 1 == until {
            check(&model, &topics, step + 1)?;
            model.save(&out, Kind::Float)?;
            optimiser.save(&state)?;
        }
    }
    if until == SCHEDULE.steps && state.exists() {
        std::fs::remove_file(&state)?;
    }
    Ok(())
}

/// The texts as tokens, without those of one token.
fn topics(texts: LanguageTexts) -> Result<Vec<Topic>, Box<dyn Error>> {
    let encoding = tiktoken_rs::r50k_base()?;
    let mut topics = Vec::new();
    for topic in texts.topics {
        let (mut learned, mut held_out) = (Vec::new(), Vec::new());
        for (number, text) in topic.texts.iter().enumerate() {
            let tokens = encoding.encode_ordinary(&format!(" {text}"));
            let part = if number % HELD_OUT == HELD_OUT - 1 { &mut held_out } else { &mut learned };
            if tokens.len() > 1 {
                part.push(tokens);
            }
        }
        held_out.truncate(CHECKED);
        println!("{}: {} texts, {} held out for checks", topic.name, learned.len(), held_out.len());
        topics.push(Topic { name: topic.name, share: topic.share, learned, held_out });
    }
    Ok(topics)
}

/// The batches of a pool of steps, which depend on its number alone.
fn batches(topics: &[Topic], number: usize) -> Vec<Vec<Vec<u32>>> {
    let mut random = Random::new(SEED as u64 ^ (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut texts: Vec<Vec<u32>> = (0..POOL * BATCH).map(|_| drawn(topics, &mut random)).collect();
    texts.sort_by_key(Vec::len);
    let mut batches: Vec<Vec<Vec<u32>>> = texts.chunks(BATCH).map(<[_]>::to_vec).collect();
    for place in (1..batches.len()).rev() {
        batches.swap(place, random.below(place + 1));
    }
    batches
}

/// A text of a topic that is drawn by its share, or a part of one, after the end token.
fn drawn(topics: &[Topic], random: &mut Random) -> Vec<u32> {
    let shares: f64 = topics.iter().map(|topic| topic.share).sum();
    let mut left = random.below(1 << 20) as f64 / f64::from(1 << 20) * shares;
    let topic = topics.iter().find(|topic| {
        left -= topic.share;
        left < 0.0
    });
    let learned = &topic.unwrap_or(&topics[0]).learned;
    let text = &learned[random.below(learned.len())];
    let from = random.below(text.len().saturating_sub(LONGEST) + 1);
    begun(&text[from..])
}

/// At most [`LONGEST`] tokens after the end token.
fn begun(text: &[u32]) -> Vec<u32> {
    std::iter::once(END).chain(text.iter().take(LONGEST).copied()).collect()
}

/// The mean loss of the tokens of texts.
fn loss(model: &Trainable, texts: &[Vec<u32>]) -> Result<Tensor, tch::TchError> {
    // The last token of a text is only predicted.
    let width = texts.iter().map(Vec::len).max().unwrap_or(2) - 1;
    let (mut ids, mut rows, mut next) = (Vec::new(), Vec::new(), Vec::new());
    for (number, text) in texts.iter().enumerate() {
        ids.extend(text.iter().take(width).map(|id| i64::from(*id)));
        ids.resize((number + 1) * width, i64::from(END));
        for (place, token) in text.iter().enumerate().skip(1) {
            rows.push((number * width + place - 1) as i64);
            next.push(i64::from(*token));
        }
    }
    let ids = Tensor::from_slice(&ids).view([texts.len() as i64, width as i64]);
    let hidden = model.hidden(&ids)?.f_flatten(0, 1)?.f_index_select(0, &Tensor::from_slice(&rows))?;
    let head = &model.variables().variables()["model.embed_tokens.weight"];
    let logits = hidden.f_matmul(&head.f_tr()?)?;
    logits.f_cross_entropy_loss(&Tensor::from_slice(&next), None::<&Tensor>, Reduction::Mean, -100, 0.0)
}

/// Prints the loss on held-out texts, in nats a token.
fn check(model: &Trainable, topics: &[Topic], step: usize) -> Result<(), Box<dyn Error>> {
    let _no_gradients = tch::no_grad_guard();
    let mut losses = Vec::new();
    for topic in topics {
        let texts: Vec<Vec<u32>> = topic.held_out.iter().map(|text| begun(text)).collect();
        let (mut sum, mut tokens) = (0.0, 0.0);
        for batch in texts.chunks(BATCH) {
            let count = batch.iter().map(|text| text.len() - 1).sum::<usize>() as f64;
            sum += loss(model, batch)?.double_value(&[]) * count;
            tokens += count;
        }
        losses.push(format!("{} {:.3}", topic.name, sum / f64::max(tokens, 1.0)));
    }
    println!("step {step}, held-out nats a token: {}", losses.join(", "));
    Ok(())
}
