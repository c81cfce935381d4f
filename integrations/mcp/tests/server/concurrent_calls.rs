//! Calls that a client sends before the previous one is answered.

use std::time::Duration;

use crate::support::site::Site;
use crate::support::user::Willing;
use crate::support::{Client, with_browser};
use evaluation::stage::Stage;
use mcp_guard::{GatewaySettings, Snapshots};
use portcullis::audit::MemoryLog;
use portcullis::guard::SystemEntropy;
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::json;

/// Rows that can be removed, and a link.
const ROWS: &str = "<title>Rows</title><ul></ul><a href=/next>Next</a><script>\
    for (const row of ['ash', 'birch', 'cedar', 'dogwood']) { const item = document.createElement('li'); \
    item.innerHTML = row + ' <button>Delete</button>'; item.lastChild.onclick = () => item.remove(); \
    document.querySelector('ul').append(item); }</script>";

/// As many buttons as the first page has refs.
const NEXT: &str = "<title>Next</title><p id=said>quiet</p><script>for (let i = 0; i < 30; i++) { \
    const it = document.createElement('button'); it.textContent = 'B' + i; \
    it.onclick = () => { document.getElementById('said').textContent = 'pressed'; }; document.body.append(it); }</script>";

/// Buttons that record that they were pressed.
const MANY: &str = "<title>Many</title><p id=said></p><script>for (let i = 0; i < 20; i++) { \
    const it = document.createElement('button'); it.textContent = 'B' + i; \
    it.onclick = () => { document.getElementById('said').textContent += i + ','; }; document.body.append(it); }</script>";

/// A guard whose user agrees to everything, and a client on the page.
pub async fn client_at(page: &str, snapshots: Snapshots, use_it: impl AsyncFnOnce(&mut Client, String)) {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["rows.hostile.test"]).await;
    site.put("rows.hostile.test/", page);
    site.put("rows.hostile.test/next", NEXT);
    let user = Willing { thinks: Duration::ZERO };
    let log = Box::new(MemoryLog::default());
    let guard = Guard::new(DEFAULT_POLICY, log, Box::new(user), Box::new(SystemEntropy)).unwrap();
    let settings = GatewaySettings { snapshots, ..GatewaySettings::default() };
    with_browser(guard, site.browser(&stage), settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        client.call("browser_navigate", json!({ "url": "https://rows.hostile.test/" })).await;
        let page = client.call("browser_snapshot", json!({})).await.text;
        use_it(client, page).await;
    })
    .await;
}

/// The refs of the elements whose lines contain this text.
pub fn handles(page: &str, what: &str) -> Vec<String> {
    let lines = page.lines().filter(|line| line.contains(what));
    lines.map(|line| line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0.to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_carried_out_in_the_order_of_arrival() {
    client_at(MANY, Snapshots::OnRequest, async |client, page| {
        let buttons = handles(&page, "\"B");
        assert_eq!(buttons.len(), 20, "{page}");
        let mut posted = Vec::new();
        for button in &buttons {
            posted.push(client.post("browser_click", json!({ "target": button })).await);
        }
        for number in posted {
            assert!(!client.said(number).await.is_error);
        }
        let page = client.call("browser_snapshot", json!({})).await.text;
        let expected: String = (0..20).map(|number| format!("{number},")).collect();
        assert!(page.contains(&expected), "{page}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ref_keeps_its_meaning() {
    client_at(ROWS, Snapshots::AfterActions, async |client, page| {
        let (rows, link) = (handles(&page, "\"Delete\""), handles(&page, "\"Next\""));
        assert_eq!((rows.len(), link.len()), (4, 1), "{page}");
        // Each answer contains the page at that moment.
        let click = |target: &str| json!({ "target": target });
        let first = client.post("browser_click", click(&rows[0])).await;
        let second = client.post("browser_click", click(&rows[1])).await;
        for number in [first, second] {
            assert_eq!(client.said(number).await.text.lines().next(), Some("ok"));
        }
        let page = client.call("browser_snapshot", json!({})).await.text;
        let there: Vec<bool> =
            ["ash", "birch", "cedar", "dogwood"].iter().map(|row| page.contains(row)).collect();
        assert_eq!(there, [false, false, true, true], "{page}");
        assert_eq!(handles(&page, "\"Delete\""), rows[2..]);
        // A ref of one page does not exist on the next, and neither does one of a removed row.
        let (next, stale) = (
            client.post("browser_click", click(&link[0])).await,
            client.post("browser_click", click(&rows[2])).await,
        );
        assert_eq!(client.said(next).await.text.lines().next(), Some("ok"));
        let refused = client.said(stale).await;
        assert!(refused.is_error, "{refused:?}");
        assert!(client.call("browser_click", click(&rows[0])).await.is_error);
        let page = client.call("browser_snapshot", json!({})).await.text;
        assert!(page.contains("quiet") && page.contains("B29"), "{page}");
    })
    .await;
}
