//! The counts of the record: only sessions that were guarded under this policy.

use std::collections::{BTreeMap, BTreeSet};

use portcullis::audit::{Record, SessionId};
use serde_json::Value;

use super::LeftOut;

/// The answers to questions about one kind of request on one origin.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answers {
    pub yes: u32,
    pub no: u32,
    /// The number of sessions with each answer.
    pub sessions_yes: BTreeSet<String>,
    pub sessions_no: BTreeSet<String>,
}

/// The number of denials, and their sessions.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    pub count: u32,
    pub sessions: BTreeSet<String>,
}

/// The counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Sessions under this policy.
    pub sessions: u32,
    /// Sessions under other policies, which are no evidence about this one.
    pub of_other_policies: u32,
    /// Sessions without a guard, in which the user answered nothing.
    pub observed: u32,
    /// Answers by kind and origin.
    pub answers: BTreeMap<(String, String), Answers>,
    /// The kinds that were requested, with any result.
    pub kinds: BTreeSet<String>,
    /// The verbs that were tried.
    pub verbs: BTreeSet<String>,
    /// Denials by event, origin and reason.
    pub refused: BTreeMap<(String, String, String), Refusals>,
    /// The most prompts of one session.
    pub most_prompts: u32,
}

impl Evidence {
    /// Counts the records of the sessions that started under the policy with this hash.
    pub fn of(records: Vec<Record>, hash: &str) -> Evidence {
        let mut evidence = Evidence::default();
        let mut ours: BTreeMap<SessionId, u32> = BTreeMap::new();
        let mut asked: BTreeMap<String, Record> = BTreeMap::new();
        for record in records {
            let session = record.session;
            match record.event.as_str() {
                "started" if text(&record, "policy") == hash => {
                    evidence.sessions += 1;
                    ours.insert(session, 0);
                }
                "started" => evidence.of_other_policies += 1,
                "observing" => evidence.observed += 1,
                _ => {}
            }
            let Some(prompts) = ours.get_mut(&session) else { continue };
            match record.event.as_str() {
                "consent_asked" => {
                    *prompts += 1;
                    evidence.most_prompts = evidence.most_prompts.max(*prompts);
                    asked.insert(text(&record, "ticket"), record);
                }
                "consent_answered" => {
                    if let Some(question) = asked.remove(&text(&record, "ticket")) {
                        evidence.answered(&question, &text(&record, "answer"));
                    }
                }
                "verb" => {
                    let verb = text(&record, "verb");
                    evidence.verbs.insert(verb.clone());
                    evidence.refusal(&record, verb, &text(&record, "refused"));
                }
                "refused" => {
                    let kind = text(&record, "kind");
                    evidence.kinds.insert(kind.clone());
                    evidence.refusal(&record, kind, &text(&record, "reason"));
                }
                "intent" => drop(evidence.kinds.insert(text(&record, "kind"))),
                _ => {}
            }
        }
        evidence
    }

    fn answered(&mut self, question: &Record, answer: &str) {
        let origin = text(question, "origin");
        let about = question.body.get("about").and_then(Value::as_array).into_iter().flatten();
        for kind in about.filter_map(Value::as_str).filter(|word| *word != "container" && *word != "words") {
            self.kinds.insert(kind.to_owned());
            let answers = self.answers.entry((kind.to_owned(), origin.clone())).or_default();
            let session = question.session.to_string();
            if matches!(answer, "no" | "never") {
                answers.no += 1;
                answers.sessions_no.insert(session);
            } else {
                answers.yes += 1;
                answers.sessions_yes.insert(session);
            }
        }
    }

    fn refusal(&mut self, record: &Record, about: String, reason: &str) {
        if reason.is_empty() {
            return;
        }
        let key = (about, text(record, "origin"), reason.to_owned());
        let refusals = self.refused.entry(key).or_default();
        refusals.count += 1;
        refusals.sessions.insert(record.session.to_string());
    }

    /// Events that were denied repeatedly and must not be allowed, with the rule that this would break.
    pub fn left_out(&self, sessions: u32) -> Vec<LeftOut> {
        let often = self.refused.iter().filter(|(_, refusals)| refusals.sessions.len() >= sessions as usize);
        let each = often.map(|((about, origin, reason), refusals)| LeftOut {
            about: format!(
                "allowing {about} on {}, refused {} times in {} sessions ({reason})",
                if origin.is_empty() { "a page without an origin" } else { origin },
                refusals.count,
                refusals.sessions.len()
            ),
            why: why_not(reason).to_owned(),
        });
        each.collect()
    }

    /// Summarises the record in a line.
    pub fn summary(&self) -> String {
        let mut said = format!("{} sessions under this policy", self.sessions);
        if self.of_other_policies > 0 {
            said.push_str(&format!("; {} under others, which say nothing of it", self.of_other_policies));
        }
        if self.observed > 0 {
            said.push_str(&format!("; {} were only observed, and nobody answered in them", self.observed));
        }
        said
    }
}

/// The reason why a denial is no ground for allowing the event.
fn why_not(reason: &str) -> &'static str {
    match reason {
        // Older logs have `unplanned_effect` for what has several reasons now.
        "unplanned_effect" | "unplanned_request" | "outside_task" | "verb_not_allowed" | "form_protected"
        | "control_filled" | "tool_not_allowed" | "origin_mismatch" | "wrong_destination"
        | "frame_not_top" | "field_not_allowed" | "no_control" | "no_form" => {
            "a page would choose where the agent acts; name the place and the need in the task's own words (I14, I16)"
        }
        "invalid_container" => "no sensitive field leaves in a container that the user did not raise (I4)",
        "tls_invalid"
        | "certificate_invalid"
        | "tls_failed"
        | "stale_document"
        | "unknown_element"
        | "occluded" => "the browser did not vouch for the page (I3)",
        "claim_mismatch" => "what the model says of a page never counts against what the browser says (I6)",
        "low_safety" => "that a page looked unsafe is no ground to look less (I8)",
        "egress_blocked" | "value_in_text" | "handle_in_text" | "cross_origin_flow" | "tainted_session" => {
            "what is not the user's to say, or was read elsewhere, does not go out (I1, I13)"
        }
        "consent_denied" | "consent_expired" => "it is the user who said no",
        "nobody_to_ask" => "nobody could be asked, which is no yes",
        "budget_spent" | "limit_reached" | "questions_spent" => {
            "more prompts or more spending is for the user to decide, not for a habit"
        }
        "site_denied" | "session_rule" | "delivery_forbidden" => "a rule of yours says so",
        _ if reason.starts_with("signal_unknown") => "what the browser does not know is refused (I3)",
        _ => "no rule of a policy decides this",
    }
}

fn text(record: &Record, key: &str) -> String {
    record.body.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
