//! The server, from its parts to its end.

use portcullis::Guard;
use portcullis::signals::playwright::{BridgeError, BrowserSettings};
use rmcp::ServiceExt;
use rmcp::transport::IntoTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use crate::arrivals::InOrder;
use crate::consent::ClientSlot;
use crate::engine::Engine;
use crate::server::{Server, tell_of_tools};
use crate::settings::GatewaySettings;
use crate::sitting::{Keeper, LogFor, Seen};
use crate::worker::Worker;

/// How many calls may wait for the one that is worked on.
const WAITING: usize = 64;

/// Why the server ended, or did not begin.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The browser, or a part of it.
    #[error(transparent)]
    Browser(#[from] BridgeError),
    /// There is no folder for the files of playwright-mcp.
    #[error("no folder could be made for the files of playwright-mcp: {0}")]
    Folder(String),
    /// The client does not speak the protocol.
    #[error("the client does not speak the protocol: {0}")]
    Protocol(String),
}

/// A guard in the place of playwright-mcp.
pub struct Gateway {
    keeper: Keeper,
    browser: BrowserSettings,
    settings: GatewaySettings,
    client: ClientSlot,
}

impl Gateway {
    /// A gateway with a guard of the caller's and a browser that is started for it.
    pub fn new(guard: Guard, browser: BrowserSettings, settings: GatewaySettings) -> Gateway {
        Gateway {
            // Who calls begins task after task, and remembers what it read in each.
            keeper: Keeper::Guard(Some(Box::new(guard.with_one_agent()))),
            browser: one_name_each(browser),
            settings,
            client: ClientSlot::default(),
        }
    }

    /// A gateway that decides and records what a guard under this policy would do, and blocks nothing. There are no values
    /// and no consent; `seen` gets the report of each task. It protects nothing: it is for finding out what a guard would
    /// change, before there is one.
    pub fn that_blocks_nothing(
        policy: &str,
        log: LogFor,
        seen: Seen,
        browser: BrowserSettings,
        settings: GatewaySettings,
    ) -> Gateway {
        let keeper = Keeper::Nobody { policy: policy.to_owned(), log, seen };
        Gateway { keeper, browser: one_name_each(browser), settings, client: ClientSlot::default() }
    }

    /// With a slot in which [`crate::consent::ThroughClient`] finds the client.
    #[must_use]
    pub fn with_client_slot(mut self, client: ClientSlot) -> Gateway {
        self.client = client;
        self
    }

    /// Serves one client on a pair of streams until it goes away. Then the container is closed and the record ended.
    ///
    /// # Errors
    /// Where the browser does not start, or the client speaks something else.
    pub async fn serve<R, W>(self, from_client: R, to_client: W) -> Result<(), GatewayError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let engine = Engine::start(self.browser, self.settings.upstream.clone()).await?;
        let (queue, turns) = mpsc::channel(WAITING);
        let settings = self.settings.clone();
        let worker = Worker::new(self.keeper, engine, self.settings);
        let server = Server::new(&settings, self.client, worker.looking());
        let looking = worker.looking();
        let served = async {
            let running = server.serve(InOrder::new((from_client, to_client).into_transport(), queue)).await;
            let running = running.map_err(|error| GatewayError::Protocol(error.to_string()))?;
            let told = tokio::spawn(tell_of_tools(running.peer().clone(), looking));
            let served = running.waiting().await;
            told.abort();
            served.map(|_| ()).map_err(|error| GatewayError::Protocol(error.to_string()))
        };
        // When the client goes, the last one who could queue calls goes with it, and the worker closes what is open.
        let (served, ()) = tokio::join!(served, worker.work(turns));
        served
    }
}

/// A client may send several calls before it has the answer to the first: what they name must not be another element by
/// then.
fn one_name_each(browser: BrowserSettings) -> BrowserSettings {
    BrowserSettings { handles_once: true, ..browser }
}
