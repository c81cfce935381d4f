//! Messages of a page's console, and errors of its scripts that nothing caught.

use serde_json::Value;

use crate::json::text;
use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;

/// The longest message that is kept, in characters.
const LONGEST: usize = 4_000;

/// The weight of a message, the heaviest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConsoleLevel {
    /// An error, an assertion that failed, or an exception that nothing caught.
    Error,
    /// A warning.
    Warning,
    /// Whatever else a page says.
    Info,
    /// A message to the page's own developers.
    Debug,
}

/// A message of the console, in the page's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleMessage {
    /// Its weight.
    pub level: ConsoleLevel,
    /// The function of the console, such as `log`; none for an exception that nothing caught.
    pub function: Option<String>,
    /// The message.
    pub text: String,
    /// The address of the script and the number of the line, from zero.
    pub place: Option<(String, u64)>,
    /// The document in the top frame when it came.
    document: String,
}

impl ConsoleMessage {
    /// The message of an event; none for another event.
    pub(super) fn of(method: &str, params: &Value, document: String) -> Option<ConsoleMessage> {
        let (function, text, place) = match method {
            "Runtime.consoleAPICalled" => {
                let function = text(params, "type")?.to_owned();
                let said = params.get("args").and_then(Value::as_array)?.iter().map(said);
                let at = params.pointer("/stackTrace/callFrames/0");
                (Some(function), said.collect::<Vec<_>>().join(" "), at.and_then(place))
            }
            "Log.entryAdded" => {
                let entry = params.get("entry").filter(|entry| text(entry, "source") != Some("worker"))?;
                let function = text(entry, "level")?;
                let function = if function == "verbose" { "debug" } else { function };
                (Some(function.to_owned()), text(entry, "text")?.to_owned(), place(entry))
            }
            "Runtime.exceptionThrown" => {
                let details = params.get("exceptionDetails")?;
                let thrown = details.get("exception").map(said);
                (None, thrown.or(text(details, "text").map(str::to_owned))?, place(details))
            }
            _ => return None,
        };
        let level = match function.as_deref() {
            None | Some("error" | "assert") => ConsoleLevel::Error,
            Some("warning") => ConsoleLevel::Warning,
            Some("debug" | "clear" | "trace") => ConsoleLevel::Debug,
            Some(_) => ConsoleLevel::Info,
        };
        let text = text.chars().take(LONGEST).collect();
        Some(ConsoleMessage { level, function, text, place, document })
    }
}

/// A value as the console writes it.
fn said(value: &Value) -> String {
    let plain = value.get("value").map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
    let special = || text(value, "unserializableValue").or(text(value, "description")).map(str::to_owned);
    plain.or_else(special).or_else(|| text(value, "type").map(str::to_owned)).unwrap_or_default()
}

fn place(at: &Value) -> Option<(String, u64)> {
    let url = text(at, "url").filter(|url| !url.is_empty())?;
    Some((url.to_owned(), at.get("lineNumber").and_then(Value::as_u64).unwrap_or_default()))
}

impl Tab {
    /// The messages of the console since the page's document came, or all that are kept, oldest first.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] once a value was released.
    pub fn console(&self, all: bool) -> Result<Vec<ConsoleMessage>, BridgeError> {
        if self.state.has_released() {
            return Err(BridgeError::TextWithheld);
        }
        let top = self.state.top_frame()?;
        let inner = self.state.inner();
        let now = inner.documents.get(&top);
        let of_page = |message: &&ConsoleMessage| all || Some(&message.document) == now;
        Ok(inner.records.console.iter().filter(of_page).cloned().collect())
    }
}
