//! `portcullis consent list | revoke | site | serving`: standing consent.

#[cfg(unix)]
mod serving;
#[cfg(unix)]
mod site;

use clap::Subcommand;
use portcullis::audit::{AuditEvent, AuditSubject};
use portcullis::consent::{StandingConsent, standing};
use portcullis::guard::SystemEntropy;
use portcullis::vault::{StateName, Vault};

use crate::failure::Failure;
#[cfg(unix)]
use crate::serve::Folder;
use crate::vault::{By, Opened, Target, count};

#[derive(Subcommand)]
pub enum Command {
    /// List the answers that hold beyond a task: yes for a site, and never.
    List {
        #[command(flatten)]
        target: Target,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Revoke answers, so that you are asked again.
    Revoke {
        #[command(flatten)]
        target: Target,
        /// The number that `list` shows, or `all`.
        which: String,
    },
    /// Show one site: what may go there, the answers that stand, and what was done; and set the switch of a kind of data.
    #[cfg(unix)]
    Site(site::Arguments),
    #[cfg(unix)]
    /// List the standing answers of the running service, or revoke them there, at once and in the open task too.
    Serving {
        #[command(flatten)]
        folder: Folder,
        /// Revoke this one: the number that is shown without this option, or `all`.
        #[arg(long, value_name = "NUMBER")]
        take_back: Option<String>,
        /// Print JSON.
        #[arg(long, conflicts_with = "take_back")]
        json: bool,
    },
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::List { target, json } => list(&target, json),
        Command::Revoke { target, which } => revoke(&target, &which),
        #[cfg(unix)]
        Command::Site(arguments) => site::run(&arguments),
        #[cfg(unix)]
        Command::Serving { folder, take_back, json } => serving::run(&folder, take_back.as_deref(), json),
    }
}

/// The index of the answer with this number.
fn number(which: &str, length: usize) -> Option<usize> {
    which.parse::<usize>().ok().filter(|number| (1..=length).contains(number)).map(|number| number - 1)
}

fn standing(vault: &Vault) -> Result<Vec<StandingConsent>, Failure> {
    let kept = vault.state(StateName::Consents).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(kept.and_then(|bytes| standing::from_json(&bytes)).unwrap_or_default())
}

fn list(target: &Target, json: bool) -> Result<(), Failure> {
    let (opened, _) = Opened::open(target, &mut target.source()?, By::Cache)?;
    let standing = standing(&opened.vault)?;
    if json {
        println!("{}", String::from_utf8_lossy(&standing::to_json(&standing)));
        return Ok(());
    }
    for (at, consent) in standing.iter().enumerate() {
        println!("{:<4}{consent}", at + 1);
    }
    if standing.is_empty() {
        println!("there is no standing answer: you are asked about everything");
    }
    Ok(())
}

fn revoke(target: &Target, which: &str) -> Result<(), Failure> {
    let (mut opened, _) = Opened::open(target, &mut target.source()?, By::Cache)?;
    let mut standing = standing(&opened.vault)?;
    let revoked = if which == "all" {
        std::mem::take(&mut standing)
    } else {
        let at = number(which, standing.len()).ok_or_else(|| {
            let (stand, vault) = (count(standing.len(), "answer"), target.vault.display());
            Failure::Input(format!(
                "`{which}` is neither `all` nor a number that `portcullis consent list {vault}` shows ({stand})"
            ))
        })?;
        vec![standing.remove(at)]
    };
    if revoked.is_empty() {
        println!("there is no standing answer, so none was revoked");
        return Ok(());
    }
    let kept = standing::to_json(&standing);
    let set = opened.vault.set_state(StateName::Consents, &kept, &mut SystemEntropy);
    set.map_err(|error| Failure::Input(error.to_string()))?;
    let events: Vec<AuditEvent> = revoked
        .iter()
        .map(|consent| AuditEvent::ConsentRevoked {
            about: AuditSubject::Request(consent.kind),
            fields: consent.fields,
            origin: Some(consent.to.clone()),
        })
        .collect();
    opened.refresh(&events)?;
    for consent in &revoked {
        println!("revoked: {consent}");
    }
    println!("what these answered is asked again, from the next session on");
    Ok(())
}
