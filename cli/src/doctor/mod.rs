//! `portcullis doctor`: installed components, problems, and their remedies.
//!
//! | module | subject |
//! |---|---|
//! | `finding` | one line of the report |
//! | `programs` | Chromium and whether it starts, and the programs that only some commands use |
//! | `authorities` | the certificate authorities that the user added for Chromium |
//! | `data` | the vault, the keyring, the audit log |
//! | `guarding` | the process itself, and policies |
//! | `options` | a file of options for `portcullis mcp` |
//! | `ways_in` | the interfaces for agents and browsers |

#[cfg(target_os = "linux")]
mod authorities;
mod data;
mod finding;
mod guarding;
#[cfg(unix)]
mod options;
mod programs;
mod ways_in;

use std::path::PathBuf;

use serde_json::json;

use crate::failure::Failure;
use finding::{Finding, Status};

#[derive(clap::Args)]
pub struct Arguments {
    /// The vault's file [default: ~/.portcullis/vault].
    #[arg(long, value_name = "FILE")]
    vault: Option<PathBuf>,
    /// The audit log's folder [default: ~/.portcullis/audit].
    #[arg(long, value_name = "FOLDER")]
    audit: Option<PathBuf>,
    /// A policy of your own; the shipped ones are always checked. May be given more than once.
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
    /// A file of options for `portcullis mcp --config`.
    #[cfg(unix)]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Do not start the browser; check only that its parts are present.
    #[arg(long)]
    quick: bool,
    /// Print the result as a JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut findings = programs::look(arguments.quick);
    #[cfg(target_os = "linux")]
    findings.push(authorities::look());
    findings.extend(guarding::process());
    findings.extend(guarding::policies(&arguments.policy));
    #[cfg(unix)]
    findings.extend(arguments.config.iter().flat_map(|file| options::look(file)));
    findings.extend(data::look(arguments.vault.as_deref(), arguments.audit.as_deref()));
    findings.extend(ways_in::look());

    let next = next(&findings);
    let works = findings.iter().all(Finding::lets_work);
    let problems = findings.iter().filter(|one| one.status == Status::Problem).count();
    if arguments.json {
        let checks: Vec<_> = findings.iter().map(Finding::to_json).collect();
        println!("{:#}", json!({ "works": works, "problems": problems, "checks": checks, "next": next }));
    } else {
        findings.iter().for_each(|one| println!("{one}"));
        println!("next: {next}");
    }
    if !works {
        let missing: Vec<_> = findings.iter().filter(|one| !one.lets_work()).map(|one| one.name).collect();
        return Err(Failure::NotSetUp(format!(
            "a guarded browser does not work yet: {}",
            missing.join(", ")
        )));
    }
    match problems {
        0 => Ok(()),
        1 => Err(Failure::Finding("1 problem; a guarded browser works".to_owned())),
        more => Err(Failure::Finding(format!("{more} problems; a guarded browser works"))),
    }
}

/// Names the user's next step: a missing part of a guarded browser comes first, then a problem, then the vault, then the client.
fn next(findings: &[Finding]) -> String {
    let needed = findings.iter().find(|one| !one.lets_work());
    let problem = || findings.iter().find(|one| one.status == Status::Problem);
    let vault = || findings.iter().find(|one| one.name == data::VAULT && one.status == Status::Missing);
    match needed.or_else(problem).or_else(vault) {
        Some(one) => format!("{}: {}", one.name, one.mend.as_deref().unwrap_or(&one.says)),
        None => {
            "put `portcullis mcp`, with `--vault` and `--audit`, into the configuration of your MCP client"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Finding, next};

    #[test]
    fn what_a_guarded_browser_needs_comes_first_and_the_client_last() {
        let chromium = Finding::missing("chromium", "not found", "install it").needed();
        let policy = Finding::problem("policy", "does not hold", "mend it");
        let vault = Finding::missing("vault", "not made", "make it");
        let node = Finding::missing("node", "not found", "install Node");
        let all = [node.clone(), vault.clone(), policy.clone(), chromium];
        assert_eq!(next(&all), "chromium: install it");
        assert_eq!(next(&[node.clone(), vault.clone(), policy]), "policy: mend it");
        assert_eq!(next(&[node.clone(), vault]), "vault: make it");
        assert!(next(&[node]).contains("your MCP client"));
    }
}
