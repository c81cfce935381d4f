//! The simulated user at the browser, driven through `person.mjs`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::UserBrowserError;
use crate::suite::hosts;
use crate::suite::scenario::{Scenario, decimal};
use crate::trials::stage;
use crate::trials::stage::{Stage, sandbox};

/// The script of the user's actions, and the script that starts their browser.
const SCRIPTS: [(&str, &str); 2] =
    [("person.mjs", include_str!("person.mjs")), ("launch.mjs", include_str!("launch.mjs"))];

/// The paths of Node and `playwright-core`, as `cargo xtask setup` leaves them in the environment.
fn tools() -> Option<(PathBuf, PathBuf)> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let driver = named("PLAYWRIGHT_DRIVER_PATH");
    let in_driver = |name: &str| driver.as_ref().map(|folder| folder.join(name));
    let node = named("PLAYWRIGHT_NODE_EXE").or_else(|| in_driver("node"))?;
    let cli = named("PLAYWRIGHT_CLI_JS").and_then(|cli| cli.parent().map(Path::to_owned));
    Some((node, cli.or_else(|| in_driver("package"))?))
}

/// A simulated user with a browser of their own. Both end with this.
pub(super) struct Person {
    _node: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Person {
    /// Starts the browser with the extension, on a profile in `folder`.
    pub(super) async fn start(
        stage: &Stage,
        folder: &Path,
        extension: &Path,
    ) -> Result<Person, UserBrowserError> {
        let (node, playwright) = tools().ok_or(UserBrowserError::NoPlaywright)?;
        for (name, script) in SCRIPTS {
            std::fs::write(folder.join(name), script)?;
        }
        let script = folder.join("person.mjs");
        let settings = json!({
            "playwright": playwright,
            "profile": folder.join("profile"),
            "home": stage.home(),
            "extension": extension,
            "executable": stage::chromium(),
            "sandbox": sandbox(),
            "rules": stage.world.host_rules(),
        });
        let mut command = Command::new(&node);
        command.arg(&script).arg(settings.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut node = command.spawn()?;
        let (Some(input), Some(output)) = (node.stdin.take(), node.stdout.take()) else {
            return Err(UserBrowserError::Browser("it cannot be spoken to".to_owned()));
        };
        let mut person = Person { _node: node, input, output: BufReader::new(output).lines() };
        person.answer().await?;
        Ok(person)
    }

    /// Does an action; returns true if it was possible.
    pub(super) async fn act(&mut self, act: &Value) -> Result<bool, UserBrowserError> {
        self.input.write_all(format!("{act}\n").as_bytes()).await?;
        Ok(self.answer().await?.as_bool() == Some(true))
    }

    /// Pays at the shop's own form with the user's card, if the page is the shop's and states the right total.
    pub(super) async fn pay(&mut self, scenario: &Scenario) -> Result<bool, UserBrowserError> {
        let person = &scenario.persona;
        let card =
            json!([["number", person.card_number], ["exp", person.card_expiry], ["cvv", person.card_code]]);
        let total = format!("{} {}", decimal(scenario.total()), scenario.currency);
        self.act(&json!({ "act": "pay", "origin": hosts::SHOP_ORIGIN, "total": total, "card": card })).await
    }

    async fn answer(&mut self) -> Result<Value, UserBrowserError> {
        let line =
            self.output.next_line().await?.ok_or_else(|| UserBrowserError::Browser("it ended".to_owned()))?;
        let mut answer: Value = serde_json::from_str(&line).map_err(io::Error::other)?;
        Ok(answer.get_mut("answer").map(Value::take).unwrap_or_default())
    }
}
