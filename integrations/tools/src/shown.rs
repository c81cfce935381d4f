//! The results of calls are kept here as records: messages with their authors, things with their fields, files, and the addresses that
//! services state as facts.
//!
//! A record is known by its shape, whatever the tool is called. What others wrote into it (a review, an issue, the body of a message) is
//! kept apart from its fields.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::lexicon::{ADDRESSES, AUTHORS, BODIES, BY_OTHERS, JOINING, TITLES};
use crate::text::{addresses, name_words, stem};

/// The reference of a call to a thing. A number has the kind of its thing, since an event 7 is another thing than a file 7. Other ids are
/// unique, and have none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The kind, such as `file`; empty for ids that are no numbers.
    kind: String,
    /// The id.
    pub id: String,
}

impl Key {
    pub fn new(kind: &str, id: &str) -> Key {
        let kind = if is_number(id) { kind.to_owned() } else { String::new() };
        Key { kind, id: id.to_owned() }
    }

    /// A name with an owner.
    pub fn named(name: &str) -> Key {
        Key { kind: String::new(), id: name.to_owned() }
    }

    /// Returns true if the id is a number, which may stand in a text by chance.
    pub fn is_number(&self) -> bool {
        is_number(&self.id)
    }
}

fn is_number(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}

/// The kind of the things that a tool shows or acts on, from its name: `search_calendar_events` shows an `event`, `get_file_by_id` a
/// `file`.
pub(crate) fn kind_of(tool: &str) -> String {
    let words = name_words(tool);
    let own = words.iter().take_while(|word| !JOINING.contains(&word.as_str()));
    own.last().map(|word| stem(word).to_owned()).unwrap_or_default()
}

/// A thing as services state it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thing {
    /// The fields of every record with its id, without what others wrote. A record may be about another thing, as an order about a product.
    pub fields: Map<String, Value>,
    /// The titles of its own record.
    pub titles: BTreeSet<String>,
    /// True if two different things were shown under one id.
    pub is_unclear: bool,
}

impl Thing {
    fn add(&mut self, fields: &Map<String, Value>, is_own: bool) {
        self.fields.extend(fields.clone());
        if is_own {
            let titles = titles(fields);
            self.is_unclear |= !self.titles.is_empty() && self.titles != titles;
            self.titles.extend(titles);
        }
    }
}

/// The titles in a record.
fn titles(fields: &Map<String, Value>) -> BTreeSet<String> {
    TITLES.iter().filter_map(|title| text(fields, title)).collect()
}

/// A field of a record that somebody wrote who need not be the service.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// The name of the field.
    pub field: String,
    /// The titles of the record.
    pub titles: BTreeSet<String>,
    /// The words.
    pub text: String,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Letter {
    /// Its author, as the service states it.
    pub author: String,
    /// Its title.
    pub title: String,
    /// Its words.
    pub text: String,
    /// The addresses that it was sent to.
    pub sent_to: BTreeSet<String>,
}

/// Everything that was shown in a task.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    pub letters: Vec<Letter>,
    pub things: BTreeMap<Key, Thing>,
    /// Names in lists that no argument narrowed, so that each list is whole, with the kind of thing in the list.
    pub listed: BTreeSet<(String, String)>,
    /// Things that the task's own calls made.
    pub made: BTreeSet<Key>,
    pub files: BTreeMap<String, String>,
    /// The texts of pages, with their hosts.
    pub pages: Vec<(String, String)>,
    /// The fields of records that others wrote.
    pub by_others: Vec<Written>,
    /// Addresses that services state as facts.
    pub book: BTreeSet<String>,
    /// The addresses and names of the account that is logged in.
    pub own: BTreeSet<String>,
    /// Names with an owner, where the owner is the account that is logged in.
    pub owned: BTreeSet<String>,
}

impl Shown {
    /// Takes the records out of a result, whose things are of a kind.
    pub fn note(&mut self, result: &Value, kind: &str) {
        self.walk(result, "", kind);
    }

    /// Notes the names in a whole list: its texts, or the names of its records.
    pub fn note_list(&mut self, result: &Value, kind: &str) {
        let Value::Array(items) = result else { return };
        let name_of = |fields: &Map<String, Value>| TITLES.iter().find_map(|title| text(fields, title));
        let names = items.iter().filter_map(|item| match item {
            Value::String(name) => Some(name.clone()),
            Value::Object(fields) => name_of(fields),
            _ => None,
        });
        self.listed.extend(names.map(|name| (kind.to_owned(), name)));
    }

    /// Notes the one thing that a call made, by its own id.
    pub fn note_made(&mut self, result: &Value, kind: &str) {
        let one = match result {
            Value::Array(items) => items.first().filter(|_| items.len() == 1),
            other => Some(other),
        };
        let Some(Value::Object(fields)) = one else { return };
        let low = fields.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
        self.made.extend(own_keys(&low, kind));
    }

    /// Walks lists and records. A text is never read as a record: its author could write one.
    fn walk(&mut self, value: &Value, key: &str, kind: &str) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.walk(item, key, kind)),
            Value::Object(fields) => self.record(fields, key, kind),
            _ => {}
        }
    }

    fn record(&mut self, fields: &Map<String, Value>, key: &str, kind: &str) {
        let low: Map<String, Value> =
            fields.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
        let letter = letter(&low);
        let is_letter = letter.is_some();
        self.letters.extend(letter);
        for name in ADDRESSES {
            if let Some(value) = low.get(*name) {
                self.book.extend(addresses(&value.to_string()));
            }
        }
        if !is_letter {
            let by_others = low.iter().filter(|(name, _)| BY_OTHERS.contains(&name.as_str()));
            self.by_others.extend(by_others.map(|(name, value)| Written {
                field: name.clone(),
                titles: titles(&low),
                text: value.to_string(),
            }));
        }
        let (keys, own_keys) = (keys(&low, kind), own_keys(&low, kind));
        if !keys.is_empty() {
            let mut own: Map<String, Value> = low
                .iter()
                .filter(|(name, _)| !BY_OTHERS.contains(&name.as_str()))
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect();
            if is_name(key) {
                own.entry("name").or_insert_with(|| Value::String(key.to_owned()));
            }
            for key in keys {
                let is_own = own_keys.contains(&key);
                self.things.entry(key).or_default().add(&own, is_own);
            }
        }
        fields.iter().for_each(|(name, value)| self.walk(value, name, kind));
    }

    /// Notes the account of a result that no argument chose, or one that has an address of the user's own.
    pub fn note_account(&mut self, result: &Value, is_chosen: bool, own: &BTreeSet<String>) {
        let Value::Object(fields) = result else { return };
        let low: Map<String, Value> =
            fields.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
        let (Some(email), Some(name)) = (text(&low, "email"), text(&low, "username")) else { return };
        if is_chosen && !own.contains(&email.to_lowercase()) && !self.own.contains(&email.to_lowercase()) {
            return;
        }
        if !is_chosen {
            self.own.extend([email.to_lowercase(), name.to_lowercase()]);
        }
        let all = Value::Object(low.clone()).to_string();
        let is_ours =
            |piece: &&str| piece.split_once('/').is_some_and(|(owner, _)| owner.eq_ignore_ascii_case(&name));
        let part = |c: char| !(c.is_alphanumeric() || matches!(c, '/' | '_' | '-'));
        self.owned.extend(all.split(part).filter(is_ours).map(str::to_owned));
    }

    /// The addresses that every message was sent to: the user's own.
    pub fn readers(&self) -> BTreeSet<String> {
        let mut sent = self.letters.iter().map(|letter| &letter.sent_to).filter(|sent| !sent.is_empty());
        let Some(first) = sent.next() else { return BTreeSet::new() };
        sent.fold(first.clone(), |common, next| common.intersection(next).cloned().collect())
    }
}

fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn letter(low: &Map<String, Value>) -> Option<Letter> {
    let author = AUTHORS.iter().find_map(|name| text(low, name))?.to_lowercase();
    let bodies: Vec<String> = BODIES.iter().filter_map(|name| text(low, name)).collect();
    let title = TITLES.iter().filter_map(|name| text(low, name)).collect::<Vec<_>>().join(" ");
    let sent_to = ["recipients", "to"]
        .iter()
        .filter_map(|name| low.get(*name))
        .flat_map(|value| addresses(&value.to_string()))
        .collect();
    (!bodies.is_empty()).then(|| Letter {
        author,
        text: format!("{title}\n{}", bodies.join(" ")),
        title,
        sent_to,
    })
}

/// The keys of all things that a record is about. An `order_id` is the id of an order, and a plain `id` that of a thing of the kind that the
/// tool shows.
pub(crate) fn keys(low: &Map<String, Value>, kind: &str) -> Vec<Key> {
    let mut keys: Vec<Key> = low
        .iter()
        .filter_map(|(name, value)| {
            let before = name.trim_end_matches('_');
            let before = before.strip_suffix("_id").or_else(|| before.strip_suffix(" id"));
            let kind = match before {
                Some(kind) => stem(kind),
                None if matches!(name.as_str(), "id" | "id_") => kind,
                None => return None,
            };
            match value {
                Value::String(id) => Some(Key::new(kind, id)),
                Value::Number(id) => Some(Key::new(kind, &id.to_string())),
                _ => None,
            }
        })
        .collect();
    if let (Some(owner), Some(name)) = (text(low, "owner"), text(low, "name")) {
        keys.push(Key::named(&format!("{owner}/{name}")));
    }
    keys
}

/// The keys of a record itself: its plain id, or the id of the kind that the tool shows.
fn own_keys(low: &Map<String, Value>, kind: &str) -> Vec<Key> {
    let names = [format!("{kind}_id"), "id".to_owned(), "id_".to_owned()];
    let own = low.iter().filter(|(name, _)| names.contains(name));
    let own: Map<String, Value> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    keys(&own, kind)
}

/// Returns true if the key of a record names it, and does not only number it.
fn is_name(key: &str) -> bool {
    let word = key.trim_end_matches(|c: char| c.is_ascii_digit()).trim().to_lowercase();
    !word.is_empty() && !["order", "item", "product", "entry", "result", "event"].contains(&word.as_str())
}
