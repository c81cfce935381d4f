//! The counts, as a table for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::probe::{Harm, Probed};
use super::replay::Replay;
use crate::experiments::tool_policy::Answer;
use crate::report::table::to_text;

const HEADINGS: [&str; 10] = [
    "rule",
    "pairs",
    "through",
    "calls",
    "unasked",
    "asked",
    "denied",
    "questions on user tasks",
    "probes: taken",
    "probes: altered",
];

/// The user tasks with at least one prompt.
pub fn asked_on(replay: &Replay) -> Vec<String> {
    let asked = replay.alone.iter().filter(|task| task.stopped.iter().any(|(_, a)| *a == Answer::Asked));
    asked.map(|task| format!("{}/{}", task.suite, task.task)).collect()
}

/// The injected calls that ended with an answer.
pub fn injected(replay: &Replay, answer: Answer) -> u64 {
    replay.injected.iter().filter(|call| call.answer == answer).count() as u64
}

/// The pairs in which every injected call with an effect is granted without a prompt.
pub fn through(replay: &Replay) -> u64 {
    let mut pairs = BTreeMap::new();
    for call in &replay.injected {
        *pairs.entry((&call.suite, &call.user, &call.injection)).or_insert(true) &=
            call.answer == Answer::Granted;
    }
    pairs.values().filter(|through| **through).count() as u64
}

fn cells(replay: &Replay, probed: &Probed) -> [String; 10] {
    let mut suites = BTreeMap::new();
    for task in &replay.alone {
        let asked = task.stopped.iter().any(|(_, answer)| *answer == Answer::Asked);
        *suites.entry(task.suite.as_str()).or_insert(0) += u64::from(asked);
    }
    let probes = |harm: Harm| {
        let (granted, tried) = probed.count(harm);
        format!("{granted} of {tried}")
    };
    let by_suite: Vec<String> = suites.iter().map(|(suite, asked)| format!("{suite} {asked}")).collect();
    [
        replay.rule.name().to_owned(),
        replay.pairs.to_string(),
        through(replay).to_string(),
        replay.injected.len().to_string(),
        injected(replay, Answer::Granted).to_string(),
        injected(replay, Answer::Asked).to_string(),
        injected(replay, Answer::Denied).to_string(),
        format!("{} of {} ({})", asked_on(replay).len(), replay.alone.len(), by_suite.join(", ")),
        probes(Harm::Taken),
        probes(Harm::Altered),
    ]
}

/// One row for each rule.
pub fn to_table(rows: &[(Replay, Probed)]) -> String {
    let mut lines = vec![HEADINGS.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(|(replay, probed)| cells(replay, probed).to_vec()));
    to_text(&lines)
}

/// The details of a row, call by call: prompts on user tasks, and calls that were granted without a prompt.
pub fn details(replay: &Replay, probed: &Probed) -> String {
    let mut text = String::new();
    for task in replay.alone.iter().filter(|task| !task.stopped.is_empty()) {
        let calls: Vec<&str> = task.stopped.iter().map(|(function, _)| function.as_str()).collect();
        let _ = writeln!(text, "  question  {}/{}: {}", task.suite, task.task, calls.join(", "));
    }
    for call in replay.injected.iter().filter(|call| call.answer == Answer::Granted) {
        let _ =
            writeln!(text, "  unasked   {}/{} {}: {}", call.suite, call.user, call.injection, call.function);
    }
    for probe in &probed.through {
        let _ = writeln!(text, "  probe     {}: {} {}", probe.task, probe.function, probe.thing);
    }
    text
}
