//! The `portcullis` command.
//!
//! Exit codes: 0 done and nothing found, 1 a finding (a proof fails, a leak, a broken record), 2 bad
//! input, 3 something is not set up.

#[macro_use]
extern crate portcullis_cli;

mod audit;
mod consent;
mod doctor;
#[cfg(unix)]
mod guarding;
#[cfg(unix)]
mod init;
#[cfg(unix)]
mod install_host;
#[cfg(unix)]
mod login;
#[cfg(unix)]
mod mcp;
#[cfg(unix)]
mod native_host;
#[cfg(unix)]
mod options_file;
mod policy;
mod quarantine;
mod scrub;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod setup;
mod sirl;
#[cfg(unix)]
mod task;
mod vault;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use portcullis_cli::files::read_text;
use portcullis_cli::{classify, failure, forms, hmm, manual};

/// Lets a language model drive a real browser with a person's data, without trusting the model or the page.
#[derive(Parser)]
#[command(name = "portcullis", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Stand between an MCP client and its browser: the tools of playwright-mcp, every call decided.
    #[cfg(unix)]
    Mcp(Box<mcp::Arguments>),
    /// Make a vault, and put the guard into the configurations of the MCP clients of this machine, after showing them.
    #[cfg(unix)]
    Init(init::Arguments),
    /// Install what the guard needs and this machine lacks: Chromium.
    #[cfg(unix)]
    Setup(setup::Arguments),
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
    /// Log in to a site by hand, and keep the login for tasks of an agent that sees neither password nor cookie.
    #[cfg(unix)]
    Login(login::Arguments),
    /// Keep values that only a grant opens.
    #[command(subcommand)]
    Vault(vault::Command),
    /// Print what the agent would read of a page, and what was withheld from it.
    Scrub(scrub::Arguments),
    /// Write down what the agent would read of many pages, for measuring.
    Expose(scrub::expose::Arguments),
    /// Say what the guard takes each control of a page for, and why.
    Forms(forms::Arguments),
    /// Look at what was withheld from the model as an attack.
    #[command(subcommand)]
    Quarantine(quarantine::Command),
    /// List and take back the answers that stand.
    #[command(subcommand)]
    Consent(consent::Command),
    /// Look ahead in a text with a small model of a language model.
    #[command(subcommand)]
    Hmm(hmm::Command),
    /// Use the small models and detectors that read untrusted text.
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
    #[cfg(unix)]
    let line = match options_file::with_options_file(&Arguments::command(), std::env::args_os().collect()) {
        Ok(line) => line,
        Err(failure) => return failure.report(),
    };
    #[cfg(not(unix))]
    let line = std::env::args_os();
    let done = match Arguments::parse_from(line).command {
        #[cfg(unix)]
        Command::Mcp(arguments) => mcp::run(*arguments),
        #[cfg(unix)]
        Command::Init(arguments) => init::run(&arguments),
        #[cfg(unix)]
        Command::Setup(arguments) => setup::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Completions(arguments) => {
            manual::completions::<Arguments>(&arguments);
            Ok(())
        }
        Command::Man(arguments) => manual::pages::<Arguments>(&arguments),
        Command::Policy(command) => policy::run(command),
        Command::Sirl(command) => sirl::run(command),
        #[cfg(unix)]
        Command::Login(arguments) => login::run(arguments),
        Command::Vault(command) => vault::run(command),
        Command::Scrub(arguments) => scrub::run(&arguments),
        Command::Expose(arguments) => scrub::expose::run(&arguments),
        Command::Forms(arguments) => forms::run(&arguments),
        Command::Quarantine(command) => quarantine::run(&command),
        Command::Consent(command) => consent::run(command),
        Command::Hmm(command) => hmm::run(&command),
        Command::Classify(command) => classify::run(&command),
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
