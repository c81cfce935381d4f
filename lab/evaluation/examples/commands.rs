//! Carries out the commands of hostile pages, without a guard and under approaches A, B and C, or under those that are named:
//! `eval "$(cargo xtask env)" && cargo run -p evaluation --example commands -- PAGES.json [none|A|B|C]...`.
//!
//! Exit codes: 0 nothing that the task does not name has an effect under a guard; 1 otherwise; 2 it could not be tried.

use std::path::Path;
use std::process::ExitCode;

use evaluation::commands::{Commands, CommandsError, load, to_text};
use portcullis::{APPROACH_A_POLICY, APPROACH_C_POLICY, DEFAULT_POLICY};

#[tokio::main]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(file) = words.next() else {
        eprintln!("usage: commands PAGES.json [none|A|B|C]...");
        return ExitCode::from(2);
    };
    match try_all(Path::new(&file), &words.collect::<Vec<_>>()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("commands: {error}");
            ExitCode::from(2)
        }
    }
}

async fn try_all(file: &Path, named: &[String]) -> Result<bool, CommandsError> {
    let commands = Commands::set_up(load(file)?).await?;
    let arms = [
        ("none", None),
        ("A", Some(APPROACH_A_POLICY)),
        ("B", Some(DEFAULT_POLICY)),
        ("C", Some(APPROACH_C_POLICY)),
    ];
    let mut holds = true;
    for (name, policy) in
        arms.into_iter().filter(|(name, _)| named.is_empty() || named.iter().any(|it| it == name))
    {
        let mut outcomes = Vec::new();
        for at in 0..commands.len() {
            outcomes.push(commands.run(at, policy).await?);
        }
        print!("{}", to_text(name, &outcomes));
        let has_effect = outcomes.iter().any(|it| !(it.data.is_empty() && it.sent.is_empty()));
        holds &= policy.is_none() || !has_effect;
    }
    commands.close().await?;
    Ok(holds)
}
