//! The clients that the listener answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis::egress::proxy::Limits;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::support::{Collector, Names, OK, password, proxy, proxy_with, say, say_for, timeless, tunnel};

#[tokio::test(flavor = "multi_thread")]
async fn a_page_or_a_process_without_the_password_gets_nothing() {
    let collector = Collector::start(OK).await;
    let port = collector.port;
    let proxy = proxy(&["open.test"], Limits::default()).await;
    let own = proxy.for_container().address();
    let right = password(&proxy);
    let wrong = format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode("container:00"));
    let bearer = right.replace("Basic", "Bearer");
    let short = format!("{}\r\n", right.trim_end().trim_end_matches('=').split_at(60).0);

    // A page can send origin form, also with every header that a page may set.
    let mut constant = None;
    for request in [
        format!("GET / HTTP/1.1\r\nHost: {own}\r\n\r\n"),
        format!("GET /?q HTTP/1.1\r\nHost: localhost:{}\r\nOrigin: https://evil.test\r\n\r\n", own.port()),
        format!(
            "OPTIONS / HTTP/1.1\r\nHost: {own}\r\nAccess-Control-Request-Method: POST\r\nOrigin: https://evil.test\r\n\r\n"
        ),
        format!("POST / HTTP/1.1\r\nHost: rebound.evil.test:{}\r\nContent-Length: 2\r\n\r\nhi", own.port()),
        format!("GET / HTTP/1.1\r\nHost: {own}\r\n{right}\r\n"),
        format!("GET / HTTP/1.1\r\nHost: {own}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
        format!("OPTIONS * HTTP/1.1\r\nHost: {own}\r\n\r\n"),
    ] {
        let answer = timeless(&say(&proxy, request.as_bytes()).await);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request}{answer}");
        let answer = answer.replace("\nconnection: close", "");
        assert_eq!(*constant.get_or_insert(answer.clone()), answer, "{request}");
        for word in ["access-control", "portcullis", "proxy", "server:"] {
            assert!(!answer.to_lowercase().contains(word), "{word} in {answer}");
        }
    }
    assert!(constant.unwrap().contains("content-length: 0"));

    // Another process can send proxy requests, without the password.
    let mut constant = None;
    for credential in ["", &wrong, &bearer, &short, &format!("{right}{right}"), &right.replace("Proxy-", "")]
    {
        for request in [
            format!("GET http://open.test:{port}/ HTTP/1.1\r\nHost: open.test:{port}\r\n{credential}\r\n"),
            format!("CONNECT open.test:{port} HTTP/1.1\r\nHost: open.test:{port}\r\n{credential}\r\n"),
            format!("GET http://closed.test/ HTTP/1.1\r\nHost: closed.test\r\n{credential}\r\n"),
            format!(
                "GET http://{}/ HTTP/1.1\r\nHost: x\r\n{credential}\r\n",
                proxy.for_container().greeting()
            ),
        ] {
            let answer = timeless(&say(&proxy, request.as_bytes()).await);
            assert!(answer.starts_with("HTTP/1.1 407 "), "{request}{answer}");
            assert_eq!(*constant.get_or_insert(answer.clone()), answer, "{request}");
        }
    }
    assert_eq!(collector.arrived(), [""; 0]);
    assert_eq!(tunnel(&proxy, &format!("open.test:{port}")).await.1, 200, "the password is right");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ambiguous_request_goes_nowhere() {
    let collector = Collector::start(OK).await;
    let port = collector.port;
    let proxy = proxy(&["open.test"], Limits::default()).await;
    let me = password(&proxy);
    let host = format!("Host: open.test:{port}\r\n");
    let to = format!("http://open.test:{port}/");
    for request in [
        format!("POST {to} HTTP/1.1\r\n{host}{me}Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
        format!("POST {to} HTTP/1.1\r\n{host}{me}Content-Length: 2, 3\r\n\r\nabc"),
        format!("POST {to} HTTP/1.1\r\n{host}{me}Content-Length: +2\r\n\r\nab"),
        format!(
            "POST {to} HTTP/1.1\r\n{host}{me}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"
        ),
        format!("POST {to} HTTP/1.1\r\n{host}{me}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        format!("GET {to} HTTP/1.1\r\n{host}{host}{me}\r\n"),
        format!("GET {to} HTTP/1.1\r\n{me}\r\n"),
        format!("GET {to} HTTP/1.0\r\n{host}{me}\r\n"),
        format!("GET {to} HTTP/1.1\r\n{host}{me}X: a\r\n b\r\n\r\n"),
        format!("GET {to} HTTP/1.1\r\n{host}{me}X : a\r\n\r\n"),
        format!("GET {to}\0 HTTP/1.1\r\n{host}{me}\r\n"),
        format!("GET https://open.test:{port}/ HTTP/1.1\r\n{host}{me}\r\n"),
        format!("GET http://user@open.test:{port}/ HTTP/1.1\r\n{host}{me}\r\n"),
        format!("CONNECT open.test HTTP/1.1\r\n{host}{me}\r\n"),
        format!("CONNECT user@open.test:{port} HTTP/1.1\r\n{host}{me}\r\n"),
        format!("CONNECT {to} HTTP/1.1\r\n{host}{me}\r\n"),
        format!("CONNECT open.test:{port} HTTP/1.1\r\n{host}{me}Content-Length: 3\r\n\r\nabc"),
        format!("CONNECT open.test:{port} HTTP/1.1\r\n{host}{me}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        format!("PRI * HTTP/2.0\r\n{me}\r\nSM\r\n\r\n"),
    ] {
        let answer = say(&proxy, request.as_bytes()).await;
        let refused = answer.starts_with("HTTP/1.1 400 ") || answer.starts_with("HTTP/1.0 400 ");
        assert!(answer.is_empty() || refused, "{request}\n{answer}");
    }
    assert_eq!(collector.arrived(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn private_hosts_are_refused_in_every_spelling_and_by_whatever_name() {
    let collector = Collector::start(OK).await;
    let port = collector.port;
    let public = "93.184.215.14:443".parse().unwrap();
    let local = format!("127.0.0.1:{port}").parse().unwrap();
    let mapped = format!("[::ffff:127.0.0.1]:{port}").parse().unwrap();
    let known = HashMap::from([
        ("rebound.example".to_owned(), vec![local]),
        ("mapped.example".to_owned(), vec![mapped]),
        ("listed.example".to_owned(), vec![local]),
        ("public.example".to_owned(), vec![public]),
    ]);
    let names = Arc::new(Names { known, ..Names::default() });
    let listed = format!("listed.example:{port}");
    let rules = "MAP ruled.example 127.0.0.1, MAP gone.example ~NOTFOUND";
    let proxy = proxy_with(&[&listed], Limits::default(), rules, names.clone()).await;
    let own = proxy.for_container().address().port();
    let mut answers = Vec::new();
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "017700000001",
        "127.0.0.1.",
        "0",
        "0.0.0.0",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "printer",
        "router.lan",
        "169.254.169.254",
        "rebound.example",
        "rebound.example.",
        "mapped.example",
        "ruled.example",
        "gone.example",
        "unknown.example",
    ] {
        assert_eq!(tunnel(&proxy, &format!("{host}:{port}")).await.1, 502, "{host}");
        let request = format!("GET http://{host}:{port}/ HTTP/1.1\r\nHost: x\r\n{}\r\n", password(&proxy));
        answers.push(timeless(&say(&proxy, request.as_bytes()).await));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "a refusal tells why: {answers:?}");
    assert_eq!(collector.arrived(), [""; 0]);
    assert_eq!(tunnel(&proxy, &format!("127.0.0.1:{own}")).await.1, 502, "itself");

    names.asked.lock().unwrap().clear();
    assert_eq!(tunnel(&proxy, &listed).await.1, 200, "the list opens what it names");
    assert_eq!(*names.asked.lock().unwrap(), ["listed.example"], "a name is looked up once");
    assert_eq!(tunnel(&proxy, "listed.example:25").await.1, 502);
}

#[test]
fn no_bytes_get_an_answer_that_is_not_a_refusal() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let proxy = runtime.block_on(proxy(&["open.test"], Limits::default()));
    let word = prop_oneof![
        "GET |POST |CONNECT |OPTIONS ",
        "http://open.test:1/ |open.test:1 |/ |\\* |https://a/ ",
        "HTTP/1.1\r\n|HTTP/1.0\r\n|HTTP/2.0\r\n",
        "Host: a\r\n|Content-Length: 3\r\n|Transfer-Encoding: chunked\r\n|Proxy-Authorization: Basic YTpi\r\n",
        "\r\n|\r\n\r\n|\n| |:|\\PC{0,12}",
    ];
    let words = proptest::collection::vec(word, 0..14).prop_map(|words| words.concat().into_bytes());
    let bytes = prop_oneof![words, proptest::collection::vec(any::<u8>(), 0..200)];
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() });
    let run = runner.run(&bytes, |bytes| {
        // An incomplete request gets no answer before the timeout of a head, which this test does not wait for.
        let answer = runtime.block_on(say_for(&proxy, &bytes, 1, Duration::from_secs(3)));
        let first = answer.split(' ').nth(1).unwrap_or_default();
        prop_assert!(answer.is_empty() || ["400", "407", "408", "414", "431"].contains(&first), "{answer}");
        Ok(())
    });
    run.unwrap();
}
