//! The closed list of the suites' tools: their results or effects, and the roles of their arguments.
//!
//! A tool that is not listed counts as one with an effect, all of whose arguments name the recipient; so does an
//! argument that is not listed.

/// The service that a tool belongs to. Each has an origin of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum App {
    /// The bank.
    Bank,
    /// The files next to the bank.
    Files,
    /// Mail and its contacts.
    Mail,
    /// The calendar.
    Calendar,
    /// Files in the cloud.
    Drive,
    /// The service of a tool that is not listed.
    Other,
}

/// A collection of records in the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collection {
    /// The service that shows it.
    pub app: App,
    /// Its path.
    pub path: &'static [&'static str],
    /// The field that holds a record's name, if it has one.
    pub name: &'static str,
}

const fn collection(app: App, path: &'static [&'static str], name: &'static str) -> Collection {
    Collection { app, path, name }
}

/// The account's number.
const IBAN: Collection = collection(App::Bank, &["bank_account", "iban"], "");
const BALANCE: Collection = collection(App::Bank, &["bank_account", "balance"], "");
const TRANSACTIONS: Collection = collection(App::Bank, &["bank_account", "transactions"], "subject");
/// Scheduled payments.
pub const SCHEDULED: Collection =
    collection(App::Bank, &["bank_account", "scheduled_transactions"], "subject");
const FILES: Collection = collection(App::Files, &["filesystem", "files"], "name");
const PERSON: Collection = collection(App::Bank, &["user_account"], "");
/// Mails, received and sent.
pub const EMAILS: Collection = collection(App::Mail, &["inbox", "emails"], "subject");
/// The user's contacts.
pub const CONTACTS: Collection = collection(App::Mail, &["inbox", "contact_list"], "name");
const TODAY: Collection = collection(App::Calendar, &["calendar", "current_day"], "");
/// Events of the calendar.
pub const EVENTS: Collection = collection(App::Calendar, &["calendar", "events"], "title");
/// Files in the cloud.
pub const DRIVE: Collection = collection(App::Drive, &["cloud_drive", "files"], "filename");

/// The selection of records that a reading tool shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Records with the argument's text in one of the fields.
    Contains(&'static str, &'static [&'static str]),
    /// Records whose field equals the argument.
    Equals(&'static str, &'static str),
    /// Records whose field starts with the argument.
    Starts(&'static str, &'static str),
    /// Records with this text in the field.
    Only(&'static str, &'static str),
}

/// The role of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The recipient.
    Receiver,
    /// The new password of the account.
    Credential,
    /// The id of the thing that is changed, destroyed or given away.
    Object(Collection),
    /// The id of the thing that is added to.
    AddedTo(Collection),
    /// An amount of money.
    Amount,
    /// The account owner's data.
    Setting,
    /// Text, time or place.
    Content,
}

/// The kind of a tool's effect, with the words that ask for it. A missing word costs a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Somebody receives money or text.
    Send,
    /// Somebody gets access to a thing.
    Share,
    /// A thing is created or extended; nothing is lost.
    Add,
    /// A thing changes.
    Change,
    /// Somebody joins a thing.
    Invite,
    /// A thing is deleted.
    Destroy,
}

impl Effect {
    /// The words by which a user asks for it.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Effect::Send => &[
                "send", "mail", "email", "forward", "reply", "answer", "write", "pay", "transfer", "refund",
                "wire", "schedule", "set",
            ],
            Effect::Share => &["share", "send", "give"],
            Effect::Add => &["create", "make", "add", "append", "write", "schedule", "book", "save", "put"],
            Effect::Change => &[
                "change",
                "update",
                "adjust",
                "modify",
                "edit",
                "set",
                "reset",
                "replace",
                "rename",
                "reschedule",
                "move",
                "postpone",
            ],
            Effect::Invite => &["add", "invite", "include"],
            Effect::Destroy => &["delete", "remove", "cancel", "erase", "discard"],
        }
    }
}

/// The behaviour of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// It shows records, and changes nothing.
    Read(Collection, &'static [Filter]),
    /// It has an effect.
    Do(App, Effect, &'static [(&'static str, Role)]),
}

/// A tool by its name; `None` if it is not listed.
pub fn tool(name: &str) -> Option<Deed> {
    use Deed::{Do, Read};
    use Effect::{Add, Change, Destroy, Invite, Send, Share};
    use Filter::{Contains, Equals, Only, Starts};
    use Role::{AddedTo, Amount, Content, Credential, Object, Receiver, Setting};
    Some(match name {
        "get_iban" => Read(IBAN, &[]),
        "get_balance" => Read(BALANCE, &[]),
        "get_most_recent_transactions" => Read(TRANSACTIONS, &[]),
        "get_scheduled_transactions" => Read(SCHEDULED, &[]),
        "get_user_info" => Read(PERSON, &[]),
        "read_file" => Read(FILES, &[Equals("file_path", "name")]),
        "send_money" => Do(
            App::Bank,
            Send,
            &[("recipient", Receiver), ("amount", Amount), ("subject", Content), ("date", Content)],
        ),
        "schedule_transaction" => Do(
            App::Bank,
            Send,
            &[
                ("recipient", Receiver),
                ("amount", Amount),
                ("subject", Content),
                ("date", Content),
                ("recurring", Content),
            ],
        ),
        "update_scheduled_transaction" => Do(
            App::Bank,
            Change,
            &[
                ("id", Object(SCHEDULED)),
                ("recipient", Receiver),
                ("amount", Amount),
                ("subject", Content),
                ("date", Content),
                ("recurring", Content),
            ],
        ),
        "update_password" => Do(App::Bank, Change, &[("password", Credential)]),
        "update_user_info" => Do(
            App::Bank,
            Change,
            &[("first_name", Setting), ("last_name", Setting), ("street", Setting), ("city", Setting)],
        ),
        "get_unread_emails" => Read(EMAILS, &[Only("read", "false"), Only("status", "received")]),
        "get_sent_emails" => Read(EMAILS, &[Only("status", "sent")]),
        "get_received_emails" => Read(EMAILS, &[Only("status", "received")]),
        "get_draft_emails" => Read(EMAILS, &[Only("status", "draft")]),
        "search_emails" => {
            Read(EMAILS, &[Contains("query", &["subject", "body"]), Equals("sender", "sender")])
        }
        "search_contacts_by_name" => Read(CONTACTS, &[Contains("query", &["name"])]),
        "search_contacts_by_email" => Read(CONTACTS, &[Contains("query", &["email"])]),
        "send_email" => Do(
            App::Mail,
            Send,
            &[
                ("recipients", Receiver),
                ("cc", Receiver),
                ("bcc", Receiver),
                ("subject", Content),
                ("body", Content),
                ("attachments", Content),
                ("file_id", Object(DRIVE)),
            ],
        ),
        "delete_email" => Do(App::Mail, Destroy, &[("email_id", Object(EMAILS))]),
        "get_current_day" => Read(TODAY, &[]),
        "search_calendar_events" => {
            Read(EVENTS, &[Contains("query", &["title", "description"]), Starts("date", "start_time")])
        }
        "get_day_calendar_events" => Read(EVENTS, &[Starts("day", "start_time")]),
        "create_calendar_event" => Do(
            App::Calendar,
            Add,
            &[
                ("participants", Receiver),
                ("title", Content),
                ("description", Content),
                ("location", Content),
                ("start_time", Content),
                ("end_time", Content),
            ],
        ),
        "cancel_calendar_event" => Do(App::Calendar, Destroy, &[("event_id", Object(EVENTS))]),
        "reschedule_calendar_event" => Do(
            App::Calendar,
            Change,
            &[("event_id", Object(EVENTS)), ("new_start_time", Content), ("new_end_time", Content)],
        ),
        "add_calendar_event_participants" => {
            Do(App::Calendar, Invite, &[("event_id", Object(EVENTS)), ("participants", Receiver)])
        }
        "list_files" => Read(DRIVE, &[]),
        "search_files" => Read(DRIVE, &[Contains("query", &["content"])]),
        "search_files_by_filename" => Read(DRIVE, &[Contains("filename", &["filename"])]),
        "get_file_by_id" => Read(DRIVE, &[Equals("file_id", "id_")]),
        "create_file" => Do(App::Drive, Add, &[("filename", Content), ("content", Content)]),
        "append_to_file" => Do(App::Drive, Add, &[("file_id", AddedTo(DRIVE)), ("content", Content)]),
        "delete_file" => Do(App::Drive, Destroy, &[("file_id", Object(DRIVE))]),
        "share_file" => {
            Do(App::Drive, Share, &[("file_id", Object(DRIVE)), ("email", Receiver), ("permission", Content)])
        }
        _ => return None,
    })
}
