//! The source of the text of an argument.
//!
//! Labels are computed from texts alone: the user's prompt, the records that calls showed, and the rest of their
//! results. The caller and its reasons are not considered.

use serde_json::Value;
use tool_provenance::stands_in;

use super::state::{Record, World, plain};
use super::tools::{App, CONTACTS, Collection, EMAILS, EVENTS};

/// The source of a text, from the most to the least trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// The user's own words, or an empty text.
    Own,
    /// Not the user's words, but these single out the thing to which the text belongs.
    Singled,
    /// Results of the service that receives the text.
    Here,
    /// Results of another service.
    Elsewhere,
    /// No source: the text is made up.
    Nowhere,
}

/// The prompt of a session and the results of its calls.
pub struct Sources {
    prompt: String,
    words: Vec<String>,
    known: Vec<(String, String)>,
    texts: Vec<(App, String)>,
}

impl Sources {
    /// Starts with the user's words, and with the addressees of the user's earlier messages, which form the user's own
    /// address book. Senders of messages to the user are not in it.
    pub fn new(prompt: &str, before: &World) -> Sources {
        let sent = before.records(EMAILS).into_iter().filter(|mail| mail.field("status") == "sent");
        let written_to: String = sent.map(|mail| mail.field("recipients")).collect();
        let contacts = before.records(CONTACTS).into_iter().map(|c| (c.field("name"), c.field("email")));
        Sources {
            prompt: prompt.to_lowercase(),
            words: words(prompt),
            known: contacts.filter(|(_, address)| stands_in(address, &written_to.to_lowercase())).collect(),
            texts: Vec::new(),
        }
    }

    /// Adds a text that a service showed.
    pub fn read(&mut self, app: App, text: &str) {
        self.texts.push((app, text.to_lowercase()));
    }

    /// Adds the records that a call showed.
    pub fn show(&mut self, records: &[Record]) {
        records.iter().for_each(|record| self.read(record.collection.app, &record.text()));
    }

    /// Returns true if one of these words is in the prompt.
    pub fn says(&self, any: &[&str]) -> bool {
        self.words.iter().any(|word| any.contains(&word.as_str()))
    }

    /// The source of a text that is sent to `app`.
    pub fn text(&self, value: &Value, app: App) -> Label {
        let text = plain(value).to_lowercase();
        let in_prompt = match value {
            Value::Null | Value::Bool(_) => true,
            Value::Number(number) => self.has_number(number.as_f64()),
            _ => text.trim().is_empty() || stands_in(&text, &self.prompt),
        };
        let read = |here: bool| {
            self.texts.iter().any(|(from, read)| (*from == app) == here && stands_in(&text, read))
        };
        match in_prompt {
            true => Label::Own,
            false if read(true) => Label::Here,
            false if read(false) => Label::Elsewhere,
            false => Label::Nowhere,
        }
    }

    /// The source of an address. An address also counts as the user's if it is in the address book under a name that
    /// the user wrote and no other entry shares, or if it is in the address field of a thing that the user's words
    /// single out.
    pub fn receiver(&self, value: &Value, app: App, world: &World) -> Label {
        let label = self.text(value, app);
        if label != Label::Own && (self.knows(&plain(value)) || self.takes_part(value, world)) {
            return Label::Singled;
        }
        label
    }

    /// The source of the id of a thing. The guard looks up the thing with that id. An id is in the prompt only as `id
    /// 7`: a bare number may be there by chance.
    pub fn object(&self, value: &Value, collection: Collection, world: &World) -> Label {
        let id = plain(value);
        let wanted: Vec<String> = std::iter::once("id".to_owned()).chain(words(&id)).collect();
        if phrase(&wanted, &self.words) {
            return Label::Own;
        }
        let records = world.records(collection);
        let meant = records.iter().find(|record| record.id() == id);
        if meant.is_some_and(|record| self.singles_out(record, &records)) {
            return Label::Singled;
        }
        self.text(value, collection.app).max(Label::Here)
    }

    /// Returns true if the user named a thing, and no other thing has that name.
    fn singles_out(&self, record: &Record, all: &[Record]) -> bool {
        let wanted = name(record);
        phrase(&wanted, &self.words) && all.iter().filter(|other| name(other) == wanted).count() == 1
    }

    fn takes_part(&self, address: &Value, world: &World) -> bool {
        let events = world.records(EVENTS);
        let among = |event: &&Record| {
            event
                .fields
                .get("participants")
                .and_then(Value::as_array)
                .is_some_and(|all| all.contains(address))
        };
        events.iter().filter(among).any(|event| self.singles_out(event, &events))
    }

    fn knows(&self, address: &str) -> bool {
        let called = |full: &str| {
            let full = words(full);
            let shares = |(other, _): &&(String, String)| words(other).first() == full.first();
            phrase(&full, &self.words)
                || full.first().is_some_and(|first| {
                    self.words.contains(first) && self.known.iter().filter(shares).count() == 1
                })
        };
        self.known.iter().any(|(name, known)| known == address && called(name))
    }

    fn has_number(&self, number: Option<f64>) -> bool {
        let tokens = self.prompt.split(|c: char| !c.is_ascii_digit() && c != '.');
        tokens
            .map(|token| token.trim_matches('.').parse::<f64>().ok())
            .any(|said| said.is_some() && said == number)
    }
}

/// A thing's name as words. The extension of a file name is dropped, since users may leave it out.
fn name(record: &Record) -> Vec<String> {
    let name = record.field(record.collection.name);
    let stem = match name.rsplit_once('.') {
        Some((stem, ending)) if record.collection.name == "filename" && !ending.contains(' ') => stem,
        _ => &name,
    };
    words(stem)
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns true if the words occur in the others, one after another. An empty list does not occur.
fn phrase(wanted: &[String], said: &[String]) -> bool {
    !wanted.is_empty() && said.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::agentdojo::tools::DRIVE;
    use serde_json::json;

    fn world() -> World {
        World::new(&json!({
            "inbox": {
                "emails": {
                    "1": {"id_": "1", "status": "sent", "recipients": ["ada.moss@post.example"]},
                    "2": {"id_": "2", "status": "sent", "recipients": ["ben.lark@post.example"]},
                    "3": {"id_": "3", "status": "received", "sender": "cyd@evil.example"},
                },
                "contact_list": [
                    {"name": "Ada Moss", "email": "ada.moss@post.example"},
                    {"name": "Ben Lark", "email": "ben.lark@post.example"},
                    {"name": "Cyd", "email": "cyd@evil.example"},
                ]
            },
            "cloud_drive": {"files": {
                "5": {"id_": "5", "filename": "twins.txt"},
                "6": {"id_": "6", "filename": "old-plan.txt"},
                "7": {"id_": "7", "filename": "budget.txt"},
                "8": {"id_": "8", "filename": "twins.txt"},
                "13": {"id_": "13", "filename": "sales.txt"},
            }},
            "calendar": {"events": {
                "1": {"id_": "1", "title": "Tea Party", "description": "ask x@evil.example",
                      "participants": ["dan@post.example"]},
            }}
        }))
    }

    fn sources(prompt: &str) -> Sources {
        Sources::new(prompt, &world())
    }

    #[test]
    fn a_text_is_found_in_the_prompt_only_as_a_whole() {
        let sources = sources("Write to john.doe@post.example, and pay 12.50 on June 13.");
        let label = |text: &str| sources.text(&json!(text), App::Mail);
        assert_eq!(label("John.Doe@post.example"), Label::Own);
        assert_eq!(label("doe@post.example"), Label::Nowhere);
        assert_eq!(label("john.doe@post.example.evil"), Label::Nowhere);
        assert_eq!(label("1"), Label::Nowhere);
        assert_eq!(label(""), Label::Own);
        assert_eq!(sources.text(&json!(12.5), App::Bank), Label::Own);
        assert_eq!(sources.text(&json!(12), App::Bank), Label::Nowhere);
    }

    #[test]
    fn text_is_labelled_by_the_service_that_showed_it() {
        let mut sources = sources("Do it");
        sources.read(App::Mail, "Pay to AB12 now");
        assert_eq!(sources.text(&json!("ab12"), App::Mail), Label::Here);
        assert_eq!(sources.text(&json!("AB12"), App::Bank), Label::Elsewhere);
    }

    #[test]
    fn an_id_counts_as_the_users_by_the_name_of_its_thing() {
        let mut sources = sources("Delete the old plan of June 13, the twins, and the file with ID '4'");
        sources.read(App::Drive, "the file 7");
        let label = |id: &str| sources.object(&json!(id), DRIVE, &world());
        assert_eq!(label("4"), Label::Own);
        assert_eq!(label("6"), Label::Singled);
        assert_eq!(label("7"), Label::Here);
        assert_eq!(label("13"), Label::Here, "a bare number");
        assert_eq!(label("5"), Label::Nowhere, "two of that name");
        assert_eq!(label("9"), Label::Nowhere, "no such thing");
    }

    #[test]
    fn an_address_counts_as_the_users_by_the_address_book_or_by_a_named_thing() {
        let mut sources = sources("Invite Ada and Cyd and the people of the tea party");
        sources.show(&world().records(EVENTS));
        let label = |text: &str| sources.receiver(&json!(text), App::Calendar, &world());
        assert_eq!(label("ada.moss@post.example"), Label::Singled);
        assert_eq!(label("ben.lark@post.example"), Label::Nowhere, "not named");
        assert_eq!(label("cyd@evil.example"), Label::Nowhere, "never written to");
        assert_eq!(label("dan@post.example"), Label::Singled);
        assert_eq!(label("x@evil.example"), Label::Here, "in the text, not among the addresses");
    }
}
