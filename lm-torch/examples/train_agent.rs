//! Trains the agent model on generated dialogues:
//!
//! `LIBTORCH=/path/to/libtorch cargo run -p lm-torch --example train_agent -- OUT TOKENIZER STEPS [THREADS] [FROM [SEED]]`
//!
//! The weights start with a circuit that repeats what was read, set by hand ([`prepare`]): a model of this size would
//! need most of its training to find it. Checkpoints are written as it goes, so that it may be stopped at any time.
//! With FROM it goes on from the weights in that folder, at a lower rate and with the dialogues from SEED on.

#![allow(clippy::indexing_slicing, reason = "a program that stops where a tensor is not what it made")]

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use agent_model::dialogue::example;
use agent_model::random::Random;
use agent_model::words::{END, Tokens, VOCABULARY, WINDOW, Words};
use lm_torch::tch::{self, Device, Kind, Tensor, nn, nn::OptimizerConfig};
use lm_torch::{Config, Trainable};

/// Turns in a step.
const BATCH: usize = 6;
/// Turns that are sorted by their length before they are put into batches.
const POOL: usize = BATCH * 16;
/// The highest learning rate, and that of a training that goes on; the share of the steps that lead up to it, and the
/// share of it at the end.
const RATE: f64 = 1.5e-3;
const RATE_ON: f64 = 8e-4;
const WARM: f64 = 0.04;
const LAST: f64 = 0.05;
/// What a token that is read counts, against one of the answer, and the share of them that count.
const CONTEXT_WEIGHT: f32 = 0.3;
const CONTEXT_PERCENT: usize = 12;
/// Steps between checkpoints.
const CHECK: usize = 60;
/// Numbers of the hidden state that tokens have at the start; what follows is for what stood before them.
const CONTENT: i64 = 160;
/// Numbers by which a token is remembered.
const CODE: i64 = 32;
const HEAD: i64 = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, tokenizer, steps, rest @ ..] = arguments.as_slice() else {
        return Err("say where to write, which tokenizer, and how many steps".into());
    };
    let (out, steps): (PathBuf, usize) = (out.into(), steps.parse()?);
    tch::set_num_threads(rest.first().map_or(Ok(2), |threads| threads.parse())?);
    tch::manual_seed(7);
    let words = Words::load(tokenizer.as_ref())?;
    let model = match rest.get(1) {
        Some(folder) => Trainable::load(folder.as_ref(), Device::Cpu)?,
        None => {
            let model = Trainable::new(shape(), Device::Cpu)?;
            prepare(model.variables(), model.config().rope.theta)?;
            model
        }
    };
    let held_out: Vec<Tokens> =
        (0..48).map(|seed| words.example(&example(seed, true))).collect::<Result<_, _>>()?;
    let settings = nn::AdamW { beta2: 0.98, wd: 0.02, ..nn::AdamW::default() };
    let mut optimiser = settings.build(model.variables(), RATE_ON)?;
    // Another start of the seeds goes on with other dialogues.
    let mut seed: u64 = match (rest.get(1), rest.get(2)) {
        (_, Some(seed)) => seed.parse()?,
        (Some(_), None) => 1 << 32,
        (None, None) => 0,
    };
    let highest = if rest.len() > 1 { RATE_ON } else { RATE };
    let mut random = Random::new(seed);
    let mut batches: Vec<Vec<Tokens>> = Vec::new();
    let (started, mut read, mut running) = (Instant::now(), 0, 0.0);
    for step in 0..steps {
        if batches.is_empty() {
            let mut pool: Vec<Tokens> = (0..POOL as u64)
                .map(|one| words.example(&example(seed + one, false)))
                .collect::<Result<_, _>>()?;
            seed += POOL as u64;
            pool.sort_by_key(|tokens| tokens.ids.len());
            batches = pool.chunks(BATCH).map(<[Tokens]>::to_vec).collect();
        }
        let batch = batches.swap_remove(random.below(batches.len()));
        read += batch.iter().map(|tokens| tokens.ids.len()).sum::<usize>();
        optimiser.set_lr(highest * rate(step, steps));
        let loss = loss(&model, &batch, Some(&mut random))?;
        optimiser.backward_step_clip(&loss, 1.0);
        let now = loss.double_value(&[]);
        running = if step == 0 { now } else { 0.95 * running + 0.05 * now };
        if step < 5 || step % 20 == 0 {
            let seconds = started.elapsed().as_secs_f64();
            println!("step {step} loss {running:.3} tokens {read} tokens/s {:.0}", read as f64 / seconds);
        }
        if (step + 1) % CHECK == 0 || step + 1 == steps {
            let _no_gradients = tch::no_grad_guard();
            let mut sum = 0.0;
            for batch in held_out.chunks(BATCH) {
                sum += crate::loss(&model, batch, None)?.double_value(&[]);
            }
            let mean = sum / held_out.chunks(BATCH).len() as f64;
            println!(
                "step {} held-out loss of answers {mean:.4} after {:.0} s",
                step + 1,
                started.elapsed().as_secs_f64()
            );
            model.save(&out, Kind::Half)?;
            words.save(&out.join("tokenizer.json"))?;
        }
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

/// The share of the highest rate at a step.
fn rate(step: usize, steps: usize) -> f64 {
    let done = step as f64 / steps as f64;
    if done < WARM {
        return (done / WARM).max(0.05);
    }
    let wave = (1.0 + (std::f64::consts::PI * (done - WARM) / (1.0 - WARM)).cos()) / 2.0;
    LAST + (1.0 - LAST) * wave
}

/// The mean loss of the answers' tokens; with `random`, some of the tokens that are read count a little too.
fn loss(
    model: &Trainable,
    batch: &[Tokens],
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

/// Sets a circuit that repeats what was read (Olsson and others, "In-context Learning and Induction Heads", 2022).
///
/// In the first layer, three heads look one, two and three tokens back, wherever they are, and write down a code of
/// what they find. In the second layer, heads look for places that the same tokens stand before as here, and say
/// what stands there: two heads by one token, two by three. All of it goes on learning.
fn prepare(variables: &nn::VarStore, theta: f64) -> Result<(), tch::TchError> {
    let _no_gradients = tch::no_grad_guard();
    let named = variables.variables();
    let get = |name: &str| &named[name];
    let (float, cpu) = (Kind::Float, Device::Cpu);
    let normal = |rows: i64, columns: i64, spread: f64| Tensor::randn([rows, columns], (float, cpu)) * spread;
    let _ = get("model.embed_tokens.weight").narrow(1, CONTENT, 256 - CONTENT).fill_(0.0);
    let _ = get("model.norm.weight").shallow_clone().fill_(2.0);
    let code = normal(CODE, CONTENT, 1.0 / (CONTENT as f64).sqrt());
    let part = |layer: i64, name: &str| get(&format!("model.layers.{layer}.self_attn.{name}"));
    for back in 0..3_i64 {
        let rows = |tensor: &Tensor| tensor.narrow(0, back * HEAD, HEAD);
        for name in ["q_proj.weight", "k_proj.weight", "v_proj.weight"] {
            let _ = rows(part(0, name)).fill_(0.0);
        }
        for pair in 0..6_i64 {
            let angle = theta.powf(-pair as f64 / (HEAD / 2) as f64) * (back + 1) as f64;
            let at = |bias: &Tensor, place: i64, value: f64| rows(bias).narrow(0, place, 1).fill_(value);
            let _ = at(part(0, "q_proj.bias"), pair, 8.0);
            let _ = at(part(0, "k_proj.bias"), pair, 8.0 * angle.cos());
            let _ = at(part(0, "k_proj.bias"), pair + HEAD / 2, 8.0 * angle.sin());
        }
        rows(part(0, "v_proj.weight")).narrow(0, 0, CODE).narrow(1, 0, CONTENT).copy_(&code);
        let outs = part(0, "o_proj.weight").narrow(1, back * HEAD, HEAD);
        let _ = outs.shallow_clone().fill_(0.0);
        let eye = Tensor::eye(CODE, (float, cpu)) * 0.016;
        outs.narrow(0, CONTENT + back * CODE, CODE).narrow(1, 0, CODE).copy_(&eye);
    }
    let flips: Vec<Tensor> = (0..3).map(|_| normal(CODE, 1, 1.0).sign()).collect();
    // A code stands in the slow pairs of a head, which hardly turn within a page.
    let slow = |tensor: &Tensor, codes: &Tensor, from: i64, width: i64| {
        for (half, place) in [(0, HEAD / 4), (1, HEAD * 3 / 4)] {
            let codes = codes.narrow(0, half * CODE / 2, CODE / 2);
            tensor.narrow(0, place, CODE / 2).narrow(1, from, width).copy_(&codes);
        }
    };
    for head in 0..4_i64 {
        let rows = |tensor: &Tensor| tensor.narrow(0, head * HEAD, HEAD);
        for name in ["q_proj.weight", "k_proj.weight", "v_proj.weight"] {
            let _ = rows(part(1, name)).fill_(0.0);
        }
        let (longest, sharp) = if head < 2 { (3, 1.2) } else { (1, 1.5) };
        for back in 0..longest {
            let flip = &flips[back as usize] * sharp * [1.0, 0.85, 0.7][back as usize];
            let own = CONTENT + back * CODE;
            slow(&rows(part(1, "k_proj.weight")), &(Tensor::eye(CODE, (float, cpu)) * &flip), own, CODE);
            match back {
                0 => slow(&rows(part(1, "q_proj.weight")), &(&code * &flip), 0, CONTENT),
                _ => slow(
                    &rows(part(1, "q_proj.weight")),
                    &(Tensor::eye(CODE, (float, cpu)) * &flip),
                    own - CODE,
                    CODE,
                ),
            }
        }
        // What stands there is said, each head one half of it.
        let said = head % 2 * HEAD;
        rows(part(1, "v_proj.weight")).narrow(1, said, HEAD).copy_(&Tensor::eye(HEAD, (float, cpu)));
        let outs = part(1, "o_proj.weight").narrow(1, head * HEAD, HEAD);
        let _ = outs.shallow_clone().fill_(0.0);
        let gain = if head < 2 { 0.05 } else { 0.02 };
        outs.narrow(0, said, HEAD).copy_(&(Tensor::eye(HEAD, (float, cpu)) * gain));
    }
    Ok(())
}
