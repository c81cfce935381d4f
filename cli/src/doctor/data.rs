//! The vault, the keyring, the audit log. None of them is opened, and no passphrase is needed.

use std::path::Path;

use portcullis::audit::{LogError, verify};
use portcullis::storage::vault_file::VaultFile;
use portcullis::vault::Meta;

use super::finding::Finding;
use crate::vault::{cached, keyring_works, unusable, usual};

/// Checks a vault and a log. A named file that is absent is a problem; an absent default has not been made yet.
pub fn look(vault: Option<&Path>, audit: Option<&Path>) -> Vec<Finding> {
    let mut found = vec![self::vault(vault), keyring()];
    found.push(log(audit));
    found
}

/// The name of the vault in the report.
pub const VAULT: &str = "vault";

fn vault(named: Option<&Path>) -> Finding {
    const NAME: &str = VAULT;
    let path = named.map_or_else(|| usual("vault"), Path::to_path_buf);
    let shown = path.display();
    if path.symlink_metadata().is_err() {
        let mend = format!("`portcullis vault init {shown}` makes one");
        let says = format!("none at {shown}");
        return if named.is_some() {
            Finding::problem(NAME, says, mend)
        } else {
            Finding::missing(NAME, says, mend)
        };
    }
    let restore = format!("`portcullis vault restore {shown}` puts a backup in its place");
    let bytes = match VaultFile::read_only(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            return Finding::problem(NAME, unusable(&path, &error), "`chmod 700` its folder if it is yours");
        }
    };
    let meta = match Meta::read(&bytes) {
        Ok(meta) => meta,
        Err(error) => return Finding::problem(NAME, format!("{shown}: {error}"), restore),
    };
    let lock = match VaultFile::holder(&path) {
        Ok(None) => "free".to_owned(),
        Ok(Some(Some(process))) => format!("open in process {process}"),
        Ok(Some(None)) => "open in another process".to_owned(),
        Err(error) => {
            return Finding::problem(
                NAME,
                unusable(&path, &error),
                "remove the lock file if it is no guard's",
            );
        }
    };
    let key = if cached(meta.id) { "its key is in the keyring" } else { "its passphrase will be asked for" };
    Finding::ok(NAME, format!("{shown}, format {}, {lock}, {key}", meta.format))
}

fn keyring() -> Finding {
    if keyring_works() {
        return Finding::ok("keyring", "can keep a vault's key for some minutes (`portcullis vault unlock`)");
    }
    Finding::missing(
        "keyring",
        "this system has none that can be used",
        "nothing to do: the passphrase is asked for each time",
    )
}

fn log(named: Option<&Path>) -> Finding {
    const NAME: &str = "audit log";
    let path = named.map_or_else(|| usual("audit"), Path::to_path_buf);
    let shown = path.display();
    if path.symlink_metadata().is_err() {
        let (says, mend) = (format!("none at {shown}"), "a guard makes one when it first runs".to_owned());
        return if named.is_some() {
            Finding::problem(NAME, says, mend)
        } else {
            Finding::missing(NAME, says, mend)
        };
    }
    match verify(&path, None, None) {
        Ok(report) => {
            let open = match report.unfinished.len() {
                0 => String::new(),
                many => format!(", {many} releases of which the end is not known"),
            };
            let signed = if report.signed.is_some() { "a signed head" } else { "no signed head" };
            Finding::ok(
                NAME,
                format!("{shown}: {} records, the chain is whole, {signed}{open}", report.records),
            )
        }
        Err(LogError::Broken { broken, .. }) => Finding::problem(
            NAME,
            format!("{shown}: {broken}"),
            "do not go on with it: keep the folder, and let a guard begin another one",
        ),
        Err(other) => {
            Finding::problem(NAME, other.to_string(), format!("see `portcullis audit verify {shown}`"))
        }
    }
}
