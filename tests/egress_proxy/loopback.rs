//! Sites of this machine without TLS: a login on a listed port is filled, and whatever looks like such a site is refused.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Html;
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::egress::proxy::{EgressProxy, Limits};
use portcullis::guard::SystemEntropy;
use portcullis::session::{NotEncrypted, SessionError};
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::signals::{Origin, Verb};
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
use tokio::net::TcpListener;

use crate::support::{Collector, Names, OK, password, proxy_with, say, tunnel};

const SECRET: &str = "Sesame-4711-Gate";

const LOGIN: &str = "<!doctype html><title>Shop</title><h1>Log in</h1><form method=post action=/in>
<label>E-mail <input name=email type=email autocomplete=username></label>
<label>Password <input name=password type=password autocomplete=current-password></label>
<button>Log in</button></form>";

/// A shop under development: its login form, and the forms that reached it.
struct Shop {
    port: u16,
    posted: Arc<Mutex<Vec<String>>>,
}

impl Shop {
    async fn start() -> Shop {
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let posted: Arc<Mutex<Vec<String>>> = Arc::default();
        let router = Router::new().fallback(serve).with_state(posted.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Shop { port, posted }
    }

    fn posted(&self) -> String {
        self.posted.lock().unwrap().join("\n")
    }
}

async fn serve(State(posted): State<Arc<Mutex<Vec<String>>>>, request: Request) -> Html<&'static str> {
    if request.method() == "POST" {
        let body = axum::body::to_bytes(request.into_body(), 1 << 16).await.unwrap();
        posted.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
        return Html("<title>Shop</title><h1>Welcome back</h1>");
    }
    Html(LOGIN)
}

async fn browser(private_hosts: &[String], rules: Option<&str>) -> Browser {
    let path = std::env::var_os("PORTCULLIS_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let mut settings = BrowserSettings::new(PathBuf::from(path));
    settings.sandbox = evaluation::stage::sandbox();
    settings.private_hosts = private_hosts.to_vec();
    settings.proxy_rules = rules.map(str::to_owned);
    Browser::start(settings).await.expect("run `cargo xtask setup` first")
}

/// A guard whose user agrees to everything, and the questions that were asked.
fn guard(policy: &str) -> (Guard, Arc<Mutex<Vec<String>>>) {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = asked.clone();
    let user = ScriptedAnswerer(move |prompt: &ConsentPrompt| {
        seen.lock().unwrap().push(prompt.to_string());
        Answer::Session
    });
    let log = Box::new(MemoryLog::default());
    (Guard::new(policy, log, Box::new(user), Box::new(SystemEntropy)).unwrap(), asked)
}

fn prompt(site: &str) -> String {
    format!("Log in at {site} with e-mail ada@mail.test and password: {SECRET}")
}

/// Opens the login page and asks for the login. Returns what the agent was told last.
async fn log_in(session: &mut Session, site: &str) -> String {
    let opened = session.act(Action::Verb(Verb::Open { url: format!("{site}/login") })).await.to_string();
    if opened.contains("DENY") {
        return opened;
    }
    session.act(Action::Verb(Verb::Read)).await.to_string();
    session.act(Action::Request("REQ.login\nREQ.end".to_owned())).await.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_filled_on_a_listed_port_of_this_machine() {
    for host in ["localhost", "127.0.0.1"] {
        let shop = Shop::start().await;
        let listed = format!("{host}:{}", shop.port);
        let site = format!("http://{listed}");
        let browser = browser(std::slice::from_ref(&listed), None).await;
        let (guard, asked) = guard(DEFAULT_POLICY);
        let mut session = Session::begin(guard, &browser, &prompt(&site)).await.unwrap();
        let told = log_in(&mut session, &site).await;
        assert!(told.contains("GRANT.login"), "{told}");
        assert!(!told.contains(SECRET), "{told}");
        let page = session.act(Action::Verb(Verb::Read)).await.to_string();
        let send = page.lines().find(|line| line.contains("button")).unwrap_or_else(|| panic!("{page}"));
        let target = send.split("[ref=").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
        let target = portcullis::signals::ElementRef(target.to_owned());
        let sent = session.act(Action::Verb(Verb::click(target))).await.to_string();
        let page = session.act(Action::Verb(Verb::Read)).await.to_string();
        assert!(page.contains("Welcome back"), "{sent}\n{page}");
        assert!(shop.posted().contains(SECRET), "{}", shop.posted());
        let asked = asked.lock().unwrap().join("\n");
        let warning = format!("! {site} is not encrypted, on this machine");
        assert!(asked.contains(&warning), "{asked}");
        session.finish().await;
        browser.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_with_another_site_without_tls_is_refused_at_once() {
    let shop = Shop::start().await;
    let (here, named) =
        (format!("http://localhost:{}", shop.port), format!("http://x.localhost:{}", shop.port));
    let listed = [format!("localhost:{}", shop.port), format!("x.localhost:{}", shop.port)];
    let host = ["localhost".to_owned(), format!("localhost:{}", shop.port ^ 1)];
    let silent = DEFAULT_POLICY.replace(" or loopback", "");
    let silent = silent.replace("prove never grant payment where tls is loopback\n", "");
    let origin = |text: &str| Origin::parse(text).unwrap();
    let cases = [
        (&host[..], DEFAULT_POLICY, &here, NotEncrypted::NotListed(origin(&here))),
        (&listed[..], DEFAULT_POLICY, &named, NotEncrypted::Elsewhere(origin(&named))),
        (&listed[..], &silent, &here, NotEncrypted::NotInThePolicy(origin(&here))),
    ];
    for (private_hosts, policy, site, expected) in cases {
        let browser = browser(private_hosts, None).await;
        let (guard, asked) = guard(policy);
        let refused = Session::begin(guard, &browser, &prompt(site)).await.err().unwrap();
        let SessionError::NotEncrypted(why) = refused else { panic!("{refused}") };
        assert_eq!(why, expected);
        assert_eq!(*asked.lock().unwrap(), [""; 0], "nobody is asked about it");
        browser.close().await;
    }
    assert!(
        NotEncrypted::NotListed(origin(&here))
            .to_string()
            .contains(&format!("--private-hosts localhost:{}", shop.port))
    );
}

/// A policy under which pages without TLS are opened, so that only the guard of the request itself is left.
fn opens_everything() -> String {
    let (before, after) = DEFAULT_POLICY.split_once("verb open {").unwrap();
    format!("{before}verb open {{{}", after.replacen("    destination https or loopback\n", "", 1))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_only_looks_like_this_machine_gets_nothing() {
    let shop = Shop::start().await;
    let listed: Vec<String> = ["localhost", "x.localhost"].map(|host| format!("{host}:{}", shop.port)).into();
    // The address stands for one elsewhere: it is no loopback address, and yet it leads to the test's own server.
    let rules = "MAP *.localhost 0.0.0.0, MAP localhost 0.0.0.0";
    for (host, told) in [("x.localhost", "tls_invalid"), ("localhost", "page_unreachable")] {
        let site = format!("http://{host}:{}", shop.port);
        let browser = browser(&listed, Some(rules)).await;
        let (guard, _) = guard(&opens_everything());
        let mut session = Session::begin(guard, &browser, &prompt(&site)).await.unwrap();
        let answer = log_in(&mut session, &site).await;
        assert!(!answer.contains("GRANT"), "{host}: {answer}");
        assert!(answer.contains(told) || host == "localhost", "{host}: {answer}");
        session.finish().await;
        browser.close().await;
    }
    assert_eq!(shop.posted(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_notes_a_site_only_where_it_connected_to_a_loopback_address() {
    let collector = Collector::start(OK).await;
    let port = collector.port;
    let at = |address: &str| -> SocketAddr { format!("{address}:{port}").parse().unwrap() };
    let reached = |proxy: &EgressProxy, host: &str| {
        proxy.for_container().reached().has(&Origin::parse(&format!("http://{host}:{port}")).unwrap())
    };
    let get = async |proxy: &EgressProxy, host: &str| {
        let request = format!("GET http://{host}:{port}/ HTTP/1.1\r\nHost: x\r\n{}\r\n", password(proxy));
        say(proxy, request.as_bytes()).await.starts_with("HTTP/1.1 200")
    };
    let listed: Vec<String> =
        ["localhost", "x.localhost", "127.0.0.1"].map(|host| format!("{host}:{port}")).into();
    let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
    let names = |localhost: &str, named: &str| {
        let known = HashMap::from([
            ("localhost".to_owned(), vec![at(localhost)]),
            ("x.localhost".to_owned(), vec![at(named)]),
        ]);
        Arc::new(Names { known, ..Names::default() })
    };
    let here = proxy_with(&listed, Limits::default(), "", names("127.0.0.1", "127.0.0.1")).await;
    assert!(!reached(&here, "localhost"), "nothing was connected yet");
    // A tunnel is not a request in clear.
    assert_eq!(tunnel(&here, &format!("localhost:{port}")).await.1, 200);
    assert!(!reached(&here, "localhost"));
    for (host, noted) in [("localhost", true), ("127.0.0.1", true), ("x.localhost", false)] {
        assert!(get(&here, host).await, "{host}");
        assert_eq!(reached(&here, host), noted, "{host}");
    }
    // The attack: the name leads elsewhere. The listed name below `localhost` shows that the address answers.
    let elsewhere = proxy_with(&listed, Limits::default(), "", names("0.0.0.0", "0.0.0.0")).await;
    assert!(get(&elsewhere, "x.localhost").await);
    assert!(!reached(&elsewhere, "x.localhost"));
    assert!(!get(&elsewhere, "localhost").await);
    assert_eq!(tunnel(&elsewhere, &format!("localhost:{port}")).await.1, 502);
    assert!(!reached(&elsewhere, "localhost"));
    // Without the port the host may be reached, and is no site of this machine.
    let loose = proxy_with(&["localhost"], Limits::default(), "", names("127.0.0.1", "127.0.0.1")).await;
    assert!(get(&loose, "localhost").await);
    assert!(!reached(&loose, "localhost"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guards_own_ports_are_no_sites() {
    let other = proxy_with(&[], Limits::default(), "", Arc::new(Names::default())).await;
    let own = other.for_container().address().port();
    let listed = format!("127.0.0.1:{own}");
    let proxy = proxy_with(&[&listed], Limits::default(), "", Arc::new(Names::default())).await;
    assert_eq!(tunnel(&proxy, &listed).await.1, 502);
    let request = format!("GET http://{listed}/ HTTP/1.1\r\nHost: x\r\n{}\r\n", password(&proxy));
    assert!(say(&proxy, request.as_bytes()).await.starts_with("HTTP/1.1 502"));
    assert!(!proxy.for_container().reached().has(&Origin::parse(&format!("http://{listed}")).unwrap()));
    // The same port of a server that is not the guard's answers.
    drop(other);
    let server = loop {
        // The listener of the proxy ends in a task of its own.
        match TcpListener::bind(("127.0.0.1", own)).await {
            Ok(server) => break server,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_eq!(tunnel(&proxy, &listed).await.1, 200);
    drop(server);
}
