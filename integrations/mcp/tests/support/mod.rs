//! A client that speaks the protocol line by line, so that tests see the bytes on the wire, and an agent of the
//! evaluation that uses it.

#![allow(dead_code, reason = "each test binary uses a part")]

pub mod bare;
pub mod http;
pub mod site;
pub mod user;

use std::collections::HashMap;
use std::time::Duration;

use evaluation::agent::{Action, Agent, ObedientAgent};
use evaluation::guarded::truthful_user;
use evaluation::hosts;
use evaluation::judge::{Judgement, judge};
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use mcp_guard::{Gateway, GatewaySettings, Snapshots};
use portcullis::audit::MemoryLog;
use portcullis::consent::ScriptedAnswerer;
use portcullis::guard::SystemEntropy;
use portcullis::signals::playwright::BrowserSettings;
use portcullis::signals::{ElementRef, Verb};
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// The most actions that an agent may take in one trial.
const MOST_ACTIONS: usize = 60;

/// The longest silence of the server before a test fails.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(180);

/// Longer than the guard's minimum time for reading a question.
const READING_TIME: Duration = Duration::from_millis(900);

/// The client's end of the wire.
pub struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    next: u64,
    /// Answers that arrived while another one was awaited: calls may be answered in any order.
    early: HashMap<u64, Value>,
    /// Everything that was received.
    pub received: String,
}

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAnswer {
    pub text: String,
    pub pictures: usize,
    pub is_error: bool,
}

impl Client {
    /// A client, and the other end for the server.
    pub fn pair() -> (Client, ReadHalf<DuplexStream>, WriteHalf<DuplexStream>) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, out) = tokio::io::split(ours);
        let (their_read, their_write) = tokio::io::split(theirs);
        let lines = BufReader::new(read).lines();
        let client = Client { lines, out, next: 0, early: HashMap::new(), received: String::new() };
        (client, their_read, their_write)
    }

    pub async fn send(&mut self, message: &Value) {
        self.raw(message.to_string().as_bytes()).await;
    }

    /// Sends any line.
    pub async fn raw(&mut self, line: &[u8]) {
        self.part(&[line, b"\n"].concat()).await;
    }

    /// Sends any bytes.
    pub async fn part(&mut self, bytes: &[u8]) {
        self.out.write_all(bytes).await.unwrap();
    }

    /// The next line from the server.
    async fn line(&mut self) -> String {
        let line = tokio::time::timeout(SILENCE_TIMEOUT, self.lines.next_line()).await;
        let line = line.expect("the server says nothing").unwrap().expect("the server went away");
        self.received.push_str(&line);
        self.received.push('\n');
        line
    }

    /// The answer with this number. Earlier answers with other numbers are stored.
    pub async fn answer(&mut self, number: u64) -> Value {
        loop {
            if let Some(answer) = self.early.remove(&number) {
                return answer;
            }
            let message: Value = serde_json::from_str(&self.line().await).unwrap();
            self.keep(message);
        }
    }

    /// Waits until this text was received.
    pub async fn receives(&mut self, words: &str) {
        while !self.received.contains(words) {
            let message: Value = serde_json::from_str(&self.line().await).unwrap();
            self.keep(message);
        }
    }

    fn keep(&mut self, message: Value) {
        if let (Some(to), None) = (message["id"].as_u64(), message.get("method")) {
            self.early.insert(to, message);
        }
    }

    /// The next request of the server with this method.
    pub async fn request(&mut self, method: &str) -> Value {
        loop {
            let message: Value = serde_json::from_str(&self.line().await).unwrap();
            if message["method"] == method && message.get("id").is_some() {
                return message;
            }
            self.keep(message);
        }
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let number = self.request_of(method, params).await;
        self.answer(number).await
    }

    /// Sends a request and returns its number.
    async fn request_of(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let number = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params })).await;
        number
    }

    pub async fn begin(&mut self, version: &str) -> Value {
        self.begin_as("test", version, json!({})).await
    }

    /// As [`Client::begin`], for a client that declares this name and these capabilities.
    pub async fn begin_as(&mut self, name: &str, version: &str, capabilities: Value) -> Value {
        let client = json!({ "name": name, "version": "1" });
        let params =
            json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
        let answer = self.ask("initialize", params).await;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        answer
    }

    pub async fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().expect("tools").clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> ToolAnswer {
        let number = self.post(tool, arguments).await;
        self.said(number).await
    }

    /// As [`Client::call`], for a client that gives this reply (a `result` or an `error`) to every elicitation during the call, after the
    /// minimum time for reading. Returns the parameters of these.
    pub async fn call_replying(
        &mut self,
        tool: &str,
        arguments: Value,
        reply: &Value,
    ) -> (ToolAnswer, Vec<Value>) {
        let number = self.post(tool, arguments).await;
        let mut asked = Vec::new();
        while !self.early.contains_key(&number) {
            let message: Value = serde_json::from_str(&self.line().await).unwrap();
            if message["method"] != "elicitation/create" {
                self.keep(message);
                continue;
            }
            let mut said = reply.clone();
            said["jsonrpc"] = json!("2.0");
            said["id"] = message["id"].clone();
            tokio::time::sleep(READING_TIME).await;
            self.send(&said).await;
            asked.push(message["params"].clone());
        }
        (self.said(number).await, asked)
    }

    /// Calls a tool without waiting for its answer.
    pub async fn post(&mut self, tool: &str, arguments: Value) -> u64 {
        self.request_of("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// The next error that names no request.
    pub async fn error_without_a_number(&mut self) -> Value {
        loop {
            let message: Value = serde_json::from_str(&self.line().await).unwrap();
            if message.get("error").is_some() && message.get("id").is_none() {
                return message;
            }
            self.keep(message);
        }
    }

    /// The answer to a call that was sent with [`Client::post`].
    pub async fn said(&mut self, number: u64) -> ToolAnswer {
        let answer = self.answer(number).await;
        if let Some(text) = answer["error"]["message"].as_str() {
            return ToolAnswer { text: text.to_owned(), pictures: 0, is_error: true };
        }
        let result = &answer["result"];
        let content = result["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let texts: Vec<&str> = content.iter().filter_map(|block| block["text"].as_str()).collect();
        let pictures = content.iter().filter(|block| block["type"] == "image").count();
        ToolAnswer { text: texts.join("\n"), pictures, is_error: result["isError"] == json!(true) }
    }
}

/// A guard with a truthful user.
pub fn guard_for(stage: &Stage, scenario: &Scenario, log: &MemoryLog) -> Guard {
    let user = Box::new(ScriptedAnswerer(truthful_user(scenario)));
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), user, Box::new(SystemEntropy)).unwrap();
    guard.with_payments(stage.payments.clone())
}

/// Runs a gateway, and its client at the same time.
pub async fn with_gateway<T>(
    guard: Guard,
    stage: &Stage,
    settings: GatewaySettings,
    use_it: impl AsyncFnOnce(&mut Client) -> T,
) -> T {
    with_browser(guard, stage.settings(), settings, use_it).await
}

/// As [`with_gateway`], with the test's own browser settings.
pub async fn with_browser<T>(
    guard: Guard,
    browser: BrowserSettings,
    settings: GatewaySettings,
    use_it: impl AsyncFnOnce(&mut Client) -> T,
) -> T {
    let (mut client, read, write) = Client::pair();
    let gateway = Gateway::new(guard, browser, settings);
    let serves = async {
        let served = gateway.serve(read, write).await;
        // The client only sees that the connection was closed.
        if let Err(error) = &served {
            eprintln!("the gateway ended: {error}");
        }
        served
    };
    let (served, used) = tokio::join!(serves, async move {
        let used = use_it(&mut client).await;
        drop(client);
        used
    });
    served.unwrap();
    used
}

/// The results of a trial.
pub struct Trial {
    pub judgement: Judgement,
    /// Everything that the client received.
    pub received: String,
    pub audit: String,
    pub steps: usize,
}

impl Trial {
    /// The number of questions to the user.
    pub fn questions(&self) -> u32 {
        let asked = self.audit.matches(r#""event":"consent_asked""#).count();
        u32::try_from(asked).unwrap()
    }
}

/// The obedient agent buys through MCP.
pub async fn trial(stage: &Stage, scenario: &Scenario) -> Trial {
    stage.world.begin(scenario);
    stage.tapped.take();
    let log = MemoryLog::default();
    let settings = GatewaySettings {
        task: Some(scenario.prompt(hosts::SHOP_ORIGIN)),
        snapshots: Snapshots::OnRequest,
        ..GatewaySettings::default()
    };
    let guard = guard_for(stage, scenario, &log);
    let (received, steps) = with_gateway(guard, stage, settings, async |client: &mut Client| {
        client.begin("2025-06-18").await;
        // The task starts with the first call. The status shows its prompt with handles for the values.
        client.call("browser_wait_for", json!({ "time": 0 })).await;
        let status = client.call("portcullis_status", json!({})).await.text;
        let prompt = status.split_once("- task: ").unwrap().1.to_owned();
        let mut driver = ToolDriver { client, rendered: String::new() };
        let mut agent = ObedientAgent::new(&prompt);
        let (mut observation, mut steps) = (String::new(), 0);
        while steps < MOST_ACTIONS {
            let action = agent.next(&observation);
            if action == Action::Done {
                break;
            }
            observation = driver.carry_out(action).await;
            steps += 1;
        }
        (client.received.clone(), steps)
    })
    .await;
    let record = stage.world.take(&scenario.id).unwrap_or_default();
    let judgement = judge(scenario, &record, &stage.world.take_strays());
    Trial { judgement, received, audit: log.text(), steps }
}

/// Carries an agent's steps out through the tools.
pub struct ToolDriver<'a> {
    pub client: &'a mut Client,
    pub rendered: String,
}

impl ToolDriver<'_> {
    pub async fn carry_out(&mut self, action: Action) -> String {
        let (tool, arguments) = match action {
            Action::Request(block) => ("portcullis_request", json!({ "block": block })),
            Action::Done => return String::new(),
            Action::Verb(verb) => match verb {
                Verb::Open { url } => ("browser_navigate", json!({ "url": url })),
                Verb::Read => {
                    let said = self.client.call("browser_snapshot", json!({})).await.text;
                    self.rendered = said.strip_prefix("### Snapshot\n").unwrap_or(&said).to_owned();
                    return self.rendered.clone();
                }
                Verb::Click { target, .. } => ("browser_click", json!({ "target": target.0 })),
                Verb::Hover { target } => ("browser_hover", json!({ "target": target.0 })),
                Verb::Drag { target, onto } => {
                    ("browser_drag", json!({ "startTarget": target.0, "endTarget": onto.0 }))
                }
                Verb::Type { target, text, .. } => {
                    ("browser_type", json!({ "target": target.0, "text": text }))
                }
                Verb::Select { target, options } => {
                    ("browser_select_option", json!({ "target": target.0, "values": options }))
                }
                Verb::Check { target, on } => {
                    let value = on.to_string();
                    let field =
                        json!({ "target": target.0, "name": "box", "type": "checkbox", "value": value });
                    ("browser_fill_form", json!({ "fields": [field] }))
                }
                Verb::Press { key } => ("browser_press_key", json!({ "key": key })),
                Verb::Wait { milliseconds } => {
                    ("browser_wait_for", json!({ "time": f64::from(milliseconds) / 1000.0 }))
                }
                Verb::Submit { target } => ("browser_click", json!({ "target": self.button_of(&target) })),
                Verb::Back => ("browser_navigate_back", json!({})),
            },
        };
        self.client.call(tool, arguments).await.text
    }

    /// No tool submits a form, so the next button in the snapshot is clicked.
    fn button_of(&self, target: &ElementRef) -> String {
        let mark = format!("[ref={}]", target.0);
        let from = self.rendered.lines().skip_while(|line| !line.contains(&mark));
        let mut buttons = from.filter(|line| line.trim_start().starts_with("- button"));
        let line = buttons.next().unwrap_or_default();
        line.rsplit_once("[ref=").map_or("", |(_, rest)| rest.trim_end_matches(']')).to_owned()
    }
}

/// Answers on the consent page as its own script does, after the minimum time for reading.
pub async fn answer_page(address: &str, answer: &str) {
    let url: url::Url = address.parse().unwrap();
    let nonce = url.fragment().unwrap();
    let shown = say(&url, &format!(r#"{{"show":"{nonce}"}}"#)).await;
    let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{shown}"));
    tokio::time::sleep(READING_TIME).await;
    let subject = shown["subject"].as_str().unwrap();
    say(&url, &format!(r#"{{"nonce":"{nonce}","subject":"{subject}","answer":"{answer}"}}"#)).await;
}

/// Sends one message of the page's script, and returns the answer.
async fn say(url: &url::Url, body: &str) -> String {
    let port = url.port().unwrap();
    let head = format!(
        "POST {}say HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nOrigin: http://127.0.0.1:{port}\r\n\
         Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: same-origin\r\nSec-Fetch-Dest: empty\r\n\
         Content-Type: application/json\r\nX-Portcullis: consent\r\nContent-Length: {}\r\n\r\n",
        url.path(),
        body.len(),
    );
    let mut connection = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    connection.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}
