//! Purchases, logins and credentials, which need more than a name.

use serde_json::{Map, Value};

use crate::lexicon::asked_by;
use crate::rule::{Provenance, Why, plain};
use crate::schema::{Effect, Tool};
use crate::shown::Key;
use crate::text::{name_words, stands_in};

impl Provenance {
    pub(crate) fn judge_purchase(&self, things: &[Key]) -> Result<(), Why> {
        let asks =
            self.user.has(&["buy", "rebuy", "order", "purchase", "reserve", "book"]) || self.user.follows;
        let only_past = self.user.has(&["bought"]) && !self.user.has(&["buy", "rebuy"]);
        if !asks || only_past {
            return Err(Why::Effect);
        }
        let again = self.user.has(&["rebuy", "again", "same"]) || self.user.words.windows(2).any(|pair| {
            matches!(pair, [number, more] if more == "more" && (matches!(number.as_str(), "two" | "three" | "some") || number.parse::<u32>().is_ok()))
        });
        for thing in things {
            self.thing(thing, Effect::Buy)?;
            let record = self.shown.things.get(thing).map(|thing| &thing.fields);
            let was_ordered =
                record.is_some_and(|record| record.keys().any(|name| name.starts_with("order")));
            let price = record.and_then(|record| record.get("price")).and_then(Value::as_f64);
            let number = self.ordered.get(thing).copied().unwrap_or(1) as f64;
            let is_above = self.user.bound().zip(price).is_some_and(|(bound, price)| price * number > bound);
            if self.bought.contains(thing) || again && !was_ordered || is_above {
                return Err(Why::Purchase);
            }
        }
        let two = self.user.has(&["both"])
            || self
                .user
                .words
                .windows(2)
                .any(|pair| matches!(pair, [two, items] if two == "two" && items == "items"));
        if !self.bought.is_empty() && self.bought.len() + things.len() > if two { 2 } else { 1 } {
            return Err(Why::Purchase);
        }
        Ok(())
    }

    pub(crate) fn judge_login(&self, arguments: &Map<String, Value>) -> Result<(), Why> {
        let all: Vec<String> = arguments.values().flat_map(plain).collect();
        let named =
            all.iter().all(|value| stands_in(value, &self.user.prompt) || self.is_in_file_of_person(value));
        let in_letter =
            || self.letters().any(|letter| all.iter().all(|value| stands_in(value, &letter.text)));
        if !all.is_empty() && (named || in_letter()) { Ok(()) } else { Err(Why::Login) }
    }

    pub(crate) fn judge_credential(&self, tool: &Tool, values: &[String]) -> Result<(), Why> {
        let nouns = ["password", "key", "token", "pin"];
        let noun = name_words(&tool.name).into_iter().find(|word| nouns.contains(&word.as_str()));
        let is_asked = noun.is_some_and(|noun| self.user.words.contains(&noun))
            && [Effect::Change, Effect::Add]
                .into_iter()
                .filter_map(asked_by)
                .any(|listed| self.user.has(listed));
        let in_file = |value: &String| {
            let beginning: String = value.trim().chars().take(200).collect();
            self.shown.files.iter().any(|(path, text)| {
                self.user.names_path(path) && !beginning.is_empty() && text.contains(&beginning)
            })
        };
        let is_own = |value: &String| stands_in(value, &self.user.prompt) || in_file(value);
        if is_asked && !values.is_empty() && values.iter().all(is_own) {
            Ok(())
        } else {
            Err(Why::Credential)
        }
    }
}
