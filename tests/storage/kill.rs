//! A program that is killed while it saves leaves the vault's file at the old or the new content.
//!
//! The test starts itself again as that program, on the real disk, and sends it SIGKILL at a random moment.
#![cfg(unix)]

use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use portcullis::guard::SystemEntropy;
use portcullis::policy::{Policy, Verifier, authority};
use portcullis::sirl::Field;
use portcullis::storage::vault_file::{VaultFile, VaultFileError};
use portcullis::storage::{Disk, LockError, SystemDisk};
use portcullis::vault::{Binding, Entropy, KdfParams, Secret, Vault};
use sha2::{Digest, Sha256};

const ROLE: &str = "STORAGE_KILL_ROLE";
/// The program's output when it has opened the file, and after each save.
const SAVED: char = '\u{7}';
const PASSPHRASE: &str = "correct horse battery staple";
/// Rounds on stamped bytes, where no key is derived, in each of two folders; and on a true vault.
const STAMPED: usize = 500;
const VAULTS: usize = 30;

/// The bytes of a generation, with a length of their own and their hash.
fn stamped(generation: u64) -> Vec<u8> {
    let mut bytes = generation.to_le_bytes().to_vec();
    let length = 100 + usize::try_from(generation % 17).unwrap() * 997;
    bytes.resize(length, generation.to_le_bytes()[0]);
    let hash = Sha256::digest(&bytes);
    bytes.extend_from_slice(&hash);
    bytes
}

fn generation(bytes: &[u8]) -> u64 {
    let generation = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert!(bytes == stamped(generation), "between");
    generation
}

fn verifier() -> Verifier {
    let policy = Policy::parse(portcullis::DEFAULT_POLICY).unwrap();
    authority(policy.compile().unwrap().check().unwrap(), [1; 16]).1
}

/// A record of the log: the generation that is durable, and its check.
fn record(generation: u64) -> Vec<u8> {
    let mut record = generation.to_le_bytes().to_vec();
    record.extend_from_slice(&Sha256::digest(&record)[..8]);
    record
}

/// The last generation in the log. Only its end may be torn.
fn last_logged(log: &Path) -> u64 {
    let bytes = SystemDisk.read(log, 64 << 20).unwrap();
    let mut last = 0;
    for whole in bytes.chunks_exact(16) {
        let generation = u64::from_le_bytes(whole[..8].try_into().unwrap());
        assert!(record(generation) == whole && (generation > last || generation == 0));
        last = generation;
    }
    SystemDisk.truncate(log, bytes.len() as u64 / 16 * 16).unwrap();
    last
}

/// The program that is killed. In an ordinary test run it does nothing.
#[test]
fn the_program_that_saves() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (kind, path) = role.split_once(' ').unwrap();
    let (path, log) = (PathBuf::from(path), PathBuf::from(format!("{path}-log")));
    let mut file = VaultFile::open(&path).unwrap();
    let mut vault = None;
    if kind == "vault" {
        let passphrase = Secret::new(PASSPHRASE);
        vault = Some(Vault::unlock(file.bytes(), &passphrase, verifier()).unwrap());
    }
    let mut next = |file: &VaultFile| match &mut vault {
        None => {
            let next = generation(file.bytes()) + 1;
            (next, stamped(next))
        }
        Some(vault) => {
            let value = Secret::new(format!("g{}@mail.example", vault.generation() + 1));
            vault.insert("contact:me", Field::Email, value, &Binding::Anywhere, &mut SystemEntropy).unwrap();
            (vault.generation(), vault.to_bytes(&mut SystemEntropy).unwrap())
        }
    };
    loop {
        print!("{SAVED}");
        std::io::stdout().flush().unwrap();
        let (generation, bytes) = next(&file);
        file.save(&bytes).unwrap();
        SystemDisk.append(&log, &record(generation)).unwrap();
        SystemDisk.sync(&log).unwrap();
    }
}

fn start(kind: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::the_program_that_saves", "--nocapture", "--test-threads=1"])
        .env(ROLE, format!("{kind} {}", path.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until the file is open and `saves` saves are done, so that a busy machine reaches them too. Returns the duration of
/// the last save, if there was one.
fn wait_for(child: &mut Child, saves: u64) -> Option<Duration> {
    let output = child.stdout.as_mut().unwrap();
    let (mut before, mut last) = (None, None);
    for _ in 0..=saves {
        let mut byte = [0];
        while byte != [SAVED as u8] {
            output.read_exact(&mut byte).unwrap();
        }
        last = before.replace(Instant::now()).map(|before: Instant| before.elapsed());
    }
    last
}

/// A random time within a save, or a little longer. The disk determines the duration of a save.
fn somewhere(save: Duration) -> Duration {
    Duration::from_micros(random(3000.max(u64::try_from(save.as_micros()).unwrap() * 5 / 4)))
}

fn random(below: u64) -> u64 {
    let mut bytes = [0; 8];
    SystemEntropy.fill(&mut bytes);
    u64::from_le_bytes(bytes) % below
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    let ended = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(9), "{ended:?}");
}

fn place(first: &[u8]) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("private/my.vault");
    drop(VaultFile::create(&path, first).unwrap());
    let log = PathBuf::from(format!("{}-log", path.display()));
    SystemDisk.write_new(&log, b"").unwrap();
    (home, path, log)
}

/// Opens the file after a kill, and checks that the lock is free, no draft is left, and everything is private.
fn reopened(path: &Path) -> VaultFile {
    let file = VaultFile::open(path).unwrap();
    for other in SystemDisk.list(path.parent().unwrap()).unwrap() {
        let name = other.file_name().unwrap().to_str().unwrap();
        let known = ["my.vault", "my.vault-log", "my.vault.lock", "my.vault.backup-1", "my.vault.backup-2"];
        assert!(known.contains(&name), "{name}");
        let about = std::fs::metadata(&other).unwrap();
        assert_eq!((about.mode() & 0o7777, about.nlink()), (0o600, 1), "{name}");
    }
    file
}

/// Returns the number of rounds in which the file was one generation ahead of the log, and the number of generations.
fn kill_stamped(rounds: usize) -> (usize, u64) {
    let (_home, path, log) = place(&stamped(0));
    let (mut ahead, mut last, mut save) = (0, 0, Duration::ZERO);
    for round in 0..rounds {
        let mut child = start("stamped", &path);
        // Some are killed while they start or open the file.
        if round % 8 > 0 {
            save = wait_for(&mut child, random(4)).unwrap_or(save);
        }
        std::thread::sleep(somewhere(save));
        kill(child);
        let logged = last_logged(&log).max(last);
        let file = reopened(&path);
        let found = generation(file.bytes());
        assert!(found == logged || found == logged + 1, "log {logged}, file {found}");
        let backups: Vec<u64> =
            file.backups().unwrap().iter().map(|n| generation(&file.read_backup(*n).unwrap())).collect();
        let expected: Vec<u64> = (0..found).rev().take(2).collect();
        assert_eq!(backups, expected, "file {found}");
        ahead += usize::from(found > logged);
        last = found;
    }
    (ahead, last)
}

#[test]
fn killed_a_thousand_times() {
    let halves = std::thread::scope(|scope| {
        [0, 1].map(|_| scope.spawn(|| kill_stamped(STAMPED))).map(|half| half.join().unwrap())
    });
    for (ahead, generations) in halves {
        println!("{STAMPED} rounds, {generations} generations, {ahead} times between file and log");
        assert!(ahead > 0 && generations > STAMPED as u64 / 2, "the kills came at no interesting moment");
    }
}

#[test]
fn a_true_vault_opens_after_every_kill() {
    let passphrase = Secret::new(PASSPHRASE);
    let vault = Vault::create(&passphrase, &mut SystemEntropy, KdfParams::FLOOR, verifier()).unwrap();
    let (_home, path, log) = place(&vault.to_bytes(&mut SystemEntropy).unwrap());
    let (mut last, mut save) = (0, Duration::ZERO);
    for _ in 0..VAULTS {
        let mut child = start("vault", &path);
        save = wait_for(&mut child, random(4)).unwrap_or(save);
        std::thread::sleep(somewhere(save));
        kill(child);
        let logged = last_logged(&log).max(last);
        let file = reopened(&path);
        let vault = Vault::unlock(file.bytes(), &passphrase, verifier()).unwrap();
        let found = vault.generation();
        assert!(found == logged || found == logged + 1, "log {logged}, file {found}");
        assert_eq!(vault.entries().count(), usize::from(found > 0));
        last = found;
    }
    assert!(last > VAULTS as u64 / 2, "{last}");
}

#[test]
fn the_holder_is_named_while_it_lives() {
    let (_home, path, _) = place(&stamped(0));
    let mut child = start("stamped", &path);
    wait_for(&mut child, 0);
    let id = child.id();
    let refused = VaultFile::open(&path).err();
    assert!(
        matches!(refused, Some(VaultFileError::Lock(LockError::InUse { pid: Some(pid), .. })) if pid == id)
    );
    assert_eq!(VaultFile::holder(&path).unwrap(), Some(Some(id)));
    generation(&VaultFile::read_only(&path).unwrap());
    kill(child);
    assert_eq!(VaultFile::holder(&path).unwrap(), None);
    drop(VaultFile::open(&path).unwrap());
}
