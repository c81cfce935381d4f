//! The evaluator: it tries the rules of a policy one by one, in the order of the signals.

use policy_dfa::{Axis, ConsentScope, Outcome};

use crate::enumerate::Asker;
use crate::model::{Clause, Event, Model, tier};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// The signal whose guard refuses, and the code.
    Deny(Axis, &'static str),
    /// The consent scope.
    Ask(&'static str),
    /// The delivery, or `verb` for a verb.
    Grant(&'static str),
}

impl Answer {
    pub fn permits(self) -> bool {
        !matches!(self, Answer::Deny(..))
    }

    pub fn grants(self) -> bool {
        matches!(self, Answer::Grant(_))
    }

    /// Whether an outcome of the automaton is the same.
    pub fn is(self, outcome: Outcome) -> bool {
        match (self, outcome) {
            (Answer::Deny(axis, code), Outcome::Deny(guard, reason)) => {
                axis == guard && reason.code() == code
            }
            (Answer::Ask(until), Outcome::Ask(scope)) => until == scope_name(scope),
            (Answer::Grant(delivery), Outcome::Grant(by)) => delivery == by.map_or("verb", |by| by.as_str()),
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

/// A guard.
struct Guard<'m> {
    axis: Axis,
    pass: Vec<&'m str>,
    code: &'static str,
    clause: Option<&'m Clause>,
    /// Whether it is about the frame of a payment provider, or about every other; none where it is about both.
    in_provider: Option<bool>,
}

/// The rules of one event.
pub struct Rules<'m> {
    /// The answer of an event without rules.
    fixed: Option<Answer>,
    guards: Vec<Guard<'m>>,
    consent: Option<&'static str>,
    /// Whether the task's mandate takes the place of a question that no guard asks.
    mandate: bool,
    delivery: &'static str,
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
            guards: Vec::new(),
            consent: None,
            mandate: false,
            delivery: "verb",
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
                let way = section.and_then(|request| request.deliver.iter().find(|way| *way != "ucp"));
                let section = section.filter(|_| way.is_some());
                if let (Some(request), Some(way)) = (section, way) {
                    let scope = known_word(&request.consent, &["none", "session", "site", "every_time"]);
                    rules.consent = Some(scope).filter(|scope| *scope != "none");
                    rules.mandate = request.mandate;
                    rules.delivery = known_word(way, &["fill", "wire", "payment_api", "model"]);
                    rules.implied(kind, need);
                }
                section.map(|request| &request.clauses)
            }
            Event::Checkout(kind, _) => {
                let section = self.requests.iter().find(|request| request.kind == kind);
                let section = section.filter(|request| request.deliver.iter().any(|way| way == "ucp"));
                if let Some(request) = section {
                    let scope = known_word(&request.consent, &["none", "session", "site", "every_time"]);
                    rules.consent = Some(scope).filter(|scope| *scope != "none");
                    rules.mandate = request.mandate;
                    rules.delivery = "ucp";
                    rules.implied_at_endpoint(kind);
                }
                section.map(|request| &request.clauses)
            }
        };
        let Some(written) = written else {
            let code = match event {
                Event::Request(..) | Event::Checkout(..) => "delivery_forbidden",
                Event::Verb(_) => "verb_not_allowed",
            };
            rules.fixed = Some(Answer::Deny(Axis::Plan, code));
            return rules;
        };
        if self.has_site_rule(event) {
            rules.guard(Axis::Site, &["free"], "site_denied");
        }
        if self.can_be_barred(event, true) {
            rules.guard(Axis::Taint, &["clean"], "tainted_session");
        }
        if self.can_be_barred(event, false) {
            rules.guard(Axis::Session, &["free"], "session_rule");
        }
        if self.limit(event).is_some() {
            rules.guard(Axis::Uses, &["under"], "limit_reached");
        }
        for clause in written {
            // No control is there to be seen.
            if !(matches!(event, Event::Checkout(..)) && clause.test == "visible") {
                rules.written(event, clause);
            }
        }
        if matches!(event, Event::Request(..)) && written.iter().any(Clause::lets_provider_in) {
            rules.divide_by_provider();
        }
        // Guards on one signal keep the order of the canonical form.
        rules.guards.sort_by_key(|guard| guard.axis as usize);
        rules
    }
}

impl<'m> Rules<'m> {
    fn guard(&mut self, axis: Axis, pass: &[&'static str], code: &'static str) {
        self.guards.push(Guard { axis, pass: pass.to_vec(), code, clause: None, in_provider: None });
    }

    /// In the frame of a provider, the origin and the destination are the provider's.
    fn divide_by_provider(&mut self) {
        let all = std::mem::take(&mut self.guards);
        for mut guard in all {
            if matches!(guard.axis, Axis::Origin | Axis::Destination) {
                let (code, axis, clause) = (guard.code, guard.axis, guard.clause);
                guard.in_provider = Some(false);
                self.guards.push(guard);
                let pass = vec!["provider"];
                self.guards.push(Guard { axis, pass, code, clause, in_provider: Some(true) });
            } else {
                self.guards.push(guard);
            }
        }
    }

    /// The guards that every request has.
    fn implied(&mut self, kind: &str, need: usize) {
        self.guard(Axis::Plan, &["planned"], "unplanned_request");
        self.guard(Axis::Document, &["known"], "stale_document");
        self.guard(Axis::Claim, &["agrees"], "claim_mismatch");
        if kind == "purchase" {
            self.guard(Axis::Amount, &["within"], "budget_spent");
        }
        if kind == "payment" {
            self.guard(Axis::Amount, &["within", "unnamed"], "budget_spent");
        }
        let placed: &[&str] = match (self.delivery, need) {
            ("fill" | "wire", 2) => &["whole"],
            ("fill" | "wire", _) => &["whole", "free_text"],
            _ => &["whole", "free_text", "unplaced"],
        };
        self.guard(Axis::Placement, placed, "no_control");
    }

    /// The guards that every order at a shop's endpoint has.
    fn implied_at_endpoint(&mut self, kind: &str) {
        self.guard(Axis::Plan, &["planned"], "unplanned_request");
        self.guard(Axis::Origin, &["task"], "origin_mismatch");
        self.guard(Axis::TopOrigin, &["task"], "origin_mismatch");
        self.guard(Axis::Tls, &["valid"], "tls_invalid");
        self.guard(Axis::Frame, &["top"], "frame_not_top");
        self.guard(Axis::Document, &["known"], "stale_document");
        // An endpoint elsewhere is the wrong one, and one of the task without https is in clear.
        self.guard(Axis::Destination, &["task", "task_over_http", "task_on_loopback"], "wrong_destination");
        self.guard(Axis::Destination, &["task"], "tls_invalid");
        self.guard(Axis::Claim, &["agrees"], "claim_mismatch");
        if kind == "purchase" {
            self.guard(Axis::Amount, &["within"], "budget_spent");
        }
        self.guard(Axis::Placement, &["whole", "free_text", "unplaced"], "no_control");
    }

    fn written(&mut self, event: Event, clause: &'m Clause) {
        let value = clause.value.first().map_or("", String::as_str);
        let (need, wrong_sink) = match event {
            Event::Request(_, need) | Event::Checkout(_, need) => (need, "field_not_allowed"),
            Event::Verb(_) => (0, "form_protected"),
        };
        let wrong_destination =
            if event == Event::Verb("open") { "outside_task" } else { "wrong_destination" };
        let rows: Vec<(Axis, Vec<&str>, &'static str)> = match clause.test.as_str() {
            "container" => vec![(Axis::Container, up(tier(value).unwrap_or(need)), "invalid_container")],
            "origin" => vec![
                (Axis::Origin, value.split("_or_").collect(), "origin_mismatch"),
                (Axis::TopOrigin, vec!["task"], "origin_mismatch"),
            ],
            "tls" => vec![(Axis::Tls, value.split("_or_").collect(), "tls_invalid")],
            "frame" => {
                let frames = match value {
                    "top" => vec!["top"],
                    "same_origin" => vec!["top", "same_origin"],
                    "top_or_provider" => vec!["top", "provider"],
                    "provider" => vec!["provider"],
                    _ => vec!["top", "same_origin", "cross_origin", "provider"],
                };
                vec![(Axis::Frame, frames, "frame_not_top")]
            }
            "destination" if value.starts_with("task") => {
                let mut passing = vec!["task", "task_over_http", "task_on_loopback"];
                passing.extend((value == "task_or_provider").then_some("provider"));
                vec![(Axis::Destination, passing, wrong_destination)]
            }
            "destination" => {
                let passing = value.split("_or_").flat_map(|channel| match channel {
                    "https" => vec!["task", "other", "provider"],
                    "loopback" => vec!["task_on_loopback", "other_on_loopback"],
                    other => panic!("unknown channel: {other}"),
                });
                vec![(Axis::Destination, passing.collect(), "tls_invalid")]
            }
            "sink" => vec![(Axis::Sink, clause.value.iter().map(String::as_str).collect(), wrong_sink)],
            "visible" => vec![(Axis::Visibility, vec!["seen"], "occluded")],
            "safety" => vec![(Axis::Safety, up(need), "low_safety")],
            "flow" if value == "own" => vec![(Axis::Flow, vec!["own"], "cross_origin_flow")],
            "flow" => vec![(Axis::Flow, vec!["own", "stays"], "cross_origin_flow")],
            other => panic!("unknown test: {other}"),
        };
        let rows = rows.into_iter().map(|(axis, pass, code)| Guard {
            axis,
            pass,
            code,
            clause: Some(clause),
            in_provider: None,
        });
        self.guards.extend(rows);
    }

    pub fn answer(&self, ask: &mut Asker<'_>) -> Answer {
        if let Some(answer) = self.fixed {
            return answer;
        }
        let (mut asked, mut mandate) = (self.consent, self.mandate);
        for guard in &self.guards {
            if let Some((signal, symbols)) = guard.clause.and_then(|clause| clause.when.as_ref()) {
                let axis = Axis::from_name(signal).unwrap();
                match ask.name(axis) {
                    "unknown" => return Answer::Deny(axis, unknown(axis)),
                    symbol if !symbols.iter().any(|named| named == symbol) => continue,
                    _ => {}
                }
            }
            if let Some(within) = guard.in_provider {
                match ask.name(Axis::Frame) {
                    "unknown" => return Answer::Deny(Axis::Frame, unknown(Axis::Frame)),
                    frame if (frame == "provider") != within => continue,
                    _ => {}
                }
            }
            match ask.name(guard.axis) {
                symbol if guard.pass.contains(&symbol) => {}
                "unknown" => return Answer::Deny(guard.axis, unknown(guard.axis)),
                // Only the user can judge it.
                "doubtful" if matches!(self.delivery, "fill" | "wire") => {
                    (asked, mandate) = (Some("every_time"), false);
                }
                // What the policy says of consent otherwise does not matter any more.
                _ if guard.clause.is_some_and(|clause| clause.asks) => {
                    (asked, mandate) = (Some("every_time"), false);
                }
                _ => return Answer::Deny(guard.axis, guard.code),
            }
        }
        let Some(scope) = asked else { return Answer::Grant(self.delivery) };
        match ask.name(Axis::Consent) {
            "given" => Answer::Grant(self.delivery),
            "refused" => Answer::Deny(Axis::Consent, "consent_denied"),
            "expired" => Answer::Deny(Axis::Consent, "consent_expired"),
            "mandated" if mandate => Answer::Grant(self.delivery),
            _ if self.prompts_limited && ask.name(Axis::Prompts) == "spent" => {
                Answer::Deny(Axis::Prompts, "questions_spent")
            }
            _ => Answer::Ask(scope),
        }
    }
}

/// The reason code of an unknown signal. A site is unknown where a host is unknown.
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
