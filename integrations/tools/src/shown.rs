//! The results of calls are kept here as records: messages with their authors, things with their fields, files, and the addresses that
//! services state as facts.
//!
//! A record is known by its shape, whatever the tool is called. What others wrote into it (a review, an issue, the body of a message) is
//! kept apart from its fields.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::lexicon::{ADDRESSES, AUTHORS, BODIES, BY_OTHERS, TITLES};
use crate::text::addresses;

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
    pub things: BTreeMap<String, Map<String, Value>>,
    pub files: BTreeMap<String, String>,
    /// Addresses that services state as facts.
    pub book: BTreeSet<String>,
    /// The addresses and names of the account that is logged in.
    pub own: BTreeSet<String>,
    /// Names with an owner, where the owner is the account that is logged in.
    pub owned: BTreeSet<String>,
}

impl Shown {
    /// Takes the records out of a result.
    pub fn note(&mut self, result: &Value) {
        self.walk(result, "");
    }

    /// Walks lists and records. A text is never read as a record: its author could write one.
    fn walk(&mut self, value: &Value, key: &str) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.walk(item, key)),
            Value::Object(fields) => self.record(fields, key),
            _ => {}
        }
    }

    fn record(&mut self, fields: &Map<String, Value>, key: &str) {
        let low: Map<String, Value> =
            fields.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
        if let Some(letter) = letter(&low) {
            self.letters.push(letter);
        }
        for name in ADDRESSES {
            if let Some(value) = low.get(*name) {
                self.book.extend(addresses(&value.to_string()));
            }
        }
        let ids = ids(&low);
        if !ids.is_empty() {
            let mut own: Map<String, Value> = low
                .iter()
                .filter(|(name, _)| !BY_OTHERS.contains(&name.as_str()))
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect();
            if is_name(key) {
                own.entry("name").or_insert_with(|| Value::String(key.to_owned()));
            }
            for id in ids {
                self.things.entry(id).or_default().extend(own.clone());
            }
        }
        fields.iter().for_each(|(name, value)| self.walk(value, name));
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

/// The names by which calls refer to a record.
pub(crate) fn ids(low: &Map<String, Value>) -> Vec<String> {
    let is_id = |name: &str| name == "id" || name == "id_" || name.ends_with("_id") || name.ends_with(" id");
    let mut ids: Vec<String> = low
        .iter()
        .filter(|(name, _)| is_id(name))
        .filter_map(|(_, value)| match value {
            Value::String(id) => Some(id.clone()),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        })
        .collect();
    if let (Some(owner), Some(name)) = (text(low, "owner"), text(low, "name")) {
        ids.push(format!("{owner}/{name}"));
    }
    ids
}

/// Returns true if the key of a record names it, and does not only number it.
fn is_name(key: &str) -> bool {
    let word = key.trim_end_matches(|c: char| c.is_ascii_digit()).trim().to_lowercase();
    !word.is_empty() && !["order", "item", "product", "entry", "result", "event"].contains(&word.as_str())
}
