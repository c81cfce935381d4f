//! A window in a Chromium of its own, on a pipe of its own.

use serde_json::{Value, json};

use super::process::{Process, Reader, Running};
use crate::json::text;
use crate::playwright::browser::START_WITHIN;
use crate::playwright::browser::settings::BrowserSettings;
use crate::playwright::browser::window::APP;
use crate::playwright::error::{BridgeError, LoadFailure};

/// An open window. Dropping it ends its browser.
pub(crate) struct Shown {
    pipe: Pipe,
    // The browser ends also where its pipe is still open.
    _child: Running,
}

/// Commands, and what the browser told of its page so far.
struct Pipe {
    reader: Reader,
    send: std::sync::mpsc::Sender<String>,
    sent: u64,
    page: Option<String>,
    is_closed: bool,
}

impl Shown {
    /// Starts the browser with one window, and opens the address in it. The address goes through the pipe.
    ///
    /// # Errors
    /// [`BridgeError::Launch`] where the browser does not start, [`BridgeError::Unreachable`] where it cannot load the address.
    pub(crate) async fn open(settings: &BrowserSettings, address: &str) -> Result<Shown, BridgeError> {
        let opened = Process::start(settings, &APP)?.open()?;
        let pipe = Pipe { reader: opened.reader, send: opened.send, sent: 0, page: None, is_closed: false };
        let mut shown = Shown { pipe, _child: opened.child };
        let late = |_| BridgeError::Launch("it showed no window in time".to_owned());
        tokio::time::timeout(START_WITHIN, shown.pipe.show(address)).await.map_err(late)??;
        Ok(shown)
    }

    /// Waits until the window is closed, or the browser is gone.
    pub(crate) async fn closed(&mut self) {
        while !self.pipe.is_closed {
            self.pipe.hear().await;
        }
    }
}

impl Pipe {
    async fn show(&mut self, address: &str) -> Result<(), BridgeError> {
        self.call(None, "Target.setDiscoverTargets", &json!({ "discover": true })).await?;
        let page = loop {
            match (&self.page, self.is_closed) {
                (Some(page), _) => break page.clone(),
                (None, true) => return Err(BridgeError::Launch("it ended at its start".to_owned())),
                (None, false) => {
                    self.hear().await;
                }
            }
        };
        let attach = json!({ "targetId": page, "flatten": true });
        let attached = self.call(None, "Target.attachToTarget", &attach).await?;
        let session = text(&attached, "sessionId").ok_or(BridgeError::Lost)?;
        let navigated = self.call(Some(session), "Page.navigate", &json!({ "url": address })).await?;
        match text(&navigated, "errorText") {
            Some(failed) if !failed.is_empty() => Err(BridgeError::Unreachable(LoadFailure::NoAnswer)),
            _ => Ok(()),
        }
    }

    /// Sends a command, and waits for its result.
    async fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<Value, BridgeError> {
        self.sent += 1;
        let mut command = json!({ "id": self.sent, "method": method, "params": params });
        if let (Some(session), Some(command)) = (session, command.as_object_mut()) {
            command.insert("sessionId".to_owned(), session.into());
        }
        self.send.send(command.to_string()).map_err(|_| BridgeError::Lost)?;
        while !self.is_closed {
            let Some(mut message) = self.hear().await else { continue };
            if message.get("id").and_then(Value::as_u64) == Some(self.sent) {
                let result = message.get_mut("result").map(Value::take);
                return result.ok_or_else(|| BridgeError::Protocol(method.to_owned()));
            }
        }
        Err(BridgeError::Lost)
    }

    /// Takes the browser's next message. A message that is not JSON is dropped.
    async fn hear(&mut self) -> Option<Value> {
        let Some(message) = self.reader.next().await else {
            self.is_closed = true;
            return None;
        };
        let message: Value = serde_json::from_str(&message).ok()?;
        let id = |path: &str| message.pointer(path).and_then(Value::as_str);
        match text(&message, "method") {
            Some("Target.targetCreated") if id("/params/targetInfo/type") == Some("page") => {
                let page = id("/params/targetInfo/targetId").map(str::to_owned);
                self.page = self.page.take().or(page);
            }
            Some("Target.targetDestroyed") => {
                self.is_closed |= self.page.as_deref() == id("/params/targetId");
            }
            _ => {}
        }
        Some(message)
    }
}
