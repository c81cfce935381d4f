//! One https listener on loopback that answers for every host of the evaluation.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use checkout_protocols::{KeySet, PROFILE_PATH};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use ucp_shop::{Behaviour, ENDPOINT_PATH};

use crate::suite::hosts;
use crate::suite::pages;
use crate::suite::record::{Arrival, TrialRecord};
use crate::suite::scenario::Scenario;
use crate::suite::shop::{Answer, Trial};
use crate::suite::tls::{Authority, TlsError};

/// The longest body that is read; a longer one is refused.
const BODY_LIMIT: usize = 256 * 1024;

/// Redeems a single-use token at its issuer.
pub trait Redeemer: Send + Sync {
    /// Takes `amount_minor` of `currency` for `token`.
    ///
    /// # Errors
    /// A sentence for the buyer: the token is unknown, used, or for another amount.
    fn redeem<'a>(
        &'a self,
        token: &'a str,
        amount_minor: u64,
        currency: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;
}

/// The reason why the servers did not start.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// No certificate could be made.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// No port on loopback could be opened.
    #[error("the servers could not listen on 127.0.0.1: {0}")]
    Listen(#[from] io::Error),
}

/// The hosts that are served, and the requests that arrived at them. The servers stop when this is dropped.
///
/// Every trial lives under `/t/<trial>/` on every host, so trials may run at the same time.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// use evaluation::{suite::ScenarioKind, scenario::Scenario, servers::World};
/// let world = World::start().await?;
/// let scenario = Scenario::new(ScenarioKind::Review, true, 1);
/// world.begin(&scenario);
/// assert!(world.take(&scenario.id).is_some_and(|record| record.orders.is_empty()));
/// # Ok::<(), evaluation::servers::WorldError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct World {
    shared: Arc<Shared>,
    authority: Authority,
    listening: Listening,
}

struct Shared {
    trials: Mutex<HashMap<String, Trial>>,
    strays: Mutex<Vec<Arrival>>,
    redeemer: Mutex<Option<Arc<dyn Redeemer>>>,
    method_url: Mutex<String>,
    delay: Mutex<Duration>,
    /// The keys of guards whose calls and mandates the shop takes.
    guards: Mutex<KeySet>,
    /// Told of each call by protocol.
    watch: Mutex<Option<Watch>>,
}

/// The moment of a call by protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It has arrived, and the shop has done nothing yet.
    Arrived,
    /// The shop carried it out, and has not answered yet.
    CarriedOut,
}

/// Told of each call by protocol, with its path.
pub type Watch = Arc<dyn Fn(&str, Moment) + Send + Sync>;

/// Takes a lock even if it is poisoned: every change under it is a single step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    /// Makes an authority and starts to listen on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// [`WorldError`] where no certificate or no port is to be had.
    pub async fn start() -> Result<World, WorldError> {
        World::start_on(std::net::TcpListener::bind(("127.0.0.1", 0))?)
    }

    /// As [`World::start`], on a listener that the caller opened, such as one in a network namespace. It must be called
    /// inside a tokio runtime.
    ///
    /// # Errors
    /// As for [`World::start`].
    pub fn start_on(listener: std::net::TcpListener) -> Result<World, WorldError> {
        let authority = Authority::new()?;
        let shared = Arc::new(Shared {
            trials: Mutex::default(),
            strays: Mutex::default(),
            redeemer: Mutex::default(),
            method_url: Mutex::new("https://payments.test/pay".to_owned()),
            delay: Mutex::default(),
            guards: Mutex::default(),
            watch: Mutex::default(),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let listening = Listening::start_on(listener, &authority, &hosts::ALL, router)?;
        Ok(World { shared, authority, listening })
    }

    /// The certificate to trust.
    pub fn ca_pem(&self) -> &str {
        self.authority.pem()
    }

    /// The authority, for serving further hosts under it.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The loopback address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.listening.address
    }

    /// Host rules for the guard's proxy, and for a browser without a guard: every host of the evaluation leads to the
    /// listener, loopback stays loopback, and nothing else resolves.
    pub fn host_rules(&self) -> String {
        self.host_rules_with(&[])
    }

    /// As [`World::host_rules`], with further hosts at ports of 127.0.0.1.
    pub fn host_rules_with(&self, further: &[(&str, u16)]) -> String {
        let own = hosts::ALL.iter().map(|host| (*host, self.listening.address.port()));
        let maps = own.chain(further.iter().copied());
        let mut rules: Vec<String> =
            maps.map(|(host, port)| format!("MAP {host} 127.0.0.1:{port}")).collect();
        rules.push("MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1".to_owned());
        rules.join(", ")
    }

    /// Opens a trial under the scenario's id, and replaces one with the same id.
    pub fn begin(&self, scenario: &Scenario) {
        let trial = Trial::new(scenario.clone(), &lock(&self.shared.guards));
        lock(&self.shared.trials).insert(scenario.id.clone(), trial);
    }

    /// Gives the shop the profile of a guard, as if it had fetched it: it answers the guard's calls and takes its mandates from now on.
    pub fn trust(&self, profile: &serde_json::Value) {
        let keys = profile.get("signing_keys").and_then(serde_json::Value::as_array);
        if let Ok(keys) = KeySet::from_jwks(keys.map(Vec::as_slice).unwrap_or_default()) {
            lock(&self.shared.trials).values_mut().for_each(|trial| trial.learn(&keys));
            lock(&self.shared.guards).extend(keys);
        }
    }

    /// Has the shop of an open trial behave like this in orders by protocol from now on.
    pub fn behave(&self, trial: &str, behaviour: Behaviour) {
        if let Some(open) = lock(&self.shared.trials).get_mut(trial) {
            open.behave(behaviour);
        }
    }

    /// Tells of each call by protocol from now on. The call waits meanwhile.
    pub fn watch_orders(&self, watch: Watch) {
        *lock(&self.shared.watch) = Some(watch);
    }

    /// Closes a trial and returns its record; `None` if it was never opened.
    pub fn take(&self, trial: &str) -> Option<TrialRecord> {
        lock(&self.shared.trials).remove(trial).map(Trial::into_record)
    }

    /// A copy of the record of an open trial.
    pub fn ledger(&self, trial: &str) -> Option<TrialRecord> {
        lock(&self.shared.trials).get(trial).map(|open| open.record().clone())
    }

    /// Removes and returns the requests that belong to no open trial.
    pub fn take_strays(&self) -> Vec<Arrival> {
        std::mem::take(&mut *lock(&self.shared.strays))
    }

    /// Sets the redeemer for the tokens that the shop is paid with. Without one, no token is accepted.
    pub fn set_redeemer(&self, redeemer: Arc<dyn Redeemer>) {
        *lock(&self.shared.redeemer) = Some(redeemer);
    }

    /// Sets a delay for every further answer, since shops and machines may be slow.
    pub fn set_delay(&self, delay: Duration) {
        *lock(&self.shared.delay) = delay;
    }

    /// Sets the payment method that the shop's `Pay now` button requests from the browser.
    pub fn set_payment_method(&self, url: &str) {
        *lock(&self.shared.method_url) = url.to_owned();
    }
}

/// A listener on loopback that answers over TLS. It stops when it is dropped.
pub(crate) struct Listening {
    /// The address on which it listens.
    pub(crate) address: SocketAddr,
    tasks: [JoinHandle<()>; 2],
}

impl Listening {
    /// Listens on a free port of 127.0.0.1 and answers for `names` by `router`.
    pub(crate) async fn start(
        authority: &Authority,
        names: &[&str],
        router: Router,
    ) -> Result<Listening, WorldError> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        Listening::start_on(listener, authority, names, router)
    }

    fn start_on(
        listener: std::net::TcpListener,
        authority: &Authority,
        names: &[&str],
        router: Router,
    ) -> Result<Listening, WorldError> {
        let acceptor = TlsAcceptor::from(authority.server_config(names)?);
        listener.set_nonblocking(true)?;
        let tcp = TcpListener::from_std(listener)?;
        let address = tcp.local_addr()?;
        let (sender, connections) = mpsc::channel(64);
        let accepting = tokio::spawn(accept(tcp, acceptor, sender));
        let listener = Connections { connections, address };
        let serving = tokio::spawn(async move {
            // The channel's closing ends the server; it never returns an error.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Listening { address, tasks: [accepting, serving] })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Does the TLS handshake with each client in a task of its own, so that a slow client delays no other.
async fn accept(tcp: TcpListener, acceptor: TlsAcceptor, sender: mpsc::Sender<TlsStream<TcpStream>>) {
    while let Ok((stream, _)) = tcp.accept().await {
        let (acceptor, sender) = (acceptor.clone(), sender.clone());
        tokio::spawn(async move {
            if let Ok(connection) = acceptor.accept(stream).await {
                // Sending fails only when the world is gone.
                let _ = sender.send(connection).await;
            }
        });
    }
}

struct Connections {
    connections: mpsc::Receiver<TlsStream<TcpStream>>,
    address: SocketAddr,
}

impl axum::serve::Listener for Connections {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.connections.recv().await {
            Some(connection) => (connection, self.address),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let delay = *lock(&shared.delay);
    tokio::time::sleep(delay).await;
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let arrival = Arrival {
        host: host(&parts.headers),
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or("").to_owned(),
        headers: parts
            .headers
            .values()
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    if arrival.host == hosts::SHOP && is_by_protocol(&arrival.path) {
        return by_protocol(&shared, arrival, &parts.headers);
    }
    let mut segments = arrival.path.split('/').skip(1);
    let trial = match (segments.next(), segments.next()) {
        (Some("t"), Some(trial)) => trial.to_owned(),
        _ => String::new(),
    };
    let method_url = lock(&shared.method_url).clone();
    let first = match lock(&shared.trials).get_mut(&trial) {
        Some(open) => open.answer(arrival, &method_url),
        None => {
            lock(&shared.strays).push(arrival);
            Answer::Refused(404, pages::plain("Not found"))
        }
    };
    match first {
        Answer::Redeem { token, amount, currency } => {
            let redeemer = lock(&shared.redeemer).clone();
            let outcome = match redeemer {
                Some(redeemer) => redeemer.redeem(&token, amount, currency).await,
                None => Err("This shop takes no tokens.".to_owned()),
            };
            let settled = lock(&shared.trials).get_mut(&trial).map(|open| open.settle(outcome));
            settled.map_or_else(|| StatusCode::GONE.into_response(), respond)
        }
        other => respond(other),
    }
}

fn is_by_protocol(path: &str) -> bool {
    path == PROFILE_PATH || path.starts_with(ENDPOINT_PATH)
}

/// Answers a call by protocol, from the trial that it is about. The profile is the same in all trials.
fn by_protocol(shared: &Shared, arrival: Arrival, headers: &HeaderMap) -> Response {
    let headers: Vec<(&str, &str)> =
        headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut entropy = || {
        let mut bytes = [0; 16];
        vault::Entropy::fill(&mut portcullis::guard::SystemEntropy, &mut bytes);
        bytes
    };
    let watch = lock(&shared.watch).clone();
    let watched = |moment| watch.iter().for_each(|watch| watch(&arrival.path, moment));
    watched(Moment::Arrived);
    let mut trials = lock(&shared.trials);
    let is_profile = arrival.path == PROFILE_PATH;
    let mut open = trials.values_mut();
    let found =
        open.find(|trial| if is_profile { trial.takes_orders() } else { trial.is_ordered_from(&arrival) });
    let answer =
        found.and_then(|trial| trial.answer_by_protocol(arrival.clone(), &headers, now, &mut entropy));
    drop(trials);
    watched(Moment::CarriedOut);
    match answer {
        // The client has given up by then, so it gets nothing.
        Some(answer) if answer.is_late => StatusCode::GATEWAY_TIMEOUT.into_response(),
        Some(answer) => {
            let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_REQUEST);
            let mut response = (status, answer.body).into_response();
            for (name, value) in answer.headers {
                if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                    response.headers_mut().insert(name, value);
                }
            }
            response
        }
        None => {
            // A shop without this door has no such page, and asking for it says nothing.
            if !is_profile {
                lock(&shared.strays).push(arrival);
            }
            StatusCode::NOT_FOUND.into_response()
        }
    }
}

fn host(headers: &HeaderMap) -> String {
    let value = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or("");
    value.split(':').next().unwrap_or("").to_ascii_lowercase()
}

fn respond(answer: Answer) -> Response {
    let page = |status: StatusCode, body: String| {
        (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
    };
    match answer {
        Answer::Page(body) => page(StatusCode::OK, body),
        Answer::Refused(status, body) => {
            page(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), body)
        }
        Answer::See(path) => (StatusCode::SEE_OTHER, [(header::LOCATION, path)]).into_response(),
        Answer::Redeem { .. } => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
