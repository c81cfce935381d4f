//! `portcullis init`: a vault, and the guard in the configurations of the MCP clients of this machine. Nothing is written before it was shown.
//!
//! | module | subject |
//! |---|---|
//! | `clients` | the MCP clients of this machine, and their configurations |
//! | `entry` | an entry in a configuration in JSON, put in and taken out |
//! | `table` | the same in TOML |

mod clients;
mod entry;
mod table;

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use clients::{ALL, Client, Command};
use entry::{EntryError, NAME};

use crate::failure::Failure;
use crate::policy::compile;
use crate::vault::{Target, make, usual};

/// The longest answer, in bytes: a path.
const LONGEST_LINE: usize = 4096;

const ENDED: &str = "the input ended before every question was answered; nothing was written";

/// The minutes for which a vault stays unlocked where the user wants that for the day.
const A_DAY: &str = "600";

#[derive(clap::Args)]
pub struct Arguments {
    /// The vault's file, which is made if it does not exist [default: ~/.portcullis/vault].
    #[arg(long, value_name = "FILE")]
    vault: Option<PathBuf>,
    /// The audit log's folder [default: ~/.portcullis/audit].
    #[arg(long, value_name = "FOLDER")]
    audit: Option<PathBuf>,
    /// A policy of yours, in place of the shipped one.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Take the default answer to each question. A new vault's passphrase is asked for nevertheless.
    #[arg(long)]
    yes: bool,
    /// Show what would be written, and write nothing.
    #[arg(long, conflicts_with = "undo")]
    dry_run: bool,
    /// Take the guard out of the clients' configurations. The vault and the audit log stay.
    #[arg(long)]
    undo: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let home = discovery::variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| Failure::NotSetUp("HOME names no whole path".to_owned()))?;
    if arguments.undo {
        return undo(&home);
    }
    // Without a buffer, since the passphrase of a new vault may follow.
    let input = io::stdin().as_fd().try_clone_to_owned();
    let input = input.map_err(|error| Failure::Input(format!("nobody can be asked: {error}")))?;
    let mut person = Person { input: fs::File::from(input), takes_defaults: arguments.yes };
    let own = env::current_exe().map_err(|error| Failure::NotSetUp(error.to_string()))?;
    let mut command = clients::command(&own, discovery::on_path("portcullis").as_deref());
    command.1.push("mcp".to_owned());

    let vault = arguments.vault.clone().unwrap_or_else(|| usual("vault"));
    let audit = arguments.audit.clone().unwrap_or_else(|| usual("audit"));
    let is_there = vault.symlink_metadata().is_ok();
    let question =
        format!("Keep your addresses, cards and logins in an encrypted vault at {}?", vault.display());
    let has_vault = is_there || person.agrees(&question, true)?;
    if has_vault {
        for (option, path) in [("--vault", &vault), ("--audit", &audit)] {
            command.1.extend([option.to_owned(), path.display().to_string()]);
        }
        let day = "Keep the vault unlocked for ten hours after you typed its passphrase, instead of a quarter of an hour?";
        if person.agrees(day, false)? {
            command.1.extend(["--keep-unlocked", A_DAY].map(str::to_owned));
        }
        if discovery::on_path("keepassxc").is_some()
            && person.agrees("Take logins from your KeePassXC?", false)?
        {
            command.1.extend(["--source", "keepassxc"].map(str::to_owned));
        }
    }
    if let Some(policy) = policy(arguments.policy.as_deref(), &mut person)? {
        command.1.extend(["--policy".to_owned(), policy.display().to_string()]);
    }
    let found: Vec<&Client> = ALL.iter().filter(|client| client.is_there(&home)).collect();
    let mut changes = Vec::new();
    for client in found {
        changes.extend(change(client, &home, &command)?);
    }
    for Change { client, file, after, .. } in &changes {
        println!("\n{}: {} becomes\n\n{after}", client.name, file.display());
    }
    if arguments.dry_run {
        println!("nothing was written");
        return Ok(());
    }
    if has_vault && !is_there {
        make(&Target { vault: vault.clone(), passphrase_fd: None, audit: None })?;
    }
    let is_written = !changes.is_empty() && person.agrees("Write this?", true)?;
    if is_written {
        for change in &changes {
            change.write()?;
        }
        println!("written; `portcullis init --undo` takes it out again. Restart the client");
    } else {
        println!("start the guard from any MCP client by: {} {}", command.0, shown(&command.1));
    }
    if command.1.iter().any(|word| word == "keepassxc") {
        println!("next: `portcullis vault connect {} keepassxc`", vault.display());
    } else if has_vault && !is_there {
        println!("next: `portcullis vault add {} address:home street`, and so on", vault.display());
    }
    Ok(())
}

/// The whole path of the user's policy, which holds; none for the shipped one.
fn policy<R: Read>(named: Option<&Path>, person: &mut Person<R>) -> Result<Option<PathBuf>, Failure> {
    let holds = |file: &Path| {
        compile::holds(file)?;
        let whole = fs::canonicalize(file);
        whole.map_err(|error| Failure::Input(format!("{}: {error}", file.display())))
    };
    if let Some(file) = named {
        return holds(file).map(Some);
    }
    loop {
        let file = person.line_for("The file of a policy of your own, or Enter for the shipped one:")?;
        if file.is_empty() {
            return Ok(None);
        }
        match holds(Path::new(&file)) {
            Ok(whole) => return Ok(Some(whole)),
            Err(failure) => {
                let _code = failure.report();
            }
        }
    }
}

/// A configuration of a client, as it was read and as it becomes.
struct Change<'a> {
    client: &'a Client,
    file: PathBuf,
    before: String,
    after: String,
}

impl Change<'_> {
    /// Puts the new text in the place of the old one, with its rights, or leaves the old one.
    fn write(&self) -> Result<(), Failure> {
        let file = &self.file;
        // Some clients write their configuration often, and what they wrote since then would be lost.
        if read(file)? != self.before {
            return Err(Failure::Input(format!(
                "{} was changed by another program meanwhile, and stays as it is; do this again",
                file.display()
            )));
        }
        // A link, as some people have for their configurations, stays a link.
        let real = fs::canonicalize(file).unwrap_or_else(|_| file.clone());
        let put = || {
            // For the user alone until it has the rights of the old file: it may hold keys of the client's.
            let mut draft = tempfile::NamedTempFile::new_in(real.parent().unwrap_or(Path::new("/")))?;
            draft.write_all(self.after.as_bytes())?;
            if let Ok(old) = fs::metadata(&real) {
                draft.as_file().set_permissions(old.permissions())?;
            }
            draft.as_file().sync_all()?;
            draft.persist(&real).map(drop).map_err(|error| error.error)
        };
        put().map_err(|error: io::Error| {
            Failure::Input(format!("{}: {error}; it is as it was", file.display()))
        })
    }
}

/// The change of a client's configuration, if it changes. One that is not understood is left alone, and the user is told.
fn change<'a>(client: &'a Client, home: &Path, command: &Command) -> Result<Option<Change<'a>>, Failure> {
    let file = client.file(home);
    let before = read(&file)?;
    let (name, shown_file) = (client.name, file.display());
    match client.put(&before, command) {
        Ok(Some(after)) => return Ok(Some(Change { client, file, before, after })),
        Ok(None) => println!("{name}: the guard is there already"),
        Err(EntryError::AlreadyThere) => println!(
            "{name}: {shown_file} has another entry `{NAME}`, which stays; `portcullis init --undo` takes it out"
        ),
        Err(EntryError::Unreadable) => println!(
            "{name}: {shown_file} is left alone, since it is not {}; put `{} {}` into it yourself",
            client.wanted(),
            command.0,
            shown(&command.1)
        ),
    }
    Ok(None)
}

fn undo(home: &Path) -> Result<(), Failure> {
    let mut count = 0;
    for client in &ALL {
        let file = client.file(home);
        let before = read(&file)?;
        match client.taken_out(&before) {
            Ok(Some(after)) => {
                println!("{}: taken out of {}", client.name, file.display());
                Change { client, file, before, after }.write()?;
                count += 1;
            }
            // A configuration with comments is none that the guard was put into; the user may have done that.
            Err(EntryError::Unreadable) if before.contains(NAME) => {
                println!(
                    "{}: {} is left alone; look for `{NAME}` in it yourself",
                    client.name,
                    file.display()
                );
            }
            _ => {}
        }
    }
    if count == 0 {
        println!("no client's configuration has the guard");
    }
    println!(
        "your vault and the audit log stay: {} and {} unless you named others",
        usual("vault").display(),
        usual("audit").display()
    );
    Ok(())
}

/// The text of a configuration; empty if there is none.
fn read(file: &Path) -> Result<String, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::Input(format!("{}: {error}; nothing was written", file.display()))),
    }
}

fn shown(arguments: &[String]) -> String {
    arguments
        .iter()
        .map(|word| if word.contains(' ') { format!("'{word}'") } else { word.clone() })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The person at the terminal.
struct Person<R> {
    input: R,
    takes_defaults: bool,
}

impl<R: Read> Person<R> {
    /// The next line with its end; empty at the end of the input.
    fn line(&mut self) -> io::Result<String> {
        let mut byte = [0];
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\n") && bytes.len() < LONGEST_LINE && self.input.read(&mut byte)? > 0 {
            bytes.extend(byte);
        }
        String::from_utf8(bytes).map_err(|_| io::Error::other("the answer is no text in UTF-8"))
    }

    /// Asks for a line, and returns it without the space around it; an empty line is the default.
    fn line_for(&mut self, question: &str) -> Result<String, Failure> {
        if self.takes_defaults {
            return Ok(String::new());
        }
        eprint!("{question} ");
        let _shown_later = io::stderr().flush();
        let line = self.line().map_err(|error| Failure::Input(error.to_string()))?;
        if line.is_empty() {
            return Err(Failure::Input(ENDED.to_owned()));
        }
        Ok(line.trim().to_owned())
    }

    /// Asks; an empty line is the default.
    fn agrees(&mut self, question: &str, default: bool) -> Result<bool, Failure> {
        if self.takes_defaults {
            return Ok(default);
        }
        let choices = if default { "[Y/n]" } else { "[y/N]" };
        loop {
            match self.line_for(&format!("{question} {choices}"))?.to_ascii_lowercase().as_str() {
                "" => return Ok(default),
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => eprintln!("write `y` or `n`"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    #[test]
    fn an_answer_is_yes_no_or_the_default_and_an_end_is_none() {
        let mut person = Person { input: &b"\n\nmaybe\ny\nN\n"[..], takes_defaults: false };
        let mut next = |default| person.agrees("?", default).ok();
        assert_eq!(
            [next(true), next(false), next(false), next(true)],
            [Some(true), Some(false), Some(true), Some(false)]
        );
        assert_eq!(next(true), None);
    }

    fn change(file: &Path, before: &str) -> bool {
        let (before, after) = (before.to_owned(), "{\"a\": 1}".to_owned());
        Change { client: &ALL[0], file: file.to_path_buf(), before, after }.write().is_ok()
    }

    #[test]
    fn a_configuration_keeps_its_rights_and_its_link() {
        let home = tempfile::tempdir().unwrap();
        let (file, link) = (home.path().join("real.json"), home.path().join("link.json"));
        fs::write(&file, "{}").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        assert!(change(&link, "{}"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"a\": 1}");
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
        assert!(link.is_symlink() && mode & 0o777 == 0o640);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "no draft stays");
    }

    #[test]
    fn a_configuration_that_its_client_wrote_meanwhile_stays() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("a.json");
        fs::write(&file, "{\"new\": 1}").unwrap();
        assert!(!change(&file, "{}"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"new\": 1}");
        assert!(change(&home.path().join("none.json"), ""), "one that is not there is made");
    }
}
