//! The sessions of one client. Each client has a service of its own, so the number of a session is unknown to every other
//! client's service.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response};
use portcullis::signals::playwright::BrowserSettings;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{
    SessionManager, StreamableHttpServerConfig, StreamableHttpService,
};
use tokio::sync::mpsc;

use super::tokens::ClientLabel;
use crate::engine::Engine;
use crate::gateway::QUEUE_LENGTH;
use crate::server::Server;
use crate::settings::{GatewayError, GatewaySettings};
use crate::worker::{Lasting, Worker};

/// A session without a message for this long ends. It is longer than the user may take for anything.
const LONGEST_SILENCE: Duration = Duration::from_secs(20 * 60);

/// The longest time that a client waits for the end of its earlier session.
const EARLIER_ENDS: Duration = Duration::from_secs(10);

/// Why a session does not begin.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// The client's earlier session is still being closed.
    #[error("the guard is still closing this client's last session; try again")]
    Closing,
    /// The browser does not start.
    #[error(transparent)]
    Browser(#[from] GatewayError),
}

/// One client.
pub struct Client {
    label: ClientLabel,
    sessions: Arc<LocalSessionManager>,
    service: StreamableHttpService<Server, LocalSessionManager>,
    /// The server of the session that is about to begin.
    next: Arc<Mutex<Option<Server>>>,
    /// Held while a session begins.
    beginning: tokio::sync::Mutex<()>,
    lasting: Lasting,
    /// Held while a session is open.
    open: Arc<tokio::sync::Mutex<()>>,
}

impl Client {
    pub fn new(
        label: ClientLabel,
        lasting: &Lasting,
        settings: &GatewaySettings,
        config: StreamableHttpServerConfig,
    ) -> Client {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(LONGEST_SILENCE);
        let sessions = Arc::new(sessions);
        let next = Arc::<Mutex<Option<Server>>>::default();
        let (prepared, settings) = (next.clone(), settings.clone());
        // A request outside of a session is answered too: it learns which versions of the protocol are served.
        let server = move || Ok(take(&prepared).unwrap_or_else(|| Server::without_session(&settings)));
        let service = StreamableHttpService::new(server, sessions.clone(), config);
        let lasting = lasting.for_client(&label.to_string());
        let (beginning, open) = Default::default();
        Client { label, sessions, service, next, beginning, lasting, open }
    }

    pub fn label(&self) -> &ClientLabel {
        &self.label
    }

    /// Returns true if a session of this client has this number.
    pub async fn has(&self, session: &str) -> bool {
        self.sessions.sessions.read().await.contains_key(session)
    }

    /// Answers a request, in the session that it names.
    pub async fn answer(&self, request: Request<Body>) -> Response<Body> {
        self.service.handle(request).await.map(Body::new)
    }

    /// Answers a request that begins a session. An earlier session of the client ends.
    ///
    /// # Errors
    /// [`BeginError`].
    pub async fn begin(
        &self,
        request: Request<Body>,
        browser: &BrowserSettings,
        settings: &GatewaySettings,
    ) -> Result<Response<Body>, BeginError> {
        let _beginning = self.beginning.lock().await;
        let earlier: Vec<_> = self.sessions.sessions.read().await.keys().cloned().collect();
        for session in earlier {
            // It may have ended by itself.
            let _ended = self.sessions.close_session(&session).await;
        }
        let open = tokio::time::timeout(EARLIER_ENDS, self.open.clone().lock_owned()).await;
        let open = open.map_err(|_| BeginError::Closing)?;
        let engine = Engine::start(browser.clone()).await?;
        let (queue, calls) = mpsc::channel(QUEUE_LENGTH);
        let observing = Worker::observing();
        let server = Server::by_http(settings, observing.subscribe(), queue);
        let lasting = self.lasting.for_client(&self.label.to_string());
        let worker = Worker::new(lasting, engine, settings.clone(), observing);
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(server);
        tokio::spawn(async move {
            worker.work(calls).await;
            drop(open);
        });
        let response = self.answer(request).await;
        // If no session began with it, the worker ends with its queue.
        drop(take(&self.next));
        Ok(response)
    }

    /// Waits until the client has no session.
    pub async fn is_free(&self) {
        drop(self.open.lock().await);
    }
}

fn take(server: &Mutex<Option<Server>>) -> Option<Server> {
    server.lock().unwrap_or_else(PoisonError::into_inner).take()
}
