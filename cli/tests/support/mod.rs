//! A client of `portcullis mcp` as a process: line by line on its standard streams.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub mod consent;

/// The client's end of the connection.
pub struct Client {
    pub child: Child,
    to: Option<ChildStdin>,
    from: Receiver<String>,
    next: u64,
    /// Answers that arrived while another one was awaited.
    early: HashMap<u64, Value>,
}

/// The longest silence of the server before a test fails.
const MOST_SILENCE: Duration = Duration::from_secs(180);

impl Client {
    pub fn start(command: &mut Command) -> Client {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, lines) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()).lines());
        let (sender, from) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        // Standard error is read, so that the pipe never fills up, and shown if a test fails.
        let said = BufReader::new(child.stderr.take().unwrap()).lines();
        std::thread::spawn(move || said.map_while(Result::ok).for_each(|line| eprintln!("guard: {line}")));
        Client { child, to, from, next: 0, early: HashMap::new() }
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request, and returns its number.
    pub fn post(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    pub fn answer(&mut self, number: u64) -> Value {
        loop {
            if let Some(answer) = self.early.remove(&number) {
                return answer;
            }
            let message = self.message();
            self.keep(message);
        }
    }

    fn message(&mut self) -> Value {
        let line = match self.from.recv_timeout(MOST_SILENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
            Err(RecvTimeoutError::Disconnected) => panic!("the server went away"),
        };
        // Standard output carries only the protocol.
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"))
    }

    fn keep(&mut self, message: Value) {
        if let (Some(to), None) = (message["id"].as_u64(), message.get("method")) {
            self.early.insert(to, message);
        }
    }

    /// As [`Client::call`], with a user who gives this answer to every question during the call. Returns the questions
    /// with the tool's answer.
    pub fn call_before_a_user(&mut self, tool: &str, arguments: Value, answer: &str) -> (String, Vec<Value>) {
        let number = self.post("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let mut asked = Vec::new();
        while !self.early.contains_key(&number) {
            let message = self.message();
            if message["method"] == "elicitation/create" {
                let by_form = message["params"]["mode"] == "form";
                let mut shown = json!({ "action": "accept" });
                if by_form {
                    shown["content"] = json!({ "answer": answer });
                    std::thread::sleep(consent::READS);
                }
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": shown }));
                if by_form {
                    asked.push(message["params"].clone());
                    continue;
                }
                let address = message["params"]["url"].as_str().unwrap_or_else(|| panic!("{message}"));
                asked.push(consent::answer_page(address, answer));
            } else {
                self.keep(message);
            }
        }
        (self.said(number), asked)
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let number = self.post(method, &params);
        self.answer(number)
    }

    pub fn begin(&mut self) -> Vec<String> {
        self.begin_as("2025-06-18", &json!({}))
    }

    /// As [`Client::begin`], for a client that shows addresses to its user.
    pub fn begin_with_a_user(&mut self) -> Vec<String> {
        self.begin_as("2025-11-25", &json!({ "elicitation": { "url": {} } }))
    }

    /// As [`Client::begin`], for a client that has a form of its own.
    pub fn begin_with_a_form(&mut self) -> Vec<String> {
        self.begin_as("2025-11-25", &json!({ "elicitation": { "form": {} } }))
    }

    fn begin_as(&mut self, version: &str, capabilities: &Value) -> Vec<String> {
        let client = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
        assert_eq!(self.ask("initialize", params)["result"]["serverInfo"]["name"], "portcullis");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> String {
        let number = self.post("tools/call", &json!({ "name": tool, "arguments": arguments }));
        self.said(number)
    }

    /// The answer to a call that was sent with [`Client::post`].
    fn said(&mut self, number: u64) -> String {
        let answer = self.answer(number);
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The client disconnects, so the server and its browser end.
    pub fn end(mut self) -> bool {
        drop(self.to.take());
        self.ends_well()
    }

    /// Returns true if the server ends by itself, without an error.
    pub fn ends_well(&mut self) -> bool {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(60) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.child.kill().unwrap();
        false
    }
}

pub fn portcullis() -> Command {
    Command::new(env!("CARGO_BIN_EXE_portcullis"))
}

/// `portcullis mcp` with more arguments, and a passphrase on a file descriptor, since this machine may have no keyring.
pub fn guard(passphrase: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$@\" --passphrase-fd 3 3<\"$PASSPHRASE\"", "sh"]);
    command.arg(env!("CARGO_BIN_EXE_portcullis")).args(arguments).env("PASSPHRASE", passphrase);
    command
}

/// A vault with one value, and its passphrase in a file.
pub fn vault(folder: &Path) -> (PathBuf, PathBuf) {
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
