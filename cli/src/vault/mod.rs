//! `portcullis vault`: values that only a grant opens.
//!
//! No command prints a value. Commands that need no value do not ask for the passphrase.

mod cache;
mod change;
mod from_file;
#[cfg(unix)]
mod guarded;
#[cfg(unix)]
mod locking;
#[cfg(unix)]
mod logins;
mod opened;
#[cfg(unix)]
pub mod pinentry;
mod place;
mod recorded;
mod replaced;
mod secrets;
mod show;
#[cfg(unix)]
mod sources;

use std::path::PathBuf;

use clap::{Args, Subcommand};
#[cfg(unix)]
use credential_sources::agent_access::RelayAddress;
#[cfg(unix)]
use portcullis::storage::vault_file::VaultFile;
#[cfg(unix)]
use portcullis::vault::{Meta, UnlockKey};

use crate::failure::Failure;
use secrets::Source;

pub use cache::{holds as cached, works as keyring_works};
#[cfg(unix)]
pub use change::init as make;
#[cfg(unix)]
pub use guarded::Guarded;
#[cfg(unix)]
pub use logins::{day, now_ms, sweep};
pub use opened::{By, Opened, Witness};
pub use place::{count, trouble as unusable, usual};
#[cfg(unix)]
pub use sources::SourceArguments;

/// The vault, and the source of its passphrase.
#[derive(Args)]
pub struct Target {
    /// The vault's file.
    pub vault: PathBuf,
    /// Read the passphrase from this file descriptor instead of the terminal or standard input. Further secrets follow,
    /// one line each.
    #[arg(long, value_name = "NUMBER")]
    pub passphrase_fd: Option<u32>,
    /// Record changes in this audit log, which is created if it does not exist. It must belong to the vault; if it
    /// cannot be written, nothing is changed.
    #[arg(long, value_name = "FOLDER")]
    pub audit: Option<PathBuf>,
}

impl Target {
    /// The source of secrets.
    pub fn source(&self) -> Result<Source, Failure> {
        Source::new(self.passphrase_fd)
    }
}

/// The key of a vault, if it is in the system's keyring.
#[cfg(unix)]
pub fn cached_key(path: &std::path::Path) -> Result<Option<UnlockKey>, Failure> {
    let bytes = VaultFile::read_only(path).map_err(|error| place::unusable(path, &error))?;
    let meta = Meta::read(&bytes).map_err(opened::bad)?;
    Ok(cache::find(meta.id))
}

#[derive(Subcommand)]
pub enum Command {
    /// Make a new, empty vault. Its folder is created if it does not exist, and must be for you alone.
    Init {
        #[command(flatten)]
        target: Target,
    },
    /// Put a value into a vault. The value is asked for, or read as a line or from a file; never an argument. For one-time codes
    /// (`login:shop one_time_code`) it is the seed that the site shows when you set up an authenticator.
    Add {
        #[command(flatten)]
        target: Target,
        /// The record, such as `address:home` or `card:personal`.
        handle: String,
        /// The field, such as `street` or `card_number`.
        field: String,
        /// Where the value may go: an origin such as `https://shop.example`, `site example.org` for all hosts of a
        /// site, or `anywhere`. A login must name an origin.
        #[arg(long, value_name = "PLACE", default_value = "anywhere")]
        bound_to: String,
        /// Read the value from the first line of a file, or the seed of one-time codes from a picture of its QR code (PNG).
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },
    /// List records and fields; values are never shown.
    List {
        #[command(flatten)]
        target: Target,
    },
    /// Show the file's header without its passphrase, and its backups.
    ShowMeta {
        /// The vault's file.
        vault: PathBuf,
    },
    /// Remove every value of a record.
    Rm {
        #[command(flatten)]
        target: Target,
        /// The record, such as `address:home`.
        handle: String,
    },
    /// Change the passphrase. The values and their key stay as they are.
    Passwd {
        #[command(flatten)]
        target: Target,
    },
    /// Encrypt every value again under a new key. Earlier copies of the file keep the old one.
    Rotate {
        #[command(flatten)]
        target: Target,
    },
    /// Store the vault's key in the system's keyring for some time, so that the passphrase is not needed.
    Unlock {
        #[command(flatten)]
        target: Target,
        /// The time in minutes. Linux deletes the key by itself; other systems store it until `lock`.
        #[arg(long, default_value_t = 15, value_name = "MINUTES")]
        minutes: u64,
    },
    /// Delete the vault's key from the system's keyring, and lock the vault in a guard that uses it.
    Lock {
        /// The vault's file.
        vault: PathBuf,
    },
    /// Write all values into a file that the program `age` opens with a passphrase of its own.
    Export {
        #[command(flatten)]
        target: Target,
        /// The file to write. It must not exist.
        file: PathBuf,
    },
    /// Put the values of an exported file into a vault.
    Import {
        #[command(flatten)]
        target: Target,
        /// The file, as `export` writes it.
        file: PathBuf,
    },
    /// Put a backup in the place of the file, which becomes a backup itself.
    ///
    /// With `--audit` you are asked for the passphrase of the backup, and the log accepts the older vault.
    Restore {
        #[command(flatten)]
        target: Target,
        /// The number of the backup, from 1, the newest.
        #[arg(default_value_t = 1)]
        backup: u8,
    },
    /// Declare that you replaced the audit log or restored the vault from a copy yourself.
    ///
    /// With `--audit` the vault belongs to that log from now on; without, it forgets its log, and belongs to the next
    /// one.
    Accept {
        #[command(flatten)]
        target: Target,
    },
    /// Connect a password manager, so that a guard with `--source` takes logins and one-time codes from it. You agree in its own
    /// window, or give the token that your device shows, after the vault's passphrase; the vault keeps the key by which it knows the guard.
    #[cfg(unix)]
    Connect {
        #[command(flatten)]
        target: Target,
        /// The password manager.
        #[arg(value_enum)]
        manager: sources::Manager,
        /// The relay over which a device is reached by `agent-access`, such as `wss://relay.example`.
        #[arg(long, value_name = "ADDRESS")]
        relay: Option<RelayAddress>,
    },
    /// Say which password managers are connected, and whether they answer.
    #[cfg(unix)]
    Sources {
        #[command(flatten)]
        target: Target,
    },
    /// List the logins that you saved with `portcullis login`, and when they end.
    #[cfg(unix)]
    Logins {
        #[command(flatten)]
        target: Target,
    },
    /// Forget a login that you saved with `portcullis login`.
    #[cfg(unix)]
    ForgetLogin {
        #[command(flatten)]
        target: Target,
        /// The site, such as `https://shop.example`.
        site: String,
        /// Open a window with the login first, in which you sign out, so that the site ends the login too. It needs a display, and
        /// `--audit` with the vault's log.
        #[arg(long, requires = "audit")]
        sign_out: bool,
        /// Private hosts (`host` or `host:port`) that the window may open nevertheless.
        #[arg(long, value_name = "HOST", value_delimiter = ',', requires = "sign_out")]
        private_hosts: Vec<String>,
    },
    /// Set the phrase that the consent page shows, which tells it from an imitation.
    Phrase {
        #[command(flatten)]
        target: Target,
    },
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Init { target } => change::init(&target),
        Command::Add { target, handle, field, bound_to, from } => {
            change::add(&target, (&handle, &field), &bound_to, from.as_deref())
        }
        Command::List { target } => show::list(&target),
        Command::ShowMeta { vault } => show::meta(&vault),
        Command::Rm { target, handle } => change::remove(&target, &handle),
        Command::Passwd { target } => change::passphrase(&target),
        Command::Rotate { target } => change::rotate(&target),
        Command::Unlock { target, minutes } => change::unlock(&target, minutes),
        Command::Lock { vault } => change::lock(&vault),
        Command::Export { target, file } => change::export(&target, &file),
        Command::Import { target, file } => change::import(&target, &file),
        Command::Restore { target, backup } => replaced::restore(&target, backup),
        Command::Accept { target } => replaced::accept(&target),
        #[cfg(unix)]
        Command::Connect { target, manager, relay } => sources::connect(&target, manager, relay),
        #[cfg(unix)]
        Command::Sources { target } => sources::list(&target),
        #[cfg(unix)]
        Command::Logins { target } => logins::list(&target),
        #[cfg(unix)]
        Command::ForgetLogin { target, site, sign_out, private_hosts } => {
            logins::forget(&target, &site, sign_out.then_some(private_hosts))
        }
        Command::Phrase { target } => change::phrase(&target),
    }
}
