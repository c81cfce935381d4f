//! `portcullis policy suggest`: proposals for a policy from a record of use. It prints them and changes nothing.
//!
//! | module | subject |
//! |---|---|
//! | `evidence` | the counts of the record |
//! | `ideas` | the conclusions from them |
//! | `proof` | the proof that a changed policy compiles, holds, and changes only what it states |

mod evidence;
mod ideas;
mod proof;

use std::path::PathBuf;

use portcullis::audit::{Record, segments, verify};
use portcullis::policy::Policy;
use portcullis::storage::SystemDisk;
use serde_json::{Value, json};

use super::{Input, print};
use crate::failure::Failure;
use evidence::Evidence;
use ideas::Idea;
use proof::Draft;

#[derive(clap::Args)]
pub struct Suggest {
    #[command(flatten)]
    input: Input,
    /// The audit log to learn from: a folder such as `target/demo/audit`. It must be whole.
    #[arg(long, value_name = "FOLDER")]
    from_audit: PathBuf,
    /// The number of sessions that make a habit.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    sessions: u32,
    /// Print only the resulting policy.
    #[arg(long, conflicts_with = "json")]
    text: bool,
}

/// A proposal that was proved.
struct Proposal {
    idea: Idea,
    difference: String,
}

/// A rejected proposal, and the reason.
struct LeftOut {
    about: String,
    why: String,
}

pub fn run(arguments: &Suggest) -> Result<(), Failure> {
    let loaded = super::load(&arguments.input.policy, arguments.input.json)?;
    let policy = loaded.compiled.policy().clone();
    let hash: String = loaded.compiled.policy_hash().iter().map(|byte| format!("{byte:02x}")).collect();
    // A record that was changed may be forged.
    verify(&arguments.from_audit, None, None).map_err(crate::audit::failure)?;
    let evidence = Evidence::of(records(arguments)?, &hash);
    let mut left_out = evidence.left_out(arguments.sessions);
    let (ideas, not) = ideas::of(&evidence, &policy, arguments.sessions);
    left_out.extend(not);

    let mut draft = Draft::of(&policy).map_err(Failure::Finding)?;
    let mut proposals = Vec::new();
    for idea in ideas {
        match draft.take(&idea) {
            Ok(difference) => proposals.push(Proposal { idea, difference }),
            Err(why) => left_out.push(LeftOut { about: idea.change, why }),
        }
    }
    report(arguments, &evidence, &proposals, &left_out, draft.policy());
    Ok(())
}

fn records(arguments: &Suggest) -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    for segment in segments(&SystemDisk, &arguments.from_audit).map_err(crate::audit::failure)? {
        let bytes = segment.read(&SystemDisk).map_err(crate::audit::failure)?;
        for line in String::from_utf8_lossy(&bytes).lines() {
            let record = Record::parse(line);
            records.push(
                record
                    .map_err(|problem| Failure::Finding(format!("{}: {problem}", segment.path.display())))?,
            );
        }
    }
    Ok(records)
}

fn report(
    arguments: &Suggest,
    evidence: &Evidence,
    proposals: &[Proposal],
    left_out: &[LeftOut],
    policy: &Policy,
) {
    if arguments.text {
        print!("{policy}");
        return;
    }
    if arguments.input.json {
        let proposed = proposals.iter().map(|one| {
            json!({
                "change": one.idea.change,
                "because": one.idea.because,
                "loosens": one.idea.loosens.is_some(),
                "difference": one.difference,
            })
        });
        let not = left_out.iter().map(|one| json!({ "about": one.about, "why": one.why }));
        print(&json!({
            "sessions": evidence.sessions,
            "sessions_of_other_policies": evidence.of_other_policies,
            "sessions_observed": evidence.observed,
            "proposals": proposed.collect::<Vec<Value>>(),
            "left_out": not.collect::<Vec<Value>>(),
            "policy": policy.to_string(),
        }));
        return;
    }
    println!("{}", evidence.summary());
    for (number, one) in proposals.iter().enumerate() {
        let way = if one.idea.loosens.is_some() { "loosens" } else { "tightens" };
        println!("\n{}. {} ({way})\n   because {}", number + 1, one.idea.change, one.idea.because);
        for line in one.difference.lines().filter(|line| !line.trim().is_empty()) {
            println!("   | {line}");
        }
    }
    if proposals.is_empty() {
        println!("\nnothing to propose");
    }
    if !left_out.is_empty() {
        println!("\nleft out");
        left_out.iter().for_each(|one| println!("- {}: {}", one.about, one.why));
    }
    if !proposals.is_empty() {
        println!(
            "\nthe policy with all of it, which compiles and of which every statement holds:\n\n{policy}"
        );
    }
}
