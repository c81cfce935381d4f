//! A proxy, and servers that record the bytes that reach them.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis::egress::proxy::names::Resolved;
use portcullis::egress::proxy::{EgressProxy, HostRules, Limits, OpenRule, Resolver};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// The longest wait for an expected event, on a slow machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Limits that are not reached within [`PATIENCE`], so that only the test's own actions end a connection.
pub fn patient() -> Limits {
    Limits { head_time: PATIENCE * 4, connect_time: PATIENCE * 4, ..Limits::default() }
}

/// A server that records the bytes of every connection, and answers a text that looks like a request.
pub struct Collector {
    pub port: u16,
    /// The addresses from which [`Collector::has_accepted_all`] connects.
    own: Arc<Mutex<Vec<SocketAddr>>>,
    connections: Arc<Mutex<Vec<Vec<u8>>>>,
    open: Arc<Mutex<usize>>,
    task: JoinHandle<()>,
}

impl Collector {
    pub async fn start(answer: &'static str) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let open: Arc<Mutex<usize>> = Arc::default();
        let own: Arc<Mutex<Vec<SocketAddr>>> = Arc::default();
        let (all, now, ours) = (connections.clone(), open.clone(), own.clone());
        let task = tokio::spawn(async move {
            while let Ok((mut stream, from)) = listener.accept().await {
                let mut ours = ours.lock().unwrap();
                if let Some(at) = ours.iter().position(|own| *own == from) {
                    ours.swap_remove(at);
                    continue;
                }
                drop(ours);
                let (all, now) = (all.clone(), now.clone());
                let at = {
                    let mut all = all.lock().unwrap();
                    all.push(Vec::new());
                    all.len() - 1
                };
                *now.lock().unwrap() += 1;
                tokio::spawn(async move {
                    let mut buffer = [0; 4096];
                    let mut answered = false;
                    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                        all.lock().unwrap()[at].extend_from_slice(&buffer[..read]);
                        let head = all.lock().unwrap()[at].windows(4).any(|four| four == b"\r\n\r\n");
                        if head && !answered && !answer.is_empty() {
                            answered = true;
                            if stream.write_all(answer.as_bytes()).await.is_err() {
                                break;
                            }
                        }
                    }
                    *now.lock().unwrap() -= 1;
                });
            }
        });
        Collector { port, own, connections, open, task }
    }

    /// Waits until all connections that were made before this call are counted. They are accepted in turn, and one that was
    /// closed at once may still wait.
    pub async fn has_accepted_all(&self) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let from = socket.local_addr().unwrap();
        self.own.lock().unwrap().push(from);
        let _last = socket.connect(([127, 0, 0, 1], self.port).into()).await.unwrap();
        assert!(soon(|| !self.own.lock().unwrap().contains(&from)).await);
    }

    /// The received bytes, as one text for each connection.
    pub fn arrived(&self) -> Vec<String> {
        let all = self.connections.lock().unwrap();
        all.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
    }

    /// The number of received bytes.
    pub fn bytes(&self) -> usize {
        self.connections.lock().unwrap().iter().map(Vec::len).sum()
    }

    /// The number of connections that are open now.
    pub fn open(&self) -> usize {
        *self.open.lock().unwrap()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A short answer to a request.
pub const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

/// A resolver of a few names that counts its calls and may never answer.
#[derive(Default)]
pub struct Names {
    pub known: HashMap<String, Vec<SocketAddr>>,
    pub asked: Mutex<Vec<String>>,
    pub silent: bool,
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, name: &'a str, _: u16) -> Resolved<'a> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(name.to_owned());
            if self.silent {
                std::future::pending::<()>().await;
            }
            self.known.get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
        })
    }
}

/// Host rules that map every name of `.test` to this machine.
pub const RULES: &str = "MAP *.test 127.0.0.1, MAP *.localhost 127.0.0.1";

pub async fn proxy(private_hosts: &[&str], limits: Limits) -> EgressProxy {
    proxy_with(private_hosts, limits, RULES, Arc::new(Names::default())).await
}

pub async fn proxy_with(
    private_hosts: &[&str],
    limits: Limits,
    rules: &str,
    resolver: Arc<dyn Resolver>,
) -> EgressProxy {
    let private_hosts = private_hosts.iter().map(|host| (*host).to_owned()).collect();
    let before = OpenRule { private_hosts, payment: Vec::new() };
    let rules = HostRules::parse(rules).unwrap();
    EgressProxy::start(before, rules, resolver, limits, random()).await.unwrap()
}

pub fn random() -> [u8; 64] {
    let mut random = [0; 64];
    getrandom::fill(&mut random).unwrap();
    random
}

/// The header line that the container's browser sends.
pub fn password(proxy: &EgressProxy) -> String {
    let credential = STANDARD.encode(proxy.for_container().credential().as_bytes());
    format!("Proxy-Authorization: Basic {credential}\r\n")
}

pub async fn connect(proxy: &EgressProxy) -> TcpStream {
    TcpStream::connect(proxy.for_container().address()).await.unwrap()
}

/// Sends bytes and returns the reply: a whole answer with the bytes that follow it within a moment, or less where the proxy
/// ends the connection.
pub async fn say(proxy: &EgressProxy, bytes: &[u8]) -> String {
    say_for(proxy, bytes, 1, PATIENCE).await
}

/// The same for requests that get so many answers.
pub async fn say_for(proxy: &EgressProxy, bytes: &[u8], answers: usize, patience: Duration) -> String {
    let mut stream = connect(proxy).await;
    // The proxy may close the connection before all is written.
    let _closed = stream.write_all(bytes).await;
    let mut heard = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        // A surplus answer would come within a moment; the expected ones may take long.
        let moment = if whole(&heard) < answers { patience } else { Duration::from_millis(400) };
        match tokio::time::timeout(moment, stream.read(&mut buffer)).await {
            Ok(Ok(read @ 1..)) => heard.extend_from_slice(&buffer[..read]),
            _ => return String::from_utf8_lossy(&heard).into_owned(),
        }
    }
}

/// The number of whole answers in these bytes.
fn whole(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let (mut rest, mut count) = (text.as_ref(), 0);
    while let Some((head, after)) = rest.split_once("\r\n\r\n") {
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        let Some(left) = after.get(length.unwrap_or(0)..) else { break };
        (rest, count) = (left, count + 1);
    }
    count
}

/// Opens a tunnel, and returns it with the status of the answer.
pub async fn tunnel(proxy: &EgressProxy, to: &str) -> (TcpStream, u16) {
    let mut stream = connect(proxy).await;
    let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{}\r\n", password(proxy));
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match tokio::time::timeout(PATIENCE, stream.read(&mut byte)).await {
            Ok(Ok(1)) => head.push(byte[0]),
            _ => return (stream, 0),
        }
    }
    let head = String::from_utf8(head).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (stream, status)
}

/// Whether the other side ended the stream within [`PATIENCE`]. That is less than any limit of [`patient`] that is not set
/// for the test.
pub async fn has_ended(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 64];
    let end = tokio::time::Instant::now() + PATIENCE;
    while tokio::time::Instant::now() < end {
        let read = tokio::time::timeout(Duration::from_millis(100), stream.read(&mut buffer)).await;
        if matches!(read, Ok(Ok(0) | Err(_))) {
            return true;
        }
    }
    false
}

/// Waits until a condition holds, a minute at most.
pub async fn soon(condition: impl FnMut() -> bool) -> bool {
    within(PATIENCE, condition).await
}

/// Waits until a condition holds, no longer than `time`.
pub async fn within(time: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = tokio::time::Instant::now() + time;
    while tokio::time::Instant::now() < end {
        if condition() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// An answer without the time of day.
pub fn timeless(answer: &str) -> String {
    answer.lines().filter(|line| !line.starts_with("date:")).collect::<Vec<_>>().join("\n")
}
