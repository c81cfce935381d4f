//! The socket, and who is listened to.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use browser_signals::Origin;
use browser_signals::extension::{ExtensionLink, framing};
use serde_json::{Value, json};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};

use super::asking::Asking;
use super::desk::{Desk, TaskNow, changed, status};
use super::place::{PlaceError, ServicePlace, Words};
use super::protocol::{Hello, Refusal, Role, VERSION, Wish};
use super::tls::TlsProbe;
use super::trail;
use crate::consent::Change;
use crate::guard::{Guard, SystemEntropy};
use crate::session::tab::{BrowserRules, LinkNow, Tabs, schema};

/// How long whoever connects may take to say who they are.
const HELLO_WITHIN: Duration = Duration::from_secs(5);

/// How many connections there may be of all who have not said who they are, and of each role.
const MOST_CONNECTIONS: usize = 16;

/// Why there is no service.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The folder cannot be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The socket cannot be opened.
    #[error("the socket {path} cannot be opened: {error}")]
    Socket {
        /// The socket.
        path: PathBuf,
        /// The system's word for it.
        error: io::Error,
    },
}

/// How a service is started.
pub struct ServiceSettings {
    /// Its folder.
    pub place: ServicePlace,
    /// What judges connections.
    pub tls: TlsProbe,
    /// Where the audit log is, to be shown on the extension's page of settings.
    pub audit: Option<PathBuf>,
    /// Where the guard's answerer asks on the extension's consent page; none where it asks elsewhere.
    pub asking: Option<Asking>,
}

/// A service that listens.
pub struct Service {
    listener: UnixListener,
    shared: Arc<Shared>,
    working: tokio::task::JoinHandle<()>,
}

struct Shared {
    words: Words,
    desk: Desk,
    link: watch::Sender<LinkNow>,
    task: watch::Receiver<TaskNow>,
    rules: watch::Receiver<BrowserRules>,
    observed: Arc<AtomicU64>,
    welcome: Value,
    audit: Option<PathBuf>,
    asking: Option<Asking>,
    strangers: Arc<Semaphore>,
    by_role: [Arc<Semaphore>; Role::ALL.len()],
}

impl Service {
    /// Opens the socket. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`ServiceError`].
    pub fn start(guard: Guard, settings: ServiceSettings) -> Result<Service, ServiceError> {
        let ServiceSettings { place, tls, audit, asking } = settings;
        let words = place.take(&mut SystemEntropy)?;
        let path = place.socket();
        let listener = UnixListener::bind(&path).map_err(|error| ServiceError::Socket { path, error })?;
        let welcome = json!({
            "version": VERSION,
            "policy": STANDARD.encode(guard.decision.policy_bytes()),
            "hash": hex(&guard.decision.policy_hash()),
        });
        let link = asking.as_ref().map_or_else(|| watch::Sender::new(LinkNow::None), Asking::link);
        let seen = link.subscribe();
        let (published, task) = watch::channel(None);
        let (rules, ruled) = watch::channel(BrowserRules::default());
        let tabs = Tabs { link: seen, tls: Arc::new(tls), rules };
        let (desk, work) = Desk::new(guard.with_schema(schema()), tabs, published);
        let room = || Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let shared = Shared {
            words,
            desk,
            link,
            task,
            rules: ruled,
            observed: Arc::new(AtomicU64::new(1)),
            welcome,
            audit,
            asking,
            strangers: room(),
            by_role: [room(), room(), room()],
        };
        Ok(Service { listener, shared: Arc::new(shared), working: tokio::spawn(work) })
    }

    /// Listens until `stop` is done, and then ends the task that is open.
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
                        talking.spawn(talk(stream, Arc::clone(&shared)));
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

/// One connection, from its first word to its end.
async fn talk(mut stream: UnixStream, shared: Arc<Shared>) {
    let admitted = admit(&mut stream, &shared).await;
    match admitted {
        Ok(role) => {
            let room = shared.by_role.get(role as usize).cloned();
            let Some(_room) = room.and_then(|room| room.try_acquire_owned().ok()) else {
                return say(&mut stream, &Refusal::Busy.message()).await;
            };
            match role {
                Role::Extension => extension(stream, &shared).await,
                Role::Agent | Role::User => wishes(stream, role, &shared).await,
            }
        }
        Err(refusal) => say(&mut stream, &refusal.message()).await,
    }
}

/// Who it is: of the same user, of the same version, and paired.
async fn admit(stream: &mut UnixStream, shared: &Shared) -> Result<Role, Refusal> {
    let _room = shared.strangers.try_acquire().map_err(|_| Refusal::Busy)?;
    let user = rustix::process::geteuid().as_raw();
    if !stream.peer_cred().is_ok_and(|peer| peer.uid() == user) {
        return Err(Refusal::OtherUser);
    }
    let first = tokio::time::timeout(HELLO_WITHIN, framing::read(stream)).await;
    let first = first.ok().and_then(Result::ok).flatten().ok_or(Refusal::NoHello)?;
    let message: Value = serde_json::from_slice(&first).map_err(|_| Refusal::NoHello)?;
    let hello = Hello::read(&message)?;
    if shared.words.fit(hello.role, hello.word) { Ok(hello.role) } else { Err(Refusal::Pairing) }
}

/// Shows the extension to the desk for as long as it is there, and tells it what it asks.
async fn extension(mut stream: UnixStream, shared: &Arc<Shared>) {
    let mut welcome = shared.welcome.clone();
    let rules = shared.rules.borrow().clone();
    if let Some(welcome) = welcome.as_object_mut() {
        welcome.insert("sealed".to_owned(), written(&rules.sealed));
        welcome.insert("narrow".to_owned(), written(&rules.open));
    }
    say(&mut stream, &json!({ "welcome": welcome })).await;
    let (link, mut asks) = ExtensionLink::over(stream, Arc::clone(&shared.observed));
    let link = Arc::new(link);
    // The newest counts: one whose worker was stopped may not have been seen to end yet.
    shared.link.send_replace(Some(Arc::clone(&link)));
    let mut beside = tokio::task::JoinSet::new();
    if rules != BrowserRules::default() && *shared.rules.borrow() == BrowserRules::default() {
        // It ended between the welcome and now: whoever told of that did not know of this link.
        let link = Arc::clone(&link);
        beside.spawn(async move {
            let _gone = link.widen().await;
        });
    }
    while let Some(ask) = asks.recv().await {
        while beside.try_join_next().is_some() {}
        let answer = match asked(&ask, shared).await {
            Ok(answer) => answer,
            Err(NotAtOnce::Refused(refusal)) => refusal.message(),
            Err(NotAtOnce::Change(change)) => {
                // A change may have to wait for a person, and that person's answer comes this way. Its place among the
                // changes it has now.
                let (waits, link) = (shared.desk.change(change), Arc::clone(&link));
                beside.spawn(async move {
                    let answer = match waits {
                        Ok(waits) => changed(waits).await,
                        Err(refusal) => Err(refusal),
                    };
                    let answer = answer.unwrap_or_else(|refusal| refusal.message());
                    let _gone = link.say(&json!({ "told": ask.get("id"), "answer": answer })).await;
                });
                continue;
            }
        };
        let told = json!({ "told": ask.get("id"), "answer": answer });
        if link.say(&told).await.is_err() {
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

fn written(origins: &[Origin]) -> Value {
    origins.iter().map(ToString::to_string).collect()
}

/// What the extension is not told at once.
enum NotAtOnce {
    Change(Change),
    Refused(Refusal),
}

/// What the extension is told at once.
async fn asked(ask: &Value, shared: &Shared) -> Result<Value, NotAtOnce> {
    let text = |name: &str| ask.get(name).and_then(Value::as_str);
    Ok(match (text("ask").unwrap_or_default(), &shared.asking) {
        ("status", _) => {
            let standing = shared.desk.standing();
            status(&shared.task.borrow(), &standing)
        }
        ("trail", _) => {
            let folder = shared.audit.clone();
            let records = tokio::task::spawn_blocking(move || folder.as_deref().map(trail::last));
            json!({ "records": records.await.ok().flatten().unwrap_or_default() })
        }
        ("consent", Some(asking)) => asking.hear(text("says").unwrap_or_default()),
        ("closed", Some(asking)) => {
            asking.close(text("nonce").unwrap_or_default());
            json!({})
        }
        _ => {
            return Err(match Wish::read(Role::Extension, ask) {
                Ok(Wish::Change(change)) => NotAtOnce::Change(change),
                Ok(_) => NotAtOnce::Refused(Refusal::NotForRole),
                Err(refusal) => NotAtOnce::Refused(refusal),
            });
        }
    })
}

/// Answers one wish after the other.
async fn wishes(mut stream: UnixStream, role: Role, shared: &Shared) {
    say(&mut stream, &json!({ "welcome": { "version": VERSION } })).await;
    while let Ok(Some(message)) = framing::read(&mut stream).await {
        let wish = serde_json::from_slice(&message).map_err(|_| Refusal::NotForRole);
        let answer = match wish.and_then(|message| Wish::read(role, &message)) {
            Ok(wish) => shared.desk.ask(wish).await,
            Err(refusal) => Err(refusal),
        };
        say(&mut stream, &answer.unwrap_or_else(|refusal| refusal.message())).await;
    }
}

/// Says something to whoever may have gone.
async fn say(stream: &mut UnixStream, message: &Value) {
    let _gone = framing::write(stream, message.to_string().as_bytes()).await;
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
