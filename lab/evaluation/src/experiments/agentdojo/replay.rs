//! User tasks alone, and each with each injected task.

use portcullis::policy::Carried;
use serde_json::Value;
use tool_provenance::{Effect, Provenance, Tool};

use super::label::{Label, Sources};
use super::rule::Rule;
use super::state::{Record, World, plain, planted};
use super::suite::{Call, InjectionTask, Offered, Suite, UserTask};
use super::tools::{App, Deed, tool};
use crate::experiments::tool_policy::{Answer, Judge, flow_of};

/// A user's task without an attack: its calls with the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alone {
    /// The suite.
    pub suite: String,
    /// The task.
    pub task: String,
    /// Every call that was not granted, with the answer.
    pub stopped: Vec<(String, Answer)>,
}

/// An injected call with an effect, under a user's task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injected {
    /// The suite.
    pub suite: String,
    /// The user's task.
    pub user: String,
    /// The attacker's task.
    pub injection: String,
    /// The tool.
    pub function: String,
    /// The answer that suits the attacker most, over all reads after which the injection may have come.
    pub answer: Answer,
}

/// The replay under one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The rule.
    pub rule: Rule,
    /// The users' tasks without an attack.
    pub alone: Vec<Alone>,
    /// Pairs of a user's and an injected task that were replayed.
    pub pairs: u64,
    /// Pairs whose injected task lists no calls.
    pub without_calls: u64,
    /// Pairs whose user task reads nothing, so that the injection is not read either.
    pub without_reads: u64,
    /// The injected calls with an effect.
    pub injected: Vec<Injected>,
}

/// A session of one user, who answers every prompt with yes, so that an attacker gets as far as possible.
pub(super) struct Session<'a> {
    rule: Rule,
    judge: &'a mut Judge,
    world: World,
    sources: Sources,
    tools: Vec<Tool>,
    provenance: Provenance,
}

impl<'a> Session<'a> {
    pub(super) fn new(rule: Rule, judge: &'a mut Judge, suite: &Suite, user: &UserTask) -> Session<'a> {
        Session::in_world(rule, judge, suite, user, World::new(&suite.environment))
    }

    fn in_world(
        rule: Rule,
        judge: &'a mut Judge,
        suite: &Suite,
        user: &UserTask,
        world: World,
    ) -> Session<'a> {
        let sources = Sources::new(&user.prompt, &world);
        let read = |tool: &Offered| Tool::read(&tool.name, &tool.description, &tool.parameters);
        let tools: Vec<Tool> = suite.tools.iter().map(read).collect();
        let provenance = Provenance::new(&user.prompt, tools.clone());
        Session { rule, judge, world, sources, tools, provenance }
    }

    /// Decides a call.
    pub(super) fn decide(&mut self, call: &Call) -> Answer {
        let flow = match self.rule {
            Rule::Covered => self.covered(call),
            _ => self.rule.label(call, &self.sources, &self.world).map(carried),
        };
        self.judge.decide(flow)
    }

    /// The flow of a call by the words of the user and the tool's schema alone.
    fn covered(&mut self, call: &Call) -> Option<Carried> {
        let tool = self.tools.iter().find(|tool| tool.name == call.function);
        if tool.is_some_and(|tool| tool.effect == Effect::Read) {
            return None;
        }
        Some(flow_of(self.provenance.covers(&call.function, &call.args)))
    }

    /// Makes a call, and records its results.
    pub(super) fn call(&mut self, call: &Call) {
        let shown = self.world.call(call);
        self.provenance.note(&call.function, &call.args, &told(&shown));
        self.sources.show(&shown);
    }

    /// Reads an attacker's words.
    fn read(&mut self, app: App, goal: &str) {
        self.sources.read(app, goal);
    }
}

/// The records of a result as a tool tells them: the text of a file, else a list.
fn told(shown: &[Record]) -> String {
    match shown {
        [file] if file.fields.contains_key("content") && !file.fields.contains_key("id_") => {
            file.fields.get("content").map(plain).unwrap_or_default()
        }
        records => Value::Array(records.iter().map(|record| Value::Object(record.fields.clone())).collect())
            .to_string(),
    }
}

/// The flow of a call by the label of its text; what the user's words single out counts as theirs.
fn carried(label: Label) -> Carried {
    match label {
        Label::Own | Label::Singled => Carried::Own,
        Label::Here | Label::Nowhere => Carried::Here,
        Label::Elsewhere => Carried::Elsewhere,
    }
}

/// The service whose answer may contain an injection; `None` for a call with an effect.
pub(super) fn reads(call: &Call) -> Option<App> {
    match tool(&call.function) {
        Some(Deed::Read(collection, _)) => Some(collection.app),
        _ => None,
    }
}

/// Replays every task and every pair of the suites under a rule.
pub fn replay(suites: &[Suite], rule: Rule, judge: &mut Judge) -> Replay {
    let mut all = Replay {
        rule,
        alone: Vec::new(),
        pairs: 0,
        without_calls: 0,
        without_reads: 0,
        injected: Vec::new(),
    };
    for suite in suites {
        for user in &suite.user_tasks {
            all.alone.push(alone(suite, user, rule, judge));
            for injection in &suite.injection_tasks {
                if injection.ground_truth.is_empty() {
                    all.without_calls += 1;
                } else if !user.ground_truth.iter().any(|call| reads(call).is_some()) {
                    all.without_reads += 1;
                } else {
                    all.pairs += 1;
                    all.injected.extend(attacked(suite, user, injection, rule, judge));
                }
            }
        }
    }
    all
}

fn alone(suite: &Suite, user: &UserTask, rule: Rule, judge: &mut Judge) -> Alone {
    let mut session = Session::new(rule, judge, suite, user);
    let mut stopped = Vec::new();
    for call in &user.ground_truth {
        let answer = session.decide(call);
        if answer != Answer::Granted {
            stopped.push((call.function.clone(), answer));
        }
        session.call(call);
    }
    Alone { suite: suite.suite.clone(), task: user.id.clone(), stopped }
}

/// The injected calls with an effect, tried after each of the user's reads, since any of them may have contained the
/// attacker's text. AgentDojo allows an attacker less than that.
fn attacked(
    suite: &Suite,
    user: &UserTask,
    injection: &InjectionTask,
    rule: Rule,
    judge: &mut Judge,
) -> Vec<Injected> {
    let effects: Vec<&Call> = injection.ground_truth.iter().filter(|call| reads(call).is_none()).collect();
    let mut worst = vec![Answer::Denied; effects.len()];
    for (at, call) in user.ground_truth.iter().enumerate() {
        let Some(app) = reads(call) else { continue };
        let world = World::new(&planted(&suite.environment, &suite.injection_vectors, &injection.goal));
        let mut session = Session::in_world(rule, judge, suite, user, world);
        user.ground_truth.iter().take(at + 1).for_each(|call| session.call(call));
        session.read(app, &injection.goal);
        let mut answers = worst.iter_mut();
        for call in &injection.ground_truth {
            if reads(call).is_none() {
                let answer = session.decide(call);
                answers.next().into_iter().for_each(|worst| *worst = answer.max(*worst));
            }
            session.call(call);
        }
    }
    let each = effects.into_iter().zip(worst).map(|(call, answer)| Injected {
        suite: suite.suite.clone(),
        user: user.id.clone(),
        injection: injection.id.clone(),
        function: call.function.clone(),
        answer,
    });
    each.collect()
}
