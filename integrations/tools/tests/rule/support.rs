//! Tools as a server lists them, and a task in which they show something.

use serde_json::{Map, Value, json};
use tool_provenance::{Covered, Provenance, Tool};

/// Tools as a server lists them.
fn tools() -> Vec<Tool> {
    let strings = |names: &[(&str, &str)]| -> Value {
        let all: Map<String, Value> = names
            .iter()
            .map(|(name, said)| ((*name).to_owned(), json!({"type": "string", "description": said})))
            .collect();
        json!({ "properties": all })
    };
    vec![
        Tool::read("list_mails", "Returns all mails in the inbox.", &strings(&[])),
        Tool::read(
            "send_mail",
            "Sends a mail.",
            &strings(&[("recipients", "Addresses of the recipients"), ("body", "The text")]),
        ),
        Tool::read("open_page", "Visits a web address.", &strings(&[("url", "The address")])),
        Tool::read("read_file", "Reads a local file.", &strings(&[("path", "The path of the file")])),
        Tool::read("search_shop", "Searches for products.", &strings(&[("query", "Words to search for")])),
        Tool::read("checkout", "Buys products from the cart.", &strings(&[("product_ids", "The products")])),
        Tool::read("repo_info", "Gets the facts of a repository.", &strings(&[("repo", "The repository")])),
        Tool::read(
            "invite_collaborator",
            "Invites somebody to a repository.",
            &strings(&[
                ("repo_name", "Name of the repository"),
                ("collaborator_email", "Address of the user to invite"),
            ]),
        ),
        Tool::read(
            "transfer_money",
            "Sends money.",
            &strings(&[("recipient", "IBAN of the recipient"), ("amount", "Amount to send")]),
        ),
        Tool::read(
            "set_password",
            "Updates the account's password.",
            &strings(&[("password", "New password")]),
        ),
        Tool::read(
            "save_page",
            "Downloads a page to a folder.",
            &strings(&[("url", "The address"), ("save_dir", "The folder")]),
        ),
        Tool::read(
            "send_message",
            "Sends a message.",
            &strings(&[("channel", "The channel"), ("text", "The text")]),
        ),
        Tool::read("list_files", "Retrieves all files.", &strings(&[])),
        Tool::read(
            "search_files",
            "Searches for files by name.",
            &strings(&[("query", "A part of the name")]),
        ),
        Tool::read("delete_file", "Deletes a file.", &strings(&[("file_id", "The id of the file")])),
        Tool::read(
            "share_file",
            "Shares a file with a user.",
            &strings(&[("file_id", "The id of the file"), ("email", "Address of the user, new reader")]),
        ),
        Tool::read(
            "create_file",
            "Creates a file.",
            &strings(&[("filename", "The name of the file"), ("content", "Its text")]),
        ),
        Tool::read("get_comments", "Gets comments.", &strings(&[("query", "Words")])),
        Tool::read("search_events", "Searches for events.", &strings(&[("query", "Words of the title")])),
        Tool::read("cancel_event", "Cancels an event.", &strings(&[("event_id", "The id of the event")])),
        Tool::read("get_channels", "Gets the channels.", &strings(&[("query", "A part of the name")])),
        Tool::read("read_page", "Reads a web page.", &strings(&[("url", "The address")])),
        Tool::read("frobnicate", "Does something.", &strings(&[("thing", "Something")])),
    ]
}

/// A task and what was shown in it.
pub struct Task(pub Provenance);

impl Task {
    pub fn of(prompt: &str) -> Task {
        Task(Provenance::new(prompt, tools()))
    }

    pub fn showing(mut self, tool: &str, arguments: Value, result: &Value) -> Task {
        self.0.note(tool, arguments.as_object().unwrap(), &result.to_string());
        self
    }

    pub fn is(mut self, tool: &str, arguments: Value) -> Covered {
        self.0.covers(tool, arguments.as_object().unwrap())
    }
}

/// A mail to the user.
pub fn mail(sender: &str, subject: &str, body: &str) -> Value {
    json!({"sender": sender, "recipients": ["emma@home.example"], "subject": subject, "body": body})
}

/// The call is covered.
pub const YES: Covered = Covered::Yes;
