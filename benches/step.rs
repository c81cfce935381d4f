//! One step of an agent, navigate and read: with bare Playwright, and through a session under approach B,
//! on the same page in the same browser build. `cargo xtask bench step`; the ratio is printed at the end.
//!
//! The two alternate, so that a change in the speed of the machine affects both.

#![allow(clippy::indexing_slicing, reason = "the lists have the lengths of the constants")]

use std::error::Error;
use std::time::{Duration, Instant};

use browser_signals::Verb;
use evaluation::guarded::truthful_user;
use evaluation::{hosts, scenario::Scenario, stage::Stage, suite::ScenarioKind, unguarded::BareBrowser};
use portcullis::consent::ScriptedAnswerer;
use portcullis::{Action, DEFAULT_POLICY, Guard, Session, audit::MemoryLog, guard::SystemEntropy};

const WARM_UP: usize = 5;
const ROUNDS: usize = 60;

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

async fn run() -> Result<(), Box<dyn Error>> {
    let stage = Stage::set_up().await?;
    let scenario = Scenario::new(ScenarioKind::Review, false, 1);
    stage.world.begin(&scenario);
    let url = scenario.product_url(hosts::SHOP_ORIGIN);

    let bare = BareBrowser::launch(&stage.world).await?;
    let hands = bare.tab().await?;
    let user = ScriptedAnswerer(truthful_user(&scenario));
    let log = Box::new(MemoryLog::default());
    let guard = Guard::new(DEFAULT_POLICY, log, Box::new(user), Box::new(SystemEntropy))?;
    let browser = stage.browser().await?;
    let mut session = Session::begin(guard, &browser, &scenario.prompt(hosts::SHOP_ORIGIN)).await?;

    let open = || Verb::Open { url: url.clone() };
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + ROUNDS {
        let started = Instant::now();
        hands.act(&evaluation::agent::Action::Verb(open())).await;
        let text = hands.act(&evaluation::agent::Action::Verb(Verb::Read)).await;
        let bare_step = started.elapsed();
        assert!(text.contains(&scenario.item), "the bare browser did not read the page");

        let started = Instant::now();
        session.act(Action::Verb(open())).await;
        let text = session.act(Action::Verb(Verb::Read)).await.to_string();
        let guarded_step = started.elapsed();
        assert!(text.contains(&scenario.item), "the guarded browser did not read the page");
        if round >= WARM_UP {
            without.push(bare_step);
            with.push(guarded_step);
        }
    }
    let mut ratios: Vec<f64> =
        with.iter().zip(&without).map(|(w, b)| w.as_secs_f64() / b.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    println!("navigate and read, {ROUNDS} rounds, medians");
    println!("  bare Playwright   {:6.1} ms", median(&mut without).as_secs_f64() * 1e3);
    println!("  under approach B  {:6.1} ms", median(&mut with).as_secs_f64() * 1e3);
    println!(
        "  ratio, pair by pair: median {:.2}, quartiles {:.2} and {:.2}",
        ratios[ROUNDS / 2],
        ratios[ROUNDS / 4],
        ratios[ROUNDS * 3 / 4]
    );

    session.finish().await;
    browser.close().await;
    hands.close().await?;
    bare.close().await?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Runtime::new()?.block_on(run())
}
