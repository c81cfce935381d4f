//! The delay that a container's egress proxy adds to a request, with the same server on this machine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis::egress::proxy::{EgressProxy, HostRules, Limits, OpenRule, SystemResolver};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::row;

const REQUESTS: usize = 400;
const BODY: usize = 10_000;

/// Answers every request on every connection with the same body.
async fn serve(listener: TcpListener) {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY}\r\n\r\n{}", "a".repeat(BODY));
    let answer: Arc<[u8]> = answer.into_bytes().into();
    while let Ok((mut stream, _)) = listener.accept().await {
        let answer = Arc::clone(&answer);
        tokio::spawn(async move {
            let mut asked = [0; 4096];
            while let Ok(1..) = stream.read(&mut asked).await {
                if stream.write_all(&answer).await.is_err() {
                    break;
                }
            }
        });
    }
}

/// Sends one request and reads its whole answer.
async fn request(stream: &mut TcpStream, request: &[u8]) -> Duration {
    let started = Instant::now();
    stream.write_all(request).await.unwrap();
    let (mut buffer, mut read, mut whole) = (vec![0; 32 * 1024], 0, None);
    loop {
        let more = stream.read(&mut buffer[read..]).await.unwrap();
        assert!(more > 0, "closed too early");
        read += more;
        let head = buffer[..read].windows(4).position(|four| four == b"\r\n\r\n");
        whole = whole.or(head.map(|head| head + 4 + BODY));
        if whole.is_some_and(|whole| read >= whole) {
            return started.elapsed();
        }
    }
}

/// Opens a tunnel to the server through the proxy, as a browser does for `https`.
async fn tunnel(proxy: &EgressProxy, to: &str, credential: &str) -> TcpStream {
    let mut stream = TcpStream::connect(proxy.for_container().address()).await.unwrap();
    let ask = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{credential}\r\n");
    stream.write_all(ask.as_bytes()).await.unwrap();
    let mut answer = [0; 1024];
    let read = stream.read(&mut answer).await.unwrap();
    assert!(answer[..read].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer[..read]));
    stream
}

/// Times requests with and without the proxy, over an open connection and with a new connection for each.
pub async fn compare() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener));
    let host = format!("shop.test:{}", address.port());
    let before = OpenRule { private_hosts: vec!["shop.test".to_owned()], payment: Vec::new() };
    let rules = HostRules::parse("MAP *.test 127.0.0.1").unwrap();
    let limits = Limits::default();
    let proxy = EgressProxy::start(before, rules, Arc::new(SystemResolver), limits, [7; 64]).await.unwrap();
    let credential = STANDARD.encode(proxy.for_container().credential().as_bytes());
    let credential = format!("Proxy-Authorization: Basic {credential}\r\n");
    let plain = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let forwarded = format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n{credential}\r\n");

    let mut direct = TcpStream::connect(address).await.unwrap();
    let mut through = tunnel(&proxy, &host, &credential).await;
    let mut times = [const { Vec::new() }; 5];
    for _ in 0..REQUESTS {
        times[0].push(request(&mut direct, plain.as_bytes()).await);
        times[1].push(request(&mut through, plain.as_bytes()).await);
        let started = Instant::now();
        request(&mut TcpStream::connect(address).await.unwrap(), plain.as_bytes()).await;
        times[2].push(started.elapsed());
        let started = Instant::now();
        request(&mut tunnel(&proxy, &host, &credential).await, plain.as_bytes()).await;
        times[3].push(started.elapsed());
        let started = Instant::now();
        let mut way = TcpStream::connect(proxy.for_container().address()).await.unwrap();
        request(&mut way, forwarded.as_bytes()).await;
        times[4].push(started.elapsed());
    }
    println!("a request for {BODY} bytes to a server on this machine");
    let names = [
        "open connection, direct",
        "open connection, through a tunnel",
        "new connection, direct",
        "new connection, through a new tunnel",
        "new connection, forwarded (http)",
    ];
    let medians: Vec<f64> =
        names.into_iter().zip(&mut times).map(|(what, times)| row(what, times).as_secs_f64()).collect();
    for (what, through, direct) in
        [("open connection", 1, 0), ("new connection, tunnel", 3, 2), ("new connection, forwarded", 4, 2)]
    {
        let (through, direct) = (medians[through], medians[direct]);
        println!("  {what}: {:.2} times direct, {:.0} us more", through / direct, (through - direct) * 1e6);
    }
}
