//! The settings and errors of the gateway.

use std::io;
use std::net::{IpAddr, SocketAddr};

use portcullis::signals::playwright::BridgeError;
use serde::{Deserialize, Serialize};

/// The content that an action's answer has in addition to the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Snapshots {
    /// The page after the action, as `browser_snapshot` renders it.
    #[default]
    AfterActions,
    /// Nothing: the agent calls `browser_snapshot`.
    OnRequest,
}

/// Tools that are withheld unless the user allows them. In a container that holds values of the user's scripts and network are
/// always off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Allowed {
    /// `browser_evaluate`: the agent's scripts in the page.
    pub scripts: bool,
    /// `browser_network_requests` and `browser_network_request`: the page's requests and their responses.
    pub network: bool,
    /// `browser_file_upload`: files of the folder that the guard offers.
    pub files: bool,
}

/// Further groups of playwright-mcp's tools, under the names of its option `--caps`. They are offered on request, since each tool
/// lengthens the model's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// `browser_mouse_click_xy`: a click at a point of a picture.
    pub vision: bool,
    /// `browser_pdf_save`: the page as a PDF in the folder for downloads.
    pub pdf: bool,
    /// `browser_verify_…`: checks of what the page shows.
    pub testing: bool,
}

/// The settings of the gateway. A program may read them from its own file, in which each may be left out:
///
/// ```
/// use mcp_guard::GatewaySettings;
///
/// let settings: GatewaySettings = serde_json::from_str(r#"{ "allowed": { "network": true } }"#).unwrap();
/// assert!(settings.allowed.network && settings.task.is_none());
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GatewaySettings {
    /// The user's own words for the task, with its web addresses. Without them the agent proposes a task
    /// (`portcullis_plan`) and the user is asked for it.
    pub task: Option<String>,
    /// The allowed tools.
    pub allowed: Allowed,
    /// The further groups of tools.
    pub capabilities: Capabilities,
    /// The additional content of an action's answer.
    pub snapshots: Snapshots,
}

/// The reason why the server ended, or did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// The browser failed.
    #[error(transparent)]
    Browser(#[from] BridgeError),
    /// The client does not speak the protocol.
    #[error("the client does not speak the protocol: {0}")]
    Protocol(String),
    /// Other machines reach the address.
    #[error("{0} is not an address of this machine alone; serve at 127.0.0.1 or ::1")]
    NotLoopback(IpAddr),
    /// The address cannot be served.
    #[error("{address} cannot be served: {error}; choose another port")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
}
