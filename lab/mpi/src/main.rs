//! `portcullis-mpi`: the distillation of a hidden Markov model by the processes of an MPI job.
//!
//! `mpirun -n 8 portcullis-mpi distil ...` gives the bytes of one process. Exit codes are those of `portcullis-lab`: 0 done, 2 the input is
//! bad, 3 something is not set up.
//!
//! | module | subject |
//! |---|---|
//! | [`group`] | the processes of the job, and what they send each other |
//! | [`distil`] | the command: beginning, steps, checkpoints, model |
//! | [`texts`] | the texts to learn from |
//! | [`plan`] | the settings of the training |
//! | [`step`] | one step of all processes |
//! | [`measures`] | processor time and bytes sent |
//! | [`files`] | whole files |
//! | [`failure`] | failures and exit codes |

mod distil;
mod failure;
mod files;
mod group;
mod measures;
mod plan;
mod step;
mod texts;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mpi::environment::{Threading, Universe, initialize_with_threading};
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;

use failure::Failure;
use group::Group;

/// The distillation of a hidden Markov model by the processes of an MPI job.
#[derive(Parser)]
#[command(name = "portcullis-mpi", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Learn a hidden Markov model from what a language model writes; the same bytes with any number of processes.
    Distil(Box<distil::Distil>),
}

fn main() -> ExitCode {
    let Command::Distil(arguments) = Arguments::parse().command;
    // The threads of the E-step send nothing.
    let Some((universe, _)) = initialize_with_threading(Threading::Funneled) else {
        return ended(&Failure::not_set_up("MPI does not start".to_owned()), true);
    };
    abort_on_panic();
    let (done, is_first) = on(&universe, &arguments);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => ended(&failure, is_first),
    }
}

fn on(universe: &Universe, arguments: &distil::Distil) -> (Result<(), Failure>, bool) {
    let group = Group::new(universe.world());
    (distil::run(&group, arguments), group.is_first())
}

/// A process that panics would wait in the end of MPI for the others, which wait for its messages.
fn abort_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        SimpleCommunicator::world().abort(101)
    }));
}

/// Says why the command ends: once, where all processes have the same reason.
fn ended(failure: &Failure, is_first: bool) -> ExitCode {
    if is_first || !failure.is_shared() {
        eprintln!("error: {}", failure.said());
    }
    ExitCode::from(failure.code())
}
