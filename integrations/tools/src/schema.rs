//! The effect of a tool and the roles of its arguments, read from its schema.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::lexicon::{CONTENT, READING, VERBS};
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

impl Effect {
    /// Returns true if somebody else may read or run what such a tool writes. A tool that is not understood may do anything.
    pub const fn reaches_others(self) -> bool {
        !matches!(self, Effect::Read | Effect::Visit | Effect::Local | Effect::Login | Effect::Confirm)
    }
}

/// The role of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The receiver of something.
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
        let mut tool = Tool { name: name.to_owned(), effect, roles };
        if matches!(effect, Effect::Send | Effect::Publish | Effect::Pay | Effect::Give | Effect::Invite) {
            // An effect of this kind reaches somebody, so an argument that is no content names a receiver.
            let unlisted =
                tool.roles.iter_mut().filter(|(key, role)| **role == Role::Content && !is_content(key));
            unlisted.for_each(|(_, role)| *role = Role::Receiver);
        }
        tool
    }
}

/// Returns true if an argument holds words, a time or a place, and nobody who receives something.
fn is_content(key: &str) -> bool {
    name_words(key).iter().any(|word| CONTENT.contains(&word.as_str()))
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
    let listed = |word: &str| VERBS.iter().find(|(verb, _)| *verb == word).map(|(_, effect)| *effect);
    let known: Vec<&String> =
        name.iter().filter(|word| READING.contains(&word.as_str()) || listed(word).is_some()).collect();
    let said = first_effect(description, 3);
    // A tool reads only if its name says so and its description names no effect; `check out` reads nothing.
    let leads_out =
        name.windows(2).any(|pair| matches!(pair, [check, out] if check == "check" && out == "out"));
    let effect = match known.as_slice() {
        _ if leads_out => Effect::Buy,
        [first, ..] if READING.contains(&first.as_str()) => {
            // Its first word alone: the next ones may be nouns, as in `The orders of an account`.
            first_effect(description, 1).unwrap_or(Effect::Read)
        }
        // Of several verbs in a name, the description's decides.
        [first, _, ..] => said.or_else(|| listed(first)).unwrap_or(Effect::Unlisted),
        [first] => listed(first).unwrap_or(Effect::Unlisted),
        [] => said.unwrap_or(Effect::Unlisted),
    };
    let is_about = |any: &[&str]| name.iter().any(|word| any.contains(&word.as_str()));
    match effect {
        Effect::Read if takes(Role::Address) => Effect::Visit,
        // Only an address can be opened without a question.
        Effect::Visit if !takes(Role::Address) => Effect::Unlisted,
        Effect::Send | Effect::Give if takes(Role::Amount) => Effect::Pay,
        Effect::Add if takes(Role::Amount) && takes(Role::Receiver) => Effect::Pay,
        Effect::Change | Effect::Add if takes(Role::Credential) => Effect::Credential,
        Effect::Add | Effect::Destroy if is_about(&["cart", "basket"]) => Effect::Local,
        Effect::Add if takes(Role::Receiver) && takes(Role::Thing) => Effect::Invite,
        Effect::Add if takes(Role::Path) => Effect::Local,
        effect => effect,
    }
}

/// The effect that the first words of a description name: `Refunds a specific order.`
fn first_effect(description: &str, most: usize) -> Option<Effect> {
    let sentence = description.split('.').next().unwrap_or("");
    let listed = |word: &str| VERBS.iter().find(|(verb, _)| *verb == word).map(|(_, effect)| *effect);
    let reads = |word: &str| word == "return" || READING.contains(&word);
    for word in name_words(sentence).into_iter().take(most) {
        let forms = [word.as_str(), word.trim_end_matches('s'), word.strip_suffix("es").unwrap_or(&word)];
        if forms.into_iter().any(reads) {
            return None;
        }
        if let Some(effect) = forms.into_iter().find_map(listed) {
            return Some(effect);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn effect_of(name: &str, description: &str) -> Effect {
        Tool::read(name, description, &json!({})).effect
    }

    #[test]
    fn a_tool_reads_only_if_its_name_says_so_and_its_description_nothing_else() {
        for (name, description) in [
            ("get_mails", "Returns all mails."),
            ("search_products", "Searches for products with filters."),
            ("shop_list_orders", "The orders of the account."),
            ("get_order", "Gets an order."),
        ] {
            assert_eq!(effect_of(name, description), Effect::Read, "{name}");
        }
        for (name, description, effect) in [
            ("get_rid_of", "Deletes an item.", Effect::Destroy),
            ("check_out", "The cart.", Effect::Buy),
            ("return_item", "Returns an item to the shop.", Effect::Refund),
            ("wipe", "Returns a confirmation after the account is wiped.", Effect::Unlisted),
            ("open_ticket", "Opens a ticket.", Effect::Unlisted),
            ("frobnicate", "Does something.", Effect::Unlisted),
        ] {
            assert_eq!(effect_of(name, description), effect, "{name}");
        }
    }

    #[test]
    fn whoever_an_effect_reaches_is_a_receiver() {
        let schema = |key: &str| json!({"properties": {key: {"type": "string"}, "body": {"type": "string"}}});
        for key in ["channel", "room", "whom", "phone_number", "account"] {
            let tool = Tool::read("send_message", "Sends a message.", &schema(key));
            assert_eq!(
                (tool.roles.get(key), tool.roles.get("body")),
                (Some(&Role::Receiver), Some(&Role::Content))
            );
            let tool = Tool::read("get_messages", "Gets messages.", &schema(key));
            assert_eq!(tool.roles.get(key), Some(&Role::Content), "a reading tool reaches nobody");
        }
    }
}
