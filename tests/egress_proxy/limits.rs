//! The resources that a container, or any program that finds the port, can use.

use std::time::{Duration, Instant};

use portcullis::egress::proxy::Limits;
use tokio::io::AsyncWriteExt;

use crate::support::{
    Collector, OK, PATIENCE, connect, has_ended, password, patient, proxy, say, soon, tunnel,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_or_silent_client_is_disconnected() {
    let collector = Collector::start(OK).await;
    let limits = Limits { connections: 8, head_time: Duration::from_secs(3), ..patient() };
    let proxy = proxy(&["open.test"], limits).await;
    let mut slow = Vec::new();
    for (number, start) in
        ["", "GET http://open", "GET http://open.test/ HTTP/1.1\r\nX: "].iter().cycle().take(8).enumerate()
    {
        let mut stream = connect(&proxy).await;
        let _closed = stream.write_all(start.as_bytes()).await;
        slow.push((number, stream));
    }
    // They are accepted in turn, so that this one finds all slots taken, or the first of them free again.
    let mut ninth = connect(&proxy).await;
    assert!(has_ended(&mut ninth).await, "one too many is closed");
    for (number, stream) in &mut slow {
        // Single bytes now and then do not prolong it.
        let _closed = stream.write_all(b"x").await;
        assert!(has_ended(stream).await, "connection {number}");
    }
    let to = format!("open.test:{}", collector.port);
    let begun = Instant::now();
    while tunnel(&proxy, &to).await.1 != 200 {
        assert!(begun.elapsed() < PATIENCE, "there is no room again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tunnels_count_for_as_long_as_they_last() {
    let collector = Collector::start("").await;
    let to = format!("open.test:{}", collector.port);
    let proxy = proxy(&["open.test"], Limits { connections: 3, ..patient() }).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let (stream, status) = tunnel(&proxy, &to).await;
        assert_eq!(status, 200);
        open.push(stream);
    }
    let mut fourth = connect(&proxy).await;
    assert!(has_ended(&mut fourth).await);
    open.pop();
    assert!(soon(|| collector.open() == 2).await);
    // Its slot is free a moment after its connection has ended.
    let begun = Instant::now();
    while tunnel(&proxy, &to).await.1 != 200 {
        assert!(begun.elapsed() < PATIENCE, "no place was given back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_heads_and_many_headers_are_refused() {
    let collector = Collector::start(OK).await;
    let proxy = proxy(&["open.test"], Limits::default()).await;
    let start =
        format!("GET http://open.test:{}/ HTTP/1.1\r\nHost: x\r\n{}", collector.port, password(&proxy));
    for more in [
        format!("X: {}\r\n\r\n", "a".repeat(40_000)),
        format!("{}\r\n", "X: a\r\n".repeat(200)),
        "X: a\r\n".repeat(100_000),
    ] {
        let answer = say(&proxy, format!("{start}{more}").as_bytes()).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let path = "a".repeat(70_000);
    let answer =
        say(&proxy, format!("GET http://open.test:{}/{path} HTTP/1.1\r\n\r\n", collector.port).as_bytes())
            .await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    assert_eq!(collector.arrived(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tunnel_that_is_silent_is_closed_and_one_that_is_not_stays() {
    let collector = Collector::start("").await;
    let to = format!("open.test:{}", collector.port);
    let idle = Duration::from_secs(6);
    let proxy = proxy(&["open.test"], Limits { idle, ..patient() }).await;
    let (mut silent, _) = tunnel(&proxy, &to).await;
    let (mut busy, _) = tunnel(&proxy, &to).await;
    let talking = tokio::spawn(async move {
        let begun = Instant::now();
        while begun.elapsed() < idle * 3 / 2 {
            busy.write_all(b"x").await.unwrap();
            tokio::time::sleep(Duration::from_millis(75)).await;
        }
        busy
    });
    assert!(has_ended(&mut silent).await);
    let _busy = talking.await.unwrap();
    assert!(soon(|| collector.open() < 2).await);
    assert_eq!(collector.open(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_is_given_up() {
    let limits = Limits { connect_time: Duration::from_millis(300), ..patient() };
    let names = crate::support::Names { silent: true, ..Default::default() };
    let proxy = crate::support::proxy_with(&[], limits, "", std::sync::Arc::new(names)).await;
    // An answer comes before the test gives up, and so before any other limit.
    assert_eq!(tunnel(&proxy, "slow.example:443").await.1, 502);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_is_dropped_leaves_nothing_open() {
    let collector = Collector::start("").await;
    let to = format!("open.test:{}", collector.port);
    let proxy = proxy(&["open.test"], patient()).await;
    let address = proxy.for_container().address();
    let (mut stream, status) = tunnel(&proxy, &to).await;
    assert_eq!(status, 200);
    let mut idle = connect(&proxy).await;
    drop(proxy);
    assert!(has_ended(&mut stream).await && has_ended(&mut idle).await);
    assert!(soon(|| collector.open() == 0).await);
    let begun = Instant::now();
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        assert!(begun.elapsed() < PATIENCE, "somebody still listens");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
