//! The cost of control in a decode step of a language model on libtorch: `cargo xtask bench decode`, or with
//! `-- small h=1024` only the cases whose names contain all of the words; `threads=2` gives libtorch two threads.
//!
//! One step reads a token and draws the next of the 50 best. With control it also scores and reweighs as many
//! candidates as make that draw exact, and updates the belief. Steps with and without control alternate, in one
//! process, at the same length of text. Weights are random, since only the number of candidates depends on them; for
//! that, logits are spread as widely as a trained model's, outside of the measured time. "By libtorch" is the same control with
//! the look-ahead on the language model's device ([`TorchController`]).

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark")]

#[allow(dead_code, reason = "the other benchmark needs more of it")]
#[path = "../../hmm-control/benches/lookahead/clock.rs"]
mod clock;
#[allow(dead_code, reason = "the other benchmark needs more of it")]
#[path = "../../hmm-control/benches/lookahead/model.rs"]
mod random;

use clock::{Times, once};
use hmm_control::{Controller, Coverage, LanguageModel, Lookahead, Progress, Sampler, Storage, Token};
use lm_torch::tch::{self, Device, Kind};
use lm_torch::{Config, Family, TorchController, TorchModel, TorchProgress, TorchState, Trainable};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const VOCABULARY: usize = 50_257;
const PROMPT: usize = 64;
const ROUNDS: usize = 40;
/// The number of tokens of the look-ahead.
const AHEAD: usize = 16;
const BEST: usize = 50;
const FIRST: usize = 200;
/// The logits of GPT-2 are spread about this many times wider than those of random weights.
const SPREAD: f32 = 8.0;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let (threads, words): (Vec<String>, Vec<String>) =
        words.into_iter().partition(|word| word.starts_with("threads="));
    let threads = threads.first().and_then(|word| word.strip_prefix("threads=")?.parse().ok()).unwrap_or(1);
    tch::set_num_threads(threads);
    tch::manual_seed(1);
    let wanted = |name: &str| words.iter().all(|word| name.split(' ').any(|part| part == word));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("libtorch threads: {threads}; load average {}", load.split(' ').next().unwrap_or("unknown"));
    println!(
        "{:<34} {:>9} {:>9} {:>7} {:>9} {:>9} {:>7} {:>7} {:>11} {:>10}",
        "",
        "bare CPU",
        "with CPU",
        "ratio",
        "bare wall",
        "with wall",
        "ratio",
        "hidden",
        "by libtorch",
        "candidates"
    );
    let devices =
        if tch::Cuda::is_available() { vec![Device::Cpu, Device::Cuda(0)] } else { vec![Device::Cpu] };
    for (states, storage) in [(1024, Storage::F16), (4096, Storage::F16), (4096, Storage::Bits8)] {
        let cases: Vec<_> = [("small", 768, 12, 12), ("large", 1280, 36, 20)]
            .into_iter()
            .flat_map(|size| [Kind::Float, Kind::BFloat16].map(|kind| (size, kind)))
            .flat_map(|(size, kind)| devices.iter().map(move |device| (size, kind, *device)))
            .map(|(size, kind, device)| {
                let kind_name = if kind == Kind::Float { "f32" } else { "bf16" };
                let place = if device == Device::Cpu { "cpu" } else { "cuda" };
                (format!("{} {kind_name} {place} h={states} {storage}", size.0), size, kind, device)
            })
            .filter(|(name, ..)| wanted(name))
            .collect();
        if cases.is_empty() {
            continue;
        }
        let hmm = random::random(states, VOCABULARY).to_storage(storage, storage).unwrap();
        let lookahead = Lookahead::new(hmm, random::classifier(VOCABULARY)).unwrap();
        lookahead.prepare(AHEAD);
        let controller = Controller::new(lookahead, 1.0).unwrap();
        for (name, (_, width, layers, heads), kind, device) in cases {
            let on_device = TorchController::new(controller.clone(), device).unwrap();
            let model = Trainable::new(gpt2(width, layers, heads), device).unwrap().to_model(kind).unwrap();
            compare(&name, &model, &controller, &on_device);
        }
    }
}

fn gpt2(width: usize, layers: usize, heads: usize) -> Config {
    let llama = Config::small_llama(VOCABULARY, width, layers, heads, 1024);
    Config {
        family: Family::Gpt2,
        inner_width: 4 * width,
        query_bias: true,
        output_bias: true,
        inner_bias: true,
        ends: vec![50_256],
        ..llama
    }
}

/// A text that is being generated.
struct Text {
    state: TorchState,
    progress: Progress,
    on_device: TorchProgress,
    token: Token,
    logits: Vec<f32>,
    rng: ChaCha8Rng,
    candidates: Vec<f64>,
}

fn compare(name: &str, model: &TorchModel, controller: &Controller, torch: &TorchController) {
    let sampler = Sampler::new(1.0).unwrap().top_k(BEST);
    let start = || {
        let prompt: Vec<Token> = (0..PROMPT).map(|place| (place * 7919 % VOCABULARY) as Token).collect();
        let (mut state, mut logits) = (model.start(), vec![0.0; VOCABULARY]);
        model.step(&mut state, &prompt, &mut logits).unwrap();
        let progress = controller.lookahead().start();
        let on_device = torch.start().unwrap();
        let rng = ChaCha8Rng::seed_from_u64(1);
        Text { state, progress, on_device, token: 44, logits, rng, candidates: Vec::new() }
    };
    let mut texts = [start(), start(), start(), start()];
    let mut times = [Times::default(), Times::default(), Times::default(), Times::default()];
    for round in 0..=ROUNDS {
        for (way, (text, times)) in texts.iter_mut().zip(&mut times).enumerate() {
            let read = once(|| match way {
                0 => model.step(&mut text.state, &[text.token], &mut text.logits).unwrap(),
                1 => {
                    model.step(&mut text.state, &[text.token], &mut text.logits).unwrap();
                    controller.lookahead().observe(&mut text.progress, text.token);
                }
                3 => {
                    model.step(&mut text.state, &[text.token], &mut text.logits).unwrap();
                    torch.observe(&mut text.on_device, text.token).unwrap();
                }
                _ => std::thread::scope(|scope| {
                    scope.spawn(|| controller.lookahead().observe(&mut text.progress, text.token));
                    model.step(&mut text.state, &[text.token], &mut text.logits).unwrap();
                }),
            });
            text.logits.iter_mut().for_each(|logit| *logit *= SPREAD);
            let drawn = once(|| {
                if way > 0 {
                    let (logits, coverage) = (&mut text.logits, Coverage::TopK(BEST));
                    let certificate = match way {
                        3 => torch
                            .adjust_candidates(&text.on_device, AHEAD, logits, None, coverage, FIRST)
                            .unwrap(),
                        _ => controller
                            .adjust_candidates(&text.progress, AHEAD, logits, None, coverage, FIRST)
                            .unwrap(),
                    };
                    assert!(certificate.exact);
                    text.candidates.push(certificate.candidates as f64);
                }
                text.token = sampler.draw(&text.logits, &mut text.rng).unwrap();
            });
            if round > 0 {
                times.push(read.0 + drawn.0, read.1 + drawn.1);
            }
        }
    }
    let [bare, with, hidden, on_device] = &times;
    println!(
        "{name:<34} {:>9.2} {:>9.2} {:>7.3} {:>9.2} {:>9.2} {:>7.3} {:>7.3} {:>11.3} {:>10}",
        bare.cpu_median(),
        with.cpu_median(),
        with.cpu_median() / bare.cpu_median(),
        bare.wall_median(),
        with.wall_median(),
        with.wall_median() / bare.wall_median(),
        hidden.wall_median() / bare.wall_median(),
        on_device.wall_median() / bare.wall_median(),
        clock::median(&texts[1].candidates),
    );
}
