//! Completions for shells and manual pages, both generated from the commands.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::failure::Failure;

/// `portcullis completions`.
#[derive(clap::Args)]
pub struct Completions {
    /// For this shell. For bash: `portcullis completions bash > ~/.local/share/bash-completion/completions/portcullis`
    shell: Shell,
}

/// `portcullis man`.
#[derive(clap::Args)]
pub struct Pages {
    /// The folder for the pages, such as `~/.local/share/man/man1`. It is created if it does not exist.
    folder: PathBuf,
}

/// Prints the completions of a program for a shell.
pub fn completions<Program: CommandFactory>(arguments: &Completions) {
    let mut program = Program::command();
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, name, &mut script);
    print!("{}", String::from_utf8_lossy(&script));
}

/// One page for the program, one for each command, and one for each subcommand: `portcullis-vault-add.1`.
pub fn pages<Program: CommandFactory>(arguments: &Pages) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let failed =
        |path: &Path, error| Failure::Input(format!("{} cannot be written: {error}", path.display()));
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut program = Program::command().disable_help_subcommand(true);
    let name = program.get_name().to_owned();
    // Gives every command its full name, and its own help the arguments of all.
    program.build();
    let mut written = 0_u32;
    let mut waiting = vec![program];
    while let Some(command) = waiting.pop() {
        waiting.extend(command.get_subcommands().filter(|one| !one.is_hide_set()).cloned());
        let source = format!("{name} {}", env!("CARGO_PKG_VERSION"));
        let page = clap_mangen::Man::new(command).source(source).manual("Portcullis");
        let path = folder.join(page.get_filename());
        let mut text = Vec::new();
        page.render(&mut text).and_then(|()| fs::write(&path, text)).map_err(|error| failed(&path, error))?;
        written += 1;
    }
    println!("{written} pages in {}; read one with `man -l {}/{name}.1`", folder.display(), folder.display());
    Ok(())
}
