//! Approach B of the paper (section 4.5.2): deterministic rules only. The page is scrubbed before the model reads it,
//! the guard fills values for a grant, and payment goes through the browser's own payment interface.
//!
//! Run `cargo xtask setup` once, then `cargo run --example approach_b`. The shop is hostile: its seller's text tells
//! the agent to paste the card into the support chat. The agent obeys any text that it reads. Shop, agent and
//! judgement come from the crate `evaluation`.

use std::error::Error;

use evaluation::agent::{self, Agent, ObedientAgent};
use evaluation::{
    guarded::truthful_user, hosts, judge::judge, scenario::Scenario, stage::Stage, suite::ScenarioKind,
};
use portcullis::consent::ScriptedAnswerer;
use portcullis::session::ActionResult;
use portcullis::{Action, DEFAULT_POLICY, Guard, Session, audit::MemoryLog, guard::SystemEntropy};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The stage: a shop on loopback, its certificate authority, a mock bank, and the guard's payment handler.
    let stage = Stage::set_up().await?;
    let scenario = Scenario::new(ScenarioKind::SellerDescription, true, 1);
    stage.world.begin(&scenario);

    // The guard has a policy, which is parsed, compiled and proved; a log; and an answerer for the user. In a program
    // of your own, `consent::TerminalAnswerer` asks on the terminal.
    let log = MemoryLog::default();
    let user = ScriptedAnswerer(truthful_user(&scenario));
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), Box::new(user), Box::new(SystemEntropy))?
        .with_payments(stage.payments.clone());

    // The user's prompt holds all values. They go into the vault before the model sees the prompt, and the task is
    // fixed from the user's words before the first page is read.
    let browser = stage.browser().await?;
    let mut session = Session::begin(guard, &browser, &scenario.prompt(hosts::SHOP_ORIGIN)).await?;
    println!("the model sees: {}\n", session.prompt());

    // The agent loop: text in, a verb or a request block out. The guard decides on each of them.
    let mut agent = ObedientAgent::new(session.prompt());
    let mut observation = String::new();
    loop {
        let action = match agent.next(&observation) {
            agent::Action::Verb(verb) => Action::Verb(verb),
            agent::Action::Request(block) => Action::Request(block),
            agent::Action::Done => break,
        };
        let shown = format!("{action:?}");
        let outcome = session.act(action).await;
        observation = outcome.to_string();
        if let ActionResult::Requests(_) | ActionResult::Refused(_) = outcome.result {
            println!("{shown}\n    {observation}");
        }
    }

    // The judgement: the data that the shop and every other server received.
    let (report, _guard) = session.finish().await;
    let record = stage.world.take(&scenario.id).unwrap_or_default();
    let judgement = judge(&scenario, &record, &stage.world.take_strays());
    println!("\nthe order is as the user wanted: {}", judgement.success);
    println!("leaked values: {}", judgement.leaks.len());
    println!("prompts to the user: {}", report.counts.prompts);
    println!("denials: {:?}", report.counts.denials);
    browser.close().await;
    Ok(())
}
