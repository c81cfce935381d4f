//! The page of general rules: words of tools, words of users, and which words of a user ask for which effect. It names no service, no
//! product and no person.

use crate::schema::Effect;

/// Verbs of tools that only read.
pub(crate) const READING: &[&str] = &[
    "get",
    "list",
    "search",
    "view",
    "read",
    "find",
    "show",
    "fetch",
    "lookup",
    "inspect",
    "check",
    "total",
    "count",
    "describe",
    "browse",
    "visit",
    "calculate",
    "info",
    "status",
    "details",
    "history",
];

/// Words of arguments that hold words, a time or a place.
pub(crate) const CONTENT: &[&str] = &[
    "subject",
    "body",
    "text",
    "message",
    "title",
    "description",
    "content",
    "comment",
    "note",
    "memo",
    "reason",
    "date",
    "time",
    "start",
    "end",
    "day",
    "location",
    "attachment",
    "attachments",
    "format",
    "type",
    "permission",
    "recurring",
    "language",
    "priority",
];

/// Verbs of tools, with the effect that each names.
pub(crate) const VERBS: &[(&str, Effect)] = &[
    ("open", Effect::Visit),
    ("navigate", Effect::Visit),
    ("goto", Effect::Visit),
    ("send", Effect::Send),
    ("email", Effect::Send),
    ("mail", Effect::Send),
    ("reply", Effect::Send),
    ("forward", Effect::Send),
    ("message", Effect::Send),
    ("post", Effect::Publish),
    ("comment", Effect::Publish),
    ("issue", Effect::Publish),
    ("publish", Effect::Publish),
    ("propose", Effect::Publish),
    ("input", Effect::Submit),
    ("submit", Effect::Submit),
    ("fill", Effect::Submit),
    ("register", Effect::Submit),
    ("subscribe", Effect::Submit),
    ("pay", Effect::Pay),
    ("wire", Effect::Pay),
    ("checkout", Effect::Buy),
    ("buy", Effect::Buy),
    ("purchase", Effect::Buy),
    ("order", Effect::Buy),
    ("book", Effect::Buy),
    ("reserve", Effect::Buy),
    ("refund", Effect::Refund),
    ("return", Effect::Refund),
    ("share", Effect::Give),
    ("transfer", Effect::Give),
    ("give", Effect::Give),
    ("grant", Effect::Give),
    ("invite", Effect::Invite),
    ("delete", Effect::Destroy),
    ("remove", Effect::Destroy),
    ("clear", Effect::Destroy),
    ("cancel", Effect::Destroy),
    ("erase", Effect::Destroy),
    ("add", Effect::Add),
    ("create", Effect::Add),
    ("append", Effect::Add),
    ("write", Effect::Add),
    ("schedule", Effect::Add),
    ("save", Effect::Local),
    ("download", Effect::Local),
    ("copy", Effect::Local),
    ("clone", Effect::Local),
    ("pull", Effect::Local),
    ("move", Effect::Local),
    ("rename", Effect::Local),
    ("upload", Effect::Push),
    ("push", Effect::Push),
    ("sync", Effect::Push),
    ("update", Effect::Change),
    ("change", Effect::Change),
    ("set", Effect::Change),
    ("reset", Effect::Change),
    ("edit", Effect::Change),
    ("reschedule", Effect::Change),
    ("star", Effect::Mark),
    ("unstar", Effect::Mark),
    ("like", Effect::Mark),
    ("follow", Effect::Mark),
    ("unfollow", Effect::Mark),
    ("login", Effect::Login),
    ("verify", Effect::Confirm),
    ("confirm", Effect::Confirm),
];

/// The words by which a user asks for an effect; none where the tool's own verb has to be the user's.
pub(crate) fn asked_by(effect: Effect) -> Option<&'static [&'static str]> {
    Some(match effect {
        Effect::Send => &["send", "mail", "email", "forward", "reply", "write", "share"],
        Effect::Publish => &["post", "comment", "publish", "open", "file", "propose", "report"],
        Effect::Pay => {
            &["pay", "transfer", "wire", "send", "refund", "deposit", "settle", "schedule", "scheduled"]
        }
        Effect::Buy => &["buy", "rebuy", "order", "purchase", "book", "reserve"],
        Effect::Refund => &["refund", "return", "cancel"],
        Effect::Give => &["transfer", "share", "give", "hand", "send"],
        Effect::Invite => &["invite", "add", "include"],
        Effect::Destroy => &["delete", "remove", "cancel", "clear", "erase", "discard", "drop"],
        Effect::Push => &["upload", "push", "sync", "update", "commit", "publish", "same"],
        Effect::Change => &[
            "change",
            "update",
            "edit",
            "set",
            "reset",
            "rename",
            "adjust",
            "modify",
            "reschedule",
            "move",
            "postpone",
        ],
        Effect::Add => {
            &["create", "add", "make", "append", "write", "schedule", "book", "put", "save", "upload"]
        }
        _ => return None,
    })
}

/// Words by which a user says that somebody's message is to be followed.
pub(crate) const FOLLOWING: &[&str] =
    &["follow", "fulfill", "fulfil", "complete", "address", "achieve", "help", "accept", "do"];

/// Words by which a user says that something in a message is to be used.
pub(crate) const USING: &[&str] = &["use", "apply", "find", "check", "see"];

/// Words for a message.
pub(crate) const MESSAGES: &[&str] =
    &["email", "mail", "message", "inbox", "issue", "issues", "letter", "request", "tasks"];

/// Fields of a record that hold what others wrote.
pub(crate) const BY_OTHERS: &[&str] =
    &["reviews", "comments", "issues", "issue", "replies", "messages", "body", "content", "text", "message"];

/// Fields that name the author of a message.
pub(crate) const AUTHORS: &[&str] = &["sender", "from", "author", "posted_by", "created_by", "opened_by"];

/// Fields that hold the words of a message.
pub(crate) const BODIES: &[&str] =
    &["body", "content", "text", "message", "comment", "comment_body", "description"];

/// Fields that hold addresses as facts of the service.
pub(crate) const ADDRESSES: &[&str] = &[
    "sender",
    "from",
    "to",
    "recipients",
    "cc",
    "bcc",
    "participants",
    "attendees",
    "collaborators",
    "pending collaborators",
    "members",
    "email",
    "stars",
    "owner_email",
];

/// Fields that hold the members of a thing, whom a user may mean together.
pub(crate) const GROUPS: &[&str] =
    &["participants", "attendees", "guests", "invitees", "collaborators", "members", "recipients"];

/// Fields with the title of a message or the name of a thing.
pub(crate) const TITLES: &[&str] = &["subject", "title", "name", "filename", "product_name"];

/// Words of a tool's name behind which its kind of thing does not stand.
pub(crate) const JOINING: &[&str] = &["by", "in", "of", "from", "with", "for", "to", "on", "at"];

/// Words before the number of a thing.
pub(crate) const NUMBERING: &[&str] = &["id", "ids", "number", "no", "nr"];

/// Words before the beginning of a name.
pub(crate) const BEGINNING: &[&str] = &["starting with ", "starts with ", "beginning with ", "begins with "];

/// Folders of a machine that hold what decides who may enter it.
pub(crate) const SPECIAL_FOLDERS: &[&str] = &["system", "etc", "bin", "usr", "boot", "root", "sbin", "lib"];

/// Words that describe nothing.
pub(crate) const EMPTY: &[&str] = &[
    "a",
    "an",
    "the",
    "of",
    "to",
    "for",
    "my",
    "me",
    "i",
    "you",
    "please",
    "can",
    "could",
    "would",
    "it",
    "is",
    "are",
    "be",
    "was",
    "were",
    "and",
    "or",
    "if",
    "in",
    "on",
    "at",
    "from",
    "by",
    "with",
    "as",
    "that",
    "this",
    "these",
    "those",
    "all",
    "any",
    "some",
    "one",
    "two",
    "three",
    "have",
    "has",
    "had",
    "do",
    "does",
    "not",
    "no",
    "than",
    "them",
    "they",
    "there",
    "their",
    "his",
    "her",
    "he",
    "she",
    "its",
    "our",
    "your",
    "into",
    "out",
    "up",
    "so",
    "then",
    "make",
    "sure",
    "find",
    "use",
    "using",
    "get",
    "give",
    "also",
    "just",
    "only",
    "new",
    "want",
    "need",
    "like",
    "really",
    "much",
    "possible",
    "still",
    "item",
    "items",
    "product",
    "products",
    "order",
    "orders",
    "purchase",
    "purchased",
    "purchases",
    "buy",
    "bought",
    "buying",
    "rebuy",
    "price",
    "total",
    "cost",
    "rating",
    "higher",
    "lower",
    "more",
    "less",
    "above",
    "below",
    "last",
    "month",
    "today",
    "yesterday",
    "time",
    "current",
    "day",
    "check",
    "account",
    "accounts",
    "discount",
    "discounts",
    "available",
    "email",
    "emails",
    "mail",
    "inbox",
    "invoice",
    "invoices",
    "pair",
    "cheap",
    "cheapest",
    "different",
    "exceed",
    "spend",
    "apply",
    "applied",
    "send",
    "sent",
    "request",
    "refund",
    "save",
    "sum",
    "payment",
    "payments",
    "found",
    "after",
    "looks",
    "urgent",
    "fulfill",
    "previous",
    "old",
    "large",
    "better",
    "remember",
    "compare",
    "expensive",
    "set",
    "kit",
];
