//! Keys, pressed through the server in a real page.

use mcp_guard::Snapshots;
use serde_json::json;

use crate::concurrent_calls::{client_at, handles};

/// Boxes without a form that tell what they hold at each key.
const BOXES: &str = "<title>Shop</title><input aria-label=Search><input aria-label=Own value='of the page'><p id=told></p><script>\
    for (const name of ['keydown', 'input']) addEventListener(name, (e) => {\
      told.textContent += name + ' ' + (e.key ?? e.data) + ' <' + e.target.value + '>;'; });</script>";

#[tokio::test(flavor = "multi_thread")]
async fn keys_write_into_the_agents_own_text() {
    client_at(BOXES, Snapshots::AfterActions, async |client, page| {
        let target = |what: &str| handles(&page, what).remove(0);
        let press = |key: &str| ("browser_press_key", json!({ "key": key }));
        client.call("browser_click", json!({ "target": target("\"Search\"") })).await;
        let mut told = String::new();
        for key in ["t", "e", "b", "Backspace", "A"] {
            let (tool, key) = press(key);
            told = client.call(tool, key).await.text;
        }
        assert!(told.contains(": \"teA\"") && told.contains("input A <teA>"), "{told}");
        let enter = json!({ "target": target("\"Search\""), "text": "Hi", "slowly": true, "submit": true });
        let told = client.call("browser_type", enter).await.text;
        for words in [": \"Hi\"", "keydown H <>;input H <H>;keydown i <H>;input i <Hi>;keydown Enter <Hi>;"] {
            assert!(told.contains(words), "{words} is not in\n{told}");
        }
        // The page's own text is unknown to the guard, and a card number is refused at the key that completes it.
        client.call("browser_click", json!({ "target": target("\"Own\"") })).await;
        let (tool, key) = press("x");
        let refused = client.call(tool, key).await;
        assert!(refused.is_error && refused.text.contains("not_applicable"), "{}", refused.text);
        client.call("browser_click", json!({ "target": target("\"Search\"") })).await;
        for key in ["ControlOrMeta+a", "Backspace"] {
            let (tool, key) = press(key);
            client.call(tool, key).await;
        }
        let mut refused = None;
        for key in "4111111111111111".chars() {
            let (tool, arguments) = press(&key.to_string());
            let said = client.call(tool, arguments).await;
            if said.is_error {
                refused = Some(said.text);
                break;
            }
        }
        assert!(refused.as_ref().is_some_and(|said| said.contains("egress_blocked")), "{refused:?}");
    })
    .await;
}
