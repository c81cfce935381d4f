//! `portcullis quarantine show | clear`: text that was withheld from the model as an attack.

use clap::Subcommand;
use portcullis::guard::SystemEntropy;
use portcullis::page_text::quarantine;
use portcullis::vault::StateName;

use crate::failure::Failure;
use crate::vault::{By, Opened, Target};

#[derive(Subcommand)]
pub enum Command {
    /// Print the text. It was written to make an assistant misbehave, so do not give it to another one.
    Show {
        #[command(flatten)]
        target: Target,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove the text.
    Clear {
        #[command(flatten)]
        target: Target,
    },
}

pub fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Show { target, json } => show(target, *json),
        Command::Clear { target } => clear(target),
    }
}

fn show(target: &Target, json: bool) -> Result<(), Failure> {
    let (opened, _) = Opened::open(target, &mut target.source()?, By::Cache)?;
    let kept =
        opened.vault.state(StateName::Quarantine).map_err(|error| Failure::Input(error.to_string()))?;
    let held = kept.map(|bytes| quarantine::from_json(&bytes)).unwrap_or_default();
    if json {
        let text = serde_json::to_string(&held).map_err(|error| Failure::Input(error.to_string()))?;
        println!("{text}");
        return Ok(());
    }
    for one in &held {
        let time = i64::try_from(one.unix_ms).ok().and_then(|it| jiff::Timestamp::from_millisecond(it).ok());
        let time = time.map(|it| it.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default();
        println!("{time}  {}", one.origin);
        println!("    {}", portcullis::signals::outline::quoted(&one.words));
    }
    if held.is_empty() {
        println!("nothing is in quarantine");
    }
    Ok(())
}

fn clear(target: &Target) -> Result<(), Failure> {
    let (mut opened, _) = Opened::open(target, &mut target.source()?, By::Cache)?;
    let set = opened.vault.set_state(StateName::Quarantine, b"[]", &mut SystemEntropy);
    set.map_err(|error| Failure::Input(error.to_string()))?;
    opened.refresh(&[])?;
    println!("nothing is in quarantine any more");
    Ok(())
}
