//! `portcullis vault init | add | list`.

use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use portcullis::guard::SystemEntropy;
use portcullis::policy::{Policy, Verifier, authority};
use portcullis::sirl::Field;
use portcullis::vault::{Binding, Entropy, Entry, KdfParams, Secret, Vault};
use zeroize::Zeroizing;

use crate::failure::Failure;

#[derive(Subcommand)]
pub enum Command {
    /// Make a new, empty vault.
    Init {
        /// The vault's file. It must not exist.
        vault: PathBuf,
    },
    /// Put a value into a vault. The value is asked for, or read from standard input; never an argument.
    Add {
        /// The vault's file.
        vault: PathBuf,
        /// The record, such as `address:home` or `card:personal`.
        handle: String,
        /// The field, such as `street` or `card_number`.
        field: String,
    },
    /// List records and fields; values are never shown.
    List {
        /// The vault's file.
        vault: PathBuf,
    },
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Init { vault } => init(&vault),
        Command::Add { vault, handle, field } => add(&vault, &handle, &field),
        Command::List { vault } => {
            let opened = open(&vault)?;
            for Entry { handle, field, binding, .. } in opened.entries() {
                println!("{handle}\t{}\t{}\t{binding}", field.as_str(), field.tier().as_str());
            }
            Ok(())
        }
    }
}

fn init(path: &Path) -> Result<(), Failure> {
    if path.exists() {
        return Err(Failure::Input(format!("{} exists already; nothing was changed", path.display())));
    }
    let passphrase = secret("New passphrase: ")?;
    if std::io::stdin().is_terminal() && !same(&passphrase, &secret("The same again: ")?) {
        return Err(Failure::Input("the two passphrases differ; nothing was written".to_owned()));
    }
    let mut entropy = SystemEntropy;
    let vault = Vault::create(&sealed(&passphrase), &mut entropy, KdfParams::DEFAULT, verifier()?)
        .map_err(|error| Failure::Input(error.to_string()))?;
    write(path, &vault.to_bytes(&mut entropy).map_err(|error| Failure::Input(error.to_string()))?)?;
    println!("{} is ready; add values with `portcullis vault add {0} address:home street`", path.display());
    Ok(())
}

fn add(path: &Path, handle: &str, field: &str) -> Result<(), Failure> {
    let Some(field) = Field::from_name(field) else {
        let names: Vec<&str> = Field::ALL.iter().map(|field| field.as_str()).collect();
        return Err(Failure::Input(format!("`{field}` is not a field; use one of {}", names.join(", "))));
    };
    let mut vault = open(path)?;
    let value = secret(&format!("{handle} {}: ", field.as_str()))?;
    let mut entropy = SystemEntropy;
    vault
        .insert(handle, field, sealed(&value), &Binding::Anywhere, &mut entropy)
        .map_err(|error| Failure::Input(error.to_string()))?;
    write(path, &vault.to_bytes(&mut entropy).map_err(|error| Failure::Input(error.to_string()))?)?;
    println!("{handle} {} is in {}", field.as_str(), path.display());
    Ok(())
}

fn open(path: &Path) -> Result<Vault, Failure> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|error| Failure::Input(format!("{} cannot be read: {error}", path.display())))?;
    let passphrase = secret("Passphrase: ")?;
    Vault::unlock(&bytes, &sealed(&passphrase), verifier()?)
        .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}

/// A vault belongs to an authority. This one dies with the command, and with it every grant it could make:
/// the command only writes and lists.
fn verifier() -> Result<Verifier, Failure> {
    let broken = |error: String| Failure::NotSetUp(format!("the shipped policy does not hold: {error}"));
    let policy = Policy::parse(portcullis::DEFAULT_POLICY).map_err(|error| broken(error.to_string()))?;
    let compiled = policy.compile().map_err(|error| broken(error.to_string()))?;
    let checked = compiled.check().map_err(|_| broken("an invariant".to_owned()))?;
    let mut id = [0; 16];
    SystemEntropy.fill(&mut id);
    Ok(authority(checked, id).1)
}

fn sealed(text: &Zeroizing<String>) -> Secret {
    Secret::new(text.as_bytes())
}

fn same(one: &Zeroizing<String>, other: &Zeroizing<String>) -> bool {
    one.as_bytes() == other.as_bytes()
}

/// Reads one line: from the terminal without echo, else from standard input.
fn secret(prompt: &str) -> Result<Zeroizing<String>, Failure> {
    let line = if std::io::stdin().is_terminal() {
        rpassword::prompt_password(prompt)
    } else {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    };
    let mut line =
        Zeroizing::new(line.map_err(|error| Failure::Input(format!("no value was read: {error}")))?);
    let length = line.trim_end_matches(['\r', '\n']).len();
    line.truncate(length);
    if line.is_empty() {
        return Err(Failure::Input("no value was given; nothing was changed".to_owned()));
    }
    Ok(line)
}

/// Writes a file whole or not at all: a new file beside it, synced, then moved over it.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().map_or_else(|| "vault".into(), |name| name.to_string_lossy().into_owned());
    let draft = folder.join(format!(".{name}.new"));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&draft, path)?;
        File::open(folder)?.sync_all()
    });
    written.map_err(|error| {
        Failure::Input(format!("{} cannot be written: {error}; the old file is untouched", path.display()))
    })
}
