//! Uploads: files of the folder that the user offers, each time after a question, as they were when it was asked.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use canary::find;
use evaluation::stage::Stage;
use mcp_guard::{Allowed, GatewaySettings, Snapshots};
use portcullis::audit::{MemoryLog, verify_text};
use portcullis::consent::{Answer, AnswerFuture, Answerer, ConsentPrompt};
use portcullis::guard::SystemEntropy;
use portcullis::guard::upload_folder::UploadFolder;
use portcullis::signals::playwright::FileChoosers;
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::{Value, json};

use crate::concurrent_calls::handles;
use crate::support::site::Site;
use crate::support::{Client, with_browser};

const CANARY: &str = "31 Upload Quarry Row";
const TASK: &str = "Send my invoice to https://shop.hostile.test";
const INVOICE: &str = "invoice 2026.txt";

/// A page with three ways to send a file. It shows what it got.
const SHOP: &str = "<title>Help desk</title><script>const show = async (input) => { const words = await input.files[0].text(); \
    document.getElementById('got').textContent = 'got ' + input.files[0].name + ': ' + words; };</script><p id=got>nothing</p>\
    <form method=post enctype=multipart/form-data action=/send><input type=file aria-label=Attach onchange=show(this)></form>\
    <form method=post enctype=multipart/form-data action=https://other.hostile.test/><input type=file aria-label=Elsewhere \
    onchange=show(this)></form><button onclick=\"window.open('/')\">Window</button>";

/// A user who gives this answer, and does something while each question is shown.
struct User {
    agrees: fn(&str) -> bool,
    meanwhile: Box<dyn FnMut(&str) + Send>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Answerer for User {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        let text = prompt.to_string();
        (self.meanwhile)(&text);
        let answer = if (self.agrees)(&text) { Answer::Once } else { Answer::No };
        self.asked.lock().unwrap().push(text);
        Box::pin(std::future::ready(answer))
    }
}

/// How a test is set up.
struct Desk<'a> {
    folder: Option<&'a Path>,
    task: Option<&'a str>,
    scripts: bool,
    agrees: fn(&str) -> bool,
    meanwhile: Box<dyn FnMut(&str) + Send>,
}

impl Default for Desk<'_> {
    fn default() -> Self {
        Desk { folder: None, task: Some(TASK), scripts: false, agrees: |_| true, meanwhile: Box::new(|_| ()) }
    }
}

/// Uses the page; returns the record and the questions. Neither the agent nor the record gets what is in the files unless the page shows it.
async fn at_the_desk(
    desk: Desk<'_>,
    use_it: impl AsyncFnOnce(&mut Client, String),
) -> (MemoryLog, Vec<String>) {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["shop.hostile.test", "other.hostile.test"]).await;
    site.put("shop.hostile.test/", SHOP);
    let log = MemoryLog::default();
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let user = User { agrees: desk.agrees, meanwhile: desk.meanwhile, asked: Arc::clone(&asked) };
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), Box::new(user), Box::new(SystemEntropy));
    let mut guard = guard.unwrap();
    let mut browser = site.browser(&stage);
    if let Some(folder) = desk.folder {
        guard = guard.with_upload_folder(UploadFolder::open(folder).unwrap());
        browser.file_choosers = FileChoosers::Wait;
    }
    let settings = GatewaySettings {
        task: desk.task.map(str::to_owned),
        snapshots: Snapshots::AfterActions,
        allowed: Allowed { scripts: desk.scripts, network: false, files: desk.folder.is_some() },
        ..GatewaySettings::default()
    };
    with_browser(guard, browser, settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        let page = client.call("browser_navigate", json!({ "url": "https://shop.hostile.test/" })).await.text;
        use_it(client, page).await;
    })
    .await;
    verify_text(&log.text()).unwrap();
    assert_eq!(find(&log.text(), CANARY), None);
    assert!(!log.text().contains("invoice"), "no name of a file is recorded: {}", log.text());
    let asked = asked.lock().unwrap().clone();
    (log, asked)
}

/// The user's folder, with an invoice.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(INVOICE), CANARY).unwrap();
    folder
}

/// Presses an input, and waits until the agent is told that the page asks for files.
async fn press(client: &mut Client, page: &str, name: &str, told: &str) {
    let target = handles(page, name).remove(0);
    let mut said = client.call("browser_click", json!({ "target": target })).await.text;
    let began = std::time::Instant::now();
    while !said.contains(told) {
        assert!(began.elapsed().as_secs() < 60, "{said}");
        said = client.call("browser_wait_for", json!({ "time": 0.1 })).await.text;
    }
}

const ASKS: &str = "[File chooser]: can be handled by browser_file_upload";

async fn upload(client: &mut Client, paths: Value) -> String {
    client.call("browser_file_upload", json!({ "paths": paths })).await.text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_goes_to_the_page_as_it_was_when_the_user_was_asked() {
    let folder = folder();
    let path = folder.path().join(INVOICE);
    let changed = path.clone();
    let meanwhile = Box::new(move |_: &str| fs::write(&changed, "something else").unwrap());
    let desk = Desk { folder: Some(folder.path()), meanwhile, ..Desk::default() };
    let (log, asked) = at_the_desk(desk, async |client: &mut Client, page| {
        // The question about the container changed it already.
        fs::write(&path, CANARY).unwrap();
        let status = client.call("portcullis_status", json!({})).await.text;
        assert!(status.contains(&format!("- files for uploads: \"{INVOICE}\"")), "{status}");
        let window = handles(&page, "\"Window\"").remove(0);
        let said = client.call("browser_click", json!({ "target": window })).await.text;
        assert!(said.contains("### Open tabs"), "{said}");
        client.call("browser_tabs", json!({ "action": "select", "index": 0 })).await;
        press(client, &page, "\"Attach\"", ASKS).await;
        let said = upload(client, json!([INVOICE])).await;
        // The control: the page has the file's words, of the moment of the question.
        assert!(said.contains(&format!("got {INVOICE}: {CANARY}")), "{said}");
        assert!(!said.contains("something else") && !said.contains("### Changes"), "{said}");
        let tabs = client.call("browser_tabs", json!({ "action": "list" })).await.text;
        assert_eq!(tabs.matches("\n- ").count(), 1, "{tabs}");
        let picture = client.call("browser_take_screenshot", json!({})).await.text;
        assert!(picture.contains("this tool is off"), "{picture}");
    })
    .await;
    let [container, upload] = asked.as_slice() else { panic!("{asked:?}") };
    assert!(container.contains("work on these sites and no others"), "{container}");
    for words in [
        "give your file \"invoice 2026.txt\" (20 bytes) to:",
        "hostile.test",
        "on the page https://shop.hostile.test/",
        "its form is sent to https://shop.hostile.test/send",
        "the agent may read what the page then shows of it",
    ] {
        assert!(upload.contains(words), "{words} in {upload}");
    }
    assert!(log.text().contains(r#""event":"uploaded""#) && log.text().contains(r#""bytes":20"#));
    assert!(log.text().contains(r#""about":["upload"]"#), "{}", log.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_stays_where_the_user_says_no_or_would_not_see_what_goes_where() {
    let folder = folder();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    fs::write(&secret, CANARY).unwrap();
    std::os::unix::fs::symlink(&secret, folder.path().join("link.txt")).unwrap();
    let agrees = |text: &str| !text.contains("give your file");
    let desk = Desk { folder: Some(folder.path()), agrees, ..Desk::default() };
    let (log, asked) = at_the_desk(desk, async |client: &mut Client, page| {
        assert!(upload(client, json!([INVOICE])).await.contains("the page asks for no file"));
        press(client, &page, "\"Attach\"", ASKS).await;
        for name in ["link.txt", "absent.txt", "../secret.txt", secret.to_str().unwrap()] {
            let said = upload(client, json!([name])).await;
            assert!(said.contains("no plain file of one of these names"), "{said}");
        }
        let said = upload(client, json!([INVOICE, INVOICE])).await;
        assert!(said.contains("one file here"), "{said}");
        let said = upload(client, json!([INVOICE])).await;
        assert!(said.contains(r#"DENY.verb {"reason":"consent_denied"}"#), "{said}");
        // To a site that the task does not name, nobody is asked.
        press(client, &page, "\"Elsewhere\"", ASKS).await;
        let said = upload(client, json!([INVOICE])).await;
        assert!(said.contains("wrong_destination"), "{said}");
        let said = client.call("browser_file_upload", json!({})).await.text;
        assert!(!said.contains(ASKS) && said.contains("\"nothing\""), "{said}");
        let said = upload(client, json!([INVOICE])).await;
        assert!(said.contains("the page asks for no file"), "{said}");
        assert_eq!(find(&client.received, CANARY), None, "{}", client.received);
    })
    .await;
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(!log.text().contains(r#""event":"uploaded""#), "{}", log.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_raised_container_or_after_a_script_no_file_is_uploaded() {
    let folder = folder();
    let refused = async |desk: Desk<'_>, first: Option<(&str, Value)>, reason: &str| {
        let (log, asked) = at_the_desk(desk, async |client: &mut Client, page| {
            let page = match first {
                None => page,
                Some((tool, arguments)) => {
                    client.call(tool, arguments).await;
                    client.call("browser_snapshot", json!({})).await.text
                }
            };
            press(client, &page, "\"Attach\"", ASKS).await;
            let said = upload(client, json!([INVOICE])).await;
            assert!(said.contains(reason), "{reason}: {said}");
            // Whether the folder has a file is not told where nothing could be uploaded.
            if reason != "tainted_session" && reason != "script_ran" {
                let status = client.call("portcullis_status", json!({})).await.text;
                assert!(status.contains("- files for uploads: named in a task with uploads"), "{status}");
                assert!(!client.received.contains(INVOICE), "{}", client.received);
                assert_eq!(upload(client, json!(["absent.txt"])).await, said);
            }
            assert_eq!(find(&client.received, CANARY), None, "{}", client.received);
        })
        .await;
        assert!(!log.text().contains(r#""event":"uploaded""#), "{}", log.text());
        asked.len()
    };
    let in_t0 = Desk { folder: Some(folder.path()), task: None, ..Desk::default() };
    assert_eq!(refused(in_t0, None, "invalid_container").await, 0);
    let declined = Desk { folder: Some(folder.path()), agrees: |_| false, ..Desk::default() };
    assert_eq!(refused(declined, None, "consent_denied").await, 1);
    let scripts = Desk { folder: Some(folder.path()), scripts: true, ..Desk::default() };
    let script = ("browser_evaluate", json!({ "function": "() => 1" }));
    assert_eq!(refused(scripts, Some(script), "script_ran").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_proposes_a_task_with_uploads() {
    let folder = folder();
    let desk = Desk { folder: Some(folder.path()), task: None, ..Desk::default() };
    let (_, asked) = at_the_desk(desk, async |client: &mut Client, _| {
        let plan = json!({ "origins": ["https://shop.hostile.test"], "uploads": true });
        let said = client.call("portcullis_plan", plan).await.text;
        assert!(said.contains("container: T2"), "{said}");
        let shop = json!({ "url": "https://shop.hostile.test/" });
        let page = client.call("browser_navigate", shop).await.text;
        press(client, &page, "\"Attach\"", ASKS).await;
        let said = upload(client, json!([folder.path().join(INVOICE)])).await;
        assert!(said.contains(&format!("got {INVOICE}: {CANARY}")), "{said}");
    })
    .await;
    assert_eq!(asked.len(), 2, "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_folder_the_agent_is_told_how_the_user_offers_files() {
    let (log, _) = at_the_desk(Desk::default(), async |client: &mut Client, page| {
        assert!(!client.tools().await.contains(&"browser_file_upload".to_owned()));
        press(client, &page, "\"Attach\"", "They do with `--files FOLDER`").await;
    })
    .await;
    assert!(log.text().contains(r#""what":"file_chooser""#), "{}", log.text());
}
