//! The commands that the second program may give.
//!
//! They are those that Playwright needs to see a page and run a script in it; pictures the bridge takes itself. A program
//! that may run scripts can do to the page what the page's own scripts can. Everything else is refused: other pages,
//! cookies, files, outgoing requests, certificates, permissions, navigation that the session does not see.

use serde_json::{Value, json};

/// The handling of a command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Handling {
    /// It is passed on to the browser.
    Passed,
    /// It is answered here, without any effect.
    Answered(Value),
    /// It is refused.
    Refused,
}

/// Commands to a page without any effect, since the bridge does the same in its own way or it must not be done.
const IDLE: [&str; 10] = [
    "Page.setInterceptFileChooserDialog",
    "Page.setBypassCSP",
    "Page.setFontFamilies",
    "Emulation.setFocusEmulationEnabled",
    "Browser.setDownloadBehavior",
    "Network.setCacheDisabled",
    "ServiceWorker.enable",
    "Page.setWebLifecycleState",
    "Emulation.setUserAgentOverride",
    "WebMCP.enable",
];

/// Commands to a page, its frames and its workers.
const LOOKING: [&str; 30] = [
    "Accessibility.getFullAXTree",
    "DOM.describeNode",
    "DOM.enable",
    "DOM.getBoxModel",
    "DOM.getContentQuads",
    "DOM.getFrameOwner",
    "DOM.resolveNode",
    "DOM.scrollIntoViewIfNeeded",
    "Emulation.setDeviceMetricsOverride",
    "Emulation.clearDeviceMetricsOverride",
    "Emulation.setDefaultBackgroundColorOverride",
    "Emulation.setEmulatedMedia",
    "Emulation.setTouchEmulationEnabled",
    "Log.enable",
    "Network.enable",
    "Page.addScriptToEvaluateOnNewDocument",
    "Page.bringToFront",
    "Page.createIsolatedWorld",
    "Page.enable",
    "Page.getFrameTree",
    "Page.getLayoutMetrics",
    "Page.setLifecycleEventsEnabled",
    "Runtime.addBinding",
    "Runtime.callFunctionOn",
    "Runtime.enable",
    "Runtime.evaluate",
    "Runtime.getProperties",
    "Runtime.releaseObject",
    "Runtime.runIfWaitingForDebugger",
    "Target.setAutoAttach",
];

/// A command to the browser as a whole.
pub(super) fn of_the_browser(method: &str) -> Handling {
    match method {
        "Browser.getVersion" => Handling::Passed,
        "Target.setAutoAttach" | "Browser.setDownloadBehavior" | "Target.setDiscoverTargets" => {
            Handling::Answered(json!({}))
        }
        "Browser.getWindowForTarget" => Handling::Answered(json!({ "windowId": 1, "bounds": {} })),
        "Target.getTargetInfo" => Handling::Answered(json!({ "targetInfo": {
                "targetId": "browser", "type": "browser", "title": "", "url": "", "attached": true,
                "canAccessOpener": false,
            } })),
        _ => Handling::Refused,
    }
}

/// A command to the page, or a frame or worker of it.
pub(super) fn of_the_page(method: &str) -> Handling {
    if LOOKING.contains(&method) {
        Handling::Passed
    } else if IDLE.contains(&method) {
        Handling::Answered(json!({}))
    } else {
        Handling::Refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_beyond_the_power_of_a_pages_script_are_refused() {
        for method in [
            "Network.getCookies",
            "Network.getResponseBody",
            "Network.setExtraHTTPHeaders",
            "Storage.getCookies",
            "Fetch.enable",
            "Page.navigate",
            "Page.navigateToHistoryEntry",
            "Page.setDownloadBehavior",
            "DOM.setFileInputFiles",
            "Security.setIgnoreCertificateErrors",
            "Input.dispatchKeyEvent",
            "Input.insertText",
            "Target.attachToTarget",
            "Target.sendMessageToTarget",
            "Debugger.enable",
            "Autofill.trigger",
        ] {
            assert_eq!(of_the_page(method), Handling::Refused, "{method}");
        }
        for method in [
            "Target.createTarget",
            "Target.createBrowserContext",
            "Target.getTargets",
            "Target.attachToTarget",
            "Target.attachToBrowserTarget",
            "Target.exposeDevToolsProtocol",
            "Browser.setPermission",
            "Browser.grantPermissions",
            "Browser.close",
            "Storage.getCookies",
            "Storage.setCookies",
            "SystemInfo.getInfo",
            "Tracing.start",
        ] {
            assert_eq!(of_the_browser(method), Handling::Refused, "{method}");
        }
    }
}
