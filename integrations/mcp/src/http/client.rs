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

use super::desk::{Desk, DeskError, Turn};
use super::tokens::ClientLabel;
use crate::engine::Engine;
use crate::gateway::QUEUE_LENGTH;
use crate::queue::PendingCall;
use crate::server::Server;
use crate::settings::{GatewayError, GatewaySettings};
use crate::worker::Worker;

/// A session without a message for this long ends. It is longer than the user may take for anything.
const LONGEST_SILENCE: Duration = Duration::from_secs(20 * 60);

/// A session that has begun, for the task that carries out its calls.
pub struct Begun {
    turn: Turn,
    worker: Worker,
    calls: mpsc::Receiver<PendingCall>,
}

impl Begun {
    /// Carries out the session's calls until it ends, and gives the guard back.
    pub async fn work(self) {
        self.turn.ends(self.worker.work(self.calls).await);
    }
}

/// Why a session does not begin.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// The guard serves somebody else.
    #[error(transparent)]
    Desk(#[from] DeskError),
    /// The browser does not start.
    #[error(transparent)]
    Browser(#[from] GatewayError),
    /// The server is about to end.
    #[error("the guard has stopped; start it again")]
    Stopped,
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
}

impl Client {
    pub fn new(label: ClientLabel, settings: &GatewaySettings, config: StreamableHttpServerConfig) -> Client {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(LONGEST_SILENCE);
        let sessions = Arc::new(sessions);
        let next = Arc::<Mutex<Option<Server>>>::default();
        let (prepared, settings) = (next.clone(), settings.clone());
        // A request outside of a session is answered too: it learns which versions of the protocol are served.
        let server = move || Ok(take(&prepared).unwrap_or_else(|| Server::without_session(&settings)));
        let service = StreamableHttpService::new(server, sessions.clone(), config);
        Client { label, sessions, service, next, beginning: tokio::sync::Mutex::default() }
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
        desk: &Desk,
        (browser, settings): (&BrowserSettings, &GatewaySettings),
        begun: &mpsc::Sender<Begun>,
    ) -> Result<Response<Body>, BeginError> {
        let _beginning = self.beginning.lock().await;
        let earlier: Vec<_> = self.sessions.sessions.read().await.keys().cloned().collect();
        for session in earlier {
            // It may have ended by itself.
            let _ended = self.sessions.close_session(&session).await;
        }
        let (turn, lasting) = desk.turn_of(&self.label).await?;
        let engine = match Engine::start(browser.clone()).await {
            Ok(engine) => engine,
            Err(error) => {
                turn.ends(lasting);
                return Err(error.into());
            }
        };
        let (queue, calls) = mpsc::channel(QUEUE_LENGTH);
        let worker = Worker::new(lasting, engine, settings.clone());
        let server = Server::by_http(settings, worker.observing(), queue);
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(server);
        begun.send(Begun { turn, worker, calls }).await.map_err(|_| BeginError::Stopped)?;
        let response = self.answer(request).await;
        // If no session began with it, the worker ends with its queue.
        drop(take(&self.next));
        Ok(response)
    }
}

fn take(server: &Mutex<Option<Server>>) -> Option<Server> {
    server.lock().unwrap_or_else(PoisonError::into_inner).take()
}
