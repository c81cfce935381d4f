//! A client by HTTP that writes its requests byte by byte, so that tests choose every header.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest wait for an answer before a test fails.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(180);

/// What each client calls itself.
pub const OWN_NAME: &str = "a name of its own";

/// A response.
#[derive(Debug)]
pub struct HttpAnswer {
    pub status: u16,
    /// In lower case.
    pub headers: String,
    pub body: String,
}

impl HttpAnswer {
    fn parse(bytes: &[u8]) -> HttpAnswer {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a response") + 4;
        let headers = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        let mut rest = &bytes[end..];
        let body = if headers.contains("transfer-encoding: chunked") {
            let mut body = Vec::new();
            while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
                let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
                if length == 0 {
                    break;
                }
                body.extend_from_slice(&rest[line + 2..line + 2 + length]);
                rest = &rest[line + 4 + length..];
            }
            body
        } else {
            rest.to_vec()
        };
        HttpAnswer { status, headers, body: String::from_utf8(body).unwrap() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The message with a result or an error: the body, or one of its events.
    pub fn message(&self) -> Value {
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut messages =
            events.chain([self.body.as_str()]).filter_map(|text| serde_json::from_str(text).ok());
        let found = messages.find(|one: &Value| one.get("result").or(one.get("error")).is_some());
        found.unwrap_or_else(|| panic!("{self:?}"))
    }
}

/// Sends a request with these lines of its head and this body.
pub async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    lines: &[String],
    body: &[u8],
) -> HttpAnswer {
    let length = format!("Content-Length: {}", body.len());
    let head =
        [&[format!("{method} {path} HTTP/1.1")], lines, &[length, "Connection: close".to_owned()]].concat();
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(format!("{}\r\n\r\n", head.join("\r\n")).as_bytes()).await.unwrap();
    // A server that refuses a long body closes before its end.
    let _closed = connection.write_all(body).await;
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(SILENCE_TIMEOUT, connection.read_to_end(&mut bytes)).await;
    let _reset = read.expect("the server says nothing");
    HttpAnswer::parse(&bytes)
}

/// A client with a token.
pub struct HttpClient {
    pub address: SocketAddr,
    pub token: String,
    pub session: Option<String>,
    next: u64,
}

impl HttpClient {
    pub fn new(address: SocketAddr, token: &str) -> HttpClient {
        HttpClient { address, token: token.to_owned(), session: None, next: 0 }
    }

    /// The lines of the head of a right request.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("Host: {}", self.address),
            format!("Authorization: Bearer {}", self.token),
            "Accept: application/json, text/event-stream".to_owned(),
            "Content-Type: application/json".to_owned(),
        ];
        lines.extend(self.session.as_ref().map(|session| format!("Mcp-Session-Id: {session}")));
        lines
    }

    pub async fn request(&self, method: &str, body: &str) -> HttpAnswer {
        send(self.address, method, "/mcp", &self.lines(), body.as_bytes()).await
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> HttpAnswer {
        self.next += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.request("POST", &message.to_string()).await
    }

    /// Begins a session. Fails with 503 while the last one is being closed.
    pub async fn try_begin(&mut self) -> HttpAnswer {
        let client = json!({ "name": OWN_NAME, "version": "1" });
        let capabilities = json!({ "elicitation": { "url": {}, "form": {} } });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
        self.session = None;
        let answer = self.ask("initialize", params).await;
        self.session = answer.header("mcp-session-id").map(str::to_owned);
        if self.session.is_some() {
            let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
            assert_eq!(self.request("POST", &initialized).await.status, 202);
        }
        answer
    }

    /// Begins a session, after the last one was closed.
    pub async fn begin(&mut self) {
        for _ in 0..12 {
            let answer = self.try_begin().await;
            match answer.status {
                200 => return,
                503 => {}
                _ => panic!("{answer:?}"),
            }
        }
        panic!("the last session does not end");
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> String {
        let message = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await.message();
        let blocks = message["result"]["content"].as_array().unwrap_or_else(|| panic!("{message}"));
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        texts.join("\n")
    }
}
