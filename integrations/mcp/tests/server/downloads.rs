//! Downloads: into the folder that the user named, told to the agent without a content, and refused without a folder.

use std::fs;
use std::path::Path;
use std::time::Duration;

use canary::find;
use evaluation::stage::Stage;
use mcp_guard::{Capabilities, GatewaySettings, Snapshots};
use portcullis::audit::{MemoryLog, verify_text};
use portcullis::guard::SystemEntropy;
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::json;

use crate::concurrent_calls::handles;
use crate::support::site::Site;
use crate::support::user::Willing;
use crate::support::{Client, with_browser};

/// The longest wait for a download on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub const STREET: &str = "31 Download Quarry Row";

pub const TASK: &str =
    "Order a kettle at https://shop.hostile.test to my address 31 Download Quarry Row, Northport 90210.";

/// A shop with three files. The second is called by what the shop's form holds, and the third is as long as the number in it says.
const SHOP: &str = "<title>Shop</title><a href=/report download=report.pdf>Report</a><button \
    onclick=\"const a = document.createElement('a'); a.href = '/report'; a.download = document.forms[0].elements[0].value + \
    '.receipt.pdf'; a.click()\">Receipt</button><button onclick=\"const a = document.createElement('a'); const number = \
    +document.forms[0].elements[0].value.match(/[0-9]+/)?.[0] || 77; a.href = window.URL.createObjectURL(new Blob(['x'.repeat(9e6 + number)])); \
    a.download = 'l.txt'; a.click()\">Length</button><form method=post action=/order><label>Street <input name=street \
    autocomplete=street-address></label><label>City <input name=city autocomplete=address-level2></label>\
    <button>Order</button></form>";

pub async fn in_the_shop(
    folder: Option<&Path>,
    task: Option<&str>,
    capabilities: Capabilities,
    use_it: impl AsyncFnOnce(&mut Client, String),
) -> MemoryLog {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["shop.hostile.test"]).await;
    site.put("shop.hostile.test/", SHOP);
    site.put("shop.hostile.test/report", "what the agent does not read");
    let log = MemoryLog::default();
    let user = Box::new(Willing { thinks: Duration::from_millis(300) });
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), user, Box::new(SystemEntropy)).unwrap();
    let settings = GatewaySettings {
        task: task.map(str::to_owned),
        capabilities,
        snapshots: Snapshots::AfterActions,
        ..GatewaySettings::default()
    };
    let mut browser = site.browser(&stage);
    browser.downloads = folder.map(Path::to_owned);
    with_browser(guard, browser, settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        let shop = json!({ "url": "https://shop.hostile.test/" });
        let page = client.call("browser_navigate", shop).await.text;
        use_it(client, page).await;
        assert_eq!(find(&client.received, STREET), None, "{}", client.received);
        assert!(!client.received.contains("what the agent does not read"), "{}", client.received);
    })
    .await;
    verify_text(&log.text()).unwrap();
    assert_eq!(find(&log.text(), STREET), None);
    log
}

/// Presses a link or button, and waits until the agent is told of the download that it led to.
async fn press(client: &mut Client, page: &str, name: &str) -> String {
    let target = handles(page, name).remove(0);
    let mut said = client.call("browser_click", json!({ "target": target })).await.text;
    let began = std::time::Instant::now();
    while !said.contains("### Downloads") {
        assert!(began.elapsed() < PATIENCE, "{said}");
        said = client.call("browser_wait_for", json!({ "time": 0.1 })).await.text;
    }
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_is_kept_for_the_user_and_told_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let log =
        in_the_shop(Some(folder.path()), None, Capabilities::default(), async |client: &mut Client, page| {
            let said = press(client, &page, "\"Report\"").await;
            let line = "### Downloads\n- downloaded \"report.pdf\" from \"https://shop.hostile.test\", ";
            assert!(said.contains(line), "{said}");
            let said = press(client, &page, "\"Report\"").await;
            assert!(said.contains("downloaded \"report (2).pdf\""), "{said}");
            let said = client.call("browser_snapshot", json!({})).await.text;
            assert!(!said.contains("Downloads"), "{said}");
        })
        .await;
    let kept = fs::read_to_string(folder.path().join("report (2).pdf")).unwrap();
    assert!(kept.contains("what the agent does not read"), "{kept}");
    assert_eq!(log.text().matches(r#""event":"downloaded""#).count(), 2, "{}", log.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_folder_a_download_is_refused_and_the_agent_is_told_how_the_user_allows_it() {
    let log = in_the_shop(None, None, Capabilities::default(), async |client: &mut Client, page| {
        let said = press(client, &page, "\"Report\"").await;
        assert!(
            said.contains("the download of \"report.pdf\" from ") && said.contains("`--downloads FOLDER`"),
            "{said}"
        );
    })
    .await;
    assert!(log.text().contains(r#""what":"download""#), "{}", log.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_release_neither_name_nor_length_of_a_file_is_told_or_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let log = in_the_shop(
        Some(folder.path()),
        Some(TASK),
        Capabilities::default(),
        async |client: &mut Client, page| {
            // The control: before, both are told and the length is recorded.
            let said = press(client, &page, "\"Receipt\"").await;
            assert!(said.contains("downloaded \""), "{said}");
            let said = press(client, &page, "\"Length\"").await;
            assert!(said.contains("9000077 bytes"), "{said}");
            let block = json!({ "block": "REQ.address fields=[\"street\",\"city\"]\nREQ.end" });
            let granted = client.call("portcullis_request", block).await.text;
            assert!(granted.contains("GRANT.address"), "{granted}");
            let said = press(client, &page, "\"Receipt\"").await;
            assert!(
                said.contains("downloaded a file from \"https://shop.hostile.test\". The user"),
                "{said}"
            );
            let said = press(client, &page, "\"Length\"").await;
            assert!(said.contains("downloaded a file from ") && !said.contains("9000031"), "{said}");
        },
    )
    .await;
    assert!(log.text().contains("9000077") && !log.text().contains("9000031"), "{}", log.text());
    assert_eq!(
        fs::metadata(folder.path().join("l (2).txt")).unwrap().len(),
        9_000_031,
        "the page did make it as long"
    );
    // The user's own folder has it under its name.
    assert!(
        folder.path().join(format!("{STREET}.receipt.pdf")).exists(),
        "{:?}",
        fs::read_dir(folder.path()).unwrap().collect::<Vec<_>>()
    );
}
