//! An order at a shop that speaks UCP, a checkout protocol: the guard orders from the shop itself, and no form is filled.
//!
//! Run `cargo xtask setup` once, then `cargo run --example buy_by_protocol`. The agent names the shop's item and a number. The guard tells
//! the shop the address, asks the user about exactly the checkout that the shop signed, signs a mandate for it, and completes it. The
//! shop comes from the crate `evaluation`, and takes test money.

use std::error::Error;
use std::sync::Arc;

use evaluation::{hosts, scenario::Scenario, stage::Stage, suite::ScenarioKind};
use portcullis::checkout::FileJournal;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::orders::{OrderDesk, ProfileServer};
use portcullis::signals::Verb;
use portcullis::{Action, DEFAULT_POLICY, Guard, Session, audit::MemoryLog, guard::SystemEntropy};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The stage: a shop on loopback that speaks UCP and verifies mandates, and its certificate authority.
    let stage = Stage::set_up().await?;
    let browser = stage.browser().await?;
    let scenario = Scenario::new(ScenarioKind::Review, true, 1).taking_orders();

    // Orders need the address of the guard's profile, a means of payment, and a journal that a crash cannot lose.
    let folder = tempfile::tempdir()?;
    let journal = Arc::new(FileJournal::open(&folder.path().join("orders.journal"))?);
    let server = ProfileServer::start().await?;
    let (agent, means) = (server.url().clone(), OrderDesk::test_money("purse"));
    let desk = Arc::new(OrderDesk::new(agent, means, journal, stage.world.ca_pem().as_bytes())?);

    // The user. In a program of your own, `consent::TerminalAnswerer` asks on the terminal.
    let user = ScriptedAnswerer(|prompt: &ConsentPrompt| {
        println!("{prompt}");
        Answer::Session
    });
    let log = Box::new(MemoryLog::default());
    let guard = Guard::new(DEFAULT_POLICY, log, Box::new(user), Box::new(SystemEntropy))?;

    // A shop finds the key of the guard's mandates in the guard's profile. This one knows it already.
    let profile = desk.profile(&guard.mandate_key().ok_or("the vault is locked")?);
    server.publish(&profile);
    stage.world.trust(&profile);
    let guard = guard.with_orders(desk);
    stage.world.begin(&scenario);

    // The agent opens the shop's page, and asks for a purchase.
    let mut session = Session::begin(guard, &browser, &scenario.prompt(hosts::SHOP_ORIGIN)).await?;
    let url = scenario.product_url(hosts::SHOP_ORIGIN);
    session.act(Action::Verb(Verb::Open { url })).await;
    println!("the model sees: {}", session.act(Action::Verb(Verb::Read)).await);
    let block = format!("REQ.purchase items={{\"{}.1\":{}}}\nREQ.end", scenario.id, scenario.quantity);
    println!("the guard answers: {}", session.act(Action::Request(block)).await);

    session.finish().await;
    let record = stage.world.take(&scenario.id).unwrap_or_default();
    println!("the shop has: {:?}", record.orders);
    browser.close().await;
    Ok(())
}
