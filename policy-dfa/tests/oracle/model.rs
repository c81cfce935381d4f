//! The oracle's model of a policy, read from its JSON form. It has plain strings only, and shares no code with the
//! parser and the compiler under test.

use policy_dfa::Root;
use serde_json::Value;

#[derive(Debug)]
pub struct Model {
    /// Fields with their tiers.
    pub tiers: Vec<(String, usize)>,
    pub requests: Vec<Request>,
    pub verbs: Vec<(String, Vec<Clause>)>,
    pub sites: Vec<Vec<String>>,
    pub limits: Vec<(String, u64)>,
    pub prompts: Option<u64>,
    pub bars: Vec<Bar>,
    pub proofs: Vec<Proof>,
}

#[derive(Debug)]
pub struct Request {
    pub kind: String,
    pub clauses: Vec<Clause>,
    pub consent: String,
    pub naming: bool,
    pub mandate: bool,
    pub deliver: Vec<String>,
}

#[derive(Debug)]
pub struct Clause {
    pub test: String,
    pub value: Vec<String>,
    pub when: Option<Condition>,
    pub asks: bool,
}

/// A signal and some of its symbols.
pub type Condition = (String, Vec<String>);

#[derive(Debug)]
pub struct Bar {
    pub event: String,
    pub never: Vec<String>,
    pub until: String,
}

#[derive(Debug)]
pub struct Proof {
    pub subject: String,
    /// For a statement about deliveries, the delivery.
    pub to: Option<String>,
    pub after: Option<String>,
    pub conditions: Vec<Condition>,
}

/// An event by name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    Request(&'static str, usize),
    Verb(&'static str),
    /// The same request, answered at a shop's endpoint.
    Checkout(&'static str, usize),
}

pub fn event(root: Root) -> Event {
    match root {
        Root::Request(kind, tier) => Event::Request(kind.as_str(), tier as usize),
        Root::Verb(verb) => Event::Verb(verb.as_str()),
        Root::Checkout(kind, tier) => Event::Checkout(kind.as_str(), tier as usize),
    }
}

impl Event {
    pub fn name(self) -> &'static str {
        match self {
            Event::Request(name, _) | Event::Verb(name) | Event::Checkout(name, _) => name,
        }
    }

    /// The tier that the fields of a request need, in a page or at a shop's endpoint.
    pub fn need(self) -> Option<usize> {
        match self {
            Event::Request(_, need) | Event::Checkout(_, need) => Some(need),
            Event::Verb(_) => None,
        }
    }

    /// Whether the subject of a rule or a statement includes this event.
    pub fn is_in(self, subject: &str) -> bool {
        match tier(subject) {
            Some(lowest) => self.need().is_some_and(|need| need >= lowest),
            None => self.name() == subject,
        }
    }
}

pub fn tier(word: &str) -> Option<usize> {
    ["T0", "T1", "T2"].iter().position(|tier| *tier == word)
}

/// The fields of each kind. A purchase uses those of the card.
const FIELDS: [(&str, &[&str]); 7] = [
    ("address", &["name", "street", "postal_code", "city", "region", "country"]),
    ("payment", &["name", "card_number", "card_expiry", "card_code"]),
    ("purchase", &["card_number", "card_expiry", "card_code"]),
    ("contact", &["name", "phone", "email"]),
    ("identity", &["name", "government_id"]),
    ("login", &["email", "password"]),
    ("otp", &["one_time_code"]),
];

impl Clause {
    /// Whether it is the clause that lets the frame of a payment provider in.
    pub fn lets_provider_in(&self) -> bool {
        self.test == "frame" && self.value.iter().any(|value| value.ends_with("provider"))
    }
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(|item| item.as_str().unwrap().to_owned()).collect(),
        Value::String(word) => vec![word.clone()],
        Value::Bool(true) => vec![],
        other => panic!("no words: {other}"),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn condition(value: &Value) -> Condition {
    let (signal, symbols) = entries(value).next().unwrap();
    (signal.clone(), words(symbols))
}

fn clause(value: &Value) -> Clause {
    let (test, tested) = entries(value).find(|(key, _)| !matches!(key.as_str(), "if" | "else")).unwrap();
    Clause {
        test: test.clone(),
        value: words(tested),
        when: value.get("if").map(condition),
        asks: value.get("else").is_some_and(|answer| answer == "ask"),
    }
}

impl Model {
    pub fn read(json: &str) -> Model {
        let all: Value = serde_json::from_str(json).unwrap();
        let clauses = |section: &Value| list(&section["clauses"]).map(clause).collect();
        let limits: Vec<_> = entries(&all["session"]["at_most"]).collect();
        let tier_of = |(name, fields): (&String, &Value)| {
            words(fields).into_iter().map(|field| (field, tier(name).unwrap())).collect::<Vec<_>>()
        };
        Model {
            tiers: entries(&all["tiers"]).flat_map(tier_of).collect(),
            requests: entries(&all["requests"])
                .map(|(kind, section)| Request {
                    kind: kind.clone(),
                    clauses: clauses(section),
                    consent: word(&section["consent"]),
                    naming: section["naming_payee_and_amount"] == true,
                    mandate: section["unless_mandated"] == true,
                    deliver: words(&section["deliver"]),
                })
                .collect(),
            verbs: entries(&all["verbs"]).map(|(verb, section)| (verb.clone(), clauses(section))).collect(),
            sites: list(&all["sites"])
                .map(|site| words(site.get("never").or(site.get("only")).unwrap()))
                .collect(),
            limits: limits
                .iter()
                .filter(|(event, _)| !matches!(event.as_str(), "prompts" | "money"))
                .map(|(event, limit)| ((*event).clone(), limit.as_u64().unwrap()))
                .collect(),
            prompts: all["session"]["at_most"]["prompts"].as_u64(),
            bars: list(&all["session"]["after"])
                .map(|bar| Bar {
                    event: word(&bar["event"]),
                    never: words(&bar["never"]),
                    until: word(&bar["until"]),
                })
                .collect(),
            proofs: list(&all["prove"])
                .map(|proof| Proof {
                    subject: word(&proof["subject"]),
                    to: proof.get("to").map(word),
                    after: proof.get("after").map(word),
                    conditions: list(&proof["where"]).map(condition).collect(),
                })
                .collect(),
        }
    }

    /// Whether the event can occur: some fields of it need exactly this tier.
    pub fn can_occur(&self, event: Event) -> bool {
        let Some(need) = event.need() else { return true };
        let kind = event.name();
        let (_, fields) = FIELDS.iter().find(|(known, _)| *known == kind).unwrap();
        let tier = |field: &&str| self.tiers.iter().find(|(known, _)| known == field).unwrap().1;
        match kind {
            "purchase" => fields.iter().map(&tier).max() == Some(need),
            _ => fields.iter().any(|field| tier(field) == need),
        }
    }

    pub fn has_site_rule(&self, event: Event) -> bool {
        self.sites.iter().flatten().any(|named| named == event.name())
    }

    /// The limit on how often the event may happen.
    pub fn limit(&self, event: Event) -> Option<u64> {
        self.limits.iter().find(|(named, _)| named == event.name()).map(|(_, limit)| *limit)
    }

    /// Whether an `after` rule can bar the event: one that a suspected injection begins, or another one.
    pub fn can_be_barred(&self, event: Event, by_suspicion: bool) -> bool {
        self.bars.iter().any(|bar| bar.is_suspicion() == by_suspicion && bar.concerns(event))
    }
}

impl Bar {
    pub fn is_suspicion(&self) -> bool {
        self.event == "suspected_injection"
    }

    pub fn concerns(&self, event: Event) -> bool {
        self.never.iter().any(|subject| event.is_in(subject))
    }
}
