//! The real playwright-mcp behind the guard: a child process that sees the page through the relay, and carries out tools that
//! only observe.
//!
//! It starts at its first call. It gets the relay's address in its environment, a folder of its own for the files that it
//! writes, and no roots of the client, so that it reads none of the user's files. If it dies, the current call fails, and the
//! next one starts it again.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use portcullis::own_ports::OwnPort;
use portcullis::signals::playwright::{SecondProgram, ThrowawayFolder};
use rmcp::model::{CallToolRequestParams, ClientConfig, ContentBlock, Implementation};
use rmcp::service::{RoleClient, RunningService, ServiceError, ServiceExt};
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value};
use tokio::process::Command;

use crate::settings::UpstreamCommand;
use crate::task_session::TaskSession;

/// The replacement of a file that is not shown.
const NOT_SHOWN: &str = "(a file that is not shown)";

/// The time limit of its start, and of one call.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest text of one answer, including the files that it wrote.
const LONGEST: usize = 1 << 20;

/// The reason why playwright-mcp gave no answer. Its own error messages may contain text of the page, so they are answers.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// It does not start.
    #[error("playwright-mcp behind the guard does not start: {0}")]
    Start(String),
    /// It has exited.
    #[error("playwright-mcp behind the guard is gone; the next call starts it again")]
    Gone,
    /// It rejects the tool or its arguments.
    #[error("playwright-mcp behind the guard does not take this call")]
    Refused,
    /// It did not answer in time.
    #[error(
        "playwright-mcp behind the guard did not answer in time and was ended; the next call starts it again"
    )]
    Slow,
}

/// The child process, its relay, and the folder for its files.
pub struct Upstream {
    command: UpstreamCommand,
    relay: SecondProgram,
    files: ThrowawayFolder,
    _own_port: Option<OwnPort>,
    running: Option<RunningService<RoleClient, ClientConfig>>,
}

impl Upstream {
    /// Prepares the folder; the process starts at the first call.
    pub fn new(command: UpstreamCommand, relay: SecondProgram) -> std::io::Result<Upstream> {
        let _own_port = relay.port().map(OwnPort::register);
        Ok(Upstream { command, relay, files: ThrowawayFolder::new()?, _own_port, running: None })
    }

    /// Gives it access to the page of this session.
    pub fn follow(&self, session: &TaskSession) {
        session.show_to(&self.relay);
    }

    /// Takes its access to the page away. Its memory of the last page ends with its process.
    pub async fn leave(&mut self) {
        self.relay.leave();
        if let Some(running) = self.running.take() {
            let _ended_already = running.cancel().await;
        }
    }

    /// Ends the child process.
    pub async fn stop(mut self) {
        self.leave().await;
    }

    /// Calls one tool.
    ///
    /// # Errors
    /// If there is no answer. The second part of an answer is true if it is an error message.
    pub async fn call(
        &mut self,
        tool: &'static str,
        arguments: Map<String, Value>,
    ) -> Result<(Vec<String>, bool), UpstreamError> {
        if self.running.as_ref().is_none_or(RunningService::is_closed) {
            self.running = Some(self.start().await?);
        }
        let running = self.running.as_ref().ok_or(UpstreamError::Gone)?;
        let mut asked = CallToolRequestParams::new(tool);
        asked.arguments = Some(arguments);
        let answer = match tokio::time::timeout(PATIENCE, running.call_tool(asked)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(ServiceError::McpError(_))) => return Err(UpstreamError::Refused),
            Ok(Err(_)) => {
                self.running = None;
                return Err(UpstreamError::Gone);
            }
            Err(_) => {
                // A process that hangs would hang again; dropping it kills it.
                self.running = None;
                return Err(UpstreamError::Slow);
            }
        };
        let (mut texts, mut left) = (Vec::new(), LONGEST);
        for content in answer.content {
            // Only text is scrubbed, so other content is dropped.
            let ContentBlock::Text(text) = content else { continue };
            // Its error messages contain the relay's address, which would let the agent bypass the guard.
            let said = self.relay.without_address(cut(&text.text, left));
            let said = self.relay.without_address(&self.with_files(&said, left));
            left = left.saturating_sub(said.len());
            texts.push(said);
        }
        Ok((texts, answer.is_error == Some(true)))
    }

    async fn start(&self) -> Result<RunningService<RoleClient, ClientConfig>, UpstreamError> {
        let mut command = Command::new(&self.command.node);
        command
            .arg(&self.command.script)
            .args(["--no-webmcp", "--codegen", "none", "--snapshot-mode", "none", "--file-paths", "absolute"])
            .arg("--output-dir")
            .arg(self.files.path())
            // Its working directory is its first root.
            .current_dir(self.files.path())
            // Files elsewhere would be left behind if it is killed.
            .env("TMPDIR", self.files.path())
            .env("PLAYWRIGHT_MCP_CDP_ENDPOINT", self.relay.address());
        let failed = |error: String| UpstreamError::Start(error);
        let process = TokioChildProcess::builder(command).stderr(std::process::Stdio::null()).spawn();
        let (process, _) = process.map_err(|error| failed(error.to_string()))?;
        let mut client = ClientConfig::default();
        client.client_info = Implementation::new("portcullis", env!("CARGO_PKG_VERSION"));
        match tokio::time::timeout(PATIENCE, client.serve(process)).await {
            Ok(Ok(running)) => Ok(running),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(UpstreamError::Slow),
        }
    }

    /// Replaces links to files in an answer by the text of the files, up to the limit. The agent gets no file that was not
    /// scrubbed; a file that is not text is left out.
    fn with_files(&self, text: &str, room: usize) -> String {
        let folder = self.files.path().to_string_lossy();
        let mut shown = String::new();
        for line in text.lines() {
            let link = line.split_once("](").and_then(|(_, rest)| rest.split_once(')')).map(|(path, _)| path);
            let left = room.saturating_sub(shown.len());
            match link {
                // The agent needs no path of its files, which are not scrubbed.
                None if line.contains(&*folder) => shown.push_str(NOT_SHOWN),
                None => shown.push_str(cut(line, left)),
                Some(path) => match self.file(path, left) {
                    Some(content) => shown.push_str(&content),
                    None => shown.push_str(NOT_SHOWN),
                },
            }
            shown.push('\n');
            if left == 0 {
                shown.push_str("(cut: the answer is too long)");
                break;
            }
        }
        shown.truncate(shown.trim_end_matches('\n').len());
        shown
    }

    /// The beginning of one of its files.
    fn file(&self, path: &str, longest: usize) -> Option<String> {
        let folder = self.files.path().canonicalize().ok()?;
        // A link out of the folder is not one of its files.
        let path =
            self.files.path().join(path).canonicalize().ok().filter(|path| path.starts_with(&folder))?;
        let file = File::open(&path).ok().filter(|_| path.is_file())?;
        let mut bytes = Vec::new();
        file.take(u64::try_from(longest).unwrap_or(u64::MAX)).read_to_end(&mut bytes).ok()?;
        match String::from_utf8(bytes) {
            Ok(text) => Some(text),
            // The text was cut within a letter. Any other error means that the file is not text.
            Err(error) if error.utf8_error().error_len().is_none() => {
                let whole = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                bytes.truncate(whole);
                String::from_utf8(bytes).ok()
            }
            Err(_) => None,
        }
    }
}

/// The beginning of a text.
fn cut(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or(text)
}
