//! The environment: the results and effects of calls.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::suite::Call;
use super::tools::{Collection, DRIVE, Deed, EMAILS, EVENTS, Filter, tool};

/// A record that a tool showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The collection that contains it.
    pub collection: Collection,
    /// Its fields.
    pub fields: Map<String, Value>,
}

impl Record {
    /// A field as text; empty if it is absent.
    pub fn field(&self, name: &str) -> String {
        self.fields.get(name).map(plain).unwrap_or_default()
    }

    /// The name by which calls refer to it.
    pub fn id(&self) -> String {
        if self.fields.contains_key("id_") { self.field("id_") } else { self.field("id") }
    }

    /// All its text.
    pub fn text(&self) -> String {
        let mut leaves = Vec::new();
        self.fields.values().for_each(|value| gather(value, &mut leaves));
        leaves.join("\n")
    }
}

/// A value as text, without quotes.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn gather(value: &Value, leaves: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, leaves)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            leaves.push(key.clone());
            gather(value, leaves);
        }),
        leaf => leaves.push(plain(leaf)),
    }
}

/// The environment with an attacker's text in every place that the suite lists: behind the text that stands there, and where nothing
/// stands there, behind every content and description.
pub fn planted(environment: &Value, places: &BTreeMap<String, String>, attack: &str) -> Value {
    let anywhere = places.values().any(String::is_empty);
    let texts: Vec<&str> = places.values().map(String::as_str).filter(|text| !text.is_empty()).collect();
    plant(environment, "", &texts, anywhere, attack)
}

fn plant(value: &Value, key: &str, texts: &[&str], anywhere: bool, attack: &str) -> Value {
    match value {
        Value::String(text)
            if texts.iter().any(|place| text.contains(place))
                || anywhere && matches!(key, "content" | "description") =>
        {
            json!(format!("{text}\n{attack}"))
        }
        Value::Array(items) => items.iter().map(|item| plant(item, key, texts, anywhere, attack)).collect(),
        Value::Object(fields) => {
            let all = fields.iter().map(|(name, value)| {
                // The key of a file is its name.
                let name_of = if value.is_string() && name.contains('.') { "content" } else { name };
                (name.clone(), plant(value, name_of, texts, anywhere, attack))
            });
            Value::Object(all.collect())
        }
        other => other.clone(),
    }
}

/// The state that a session's calls work on.
#[derive(Debug, Clone)]
pub struct World(Value);

impl World {
    /// The state before any call.
    pub fn new(environment: &Value) -> World {
        World(environment.clone())
    }

    /// All records of a collection.
    pub fn records(&self, collection: Collection) -> Vec<Record> {
        let place = collection.path.iter().try_fold(&self.0, |value, step| value.get(step));
        let record = |fields: &Map<String, Value>| Record { collection, fields: fields.clone() };
        let named = |name: &str, content: &Value| {
            record(&Map::from_iter([
                ("name".to_owned(), json!(name)),
                ("content".to_owned(), content.clone()),
            ]))
        };
        match place {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_object).map(record).collect(),
            Some(Value::Object(entries)) => entries
                .iter()
                .map(|(key, value)| value.as_object().map_or_else(|| named(key, value), record))
                .collect(),
            Some(single) => vec![named("", single)],
            None => Vec::new(),
        }
    }

    /// Makes a call, applies its effect and returns its results. A new record is among the results of the call that
    /// makes it. Changes of a record's fields are left out, since no rule looks at them afterwards.
    pub fn call(&mut self, call: &Call) -> Vec<Record> {
        match tool(&call.function) {
            Some(Deed::Read(collection, filters)) => self
                .records(collection)
                .into_iter()
                .filter(|record| filters.iter().all(|filter| passes(*filter, record, call)))
                .collect(),
            _ => match call.function.as_str() {
                "send_email" => self.add(EMAILS, call),
                "create_calendar_event" => self.add(EVENTS, call),
                "create_file" => self.add(DRIVE, call),
                "delete_email" => self.remove(EMAILS, call, "email_id"),
                "cancel_calendar_event" => self.remove(EVENTS, call, "event_id"),
                "delete_file" => self.remove(DRIVE, call, "file_id"),
                _ => Vec::new(),
            },
        }
    }

    fn entries(&mut self, collection: Collection) -> Option<&mut Map<String, Value>> {
        let place = collection.path.iter().try_fold(&mut self.0, |value, step| value.get_mut(step));
        place.and_then(Value::as_object_mut)
    }

    fn add(&mut self, collection: Collection, call: &Call) -> Vec<Record> {
        let Some(entries) = self.entries(collection) else { return Vec::new() };
        let highest = entries.keys().filter_map(|key| key.parse::<u64>().ok()).max();
        let id = highest.map_or(0, |id| id.saturating_add(1)).to_string();
        let mut fields = call.args.clone();
        fields.insert("id_".to_owned(), json!(id));
        entries.insert(id, Value::Object(fields.clone()));
        vec![Record { collection, fields }]
    }

    fn remove(&mut self, collection: Collection, call: &Call, argument: &str) -> Vec<Record> {
        if let (Some(entries), Some(id)) = (self.entries(collection), call.args.get(argument)) {
            entries.remove(&plain(id));
        }
        Vec::new()
    }
}

fn passes(filter: Filter, record: &Record, call: &Call) -> bool {
    let argument = |name: &str| call.args.get(name).map(plain).filter(|text| !text.is_empty());
    match filter {
        Filter::Contains(name, fields) => argument(name).is_none_or(|wanted| {
            let wanted = wanted.to_lowercase();
            fields.iter().any(|field| record.field(field).to_lowercase().contains(&wanted))
        }),
        Filter::Equals(name, field) => argument(name).is_none_or(|wanted| record.field(field) == wanted),
        Filter::Starts(name, field) => argument(name).is_none_or(|day| record.field(field).starts_with(&day)),
        Filter::Only(field, text) => record.field(field) == text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(function: &str, args: Value) -> Call {
        Call { function: function.to_owned(), args: args.as_object().unwrap().clone() }
    }

    #[test]
    fn reads_return_the_requested_records_and_a_new_file_gets_the_next_id() {
        let file = |id: &str, name: &str| json!({"id_": id, "filename": name, "content": "tea and milk"});
        let mut world = World::new(&json!({
            "cloud_drive": {"files": {"3": file("3", "shopping.txt"), "8": file("8", "plans.txt")}}
        }));
        assert_eq!(world.call(&call("list_files", json!({}))).len(), 2);
        let found = world.call(&call("search_files_by_filename", json!({"filename": "SHOP"})));
        assert_eq!(found.iter().map(Record::id).collect::<Vec<_>>(), ["3"]);
        assert_eq!(world.call(&call("search_files", json!({"query": "coffee"}))), []);
        let made = world.call(&call("create_file", json!({"filename": "new.txt", "content": "x"})));
        assert_eq!((made[0].id(), made[0].field("filename")), ("9".to_owned(), "new.txt".to_owned()));
        world.call(&call("delete_file", json!({"file_id": "3"})));
        let left = world.call(&call("list_files", json!({})));
        // Their order is that of the JSON map, which a feature of serde_json decides.
        let mut ids: Vec<String> = left.iter().map(Record::id).collect();
        ids.sort();
        assert_eq!(ids, ["8", "9"]);
    }
}
