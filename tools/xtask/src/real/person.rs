//! The vault of the person whose data the tasks need.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::{Failure, Place};
use crate::real::programs::SetUp;
use crate::real::{Run, written};

/// The name of the person's accounts.
pub const USER: &str = "adaquill";
/// Their e-mail address.
pub const EMAIL: &str = "ada.quill@post.example";
/// The e-mail address of their account at the shop.
pub const SHOP_EMAIL: &str = "ada@letters.example";
/// The password of their accounts.
pub const PASSWORD: &str = "Marl-Otter-2291-keel";

/// The seed of their one-time codes.
pub const SEED: &str = "JBSWY3DPEHPK3PXPGEZDGNBVGY3TQOJQ";

/// The passphrase of their vaults.
pub const PASSPHRASE: &str = "Vexillary ptarmigan 88 kettledrum";

/// The values in the vault for every site; `tasks.json` has the same values for the agent without a guard.
const VALUES: [(&str, &str, &str); 12] = [
    ("address:home", "name", "Ada Quill"),
    ("address:home", "street", "17 Quarry Road"),
    ("address:home", "city", "Bristol"),
    ("address:home", "region", "Avon"),
    ("address:home", "postal_code", "BS1 4DJ"),
    ("address:home", "country", "United Kingdom"),
    ("contact:home", "name", "Ada Quill"),
    ("contact:home", "email", EMAIL),
    ("contact:home", "phone", "+44 117 496 0123"),
    ("card:personal", "name", "Ada Quill"),
    ("card:personal", "card_number", "4111111111111111"),
    ("card:personal", "card_expiry", "12/29"),
];

/// Makes the vault, and the file with its passphrase.
pub fn vault(place: &Place, run: &Run, programs: &[SetUp]) -> Result<(), Failure> {
    written(&run.folder.join("passphrase"), PASSPHRASE)?;
    let vault = run.folder.join("private/vault");
    said_to(place, &vault, &["init"], &[], &format!("{PASSPHRASE}\n"))?;
    let add = |record: &str, field: &str, value: &str, bound: &[&str]| {
        said_to(
            place,
            &vault,
            &["add"],
            &[&[record, field], bound].concat(),
            &format!("{PASSPHRASE}\n{value}\n"),
        )
    };
    for (record, field, value) in VALUES {
        add(record, field, value, &[])?;
    }
    for program in programs {
        if let Some((record, field)) = program.program.login {
            let name = name_of(record);
            let origin = program.address();
            add(record, field, name, &["--bound-to", &origin])?;
            add(record, "password", PASSWORD, &["--bound-to", &origin])?;
            if program.program.codes.is_some() {
                add(record, "one_time_code", SEED, &["--bound-to", &origin])?;
            }
        }
    }
    Ok(())
}

/// The name of the person's account that a record is about.
pub fn name_of(record: &str) -> &'static str {
    match record {
        "login:shop" => SHOP_EMAIL,
        "login:cardshop" => EMAIL,
        _ => USER,
    }
}

/// One command about a vault, with what it reads.
pub fn said_to(
    place: &Place,
    vault: &Path,
    command: &[&str],
    more: &[&str],
    input: &str,
) -> Result<(), Failure> {
    let failed = |why: String| Failure::not_set_up(format!("the vault cannot be made: {why}"));
    let mut process = Command::new(place.binary("portcullis"));
    process.arg("vault").args(command).arg(vault).args(more);
    process.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = process.spawn().map_err(|error| failed(error.to_string()))?;
    if let Some(mut to) = child.stdin.take() {
        to.write_all(input.as_bytes()).map_err(|error| failed(error.to_string()))?;
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_without_a_guard_types_what_the_vault_holds() {
        let tasks = include_str!("tasks.json");
        let typed = VALUES.iter().filter(|(_, field, _)| !["region", "phone", "card_expiry"].contains(field));
        for value in typed.map(|(_, _, value)| *value).chain([USER, EMAIL, SHOP_EMAIL, PASSWORD, SEED]) {
            assert!(tasks.contains(&format!("\"{value}\"")), "{value}");
        }
    }
}
