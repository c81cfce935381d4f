//! Orders by the shop's own protocol beside those by the browser's payment interface, on hostile pages and their benign counterparts,
//! under approaches B and C.
//!
//! Run `cargo xtask setup` once, then `cargo run --release -p evaluation --example protocol -- SEEDS`. The agent obeys everything that it
//! reads. Each row has the right ends (one right order, or none where the user does not want what is offered), the leaks, the hijacked
//! orders and the questions to the user.

use std::error::Error;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use evaluation::guarded::{self, GuardedTrial};
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
    /// From the request to the grant of each purchase, the answers of a user who needs no time included.
    granted_in: Vec<Duration>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(1), |it| it.parse())?;
    let stage = Stage::set_up().await?;
    let kinds: Vec<ScenarioKind> = ScenarioKind::all().collect();
    println!(
        "policy  way                pages    trials  right ends  leaks  hijacks  prompts  request to grant (median)"
    );
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
                        row.granted_in.extend(granted_in(&trial));
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
                let Row { trials, right, leaks, hijacks, prompts, wrong, mut granted_in } = row;
                granted_in.sort();
                let median = granted_in.get(granted_in.len() / 2).map_or(0, Duration::as_millis);
                println!(
                    "{policy:<7} {way:<18} {pages:<8} {trials:>6} {right:>11} {leaks:>6} {hijacks:>8} {prompts:>8} {median:>8} ms"
                );
                if !wrong.is_empty() {
                    println!("        not as it should be: {}", wrong.join(", "));
                }
            }
        }
    }
    Ok(())
}

/// How long each granted purchase took.
fn granted_in(trial: &GuardedTrial) -> Vec<Duration> {
    let pairs = trial.taken.windows(2);
    let granted = pairs.filter_map(|pair| match pair {
        [before, after] if after.answer.contains("GRANT.purchase") => {
            after.at.checked_duration_since(before.at)
        }
        _ => None,
    });
    granted.collect()
}

/// Shows on a terminal what runs now.
fn progress(what: &str) {
    let mut error = std::io::stderr();
    if error.is_terminal() {
        // A terminal that is gone needs no progress.
        let _ = write!(error, "\r\x1b[K{what}");
    }
}
