//! Files for the file choosers of a page.

use std::fs;
use std::path::PathBuf;

use browser_signals::playwright::{BridgeError, Browser, FileChoosers, ObservationTarget, Tab};
use browser_signals::{Container, ElementRef, Fact};

use crate::support::{Open, Server, launch_with, ref_of, settings, tab, text_with};

/// The page shows what it got: the names, the lengths and the words of the files.
const PAGE: &str = r#"<!doctype html><title>Shop</title><body><script>
const show = async (input) => {
  const files = [...input.files];
  const words = await Promise.all(files.map((file) => file.text()));
  document.getElementById('got').textContent = 'got ' + files.map((file, at) => `${file.name}:${file.size}:${words[at]}`).join(' ');
};</script><p id=got>nothing</p>
<form action=/send method=post enctype=multipart/form-data><input type=file aria-label=Plain onchange=show(this)></form>
<form action=https://other.example/ method=post><label for=hidden>Labelled</label><input type=file id=hidden multiple style=display:none onchange=show(this)></form>
<button onclick="const made = document.createElement('input'); made.type = 'file'; made.onchange = () => show(made); made.click()">Detached</button>
<iframe src="/inner" width=300 height=60></iframe>"#;

const INNER: &str = r#"<!doctype html><title>Inner</title><p id=got>inner nothing</p>
<input type=file aria-label=Inner onchange="got.textContent = 'inner ' + this.files[0].name">"#;

async fn press(tab: &Tab, name: &str) {
    let target = ref_of(&tab.read(&Open).await.expect("text").text, &format!("\"{name}\""));
    let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
    tab.click(&target, &seen).await.expect("the click");
}

/// The chooser of the page, once there is one.
async fn chooser(tab: &Tab, button: &str) -> (bool, ElementRef) {
    let began = std::time::Instant::now();
    loop {
        if let Some((chooser, input)) = tab.file_chooser() {
            return (chooser.several, input);
        }
        assert!(began.elapsed() < crate::support::PATIENCE, "{button} opened no file chooser");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

async fn open(server: &Server, waits: bool, tier: Container) -> (Browser, Tab) {
    server.page("shop.example", "/", PAGE);
    server.page("shop.example", "/inner", INNER);
    server.page("shop.example", "/next", "<title>Next</title>");
    let mut settings = settings(server);
    settings.file_choosers = if waits { FileChoosers::Wait } else { FileChoosers::Cancelled };
    let browser = launch_with(settings).await;
    let tab = tab(&browser, server, tier).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    (browser, tab)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_goes_to_the_input_that_the_page_asks_for() {
    let server = Server::start();
    let (browser, tab) = open(&server, true, Container::T2).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, words: &str| -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, words).expect("written");
        path
    };
    let (one, two) = (file("one.txt", "first"), file("two words.txt", "second"));
    let shop = server.origin("shop.example");
    for (button, several, files, got, sent_to) in [
        ("Plain", false, vec![one.clone()], "got one.txt:5:first", Some("shop.example")),
        (
            "Labelled",
            true,
            vec![one.clone(), two.clone()],
            "got one.txt:5:first two words.txt:6:second",
            Some("other.example"),
        ),
        ("Detached", false, vec![two.clone()], "got two words.txt:6:second", None),
        ("Inner", false, vec![one.clone()], "inner one.txt", None),
    ] {
        press(&tab, button).await;
        let (takes_several, input) = chooser(&tab, button).await;
        assert_eq!(takes_several, several, "{button}");
        let seen = tab.observe(ObservationTarget::Element(&input)).await.expect("a snapshot");
        assert_eq!(seen.origin, Fact::Known(shop.clone()), "{button}");
        let to = seen.destination.known().map(|to| to.origin.host().to_owned());
        assert_eq!((seen.form.is_some(), to.as_deref()), (sent_to.is_some(), sent_to), "{button}");
        tab.give_files(&input, &files, &seen).await.expect("the files arrive");
        let text = text_with(&tab, got).await;
        assert!(text.contains(got), "{button}: {text}");
        assert_eq!(tab.file_chooser(), None, "{button}");
    }
    // An input of another document is another one, and an element that is no file input takes no file.
    press(&tab, "Plain").await;
    let (_, input) = chooser(&tab, "Plain").await;
    let seen = tab.observe(ObservationTarget::Element(&input)).await.expect("a snapshot");
    tab.open(&server.url("shop.example", "/next")).await.expect("the page opens");
    assert!(tab.give_files(&input, std::slice::from_ref(&one), &seen).await.is_err());
    assert_eq!(tab.file_chooser(), None);
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let button = ref_of(&tab.read(&Open).await.expect("text").text, "\"Detached\"");
    let seen = tab.observe(ObservationTarget::Element(&button)).await.expect("a snapshot");
    assert_eq!(tab.give_files(&button, &[one], &seen).await, Err(BridgeError::NotApplicable));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_whose_form_leads_elsewhere_since_the_decision_gets_no_file() {
    let server = Server::start();
    let (browser, tab) = open(&server, true, Container::T2).await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one.txt");
    fs::write(&path, "first").expect("written");
    press(&tab, "Plain").await;
    let (_, input) = chooser(&tab, "Plain").await;
    let seen = tab.observe(ObservationTarget::Element(&input)).await.expect("a snapshot");
    let divert = "document.forms[0].action = 'https://other.example/'";
    tab.run_script(&format!("() => {{ {divert} }}"), None).await.expect("the script runs");
    assert_eq!(tab.give_files(&input, &[path], &seen).await, Err(BridgeError::Diverted));
    let text = tab.read(&Open).await.expect("text").text;
    assert!(text.contains("nothing"), "{text}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_folder_a_chooser_is_cancelled() {
    let server = Server::start();
    let (browser, tab) = open(&server, false, Container::T0).await;
    press(&tab, "Plain").await;
    let began = std::time::Instant::now();
    while !tab.take_cancelled_chooser() {
        assert!(began.elapsed() < crate::support::PATIENCE, "no file chooser was cancelled");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(tab.file_chooser(), None);
    browser.close().await;
}
