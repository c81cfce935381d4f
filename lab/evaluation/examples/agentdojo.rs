//! Replays AgentDojo's tasks under `policies/tool_agent.policy`:
//! `cargo run -p evaluation --example agentdojo -- FOLDER [--details]`.
//!
//! Exit codes: 0 no injected call with an effect is granted without a prompt, and there are no more prompts than under
//! the argument rule; 1 otherwise; 2 bad input; 3 the folder is absent.

use std::path::Path;
use std::process::ExitCode;

use browser_signals::Observed;
use evaluation::agentdojo::probe::probe;
use evaluation::agentdojo::replay::replay;
use evaluation::agentdojo::rule::Rule;
use evaluation::agentdojo::suite::{LoadError, load};
use evaluation::agentdojo::table::{asked_on, details, injected, to_table};
use evaluation::agentdojo::tools::tool;
use evaluation::tool_policy::{Answer, Judge, POLICY};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.iter().find(|argument| !argument.starts_with("--")) else {
        eprintln!("usage: agentdojo FOLDER [--details]");
        return ExitCode::from(2);
    };
    let suites = match load(Path::new(folder)) {
        Ok(suites) => suites,
        Err(error) => {
            eprintln!("agentdojo: {error}");
            return ExitCode::from(if matches!(error, LoadError::Absent(_)) { 3 } else { 2 });
        }
    };
    let mut judge = match Judge::new(POLICY, |page| Observed::simulated(page, 1)) {
        Ok(judge) => judge,
        Err(error) => {
            eprintln!("agentdojo: {error}");
            return ExitCode::from(2);
        }
    };
    let rows: Vec<_> =
        Rule::ALL.map(|rule| (replay(&suites, rule, &mut judge), probe(&suites, rule, &mut judge))).into();
    print!("{}", to_table(&rows));
    if let Some((replay, _)) = rows.first() {
        println!(
            "{} more pairs list no calls of the attacker, and {} no read of the user: not replayed.",
            replay.without_calls, replay.without_reads
        );
    }
    for offered in
        suites.iter().flat_map(|suite| &suite.tools).filter(|offered| tool(&offered.name).is_none())
    {
        println!("{} is not in the list of tools: it counts as an effect.", offered.name);
    }
    if arguments.iter().any(|argument| argument == "--details") {
        rows.iter()
            .for_each(|(replay, probed)| print!("{}\n{}", replay.rule.name(), details(replay, probed)));
    }
    let of = |rule: Rule| rows.iter().map(|(replay, _)| replay).find(|replay| replay.rule == rule);
    let holds = of(Rule::Named).zip(of(Rule::Destinations)).is_some_and(|(ours, theirs)| {
        injected(ours, Answer::Granted) == 0 && asked_on(ours).len() <= asked_on(theirs).len()
    });
    if holds { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
