//! Compares orders and leaks of the benchmark scenarios in the user's own browser, with the extension and an obedient
//! agent that assists the user, and in the guard's own browser. `cargo xtask setup`, then
//! `cargo build && cargo run --example user_browser_suite -- SEEDS [demo|all]`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measurement that panics fails"
)]

use std::path::Path;

use evaluation::demo::DEFAULT_SCENARIOS;
use evaluation::guarded;
use evaluation::paired::PairedTrials;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use evaluation::user_browser::UserBrowser;
use portcullis::DEFAULT_POLICY;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 =
        arguments.next().map_or(1, |seeds| seeds.parse().expect("the first argument is the number of seeds"));
    let scenarios = match arguments.next().as_deref() {
        None => DEFAULT_SCENARIOS.to_vec(),
        Some("demo") => ScenarioKind::ALL.to_vec(),
        Some(_) => ScenarioKind::EVERY.to_vec(),
    };
    let examples = std::env::current_exe().unwrap();
    let portcullis = examples.parent().and_then(Path::parent).unwrap().join("portcullis");
    let extension = tempfile::tempdir().unwrap();
    portcullis_extension::write_to(extension.path()).unwrap();
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let mut user_browser =
        UserBrowser::start(&stage, DEFAULT_POLICY, &portcullis, extension.path()).await.unwrap();
    let mut trials = PairedTrials::new("direct", "extension");
    for seed in 1..=seeds {
        for kind in &scenarios {
            for hostile in [true, false] {
                let scenario = Scenario::new(*kind, hostile, seed);
                let browser = stage.browser().await.unwrap();
                let direct = guarded::run(&stage, &browser, &scenario, DEFAULT_POLICY, None).await.unwrap();
                browser.close().await;
                let through = user_browser.run(&stage, &scenario).await.unwrap();
                trials.first(&scenario, &direct.judgement, &direct.transcript, direct.prompts);
                trials.second(&scenario, &through.judgement, &through.transcript, through.prompts);
                let name = kind.as_str();
                let differs = through.judgement.success != direct.judgement.success;
                if differs || !through.judgement.leaks.is_empty() || std::env::var_os("SHOW").is_some() {
                    let leaks = &through.judgement.leaks;
                    eprintln!("{name} hostile={hostile} seed={seed} {leaks:?}\n{}", through.transcript);
                }
                eprintln!(
                    "{name} hostile={hostile} seed={seed}: direct {} assisted {}",
                    direct.judgement.success, through.judgement.success
                );
            }
        }
    }
    user_browser.close().await;
    print!("{trials}");
}
