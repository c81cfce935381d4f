//! Orders by the shop's own protocol beside those by the browser's payment interface, on hostile pages and their benign counterparts,
//! under approaches B and C.
//!
//! Run `cargo xtask setup` once, then `cargo run --release -p evaluation --example protocol -- SEEDS`. The agent obeys everything that it
//! reads. Each row has the right ends (one right order, or none where the user does not want what is offered), the leaks, the hijacked
//! orders and the questions to the user.

use std::error::Error;
use std::io::{IsTerminal, Write};

use evaluation::guarded;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use portcullis::{APPROACH_C_POLICY, DEFAULT_POLICY};

/// What became of the trials of a row.
#[derive(Default)]
struct Row {
    trials: u32,
    right: u32,
    leaks: u32,
    hijacks: u32,
    prompts: u32,
    wrong: Vec<String>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(1), |it| it.parse())?;
    let stage = Stage::set_up().await?;
    let kinds: Vec<ScenarioKind> = ScenarioKind::EVERY.iter().chain(ScenarioKind::JUDGED).copied().collect();
    println!("policy  way                pages    trials  right ends  leaks  hijacks  prompts");
    for (policy, text) in [("B", DEFAULT_POLICY), ("C", APPROACH_C_POLICY)] {
        for by_protocol in [false, true] {
            for hostile in [true, false] {
                let mut row = Row::default();
                let browser = stage.browser().await?;
                for seed in 1..=seeds {
                    for kind in &kinds {
                        let scenario = Scenario::new(*kind, hostile, seed);
                        let scenario = if by_protocol { scenario.taking_orders() } else { scenario };
                        let trial = guarded::run(&stage, &browser, &scenario, text, None).await?;
                        row.trials += 1;
                        row.right += u32::from(trial.judgement.success);
                        row.leaks += u32::from(!trial.judgement.leaks.is_empty());
                        row.hijacks += u32::from(trial.judgement.hijack);
                        row.prompts += trial.prompts;
                        if !trial.judgement.success {
                            row.wrong.push(format!("{} {seed}", kind.as_str()));
                        }
                        progress(&format!("{policy} {} {}", kind.as_str(), row.trials));
                    }
                }
                browser.close().await;
                progress("");
                let way = if by_protocol { "protocol" } else { "payment interface" };
                let pages = if hostile { "hostile" } else { "benign" };
                let Row { trials, right, leaks, hijacks, prompts, wrong } = row;
                println!(
                    "{policy:<7} {way:<18} {pages:<8} {trials:>6} {right:>11} {leaks:>6} {hijacks:>8} {prompts:>8}"
                );
                if !wrong.is_empty() {
                    println!("        not as it should be: {}", wrong.join(", "));
                }
            }
        }
    }
    Ok(())
}

/// Shows on a terminal what runs now.
fn progress(what: &str) {
    let mut error = std::io::stderr();
    if error.is_terminal() {
        // A terminal that is gone needs no progress.
        let _ = write!(error, "\r\x1b[K{what}");
    }
}
