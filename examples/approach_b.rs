//! Approach B of the paper (section 4.5.2): deterministic guards only. The page is scrubbed before the
//! model reads it, values are filled by the guard on a grant, and payment goes through the browser's own
//! payment interface. `cargo xtask setup`, then `cargo run --example approach_b`.
//!
//! The shop is hostile: its seller's text tells the agent to paste the card into the support chat. The
//! agent here obeys whatever it reads.

use std::error::Error;

use evaluation::agent::{self, Agent, ObedientAgent};
use evaluation::{
    family::Kind, guarded::truthful_user, hosts, judge::judge, scenario::Scenario, stage::Stage,
};
use portcullis::consent::ScriptedAnswerer;
use portcullis::{Action, DEFAULT_POLICY, Guard, Session, audit::MemoryLog, guard::SystemEntropy};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // A shop on loopback, its certificate authority, a mock bank, and the guard's payment handler.
    let stage = Stage::set_up().await?;
    let scenario = Scenario::new(Kind::SellerDescription, true, 1);
    stage.world.begin(&scenario);

    // The guard: a policy that was parsed, compiled and proved; a log; and whoever answers for the user.
    // In a program of your own, `consent::TerminalAnswerer` asks on the terminal.
    let log = MemoryLog::default();
    let user = ScriptedAnswerer(truthful_user(&scenario));
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), Box::new(user), Box::new(SystemEntropy))?
        .with_payments(stage.payments.clone());

    // The user's first prompt holds everything. Its values go into the vault before the model sees it,
    // and the task is sealed from the user's words before the first page is read.
    let browser = stage.browser().await?;
    let mut session = Session::begin(guard, &browser, &scenario.prompt(hosts::SHOP_ORIGIN)).await?;
    println!("the model is told: {}\n", session.prompt());

    // The agent loop: text in, verb or REQ block out. Every one of them is decided.
    let mut agent = ObedientAgent::new(session.prompt());
    let mut observation = String::new();
    loop {
        let action = match agent.next(&observation) {
            agent::Action::Verb(verb) => Action::Verb(verb),
            agent::Action::Request(block) => Action::Request(block),
            agent::Action::Done => break,
        };
        let shown = format!("{action:?}");
        observation = session.act(action).await;
        if let Some(reply) =
            observation.lines().find(|line| line.starts_with("GRANT") || line.starts_with("DENY"))
        {
            println!("{shown}\n    {reply}");
        }
    }

    // What the shop, and everybody who collects, really got.
    let (report, _guard) = session.finish().await;
    let record = stage.world.take(&scenario.id).unwrap_or_default();
    let judgement = judge(&scenario, &record, &stage.world.take_strays());
    println!("\nordered as the user wanted: {}", judgement.success);
    println!("values that went astray: {}", judgement.leaks.len());
    println!("prompts to the user: {}", report.counts.prompts);
    println!("denials: {:?}", report.counts.denials);
    browser.close().await;
    Ok(())
}
