//! The open connections when a value is about to be released.

use std::sync::Arc;
use std::time::Duration;

use portcullis::egress::proxy::{Limits, StillOpen};
use portcullis::signals::Origin;
use tokio::io::AsyncWriteExt;

use crate::support::{
    Collector, Names, connect, has_ended, password, patient, proxy, proxy_with, soon, tunnel,
};

fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn tunnels_to_other_targets_have_ended_when_it_returns() {
    let (shop, evil) = (Collector::start("").await, Collector::start("").await);
    let (to_shop, to_evil) = (format!("shop.test:{}", shop.port), format!("evil.test:{}", evil.port));
    let proxy = proxy(&["shop.test", "evil.test"], Limits::default()).await;
    let (mut kept, _) = tunnel(&proxy, &to_shop).await;
    let mut cut = Vec::new();
    for _ in 0..20 {
        let (mut stream, status) = tunnel(&proxy, &to_evil).await;
        assert_eq!(status, 200);
        stream.write_all(b"before").await.unwrap();
        cut.push(stream);
    }
    assert!(soon(|| evil.bytes() == 120).await);
    let writing = tokio::spawn(async move {
        // It sends continuously, so that bytes are in flight when the connections are cut.
        loop {
            for stream in &mut cut {
                let _closed = stream.write_all(b"secret").await;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let granted = origin(&format!("https://{to_shop}"));
    proxy.narrow_to(std::slice::from_ref(&granted)).await.unwrap();
    // Bytes that left before may still arrive; no more bytes leave.
    evil.has_accepted_all().await;
    assert!(soon(|| evil.open() == 0).await);
    let bytes = evil.bytes();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!((evil.bytes(), evil.open()), (bytes, 0));
    writing.abort();

    assert_eq!(tunnel(&proxy, &to_evil).await.1, 502);
    assert_eq!(tunnel(&proxy, &format!("shop.test.:{}", shop.port)).await.1, 502);
    assert!(proxy.take_refused() >= 2);
    kept.write_all(b"the order").await.unwrap();
    assert!(soon(|| shop.bytes() == 9).await, "the granted origin's tunnel goes on");
    assert_eq!(tunnel(&proxy, &to_shop).await.1, 200);

    // A second grant adds to the first.
    proxy.narrow_to(&[origin(&format!("https://{to_evil}"))]).await.unwrap();
    assert_eq!((tunnel(&proxy, &to_shop).await.1, tunnel(&proxy, &to_evil).await.1), (200, 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_under_way_are_cut_too() {
    // One request has an endless answer, and one has an endless body.
    let endless = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: x\n\n";
    let (down, up) = (Collector::start(endless).await, Collector::start("").await);
    let proxy = proxy(&["evil.test"], patient()).await;
    let me = password(&proxy);
    let mut events = connect(&proxy).await;
    let request = format!("GET http://evil.test:{}/ HTTP/1.1\r\nHost: x\r\n{me}\r\n", down.port);
    events.write_all(request.as_bytes()).await.unwrap();
    let mut upload = connect(&proxy).await;
    let request = format!(
        "POST http://evil.test:{}/ HTTP/1.1\r\nHost: x\r\n{me}Content-Length: 1000000\r\n\r\nabc",
        up.port
    );
    upload.write_all(request.as_bytes()).await.unwrap();
    assert!(
        soon(|| down.open() == 1 && up.arrived().first().is_some_and(|text| text.ends_with("abc"))).await
    );
    proxy.narrow_to(&[origin("https://shop.test")]).await.unwrap();
    let _closed = upload.write_all(b"secret").await;
    assert!(soon(|| down.open() == 0 && up.open() == 0).await);
    assert!(!up.arrived()[0].contains("secret"));
    assert!(has_ended(&mut events).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_being_opened_is_cut_as_well() {
    let names = Arc::new(Names { silent: true, ..Names::default() });
    let proxy = Arc::new(proxy_with(&[], patient(), "", names.clone()).await);
    let opening = tokio::spawn({
        let proxy = proxy.clone();
        async move { tunnel(&proxy, "evil.example:443").await.1 }
    });
    assert!(soon(|| names.asked.lock().unwrap().len() == 1).await);
    proxy.narrow_to(&[origin("https://shop.test")]).await.unwrap();
    assert_eq!(opening.await.unwrap(), 502);
    assert_eq!(tunnel(&proxy, "evil.example:443").await.1, 502);
    assert_eq!(names.asked.lock().unwrap().len(), 1, "what is refused is not looked up");
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_to_an_origin_in_clear_end_with_the_release() {
    let shop = Collector::start(crate::support::OK).await;
    let to = format!("shop.test:{}", shop.port);
    let proxy = proxy(&["shop.test"], patient()).await;
    let (mut socket, status) = tunnel(&proxy, &to).await;
    assert_eq!(status, 200);
    let narrowed: Result<(), StillOpen> = proxy.narrow_to(&[origin(&format!("http://{to}"))]).await;
    narrowed.unwrap();
    assert!(has_ended(&mut socket).await);
    assert_eq!(tunnel(&proxy, &to).await.1, 502);
    let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: x\r\n{}\r\n", password(&proxy));
    assert!(crate::support::say(&proxy, request.as_bytes()).await.starts_with("HTTP/1.1 200"));
}
