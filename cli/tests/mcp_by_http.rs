//! `portcullis mcp --port`: the command serves by HTTP, and refuses what would not be safe.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::portcullis;

const TOKEN: &str = "00112233445566778899aabbccddeeffffeeddccbbaa99887766554433221100";

/// A file of tokens with these permissions.
fn tokens(folder: &Path, mode: u32) -> PathBuf {
    let path = folder.join("tokens");
    std::fs::write(&path, format!("editor {TOKEN}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// Sends a message, and returns the response as text.
fn post(address: &str, lines: &str, message: &Value) -> String {
    let body = message.to_string();
    let mut connection = TcpStream::connect(address).unwrap();
    write!(
        connection,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: application/json, text/event-stream\r\nContent-Type: \
         application/json\r\nConnection: close\r\nContent-Length: {}\r\n{lines}\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_client_with_its_token_is_served_until_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit");
    let mut command = portcullis();
    command
        .args(["mcp", "--port", "0", "--consent", "terminal", "--tokens"])
        .arg(tokens(folder.path(), 0o600));
    command.arg("--audit").arg(&audit).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut said = BufReader::new(server.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("serving at http://").and_then(|rest| rest.strip_suffix("/mcp"));
    let address = address.unwrap_or_else(|| panic!("{line}"));
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    assert!(post(address, "", &begin).starts_with("HTTP/1.1 401"));
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    let begun = post(address, &token, &begin);
    assert!(begun.starts_with("HTTP/1.1 200") && begun.contains("portcullis"), "{begun}");
    let session = begun.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:")).unwrap();
    let lines = format!("{token}{}\r\n", session.trim());
    let call = |tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        post(address, &lines, &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }))
    };
    // The browser reaches nothing on this machine, this server included.
    let refused = call("browser_navigate", json!({ "url": format!("https://{address}/mcp") }));
    assert!(refused.contains("DENY.verb"), "{refused}");
    assert!(call("portcullis_status", json!({})).contains("container: T0"));
    let stopped = Command::new("kill").args(["-TERM", &server.id().to_string()]).status().unwrap();
    assert!(stopped.success() && server.wait().unwrap().success());
    let verified = portcullis().args(["audit", "verify"]).arg(&audit).output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn what_is_not_safe_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, arguments, words) in [
        (0o644, vec!["--port", "0", "--consent", "terminal"], "chmod 600"),
        (0o600, vec!["--port", "0", "--consent", "terminal", "--host", "0.0.0.0"], "127.0.0.1 or ::1"),
        (0o600, vec!["--port", "0", "--consent", "client"], "--consent terminal"),
        (0o600, vec!["--port", "0", "--observe"], "cannot be used with"),
        (0o600, vec!["--port", "0", "--consent-form", "editor"], "cannot be used with"),
        (0o600, vec!["--consent", "terminal"], "--port"),
    ] {
        let mut command = portcullis();
        command.arg("mcp").args(&arguments).arg("--tokens").arg(tokens(folder.path(), mode));
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words) && !said.contains(TOKEN), "{arguments:?}: {said}");
    }
    let output = portcullis().args(["mcp", "--port", "0"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--tokens"));
}
