//! `portcullis mcp` as a client starts it: on its standard streams, as the configurations in `examples/clients` say.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(command: &mut Command) -> Client {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Client { child, to, from, next: 0 }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let number = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the server went away");
            // Whatever stands on standard output is the protocol's.
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            if message["id"] == json!(number) {
                return message;
            }
        }
    }

    fn begin(&mut self) -> Vec<String> {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        assert_eq!(self.ask("initialize", params)["result"]["serverInfo"]["name"], "portcullis");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The client goes away: so does the server, its browser with it.
    fn end(mut self) -> bool {
        drop(self.to.take());
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.child.kill().unwrap();
        false
    }
}

fn portcullis() -> Command {
    Command::new(env!("CARGO_BIN_EXE_portcullis"))
}

/// A vault with one value, and its passphrase in a file.
fn vault(folder: &Path) -> (PathBuf, PathBuf) {
    let (vault, passphrase) = (folder.join("private").join("vault"), folder.join("passphrase"));
    std::fs::write(&passphrase, "Vexillary ptarmigan 88 kettledrum\n").unwrap();
    let lines = "Vexillary ptarmigan 88 kettledrum\nKesselgasse 7\n";
    for (arguments, input) in [(vec!["init"], "Vexillary ptarmigan 88 kettledrum\n"), (vec!["add"], lines)] {
        let mut command = portcullis();
        command.arg("vault").args(&arguments).arg(&vault);
        if arguments == ["add"] {
            command.args(["address:home", "street"]);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    (vault, passphrase)
}

#[test]
fn the_clients_configurations_start_it() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, passphrase) = vault(folder.path());
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/clients");
    let read = |name: &str| std::fs::read_to_string(clients.join(name)).unwrap();
    let server = |name: &str, path: &str| -> Value {
        serde_json::from_str::<Value>(&read(name)).unwrap().pointer(path).unwrap().clone()
    };
    let list = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    // goose's file is YAML of the plainest kind: its list of arguments is JSON.
    let goose = read("goose.yaml");
    let after =
        |key: &str| goose.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap().trim().to_owned();
    assert_eq!(after("cmd:"), "portcullis");
    let (mcp, vscode) =
        (server("mcp.json", "/mcpServers/browser"), server("vscode.json", "/servers/browser"));
    for arguments in
        [list(&mcp["args"]), list(&vscode["args"]), list(&serde_json::from_str(&after("args:")).unwrap())]
    {
        let arguments = arguments.iter().map(|argument| match argument.as_str() {
            "/home/me/.portcullis/vault" => vault.display().to_string(),
            "/home/me/.portcullis/audit" => folder.path().join("audit").display().to_string(),
            other => other.to_owned(),
        });
        let arguments: Vec<String> = arguments.collect();
        // The passphrase is handed over: this machine may have no keyring.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" --passphrase-fd 3 3<\"$PASSPHRASE\"", "sh"]);
        command.arg(env!("CARGO_BIN_EXE_portcullis")).args(&arguments).env("PASSPHRASE", &passphrase);
        let mut client = Client::start(&mut command);
        let tools = client.begin();
        for tool in ["browser_snapshot", "browser_take_screenshot", "portcullis_request"] {
            assert!(tools.iter().any(|name| name == tool), "{tools:?}");
        }
        assert!(client.call("portcullis_status", json!({})).contains("no page is open"));
        // The browser is there, and goes nowhere on this machine.
        let refused = client.call("browser_navigate", json!({ "url": "https://127.0.0.1:9/" }));
        assert!(refused.contains("DENY.verb"), "{refused}");
        assert!(client.call("portcullis_status", json!({})).contains("container: T0"));
        assert!(client.end());
    }
    let verified = portcullis().args(["audit", "verify"]).arg(folder.path().join("audit")).output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn a_locked_vault_is_said_before_anything_starts_and_standard_input_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, _) = vault(folder.path());
    let mut command = portcullis();
    command.arg("mcp").arg("--vault").arg(&vault).arg("--audit").arg(folder.path().join("audit"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("is locked: run `portcullis vault unlock"), "{said}");
    assert!(output.stdout.is_empty());
}
