//! Every guarded start of a browser uses the same command line, as read from the processes themselves.
//!
//! SECURITY.md, "How Chromium is started", lists the differences.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use evaluation::stage::{Stage, chromium, sandbox};
use portcullis::signals::playwright::{Browser, BrowserSettings, OwnBrowser};

/// The first lines, to the letter.
const FIRST_LINES: [&str; 3] = [
    "--host-resolver-rules=MAP *.local 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/// The files with the list of the guard's own arguments, and with that of a browser without Playwright's server.
#[cfg(unix)]
const OWN: &str = include_str!("../../browser-signals/src/playwright/browser/settings.rs");
#[cfg(unix)]
const QUIET: &str = include_str!("../../browser-signals/src/playwright/pipe/process.rs");

/// Prefixes of arguments that would undo one of the first lines.
const UNDOING: [&str; 6] =
    ["--host-rules", "--dns-over-https", "--proxy-", "--no-proxy", "--enable-quic", "--origin-to-force-quic"];

fn command_line(process: &str) -> Option<Vec<String>> {
    let bytes = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    // Some time after its start Chromium rewrites its command line, with spaces between the arguments.
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
    let words = text.split(" --").skip(1).map(|word| word.trim().trim_end_matches(" about:blank"));
    Some(words.map(|word| format!("--{}", word.trim_end_matches('='))).collect())
}

/// The temporary profile, and the arguments that Chromium itself adds where it has no window.
const BY_ITSELF: [&str; 5] = [
    "--user-data-dir=",
    "--noerrdialogs",
    "--ozone-override-screen-size=",
    "--ozone-platform=headless",
    "--use-angle=",
];

/// The arguments that a browser was started with.
fn arguments(process: &str) -> BTreeSet<String> {
    let all = command_line(process).unwrap();
    for line in FIRST_LINES {
        let name = line.split('=').next().unwrap();
        let same: Vec<&String> = all.iter().filter(|it| it.split('=').next() == Some(name)).collect();
        assert_eq!(same, [line], "{all:#?}");
    }
    for start in UNDOING {
        assert!(!all.iter().any(|argument| argument.starts_with(start)), "{start}: {all:#?}");
    }
    let itself = |argument: &String| BY_ITSELF.iter().any(|name| argument.starts_with(name));
    all.into_iter().filter(|argument| !itself(argument)).collect()
}

async fn of(browser: Browser) -> BTreeSet<String> {
    let process = browser.process_id().await.unwrap().to_string();
    let arguments = arguments(&process);
    browser.close().await;
    arguments
}

/// The consent page's window.
async fn of_the_window() -> BTreeSet<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _whatever = stream.read(&mut [0; 4096]);
            let _gone = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
            );
        }
    });
    let mut own = OwnBrowser::headless(chromium().unwrap()).unwrap();
    if !sandbox() {
        own = own.without_sandbox();
    }
    let _window = own.open(&address).await.unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ours = processes.map(|entry| entry.file_name().to_string_lossy().into_owned()).find(|process| {
        let words = command_line(process).unwrap_or_default();
        let is = |start: &str| words.iter().any(|word| word.starts_with(start));
        is("--app=data:text/html,<title>Portcullis") && !is("--type=") && is("--user-data-dir=")
    });
    arguments(&ours.expect("the window's process"))
}

/// The names of the arguments that only one of two lists has.
fn differences<'a>(one: &'a BTreeSet<String>, other: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
    one.symmetric_difference(other).map(|argument| argument.split('=').next().unwrap_or_default()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_guarded_browser_is_started_alike() {
    let mut settings = BrowserSettings::new(chromium().unwrap());
    settings.sandbox = sandbox();
    let production = of(Browser::start(settings.clone()).await.unwrap()).await;

    // The demo, the evaluation, the benches and most tests start it like this.
    let stage = Stage::set_up().await.unwrap();
    assert_eq!(of(stage.browser().await.unwrap()).await, production);

    // By Playwright's server: the differences come from Playwright or are in one list.
    let by_playwright = of(Browser::launch(settings.clone()).await.unwrap()).await;
    #[cfg(unix)]
    {
        for argument in production.difference(&by_playwright) {
            let name = argument.split('=').next().unwrap();
            assert!(QUIET.contains(&format!("\"{name}")), "{argument} stands in no list");
        }
        for argument in by_playwright.difference(&production) {
            assert!(!OWN.contains(&format!("\"{argument}\"")), "{argument} is the guard's own");
        }
    }
    #[cfg(not(unix))]
    assert_eq!(by_playwright, production);

    // A test may run without Chromium's own sandbox, and as root it always does.
    let mut bare = settings;
    bare.sandbox = false;
    let bare = of(Browser::start(bare).await.unwrap()).await;
    assert!(differences(&bare, &production).iter().all(|name| *name == "--no-sandbox"));

    let window = of_the_window().await;
    let own = ["--app", "--window-size", "--test-type", "--enable-automation", "--no-startup-window"];
    let others: Vec<&str> =
        differences(&window, &production).into_iter().filter(|name| !own.contains(name)).collect();
    assert!(others.is_empty(), "these differ in the consent page's window: {others:?}");
}
