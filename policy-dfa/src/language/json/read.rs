//! From JSON to policy text: tiers, requests and verbs.

use sirl::{Field, Kind, Tier};

use super::node::{Node, Value};
use super::text_writer::{Fields, TextWriter};
use crate::language::error::Fault;
use crate::vocabulary::alphabet::Axis;
use crate::vocabulary::event::VerbKind;
use crate::vocabulary::outcome::Delivery;

/// Each test as its key and value in JSON, and its words in the policy language.
const TESTS: [(&str, &str, &str); 22] = [
    ("container", "fields", "container covers the fields"),
    ("container", "T0", "container T0"),
    ("container", "T1", "container T1"),
    ("container", "T2", "container T2"),
    ("origin", "task", "origin is the task's"),
    ("origin", "task_or_provider", "origin is the task's or provider's"),
    ("tls", "valid", "tls valid"),
    ("tls", "valid_or_loopback", "tls valid or loopback"),
    ("tls", "loopback", "tls loopback"),
    ("frame", "top", "frame top"),
    ("frame", "same_origin", "frame same origin"),
    ("frame", "any", "frame any"),
    ("frame", "top_or_provider", "frame top or provider"),
    ("frame", "provider", "frame provider"),
    ("destination", "task", "destination origin is the task's"),
    ("destination", "task_or_provider", "destination origin is the task's or provider's"),
    ("destination", "https", "destination https"),
    ("destination", "https_or_loopback", "destination https or loopback"),
    ("destination", "loopback", "destination loopback"),
    ("safety", "threshold", "safety reaches the threshold"),
    ("flow", "stays", "flow stays"),
    ("flow", "own", "flow own"),
];

/// The keys of a clause. The last two are its condition, and the answer where it fails.
const CLAUSE: [&str; 11] =
    ["container", "origin", "tls", "frame", "destination", "sink", "visible", "safety", "flow", "if", "else"];

/// Each consent as its name in JSON, and its words in the policy language.
const CONSENTS: [(&str, &str); 4] = [
    ("none", "consent none"),
    ("session", "consent once per session"),
    ("site", "consent once per site"),
    ("every_time", "consent every time"),
];
const CONSENT_NAMES: [&str; 4] = ["none", "session", "site", "every_time"];
const NAMING: &str = "naming_payee_and_amount";
const MANDATE: &str = "unless_mandated";

impl TextWriter {
    pub(super) fn policy(&mut self, root: &Node<'_>) {
        const KEYS: [&str; 10] = [
            "policy",
            "version",
            "tiers",
            "thresholds",
            "requests",
            "verbs",
            "sites",
            "providers",
            "session",
            "prove",
        ];
        let Some(fields) = self.fields(root, "a policy", &KEYS) else { return };
        if let Some(name) = self.needed((root, &fields), "policy", "\"mine\"") {
            self.write("policy", &name.span);
            self.quoted(name, "the name of a policy");
        }
        if let Some(version) = self.needed((root, &fields), "version", "1") {
            self.write("version", &version.span);
            self.number(version, "the version, a whole number");
        }
        self.each(&fields, "tiers", &Tier::ALL.map(Tier::as_str), TextWriter::tier);
        if let Some(node) = fields.get("thresholds") {
            self.thresholds(node);
        }
        self.each(&fields, "requests", &Kind::ALL.map(Kind::as_str), TextWriter::request);
        self.each(&fields, "verbs", &VerbKind::RULED.map(VerbKind::as_str), TextWriter::verb);
        for site in fields.get("sites").map_or(&[][..], |node| self.list(node, "the sites")) {
            self.site(site);
        }
        for provider in fields.get("providers").map_or(&[][..], |node| self.list(node, "the providers")) {
            self.provider(provider);
        }
        if let Some(session) = fields.get("session") {
            self.session(session);
        }
        for proof in fields.get("prove").map_or(&[][..], |node| self.list(node, "the statements")) {
            self.proof(proof);
        }
    }

    /// The sections under one key, by name.
    fn each(
        &mut self,
        fields: &Fields<'_, '_>,
        key: &str,
        names: &[&str],
        write: fn(&mut TextWriter, &str, &Node<'_>),
    ) {
        let sections = fields.get(key).and_then(|node| self.fields(node, &format!("the {key}"), names));
        for entry in sections.iter().flat_map(Fields::entries) {
            // A message about a section points at its name.
            let singular = key.strip_suffix('s').unwrap_or(key);
            self.write(singular, &entry.key_span);
            self.write(&entry.key, &entry.key_span);
            self.write("{", &entry.node.span);
            write(self, &entry.key, &entry.node);
            self.close(&entry.node.span);
        }
    }

    fn tier(&mut self, _: &str, node: &Node<'_>) {
        let names = Field::ALL.map(Field::as_str);
        for item in self.list(node, "the fields of a tier") {
            if let Some(name) = self.known(item, "a field", &names) {
                self.write(name, &item.span);
            }
        }
    }

    fn thresholds(&mut self, node: &Node<'_>) {
        let tiers = Tier::ALL.map(Tier::as_str);
        let Some(fields) = self.fields(node, "the thresholds", &tiers) else { return };
        self.write("threshold", &node.span);
        for tier in tiers {
            if let Some(number) = self.needed((node, &fields), tier, "0.95") {
                self.write(tier, &number.span);
                self.number(number, "a number from 0 to 1 with at most two digits after the point");
            }
        }
    }

    fn request(&mut self, _: &str, node: &Node<'_>) {
        let keys = ["clauses", "consent", NAMING, MANDATE, "deliver"];
        let Some(fields) = self.fields(node, "a request", &keys) else { return };
        for clause in fields.get("clauses").map_or(&[][..], |node| self.list(node, "the clauses")) {
            self.clause(clause, false);
        }
        if let Some(consent) = self.needed((node, &fields), "consent", "\"every_time\"") {
            self.consent(consent, fields.get(NAMING), fields.get(MANDATE));
        }
        if let Some(deliver) = self.needed((node, &fields), "deliver", "[\"fill\"]") {
            self.write("deliver", &deliver.span);
            let names = Delivery::ALL.map(Delivery::as_str);
            match &deliver.value {
                Value::List(none) if none.is_empty() => self.write("nothing", &deliver.span),
                _ => self.names(deliver, "a way to deliver", &names, "or"),
            }
        }
    }

    fn consent(&mut self, node: &Node<'_>, naming: Option<&Node<'_>>, mandate: Option<&Node<'_>>) {
        let Some(name) = self.known(node, "a consent", &CONSENT_NAMES) else { return };
        let words = CONSENTS.iter().find(|(known, _)| *known == name).map_or("", |(_, words)| *words);
        self.write(words, &node.span);
        match naming.map(|naming| (naming, &naming.value)) {
            None | Some((_, Value::Flag(false))) => {}
            Some((naming, Value::Flag(true))) if name == "every_time" => {
                self.write(",", &naming.span);
                self.write("naming payee and amount", &naming.span);
            }
            Some((naming, Value::Flag(true))) => {
                let message = format!("consent `{name}` names no payee and no amount");
                let help = "write: \"consent\": \"every_time\"";
                self.fault(Fault::new(naming.span.clone(), message).help(help));
            }
            Some((naming, _)) => self.unexpected(naming, "`true` or `false`"),
        }
        let is_named = naming.is_some_and(|naming| matches!(naming.value, Value::Flag(true)));
        match mandate.map(|mandate| (mandate, &mandate.value)) {
            None | Some((_, Value::Flag(false))) => {}
            Some((mandate, Value::Flag(true))) if is_named => {
                self.write(",", &mandate.span);
                self.write("unless mandated", &mandate.span);
            }
            Some((mandate, Value::Flag(true))) => {
                let message = "a mandate takes the place of a question that names payee and amount";
                let help = format!("write: \"{NAMING}\": true");
                self.fault(Fault::new(mandate.span.clone(), message).help(help));
            }
            Some((mandate, _)) => self.unexpected(mandate, "`true` or `false`"),
        }
    }

    fn verb(&mut self, _: &str, node: &Node<'_>) {
        let Some(fields) = self.fields(node, "a verb", &["clauses"]) else { return };
        for clause in fields.get("clauses").map_or(&[][..], |node| self.list(node, "the clauses")) {
            self.clause(clause, true);
        }
    }

    fn clause(&mut self, node: &Node<'_>, of_verb: bool) {
        let Some(fields) = self.fields(node, "a clause", &CLAUSE) else { return };
        let tested = |key: &&str| !matches!(*key, "if" | "else");
        let tests: Vec<_> = fields.entries().filter(|entry| tested(&&*entry.key)).collect();
        let &[test] = tests.as_slice() else {
            let message = format!("a clause tests one thing, and this one {}", tests.len());
            let fault = Fault::new(node.span.clone(), message);
            return self.fault_of(&fields, fault.help("write a clause such as: { \"tls\": \"valid\" }"));
        };
        self.test(&test.key, node, &test.node);
        let is_foreign = |key: &str| key == "if" || (key == "else" && test.key != "safety");
        for entry in fields.entries().filter(|entry| !of_verb && is_foreign(&entry.key)) {
            let message = match &*entry.key {
                "if" => "a clause of a request always applies, so it has no `if`",
                _ => "only `safety` may ask in a request, so this clause has no `else`",
            };
            self.fault(Fault::new(entry.key_span.clone(), message).help("remove it"));
        }
        if let Some(when) = fields.get("if") {
            self.write("if", &when.span);
            self.condition(when);
        }
        if let Some(soft) = fields.get("else")
            && let Some(answer) = self.known(soft, "what follows a failed clause", &["ask", "deny"])
        {
            self.write("else", &soft.span);
            self.write(answer, &soft.span);
        }
    }

    fn test(&mut self, key: &str, clause: &Node<'_>, node: &Node<'_>) {
        match (key, &node.value) {
            ("sink", _) => {
                self.write("sink", &clause.span);
                self.names(node, "a sink", Axis::Sink.symbols(), ",");
            }
            ("visible", Value::Flag(true)) => self.write("visible", &clause.span),
            ("visible", _) => self.unexpected(node, "`true`"),
            _ => {
                let named: Vec<_> = TESTS.iter().filter(|(test, ..)| *test == key).collect();
                let names: Vec<_> = named.iter().map(|(_, name, _)| *name).collect();
                let what = format!("what `{key}` is tested for");
                let name = self.known(node, &what, &names);
                if let Some((.., words)) = named.into_iter().find(|(_, known, _)| Some(*known) == name) {
                    self.write(words, &clause.span);
                }
            }
        }
    }

    /// One signal with some of its symbols.
    pub(super) fn condition(&mut self, node: &Node<'_>) {
        let signals: Vec<_> = Axis::ALL.iter().map(|axis| axis.as_str()).collect();
        let Some(fields) = self.fields(node, "a condition", &signals) else { return };
        let entries: Vec<_> = fields.entries().collect();
        let &[entry] = entries.as_slice() else {
            let message = format!("a condition is about one signal, and this one about {}", entries.len());
            let fault = Fault::new(node.span.clone(), message);
            return self.fault_of(
                &fields,
                fault.help("write a condition such as: { \"container\": [\"T1\", \"T2\"] }"),
            );
        };
        self.write(&entry.key, &entry.key_span);
        self.write("is", &entry.key_span);
        let symbols = Axis::from_name(&entry.key).map_or(&[][..], Axis::symbols);
        self.names(&entry.node, &format!("a symbol of `{}`", entry.key), symbols, "or");
    }
}
