//! The commands that the second program may give.
//!
//! They are those that Playwright needs to see a page and run a script in it; pictures the bridge takes itself. Whoever may run scripts
//! can do to the page what its own scripts can; what is kept from it is what they cannot: other pages, cookies, files,
//! requests on their way out, certificates, permissions, navigation past the session.

use serde_json::{Value, json};

/// What becomes of a command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Asked {
    /// The browser gets it.
    Passed,
    /// It is answered here, and does nothing.
    Answered(Value),
    /// It is refused.
    Refused,
}

/// Commands to a page that do nothing here, since the bridge has done it in its own way or it must not be done.
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
pub(super) fn of_the_browser(method: &str) -> Asked {
    match method {
        "Browser.getVersion" => Asked::Passed,
        "Target.setAutoAttach" | "Browser.setDownloadBehavior" | "Target.setDiscoverTargets" => {
            Asked::Answered(json!({}))
        }
        "Browser.getWindowForTarget" => Asked::Answered(json!({ "windowId": 1, "bounds": {} })),
        "Target.getTargetInfo" => Asked::Answered(json!({ "targetInfo": {
                "targetId": "browser", "type": "browser", "title": "", "url": "", "attached": true,
                "canAccessOpener": false,
            } })),
        _ => Asked::Refused,
    }
}

/// A command to the page, or a frame or worker of it.
pub(super) fn of_the_page(method: &str) -> Asked {
    if LOOKING.contains(&method) {
        Asked::Passed
    } else if IDLE.contains(&method) {
        Asked::Answered(json!({}))
    } else {
        Asked::Refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pages_own_script_cannot_do_is_refused() {
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
            assert_eq!(of_the_page(method), Asked::Refused, "{method}");
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
            assert_eq!(of_the_browser(method), Asked::Refused, "{method}");
        }
    }
}
