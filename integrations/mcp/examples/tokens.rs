//! The tokens (o200k) of the answers to an opened page and ten clicks that each change one line of it: through the gateway, and to
//! playwright-mcp alone, which writes its snapshots into files: where the agent reads one of them, and where it reads each.
//! `cargo xtask setup`, then `cargo run -p portcullis-mcp --example tokens -- PAGE.html...`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "it measures"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::Path;

use evaluation::stage::Stage;
use mcp_guard::GatewaySettings;
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::json;
use support::site::Site;
use support::{Client, with_browser};

const HOST: &str = "pages.hostile.test";
const CLICKS: usize = 10;

#[tokio::main]
async fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    assert!(!files.is_empty(), "name the pages to measure with: files of HTML");
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &[HOST]).await;
    let rules = site.browser(&stage).proxy_rules.unwrap_or_default();
    println!("| page | kB | guarded | alone, one snapshot | alone, all snapshots |\n|---|---|---|---|---|");
    let mut sums = [0; 3];
    for (number, file) in files.iter().enumerate() {
        let page = with_buttons(&std::fs::read_to_string(file).expect("a page"));
        let path = format!("/{number}");
        site.put(&format!("{HOST}{path}"), &page);
        let url = format!("https://{HOST}{path}");
        let user = Box::new(ScriptedAnswerer(|_: &ConsentPrompt| Answer::Once));
        let log = Box::new(MemoryLog::default());
        let guard = Guard::new(DEFAULT_POLICY, log, user, Box::new(SystemEntropy)).unwrap();
        let guarded = with_browser(guard, site.browser(&stage), GatewaySettings::default(), async |client| {
            tokens_of(client, &url, false).await
        });
        let guarded = guarded.await;
        let mut alone = [0; 2];
        for (tokens, reads_each) in alone.iter_mut().zip([false, true]) {
            let (mut client, child) = support::bare::start(&stage, &rules).await;
            *tokens = tokens_of(&mut client, &url, reads_each).await;
            drop(child);
        }
        let all = [guarded, alone[0], alone[1]];
        sums.iter_mut().zip(all).for_each(|(sum, tokens)| *sum += tokens);
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        println!("| {name} | {} | {} | {} | {} |", page.len() / 1000, all[0], all[1], all[2]);
    }
    println!("| all | | {} | {} | {} |", sums[0], sums[1], sums[2]);
}

/// The page with ten buttons at its end, which each change the line before them.
fn with_buttons(page: &str) -> String {
    let buttons: String = (0..CLICKS)
        .map(|number| format!("<button id=probe-{number} onclick=\"probe.textContent = 'step {number}'\">Step {number}</button>"))
        .collect();
    format!("{page}<p id=probe>not begun</p>{buttons}")
}

/// The tokens of all answers. Where the page is not told as it opens, one snapshot is asked for, and one after each click if the agent
/// reads each.
async fn tokens_of(client: &mut Client, url: &str, reads_each: bool) -> usize {
    client.begin("2025-11-25").await;
    let opened = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(!opened.is_error, "{}", opened.text);
    let mut told = opened.text;
    if !told.contains("[ref=") {
        told += &client.call("browser_snapshot", json!({})).await.text;
    }
    for number in 0..CLICKS {
        let target = json!({ "element": "a step", "target": format!("#probe-{number}") });
        let clicked = client.call("browser_click", target).await;
        assert!(!clicked.is_error, "{}", clicked.text);
        told += &clicked.text;
        if reads_each {
            told += &client.call("browser_snapshot", json!({})).await.text;
        }
    }
    tiktoken_rs::o200k_base_singleton().encode_ordinary(&told).len()
}
