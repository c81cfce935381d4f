//! A home folder for the commands about a vault, whose outputs and files have no canary.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use canary::{Canaries, assert_none};
use portcullis::consent::{FormPlace, Purpose, StandingConsent, standing};
use portcullis::guard::SystemEntropy;
use portcullis::policy::{Policy, authority};
use portcullis::signals::Origin;
use portcullis::sirl::{Field, Kind};
use portcullis::storage::vault_file::VaultFile;
use portcullis::vault::{KdfParams, Secret, StateName, Vault};

pub const PASSPHRASE: &str = "quz vopelki 83 trandubo";

/// The end of a command.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A home with the vault `mine/vault` in it, and the canaries that no output may contain.
pub struct Home {
    pub folder: tempfile::TempDir,
    pub canaries: Canaries,
}

impl Home {
    pub fn empty(seed: u64) -> Home {
        let mut canaries = Canaries::from_seed(seed);
        canaries.add("passphrase", PASSPHRASE);
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Home { folder, canaries }
    }

    /// With a vault that opens quickly.
    pub fn with_vault(seed: u64) -> Home {
        let home = Home::empty(seed);
        let entropy = &mut SystemEntropy;
        let checked = Policy::parse(portcullis::DEFAULT_POLICY).unwrap().compile().unwrap().check();
        let verifier = authority(checked.unwrap_or_else(|_| panic!("the policy holds")), [1; 16]).1;
        let passphrase = Secret::new(PASSPHRASE);
        let mut vault = Vault::create(&passphrase, entropy, KdfParams::FLOOR, verifier).unwrap();
        let standing: Vec<StandingConsent> = ["https://one.example", "https://two.example"]
            .map(|to| StandingConsent {
                kind: Kind::Address,
                fields: [Field::City].into_iter().collect(),
                to: Origin::parse(to).unwrap(),
                records: vec!["address:home".to_owned()],
                form: Some(FormPlace::new(Purpose::Address, Some("/checkout"), Some("/save"), None)),
                given: true,
                since: 1,
                until: Some(4_000_000_000_000),
            })
            .into();
        vault.set_state(StateName::Consents, &standing::to_json(&standing), entropy).unwrap();
        VaultFile::create(&home.vault(), &vault.to_bytes(entropy).unwrap()).unwrap();
        home
    }

    pub fn vault(&self) -> PathBuf {
        self.folder.path().join("mine/vault")
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(self.vault()).unwrap()
    }

    pub fn value(&self, name: &str) -> &str {
        self.canaries.value(name).unwrap()
    }

    /// Runs a command in the home. Its output contains no canary.
    pub fn run(&self, arguments: &str, input: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        command.args(arguments.split_whitespace());
        self.finish(command, input)
    }

    pub fn finish(&self, mut command: Command, input: &str) -> Ran {
        let piped = command.current_dir(self.folder.path()).stdin(Stdio::piped());
        let mut child = piped.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A command that needs no input may have ended before the input is written.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let done = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let ran = Ran { code: done.status.code().unwrap(), out: text(done.stdout), err: text(done.stderr) };
        assert_none(&self.canaries.in_text("standard output", &ran.out));
        assert_none(&self.canaries.in_text("standard error", &ran.err));
        ran
    }

    /// Runs a command that must succeed, with the passphrase and then `more`.
    pub fn ok(&self, arguments: &str, more: &str) -> String {
        let ran = self.run(arguments, &format!("{PASSPHRASE}\n{more}"));
        assert_eq!(ran.code, 0, "{arguments}: {}", ran.err);
        ran.out
    }

    /// Runs a command that must fail with bad input, report `why`, and leave the file as it is.
    pub fn refused(&self, arguments: &str, input: &str, why: &str) {
        let before = fs::read(self.vault()).ok();
        let ran = self.run(arguments, input);
        assert_eq!(ran.code, 2, "{arguments}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{arguments}: {}", ran.err);
        assert_eq!(fs::read(self.vault()).ok(), before, "{arguments} changed the file");
    }

    pub fn no_canary_in_files(&self) {
        assert_none(&self.canaries.in_folder(self.folder.path()).unwrap());
    }
}
