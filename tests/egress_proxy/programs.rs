//! A program that the browser starts bypasses the proxy: it gets the whole address.
//!
//! The test's `PATH` begins with a folder of programs that only record their calls. A plain Chromium calls them; a guarded
//! one finds none.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use playwright_rs::api::LaunchOptions;
use playwright_rs::protocol::Playwright;
use portcullis::egress::proxy::EgressProxy;
use portcullis::guard::SystemEntropy;
use portcullis::signals::playwright::{Browser, BrowserSettings, ObservationTarget};
use portcullis::signals::{Container, Origin};
use tokio::net::TcpListener;

use crate::support::{PATIENCE, within};

/// The programs for addresses of other schemes, by the names that Chromium and the scripts of desktops use.
const OPENERS: [&str; 9] = [
    "xdg-open",
    "xdg-email",
    "xdg-settings",
    "xdg-mime",
    "gio",
    "gvfs-open",
    "gnome-open",
    "kde-open",
    "exo-open",
];

/// The pages that lead to another program. A button is pressed where there is one.
const PAGES: [(&str, &str); 8] = [
    ("/load", "<script>location = 'mailto:MARK'</script>"),
    ("/link", "<a href='mailto:MARK'><button id=press>Press</button></a>"),
    (
        "/form",
        "<form action='mailto:MARK' method=post enctype='text/plain'><button id=press>Press</button></form>",
    ),
    ("/frame", "<iframe src='mailto:MARK'></iframe>"),
    ("/refresh", "<meta http-equiv=refresh content='0;url=mailto:MARK'>"),
    ("/script", "<button id=press onclick=\"location.assign('mailto:MARK')\">Press</button>"),
    ("/redirect", ""),
    ("/framed-redirect", "<iframe src='/redirect?MARK'></iframe>"),
];

/// Schemes and methods for which a plain Chromium in a test asks its user first or gives up. They prove nothing, and are
/// tried all the same.
const ASKED_ABOUT: [(&str, &str); 4] = [
    ("/tel", "<a href='tel:+1MARK'><button id=press>Press</button></a>"),
    ("/own", "<script>location = 'portcullis-test:MARK'</script>"),
    ("/window", "<button id=press onclick=\"open('mailto:MARK')\">Press</button>"),
    ("/away", "<script>location = '/redirect?MARK'</script>"),
];

/// The mark of a page's address.
fn mark(path: &str, who: &str) -> String {
    format!("{}-{who}@mail.test", path.trim_start_matches('/'))
}

async fn serve(State(who): State<&'static str>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    // A redirect carries the mark of the page that led to it.
    let mark = request.uri().query().map_or_else(|| mark(&path, who), str::to_owned);
    if path == "/redirect" {
        return (StatusCode::FOUND, [(header::LOCATION, format!("mailto:{mark}"))]).into_response();
    }
    let found = PAGES.iter().chain(&ASKED_ABOUT).find(|(name, _)| *name == path);
    let page = found.map_or("", |(_, page)| page).replace("MARK", &mark);
    Html(format!("<!doctype html><title>Page</title><h1>Page</h1>{page}")).into_response()
}

async fn pages(who: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = Router::new().fallback(serve).with_state(who);
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

fn chromium() -> PathBuf {
    PathBuf::from(std::env::var_os("PORTCULLIS_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into()))
}

/// How often a page is tried in the plain Chromium.
const TRIES: u32 = 4;

/// Programs that record their calls in a file.
struct Recorder {
    folder: tempfile::TempDir,
}

impl Recorder {
    fn new() -> Recorder {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        for name in OPENERS {
            let program = folder.path().join(name);
            fs::write(&program, format!("#!/bin/sh\necho \"{name} $*\" >> '{}'\n", record.display()))
                .unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Recorder { folder }
    }

    /// A `PATH` that begins with them.
    fn path(&self) -> String {
        format!("{}:{}", self.folder.path().display(), std::env::var("PATH").unwrap())
    }

    fn recorded(&self) -> String {
        fs::read_to_string(Path::join(self.folder.path(), "record")).unwrap_or_default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_chromium_starts_programs_and_a_guarded_one_none() {
    let recorder = Recorder::new();

    // A plain Chromium is the control.
    let port = pages("plain").await;
    let mut environment: HashMap<String, String> = std::env::vars().collect();
    environment.insert("PATH".to_owned(), recorder.path());
    let options = LaunchOptions::new()
        .executable_path(chromium().display().to_string())
        .headless(true)
        .args(["--no-sandbox", "--disable-gpu"].map(str::to_owned).into())
        .env(environment);
    let playwright = Playwright::launch().await.expect("run `cargo xtask setup` first");
    for (path, markup) in PAGES {
        // Each page gets its own browser, since one starts only one program until the next press.
        let browser = playwright.chromium().launch_with_options(options.clone()).await.unwrap();
        let page = browser.new_context().await.unwrap().new_page().await.unwrap();
        let called = || recorder.recorded().contains(&mark(path, "plain"));
        // On a busy machine a press may come before the page takes one, or take longer than its time, and is tried again.
        for _ in 0..TRIES {
            let _leads_elsewhere = page.goto(&format!("http://127.0.0.1:{port}{path}"), None).await;
            if markup.contains("id=press") {
                let _leads_elsewhere = page.locator("#press").click(None).await;
            }
            if within(PATIENCE / TRIES, called).await {
                break;
            }
        }
        assert!(called(), "{path}: {}", recorder.recorded());
        browser.close().await.unwrap();
    }
    playwright.shutdown().await.unwrap();

    // The guarded browser opens the same pages in a process whose own `PATH` begins with the recorders.
    let before = recorder.recorded();
    let this = std::env::current_exe().unwrap();
    let guarded = tokio::process::Command::new(this)
        .args(["--ignored", "--exact", "--nocapture", "programs::pages_in_a_guarded_browser"])
        .env("PATH", recorder.path())
        .output()
        .await
        .unwrap();
    let told = String::from_utf8_lossy(&guarded.stdout);
    assert!(guarded.status.success() && told.contains("all pages were opened"), "{told}");
    assert_eq!(recorder.recorded(), before, "a program was started");
}

/// The guarded half of the test above, which starts this one in a process of its own: the stub has to be on that
/// process's `PATH`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the test above starts it in a process of its own"]
async fn pages_in_a_guarded_browser() {
    let port = pages("guarded").await;
    let mut settings = BrowserSettings::new(chromium());
    settings.sandbox = evaluation::stage::sandbox();
    settings.proxy_rules = Some("MAP *.test 127.0.0.1".to_owned());
    settings.private_hosts = vec!["shop.test".to_owned()];
    visit(&Browser::launch(settings.clone()).await.unwrap(), port).await;
    #[cfg(unix)]
    visit(&Browser::launch_on_pipe(settings).await.unwrap(), port).await;
    println!("all pages were opened");
}

/// Opens every page and presses its button: without a task, and after a release.
async fn visit(browser: &Browser, port: u16) {
    let shop = Origin::parse(&format!("http://shop.test:{port}")).unwrap();
    for tier in [Container::T0, Container::T2] {
        let proxy = EgressProxy::of(browser.settings(), &[], &mut SystemEntropy).await.unwrap();
        let task = [shop.clone()];
        let tab = browser.container_through(proxy.for_container(), tier, &task).await.unwrap();
        if tier == Container::T2 {
            proxy.narrow_to(&task).await.unwrap();
        }
        for (path, markup) in PAGES.iter().chain(&ASKED_ABOUT) {
            let opened = tab.open(&format!("{shop}{path}").parse().unwrap()).await;
            assert_eq!(opened.is_ok(), *path != "/redirect", "{path}: {opened:?}");
            if markup.contains("id=press") {
                let target = tab.query("#press").await.unwrap();
                let seen = tab.observe(ObservationTarget::Element(&target)).await.unwrap();
                let _leads_nowhere = tab.click(&target, &seen).await;
            }
        }
        // Within this time a plain Chromium calls a program many times over.
        tokio::time::sleep(Duration::from_secs(2)).await;
        tab.close().await;
    }
    browser.close().await;
}
