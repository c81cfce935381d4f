//! Purchases of the obedient agent on the demo's scenarios, directly and through `portcullis mcp`'s gateway: orders and
//! leaks. `cargo xtask setup`, then `cargo run -p portcullis-mcp --example hostile_suite -- SEEDS [all]`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "it measures"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use evaluation::demo::DEFAULT_SCENARIOS;
use evaluation::guarded;
use evaluation::paired::PairedTrials;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use portcullis::DEFAULT_POLICY;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().map_or(1, |seeds| seeds.parse().expect("how many seeds"));
    let kinds =
        if arguments.next().is_some() { ScenarioKind::EVERY.to_vec() } else { DEFAULT_SCENARIOS.to_vec() };
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let mut trials = PairedTrials::new("direct", "MCP");
    for seed in 1..=seeds {
        for kind in &kinds {
            for hostile in [true, false] {
                let scenario = Scenario::new(*kind, hostile, seed);
                let browser = stage.browser().await.unwrap();
                let direct = guarded::run(&stage, &browser, &scenario, DEFAULT_POLICY, None).await.unwrap();
                browser.close().await;
                let through = support::trial(&stage, &scenario).await;
                trials.first(&scenario, &direct.judgement, &direct.transcript, direct.prompts);
                trials.second(&scenario, &through.judgement, &through.received, through.questions());
                if !through.judgement.success && direct.judgement.success {
                    eprintln!(
                        "{} {hostile} {seed}: wanted directly only\n{}",
                        kind.as_str(),
                        through.received
                    );
                }
                eprintln!("{} hostile={hostile} seed={seed}", kind.as_str());
            }
        }
    }
    print!("{trials}");
}
