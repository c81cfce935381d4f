//! The real playwright-mcp behind the guard: a child process that sees the page through the relay, and is asked for what
//! only looks.
//!
//! It is started when it is needed first. It gets the relay's address in its environment, a folder of its own for the
//! files that it writes, and no roots of the client's: it reads none of the user's files. Where it dies, the call at that
//! moment fails, and the next one starts it again.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use portcullis::signals::playwright::{SecondProgram, ThrowawayFolder};
use rmcp::model::{CallToolRequestParams, ClientConfig, ContentBlock, Implementation};
use rmcp::service::{RoleClient, RunningService, ServiceError, ServiceExt};
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value};
use tokio::process::Command;

use crate::settings::UpstreamCommand;
use crate::sitting::Sitting;

/// What stands in the place of a file that is not told.
const NOT_SHOWN: &str = "(a file that is not shown)";

/// How long it may take to start, and for one call.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest text of one answer, with that of the files which it wrote.
const LONGEST: usize = 1 << 20;

/// Why playwright-mcp gave no answer. Its own words of an error are the page's too, and come as an answer.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// It does not start.
    #[error("playwright-mcp behind the guard does not start: {0}")]
    Start(String),
    /// It is gone.
    #[error("playwright-mcp behind the guard is gone; the next call starts it again")]
    Gone,
    /// It does not know the tool, or not these arguments.
    #[error("playwright-mcp behind the guard does not take this call")]
    Refused,
    /// It did not answer in time.
    #[error(
        "playwright-mcp behind the guard did not answer in time and was ended; the next call starts it again"
    )]
    Slow,
}

/// The child, its way to the page, and the folder for its files.
pub struct Upstream {
    command: UpstreamCommand,
    way: SecondProgram,
    files: ThrowawayFolder,
    running: Option<RunningService<RoleClient, ClientConfig>>,
}

impl Upstream {
    /// Nothing is started yet.
    pub fn new(command: UpstreamCommand, way: SecondProgram) -> std::io::Result<Upstream> {
        Ok(Upstream { command, way, files: ThrowawayFolder::new()?, running: None })
    }

    /// From now on it sees the page of this session.
    pub fn follow(&self, session: &Sitting) {
        session.show_to(&self.way);
    }

    /// It sees no page any more, and what it remembers of the last one ends with its process.
    pub async fn leave(&mut self) {
        self.way.leave();
        if let Some(running) = self.running.take() {
            let _ended_already = running.cancel().await;
        }
    }

    /// Ends the child.
    pub async fn stop(mut self) {
        self.leave().await;
    }

    /// Asks for one tool.
    ///
    /// # Errors
    /// Where there is no answer. An answer may be an error too, which the second of the pair says.
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
                // One that hangs would hang again: dropped, it is killed.
                self.running = None;
                return Err(UpstreamError::Slow);
            }
        };
        let (mut told, mut left) = (Vec::new(), LONGEST);
        for content in answer.content {
            // It is asked for nothing but text. Where it begins to say more, nobody has looked at that.
            let ContentBlock::Text(text) = content else { continue };
            // It says in its errors where it connects to. Whoever knows that is past the guard.
            let said = self.way.without_address(cut(&text.text, left));
            let said = self.way.without_address(&self.with_files(&said, left));
            left = left.saturating_sub(said.len());
            told.push(said);
        }
        Ok((told, answer.is_error == Some(true)))
    }

    async fn start(&self) -> Result<RunningService<RoleClient, ClientConfig>, UpstreamError> {
        let mut command = Command::new(&self.command.node);
        command
            .arg(&self.command.script)
            .args(["--no-webmcp", "--codegen", "none", "--snapshot-mode", "none", "--file-paths", "absolute"])
            .arg("--output-dir")
            .arg(self.files.path())
            // Its first roots are where it stands.
            .current_dir(self.files.path())
            // What it writes elsewhere is left behind where it is killed.
            .env("TMPDIR", self.files.path())
            .env("PLAYWRIGHT_MCP_CDP_ENDPOINT", self.way.address());
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

    /// Puts the text of the files that an answer points to in their place, as much as there is room for: the agent gets no
    /// file that nobody scrubbed. What is no text is left out.
    fn with_files(&self, text: &str, room: usize) -> String {
        let folder = self.files.path().to_string_lossy();
        let mut told = String::new();
        for line in text.lines() {
            let link = line.split_once("](").and_then(|(_, rest)| rest.split_once(')')).map(|(path, _)| path);
            let left = room.saturating_sub(told.len());
            match link {
                // Where it keeps its files is no matter of the agent's, and nobody scrubbed them.
                None if line.contains(&*folder) => told.push_str(NOT_SHOWN),
                None => told.push_str(cut(line, left)),
                Some(path) => match self.file(path, left) {
                    Some(content) => told.push_str(&content),
                    None => told.push_str(NOT_SHOWN),
                },
            }
            told.push('\n');
            if left == 0 {
                told.push_str("(cut: the answer is too long)");
                break;
            }
        }
        told.truncate(told.trim_end_matches('\n').len());
        told
    }

    /// The begin of a file of its own.
    fn file(&self, path: &str, longest: usize) -> Option<String> {
        let folder = self.files.path().canonicalize().ok()?;
        // A link to elsewhere was not written by it.
        let path =
            self.files.path().join(path).canonicalize().ok().filter(|path| path.starts_with(&folder))?;
        let file = File::open(&path).ok().filter(|_| path.is_file())?;
        let mut bytes = Vec::new();
        file.take(u64::try_from(longest).unwrap_or(u64::MAX)).read_to_end(&mut bytes).ok()?;
        match String::from_utf8(bytes) {
            Ok(text) => Some(text),
            // Cut within a letter. All else is no text.
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

/// The begin of a text.
fn cut(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or(text)
}
