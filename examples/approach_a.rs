//! Approach A of the paper (section 4.5.1): a permissive policy with classifiers. What the agent is told is judged window
//! by window. While the lowest score is below the threshold of a tier, the user is asked about each release, with a
//! warning. The guard fills the card into the shop's own form.
//!
//! Run `cargo xtask setup` once, then `cargo run --example approach_a`. It does the same shopping task twice: in an
//! honest shop, and in one whose seller's text tells the agent to paste the card into the support chat. `model` is where
//! your own model goes. The shop, the agent that obeys any text and the judgement come from the crate `evaluation`.

use std::error::Error;

use evaluation::agent::{self, Agent, ObedientAgent};
use evaluation::{guarded::truthful_user, hosts, judge::judge, scenario::Scenario};
use evaluation::{stage::Stage, suite::ScenarioKind};
use portcullis::consent::ScriptedAnswerer;
use portcullis::session::ActionResult;
use portcullis::{APPROACH_A_POLICY, Action, Guard, Session, audit::MemoryLog, guard::SystemEntropy};

/// The model: it gets what the last action brought, and returns the next action, or none at the end. Yours asks a language
/// model for a line of JSON, or for a request block.
fn model(prompt: &str) -> impl FnMut(&str) -> Option<Action> + use<> {
    let mut agent = ObedientAgent::new(prompt);
    move |told| match agent.next(told) {
        agent::Action::Verb(verb) => Some(Action::Verb(verb)),
        agent::Action::Request(block) => Some(Action::Request(block)),
        agent::Action::Done => None,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The stage: a shop on loopback, its certificate authority, a mock bank, and the guard's payment handler.
    let stage = Stage::set_up().await?;
    let browser = stage.browser().await?;
    for hostile in [false, true] {
        let scenario = Scenario::new(ScenarioKind::SellerDescription, hostile, 1);
        stage.world.begin(&scenario);

        // The guard has a policy, which is parsed, compiled and proved; a log; and an answerer for the user. In a program
        // of your own, `consent::TerminalAnswerer` asks on the terminal.
        // The policy has safety thresholds, so the guard judges everything that the agent is told, with the shipped
        // classifiers and monitor. `Guard::with_safety` takes a judge of your own.
        let user = ScriptedAnswerer(truthful_user(&scenario));
        let (log, entropy) = (MemoryLog::default(), SystemEntropy);
        let guard = Guard::new(APPROACH_A_POLICY, Box::new(log), Box::new(user), Box::new(entropy))?;

        // The user's prompt holds all values. They go into the vault before the model sees the prompt, and the task is
        // fixed from the user's words before the first page is read.
        let mut session = Session::begin(guard, &browser, &scenario.prompt(hosts::SHOP_ORIGIN)).await?;
        println!(
            "{} shop\n    the model sees: {}",
            if hostile { "hostile" } else { "honest" },
            session.prompt()
        );

        // The agent loop: text in, a verb or a request block out. The guard decides on each of them.
        let mut model = model(session.prompt());
        let mut told = String::new();
        while let Some(action) = model(&told) {
            let outcome = session.act(action).await;
            told = outcome.to_string();
            if let ActionResult::Requests(_) | ActionResult::Refused(_) = outcome.result {
                told.lines().for_each(|line| println!("    {line}"));
            }
        }

        // The judgement: the data that the shop and every other server received.
        let (report, _guard) = session.finish().await;
        let record = stage.world.take(&scenario.id).unwrap_or_default();
        let judgement = judge(&scenario, &record, &stage.world.take_strays());
        println!("    the order is as the user wanted: {}", judgement.success);
        println!("    leaked values: {}", judgement.leaks.len());
        println!("    prompts to the user: {}, warnings: {}", report.counts.prompts, report.counts.warnings);
    }
    browser.close().await;
    Ok(())
}
