//! The `portcullis-lab` command: what shows, measures and makes the guard, and is not needed to run it.
//!
//! Exit codes are those of `portcullis`: 0 done and nothing found, 1 a finding (a leak, a rate below the one asked for), 2 bad
//! input, 3 something is not set up.

#[macro_use]
extern crate portcullis_cli;

mod attack;
mod classify;
mod demo;
mod evaluate;
mod forms;
mod hmm;
mod progress;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use portcullis_cli::{failure, files, manual};

/// The laboratory of Portcullis: hostile pages, experiments, and the training of its small models.
#[derive(Parser)]
#[command(name = "portcullis-lab", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run agents that can be talked into leaking on hostile shop pages: without a guard, and under A, B and C.
    Demo(demo::Arguments),
    /// Point the hostile pages at an agent or a guard of somebody else's on this machine, and judge what arrives.
    Attack(attack::Arguments),
    /// Compare approaches on the whole benchmark suite: trials that can be resumed, and one report.
    Evaluate(Box<evaluate::Arguments>),
    /// Score how often the guard takes a control of a folder of labelled forms for what it is.
    Forms(forms::Arguments),
    /// Make and judge the small models that look ahead for a language model.
    #[command(subcommand)]
    Hmm(hmm::Command),
    /// Train and judge the small models and detectors that read untrusted text.
    #[command(subcommand)]
    Classify(classify::Command),
    /// Print the completions for a shell.
    Completions(manual::Completions),
    /// Write the manual pages into a folder.
    Man(manual::Pages),
}

fn main() -> ExitCode {
    for refused in portcullis::process::harden() {
        eprintln!("warning: {refused}");
    }
    let done = match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(arguments),
        Command::Attack(arguments) => attack::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Forms(arguments) => forms::run(&arguments),
        Command::Hmm(command) => hmm::run(command),
        Command::Classify(command) => classify::run(command),
        Command::Completions(arguments) => {
            manual::completions::<Arguments>(&arguments);
            Ok(())
        }
        Command::Man(arguments) => manual::pages::<Arguments>(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
