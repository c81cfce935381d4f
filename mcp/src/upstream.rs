//! The real playwright-mcp behind the guard: a child process that sees the page through the relay, and is asked for what
//! only looks.
//!
//! It is started when it is needed first. It gets the relay's address in its environment, a folder of its own for the
//! files that it writes, and no roots of the client's: it reads none of the user's files. Where it dies, the call at that
//! moment fails, and the next one starts it again.

use std::time::Duration;

use portcullis::signals::playwright::{SecondProgram, ThrowawayFolder};
use rmcp::model::{CallToolRequestParams, ClientConfig, ContentBlock, Implementation};
use rmcp::service::{RoleClient, RunningService, ServiceError, ServiceExt};
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value};
use tokio::process::Command;

use crate::settings::UpstreamCommand;
use crate::sitting::Sitting;

/// How long it may take to start, and for one call.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest text that is read out of a file that it wrote.
const LONGEST_FILE: u64 = 4 << 20;

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Words.
    Text(String),
    /// A picture, in base64, and its media type.
    Picture {
        /// Its bytes.
        data: String,
        /// Such as `image/png`.
        media_type: String,
    },
}

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
    ) -> Result<(Vec<Block>, bool), UpstreamError> {
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
        let mut blocks = Vec::new();
        for content in answer.content {
            match content {
                ContentBlock::Text(text) => {
                    // It says in its errors where it connects to. Whoever knows that is past the guard.
                    let said = self.way.without_address(&text.text);
                    blocks.push(Block::Text(self.with_files(&said)));
                }
                ContentBlock::Image(image) => {
                    blocks.push(Block::Picture { data: image.data, media_type: image.mime_type });
                }
                // It says nothing in other forms; where it begins to, nobody has looked at them.
                _ => {}
            }
        }
        Ok((blocks, answer.is_error == Some(true)))
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

    /// Puts the text of the files that an answer points to in their place: the agent gets no file that nobody scrubbed.
    /// What is no text is left out.
    fn with_files(&self, text: &str) -> String {
        let folder = self.files.path();
        let mut lines = Vec::new();
        for line in text.lines() {
            let link = line.split_once("](").and_then(|(_, rest)| rest.split_once(')')).map(|(path, _)| path);
            let Some(path) = link.map(|path| folder.join(path)) else {
                lines.push(line.to_owned());
                continue;
            };
            // A link to elsewhere was not written by it.
            let inside = path
                .canonicalize()
                .is_ok_and(|path| folder.canonicalize().is_ok_and(|folder| path.starts_with(folder)));
            let small = path.metadata().is_ok_and(|file| file.is_file() && file.len() <= LONGEST_FILE);
            match std::fs::read_to_string(&path) {
                Ok(content) if inside && small => lines.push(content),
                _ => lines.push("(a file that is not shown)".to_owned()),
            }
        }
        lines.join("\n")
    }
}
