//! The MCP server.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use portcullis::Guard;
use portcullis::signals::playwright::BrowserSettings;
use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::consent::ClientSlot;
use crate::engine::Engine;
use crate::http;
use crate::http::tokens::Tokens;
use crate::lines::LineTransport;
use crate::queue::OrderedTransport;
use crate::server::Server;
use crate::settings::{GatewayError, GatewaySettings};
use crate::task_session::{Mode, OpenTaskLog, ReceiveReport};
use crate::worker::{Lasting, Worker};

/// The most calls that may wait for the current one.
pub(crate) const QUEUE_LENGTH: usize = 64;

/// A server's work. It is boxed where it is made, so that the server is compiled once, with this crate, and not again in each
/// program that serves.
pub(crate) type Served = Pin<Box<dyn Future<Output = Result<(), GatewayError>> + Send>>;

type FromClient = Box<dyn AsyncRead + Send + Unpin>;
type ToClient = Box<dyn AsyncWrite + Send + Unpin>;

/// A guard in the place of playwright-mcp.
pub struct Gateway {
    mode: Mode,
    browser: BrowserSettings,
    settings: GatewaySettings,
    client: ClientSlot,
}

impl Gateway {
    /// A gateway with the caller's guard and a browser of its own.
    pub fn new(guard: Guard, browser: BrowserSettings, settings: GatewaySettings) -> Gateway {
        Gateway {
            // The same agent works on all tasks, and remembers what it read in each.
            mode: Mode::Guard(Some(Box::new(guard.with_one_agent()))),
            browser: with_unique_refs(browser),
            settings,
            client: ClientSlot::default(),
        }
    }

    /// A gateway that blocks nothing, and records the decisions of a guard under this policy. There are no values and no
    /// consent; `report` receives the report of each task. It protects nothing: it shows the changes that a guard would make,
    /// before one is installed.
    pub fn that_blocks_nothing(
        policy: &str,
        log: OpenTaskLog,
        report: ReceiveReport,
        browser: BrowserSettings,
        settings: GatewaySettings,
    ) -> Gateway {
        let (log, report) = (Arc::new(Mutex::new(log)), Arc::new(Mutex::new(report)));
        let mode = Mode::Observe { policy: policy.to_owned(), log, report };
        Gateway { mode, browser: with_unique_refs(browser), settings, client: ClientSlot::default() }
    }

    /// Sets the slot in which [`crate::consent::ThroughClient`] and [`crate::consent::form::ClientForm`] find the client.
    #[must_use]
    pub fn with_client_slot(mut self, client: ClientSlot) -> Gateway {
        self.client = client;
        self
    }

    /// Serves one client on a pair of streams until it disconnects. Then the container is closed and the log is ended.
    ///
    /// # Errors
    /// If the browser does not start, or the client does not speak the protocol.
    pub async fn serve<R, W>(self, from_client: R, to_client: W) -> Result<(), GatewayError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.serve_boxed(Box::new(from_client), Box::new(to_client)).await
    }

    /// Serves clients by HTTP at `/mcp` of a listener on this machine, until `stop` ends. Then the containers are closed and the
    /// log is ended. Each client has one session at a time, with a browser of its own, beside those of other clients. They
    /// share the vault, the record, and the counts of guesses and refusals. Questions name the client by the user's label,
    /// and the user is asked one after the other. No client gets the consent page's address.
    ///
    /// # Errors
    /// [`GatewayError::NotLoopback`] if others reach the listener, and [`GatewayError::Listen`] if it fails.
    pub async fn serve_by_http(
        self,
        listener: TcpListener,
        tokens: Tokens,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), GatewayError> {
        let session = (Lasting::new(self.mode), self.browser, self.settings);
        http::serve(listener, tokens, session, Box::pin(stop)).await
    }

    fn serve_boxed(self, from_client: FromClient, to_client: ToClient) -> Served {
        Box::pin(async move {
            let (queue, calls) = mpsc::channel(QUEUE_LENGTH);
            let settings = self.settings.clone();
            let observing = Worker::observing();
            let server = Server::new(&settings, self.client, observing.subscribe());
            let served = async {
                let lines = LineTransport::new(from_client, to_client);
                let running = server.serve(OrderedTransport::new(lines, queue)).await;
                let running = running.map_err(|error| GatewayError::Protocol(error.to_string()))?;
                let served = running.waiting().await;
                served.map(|_| ()).map_err(|error| GatewayError::Protocol(error.to_string()))
            };
            let mut served = std::pin::pin!(served);
            // The browser starts while the client is answered; its calls wait for it. A client that leaves before does not wait.
            let engine = tokio::select! {
                engine = Engine::start(self.browser) => engine?,
                served = &mut served => return served,
            };
            let worker = Worker::new(Lasting::new(self.mode), engine, self.settings, observing);
            // When the client disconnects, the last sender of the queue is dropped, and the worker closes the container.
            let (served, _) = tokio::join!(served, worker.work(calls));
            served
        })
    }
}

/// Gives every element a ref that is never reused: a client may send several calls before it has the answer to the first,
/// and a ref must not name another element by then.
fn with_unique_refs(browser: BrowserSettings) -> BrowserSettings {
    BrowserSettings { unique_refs: true, ..browser }
}
