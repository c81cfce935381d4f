//! The latency that the guard adds to a call: the same calls to the same pages, alternately through the gateway and to
//! playwright-mcp alone. `cargo xtask setup`, then `cargo run -p portcullis-mcp --example latency -- ROUNDS [pages]`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "it measures"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::time::Instant;

use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use mcp_guard::{GatewaySettings, Snapshots};
use portcullis::audit::MemoryLog;
use serde_json::{Value, json};
use support::{Client, guard_for, with_gateway};

#[tokio::main]
async fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(30, |rounds| rounds.parse().expect("how many rounds"));
    // As playwright-mcp does, the guard adds the page after the action to its answer, unless it is configured
    // otherwise.
    let with_pages = std::env::args().nth(2).is_some_and(|word| word == "pages");
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 1);
    stage.world.begin(&scenario);
    let url = scenario.product_url(hosts::SHOP_ORIGIN);
    let log = MemoryLog::default();
    let guard = guard_for(&stage, &scenario, &log);
    let settings = GatewaySettings {
        snapshots: if with_pages { Snapshots::AfterActions } else { Snapshots::OnRequest },
        ..GatewaySettings::default()
    };
    let (mut bare, child) = support::bare::start(&stage, &stage.world.host_rules()).await;
    let times = with_gateway(guard, &stage, settings, async |guarded: &mut Client| {
        guarded.begin("2025-11-25").await;
        bare.begin("2025-11-25").await;
        let mut times: BTreeMap<&str, [Vec<f64>; 2]> = BTreeMap::new();
        for round in 0..=rounds {
            for (what, tool, arguments) in [
                ("open a page", "browser_navigate", json!({ "url": url })),
                ("read it", "browser_snapshot", json!({})),
                ("hover", "browser_hover", json!({ "target": "form[action$=cart] button" })),
                (
                    "choose an option",
                    "browser_select_option",
                    json!({ "target": "select[name=quantity]", "values": ["2"] }),
                ),
                ("press a key", "browser_press_key", json!({ "key": "PageDown" })),
                // Playwright injects its own scripts (340 kB) into each page with the first call that needs them.
                // Without the guard that call is the reading of the page; behind the guard it is the screenshot.
                ("the first picture", "browser_take_screenshot", json!({})),
                ("another picture", "browser_take_screenshot", json!({})),
            ] {
                // The first of the two may find cold caches.
                let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
                for way in order {
                    let client: &mut Client = if way == 0 { &mut *guarded } else { &mut bare };
                    let took = timed(client, tool, &arguments).await;
                    // The first round starts the processes.
                    if round > 0 {
                        times.entry(what).or_default()[way].push(took);
                    }
                }
            }
        }
        times
    })
    .await;
    drop(child);
    println!("| call | guarded, ms | playwright-mcp alone, ms | added, ms |\n|---|---|---|---|");
    let mut added_by_all = Vec::new();
    for (what, [mut guarded, mut alone]) in times {
        let (guarded, alone) = (median(&mut guarded), median(&mut alone));
        added_by_all.push(guarded - alone);
        println!("| {what} | {guarded:.1} | {alone:.1} | {:+.1} |", guarded - alone);
    }
    println!("median of what is added: {:+.1} ms", median(&mut added_by_all));
}

async fn timed(client: &mut Client, tool: &str, arguments: &Value) -> f64 {
    // A model takes longer than this between two calls. The guard's own waiting passes meanwhile.
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let started = Instant::now();
    let said = client.call(tool, arguments.clone()).await;
    let took = started.elapsed().as_secs_f64() * 1000.0;
    assert!(!said.is_error, "{tool}: {said:?}");
    took
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
