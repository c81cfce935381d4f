//! The meaning of the browser's error for a command: by its code, and where Chromium has one code for everything, by its message.
//!
//! The codes are those of JSON-RPC and of Chromium's `third_party/inspector_protocol/crdtp/dispatch.h`. Almost every command that
//! was tried fails with [`SERVER_ERROR`], so the message decides there. It is compared as a whole, as Chromium's own ChromeDriver
//! does (`chrome/test/chromedriver/chrome/devtools_client_impl.cc`): a part of it may be words of a page. The list is that of
//! Chromium 156. A message that it lacks is an error of the command, which no caller repeats.

use serde_json::Value;

use crate::json::text;

/// The command was tried and failed.
const SERVER_ERROR: i64 = -32000;
/// The session has ended.
const SESSION_NOT_FOUND: i64 = -32001;
/// The parameters do not fit the command, or name what is not there.
const INVALID_PARAMS: i64 = -32602;

/// The errors that say that something is gone, below the file of Chromium that has them.
const GONE: [(i64, &str); 14] = [
    // content/browser/devtools/devtools_session.cc
    (SERVER_ERROR, "Inspected target navigated or closed"),
    // v8/src/inspector/v8-runtime-agent-impl.cc
    (SERVER_ERROR, "Cannot find context with specified id"),
    (SERVER_ERROR, "Cannot find default execution context"),
    // v8/src/inspector/injected-script.cc
    (SERVER_ERROR, "Execution context was destroyed."),
    (SERVER_ERROR, "Could not find object with given id"),
    // third_party/blink/renderer/core/inspector/inspector_dom_agent.cc
    (SERVER_ERROR, "Could not find node with given id"),
    (SERVER_ERROR, "No node found for given backend id"),
    (SERVER_ERROR, "No node with given id found"),
    (SERVER_ERROR, "Node is detached from document"),
    // The node is of another document, or the context that it is wanted in is gone.
    (SERVER_ERROR, "Node with given id does not belong to the document"),
    (SERVER_ERROR, "Frame with the given id was not found."),
    // It is in another process by now.
    (SERVER_ERROR, "Frame with the given id does not belong to the target."),
    // third_party/blink/renderer/core/inspector/inspector_page_agent.cc
    (INVALID_PARAMS, "No frame for given id found"),
    // third_party/blink/renderer/core/inspector/inspector_accessibility_agent.cc
    (INVALID_PARAMS, "Frame with the given frameId is not found."),
];

/// Returns true if the `error` of an answer says that the document, frame, script context, node or session of the command is gone.
pub(super) fn is_gone(error: &Value) -> bool {
    let code = error.get("code").and_then(Value::as_i64);
    let message = text(error, "message").unwrap_or_default();
    code == Some(SESSION_NOT_FOUND)
        || GONE.iter().any(|(known, says)| code == Some(*known) && message == *says)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_is_known_by_its_code_and_its_whole_message() {
        let gone = |code: i64, message: &str| is_gone(&json!({ "code": code, "message": message }));
        for (code, message) in GONE {
            assert!(gone(code, message), "{message}");
            // Words of a page around it, or another code, mean something else.
            assert!(!gone(code, &format!("Uncaught: {message}")), "{message}");
            assert!(!gone(-32603, message), "{message}");
        }
        assert!(gone(SESSION_NOT_FOUND, "Session with given id not found."));
        for (code, message) in [
            (SERVER_ERROR, "Node does not have a layout object"),
            (SERVER_ERROR, "Could not compute box model."),
            (SERVER_ERROR, "No resource with given identifier found"),
            (INVALID_PARAMS, "Invalid parameters"),
            (-32601, "'Node.frame' wasn't found"),
            (-32603, "Internal error"),
        ] {
            assert!(!gone(code, message), "{message}");
        }
        assert!(!is_gone(&json!({ "message": "No node with given id found" })), "there is no code");
        assert!(!is_gone(&Value::Null));
    }
}
