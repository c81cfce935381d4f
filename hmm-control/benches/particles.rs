//! The cost of a particle beside plain controlled decoding: `cargo bench -p hmm-control --bench particles`.
//!
//! Both write the same number of tokens under the same look-ahead, with a language model that costs only a copy of its
//! logits: what is measured is the control alone, the worst case for the ratio. All cases alternate, and times are CPU
//! times, so that other work on the machine affects both alike.
#![allow(clippy::disallowed_methods, reason = "it measures time")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    dead_code,
    reason = "a benchmark, which shares modules"
)]

#[path = "lookahead/clock.rs"]
mod clock;
#[path = "lookahead/machine.rs"]
mod machine;
#[path = "lookahead/model.rs"]
mod model;

use clock::{Case, interleave};
use hmm_control::particles::{Guide, ParticleDecoding};
use hmm_control::{
    ClausePolicy, Controller, Decoding, Horizon, LanguageModel, Lookahead, RateMeter, Sampler, Scored,
    Storage, Token,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;

const STATES: usize = 1024;
const VOCABULARY: usize = 50_257;
const TOKENS: usize = 8;
const ROUNDS: usize = 7;
const LANES: usize = 16;

/// A language model that always gives the same logits.
struct Same(Vec<f32>);

impl LanguageModel for Same {
    type State = ();
    type Error = std::convert::Infallible;

    fn vocabulary(&self) -> usize {
        self.0.len()
    }

    fn end(&self) -> Option<Token> {
        None
    }

    fn start(&self) {}

    fn step(&self, (): &mut (), _: &[Token], logits: &mut [f32]) -> Result<(), Self::Error> {
        logits.copy_from_slice(&self.0);
        Ok(())
    }
}

fn main() {
    let base = model::random(STATES, VOCABULARY).to_storage(Storage::F16, Storage::F16).unwrap();
    let lookahead = Lookahead::new(base, model::classifier(VOCABULARY)).unwrap();
    lookahead.prepare(TOKENS);
    let controller = Controller::new(lookahead.clone(), 1.0).unwrap();
    let language_model = Same(model::logits(VOCABULARY));
    let horizon = Horizon::Length(TOKENS);
    let sampler = Sampler::new(1.0).unwrap();
    let (meter, policy) = (RateMeter::new(lookahead, 1), ClausePolicy::new(0.0, "none"));
    let plain = Decoding {
        model: &language_model,
        controller: &controller,
        horizon,
        scored: Scored::All,
        meter: &meter,
        policy: &policy,
        sampler,
        read_token: |_: Token, bytes: &mut Vec<u8>| bytes.push(b'a'),
        most_tokens: TOKENS,
        stop: &[],
    };
    let mut seed = 0;
    let mut cases = vec![Case::new("plain controlled decoding", 0.0, || {
        seed += 1;
        black_box(plain.generate(&[], (), &mut ChaCha8Rng::seed_from_u64(seed), |_| {}).unwrap());
    })];
    cases[0].share = TOKENS as f64;
    for particles in [1, 4, 16, 64] {
        for resample_below in [0.0, 1.0] {
            let guide = Guide { controller: &controller, horizon, floor: 1e-6 };
            let decoding = ParticleDecoding {
                model: &language_model,
                guide: Some(guide),
                sampler,
                most_tokens: TOKENS,
                must_end: false,
                stop: &[],
                particles,
                resample_below,
                lanes: LANES,
                threads: 1,
            };
            let name = format!("{particles} particles, resampled below {resample_below}");
            let mut seed = 0;
            let case = Case::new(name, 0.0, move || {
                seed += 1;
                black_box(decoding.run(&[], (), &mut ChaCha8Rng::seed_from_u64(seed)).unwrap());
            });
            cases.push(case.shared(particles * TOKENS));
        }
    }
    println!(
        "h = {STATES}, V = {VOCABULARY}, f16, {TOKENS} tokens, batches of {LANES}; load average {}\n{:<42} {:>9} {:>9} {:>7}",
        machine::load(),
        "milliseconds of CPU for a particle's token",
        "median",
        "least",
        "ratio"
    );
    let times = interleave(&mut cases, ROUNDS);
    let base = times[0].cpu_median();
    for (case, times) in cases.iter().zip(&times) {
        let (median, least) = (times.cpu_median(), times.cpu_least());
        println!("{:<42} {median:>9.3} {least:>9.3} {:>7.2}", case.name, median / base);
    }
}
