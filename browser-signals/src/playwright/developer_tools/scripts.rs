//! Running a script of the caller's in a page, and changing the page's size.

use serde_json::{Value, json};

use crate::ElementRef;
use crate::json::text;
use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;

/// The least and the most pixels of a side of the page.
const SIDE: std::ops::RangeInclusive<u32> = 50..=10_000;

/// The result of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptResult {
    /// Its value; none for `undefined`.
    Value(Option<Value>),
    /// The error that it threw, in the page's words.
    Thrown(String),
}

impl Tab {
    /// Runs a script in the page, as a script of the page itself: an expression, or a function that is called, with the element if
    /// one is given. Its value is waited for if it is a promise, and has to be JSON. The guard knows nothing of what a script does; the caller
    /// decides whether there may be one.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] once a value was released; otherwise as for an action.
    pub async fn run_script(
        &self,
        script: &str,
        element: Option<&ElementRef>,
    ) -> Result<ScriptResult, BridgeError> {
        if self.state.has_released() {
            return Err(BridgeError::TextWithheld);
        }
        let navigations = self.begin();
        let (session, method, params) = match element {
            None => {
                let call = format!(
                    "(async (given) => typeof given === 'function' ? await given() : await given)((\n{script}\n))"
                );
                let params = json!({ "expression": call, "awaitPromise": true, "returnByValue": true, "userGesture": true });
                (self.state.page()?, "Runtime.evaluate", params)
            }
            Some(element) => {
                let located = self.state.located(element)?;
                let frames = self.state.frames().await?;
                let frame = frames.get(&located.frame)?;
                if frame.document != located.document {
                    return Err(BridgeError::Stale);
                }
                let node = json!({ "backendNodeId": located.node.0 });
                let node = frame.session.call("DOM.resolveNode", node).await?;
                let object = node.pointer("/object/objectId").cloned().ok_or(BridgeError::Stale)?;
                let call = format!(
                    "async function () {{ const given = (\n{script}\n); return typeof given === 'function' ? await given(this) : await given; }}"
                );
                let params = json!({
                    "functionDeclaration": call, "objectId": object, "awaitPromise": true, "returnByValue": true,
                    "userGesture": true,
                });
                (frame.session.clone(), "Runtime.callFunctionOn", params)
            }
        };
        let answer = session.call(method, params).await?;
        self.settle(navigations).await?;
        if let Some(details) = answer.get("exceptionDetails") {
            let thrown = details.get("exception").and_then(|thrown| text(thrown, "description"));
            let thrown = thrown.or(text(details, "text")).unwrap_or_default();
            return Ok(ScriptResult::Thrown(thrown.to_owned()));
        }
        Ok(ScriptResult::Value(answer.pointer("/result/value").cloned()))
    }

    /// Gives the page another size, in pixels of its style sheets.
    ///
    /// # Errors
    /// [`BridgeError::NotApplicable`] for a side below 50 or above 10,000.
    pub async fn resize(&self, width: u32, height: u32) -> Result<(), BridgeError> {
        if !(SIDE.contains(&width) && SIDE.contains(&height)) {
            return Err(BridgeError::NotApplicable);
        }
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 0, "mobile": false });
        self.state.page()?.call("Emulation.setDeviceMetricsOverride", size).await?;
        Ok(())
    }
}
