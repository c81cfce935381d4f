//! The user's password managers: connecting one, and looking which are there.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use credential_sources::agent_access::{AgentAccess, AgentAccessError, Connection, RelayAddress};
use credential_sources::bitwarden::Bitwarden;
use credential_sources::keepassxc::{Association, Client, KeePassXc, socket};
use credential_sources::one_password::OnePassword;
use credential_sources::pass::Pass;
#[cfg(target_os = "linux")]
use credential_sources::secret_service::SystemKeyring;
use portcullis::Guard;
use portcullis::audit::VaultAct;
use portcullis::guard::SystemEntropy;
use portcullis::signals::Origin;
use portcullis::sirl::Kind;
use portcullis::vault::sources::Source;
#[cfg(target_os = "linux")]
use portcullis::vault::sources::SourceError;
use portcullis::vault::{StateName, Vault};

use super::opened::bad;
use super::recorded::act;
use super::{By, Opened, Target};
use crate::failure::Failure;

/// The time in which the user agrees in KeePassXC's window.
const PAIRING: Duration = Duration::from_secs(120);

/// The time in which a device answers a token that it showed.
const TOKEN: Duration = Duration::from_secs(30);

/// A password manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Manager {
    /// KeePassXC, by its browser integration.
    #[value(name = "keepassxc")]
    KeePassXc,
    /// pass, the password store that GnuPG encrypts.
    Pass,
    /// 1Password, by its command line `op`.
    #[value(name = "1password")]
    OnePassword,
    /// Bitwarden, by its command line `bw`.
    Bitwarden,
    /// A device of yours, such as one with Bitwarden, by Agent Access.
    AgentAccess,
    /// The system's keyring, by the freedesktop Secret Service; on Linux.
    #[cfg(target_os = "linux")]
    Keyring,
}

impl Manager {
    /// Its name on the command line.
    const fn name(self) -> &'static str {
        match self {
            Manager::KeePassXc => "keepassxc",
            Manager::Pass => "pass",
            Manager::OnePassword => "1password",
            Manager::Bitwarden => "bitwarden",
            Manager::AgentAccess => "agent-access",
            #[cfg(target_os = "linux")]
            Manager::Keyring => "keyring",
        }
    }
}

/// A password manager, and the kinds of request that it may serve: `keepassxc`, or `pass=login` without one-time codes.
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
        let manager = Manager::from_str(name, false).map_err(|_| {
            "write `keepassxc`, `pass`, `1password`, `bitwarden`, `agent-access` or `keyring`".to_owned()
        })?;
        let kind = |word: &str| match word {
            "login" => Ok(Kind::Login),
            "otp" => Ok(Kind::Otp),
            _ => Err(format!("{name} can serve `login` and `otp`, joined by `+`; `{word}` is neither")),
        };
        Ok(Chosen { manager, kinds: kinds.split('+').map(kind).collect::<Result<_, _>>()? })
    }
}

/// An entry of `pass`, and the site that the user says it is for: `web/shop=https://shop.example`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySite {
    entry: String,
    site: Origin,
}

impl FromStr for EntrySite {
    type Err = String;

    fn from_str(text: &str) -> Result<EntrySite, String> {
        let (entry, site) = text
            .split_once('=')
            .filter(|(entry, _)| !entry.is_empty())
            .ok_or_else(|| "write an entry and its site: `web/shop=https://shop.example`".to_owned())?;
        let site = Origin::parse(site).map_err(|error| format!("`{site}`: {error}"))?;
        Ok(EntrySite { entry: entry.to_owned(), site })
    }
}

/// The password managers of a guard.
#[derive(Args, Default)]
pub struct SourceArguments {
    /// Take logins and one-time codes that the vault does not have from this password manager: `keepassxc` (connect it first with
    /// `portcullis vault connect`), `pass`, `1password` (its `op`), `bitwarden` (its `bw`, with `BW_SESSION`), `agent-access` (a device of yours; connect it first) or `keyring` (the system's, on Linux); `keepassxc=login` without one-time codes. It is asked once you agreed to a release.
    #[arg(long, value_name = "NAME", requires = "vault")]
    pub source: Vec<Chosen>,
    /// Say for which site an entry of `pass` is that has no line `url:`, such as `web/shop=https://shop.example`.
    #[arg(long, value_name = "ENTRY=SITE", requires = "source")]
    pub source_site: Vec<EntrySite>,
}

/// The keys by which password managers know this guard, as the vault has them.
#[derive(Default)]
pub struct Connections {
    keepassxc: Option<Association>,
    agent_access: Option<Connection>,
}

impl Connections {
    /// Reads them from an open vault.
    pub fn of(vault: &Vault) -> Connections {
        let kept = |name| vault.state(name).ok().flatten();
        Connections {
            keepassxc: kept(StateName::KeePassXc).and_then(|bytes| Association::from_bytes(&bytes).ok()),
            agent_access: kept(StateName::AgentAccess).and_then(|bytes| Connection::from_bytes(&bytes).ok()),
        }
    }

    /// The guard with the chosen sources.
    pub fn offered(mut self, mut guard: Guard, chosen: &SourceArguments) -> Result<Guard, Failure> {
        let SourceArguments { source, source_site } = chosen;
        let is_pass = |it: &Chosen| it.manager == Manager::Pass;
        if !source_site.is_empty() && !source.iter().any(is_pass) {
            return Err(Failure::Input(
                "`--source-site` is for entries of `pass`; add `--source pass`".to_owned(),
            ));
        }
        for (at, Chosen { manager, kinds }) in source.iter().enumerate() {
            if source.iter().take(at).any(|earlier| earlier.manager == *manager) {
                return Err(Failure::Input(
                    "`--source` names a password manager twice; join its kinds by `+`".to_owned(),
                ));
            }
            let source: Box<dyn Source> = match manager {
                Manager::KeePassXc => {
                    let association = self.keepassxc.take().ok_or_else(|| {
                        Failure::NotSetUp(
                            "KeePassXC is not connected with this vault: run `portcullis vault connect FILE keepassxc`"
                                .to_owned(),
                        )
                    })?;
                    Box::new(KeePassXc::new(runtime_folder()?, association))
                }
                Manager::Pass => {
                    let found = pass()?;
                    if let Some(unknown) = source_site.iter().find(|it| !found.has(&it.entry)) {
                        let entry = &unknown.entry;
                        return Err(Failure::Input(format!("`--source-site`: pass has no entry `{entry}`")));
                    }
                    let sites = source_site.iter().cloned();
                    Box::new(
                        sites.fold(found, |pass, EntrySite { entry, site }| pass.with_site(&entry, site)),
                    )
                }
                Manager::OnePassword => Box::new(OnePassword::new(command_line("op")?)),
                Manager::Bitwarden => Box::new(Bitwarden::new(command_line("bw")?)),
                Manager::AgentAccess => {
                    let connection = self.agent_access.take().ok_or_else(|| {
                        Failure::NotSetUp(
                            "no device is connected with this vault by Agent Access: run `portcullis vault connect FILE agent-access --relay ADDRESS`"
                                .to_owned(),
                        )
                    })?;
                    Box::new(AgentAccess::new(connection))
                }
                #[cfg(target_os = "linux")]
                Manager::Keyring => Box::new(SystemKeyring::new()),
            };
            guard = guard.with_source(source, kinds.clone());
        }
        Ok(guard)
    }
}

/// Connects a password manager with the vault. The user agrees in its window, or gives the token that their device shows.
pub fn connect(target: &Target, manager: Manager, relay: Option<RelayAddress>) -> Result<(), Failure> {
    if relay.is_some() && manager != Manager::AgentAccess {
        return Err(Failure::Input("`--relay` is for `agent-access` alone".to_owned()));
    }
    match manager {
        Manager::KeePassXc => connect_keepassxc(target),
        Manager::AgentAccess => {
            let relay = relay.ok_or_else(|| {
                Failure::Input(
                    "name the relay of your device, such as `--relay wss://relay.example`".to_owned(),
                )
            })?;
            connect_device(target, relay)
        }
        _ => {
            let name = manager.name();
            println!("{name} needs no connection; start the guard with `--source {name}`");
            Ok(())
        }
    }
}

fn connect_keepassxc(target: &Target) -> Result<(), Failure> {
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
    keep(&mut opened, StateName::KeePassXc, &association.to_bytes())?;
    println!(
        "connected as `{}`; start the guard with `--source keepassxc`. You can take the connection back in KeePassXC's \
         database settings",
        association.name()
    );
    Ok(())
}

fn connect_device(target: &Target, relay: RelayAddress) -> Result<(), Failure> {
    let mut source = target.source()?;
    let (mut opened, _) = Opened::open(target, &mut source, By::CacheIfTyped)?;
    let token = source.read_token("The token that your device shows")?;
    let paired = crate::serve::runtime()?.block_on(Connection::pair(relay, &token, TOKEN));
    let connection = paired.map_err(|error| match error {
        AgentAccessError::BadToken => Failure::Input(error.to_string()),
        _ => Failure::NotSetUp(error.to_string()),
    })?;
    keep(&mut opened, StateName::AgentAccess, &connection.to_bytes())?;
    println!(
        "connected with the device {}; start the guard with `--source agent-access`. You can take the connection back on the device",
        short(&connection)
    );
    Ok(())
}

/// The first digits of a device's fingerprint, by which the user finds it.
fn short(connection: &Connection) -> String {
    connection.device().chars().take(12).collect()
}

fn keep(opened: &mut Opened, name: StateName, bytes: &[u8]) -> Result<(), Failure> {
    opened.vault.set_state(name, bytes, &mut SystemEntropy).map_err(bad)?;
    let event = act(VaultAct::Saved, opened.generation_to_be());
    opened.refresh(&[event])
}

/// Says which password managers are there, and whether they answer.
pub fn list(target: &Target) -> Result<(), Failure> {
    let (opened, _) = Opened::open(target, &mut target.source()?, By::CacheIfTyped)?;
    let runtime = crate::serve::runtime()?;
    let connections = Connections::of(&opened.vault);
    match connections.keepassxc {
        None => {
            let vault = target.vault.display();
            println!("keepassxc     not connected; run `portcullis vault connect {vault} keepassxc`");
        }
        Some(association) => {
            let name = association.name().to_owned();
            let mut source = KeePassXc::new(runtime_folder()?, association);
            match runtime.block_on(source.check()) {
                Ok(()) => println!("keepassxc     connected as `{name}`, unlocked"),
                Err(error) => println!("keepassxc     connected as `{name}`, and {error}"),
            }
        }
    }
    let is_there = pass().is_ok_and(|mut pass| runtime.block_on(pass.check()).is_ok());
    println!(
        "pass          {}",
        if is_there { "there; GnuPG asks you where its key is locked" } else { "not there" }
    );
    let state = |program: &str, source: fn(PathBuf) -> Box<dyn Source>| match command_line(program) {
        Err(_) => format!("not there: `{program}` is not on the path"),
        Ok(path) => match runtime.block_on(source(path).check()) {
            Ok(()) => "there, unlocked".to_owned(),
            Err(error) => format!("there, and {error}"),
        },
    };
    println!("1password     {}", state("op", |path| Box::new(OnePassword::new(path))));
    println!("bitwarden     {}", state("bw", |path| Box::new(Bitwarden::new(path))));
    match connections.agent_access {
        None => println!("agent-access  not connected"),
        Some(connection) => {
            let device = format!(
                "connected with the device {} by {}",
                short(&connection),
                connection.relay().as_str()
            );
            match runtime.block_on(AgentAccess::new(connection).check()) {
                Ok(()) => println!("agent-access  {device}; whether it listens is seen at a request"),
                Err(error) => println!("agent-access  {device}, and {error}"),
            }
        }
    }
    #[cfg(target_os = "linux")]
    match runtime.block_on(SystemKeyring::new().check()) {
        Ok(()) => println!("keyring       there, unlocked"),
        Err(SourceError::NotRunning) => {
            println!("keyring       not there: no Secret Service answers on the session bus")
        }
        Err(error) => println!("keyring       there, and {error}"),
    }
    Ok(())
}

/// The command line of a password manager.
fn command_line(program: &str) -> Result<PathBuf, Failure> {
    discovery::on_path(program).ok_or_else(|| {
        Failure::NotSetUp(format!(
            "the program `{program}` is not on the path; install it, and log in with it"
        ))
    })
}

/// The user's password store, and GnuPG.
fn pass() -> Result<Pass, Failure> {
    let missing = |what: &str| Failure::NotSetUp(format!("{what}, which `pass` needs"));
    let gpg = discovery::on_path("gpg").ok_or_else(|| missing("gpg is not on the path"))?;
    let named = discovery::variable("PASSWORD_STORE_DIR").map(PathBuf::from);
    let home = || Some(PathBuf::from(discovery::variable("HOME")?).join(".password-store"));
    let store = named.or_else(home).filter(|store| store.is_absolute());
    Ok(Pass::new(store.ok_or_else(|| missing("PASSWORD_STORE_DIR or HOME names no whole path"))?, gpg))
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
        assert_eq!(kinds("pass=login"), [Kind::Login]);
        for manager in Manager::value_variants() {
            assert_eq!(chosen(manager.name()).unwrap().manager, *manager);
        }
        for wrong in ["", "keepass", "keepassxc=", "keepassxc=card", "keepassxc=login,otp"] {
            assert!(chosen(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_entry_is_named_with_its_site() {
        let read = |text: &str| text.parse::<EntrySite>();
        let site = Origin::parse("https://shop.example").unwrap();
        assert_eq!(
            read("web/shop=https://shop.example/login"),
            Ok(EntrySite { entry: "web/shop".into(), site })
        );
        for wrong in ["", "web/shop", "=https://shop.example", "web/shop=shop.example", "web/shop="] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
