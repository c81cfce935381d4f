//! The tools: those of playwright-mcp under the same names and with the same parameters, so that agents can use them
//! unchanged, and three of the guard's own.

use portcullis::signals::tool::schema;
use serde_json::Value;

use crate::arguments::{
    ConsoleArguments, DialogArguments, DragArguments, ElementArguments, FindArguments, FormArguments,
    MouseClickArguments, NoArguments, PlanArguments, RequestArguments, RequestsArguments, ResizeArguments,
    ScreenshotArguments, ScriptArguments, SnapshotArguments, TabsArguments, TypeArguments, UploadArguments,
    VerifyElementArguments, VerifyListArguments, VerifyTextArguments, VerifyValueArguments, WaitArguments,
    verb_schema,
};
use crate::requests::AskArguments;
use crate::settings::GatewaySettings;

/// The part that carries a tool out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedOutBy {
    /// The session, after a decision.
    Session,
    /// The session, if the user offers files.
    Uploads,
    /// The session, if the user asked for checks of what the page shows.
    Checks,
    /// The session, if the user asked for PDFs.
    Pdf,
    /// The session, for a model that sees pictures: if the user asked for it, and while pictures are on.
    Pictures,
    /// The browser's developer tools, without a decision of the session.
    DeveloperTools,
    /// The developer tools, if the user allowed scripts.
    Scripts,
    /// The developer tools, if the user allowed access to network traffic.
    Network,
}

/// A tool as a client sees it.
#[derive(Debug, Clone)]
pub struct ToolEntry {
    /// Its name.
    pub name: &'static str,
    /// The description for the model.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: Value,
    /// True if it changes nothing.
    pub reads_only: bool,
    /// The part that carries it out.
    pub by: CarriedOutBy,
}

impl ToolEntry {
    /// Returns true if it bypasses the session. Such a tool is off while the container may hold values of the user's.
    pub fn bypasses_session(&self) -> bool {
        use CarriedOutBy::{Checks, Pdf, Session, Uploads};
        !matches!(self.by, Session | Uploads | Checks | Pdf)
    }

    /// Returns true if it is offered under these settings.
    pub fn is_offered(&self, settings: &GatewaySettings) -> bool {
        match self.by {
            CarriedOutBy::Session | CarriedOutBy::DeveloperTools => true,
            CarriedOutBy::Uploads => settings.allowed.files,
            CarriedOutBy::Checks => settings.capabilities.testing,
            CarriedOutBy::Pdf => settings.capabilities.pdf,
            CarriedOutBy::Pictures => settings.capabilities.vision,
            CarriedOutBy::Scripts => settings.allowed.scripts,
            CarriedOutBy::Network => settings.allowed.network,
        }
    }
}

/// All tools, even those that are not offered.
pub fn all() -> Vec<ToolEntry> {
    let mut tools = own();
    tools.extend(acting());
    tools.extend(observing());
    tools.extend(on_request());
    tools
}

/// The tools that are offered under these settings, and of their parameters those that have an effect.
pub fn offered(settings: &GatewaySettings) -> Vec<ToolEntry> {
    let mut tools: Vec<ToolEntry> = all().into_iter().filter(|tool| tool.is_offered(settings)).collect();
    if !settings.allowed.files {
        for tool in tools.iter_mut().filter(|tool| tool.name == "portcullis_plan") {
            let parameters = tool.schema.get_mut("properties").and_then(Value::as_object_mut);
            parameters.and_then(|parameters| parameters.remove("uploads"));
        }
    }
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
            schema::<PlanArguments>(),
        ),
        tool(
            "portcullis_request",
            "Ask for values of the user's to be put into the page, or for a purchase. You never see the values. Each request is \
             answered by GRANT or DENY. Where a page has several forms, click a control of the one that you mean first. \
             Example: {\"requests\": [{\"kind\": \"address\", \"fields\": [\"street\", \"city\"]}]}",
            schema::<AskArguments>(),
        ),
        reading(
            "portcullis_status",
            "Say which task, sites and container hold at the moment.",
            schema::<NoArguments>(),
        ),
    ]
}

fn acting() -> Vec<ToolEntry> {
    vec![
        tool("browser_navigate", "Open an address", verb_schema::<NoArguments>("open")),
        tool("browser_navigate_back", "Go back one page", verb_schema::<NoArguments>("back")),
        reading(
            "browser_snapshot",
            "Read the page. Words of the page stand in quotes; [withheld] stands for what you may not see, \
             [unseen] for words that a person does not see, and /url for where a link leads",
            schema::<SnapshotArguments>(),
        ),
        reading("browser_find", "Find lines of the page, read anew", schema::<FindArguments>()),
        tool("browser_click", "Click an element", verb_schema::<ElementArguments>("click")),
        tool(
            "browser_drag",
            "Drag an element onto another one of the same page, with the mouse",
            schema::<DragArguments>(),
        ),
        tool("browser_hover", "Move the mouse over an element", verb_schema::<ElementArguments>("hover")),
        tool(
            "browser_type",
            "Put text into a control. Not for values of the user's: ask for those with portcullis_request",
            verb_schema::<TypeArguments>("type"),
        ),
        tool(
            "browser_fill_form",
            "Fill several controls. Not with values of the user's: ask for those with portcullis_request",
            schema::<FormArguments>(),
        ),
        tool(
            "browser_select_option",
            "Choose the options of a select",
            verb_schema::<ElementArguments>("select"),
        ),
        tool(
            "browser_press_key",
            "Press a key where the focus is: Enter, Tab, Escape, an arrow, PageUp, PageDown, Home, End, ControlOrMeta+a, or a key \
             that changes text: a character, Space, Backspace or Delete. Enter works in a box of one line, on a button and on a \
             link. A key that changes text works in a text box that is empty or holds your own text; elsewhere use browser_type",
            verb_schema::<NoArguments>("press"),
        ),
        reading(
            "browser_wait_for",
            "Wait for some time, or until words are there or gone",
            schema::<WaitArguments>(),
        ),
        tool(
            "browser_tabs",
            "List the tabs, or open, select or close one. With values of the user's in the container it has one tab",
            schema::<TabsArguments>(),
        ),
        tool(
            "browser_handle_dialog",
            "Answer the dialog that the page shows (alert, confirm, prompt). Until then the page does nothing; after a minute \
             the dialog is dismissed",
            schema::<DialogArguments>(),
        ),
        ToolEntry {
            by: CarriedOutBy::Uploads,
            ..tool(
                "browser_file_upload",
                "Give files of the user's to the page that asks for some: click what opens its file chooser first. The user is asked \
                 each time. Needs a task with uploads (portcullis_plan)",
                schema::<UploadArguments>(),
            )
        },
        tool("browser_close", "Close the page and its container", schema::<NoArguments>()),
    ]
}

/// Tools that show what developers see of a page. They bypass the session.
fn observing() -> Vec<ToolEntry> {
    let past = |name, description, schema, by| ToolEntry { by, ..reading(name, description, schema) };
    vec![
        past(
            "browser_take_screenshot",
            "Take a picture of the page. Not once values of the user's are in the container",
            schema::<ScreenshotArguments>(),
            CarriedOutBy::DeveloperTools,
        ),
        past(
            "browser_console_messages",
            "Read what the page wrote to the console. Not once values of the user's are in the container",
            schema::<ConsoleArguments>(),
            CarriedOutBy::DeveloperTools,
        ),
        ToolEntry {
            reads_only: false,
            ..past(
                "browser_resize",
                "Give the page another size. Not once values of the user's are in the container",
                schema::<ResizeArguments>(),
                CarriedOutBy::DeveloperTools,
            )
        },
        ToolEntry {
            reads_only: false,
            ..past(
                "browser_evaluate",
                "Run a script in the page. Not once values of the user's are in the container, and none are put into a container in \
                 which a script ran",
                schema::<ScriptArguments>(),
                CarriedOutBy::Scripts,
            )
        },
        past(
            "browser_network_requests",
            "List what the page asked for. Not once values of the user's are in the container",
            schema::<RequestsArguments>(),
            CarriedOutBy::Network,
        ),
        past(
            "browser_network_request",
            "Show one request. Not once values of the user's are in the container",
            schema::<RequestArguments>(),
            CarriedOutBy::Network,
        ),
    ]
}

/// Tools of playwright-mcp's option `--caps`.
fn on_request() -> Vec<ToolEntry> {
    let check = |name, description, schema| ToolEntry {
        by: CarriedOutBy::Checks,
        ..reading(name, description, schema)
    };
    vec![
        ToolEntry {
            by: CarriedOutBy::Pictures,
            ..tool(
                "browser_mouse_click_xy",
                "Click at a point of the window, as in a picture of it. Not once values of the user's are in the container",
                schema::<MouseClickArguments>(),
            )
        },
        ToolEntry {
            by: CarriedOutBy::Pdf,
            ..tool(
                "browser_pdf_save",
                "Keep the page as a PDF in the user's folder for downloads. You cannot read it",
                schema::<NoArguments>(),
            )
        },
        check(
            "browser_verify_element_visible",
            "Check that the page has an element of this role and name",
            schema::<VerifyElementArguments>(),
        ),
        check(
            "browser_verify_text_visible",
            "Check that the page shows these words",
            schema::<VerifyTextArguments>(),
        ),
        check(
            "browser_verify_list_visible",
            "Check that an element shows these items",
            schema::<VerifyListArguments>(),
        ),
        check(
            "browser_verify_value",
            "Check what a control holds: the text that you typed, a check box, a radio button, or the option of a select",
            schema::<VerifyValueArguments>(),
        ),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::settings::Allowed;
    use serde_json::json;

    #[test]
    fn tools_that_are_not_allowed_are_not_offered() {
        let names = |settings: &GatewaySettings| -> Vec<&str> {
            offered(settings).into_iter().map(|tool| tool.name).collect()
        };
        let plans_uploads = |settings: &GatewaySettings| {
            let plan = offered(settings).into_iter().find(|tool| tool.name == "portcullis_plan").unwrap();
            plan.schema.pointer("/properties/uploads").is_some()
        };
        let mut settings = GatewaySettings::default();
        assert!(names(&settings).contains(&"browser_console_messages") && !plans_uploads(&settings));
        for withheld in
            ["browser_file_upload", "browser_evaluate", "browser_network_requests", "browser_run_code_unsafe"]
        {
            assert!(!names(&settings).contains(&withheld), "{withheld}");
        }
        settings.allowed = Allowed { scripts: true, network: true, files: true };
        assert!(names(&settings).contains(&"browser_evaluate") && plans_uploads(&settings));
        assert!(!names(&settings).contains(&"browser_run_code_unsafe"));
    }

    /// Clients see names, descriptions and schemas, which must not change by accident.
    #[test]
    fn clients_see_the_recorded_catalogue() {
        let tools: Vec<Value> = all()
            .into_iter()
            .map(|tool| json!({ "name": tool.name, "description": tool.description, "schema": tool.schema }))
            .collect();
        let recorded: Value = serde_json::from_str(include_str!("../tests/fixtures/catalogue.json")).unwrap();
        for (tool, recorded) in tools.iter().zip(recorded.as_array().unwrap()) {
            assert_eq!(tool, recorded);
        }
        assert_eq!(Value::from(tools), recorded);
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
