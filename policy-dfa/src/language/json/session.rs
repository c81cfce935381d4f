//! From JSON to policy text: sites, providers, the session and the statements to prove.

use super::node::{Node, Value};
use super::text_writer::{TextWriter, is_plain_number};
use crate::language::error::Fault;
use crate::language::session::{NEW_TASK, Trigger};
use crate::vocabulary::event::{EventKind, Subject};
use crate::vocabulary::outcome::Delivery;

impl TextWriter {
    pub(super) fn site(&mut self, node: &Node<'_>) {
        let Some(fields) = self.fields(node, "a site", &["site", "never", "only"]) else { return };
        self.write("site", &node.span);
        if let Some(pattern) = self.needed((node, &fields), "site", "\"*.shop.example\"") {
            self.quoted(pattern, "a host");
        }
        let (effect, events) = match (fields.get("never"), fields.get("only")) {
            (Some(events), None) => ("never", events),
            (None, Some(events)) => ("only", events),
            _ => {
                let fault = Fault::new(node.span.clone(), "a site says one thing, `never` or `only`");
                let help = "write a site such as: { \"site\": \"a.example\", \"never\": [\"login\"] }";
                return self.fault_of(&fields, fault.help(help));
            }
        };
        self.write("{", &node.span);
        self.write(effect, &events.span);
        self.names(events, "a kind of request or a verb", &EventKind::names().collect::<Vec<_>>(), ",");
        self.close(&node.span);
    }

    pub(super) fn provider(&mut self, node: &Node<'_>) {
        let Some(fields) = self.fields(node, "a provider", &["provider", "frame", "token"]) else { return };
        self.write("provider", &node.span);
        if let Some(name) = self.needed((node, &fields), "provider", "\"pay\"") {
            self.quoted(name, "the name of a provider");
        }
        self.write("{", &node.span);
        for key in ["frame", "token"] {
            let Some(origins) = self.needed((node, &fields), key, "[\"https://pay.example\"]") else {
                continue;
            };
            self.write(key, &origins.span);
            for (index, origin) in self.some(origins, "an origin").iter().enumerate() {
                if index > 0 {
                    self.write(",", &origin.span);
                }
                self.quoted(origin, "an origin");
            }
        }
        self.close(&node.span);
    }

    pub(super) fn session(&mut self, node: &Node<'_>) {
        let Some(fields) = self.fields(node, "the session", &["at_most", "values", "after"]) else { return };
        self.write("session {", &node.span);
        if let Some(limits) = fields.get("at_most") {
            self.limits(limits);
        }
        if let Some(values) = fields.get("values")
            && self.known(values, "a limit for values", &["path"]).is_some()
        {
            self.write("values keep to their path", &values.span);
        }
        for bar in fields.get("after").map_or(&[][..], |node| self.list(node, "the rules")) {
            self.bar(bar);
        }
        self.close(&node.span);
    }

    fn limits(&mut self, node: &Node<'_>) {
        let mut names: Vec<_> = EventKind::names().collect();
        names.extend(["prompts", "money"]);
        let Some(fields) = self.fields(node, "the limits", &names) else { return };
        for (index, entry) in fields.entries().enumerate() {
            if index == 0 {
                self.write("at most", &node.span);
            } else {
                self.write(",", &entry.key_span);
            }
            match (&*entry.key, &entry.node.value) {
                ("money", Value::Text(text)) if is_money(text) => self.write(text, &entry.node.span),
                ("money", _) => self.unexpected(&entry.node, "an amount such as \"250.00 USD\""),
                (event, _) => {
                    self.number(&entry.node, "how many, a whole number");
                    self.write(event, &entry.key_span);
                }
            }
        }
    }

    fn bar(&mut self, node: &Node<'_>) {
        let Some(fields) = self.fields(node, "a rule", &["event", "never", "until"]) else { return };
        let mut events: Vec<_> = Trigger::names().collect();
        self.write("after", &node.span);
        if let Some(event) = self.needed((node, &fields), "event", "\"suspected_injection\"") {
            self.event(event, &events);
        }
        if let Some(never) = self.needed((node, &fields), "never", "[\"T2\"]") {
            self.write("never", &never.span);
            self.names(
                never,
                "a tier, a kind of request or a verb",
                &Subject::names().collect::<Vec<_>>(),
                ",",
            );
        }
        if let Some(until) = self.needed((node, &fields), "until", "\"new_task\"") {
            self.write("until", &until.span);
            events.push(NEW_TASK);
            self.event(until, &events);
        }
    }

    fn event(&mut self, node: &Node<'_>, events: &[&str]) {
        if let Some(event) = self.known(node, "an event", events) {
            self.write(event, &node.span);
        }
    }

    pub(super) fn proof(&mut self, node: &Node<'_>) {
        let all = ["never", "subject", "after", "where", "to"];
        let Some(fields) = self.fields(node, "a statement", &all) else { return };
        let Some(never) = self.needed((node, &fields), "never", "\"grant\"") else { return };
        let Some(never) = self.known(never, "what a statement can rule out", &["grant", "deliver"]) else {
            return;
        };
        let foreign = |key: &str| match never {
            "grant" => key == "to",
            _ => matches!(key, "after" | "where"),
        };
        for entry in fields.entries().filter(|entry| foreign(&entry.key)) {
            let message = format!("a statement about `{never}` has no `{}`", entry.key);
            self.fault(Fault::new(entry.key_span.clone(), message).help("remove it"));
        }
        self.write("prove never", &node.span);
        self.write(never, &node.span);
        if let Some(subject) = self.needed((node, &fields), "subject", "\"T2\"") {
            let name = self.known(
                subject,
                "a tier, a kind of request or a verb",
                &Subject::names().collect::<Vec<_>>(),
            );
            self.write(name.unwrap_or_default(), &subject.span);
        }
        if never == "deliver" {
            if let Some(delivery) = self.needed((node, &fields), "to", "\"model\"") {
                self.write("to", &delivery.span);
                let name = self.known(delivery, "a way to deliver", &Delivery::ALL.map(Delivery::as_str));
                self.write(name.unwrap_or_default(), &delivery.span);
            }
            return;
        }
        if let Some(after) = fields.get("after") {
            self.write("after", &after.span);
            self.event(after, &Trigger::names().collect::<Vec<_>>());
        }
        for (index, condition) in
            fields.get("where").map_or(&[][..], |node| self.list(node, "the conditions")).iter().enumerate()
        {
            self.write(if index == 0 { "where" } else { "and" }, &condition.span);
            self.condition(condition);
        }
    }
}

/// Whether a text has the form of an amount. The parser of the policy text decides whether it is one.
fn is_money(text: &str) -> bool {
    text.split_once(' ').is_some_and(|(digits, code)| {
        is_plain_number(digits) && code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase())
    })
}
