//! Approach C of the paper (section 4.5.3): the classifiers of approach A, and the checkout of approach B, through
//! the browser's own payment interface.
//!
//! Run `cargo xtask setup` once, then `cargo run --example approach_c`. It does the same shopping task twice: in an
//! honest shop, and in one whose seller's text tells the agent to paste the card into the support chat. The agent
//! obeys any text that it reads. Shop, agent and judgement come from the crate `evaluation`; `approach_b` shows
//! the calls of the guard in full.

use std::error::Error;

use evaluation::{guarded, scenario::Scenario, stage::Stage, suite::ScenarioKind};
use portcullis::APPROACH_C_POLICY;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The stage: a shop on loopback, its certificate authority, a mock bank, and the guard's payment handler.
    let stage = Stage::set_up().await?;
    let browser = stage.browser().await?;
    for hostile in [false, true] {
        let scenario = Scenario::new(ScenarioKind::SellerDescription, hostile, 1);
        // The policy has safety thresholds, so the guard judges everything that the agent is told, with the shipped
        // classifiers and monitor. `Guard::with_safety` takes a judge of your own.
        let trial = guarded::run(&stage, &browser, &scenario, APPROACH_C_POLICY, None).await?;
        println!("{} shop", if hostile { "hostile" } else { "honest" });
        for reply in
            trial.transcript.lines().filter(|line| line.starts_with("GRANT") || line.starts_with("DENY"))
        {
            println!("    {reply}");
        }
        println!("    the order is as the user wanted: {}", trial.judgement.success);
        println!("    leaked values: {}", trial.judgement.leaks.len());
        println!("    prompts to the user: {}, warnings: {}", trial.prompts, trial.warnings);
    }
    browser.close().await;
    Ok(())
}
