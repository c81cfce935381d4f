//! The user's password managers: connecting one, and looking which are there.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use credential_sources::keepassxc::{Association, Client, KeePassXc, socket};
use portcullis::Guard;
use portcullis::audit::VaultAct;
use portcullis::guard::SystemEntropy;
use portcullis::sirl::Kind;
use portcullis::vault::sources::Source as _;
use portcullis::vault::{StateName, Vault};

use super::opened::bad;
use super::recorded::act;
use super::{By, Opened, Target};
use crate::failure::Failure;

/// The time in which the user agrees in KeePassXC's window.
const PAIRING: Duration = Duration::from_secs(120);

/// A password manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Manager {
    /// KeePassXC, by its browser integration.
    #[value(name = "keepassxc")]
    KeePassXc,
}

/// A password manager, and the kinds of request that it may serve: `keepassxc`, or `keepassxc=login` without one-time codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    manager: Manager,
    kinds: Vec<Kind>,
}

impl FromStr for Chosen {
    type Err = String;

    fn from_str(text: &str) -> Result<Chosen, String> {
        let (name, kinds) = match text.split_once('=') {
            Some((name, kinds)) => (name, kinds),
            None => (text, "login+otp"),
        };
        let manager = Manager::from_str(name, false).map_err(|_| "write keepassxc".to_owned())?;
        let kind = |word: &str| match word {
            "login" => Ok(Kind::Login),
            "otp" => Ok(Kind::Otp),
            _ => Err(format!("{name} can serve `login` and `otp`, joined by `+`; `{word}` is neither")),
        };
        Ok(Chosen { manager, kinds: kinds.split('+').map(kind).collect::<Result<_, _>>()? })
    }
}

/// The keys by which password managers know this guard, as the vault has them.
#[derive(Default)]
pub struct Connections {
    keepassxc: Option<Association>,
}

impl Connections {
    /// Reads them from an open vault.
    pub fn of(vault: &Vault) -> Connections {
        let kept = vault.state(StateName::KeePassXc).ok().flatten();
        Connections { keepassxc: kept.and_then(|bytes| Association::from_bytes(&bytes).ok()) }
    }

    /// The guard with the chosen sources.
    pub fn offered(mut self, mut guard: Guard, chosen: &[Chosen]) -> Result<Guard, Failure> {
        for (at, Chosen { manager, kinds }) in chosen.iter().enumerate() {
            if chosen.iter().take(at).any(|earlier| earlier.manager == *manager) {
                return Err(Failure::Input(
                    "`--source` names KeePassXC twice; join the kinds by `+`".to_owned(),
                ));
            }
            match manager {
                Manager::KeePassXc => {
                    let association = self.keepassxc.take().ok_or_else(|| {
                        Failure::NotSetUp(
                            "KeePassXC is not connected with this vault: run `portcullis vault connect FILE keepassxc`"
                                .to_owned(),
                        )
                    })?;
                    let source = KeePassXc::new(runtime_folder()?, association);
                    guard = guard.with_source(Box::new(source), kinds.clone());
                }
            }
        }
        Ok(guard)
    }
}

/// Connects a password manager with the vault. The user agrees in its window.
pub fn connect(target: &Target, manager: Manager) -> Result<(), Failure> {
    let Manager::KeePassXc = manager;
    let (mut opened, _) = Opened::open(target, &mut target.source()?, By::CacheIfTyped)?;
    let socket = socket::find(&runtime_folder()?).map_err(|error| Failure::NotSetUp(error.to_string()))?;
    eprintln!(
        "KeePassXC asks you in its window for a name of this connection; write one, such as portcullis."
    );
    let association = crate::serve::runtime()?.block_on(async {
        let deadline = tokio::time::Instant::now() + PAIRING;
        Client::connect(&socket, deadline).await?.associate(deadline).await
    });
    let association = association.map_err(|error| Failure::NotSetUp(error.to_string()))?;
    opened.vault.set_state(StateName::KeePassXc, &association.to_bytes(), &mut SystemEntropy).map_err(bad)?;
    let event = act(VaultAct::Saved, opened.generation_to_be());
    opened.refresh(&[event])?;
    println!(
        "connected as `{}`; start the guard with `--source keepassxc`. You can take the connection back in KeePassXC's \
         database settings",
        association.name()
    );
    Ok(())
}

/// Says which password managers are connected, and whether they answer.
pub fn list(target: &Target) -> Result<(), Failure> {
    let (opened, _) = Opened::open(target, &mut target.source()?, By::CacheIfTyped)?;
    let Some(association) = Connections::of(&opened.vault).keepassxc else {
        println!(
            "KeePassXC  not connected; run `portcullis vault connect {} keepassxc`",
            target.vault.display()
        );
        return Ok(());
    };
    let name = association.name().to_owned();
    let mut source = KeePassXc::new(runtime_folder()?, association);
    match crate::serve::runtime()?.block_on(source.check()) {
        Ok(()) => println!("KeePassXC  connected as `{name}`, unlocked"),
        Err(error) => println!("KeePassXC  connected as `{name}`, and {error}"),
    }
    Ok(())
}

/// The folder of KeePassXC's socket.
fn runtime_folder() -> Result<PathBuf, Failure> {
    std::env::var_os("XDG_RUNTIME_DIR").or_else(|| std::env::var_os("TMPDIR")).map(PathBuf::from).ok_or_else(
        || Failure::NotSetUp("XDG_RUNTIME_DIR is not set, below which KeePassXC has its socket".to_owned()),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_source_is_named_with_the_kinds_that_it_serves() {
        let chosen = |text: &str| text.parse::<Chosen>();
        let kinds = |text: &str| chosen(text).unwrap().kinds;
        assert_eq!(kinds("keepassxc"), [Kind::Login, Kind::Otp]);
        assert_eq!(kinds("keepassxc=login"), [Kind::Login]);
        assert_eq!(kinds("keepassxc=otp+login"), [Kind::Otp, Kind::Login]);
        for wrong in ["", "keepass", "keepassxc=", "keepassxc=card", "keepassxc=login,otp"] {
            assert!(chosen(wrong).is_err(), "{wrong}");
        }
    }
}
