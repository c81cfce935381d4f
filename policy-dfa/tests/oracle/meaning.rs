//! What a policy answers: its rules, one by one, in the order of the signals.

use policy_dfa::{Axis, ConsentScope, Outcome};

use crate::reading::{Clause, Event, Model, tier};
use crate::ways::Asker;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// The signal whose guard refuses, and the code.
    Deny(Axis, &'static str),
    /// For how long.
    Ask(&'static str),
    /// By which way; `verb` for a verb.
    Grant(&'static str),
}

impl Answer {
    pub fn opens(self) -> bool {
        !matches!(self, Answer::Deny(..))
    }

    pub fn grants(self) -> bool {
        matches!(self, Answer::Grant(_))
    }

    /// Whether the automaton says the same.
    pub fn is(self, outcome: Outcome) -> bool {
        match (self, outcome) {
            (Answer::Deny(axis, code), Outcome::Deny(guard, reason)) => {
                axis == guard && reason.code() == code
            }
            (Answer::Ask(until), Outcome::Ask(scope)) => until == scope_name(scope),
            (Answer::Grant(way), Outcome::Grant(by)) => way == by.map_or("verb", |way| way.as_str()),
            _ => false,
        }
    }
}

fn scope_name(scope: ConsentScope) -> &'static str {
    match scope {
        ConsentScope::EveryTime => "every_time",
        ConsentScope::Session => "session",
        ConsentScope::Site => "site",
    }
}

/// One line of the table of guards.
struct Row<'m> {
    axis: Axis,
    pass: Vec<&'m str>,
    code: &'static str,
    clause: Option<&'m Clause>,
}

/// All rules of one event.
pub struct Rules<'m> {
    /// The answer where no rule is asked.
    fixed: Option<Answer>,
    rows: Vec<Row<'m>>,
    consent: Option<&'static str>,
    way: &'static str,
    prompts_limited: bool,
}

fn up(lowest: usize) -> Vec<&'static str> {
    ["T0", "T1", "T2"][lowest..].to_vec()
}

fn known_word(word: &str, among: &[&'static str]) -> &'static str {
    among.iter().find(|known| **known == word).unwrap()
}

impl Model {
    pub fn rules(&self, event: Event) -> Rules<'_> {
        let mut rules = Rules {
            fixed: None,
            rows: Vec::new(),
            consent: None,
            way: "verb",
            prompts_limited: self.prompts.is_some(),
        };
        let written = match event {
            Event::Verb("read" | "idle") => {
                rules.fixed = Some(Answer::Grant("verb"));
                return rules;
            }
            Event::Verb(verb) => self.verbs.iter().find(|(named, _)| named == verb).map(|(_, all)| all),
            Event::Request(kind, need) => {
                let section = self.requests.iter().find(|request| request.kind == kind);
                let section = section.filter(|request| !request.ways.is_empty());
                if let Some(request) = section {
                    let scope = known_word(&request.consent, &["none", "session", "site", "every_time"]);
                    rules.consent = Some(scope).filter(|scope| *scope != "none");
                    rules.way = known_word(&request.ways[0], &["fill", "wire", "payment_api", "model"]);
                    rules.implied(kind, need);
                }
                section.map(|request| &request.clauses)
            }
        };
        let Some(written) = written else {
            let code = match event {
                Event::Request(..) => "delivery_forbidden",
                Event::Verb(_) => "unplanned_effect",
            };
            rules.fixed = Some(Answer::Deny(Axis::Plan, code));
            return rules;
        };
        if self.has_site_rule(event) {
            rules.row(Axis::Site, &["free"], "site_denied");
        }
        if self.can_be_barred(event, true) {
            rules.row(Axis::Taint, &["clean"], "tainted_session");
        }
        if self.can_be_barred(event, false) {
            rules.row(Axis::Session, &["free"], "session_rule");
        }
        if self.limit(event).is_some() {
            rules.row(Axis::Uses, &["under"], "budget_spent");
        }
        for clause in written {
            rules.written(event, clause);
        }
        // Of two guards on one signal, the one that stands first in the canonical form comes first.
        rules.rows.sort_by_key(|row| row.axis as usize);
        rules
    }
}

impl<'m> Rules<'m> {
    fn row(&mut self, axis: Axis, pass: &[&'static str], code: &'static str) {
        self.rows.push(Row { axis, pass: pass.to_vec(), code, clause: None });
    }

    /// What every request must pass.
    fn implied(&mut self, kind: &str, need: usize) {
        self.row(Axis::Plan, &["planned"], "unplanned_effect");
        self.row(Axis::Document, &["known"], "stale_document");
        self.row(Axis::Claim, &["agrees"], "claim_mismatch");
        if kind == "purchase" {
            self.row(Axis::Amount, &["within"], "budget_spent");
        }
        let placed: &[&str] = match (self.way, need) {
            ("fill" | "wire", 2) => &["whole"],
            ("fill" | "wire", _) => &["whole", "free_text"],
            _ => &["whole", "free_text", "unplaced"],
        };
        self.row(Axis::Placement, placed, "field_not_allowed");
    }

    fn written(&mut self, event: Event, clause: &'m Clause) {
        let value = clause.value.first().map_or("", String::as_str);
        let (need, unfit) = match event {
            Event::Request(_, need) => (need, "field_not_allowed"),
            Event::Verb(_) => (0, "unplanned_effect"),
        };
        let astray = if event == Event::Verb("open") { "unplanned_effect" } else { "wrong_destination" };
        let rows: Vec<(Axis, Vec<&str>, &'static str)> = match clause.test.as_str() {
            "container" => vec![(Axis::Container, up(tier(value).unwrap_or(need)), "invalid_container")],
            "origin" => vec![
                (Axis::Origin, vec!["task"], "origin_mismatch"),
                (Axis::TopOrigin, vec!["task"], "origin_mismatch"),
            ],
            "tls" => vec![(Axis::Tls, vec!["valid"], "tls_invalid")],
            "frame" => {
                let places = match value {
                    "top" => vec!["top"],
                    "same_origin" => vec!["top", "same_origin"],
                    _ => vec!["top", "same_origin", "cross_origin"],
                };
                vec![(Axis::Frame, places, "frame_not_top")]
            }
            "destination" if value == "task" => {
                vec![(Axis::Destination, vec!["task", "task_over_http"], astray)]
            }
            "destination" => vec![(Axis::Destination, vec!["task", "other"], "tls_invalid")],
            "sink" => vec![(Axis::Sink, clause.value.iter().map(String::as_str).collect(), unfit)],
            "visible" => vec![(Axis::Visibility, vec!["seen"], "occluded")],
            "safety" => vec![(Axis::Safety, up(need), "low_safety")],
            "flow" if value == "own" => vec![(Axis::Flow, vec!["own"], "cross_origin_flow")],
            "flow" => vec![(Axis::Flow, vec!["own", "stays"], "cross_origin_flow")],
            other => panic!("no meaning: {other}"),
        };
        let rows = rows.into_iter().map(|(axis, pass, code)| Row { axis, pass, code, clause: Some(clause) });
        self.rows.extend(rows);
    }

    pub fn answer(&self, ask: &mut Asker<'_>) -> Answer {
        if let Some(answer) = self.fixed {
            return answer;
        }
        let mut asked = self.consent;
        for row in &self.rows {
            if let Some((signal, symbols)) = row.clause.and_then(|clause| clause.when.as_ref()) {
                let axis = Axis::from_name(signal).unwrap();
                match ask.name(axis) {
                    "unknown" => return Answer::Deny(axis, unknown(axis)),
                    symbol if !symbols.iter().any(|named| named == symbol) => continue,
                    _ => {}
                }
            }
            match ask.name(row.axis) {
                symbol if row.pass.contains(&symbol) => {}
                "unknown" => return Answer::Deny(row.axis, unknown(row.axis)),
                _ if row.clause.is_some_and(|clause| clause.asks) => asked = asked.or(Some("every_time")),
                _ => return Answer::Deny(row.axis, row.code),
            }
        }
        let Some(scope) = asked else { return Answer::Grant(self.way) };
        match ask.name(Axis::Consent) {
            "given" => Answer::Grant(self.way),
            "refused" => Answer::Deny(Axis::Consent, "consent_denied"),
            "expired" => Answer::Deny(Axis::Consent, "consent_expired"),
            _ if self.prompts_limited && ask.name(Axis::Prompts) == "spent" => {
                Answer::Deny(Axis::Prompts, "budget_spent")
            }
            _ => Answer::Ask(scope),
        }
    }
}

/// The code of a signal that is unknown; a site is unknown where a host is.
fn unknown(axis: Axis) -> &'static str {
    match axis {
        Axis::Site | Axis::Origin => "signal_unknown:origin",
        Axis::TopOrigin => "signal_unknown:top_origin",
        Axis::Container => "signal_unknown:container",
        Axis::Tls => "signal_unknown:tls",
        Axis::Frame => "signal_unknown:frame",
        Axis::Document => "signal_unknown:document",
        Axis::Destination => "signal_unknown:destination",
        Axis::Sink => "signal_unknown:sink",
        Axis::Amount => "signal_unknown:amount",
        Axis::Visibility => "signal_unknown:visibility",
        Axis::Safety => "signal_unknown:safety",
        Axis::Flow => "signal_unknown:flow",
        other => panic!("{} is never unknown", other.as_str()),
    }
}
