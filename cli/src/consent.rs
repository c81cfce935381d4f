//! `portcullis consent list | revoke | serving`: the answers that stand.

#[cfg(unix)]
mod serving;

use clap::Subcommand;
use portcullis::audit::{About, AuditEvent};
use portcullis::consent::{StandingConsent, book};
use portcullis::guard::SystemEntropy;
use portcullis::vault::{StateName, Vault};

use crate::failure::Failure;
#[cfg(unix)]
use crate::serve::Folder;
use crate::vault::{By, Opened, Target, count};

#[derive(Subcommand)]
pub enum Command {
    /// List the answers that stand beyond a task: yes on a site, and never.
    List {
        #[command(flatten)]
        target: Target,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Take answers back. What was asked before is asked again.
    Revoke {
        #[command(flatten)]
        target: Target,
        /// The number that `list` shows, or `all`.
        which: String,
    },
    #[cfg(unix)]
    /// List the answers that stand at the running service, or take them back there: at once, in the open task too.
    Serving {
        #[command(flatten)]
        folder: Folder,
        /// Take this one back: the number that is shown without this, or `all`.
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
        Command::Serving { folder, take_back, json } => serving::run(&folder, take_back.as_deref(), json),
    }
}

/// The place of the answer with this number.
fn number(which: &str, length: usize) -> Option<usize> {
    which.parse::<usize>().ok().filter(|number| (1..=length).contains(number)).map(|number| number - 1)
}

fn standing(vault: &Vault) -> Result<Vec<StandingConsent>, Failure> {
    let kept = vault.state(StateName::Consents).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(kept.and_then(|bytes| book::from_json(&bytes)).unwrap_or_default())
}

fn list(target: &Target, json: bool) -> Result<(), Failure> {
    let (opened, _) = Opened::open(target, &mut target.source()?, By::Cache)?;
    let standing = standing(&opened.vault)?;
    if json {
        println!("{}", String::from_utf8_lossy(&book::to_json(&standing)));
        return Ok(());
    }
    for (at, consent) in standing.iter().enumerate() {
        println!("{:<4}{consent}", at + 1);
    }
    if standing.is_empty() {
        println!("no answer stands: you are asked about everything");
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
        println!("no answer stands, so none was taken back");
        return Ok(());
    }
    let kept = book::to_json(&standing);
    let set = opened.vault.set_state(StateName::Consents, &kept, &mut SystemEntropy);
    set.map_err(|error| Failure::Input(error.to_string()))?;
    let events: Vec<AuditEvent> = revoked
        .iter()
        .map(|consent| AuditEvent::ConsentRevoked {
            about: About::Request(consent.kind),
            fields: consent.fields,
            origin: Some(consent.to.clone()),
        })
        .collect();
    opened.refresh(&events)?;
    for consent in &revoked {
        println!("taken back: {consent}");
    }
    println!("what these answered is asked again, from the next session on");
    Ok(())
}
