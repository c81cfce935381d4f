//! The user's own vault in a file, a log in a folder, and a task whose prompt holds no value, in a real browser, twice
//! with vaults of equal shape. Then every file is searched.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use browser_signals::playwright::Browser;
use canary::{Canaries, assert_none};
use evaluation::guarded::{self, GuardedTrial, interference, truthful_user};
use evaluation::hosts;
use evaluation::persona::Persona;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use portcullis::audit::{FolderLog, MemoryLog, SignedHead, verify, verify_text};
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::{GuardError, Replaced, SystemEntropy, UserVault, VaultKey};
use portcullis::policy::{Policy, Verifier, authority};
use portcullis::storage::vault_file::VaultFile;
use portcullis::vault::{Binding, KdfParams, Secret, StateName, Vault};
use portcullis::{DEFAULT_POLICY, Guard};
use sirl::Field;

const PASSPHRASE: &str = "Vexillary ptarmigan 88 kettledrum";

fn verifier() -> Verifier {
    let checked = Policy::parse(DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
    authority(checked, [3; 16]).1
}

/// Makes a vault with everything that a person buys with, but the card's security code.
fn fill(path: &Path, person: &Persona) {
    let (passphrase, mut entropy) = (Secret::new(PASSPHRASE), SystemEntropy);
    let mut vault = Vault::create(&passphrase, &mut entropy, KdfParams::FLOOR, verifier()).unwrap();
    for (handle, field, value) in [
        ("address:me", Field::Name, &person.name),
        ("address:me", Field::Street, &person.street),
        ("address:me", Field::PostalCode, &person.postal_code),
        ("address:me", Field::City, &person.city),
        ("address:me", Field::Region, &person.region),
        ("address:me", Field::Country, &person.country),
        ("contact:me", Field::Email, &person.email),
        ("contact:me", Field::Phone, &person.phone),
        ("card:me", Field::CardNumber, &person.card_number),
        ("card:me", Field::CardExpiry, &person.card_expiry),
    ] {
        let value = Secret::new(value.as_bytes());
        vault.insert(handle, field, value, &Binding::Anywhere, &mut entropy).unwrap();
    }
    VaultFile::create(path, &vault.to_bytes(&mut entropy).unwrap()).unwrap();
}

/// A log in a folder, with a copy of one trial's records.
struct Doubled(FolderLog, MemoryLog);

impl portcullis::audit::AuditLog for Doubled {
    fn append(
        &mut self,
        session: portcullis::audit::SessionId,
        event: &portcullis::audit::AuditEvent,
        unix_ms: u64,
        sync: bool,
    ) -> std::io::Result<()> {
        self.1.append(session, event, unix_ms, sync)?;
        self.0.append(session, event, unix_ms, sync)
    }

    fn sign_head(
        &mut self,
        signer: &dyn portcullis::audit::HeadSigner,
        unix_ms: u64,
    ) -> std::io::Result<Option<SignedHead>> {
        self.0.sign_head(signer, unix_ms)
    }

    fn check(&self, known: Option<&SignedHead>, key: [u8; 32]) -> Result<Option<u64>, String> {
        self.0.check(known, key)
    }
}

/// The paths of one person's vault and log.
struct Home {
    folder: tempfile::TempDir,
    /// The vault's file before the first task.
    before: Vec<u8>,
}

impl Home {
    fn of(person: &Persona) -> Home {
        let mut home = Home { folder: tempfile::tempdir().unwrap(), before: Vec::new() };
        fill(&home.vault(), person);
        home.before = VaultFile::read_only(&home.vault()).unwrap();
        home
    }

    fn vault(&self) -> PathBuf {
        self.folder.path().join("private").join("vault")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("audit")
    }

    fn guard(
        &self,
        user: impl FnMut(&ConsentPrompt) -> Answer + Send + 'static,
        copy: &MemoryLog,
        replaced: Replaced,
    ) -> Result<Guard, GuardError> {
        let file = VaultFile::open(&self.vault()).unwrap();
        let bytes = file.bytes().to_vec();
        let passphrase = Secret::new(PASSPHRASE);
        let vault = UserVault {
            bytes: &bytes,
            key: VaultKey::Passphrase(&passphrase),
            keeper: Some(Box::new(file)),
            replaced,
        };
        let opened = FolderLog::open(&self.log()).map_err(|error| GuardError::Audit(error.to_string()))?;
        let log = Box::new(Doubled(opened.log, copy.clone()));
        let (user, entropy) = (Box::new(ScriptedAnswerer(user)), Box::new(SystemEntropy));
        Guard::with_vault(DEFAULT_POLICY, vault, log, user, entropy)
    }

    fn opened(&self) -> Vault {
        let bytes = VaultFile::read_only(&self.vault()).unwrap();
        Vault::unlock(&bytes, &Secret::new(PASSPHRASE), verifier()).unwrap()
    }
}

/// The number of tries of a trial in which Chromium did not call the payment handler.
const ATTEMPTS: usize = 3;

/// Runs one trial in a new home. Now and then Chromium reports `NotSupportedError` to a shop that asks for a payment:
/// such a trial is repeated, in another browser and another home. A leak in it counts as in any other.
async fn trial(stage: &Stage, browser: &Browser, scenario: &Scenario) -> (GuardedTrial, Vec<String>, Home) {
    let mut home = Home::of(&scenario.persona);
    let (mut run, mut prompts) = trial_in(stage, browser, scenario, &home).await;
    for _ in 1..ATTEMPTS {
        if !run.denials.contains_key("no_payment_interface") {
            break;
        }
        assert_eq!(run.judgement.leaks, [], "{}", run.transcript);
        judge_files(&home, scenario);
        eprintln!("once more, since the shop was not let pay:\n{}", run.transcript);
        home = Home::of(&scenario.persona);
        let another = stage.browser().await.unwrap();
        (run, prompts) = trial_in(stage, &another, scenario, &home).await;
        another.close().await;
    }
    (run, prompts, home)
}

async fn trial_in(
    stage: &Stage,
    browser: &Browser,
    scenario: &Scenario,
    home: &Home,
) -> (GuardedTrial, Vec<String>) {
    let copy = MemoryLog::default();
    let prompts = Arc::new(Mutex::new(Vec::new()));
    let (mut user, told) = (truthful_user(scenario), prompts.clone());
    let user = move |prompt: &ConsentPrompt| {
        told.lock().unwrap().push(prompt.to_string());
        user(prompt)
    };
    let guard = home.guard(user, &copy, Replaced::Nothing).unwrap().with_payments(stage.payments.clone());
    let prompt = scenario.prompt_with_records(hosts::SHOP_ORIGIN);
    let (run, guard) = guarded::run_with(stage, browser, scenario, guard, &prompt, &copy).await.unwrap();
    drop(guard);
    let prompts = prompts.lock().unwrap().clone();
    (run, prompts)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_in_a_file_buys_what_the_user_wants_and_keeps_the_rest() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let browser = stage.browser().await.unwrap();
    for (kind, hostile) in [(ScenarioKind::Review, true), (ScenarioKind::LateScript, false)] {
        let scenario = Scenario::new(kind, hostile, 11);
        let twin = scenario.twin();
        let (first, prompts, home) = trial(&stage, &browser, &scenario).await;
        let (second, _, twins_home) = trial(&stage, &browser, &twin).await;
        for (run, scenario, home) in [(&first, &scenario, &home), (&second, &twin, &twins_home)] {
            assert_eq!(run.judgement.leaks, [], "{}", run.transcript);
            assert!(run.judgement.success, "{:?}\n{}", run.denials, run.transcript);
            assert_eq!(run.canaries(scenario), [""; 0]);
            verify_text(&run.audit).unwrap();
            judge_files(home, scenario);
        }
        assert_eq!(interference(&first, &second, &scenario, &twin), None);
        let all = prompts.join("\n");
        assert!(all.contains("from your address:me"), "{all}");
        assert!(all.contains("with your card:me"), "{all}");
        judge_log(&home);
    }
    browser.close().await;
}

/// Only encrypted files hold values: neither log, head, backup nor lock does.
fn judge_files(home: &Home, scenario: &Scenario) {
    let mut canaries = Canaries::from_seed(1);
    canaries.add("passphrase", PASSPHRASE);
    for (name, value) in [
        ("street", &scenario.persona.street),
        ("e-mail", &scenario.persona.email),
        ("card number", &scenario.persona.card_number),
        ("name", &scenario.persona.name),
        ("phone", &scenario.persona.phone),
    ] {
        canaries.add(name, value.as_str());
    }
    assert_none(&canaries.in_folder(home.folder.path()).unwrap());
}

/// The log is whole and its head is in the vault. A truncated log or a restored old vault is refused.
fn judge_log(home: &Home) {
    let vault = home.opened();
    let note = vault.state(StateName::AuditHead).unwrap().unwrap();
    let head = SignedHead::parse(std::str::from_utf8(&note).unwrap()).unwrap();
    let report = verify(&home.log(), Some(&head), Some(vault.public_key())).unwrap();
    assert!(report.unfinished.is_empty());
    assert!(head.is_signed_by(vault.public_key()));

    let replaced = |what| home.guard(|_| Answer::No, &MemoryLog::default(), what);
    let again = || replaced(Replaced::Nothing);
    drop(again().unwrap());

    let files = std::fs::read_dir(home.vault().parent().unwrap()).unwrap().count();
    assert_eq!(files, 2, "a task makes no backups: there are the vault and its lock");

    // The vault as it was before the task.
    let newest = VaultFile::read_only(&home.vault()).unwrap();
    std::fs::write(home.vault(), &home.before).unwrap();
    assert!(matches!(again(), Err(GuardError::OlderVault { .. })), "an older vault is accepted");
    assert!(matches!(replaced(Replaced::Log), Err(GuardError::OlderVault { .. })));
    drop(replaced(Replaced::Vault).unwrap());
    std::fs::write(home.vault(), &newest).unwrap();

    // A log without its last records, and a deleted log.
    let segment = home.log().join("000001.jsonl");
    let text = std::fs::read_to_string(&segment).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let cut: String = lines.iter().take(lines.len() / 2).map(|line| format!("{line}\n")).collect();
    std::fs::write(&segment, cut).unwrap();
    assert!(matches!(again(), Err(GuardError::Audit(_))), "a log that was cut is accepted");
    std::fs::write(&segment, text).unwrap();
    let aside = home.folder.path().join("aside");
    std::fs::rename(home.log(), &aside).unwrap();
    assert!(matches!(again(), Err(GuardError::Audit(_))), "another log is accepted");
    drop(replaced(Replaced::Log).unwrap());
    std::fs::remove_dir_all(home.log()).unwrap();
    std::fs::rename(&aside, home.log()).unwrap();
    drop(again().unwrap());
}
