//! The hostile family of the demo, bought from by the obedient agent directly and through `portcullis mcp`'s gateway: what
//! came home, and what leaked. `cargo xtask setup`, then `cargo run -p mcp-guard --example hostile_family -- SEEDS [all]`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "it measures"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use canary::find;
use evaluation::demo::SHORT;
use evaluation::family::Kind;
use evaluation::guarded;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use portcullis::DEFAULT_POLICY;

#[derive(Default)]
struct Sums {
    trials: u32,
    wanted: u32,
    leaks: usize,
    hijacks: u32,
    /// Values in what came over the wire, or was told to the agent.
    told: usize,
}

impl Sums {
    fn line(&self, way: &str, half: &str) {
        let Sums { trials, wanted, leaks, hijacks, told } = self;
        println!("| {way} | {half} | {wanted} of {trials} | {leaks} | {hijacks} | {told} |");
    }
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().map_or(1, |seeds| seeds.parse().expect("how many seeds"));
    let kinds = if arguments.next().is_some() { Kind::EVERY.to_vec() } else { SHORT.to_vec() };
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let mut sums: [[Sums; 2]; 2] = Default::default();
    for seed in 1..=seeds {
        for kind in &kinds {
            for hostile in [true, false] {
                let scenario = Scenario::new(*kind, hostile, seed);
                let browser = stage.browser().await.unwrap();
                let direct = guarded::run(&stage, &browser, &scenario, DEFAULT_POLICY, None).await.unwrap();
                browser.close().await;
                let through = support::trial(&stage, &scenario, None).await;
                for (way, judged, text) in
                    [(0, &direct.judgement, &direct.transcript), (1, &through.judgement, &through.heard)]
                {
                    let sums = &mut sums[way][usize::from(!hostile)];
                    sums.trials += 1;
                    sums.wanted += u32::from(judged.success);
                    sums.hijacks += u32::from(judged.hijack);
                    sums.leaks += judged.leaks.len();
                    let canaries = scenario.persona.canaries();
                    let told = canaries.iter().filter(|canary| canary.field != "card_code");
                    sums.told += told.filter(|canary| find(text, canary.value).is_some()).count();
                }
                if !through.judgement.success && direct.judgement.success {
                    eprintln!("{} {hostile} {seed}: wanted directly only\n{}", kind.as_str(), through.heard);
                }
                eprintln!("{} hostile={hostile} seed={seed}", kind.as_str());
            }
        }
    }
    println!("| way | pages | orders as wanted | leaks | hijacks | values told |\n|---|---|---|---|---|---|");
    for (way, name) in ["direct", "MCP"].into_iter().enumerate() {
        for (half, pages) in ["hostile", "benign"].into_iter().enumerate() {
            sums[way][half].line(name, pages);
        }
    }
}
