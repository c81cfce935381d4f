//! The socket and its connections.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use browser_signals::extension::{ExtensionLink, framing};
use serde_json::{Value, json};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};

use super::extension_consent::ExtensionConsent;
use super::folder::{AuthTokens, ServiceFolder, ServiceFolderError};
use super::protocol::{
    ClientRequest, ExtensionRequest, ExtensionWelcome, Hello, Refusal, Role, ServiceMessage, VERSION, Welcome,
};
use super::queue::{OpenTask, TaskQueue, change_status, status};
use super::recent;
use crate::consent::Change;
use crate::guard::Guard;
use crate::session::tab::{BrowserRules, CurrentLink, Tabs, schema};
use crate::session::tls::TlsProbe;
use crate::system::SystemEntropy;

/// The time limit for a client's hello.
const HELLO_WITHIN: Duration = Duration::from_secs(5);

/// The maximum number of connections before their hello, and of each role after it.
const MAX_CONNECTIONS: usize = 16;

/// Why a service cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] ServiceFolderError),
    /// The socket cannot be opened.
    #[error("the socket {path} cannot be opened: {error}")]
    Socket {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// The settings of a service.
pub struct ServiceSettings {
    /// The service's folder.
    pub folder: ServiceFolder,
    /// The probe of connections to the task's sites.
    pub tls: TlsProbe,
    /// The audit log's folder, whose recent entries the extension's settings page shows.
    pub audit: Option<PathBuf>,
    /// The state of an answerer on the extension's consent page; `None` if the answerer prompts elsewhere.
    pub extension_consent: Option<ExtensionConsent>,
}

/// A running service.
pub struct Service {
    listener: UnixListener,
    shared: Arc<Shared>,
    working: tokio::task::JoinHandle<()>,
}

struct Shared {
    tokens: AuthTokens,
    queue: TaskQueue,
    link: watch::Sender<CurrentLink>,
    task: watch::Receiver<OpenTask>,
    rules: watch::Receiver<BrowserRules>,
    observed: Arc<AtomicU64>,
    /// The compiled policy, as the extension is told it.
    policy: String,
    /// The hash of the policy, as the extension is told it.
    hash: String,
    audit: Option<PathBuf>,
    extension_consent: Option<ExtensionConsent>,
    before_hello: Arc<Semaphore>,
    by_role: [Arc<Semaphore>; Role::ALL.len()],
}

impl Service {
    /// Opens the socket. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`ServiceError`].
    pub fn start(guard: Guard, settings: ServiceSettings) -> Result<Service, ServiceError> {
        let ServiceSettings { folder, tls, audit, extension_consent } = settings;
        let tokens = folder.claim(&mut SystemEntropy)?;
        let path = folder.socket();
        let listener = UnixListener::bind(&path).map_err(|error| ServiceError::Socket { path, error })?;
        let (policy, hash) =
            (STANDARD.encode(guard.decision.policy_bytes()), hex(&guard.decision.policy_hash()));
        let link = extension_consent
            .as_ref()
            .map_or_else(|| watch::Sender::new(CurrentLink::None), ExtensionConsent::link);
        let seen = link.subscribe();
        let (published, task) = watch::channel(None);
        let (rules, ruled) = watch::channel(BrowserRules::default());
        let tabs = Tabs { link: seen, tls: Arc::new(tls), rules };
        let (queue, worker) = TaskQueue::new(guard.with_schema(schema()), tabs, published);
        let room = || Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let shared = Shared {
            tokens,
            queue,
            link,
            task,
            rules: ruled,
            observed: Arc::new(AtomicU64::new(1)),
            policy,
            hash,
            audit,
            extension_consent,
            before_hello: room(),
            by_role: [room(), room(), room()],
        };
        Ok(Service { listener, shared: Arc::new(shared), working: tokio::spawn(worker) })
    }

    /// Serves clients until `stop` completes, and then ends the open task.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Service { listener, shared, working } = self;
        let mut talking = tokio::task::JoinSet::new();
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(_) = talking.join_next() => {}
                connected = listener.accept() => {
                    if let Ok((stream, _)) = connected {
                        talking.spawn(serve_client(stream, Arc::clone(&shared)));
                    }
                }
            }
        }
        drop(listener);
        talking.shutdown().await;
        drop(shared);
        let _failed = working.await;
    }
}

/// Serves one connection, from its hello to its end.
async fn serve_client(mut stream: UnixStream, shared: Arc<Shared>) {
    let admitted = admit(&mut stream, &shared).await;
    match admitted {
        Ok(role) => {
            let room = shared.by_role.get(role as usize).cloned();
            let Some(_room) = room.and_then(|room| room.try_acquire_owned().ok()) else {
                return say(&mut stream, &Refusal::Busy.message()).await;
            };
            match role {
                Role::Extension => serve_extension(stream, &shared).await,
                Role::Agent | Role::User => serve_requests(stream, role, &shared).await,
            }
        }
        Err(refusal) => say(&mut stream, &refusal.message()).await,
    }
}

/// Admits a client of the same user, with the same version and a valid auth token. Returns its role.
async fn admit(stream: &mut UnixStream, shared: &Shared) -> Result<Role, Refusal> {
    let _room = shared.before_hello.try_acquire().map_err(|_| Refusal::Busy)?;
    let user = rustix::process::geteuid().as_raw();
    if !stream.peer_cred().is_ok_and(|peer| peer.uid() == user) {
        return Err(Refusal::OtherUser);
    }
    let first = tokio::time::timeout(HELLO_WITHIN, framing::read(stream)).await;
    let first = first.ok().and_then(Result::ok).flatten().ok_or(Refusal::NoHello)?;
    let message: Value = serde_json::from_slice(&first).map_err(|_| Refusal::NoHello)?;
    let hello = Hello::read(&message)?;
    if shared.tokens.matches(hello.role, hello.token) { Ok(hello.role) } else { Err(Refusal::Pairing) }
}

/// Serves the extension: offers its link to the sessions while it is connected, and answers its questions.
async fn serve_extension(mut stream: UnixStream, shared: &Arc<Shared>) {
    let rules = shared.rules.borrow().clone();
    let extension = ExtensionWelcome {
        policy: shared.policy.clone(),
        hash: shared.hash.clone(),
        sealed: rules.sealed.clone(),
        narrow: rules.open.clone(),
    };
    let welcome = Welcome { version: VERSION, extension: Some(extension) };
    say(&mut stream, &json!(ServiceMessage::Welcome { welcome: &welcome })).await;
    let (link, mut questions) = ExtensionLink::over(stream, Arc::clone(&shared.observed));
    let link = Arc::new(link);
    // The newest link counts, since the end of an earlier one may not be noticed yet.
    shared.link.send_replace(Some(Arc::clone(&link)));
    let mut background = tokio::task::JoinSet::new();
    if rules != BrowserRules::default() && *shared.rules.borrow() == BrowserRules::default() {
        // The task ended after the welcome was read, and its end was not sent to this link.
        let link = Arc::clone(&link);
        background.spawn(async move {
            let _gone = link.widen().await;
        });
    }
    while let Some(ask) = questions.recv().await {
        while background.try_join_next().is_some() {}
        let answer = match answer_at_once(&ask, shared).await {
            Ok(answer) => answer,
            Err(NotAtOnce::Refused(refusal)) => refusal.message(),
            Err(NotAtOnce::Change(change)) => {
                // A change may wait for the user, whose answer comes over this link, so it must not block the link. It is
                // queued now, in order.
                let (waits, link) = (shared.queue.change(change), Arc::clone(&link));
                background.spawn(async move {
                    let answer = match waits {
                        Ok(waits) => change_status(waits).await,
                        Err(refusal) => Err(refusal),
                    };
                    let answer = answer.unwrap_or_else(|refusal| refusal.message());
                    let _gone = link.say(&told(&ask, answer)).await;
                });
                continue;
            }
        };
        if link.say(&told(&ask, answer)).await.is_err() {
            break;
        }
    }
    shared.link.send_if_modified(|now| {
        let ours = now.as_ref().is_some_and(|now| Arc::ptr_eq(now, &link));
        if ours {
            *now = None;
        }
        ours
    });
}

fn told(ask: &Value, answer: Value) -> Value {
    json!(ServiceMessage::Told { told: ask.get("id").unwrap_or(&Value::Null), answer })
}

/// A question of the extension without an answer at once.
enum NotAtOnce {
    Change(Change),
    Refused(Refusal),
}

/// Answers a question of the extension, if it has an answer at once.
async fn answer_at_once(ask: &Value, shared: &Shared) -> Result<Value, NotAtOnce> {
    let request = ExtensionRequest::read(ask).map_err(NotAtOnce::Refused)?;
    Ok(match (request, &shared.extension_consent) {
        (ExtensionRequest::Status, _) => {
            let standing = shared.queue.standing();
            status(&shared.task.borrow(), &standing)
        }
        (ExtensionRequest::Trail, _) => {
            let folder = shared.audit.clone();
            let records = tokio::task::spawn_blocking(move || folder.as_deref().map(recent::entries));
            json!({ "records": records.await.ok().flatten().unwrap_or_default() })
        }
        (ExtensionRequest::Consent { says }, Some(consent)) => consent.handle_message(&says),
        (ExtensionRequest::Closed { nonce }, Some(consent)) => {
            consent.close(&nonce);
            json!({})
        }
        (request, _) => {
            return Err(match request.change() {
                Some(change) => NotAtOnce::Change(change),
                None => NotAtOnce::Refused(Refusal::NotForRole),
            });
        }
    })
}

/// Answers the requests of a user or an agent, one after the other.
async fn serve_requests(mut stream: UnixStream, role: Role, shared: &Shared) {
    let welcome = Welcome { version: VERSION, extension: None };
    say(&mut stream, &json!(ServiceMessage::Welcome { welcome: &welcome })).await;
    while let Ok(Some(message)) = framing::read(&mut stream).await {
        let request = serde_json::from_slice(&message).map_err(|_| Refusal::NotForRole);
        let answer = match request.and_then(|message| ClientRequest::read(role, &message)) {
            Ok(request) => shared.queue.ask(request).await,
            Err(refusal) => Err(refusal),
        };
        say(&mut stream, &answer.unwrap_or_else(|refusal| refusal.message())).await;
    }
}

/// Sends a message to a client, which may be gone.
async fn say(stream: &mut UnixStream, message: &Value) {
    let _gone = framing::write(stream, message.to_string().as_bytes()).await;
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
