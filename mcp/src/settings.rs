//! How the guard is set up.

use std::path::PathBuf;

/// What an action answers with beside its own result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Snapshots {
    /// The page as it is afterwards, as `browser_snapshot` tells it.
    #[default]
    AfterActions,
    /// Nothing: the agent asks for it.
    OnRequest,
}

/// Tools that are withheld unless the user says otherwise. In a container that holds values of the user's they are off
/// whatever is said here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allowed {
    /// `browser_evaluate`: scripts of the agent's in the page.
    pub scripts: bool,
    /// `browser_network_requests` and `browser_network_request`: what the page asked for and was answered.
    pub network: bool,
}

/// How the real playwright-mcp is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamCommand {
    /// Node.
    pub node: PathBuf,
    /// `cli.js` of the package `@playwright/mcp`.
    pub script: PathBuf,
}

/// How the guard is set up.
#[derive(Debug, Clone, Default)]
pub struct GatewaySettings {
    /// The user's own words for the task, with its web addresses. Without them the agent proposes a task
    /// (`portcullis_plan`) and the user is asked for it.
    pub task: Option<String>,
    /// The real playwright-mcp. Without one there are no pictures, no console and no other sizes of the window.
    pub upstream: Option<UpstreamCommand>,
    /// What is not withheld.
    pub allowed: Allowed,
    /// What actions answer with.
    pub snapshots: Snapshots,
}
