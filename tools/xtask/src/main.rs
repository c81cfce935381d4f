//! Set-up, demo and checks of the workspace: `cargo xtask help` lists the commands.
//!
//! | module | subject |
//! |---|---|
//! | [`debian`] | packages, where we may install them |
//! | [`npm`] | packages of npm in the target folder, pinned by checksum |
//! | [`node`] | Node: the system's, or a pinned one |
//! | [`playwright`] | the pinned `playwright-core` |
//! | [`libtorch`] | libtorch for the CPU, where it is asked for |
//! | [`open_mpi`] | Open MPI and libclang, where they are asked for |
//! | [`setup`] | everything the programs need, found or installed, and the environment that names it |
//! | [`licences`] | every dependency's licence against a list |
//! | [`lints`] | Clippy in the build of the tests |
//! | [`fuzz`] | the targets of `tools/fuzz/` under libFuzzer |
//! | [`test_programs`] | every test of the workspace |
//! | [`parallel`] | several things at a time |
//! | [`frameworks`] | what stands on agent frameworks of others |
//! | [`coding_agents`] | Claude Code and Codex as clients |
//! | [`documents`] | paths in the documents |
//! | [`packages`] | what the published packages hold |
//! | [`package`] | what people without Rust install |
//! | [`checks`] | the steps of `cargo xtask test` |
//! | [`real`] | tasks on software that nobody here wrote |
//! | [`programs`] | programs that use the crates as strangers do |
//! | [`process`] | running programs, and exit codes |

mod checks;
mod coding_agents;
mod debian;
mod documents;
mod frameworks;
mod fuzz;
mod libtorch;
mod licences;
mod lints;
mod node;
mod npm;
mod open_mpi;
mod package;
mod packages;
mod parallel;
mod playwright;
mod playwright_mcp;
mod process;
mod programs;
#[cfg(unix)]
mod real;
mod setup;
mod test_programs;

use process::{Failure, Place};
use std::env;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask <command>

  setup           find or install Node, playwright-core, @playwright/mcp, Chromium and certutil; [--torch] libtorch instead
  demo [args]     set up, build, and run `portcullis-lab demo [args]` with the small agent model too
  evaluate [args] set up, build, and run `portcullis-lab evaluate [args]`: --seeds N, --power, ...
  test            set up, then check format, documents, licences, packages and lints, and run every test; [--torch] those of lm-torch;
                  [--mpi] those of portcullis-mpi, under mpirun; [--frameworks] those on rig, browser-use, Claude Code and Codex, which are fetched; [--programs] the programs that use the
                  crates as strangers do, each built alone from nothing
  extension [folder]
                  write the browser extension into a folder (default target/extension), for chrome://extensions
  real [task]...  on Debian as root: fetch and set up shops, wikis and trackers on this machine, and do tasks in them with and
                  without the guard; `password-managers`: test the clients of KeePassXC, pass and GNOME Keyring against the real ones, and
                  the lock of the vault when the system sleeps against a mock of the login manager
  package         make what people without Rust install, for this machine: for npm and PyPI, a package of Debian's, a tarball, a bundle for MCP
                  clients; [try [WAY]...] try them in a root file system of their own, on Debian as root
  bench [name]    set up, then run one benchmark, or all
  fuzz [target]   run the fuzz targets, or one; [--seconds N] each (default 5), or on one [--input FILE]
  licences        check the licence of every dependency
  documents       check that every path and link in the documents leads somewhere
  packages        check what the published packages hold, and that they depend on published packages
  env             set up, and print the environment for a shell: eval \"$(cargo xtask env)\"
  help            print this

exit codes: 0 done, 1 a finding, 2 bad input, 3 something is not set up; else the failed program's own";

fn main() -> ExitCode {
    let outcome = if lints::is_compiler() {
        lints::compile(env::args_os().skip(1))
    } else {
        let mut arguments = env::args().skip(1);
        let command = arguments.next().unwrap_or_default();
        let rest: Vec<String> = arguments.collect();
        run(&command, &rest)
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("{}", failure.message);
            }
            ExitCode::from(failure.code)
        }
    }
}

fn run(command: &str, arguments: &[String]) -> Result<(), Failure> {
    let torch = matches!(command, "setup" | "test") && matches!(arguments, [one] if one == "--torch");
    let frameworks = command == "test" && matches!(arguments, [one] if one == "--frameworks");
    let programs = command == "test" && matches!(arguments, [one] if one == "--programs");
    let mpi = command == "test" && matches!(arguments, [one] if one == "--mpi");
    let known = torch || frameworks || programs || mpi;
    if matches!(command, "setup" | "test" | "licences" | "documents" | "packages" | "env" | "help")
        && !arguments.is_empty()
        && !known
    {
        let more = match command {
            "setup" => " but --torch",
            "test" => " but --torch, --mpi, --frameworks or --programs",
            _ => "",
        };
        return Err(Failure::input(format!("`{command}` takes no arguments{more}\n\n{USAGE}")));
    }
    let place = Place::here()?;
    match command {
        "setup" if torch => libtorch::find_or_install(&place).map(|libtorch| libtorch.announce()),
        "test" if torch => {
            let libtorch = libtorch::find_or_install(&place)?;
            libtorch.announce();
            let tools = setup::set_up(&place)?;
            tools.announce();
            checks::run_torch(&place, &tools, &libtorch)
        }
        "test" if frameworks => {
            let tools = setup::set_up(&place)?;
            tools.announce();
            frameworks::run_all(&place, &tools)
        }
        "test" if mpi => {
            open_mpi::find_or_install()?;
            checks::run_mpi(&place)
        }
        "test" if programs => programs::run_all(&place),
        "setup" => setup::set_up(&place).map(|tools| tools.announce()),
        "demo" | "evaluate" => demo(&place, command, arguments),
        "test" => {
            let tools = setup::set_up(&place)?;
            tools.announce();
            checks::run_all(&place, &tools)
        }
        "extension" => extension(&place, arguments),
        #[cfg(unix)]
        "real" => real::command(&place, arguments),
        "package" => package::command(&place, arguments),
        "bench" => bench(&place, arguments),
        "fuzz" => fuzz::command(&place, arguments),
        "licences" => licences::check(&place),
        "documents" => documents::check(&place),
        "packages" => packages::check(&place),
        "env" => {
            let tools = setup::set_up(&place)?;
            let libtorch = libtorch::find(&place)?.map(|libtorch| libtorch.environment());
            for (name, value) in tools.environment().into_iter().chain(libtorch.unwrap_or_default()) {
                println!("export {name}='{}'", value.to_string_lossy().replace('\'', r"'\''"));
            }
            Ok(())
        }
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        "" => Err(Failure::input(USAGE.to_owned())),
        other => Err(Failure::input(format!("there is no command `{other}`\n\n{USAGE}"))),
    }
}

/// Builds in the same profile as the tests, so that a newcomer compiles once, and runs in the caller's
/// folder, so that a relative `--json FILE` lands where it was meant.
fn demo(place: &Place, command: &str, arguments: &[String]) -> Result<(), Failure> {
    let tools = setup::set_up(place)?;
    tools.announce();
    let mut build = place.cargo();
    build.args(["build", "--package", "portcullis-lab"]);
    process::run(build.envs(tools.environment()))?;
    let mut demo = Command::new(place.binary("portcullis-lab"));
    demo.arg(command).args(arguments).envs(tools.environment());
    let names = |argument: &String| argument.split('=').next() == Some("--agent-model");
    if command == "demo" && !arguments.iter().any(names) {
        demo.arg("--agent-model").arg(place.root.join("lab/agent-model/model"));
    }
    process::run(&mut demo)
}

/// Writes the browser extension into a folder of the caller's, or into the target folder.
fn extension(place: &Place, arguments: &[String]) -> Result<(), Failure> {
    let folder = match arguments {
        [] => place.target.join("extension"),
        [folder] if !folder.starts_with('-') => folder.into(),
        _ => return Err(Failure::input(format!("`extension` takes one folder\n\n{USAGE}"))),
    };
    portcullis_extension::write_to(&folder)
        .map_err(|error| Failure::input(format!("{} cannot be written: {error}", folder.display())))?;
    println!("load {} on chrome://extensions", folder.display());
    Ok(())
}

/// The benchmarks that need libtorch.
const ON_TORCH: [&str; 1] = ["decode"];

fn bench(place: &Place, arguments: &[String]) -> Result<(), Failure> {
    let (name, rest) = match arguments.split_first() {
        Some((name, rest)) => (name.as_str(), rest),
        None => ("*", arguments),
    };
    let mut bench = place.cargo();
    bench.arg("bench");
    if ON_TORCH.contains(&name) {
        let libtorch = libtorch::find_or_install(place)?;
        libtorch.announce();
        bench.args(["--package", "lm-torch"]).envs(libtorch.environment());
    } else {
        let tools = setup::set_up(place)?;
        tools.announce();
        bench.envs(tools.environment());
    }
    process::run(bench.args(["--bench", name, "--"]).args(rest))
}
