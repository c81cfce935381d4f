//! Files contain no value of the user while it is on a page.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::site::Site;
use crate::support::user::Willing;
use crate::support::{Client, with_browser};
use canary::find;
use evaluation::stage::Stage;
use mcp_guard::{GatewaySettings, Snapshots};
use portcullis::audit::{MemoryLog, verify_text};
use portcullis::guard::SystemEntropy;
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::json;

// The names are unique to this test: others run at the same time, and their files are searched too.
const STREET: &str = "17 Telltale Quarry Road";
const TASK: &str = "Order a kettle at https://shop.hostile.test and have it sent to: Ada Lane, 17 Telltale Quarry Road, \
                    94704 Berkeley. Email ada@lane.example.";

/// A page that writes a filled value to the console, into its title and its name, and throws it.
const TELLTALE: &str = "<title>Shop</title><form action=/to method=post><input name=street autocomplete=street-address \
    aria-label=Street><input name=city autocomplete=address-level2 aria-label=City><input name=phone autocomplete=tel \
    aria-label=Phone><button>Send</button></form><script>\
    addEventListener('input', e => { const said = e.target.value; console.log('got ' + said); console.error(said); \
    document.title = said; window.name = said; setTimeout(() => { throw new Error(said) }); \
    Promise.reject(new Error(said)); fetch('/?' + said); });</script>";

/// The temporary files of this machine's guards that contain a text.
fn files_that_hold(text: &str) -> Vec<PathBuf> {
    let guards = fs::read_dir(std::env::temp_dir()).unwrap().flatten().map(|entry| entry.path());
    let guards = guards.filter(|path| path.to_string_lossy().contains("/portcullis-"));
    let mut found = Vec::new();
    guards.for_each(|folder| search(&folder, text, &mut found));
    found
}

fn search(folder: &Path, text: &str, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.is_symlink() {
            search(&path, text, found);
        } else if path.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            if find(&String::from_utf8_lossy(&bytes), text).is_some() {
                found.push(path);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_a_page_copies_reaches_no_file_and_no_answer() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["shop.hostile.test"]).await;
    site.put("shop.hostile.test/", TELLTALE);
    let log = MemoryLog::default();
    let settings = GatewaySettings {
        task: Some(TASK.to_owned()),
        snapshots: Snapshots::OnRequest,
        ..GatewaySettings::default()
    };
    let user = Box::new(Willing { thinks: Duration::from_secs(1) });
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), user, Box::new(SystemEntropy)).unwrap();
    let received = with_browser(guard, site.browser(&stage), settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        let shop = json!({ "url": "https://shop.hostile.test/" });
        assert_eq!(client.call("browser_navigate", shop.clone()).await.text, "ok");
        assert!(!client.call("browser_console_messages", json!({ "level": "info" })).await.is_error);
        client.call("browser_snapshot", json!({})).await;
        // A denied request leaves the console on.
        let refused = client.call("portcullis_request", json!({ "block": "REQ.login\nREQ.end" })).await;
        assert!(refused.text.contains("DENY.login"), "{refused:?}");
        let console = client.call("browser_console_messages", json!({ "level": "info" })).await;
        assert!(!console.is_error, "{console:?}");
        // The user is asked to type the missing values, and takes a while: the page holds the street meanwhile.
        let lines = "REQ.address fields=[\"street\",\"city\"]\nREQ.contact fields=[\"phone\"]\nREQ.end";
        let block = json!({ "block": lines });
        let granted = client.call("portcullis_request", block).await;
        assert!(granted.text.contains("GRANT.address"), "{granted:?}");
        assert_eq!(files_that_hold(STREET), Vec::<PathBuf>::new());
        for (tool, arguments) in [
            ("browser_snapshot", json!({})),
            ("browser_find", json!({ "regex": "(?i)quarry|street" })),
            ("browser_tabs", json!({ "action": "list" })),
            ("browser_console_messages", json!({ "level": "info" })),
            ("browser_navigate_back", json!({})),
            ("portcullis_status", json!({})),
        ] {
            client.call(tool, arguments).await;
        }
        client.call("browser_close", json!({})).await;
        assert_eq!(files_that_hold(STREET), Vec::<PathBuf>::new());
        client.received.clone()
    })
    .await;
    assert_eq!(find(&received, STREET), None, "{received}");
    assert_eq!(find(&log.text(), STREET), None);
    verify_text(&log.text()).unwrap();
}
