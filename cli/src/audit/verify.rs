//! `portcullis audit verify`.

use std::path::PathBuf;

use portcullis::audit::{LogError, Report, SignedHead, parse_key, verify};
use serde_json::json;

use super::failure;
use crate::failure::Failure;
use crate::vault::Witness;

#[derive(clap::Args)]
pub struct Arguments {
    /// The log.
    log: PathBuf,
    /// A signed head that was stored elsewhere: the log must still contain everything that it covers.
    #[arg(long, value_name = "FILE")]
    head: Option<PathBuf>,
    /// The public key that signed the heads: `name+hash+key`, or 64 hexadecimal digits. The signatures are checked with
    /// it.
    #[arg(long, value_parser = key)]
    key: Option<[u8; 32]>,
    /// The vault that belongs to the log: it has the key and stores a head of its own. You are asked for its
    /// passphrase.
    #[arg(long, value_name = "VAULT", conflicts_with_all = ["head", "key"])]
    vault: Option<PathBuf>,
    /// Read the vault's passphrase from this file descriptor.
    #[arg(long, value_name = "NUMBER", requires = "vault")]
    passphrase_fd: Option<u32>,
    /// Print the result as a JSON object.
    #[arg(long)]
    json: bool,
}

fn key(text: &str) -> Result<[u8; 32], String> {
    parse_key(text)
        .ok_or_else(|| "neither a verifier key `name+hash+key` nor 64 hexadecimal digits".to_owned())
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let witness = arguments.vault.as_deref().map(|vault| Witness::ask(vault, arguments.passphrase_fd));
    let witness = witness.transpose()?;
    let (known, key) = match &witness {
        Some(vault) => (vault.head.clone(), Some(vault.key)),
        None => (arguments.head.as_deref().map(read_head).transpose()?, arguments.key),
    };
    let verified = verify(&arguments.log, known.as_ref(), key);
    if arguments.json {
        println!("{}", to_json(&verified));
        let report = verified.map_err(failure)?;
        return witness.map_or(Ok(()), |vault| vault.check_age(report.signed.as_ref()));
    }
    let report = verified.map_err(failure)?;
    println!("{}", summary(&report));
    match (&report.signed, key) {
        (Some(head), Some(_)) => println!("the signed head covers {} records", head.records),
        (Some(head), None) => {
            println!(
                "the signed head covers {} records; without --key or --vault its signature is not checked",
                head.records
            );
        }
        (None, _) => {
            println!("there is no signed head next to it, so a truncation of its end would not be detected")
        }
    }
    if let Some(vault) = &witness {
        vault.check_age(report.signed.as_ref())?;
        match &vault.head {
            Some(head) => println!("the vault knows {} of its records, and they are there", head.records),
            None => println!("the vault knows no head of it: a log that was written anew would not show"),
        }
    }
    for release in &report.unfinished {
        println!("not known how it ended: {release}");
    }
    Ok(())
}

fn read_head(path: &std::path::Path) -> Result<SignedHead, Failure> {
    let text = crate::read_text(path)?;
    SignedHead::parse(&text).map_err(|problem| Failure::Input(format!("{}: {problem}", path.display())))
}

/// Summarises an unbroken log in a line.
pub fn summary(report: &Report) -> String {
    let segments = if report.segments == 1 { "segment" } else { "segments" };
    let (records, count, head) = (report.records, report.segments, hex(&report.head));
    format!("{records} records in {count} {segments}, the chain is whole; head {head}")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn to_json(verified: &Result<Report, LogError>) -> serde_json::Value {
    match verified {
        Ok(report) => json!({
            "whole": true,
            "log": report.log.map(|log| log.to_string()),
            "records": report.records,
            "segments": report.segments,
            "head": hex(&report.head),
            "signed": report.signed.as_ref().map(|head| json!({
                "records": head.records,
                "hash": hex(&head.hash),
                "generation": head.generation,
                "time": head.unix_ms,
            })),
            "unfinished": report.unfinished.iter().map(|release| json!({
                "session": release.session.to_string(),
                "request": release.request,
                "record": release.record,
                "kind": release.kind,
            })).collect::<Vec<_>>(),
        }),
        Err(LogError::Broken { broken, .. }) => json!({
            "whole": false,
            "file": broken.file,
            "line": broken.place.map(|place| place.line),
            "record": broken.place.map(|place| place.record),
            "problem": broken.problem.to_string(),
        }),
        Err(other) => json!({"whole": null, "problem": other.to_string()}),
    }
}
