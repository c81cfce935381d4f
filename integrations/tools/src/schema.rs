//! What a tool does, and what its arguments are, read from its schema.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::lexicon::{READING, VERBS};
use crate::text::name_words;

/// The effect of a tool, from its name, the first sentence of its description and the names of its parameters. What is not understood
/// is [`Effect::Unlisted`], of which the user is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It reads.
    Read,
    /// It opens an address, which may act.
    Visit,
    /// It changes only what the user has on this machine or in a cart, and can be undone.
    Local,
    /// It sends a message.
    Send,
    /// It writes where others read.
    Publish,
    /// It sends values to a page.
    Submit,
    /// It pays.
    Pay,
    /// It buys.
    Buy,
    /// It gives a purchase back.
    Refund,
    /// It gives something away.
    Give,
    /// It lets somebody in.
    Invite,
    /// It deletes.
    Destroy,
    /// It writes to a shared place.
    Push,
    /// It changes something.
    Change,
    /// It sets a mark, such as a star.
    Mark,
    /// It makes something new.
    Add,
    /// It sets a password or a key.
    Credential,
    /// It logs in.
    Login,
    /// It confirms what is pending.
    Confirm,
    /// It is not understood.
    Unlisted,
}

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Who receives something.
    Receiver,
    /// A web address.
    Address,
    /// A password or a key.
    Credential,
    /// A one-time code.
    Code,
    /// A path in a file system.
    Path,
    /// An amount or a number of things.
    Amount,
    /// The thing that the tool acts on.
    Thing,
    /// Values for a page.
    Value,
    /// Text, time or place.
    Content,
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its effect.
    pub effect: Effect,
    /// Its arguments.
    pub roles: BTreeMap<String, Role>,
}

impl Tool {
    /// Reads a tool from its name, its description and the JSON schema of its parameters.
    pub fn read(name: &str, description: &str, parameters: &Value) -> Tool {
        let description = description.to_lowercase();
        let empty = serde_json::Map::new();
        let properties = parameters.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let roles: BTreeMap<String, Role> = properties
            .iter()
            .map(|(key, value)| {
                let said = value.get("description").and_then(Value::as_str).unwrap_or("").to_lowercase();
                (key.clone(), role(key, &said))
            })
            .collect();
        let effect = effect(&name_words(name), &description, &roles);
        Tool { name: name.to_owned(), effect, roles }
    }
}

fn role(key: &str, said: &str) -> Role {
    const PEOPLE: &[&str] = &[
        "recipient",
        "recipients",
        "participant",
        "participants",
        "collaborator",
        "collaborators",
        "invitee",
        "attendees",
        "receiver",
        "payee",
        "cc",
        "bcc",
        "to",
    ];
    let words = name_words(key);
    let about = name_words(said);
    let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
    let says = |any: &[&str]| words.iter().chain(&about).any(|word| any.contains(&word.as_str()));
    let last = words.last().map(String::as_str).unwrap_or("");
    let names_thing = ["repository", "file", "event", "channel", "list", "folder", "document", "playlist"]
        .iter()
        .any(|thing| said.contains(&format!("name of the {thing}")));
    if has(PEOPLE) || has(&["email", "username", "user"]) && says(&["receiving", "invite", "new", "owner"]) {
        Role::Receiver
    } else if has(&["url", "link", "website"]) {
        Role::Address
    } else if has(&["password", "key", "token", "secret", "pin"]) {
        Role::Credential
    } else if has(&["otp", "code"]) && said.contains("one") && said.contains("time") {
        Role::Code
    } else if has(&["path", "dir", "directory", "folder"]) {
        Role::Path
    } else if has(&["amount", "quantity", "price"]) {
        Role::Amount
    } else if matches!(last, "id" | "ids") || last == "name" && (said.contains("full") || names_thing) {
        Role::Thing
    } else if has(&["value", "values"]) {
        Role::Value
    } else {
        Role::Content
    }
}

fn effect(name: &[String], description: &str, roles: &BTreeMap<String, Role>) -> Effect {
    let takes = |role: Role| roles.values().any(|own| *own == role);
    let is_reading = |word: &str| READING.contains(&word);
    let listed = |word: &str| VERBS.iter().find(|(verb, _)| *verb == word).map(|(_, effect)| *effect);
    let known: Vec<&String> = name.iter().filter(|word| is_reading(word) || listed(word).is_some()).collect();
    let said = first_verb(description);
    let verb = match known.as_slice() {
        [first, ..] if is_reading(first) => Some(first.as_str()),
        // Of several verbs in a name, the description's decides.
        [_, _, ..] if said.as_deref().is_some_and(|said| listed(said).is_some()) => said.as_deref(),
        [first, ..] => Some(first.as_str()),
        [] => said.as_deref(),
    };
    let effect = match verb {
        Some(verb) if is_reading(verb) => Effect::Read,
        Some(verb) => listed(verb).unwrap_or(Effect::Unlisted),
        None => Effect::Unlisted,
    };
    let is_about = |any: &[&str]| name.iter().any(|word| any.contains(&word.as_str()));
    match effect {
        Effect::Read if takes(Role::Address) => Effect::Visit,
        Effect::Send | Effect::Give if takes(Role::Amount) => Effect::Pay,
        Effect::Change | Effect::Add if takes(Role::Credential) => Effect::Credential,
        Effect::Add | Effect::Destroy if is_about(&["cart", "basket"]) => Effect::Local,
        Effect::Add if takes(Role::Receiver) && takes(Role::Thing) => Effect::Invite,
        Effect::Add if takes(Role::Path) => Effect::Local,
        effect => effect,
    }
}

/// The first verb that is known among the first words of a description: `Refunds a specific order.`
fn first_verb(description: &str) -> Option<String> {
    let sentence = description.split('.').next().unwrap_or("");
    let known = |word: &str| READING.contains(&word) || VERBS.iter().any(|(verb, _)| *verb == word);
    name_words(sentence).into_iter().take(3).find_map(|word| {
        let bare = [word.as_str(), word.trim_end_matches('s'), word.strip_suffix("es").unwrap_or(&word)];
        bare.into_iter().find(|word| known(word)).map(str::to_owned)
    })
}
