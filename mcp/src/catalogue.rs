//! The tools: names and parameters are playwright-mcp's, so that an agent needs to learn nothing, and three of the
//! guard's own.

use serde_json::{Value, json};

use crate::settings::GatewaySettings;

/// Who carries a tool out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedOutBy {
    /// The session, after a decision.
    Session,
    /// The bridge itself, past the session: pictures.
    Bridge,
    /// The real playwright-mcp: it only looks.
    Upstream,
    /// The real playwright-mcp, where the user allowed scripts.
    UpstreamScripts,
    /// The real playwright-mcp, where the user allowed to look at the network.
    UpstreamNetwork,
}

/// A tool as a client sees it.
#[derive(Debug, Clone)]
pub struct ToolEntry {
    /// Its name.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: Value,
    /// Whether it changes nothing.
    pub reads_only: bool,
    /// Who carries it out.
    pub by: CarriedOutBy,
}

impl ToolEntry {
    /// Whether it looks at the page past the session, and so is off where something of the user's may be on it.
    pub fn looks_past_the_session(&self) -> bool {
        self.by != CarriedOutBy::Session
    }

    /// Whether it is offered under these settings.
    pub fn is_offered(&self, settings: &GatewaySettings) -> bool {
        let upstream = settings.upstream.is_some();
        match self.by {
            CarriedOutBy::Session | CarriedOutBy::Bridge => true,
            CarriedOutBy::Upstream => upstream,
            CarriedOutBy::UpstreamScripts => upstream && settings.allowed.scripts,
            CarriedOutBy::UpstreamNetwork => upstream && settings.allowed.network,
        }
    }
}

const TARGET: &str = "The element: a ref of the snapshot such as e12, a selector such as role=button[name=\"Pay\"], \
                      text=Pay, or a CSS selector that fits one element";

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// All tools, offered or not.
pub fn all() -> Vec<ToolEntry> {
    let mut tools = own();
    tools.extend(acting());
    tools.extend(looking());
    tools
}

fn tool(name: &'static str, description: &'static str, schema: Value) -> ToolEntry {
    ToolEntry { name, description, schema, reads_only: false, by: CarriedOutBy::Session }
}

fn reading(name: &'static str, description: &'static str, schema: Value) -> ToolEntry {
    ToolEntry { reads_only: true, ..tool(name, description, schema) }
}

fn own() -> Vec<ToolEntry> {
    vec![
        tool(
            "portcullis_plan",
            "Say which sites the task needs and what of the user's it will ask for, before it begins. The user is \
             asked once. Opens a fresh container; what was open before is closed.",
            object(
                json!({
                    "origins": {
                        "type": "array", "items": { "type": "string" },
                        "description": "The sites, such as https://shop.example; no other can be opened then",
                    },
                    "plan": text(
                        "PLAN lines, one for each kind of request, closed by PLAN.end, such as \
                         PLAN.address\\nPLAN.purchase\\nPLAN.end; leave it out to look around only"
                    ),
                }),
                &[],
            ),
        ),
        tool(
            "portcullis_request",
            "Ask for values of the user's to be put into the page, or for a purchase. You never see the values. Kinds: \
             REQ.address, REQ.contact, REQ.login, REQ.otp, REQ.identity, REQ.payment, REQ.purchase. Example: \
             REQ.address fields=[\"street\",\"city\"]\\nREQ.end. Each line is answered by GRANT or DENY.",
            object(json!({ "block": text("REQ lines, closed by REQ.end") }), &["block"]),
        ),
        reading(
            "portcullis_status",
            "Say which task, sites and container hold at the moment.",
            object(json!({}), &[]),
        ),
    ]
}

fn acting() -> Vec<ToolEntry> {
    let element = || text("What the element is, in words; not used to find it");
    let field = object(
        json!({
            "element": element(),
            "target": text(TARGET),
            "name": text("What the field is called; not used to find it"),
            "type": { "type": "string", "enum": ["textbox", "checkbox", "radio", "combobox", "slider"] },
            "value": text("The text, true or false for a check box or radio button, the option of a combobox"),
        }),
        &["target", "type", "value"],
    );
    vec![
        tool("browser_navigate", "Open an address", object(json!({ "url": text("The address") }), &["url"])),
        tool("browser_navigate_back", "Go back one page", object(json!({}), &[])),
        reading(
            "browser_snapshot",
            "Read the page. Words of the page stand in quotes; [withheld] stands for what you may not see",
            object(
                json!({
                    "target": text("Only this element and what is in it: a ref of the last snapshot"),
                    "depth": { "type": "number", "description": "Only this many levels" },
                }),
                &[],
            ),
        ),
        reading(
            "browser_find",
            "Find lines of the page, read anew",
            object(
                json!({
                    "text": text("Words to look for, in upper or lower case"),
                    "regex": text("A regular expression, or /expression/i"),
                }),
                &[],
            ),
        ),
        tool(
            "browser_click",
            "Click an element",
            object(
                json!({
                    "element": element(),
                    "target": text(TARGET),
                    "doubleClick": { "type": "boolean" },
                    "button": { "type": "string", "enum": ["left", "right", "middle"] },
                    "modifiers": { "type": "array", "items": { "type": "string" } },
                }),
                &["target"],
            ),
        ),
        tool(
            "browser_hover",
            "Move the mouse over an element",
            object(json!({ "element": element(), "target": text(TARGET) }), &["target"]),
        ),
        tool(
            "browser_type",
            "Put text into a control. Not for values of the user's: ask for those with portcullis_request",
            object(
                json!({
                    "element": element(),
                    "target": text(TARGET),
                    "text": text("The text"),
                    "submit": { "type": "boolean", "description": "Submit the form afterwards" },
                    "slowly": { "type": "boolean", "description": "Has no effect" },
                }),
                &["target", "text"],
            ),
        ),
        tool(
            "browser_fill_form",
            "Fill several controls. Not with values of the user's: ask for those with portcullis_request",
            object(json!({ "fields": { "type": "array", "items": field } }), &["fields"]),
        ),
        tool(
            "browser_select_option",
            "Choose an option of a select",
            object(
                json!({
                    "element": element(),
                    "target": text(TARGET),
                    "values": { "type": "array", "items": { "type": "string" }, "description": "The one option" },
                }),
                &["target", "values"],
            ),
        ),
        tool(
            "browser_press_key",
            "Press a key: Enter, Tab, Escape, an arrow, PageUp, PageDown or Home",
            object(json!({ "key": text("Its name, such as ArrowDown") }), &["key"]),
        ),
        reading(
            "browser_wait_for",
            "Wait for some time, or until words are there or gone",
            object(
                json!({
                    "time": { "type": "number", "description": "Seconds, 30 at most" },
                    "text": text("Words to wait for"),
                    "textGone": text("Words to wait for to disappear"),
                }),
                &[],
            ),
        ),
        tool(
            "browser_tabs",
            "List the tabs. A container has one page: it cannot open, choose or close others",
            object(
                json!({
                    "action": { "type": "string", "enum": ["list", "new", "close", "select"] },
                    "index": { "type": "number" },
                    "url": text("Not used"),
                }),
                &["action"],
            ),
        ),
        tool(
            "browser_handle_dialog",
            "Dialogs of a page are dismissed before you see them",
            object(json!({ "accept": { "type": "boolean" }, "promptText": text("Not used") }), &["accept"]),
        ),
        tool("browser_close", "Close the page and its container", object(json!({}), &[])),
    ]
}

fn looking() -> Vec<ToolEntry> {
    let past = |name, description, schema, by| ToolEntry { by, ..reading(name, description, schema) };
    vec![
        past(
            "browser_take_screenshot",
            "Take a picture of the page. Not once values of the user's are in the container",
            object(
                json!({
                    "type": { "type": "string", "enum": ["png", "jpeg", "webp"] },
                    "fullPage": { "type": "boolean" },
                    "scale": { "type": "string", "enum": ["css", "device"] },
                }),
                &[],
            ),
            CarriedOutBy::Bridge,
        ),
        past(
            "browser_console_messages",
            "Read what the page wrote to the console. Not once values of the user's are in the container",
            object(
                json!({
                    "level": { "type": "string", "enum": ["error", "warning", "info", "debug"] },
                    "all": { "type": "boolean" },
                }),
                &[],
            ),
            CarriedOutBy::Upstream,
        ),
        ToolEntry {
            reads_only: false,
            ..past(
                "browser_resize",
                "Give the page another size",
                object(
                    json!({ "width": { "type": "number" }, "height": { "type": "number" } }),
                    &["width", "height"],
                ),
                CarriedOutBy::Upstream,
            )
        },
        ToolEntry {
            reads_only: false,
            ..past(
                "browser_evaluate",
                "Run a script in the page. Not once values of the user's are in the container",
                object(json!({ "function": text("() => { ... }") }), &["function"]),
                CarriedOutBy::UpstreamScripts,
            )
        },
        past(
            "browser_network_requests",
            "List what the page asked for. Not once values of the user's are in the container",
            object(json!({ "static": { "type": "boolean" }, "filter": text("A regular expression") }), &[]),
            CarriedOutBy::UpstreamNetwork,
        ),
        past(
            "browser_network_request",
            "Show one request. Not once values of the user's are in the container",
            object(
                json!({
                    "index": { "type": "integer", "minimum": 1 },
                    "part": {
                        "type": "string",
                        "enum": ["request-headers", "request-body", "response-headers", "response-body"],
                    },
                }),
                &["index"],
            ),
            CarriedOutBy::UpstreamNetwork,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Allowed, UpstreamCommand};

    #[test]
    fn what_was_not_allowed_is_not_offered() {
        let offered = |settings: &GatewaySettings| -> Vec<&str> {
            all().into_iter().filter(|tool| tool.is_offered(settings)).map(|tool| tool.name).collect()
        };
        let alone = offered(&GatewaySettings::default());
        assert!(alone.contains(&"browser_take_screenshot") && !alone.contains(&"browser_console_messages"));
        let upstream = Some(UpstreamCommand { node: "node".into(), script: "cli.js".into() });
        let mut settings = GatewaySettings { upstream, ..GatewaySettings::default() };
        assert!(offered(&settings).contains(&"browser_console_messages"));
        for withheld in ["browser_evaluate", "browser_network_requests", "browser_run_code_unsafe"] {
            assert!(!offered(&settings).contains(&withheld), "{withheld}");
        }
        settings.allowed = Allowed { scripts: true, network: true };
        assert!(offered(&settings).contains(&"browser_evaluate"));
        assert!(!offered(&settings).contains(&"browser_run_code_unsafe"));
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = all().into_iter().map(|tool| tool.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
