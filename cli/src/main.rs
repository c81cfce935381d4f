//! The `portcullis` command.
//!
//! Exit codes: 0 done and nothing found, 1 a finding (a proof fails, a leak, a broken record), 2 bad
//! input, 3 something is not set up.

/// As the standard one, but for a reader that goes away.
macro_rules! print {
    ($($text:tt)*) => { crate::output::write(format_args!($($text)*)) };
}

/// As the standard one, but for a reader that goes away.
macro_rules! println {
    () => { crate::output::write(format_args!("\n")) };
    ($($text:tt)*) => { crate::output::write(format_args!("{}\n", format_args!($($text)*))) };
}

mod attack;
mod audit;
mod classify;
mod consent;
mod demo;
mod doctor;
mod evaluate;
mod failure;
#[cfg(unix)]
mod guarding;
mod hmm;
#[cfg(unix)]
mod install_host;
mod manual;
#[cfg(unix)]
mod mcp;
#[cfg(unix)]
mod native_host;
mod output;
mod policy;
mod quarantine;
mod scrub;
#[cfg(unix)]
mod serve;
mod sirl;
#[cfg(unix)]
mod task;
mod vault;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Lets a language model drive a real browser with a person's data, without trusting the model or the page.
#[derive(Parser)]
#[command(name = "portcullis", version)]
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
    /// Compare approaches on the whole family of pages: trials that can be resumed, and one report.
    Evaluate(evaluate::Arguments),
    /// Stand between an MCP client and its browser: the tools of playwright-mcp, every call decided.
    #[cfg(unix)]
    Mcp(mcp::Arguments),
    /// Say what is found on this machine, what is missing, and how to mend it.
    Doctor(doctor::Arguments),
    /// Print the completions for a shell.
    Completions(manual::Completions),
    /// Write the manual pages into a folder.
    Man(manual::Pages),
    /// Check, prove, explain, compare and show policies.
    #[command(subcommand)]
    Policy(policy::Command),
    /// Read what a model writes, and say what it may write.
    #[command(subcommand)]
    Sirl(sirl::Command),
    /// Keep values that only a grant opens.
    #[command(subcommand)]
    Vault(vault::Command),
    /// Print what the agent would read of a page, and what was withheld from it.
    Scrub(scrub::Arguments),
    /// Write down what the agent would read of many pages, for measuring.
    Expose(scrub::expose::Arguments),
    /// Look at what was withheld from the model as an attack.
    #[command(subcommand)]
    Quarantine(quarantine::Command),
    /// List and take back the answers that stand.
    #[command(subcommand)]
    Consent(consent::Command),
    /// Make and judge the small models that look ahead for a language model.
    #[command(subcommand)]
    Hmm(hmm::Command),
    /// Train, judge and use the small models and detectors that read untrusted text.
    #[command(subcommand)]
    Classify(classify::Command),
    /// Look at the record of what was decided.
    #[command(subcommand)]
    Audit(audit::Command),
    /// Run the guard as a service, for your own browser with the extension and an agent beside you.
    #[cfg(unix)]
    Serve(serve::Arguments),
    /// Begin or end a task of the service: only you do that.
    #[cfg(unix)]
    Task(serve::TaskArguments),
    /// For an agent beside you: read the tab in front, or ask for something.
    #[cfg(unix)]
    Ask(serve::AskArguments),
    /// Carry messages between the extension and the service; the browser starts this.
    #[cfg(unix)]
    NativeHost(native_host::Arguments),
    /// Tell a browser of the native host, so that the extension reaches the service.
    #[cfg(unix)]
    InstallHost(install_host::Arguments),
}

fn main() -> ExitCode {
    for refused in portcullis::process::harden() {
        eprintln!("warning: {refused}");
    }
    let done = match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(arguments),
        Command::Attack(arguments) => attack::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(arguments),
        #[cfg(unix)]
        Command::Mcp(arguments) => mcp::run(arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Completions(arguments) => {
            manual::completions(&arguments);
            Ok(())
        }
        Command::Man(arguments) => manual::pages(&arguments),
        Command::Policy(command) => policy::run(command),
        Command::Sirl(command) => sirl::run(command),
        Command::Vault(command) => vault::run(command),
        Command::Scrub(arguments) => scrub::run(&arguments),
        Command::Expose(arguments) => scrub::expose::run(&arguments),
        Command::Quarantine(command) => quarantine::run(&command),
        Command::Consent(command) => consent::run(command),
        Command::Hmm(command) => hmm::run(command),
        Command::Classify(command) => classify::run(command),
        Command::Audit(command) => audit::run(command),
        #[cfg(unix)]
        Command::Serve(arguments) => serve::run(arguments),
        #[cfg(unix)]
        Command::Task(arguments) => serve::task(&arguments),
        #[cfg(unix)]
        Command::Ask(arguments) => serve::ask(&arguments),
        #[cfg(unix)]
        Command::NativeHost(arguments) => native_host::run(&arguments),
        #[cfg(unix)]
        Command::InstallHost(arguments) => install_host::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Reads a file, or standard input for `-`.
fn read_text(path: &std::path::Path) -> Result<String, Failure> {
    let read = if path.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    read.map_err(|error| Failure::Input(format!("{} cannot be read: {error}", path.display())))
}
