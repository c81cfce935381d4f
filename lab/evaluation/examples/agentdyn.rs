//! Replays AgentDyn's recorded runs under a few rules, by `policies/tool_agent.policy`: `cargo run -p evaluation --example agentdyn -- FOLDER`.
//!
//! Exit codes: 0 under our rule an agent that obeys everything gets through in no pair; 1 otherwise; 2 bad input.

use std::path::Path;
use std::process::ExitCode;

use browser_signals::Observed;
use evaluation::agentdyn::data::load;
use evaluation::agentdyn::replay::{Rule, replay, to_table};
use evaluation::tool_policy::{Judge, POLICY};

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: agentdyn FOLDER");
        return ExitCode::from(2);
    };
    let data = match load(Path::new(&folder)) {
        Ok(data) => data,
        Err(error) => {
            eprintln!("agentdyn: {error}");
            return ExitCode::from(2);
        }
    };
    let mut judge = match Judge::new(POLICY, |page| Observed::simulated(page, 1)) {
        Ok(judge) => judge,
        Err(error) => {
            eprintln!("agentdyn: {error}");
            return ExitCode::from(2);
        }
    };
    let rows: Vec<_> = Rule::ALL.into_iter().map(|rule| (rule, replay(&data, rule, &mut judge))).collect();
    print!("{}", to_table(&rows));
    let ours = rows.iter().find(|(rule, _)| *rule == Rule::Provenance);
    if ours.is_some_and(|(_, found)| found.obedient.1 == 0) { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
