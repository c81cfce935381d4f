//! The console, the requests and scripts of a page, from its first byte, and how the records end.

use browser_signals::Container;
use browser_signals::playwright::developer_tools::console::ConsoleLevel;
use browser_signals::playwright::developer_tools::requests::{Answered, ResponseBody};
use browser_signals::playwright::developer_tools::{Recording, ScriptResult};
use browser_signals::playwright::{BridgeError, Tab};
use serde_json::json;

use crate::support::{Open, PATIENCE, Server, launch, launch_by_playwright, ref_of, tab};

const PAGE: &str = "<!doctype html><title>Shop</title><script>console.log('first', 2, { a: 1 }); console.warn('second'); \
    fetch('/api', { method: 'POST', headers: { Authorization: 'Bearer canary-authorization', 'X-Own': 'kept' }, body: 'asked' })\
    .then(it => it.text()).then(() => console.error('last'));</script><script>throw new Error('uncaught')</script><button>Press</button>";

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nSet-Cookie: session=canary-cookie\r\nX-Answer: kept\r\n\
    Content-Length: 6\r\nConnection: close\r\n\r\nanswer";

/// The console, once it has these words.
async fn console_with(tab: &Tab, words: &str) -> Vec<(ConsoleLevel, String)> {
    let began = std::time::Instant::now();
    loop {
        let console = tab.console(false).expect("a console");
        if console.iter().any(|message| message.text.contains(words)) || began.elapsed() > PATIENCE {
            return console.into_iter().map(|message| (message.level, message.text)).collect();
        }
        tab.wait(20).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_recorded_from_its_first_byte_until_the_records_are_wiped() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    server.page(
        "shop.example",
        "/other",
        "<title>Other</title><script>console.log('of the other page')</script>",
    );
    server.page("shop.example", "/api", ANSWER);
    for browser in [launch(&server).await, launch_by_playwright(&server).await] {
        let tab = tab(&browser, &server, Container::T0).await;
        tab.record(Recording { console: true, requests: true });
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        let console = console_with(&tab, "last").await;
        for (level, text) in [
            (ConsoleLevel::Info, "first 2 Object"),
            (ConsoleLevel::Warning, "second"),
            (ConsoleLevel::Error, "last"),
        ] {
            assert!(console.contains(&(level, text.to_owned())), "{text}: {console:?}");
        }
        let is_uncaught =
            |it: &(ConsoleLevel, String)| it.0 == ConsoleLevel::Error && it.1.contains("uncaught");
        assert!(console.iter().any(is_uncaught), "{console:?}");

        let requests = tab.requests().expect("requests");
        let api = requests.iter().find(|it| it.url.ends_with("/api")).expect("the request of the script");
        assert_eq!((api.method.as_str(), api.body.as_deref()), ("POST", Some("asked")));
        let Answered::Response { status: 200, headers, .. } = &api.answered else {
            panic!("{:?}", api.answered)
        };
        let told = format!("{:?} {headers:?}", api.headers);
        assert!(
            told.contains("(\"x-own\", \"kept\")") && told.contains("(\"x-answer\", \"kept\")"),
            "{told}"
        );
        assert!(!told.contains("canary"), "{told}");
        assert_eq!(tab.response_body(api).await, Ok(ResponseBody::Text("answer".to_owned())));

        // The next page begins the list anew; all messages are kept.
        tab.open(&server.url("shop.example", "/other")).await.expect("the page opens");
        assert_eq!(console_with(&tab, "other page").await.len(), 1);
        assert!(tab.console(true).expect("a console").len() > 3);
        assert!(!tab.requests().expect("requests").iter().any(|it| it.url.ends_with("/api")));

        tab.record(Recording::default());
        assert!(
            tab.console(true).expect("a console").is_empty() && tab.requests().expect("requests").is_empty()
        );
        let logged = tab.run_script("() => console.log('after')", None).await;
        assert_eq!(logged, Ok(ScriptResult::Value(None)));
        tab.wait(100).await;
        assert!(tab.console(true).expect("a console").is_empty());
        browser.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_is_an_expression_or_a_function_and_may_fail() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    server.page("shop.example", "/api", ANSWER);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    for (script, value) in [
        ("6 * 7", json!(42)),
        ("() => document.title", json!("Shop")),
        ("async () => [1, 2]", json!([1, 2])),
        ("Promise.resolve({ a: 1 })", json!({ "a": 1 })),
        ("function named() { return 1 } // a comment", json!(1)),
    ] {
        assert_eq!(tab.run_script(script, None).await, Ok(ScriptResult::Value(Some(value))), "{script}");
    }
    let button = ref_of(&tab.read(&Open).await.expect("text").text, "\"Press\"");
    let of_button = tab.run_script("(it) => it.textContent", Some(&button)).await;
    assert_eq!(of_button, Ok(ScriptResult::Value(Some(json!("Press")))));
    for script in ["() => { throw new Error('own') }", "() => {"] {
        assert!(matches!(tab.run_script(script, None).await, Ok(ScriptResult::Thrown(_))), "{script}");
    }
    tab.resize(640, 480).await.expect("resized");
    let size = tab.run_script("[innerWidth, innerHeight]", None).await;
    assert_eq!(size, Ok(ScriptResult::Value(Some(json!([640, 480])))));
    assert_eq!(tab.resize(10, 480).await, Err(BridgeError::NotApplicable));
    browser.close().await;
}
