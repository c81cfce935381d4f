//! The conclusions from the record, and the conclusions that it does not support.

use portcullis::policy::Policy;
use portcullis::signals::Origin;
use portcullis::sirl::Kind;
use serde_json::{Value, json};

use super::LeftOut;
use super::evidence::Evidence;

/// Each use of these differs: another amount, another code, another reason for identification.
const ASKED_EACH_TIME: [&str; 4] = ["purchase", "payment", "otp", "identity"];

/// The number of sessions without a use that show that something is not needed, for each session that makes a habit.
const UNUSED: u32 = 2;

/// One change of a policy, before its proof.
#[derive(Debug, PartialEq)]
pub struct Idea {
    /// A description of the change.
    pub change: String,
    /// The evidence.
    pub because: String,
    /// The kind of request whose questions the change reduces; `None` if it only restricts.
    pub loosens: Option<Kind>,
    /// The path in the policy's JSON form, and its new value; null removes it.
    pub edit: Vec<(Vec<String>, Value)>,
}

/// The supported ideas, and the ones that only look supported.
pub fn of(evidence: &Evidence, policy: &Policy, sessions: u32) -> (Vec<Idea>, Vec<LeftOut>) {
    let form: Value = serde_json::from_str(&policy.to_json()).unwrap_or_default();
    let mut ideas = Vec::new();
    let mut left_out = Vec::new();
    for kind in Kind::ALL {
        let rule = form.pointer(&format!("/requests/{}", kind.as_str()));
        let Some(rule) = rule.filter(|rule| delivers(rule)) else { continue };
        match ask_less(evidence, kind, rule, sessions) {
            Some(Ok(idea)) => ideas.push(idea),
            Some(Err(not)) => left_out.push(not),
            None => {}
        }
        ideas.extend(unused_kind(evidence, kind, sessions));
    }
    ideas.extend(refused_places(evidence, &form, sessions));
    ideas.extend(unused_verbs(evidence, &form, sessions));
    ideas.extend(fewer_prompts(evidence, &form, sessions));
    (ideas, left_out)
}

fn delivers(rule: &Value) -> bool {
    rule.get("deliver").and_then(Value::as_array).is_some_and(|ways| !ways.is_empty())
}

/// Prompts that were always answered with yes: a yes may hold longer. It still holds only for the site on which it was
/// given.
fn ask_less(evidence: &Evidence, kind: Kind, rule: &Value, sessions: u32) -> Option<Result<Idea, LeftOut>> {
    let name = kind.as_str();
    let of_kind = evidence.answers.iter().filter(|((about, _), _)| about == name);
    let always = |(_, answers): &(_, &super::evidence::Answers)| {
        answers.no == 0 && answers.sessions_yes.len() >= sessions as usize
    };
    let ((_, origin), answers) = of_kind.clone().find(always)?;
    let (times, of) = (answers.yes, answers.sessions_yes.len());
    let because = format!("it was always answered with yes on {origin}: {times} times in {of} sessions");
    if ASKED_EACH_TIME.contains(&name) {
        return Some(Err(LeftOut {
            about: format!("asking less often about {name}"),
            why: format!("{because}, but each is about another amount, code or paper"),
        }));
    }
    // A no on any site shows that the question is needed.
    if let Some(((_, elsewhere), answers)) = of_kind.clone().find(|(_, answers)| answers.no > 0) {
        return Some(Err(LeftOut {
            about: format!("asking less often about {name}"),
            why: format!("{because}, but {} times with no on {elsewhere}", answers.no),
        }));
    }
    let (from, to, words) = match rule.get("consent").and_then(Value::as_str)? {
        "every_time" => ("every time", "session", "once per session"),
        "session" => ("once per session", "site", "once per site"),
        _ => return None,
    };
    let path = ["requests", name, "consent"].map(str::to_owned).to_vec();
    Some(Ok(Idea {
        change: format!("request {name}: `consent {words}` in place of `consent {from}`"),
        because,
        loosens: Some(kind),
        edit: vec![(path, to.into())],
    }))
}

fn enough(evidence: &Evidence, sessions: u32) -> bool {
    evidence.sessions >= sessions.saturating_mul(UNUSED)
}

/// A kind that was never requested does not need to be delivered.
fn unused_kind(evidence: &Evidence, kind: Kind, sessions: u32) -> Option<Idea> {
    let name = kind.as_str();
    if !enough(evidence, sessions) || evidence.kinds.contains(name) {
        return None;
    }
    let path = |part: &str| ["requests", name, part].map(str::to_owned).to_vec();
    Some(Idea {
        change: format!("request {name}: `deliver nothing`"),
        because: format!("it was never asked for in {} sessions", evidence.sessions),
        loosens: None,
        edit: vec![(path("deliver"), json!([])), (path("clauses"), Value::Null)],
    })
}

/// Verbs that were never used. Reading and waiting need no rule.
fn unused_verbs(evidence: &Evidence, form: &Value, sessions: u32) -> Vec<Idea> {
    let rules = form.get("verbs").and_then(Value::as_object).into_iter().flatten();
    let unused = rules.filter(|(verb, _)| enough(evidence, sessions) && !evidence.verbs.contains(*verb));
    let idea = |verb: &str| Idea {
        change: format!("no rule for the verb {verb}, so that it is refused"),
        because: format!("it was never used in {} sessions", evidence.sessions),
        loosens: None,
        edit: vec![(vec!["verbs".to_owned(), verb.to_owned()], Value::Null)],
    };
    unused.map(|(verb, _)| idea(verb)).collect()
}

/// Questions that were always answered with no do not need to be asked.
fn refused_places(evidence: &Evidence, form: &Value, sessions: u32) -> Vec<Idea> {
    let mut sites = form.get("sites").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut ideas = Vec::new();
    for ((about, origin), answers) in &evidence.answers {
        let is_kind = Kind::ALL.iter().any(|kind| kind.as_str() == about);
        if !is_kind || answers.yes > 0 || answers.sessions_no.len() < sessions as usize {
            continue;
        }
        let Ok(host) = Origin::parse(origin).map(|origin| origin.host().to_owned()) else { continue };
        let known = sites.iter_mut().find(|rule| rule.get("site").and_then(Value::as_str) == Some(&host));
        match known.and_then(|rule| rule.get_mut("never")).and_then(Value::as_array_mut) {
            Some(never) => never.push(about.clone().into()),
            None => sites.push(json!({ "site": host, "never": [about] })),
        }
        ideas.push(Idea {
            change: format!("site \"{host}\" {{ never {about} }}"),
            because: format!(
                "it was always answered with no there, in {} sessions",
                answers.sessions_no.len()
            ),
            loosens: None,
            edit: vec![(vec!["sites".to_owned()], Value::Array(sites.clone()))],
        });
    }
    ideas
}

/// A limit of prompts far above the use so far. It is lowered to one more than the maximum.
fn fewer_prompts(evidence: &Evidence, form: &Value, sessions: u32) -> Option<Idea> {
    let limit = form.pointer("/session/at_most/prompts").and_then(Value::as_u64)?;
    let enough_prompts = u64::from(evidence.most_prompts) + 1;
    if !enough(evidence, sessions) || limit <= enough_prompts {
        return None;
    }
    Some(Idea {
        change: format!("session: `at most {enough_prompts} prompts` in place of {limit}"),
        because: format!("no session of {} needed more than {}", evidence.sessions, evidence.most_prompts),
        loosens: None,
        edit: vec![(["session", "at_most", "prompts"].map(str::to_owned).to_vec(), enough_prompts.into())],
    })
}
