//! Assembles the folder of the collections that models are trained on, and checks every file of it.
//!
//! `cargo run -p classifier-training --bin assemble -- [--from SOURCE=CLONE]... [--only COLLECTION]... FOLDER`
//!
//! Without `--from` it only checks the folder; `--list` lists the collections with their sources and licences. The exit
//! code is 1 if a file is missing or differs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use classifier_training::collections::Manifest;

const USAGE: &str =
    "usage: assemble [--from SOURCE=CLONE]... [--only COLLECTION]... FOLDER, or assemble --list";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(complete) => ExitCode::from(u8::from(!complete)),
        Err(error) => {
            eprintln!("assemble: {error}");
            ExitCode::from(2)
        }
    }
}

/// Assembles the folder, reports, and says whether the folder is complete.
fn run(mut arguments: impl Iterator<Item = String>) -> Result<bool, Box<dyn std::error::Error>> {
    let (mut folders, mut only, mut folder) = (BTreeMap::new(), Vec::new(), None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--from" => {
                let pair = arguments.next().ok_or(USAGE)?;
                let (name, clone) = pair.split_once('=').ok_or(USAGE)?;
                folders.insert(name.to_owned(), PathBuf::from(clone));
            }
            "--list" => {
                print!("{}", Manifest::shipped()?.summary());
                return Ok(true);
            }
            "--only" => only.push(arguments.next().ok_or(USAGE)?),
            _ if folder.is_none() && !argument.starts_with('-') => folder = Some(argument),
            _ => return Err(USAGE.into()),
        }
    }
    let folder = folder.ok_or(USAGE)?;
    let assembly = Manifest::shipped()?.assemble(&folders, &only, Path::new(&folder))?;
    for (file, problem) in &assembly.problems {
        println!("{file} {problem}");
    }
    println!(
        "{folder}: {} files written, {} kept, {} missing or different",
        assembly.written.len(),
        assembly.kept.len(),
        assembly.problems.len()
    );
    Ok(assembly.problems.is_empty())
}
