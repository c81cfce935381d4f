//! Whole documents and the browser's process, for tests.

use serde_json::{Value, json};

use crate::json::text;
use crate::playwright::browser::Browser;
use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;

impl Browser {
    /// The operating system's id of the browser's own process.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone.
    pub async fn process_id(&self) -> Result<u64, BridgeError> {
        let all = self.link().call("SystemInfo.getProcessInfo", json!({})).await?;
        let all = all.get("processInfo").and_then(Value::as_array).ok_or(BridgeError::Lost)?;
        let own = all.iter().find(|process| text(process, "type") == Some("browser"));
        own.and_then(|process| process.get("id")).and_then(Value::as_u64).ok_or(BridgeError::Lost)
    }
}

impl Tab {
    /// The markup of every frame with the values of its controls. It is only for tests that search for leaked values.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the page is gone.
    pub async fn html_for_canary_search(&self) -> Result<String, BridgeError> {
        let frames = self.state.frames().await?;
        let mut all = String::new();
        for frame in &frames.0 {
            let world = match self.state.world(frame).await {
                Ok(world) => world,
                Err(BridgeError::Stale) => continue,
                Err(error) => return Err(error),
            };
            let html = self.state.ask(frame, &world, "html", Vec::new()).await?;
            all.push_str(html.as_str().unwrap_or_default());
            all.push('\n');
        }
        Ok(all)
    }

    /// The value of a script in a new isolated world of the top document. It is only for tests and measurements, which
    /// compare the text for the model with other readings of the same document.
    ///
    /// # Errors
    /// [`BridgeError::Stale`] where the script fails.
    pub async fn value_of_script(&self, script: &str) -> Result<Value, BridgeError> {
        let frames = self.state.frames().await?;
        let frame = frames.top()?;
        let params = json!({ "frameId": frame.id.as_str(), "worldName": "measurement" });
        let made = frame.session.call("Page.createIsolatedWorld", params).await?;
        let context = made.get("executionContextId").and_then(Value::as_i64).ok_or(BridgeError::Stale)?;
        let params = json!({ "expression": script, "contextId": context, "returnByValue": true });
        let answer = frame.session.call("Runtime.evaluate", params).await?;
        answer.pointer("/result/value").cloned().ok_or(BridgeError::Stale)
    }
}
