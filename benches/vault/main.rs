//! The cost of the vault and of the audit log: `cargo bench --bench vault`.
//!
//! It times unlocking against the passphrase function alone, a release for a grant against the decryption alone, a
//! search of a page's text, a record of the audit log with and without the disk, verifying that log, and saving a
//! vault's file. Times are medians of single calls, which alternate.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a benchmark")]

mod page;

use std::hint::black_box;
use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, ParamsBuilder, Version};
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use policy_dfa::{DecisionPoint, Policy, Verifier, authority};
use portcullis::DEFAULT_POLICY;
use portcullis::audit::{AuditEvent, AuditLog, FolderLog, SessionId, verify};
use portcullis::guard::SystemEntropy;
use portcullis::storage::vault_file::VaultFile;
use sirl::Field;
use vault::{Binding, KdfParams, Outgoing, Secret, Vault};

const PASSPHRASE: &str = "correct horse battery staple";
const UNLOCKS: usize = 15;
const RELEASES: usize = 4_000;
const RECORDS: usize = 400;
const VERIFIED: usize = 30;
const SAVES: u8 = 200;
const SCANS: usize = 60;

/// The padded size of a short value's record.
const PADDED: usize = 256;

fn pair() -> (DecisionPoint, Verifier) {
    let compiled = Policy::parse(DEFAULT_POLICY).unwrap().compile().unwrap();
    let Ok(checked) = compiled.check() else { panic!("the policy holds") };
    authority(checked, [7; 16])
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn row(what: &str, times: &mut [Duration]) -> Duration {
    let median = median(times);
    println!("  {what:<52} {:>12.1} us", median.as_nanos() as f64 / 1e3);
    median
}

fn filled(vault: &mut Vault) {
    for (handle, field, value) in [
        ("address:home", Field::Street, "Rua das Flores 77"),
        ("address:home", Field::City, "Coimbra"),
        ("contact:me", Field::Name, "Maria Quintela"),
    ] {
        vault.insert(handle, field, Secret::new(value), &Binding::Anywhere, &mut SystemEntropy).unwrap();
    }
}

/// Runs the passphrase function alone, at the cost of a new vault.
fn derive() -> [u8; 32] {
    let costs = KdfParams::DEFAULT;
    let params = ParamsBuilder::new()
        .m_cost(costs.memory_kib())
        .t_cost(costs.passes())
        .p_cost(costs.lanes())
        .output_len(32)
        .build()
        .unwrap();
    let mut key = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(PASSPHRASE.as_bytes(), &[1; 16], &mut key)
        .unwrap();
    key
}

fn unlocking() {
    let passphrase = Secret::new(PASSPHRASE);
    let mut vault = Vault::create(&passphrase, &mut SystemEntropy, KdfParams::DEFAULT, pair().1).unwrap();
    filled(&mut vault);
    let bytes = vault.to_bytes(&mut SystemEntropy).unwrap();
    let key = Vault::unlock_key(&bytes, &passphrase).unwrap();
    let (mut whole, mut alone, mut by_key) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..UNLOCKS {
        let verifier = pair().1;
        whole.push(time(|| Vault::unlock(&bytes, &passphrase, verifier).unwrap()));
        alone.push(time(derive));
        let verifier = pair().1;
        by_key.push(time(|| Vault::unlock_with_key(&bytes, &key, verifier).unwrap()));
    }
    println!("unlock, {} bytes, Argon2id at 64 MiB, 3 passes, 4 lanes", bytes.len());
    let whole = row("by the passphrase", &mut whole);
    let alone = row("the passphrase function alone", &mut alone);
    row("by an unlock key", &mut by_key);
    println!("  ratio of the first two {:>31.3}", whole.as_secs_f64() / alone.as_secs_f64());
}

fn releasing() {
    let (mut point, verifier) = pair();
    let mut vault = Vault::ephemeral(&mut SystemEntropy, verifier);
    filled(&mut vault);
    let cipher = XChaCha20Poly1305::new(&[3; 32].into());
    let nonce = XNonce::from([5; 24]);
    let mut sealed = [0; PADDED];
    let tag = cipher.encrypt_inout_detached(&nonce, b"place", sealed.as_mut_slice().into()).unwrap();
    let (mut fills, mut ciphers) = (Vec::new(), Vec::new());
    for round in 0..RELEASES as u64 {
        let grant = page::grant(&mut point, 2 * round + 1);
        let fresh = page::seen(2 * round + 2);
        fills.push(time(|| vault.open_fill(grant, &fresh, page::NOW).unwrap_or_else(|_| panic!("opens"))));
        ciphers.push(time(|| {
            for _ in 0..page::FIELDS.len() {
                let mut text = sealed;
                cipher.decrypt_inout_detached(&nonce, b"place", text.as_mut_slice().into(), &tag).unwrap();
                black_box(&text);
            }
        }));
    }
    println!("release of {} fields by a grant", page::FIELDS.len());
    let fill = row("the fill", &mut fills);
    let alone = row("decrypting the records alone", &mut ciphers);
    println!("  beyond the decryption {:>35.1} us", fill.saturating_sub(alone).as_nanos() as f64 / 1e3);
}

fn recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    let mut log = FolderLog::open(&path).unwrap().log;
    let (mut written, mut synced) = (Vec::new(), Vec::new());
    for _ in 0..RECORDS {
        let event = AuditEvent::Started { policy: [9; 32] };
        let session = SessionId::random(&mut SystemEntropy);
        written.push(time(|| log.append(session, &event, 1, false).unwrap()));
        synced.push(time(|| log.append(session, &event, 1, true).unwrap()));
    }
    println!("a record of the audit log, in {}", folder.path().display());
    row("written", &mut written);
    row("written and synced to the disk", &mut synced);
    drop(log);
    let mut verified: Vec<Duration> =
        (0..VERIFIED).map(|_| time(|| verify(&path, None, None).unwrap())).collect();
    let records = verify(&path, None, None).unwrap().records;
    let whole = row(&format!("verifying {records} records"), &mut verified);
    println!("  records verified in a second {:>28.0}", records as f64 / whole.as_secs_f64());
}

fn saving() {
    let folder = tempfile::tempdir().unwrap();
    println!("a save of the vault's file, in {}", folder.path().display());
    for kib in [4, 64, 1024] {
        let mut bytes = vec![0; kib << 10];
        let mut file = VaultFile::create(&folder.path().join(format!("private/{kib}")), &bytes).unwrap();
        let mut times: Vec<Duration> = (0..SAVES)
            .map(|round| {
                bytes[0] = round;
                time(|| file.save(&bytes).unwrap())
            })
            .collect();
        row(&format!("{kib} KiB"), &mut times);
    }
}

/// Searches a page's text, and one of escapes only, for the values of a typical vault. Neither has any.
fn scanning() {
    let mut vault = Vault::ephemeral(&mut SystemEntropy, pair().1);
    for (handle, field, value) in [
        ("address:home", Field::Street, "Rua das Flores 77"),
        ("address:home", Field::City, "Coimbra"),
        ("address:home", Field::PostalCode, "3000-214"),
        ("contact:me", Field::Name, "Maria Quintela"),
        ("contact:me", Field::Email, "maria.quintela@mail.example"),
        ("contact:me", Field::Phone, "+351 912 345 678"),
        ("card:me", Field::CardNumber, "4929 1234 5678 9012"),
        ("card:me", Field::CardExpiry, "12/31"),
    ] {
        vault.insert(handle, field, Secret::new(value), &Binding::Anywhere, &mut SystemEntropy).unwrap();
    }
    let line = "- paragraph [ref=e12]: \"A fine kettle, 1.7 l, copper; ships in 3 days (order 81-2207).\"\n";
    let page: String = line.chars().cycle().take(100_000).collect();
    let escaped: String = line.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let escaped: String = escaped.chars().cycle().take(100_000).collect();
    println!("a search of 100 kB for {} values", vault.entries().count());
    for (what, text) in [("a page's text", page), ("percent-encoded", escaped)] {
        let mut times: Vec<Duration> = (0..SCANS).map(|_| time(|| vault.scan(&text).unwrap())).collect();
        row(what, &mut times);
    }
    let mut before = Outgoing::default();
    let mut times: Vec<Duration> = (0..SCANS)
        .map(|_| time(|| vault.scan_outgoing(&mut before, "two kettles please").unwrap()))
        .collect();
    row("a short outgoing text, with those before it", &mut times);
}

fn main() {
    unlocking();
    releasing();
    scanning();
    recording();
    saving();
}
