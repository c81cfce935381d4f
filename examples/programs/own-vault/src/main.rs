//! Makes a vault with an address and a seed of one-time codes, saves it, unlocks it and searches a text for its values.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use policy_dfa::{EXAMPLE_POLICY, Policy, Verifier, authority};
use sirl::Field;
use vault::{Binding, KdfParams, Protection, Secret, Vault};

/// Fills a buffer with the system's random bytes. Without them there is no vault.
fn entropy(out: &mut [u8]) {
    getrandom::fill(out).expect("the system has random bytes");
}

/// Nothing is released here, so any proved policy will do.
fn verifier() -> Result<Verifier, Box<dyn Error>> {
    let mut fresh = [0; 16];
    entropy(&mut fresh);
    Ok(authority(Policy::parse(EXAMPLE_POLICY)?.compile()?.check()?, fresh).1)
}

/// Writes the file so that a power cut leaves the old one or the new one.
fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("new");
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    File::open(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))?
        .sync_all()
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: own-vault FILE < PASSPHRASE")?;
    let path = Path::new(&path);
    // The file and not `io::stdin()`, which keeps a copy of what it reads.
    let passphrase = Secret::read_line(&mut File::open("/dev/stdin")?, 1024)?;

    let mut vault = Vault::create(&passphrase, &mut entropy, KdfParams::DEFAULT, verifier()?)?;
    if vault.protection() != Some(Protection::FULL) {
        eprintln!("the system does not protect the memory of secrets fully");
    }
    let address = [
        (Field::Name, "Springfield, Ana"),
        (Field::Street, "17 Quarry Road"),
        (Field::PostalCode, "90210"),
        (Field::City, "Springfield"),
    ];
    for (field, value) in address {
        vault.insert("address:home", field, Secret::new(value), &Binding::Anywhere, &mut entropy)?;
    }
    let bank = Binding::parse("https://bank.example")?;
    let seed = Secret::new("otpauth://totp/Bank:ana?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Bank");
    vault.insert("login:bank", Field::OneTimeCode, seed, &bank, &mut entropy)?;
    save(path, &vault.to_bytes(&mut entropy)?)?;
    drop(vault);

    let vault = Vault::unlock(&fs::read(path)?, &passphrase, verifier()?)?;
    for entry in vault.entries() {
        println!("{} {} ({}), version {}", entry.handle, entry.field, entry.binding, entry.version);
    }
    println!("login:bank makes codes: {}", vault.makes_codes("login:bank"));

    let text =
        "Please send it to 17%20quarry%20road, the house with the red door; the cat lives in Springfield.";
    for found in vault.scan(text)? {
        println!("{} {} is at {:?}: {}", found.handle, found.field, found.span, &text[found.span.clone()]);
    }

    match Vault::unlock(&fs::read(path)?, &Secret::new("a wrong passphrase"), verifier()?) {
        Ok(_) => Err("the vault opened with a wrong passphrase".into()),
        Err(error) => {
            println!("with another passphrase: {error}");
            Ok(())
        }
    }
}
