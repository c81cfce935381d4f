//! Requests in clear: the request for the server, and the answer for the client.

use portcullis::egress::proxy::Limits;

use crate::support::{Collector, OK, PATIENCE, password, proxy, say, say_for, timeless};

#[tokio::test(flavor = "multi_thread")]
async fn the_server_gets_the_request_as_it_was_meant_and_nothing_of_the_proxy() {
    let collector = Collector::start(OK).await;
    let port = collector.port;
    let proxy = proxy(&["open.test"], Limits::default()).await;
    let me = password(&proxy);
    let request = format!(
        "POST http://OPEN.test:{port}/a?b=c HTTP/1.1\r\nHost: evil.test\r\n{me}Proxy-Connection: keep-alive\r\n\
         Connection: X-Hop, close\r\nX-Hop: 1\r\nTE: trailers\r\nKeep-Alive: 5\r\nUpgrade: h2c\r\nX-Kept: yes\r\n\
         Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    );
    let answer = say(&proxy, request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("\r\n\r\nok"), "{answer}");
    let arrived = collector.arrived().pop().unwrap();
    let lower = arrived.to_lowercase();
    assert!(arrived.starts_with("POST /a?b=c HTTP/1.1\r\n"), "{arrived}");
    assert!(lower.contains(&format!("host: open.test:{port}\r\n")), "{arrived}");
    assert!(lower.contains("x-kept: yes") && arrived.contains("hello"), "{arrived}");
    for word in ["proxy-", "evil.test", "x-hop", "keep-alive", "upgrade", "te: trailers", "container", "via"]
    {
        assert!(!lower.contains(word), "{word} in {arrived}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_holds_a_request_stays_a_body() {
    let collector = Collector::start(OK).await;
    let port = collector.port;
    let proxy = proxy(&["open.test"], Limits::default()).await;
    let inner = format!("GET http://open.test:{port}/smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
    let request = format!(
        "POST http://open.test:{port}/ HTTP/1.1\r\nHost: x\r\n{}Content-Length: {}\r\n\r\n{inner}",
        password(&proxy),
        inner.len()
    );
    say(&proxy, request.as_bytes()).await;
    let arrived = collector.arrived();
    assert_eq!(arrived.len(), 1);
    assert!(
        arrived[0].to_lowercase().contains(&format!("content-length: {}\r\n", inner.len())),
        "{arrived:?}"
    );
    // A second request follows the body, and needs the password too.
    let request = format!("{request}{inner}");
    let answer = say_for(&proxy, request.as_bytes(), 2, PATIENCE).await;
    assert_eq!(answer.matches("HTTP/1.1 407 ").count(), 1, "{answer}");
    assert!(!collector.arrived().iter().any(|text| text.starts_with("GET ")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_cannot_impersonate_the_proxy() {
    for answer in [
        "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"proxy\"\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "SSH-2.0-server\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ] {
        let collector = Collector::start(answer).await;
        let port = collector.port;
        let proxy = proxy(&["open.test"], Limits::default()).await;
        let me = password(&proxy);
        let request = format!("GET http://open.test:{port}/ HTTP/1.1\r\nHost: x\r\n{me}\r\n");
        let heard = say(&proxy, request.as_bytes()).await;
        assert!(heard.starts_with("HTTP/1.1 502 "), "{answer}\n{heard}");
        let refused = format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: x\r\n{me}\r\n");
        assert_eq!(timeless(&heard), timeless(&say(&proxy, refused.as_bytes()).await));
        assert_eq!(collector.arrived().len(), 1);
    }
    let collector = Collector::start(
        "HTTP/1.1 200 OK\r\nProxy-Authenticate: Basic realm=\"x\"\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let proxy = proxy(&["open.test"], Limits::default()).await;
    let request =
        format!("GET http://open.test:{}/ HTTP/1.1\r\nHost: x\r\n{}\r\n", collector.port, password(&proxy));
    let heard = say(&proxy, request.as_bytes()).await.to_lowercase();
    assert!(
        heard.starts_with("http/1.1 200") && !heard.contains("proxy-") && !heard.contains("x-hop"),
        "{heard}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_with_two_framings_arrives_with_one() {
    for framing in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
        "Content-Length: 5\r\nContent-Length: 5",
    ] {
        let collector = Collector::start(OK).await;
        let port = collector.port;
        let proxy = proxy(&["open.test"], Limits::default()).await;
        let me = password(&proxy);
        let head = format!("POST http://open.test:{port}/ HTTP/1.1\r\nHost: x\r\n{me}{framing}\r\n\r\n");
        let next = format!("GET http://open.test:{port}/smuggled HTTP/1.1\r\nHost: x\r\n{me}\r\n");
        // With two framings the connection ends; with a doubled length, the next bytes are a request like any other.
        let both = framing.contains("chunked");
        let answers = if both { 1 } else { 2 };
        say_for(&proxy, format!("{head}0\r\n\r\n{next}").as_bytes(), answers, PATIENCE).await;
        let arrived = collector.arrived();
        let first = arrived.first().map(|text| text.to_lowercase()).unwrap_or_default();
        let frames = first.matches("content-length:").count() + first.matches("transfer-encoding:").count();
        assert_eq!(frames, 1, "{first}");
        assert_eq!(arrived.len(), answers, "{arrived:?}");
        assert!(!first.contains("smuggled"), "{first}");
    }
}
