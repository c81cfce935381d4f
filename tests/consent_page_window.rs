//! The window of the guard's own browser: its address is on no command line, and closing it means no.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail"
)]
#![cfg(target_os = "linux")]

mod consent_page_support;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use browser_signals::playwright::OwnBrowser;
use consent_page_support::*;
use portcullis::consent::page::{ConsentPage, PageSettings};
use portcullis::consent::page::{OpenFuture, Opener};
use portcullis::consent::{Answer, Answerer};
use tokio::sync::mpsc;

/// Opens a browser of its own, and sends the test the address once it is open.
struct Telling(OwnBrowser, mpsc::UnboundedSender<String>);

impl Opener for Telling {
    fn open<'a>(&'a mut self, address: &'a str) -> OpenFuture<'a> {
        self.1.send(address.to_owned()).unwrap();
        Box::pin(async {
            let opened = Opener::open(&mut self.0, address).await;
            self.1.send("open".to_owned()).unwrap();
            opened
        })
    }
}

fn own_browser() -> OwnBrowser {
    let path = std::env::var("PORTCULLIS_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".into());
    OwnBrowser::headless(path).unwrap().without_sandbox()
}

/// The command lines of all processes below this one.
fn below() -> BTreeMap<u32, String> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent: u32 =
            stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        all.insert(id, (parent, String::from_utf8_lossy(&line).replace('\0', " ")));
    }
    let ours = |mut id: u32| {
        while let Some((parent, _)) = all.get(&id) {
            if *parent == std::process::id() {
                return true;
            }
            id = *parent;
        }
        false
    };
    all.iter().filter(|(id, _)| ours(**id)).map(|(id, (_, line))| (*id, line.clone())).collect()
}

/// The browser itself, not its helpers.
fn browsers() -> Vec<u32> {
    let is_browser = |line: &String| line.contains("--app=") && !line.contains("--type=");
    below().into_iter().filter(|(_, line)| is_browser(line)).map(|(id, _)| id).collect()
}

async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The address of the next question, once its window is open and nothing of it is still being started.
async fn opened(addresses: &mut mpsc::UnboundedReceiver<String>) -> Address {
    let mut next =
        async || tokio::time::timeout(PATIENCE, addresses.recv()).await.expect("no window").unwrap();
    let at = Address::of(&next().await);
    assert_eq!(next().await, "open");
    // Until its `exec`, a child has its parent's command line.
    until("one browser with its helpers", || browsers().len() == 1 && below().len() >= 3).await;
    at
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_of_its_own_shows_the_page_and_its_end_is_no() {
    let (sender, mut addresses) = mpsc::unbounded_channel();
    let opener = Box::new(Telling(own_browser(), sender));
    let settings = PageSettings { opener, phrase: None, entropy: [0x33; 32] };
    let mut page = ConsentPage::open(settings).await.unwrap();
    let asked = prompt();
    let subject = asked.ticket().subject();
    let asking = tokio::spawn(async move {
        let answer = page.answer(&asked).await;
        (answer, page)
    });
    let at = opened(&mut addresses).await;
    let lines = below();
    let port = at.port.to_string();
    for (id, line) in &lines {
        for secret in [at.nonce.as_str(), at.path.trim_matches('/')] {
            assert!(!line.contains(secret), "{id}: {line}");
        }
        // As a number of its own: Chromium draws long numbers for its helpers.
        assert!(line.split(|c: char| !c.is_ascii_digit()).all(|number| number != port), "{id}: {line}");
        assert!(!line.contains("--remote-debugging-port"), "the browser listens: {line}");
    }
    // A yes is too early until the question has been fetched and shown for some time.
    let yes = message(&at.nonce, &subject, "answer", "site");
    let began = Instant::now();
    let fetched = loop {
        let said = say(&at, &yes).await;
        if said.status != 425 || began.elapsed() > Duration::from_secs(50) {
            break said;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(fetched.status, 200, "the window did not fetch the question");
    let (answer, mut page) = tokio::time::timeout(PATIENCE, asking).await.unwrap().unwrap();
    assert_eq!(answer, Answer::Site);

    // The next question has a window of its own, which replaces the one before.
    let before = browsers();
    let asked = prompt();
    let subject = asked.ticket().subject();
    let asking = tokio::spawn(async move {
        let answer = page.answer(&asked).await;
        (answer, page)
    });
    let at = opened(&mut addresses).await;
    assert!(!asking.is_finished());
    let browser = browsers()[0];
    assert!(!before.contains(&browser), "the window of the question before");
    let killed = std::process::Command::new("kill").args(["-KILL", &browser.to_string()]).status().unwrap();
    assert!(killed.success());
    // This is less than the timeout of a question, which also means no.
    let (answer, page) = tokio::time::timeout(Duration::from_secs(45), asking).await.unwrap().unwrap();
    assert_eq!(answer, Answer::No);
    let yes = message(&at.nonce, &subject, "answer", "site");
    assert_eq!(say(&at, &yes).await.status, 404, "after its window was gone");
    drop(page);

    let window = own_browser().open("about:blank").await.unwrap();
    until("another window opens", || browsers().len() == 1).await;
    drop(window);
    until("a dropped window closes its browser", || browsers().is_empty()).await;
}
