//! The payment handler's listener answers only the browser's payment interface (I15).

use crate::support::*;

/// All resources of the listener, with the headers of Chromium.
const FETCHES: [(&str, &str, &str, &str); 5] = [
    ("HEAD /pay", "cross-site", "no-cors", "empty"),
    ("GET /payment.json", "same-origin", "no-cors", "empty"),
    ("GET /app.json", "same-origin", "no-cors", "empty"),
    ("GET /icon.png", "cross-site", "no-cors", "image"),
    ("GET /sw.js", "same-origin", "same-origin", "serviceworker"),
];

fn headers<'a>(site: &'a str, mode: &'a str, dest: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", dest)];
    if dest == "serviceworker" {
        headers.push(("Service-Worker", "script"));
    }
    headers
}

/// Whether an answer reveals nothing: no success, no body, no CORS.
fn gives_nothing(answer: &Answer) -> bool {
    (400..500).contains(&answer.status) && answer.body.is_empty() && !answer.head.contains("access-control")
}

#[tokio::test]
async fn the_browser_finds_all_parts() {
    let desk = Desk::open().await;
    for (line, site, mode, dest) in FETCHES {
        let answer = send(&desk.handler, &request(&desk.handler, line, &headers(site, mode, dest), "")).await;
        assert_eq!(answer.status, 200, "{line}");
        for header in [
            "cache-control: no-store",
            "x-content-type-options: nosniff",
            "default-src 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(answer.head.contains(header), "{line}: {header}");
        }
        assert!(!answer.head.contains("access-control"), "{line}");
    }
    assert!(desk.handler.method_url().ends_with("/pay"));
    assert!(desk.handler.method_url().starts_with(&desk.handler.origin().to_string()));
}

#[tokio::test]
async fn another_host_gets_nothing() {
    let desk = Desk::open().await;
    let port = desk.handler.origin().port();
    let hosts = [
        format!("rebound.example:{port}"),
        format!("localhost:{port}"),
        "127.0.0.1".into(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1:{port}.evil.example"),
        String::new(),
    ];
    for (line, site, mode, dest) in FETCHES {
        for host in &hosts {
            let mut headers = headers(site, mode, dest);
            headers.push(("Host", host));
            let answer = send(&desk.handler, &request(&desk.handler, line, &headers, "")).await;
            assert!(gives_nothing(&answer), "{line} {host}: {answer:?}");
        }
        let absolute = line.replace(" /", " http://rebound.example/");
        let answer =
            send(&desk.handler, &request(&desk.handler, &absolute, &headers(site, mode, dest), "")).await;
        assert!(gives_nothing(&answer), "{absolute}: {answer:?}");
    }
}

#[tokio::test]
async fn missing_or_other_fetch_metadata_gets_nothing() {
    let desk = Desk::open().await;
    for (line, site, mode, dest) in FETCHES {
        let right = headers(site, mode, dest);
        for leave_out in 0..right.len() {
            let mut some = right.clone();
            some.remove(leave_out);
            let answer = send(&desk.handler, &request(&desk.handler, line, &some, "")).await;
            assert!(gives_nothing(&answer), "{line} without {:?}", right[leave_out]);
        }
        for wrong in [
            headers("cross-site", "cors", "empty"),
            headers("none", "navigate", "document"),
            headers("cross-site", "navigate", "iframe"),
            headers("cross-site", "no-cors", "script"),
        ] {
            let answer = send(&desk.handler, &request(&desk.handler, line, &wrong, "")).await;
            assert!(gives_nothing(&answer), "{line} with {wrong:?}");
        }
    }
}

#[tokio::test]
async fn another_site_gets_neither_worker_nor_manifests() {
    let desk = Desk::open().await;
    for (line, site, mode, dest) in FETCHES {
        if site == "same-origin" {
            for other in ["cross-site", "same-site", "none"] {
                let answer =
                    send(&desk.handler, &request(&desk.handler, line, &headers(other, mode, dest), "")).await;
                assert!(gives_nothing(&answer), "{line} from {other}");
            }
        }
    }
    for value in ["Script", "", "script, script"] {
        let mut headers = headers("same-origin", "same-origin", "serviceworker");
        headers.retain(|(name, _)| *name != "Service-Worker");
        headers.push(("Service-Worker", value));
        let answer = send(&desk.handler, &request(&desk.handler, "GET /sw.js", &headers, "")).await;
        assert!(gives_nothing(&answer), "Service-Worker: {value}");
    }
}

#[tokio::test]
async fn only_the_worker_may_request_a_payment() {
    let desk = Desk::open().await;
    let amount = usd("64.15");
    let armed = desk.arm(1, amount);
    let own = desk.handler.origin().to_string();
    let line = format!("POST {}", authorize_path(&desk.handler).await);
    let right = worker_headers(&own);
    for leave_out in 0..right.len() {
        let mut some = right.clone();
        some.remove(leave_out);
        let answer = send(&desk.handler, &request(&desk.handler, &line, &some, &matching(amount))).await;
        assert!(gives_nothing(&answer), "without {:?}", right[leave_out]);
    }
    let localhost = own.replace("127.0.0.1", "localhost");
    for (name, value) in [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Origin", &localhost),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
        ("Sec-Fetch-Mode", "cors"),
        ("Sec-Fetch-Mode", "no-cors"),
        ("Sec-Fetch-Dest", "document"),
        ("Content-Type", "text/plain"),
        ("Host", "rebound.example"),
    ] {
        let mut headers = right.clone();
        headers.retain(|(other, _)| *other != name);
        headers.push((name, value));
        let answer = send(&desk.handler, &request(&desk.handler, &line, &headers, &matching(amount))).await;
        assert!(gives_nothing(&answer), "{name}: {value}: {answer:?}");
        // A doubled header with the right value first is refused too.
        if name != "Host" {
            let mut headers = right.clone();
            headers.push((name, value));
            let answer =
                send(&desk.handler, &request(&desk.handler, &line, &headers, &matching(amount))).await;
            assert!(gives_nothing(&answer), "{name} twice, {value}");
        }
    }
    assert!(desk.bank.ledger().is_empty(), "the bank was asked");
    // The purchase is still pending for the worker.
    assert!(ask(&desk.handler, &matching(amount)).await.token().is_some());
    drop(armed);
}

#[tokio::test]
async fn a_guessed_path_a_preflight_and_other_methods_get_nothing() {
    let desk = Desk::open().await;
    let amount = usd("64.15");
    let armed = desk.arm(1, amount);
    let own = desk.handler.origin().to_string();
    let path = authorize_path(&desk.handler).await;
    let mut longer = path.clone();
    longer.push('0');
    let shorter = &path[..path.len() - 1];
    let flipped = format!("{shorter}{}", if path.ends_with('0') { '1' } else { '0' });
    for guess in [
        "/authorize",
        "/authorize/",
        "/authorize/..",
        "/authorize/%00",
        "//authorize",
        "/authorize/5a5a",
        shorter,
        &longer,
        &flipped,
        &path.to_uppercase(),
        &format!("{path}?x=1"),
        &format!("{path}/"),
    ] {
        let answer = send(
            &desk.handler,
            &request(&desk.handler, &format!("POST {guess}"), &worker_headers(&own), &matching(amount)),
        )
        .await;
        assert!(gives_nothing(&answer), "{guess}: {answer:?}");
    }
    for method in ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        for target in ["/pay", "/payment.json", "/sw.js", &path, "/", "/consent"] {
            if (method, target) == ("GET", "/pay") {
                continue;
            }
            let mut headers = worker_headers(&own);
            headers.push(("Access-Control-Request-Method", "POST"));
            let answer =
                send(&desk.handler, &request(&desk.handler, &format!("{method} {target}"), &headers, ""))
                    .await;
            assert!(gives_nothing(&answer), "{method} {target}: {answer:?}");
        }
    }
    assert!(desk.bank.ledger().is_empty());
    drop(armed);
}

#[tokio::test]
async fn an_oversized_or_malformed_request_gets_nothing() {
    let desk = Desk::open().await;
    let amount = usd("64.15");
    let armed = desk.arm(1, amount);
    let padded = matching(amount).replace('}', &format!("{}}}", " ".repeat(5000)));
    for body in [padded.as_str(), "{", "null", "[]", "{\"token\":1}", "\u{0}"] {
        let answer = ask(&desk.handler, body).await;
        assert!(gives_nothing(&answer), "{}: {answer:?}", &body[..body.len().min(20)]);
    }
    // With spaces, within the limit, it is the same request.
    let spaced = matching(amount).replacen('{', "{   ", 1);
    assert!(ask(&desk.handler, &spaced).await.token().is_some());
    drop(armed);
}

#[tokio::test]
async fn each_launch_has_its_own_path_and_ends_with_the_handler() {
    let bank = evaluation::mock_bank::MockBank::start().await.unwrap();
    let journal: std::sync::Arc<dyn portcullis::checkout::Journal> =
        std::sync::Arc::new(portcullis::checkout::MemoryJournal::default());
    let start = async |entropy| {
        let client = std::sync::Arc::new(bank.client());
        portcullis::checkout::PaymentHandler::start(client, journal.clone(), entropy).await.unwrap()
    };
    let (one, other) = (start([1; 32]).await, start([2; 32]).await);
    let path = authorize_path(&one).await;
    assert_ne!(path, authorize_path(&other).await);
    assert!(path.len() >= "/authorize/".len() + 64);
    let port = one.origin().port();
    drop(one);
    let dropped = std::time::Instant::now();
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
        assert!(dropped.elapsed() < std::time::Duration::from_secs(60), "somebody still listens");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
