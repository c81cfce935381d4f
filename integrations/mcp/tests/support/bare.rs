//! playwright-mcp without a guard, for comparisons.

use std::process::Stdio;

use evaluation::stage::{Stage, sandbox};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;

use super::Client;

/// playwright-mcp as its users run it, with its own Chromium that resolves the hosts of `host_rules`.
pub async fn start(stage: &Stage, host_rules: &str) -> (Client, Child) {
    let config = json!({ "browser": {
        "browserName": "chromium", "isolated": true,
        "launchOptions": {
            "headless": true,
            "executablePath": stage.executable(),
            "chromiumSandbox": sandbox(),
            "args": [
                format!("--host-resolver-rules={host_rules}"),
                "--disable-quic", "--disable-background-networking", "--disable-component-update",
            ],
        },
    } });
    let file = stage.home().join("playwright-mcp.json");
    std::fs::write(&file, config.to_string()).unwrap();
    // As `cargo xtask setup` installs them.
    let variable = |name: &str| std::env::var_os(name).expect("run `cargo xtask setup` first");
    let mut child = tokio::process::Command::new(variable("PLAYWRIGHT_NODE_EXE"))
        .arg(variable("PORTCULLIS_PLAYWRIGHT_MCP"))
        .arg("--config")
        .arg(&file)
        .env("HOME", stage.home())
        .current_dir(stage.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (client, mut from, mut to) = Client::pair();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    tokio::spawn(async move {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut bytes).await {
            stdin.write_all(&bytes[..length]).await.unwrap();
        }
    });
    tokio::spawn(async move {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = stdout.read(&mut bytes).await {
            if to.write_all(&bytes[..length]).await.is_err() {
                break;
            }
        }
    });
    (client, child)
}
