//! Neither a core dump nor a panic's message of a process that used a vault holds a value or a key.
//!
//! The test starts itself again as that process. Values and keys reach it through a pipe, never as an
//! argument or in its environment. Its memory is searched in two ways: in an image of what a core dump would
//! hold, which works everywhere, and in a core file if the system writes one.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up has failed"
)]

mod common;
mod core_dump_support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use argon2::{Algorithm, Argon2, Params, Version};
use canary::{Canaries, assert_none};
use core_dump_support::{FOLDER, MOMENTS, ROLE, VALUES, run};
use hkdf::Hkdf;
use sha2::Sha256;
use vault::KdfParams;

#[test]
fn the_process() {
    if let Ok(role) = std::env::var(ROLE) {
        run(&role);
    }
}

/// Makes new canaries for every run of the test, and a random data key.
fn fresh() -> (Canaries, [u8; 64]) {
    let mut random = std::fs::File::open("/dev/urandom").unwrap();
    let mut fill = |out: &mut [u8]| std::io::Read::read_exact(&mut random, out).unwrap();
    let canaries = Canaries::random(&mut fill);
    // The data key, and the seed of the signing key.
    let mut key = [0; 64];
    fill(&mut key);
    (canaries, key)
}

fn with_length(text: &str) -> Vec<u8> {
    [&u32::try_from(text.len()).unwrap().to_le_bytes(), text.as_bytes()].concat()
}

/// The input of the process.
fn input_of(role: &str, canaries: &Canaries, key: &[u8; 64]) -> Vec<u8> {
    let value = |name| canaries.value(name).unwrap();
    if role.ends_with("careless") {
        return with_length(value("card_number"));
    }
    let mut input = format!("{}\n", value("password")).into_bytes();
    input.extend_from_slice(key);
    for (name, ..) in VALUES {
        input.extend(format!("{}\n", value(name)).into_bytes());
    }
    let all: Vec<&str> = VALUES.iter().map(|(name, ..)| value(name)).collect();
    let plain = all.join(" | ");
    let hex: String = plain.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = plain.bytes().map(|byte| format!("%{byte:02X}")).collect();
    [plain.as_str(), &hex, &percent, value("government_id")]
        .iter()
        .for_each(|text| input.extend(with_length(text)));
    input
}

/// Runs the process in a folder of its own, allowed to dump its core there.
fn process(role: &str, canaries: &Canaries, key: &[u8; 64]) -> (tempfile::TempDir, Output) {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -c unlimited; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "the_process", "--nocapture", "--test-threads=1"])
        .current_dir(folder.path())
        .env(ROLE, role)
        .env(FOLDER, folder.path())
        .env("RUST_BACKTRACE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&input_of(role, canaries, key)).unwrap();
    let output = child.wait_with_output().unwrap();
    (folder, output)
}

/// The values, and the keys that the process computed from the passphrase and the data key.
fn with_keys(mut canaries: Canaries, drawn: &[u8; 64], folder: &Path) -> Canaries {
    let file = std::fs::read(folder.join("vault")).unwrap();
    let (salt, id) = (&file[24..40], &file[40..56]);
    let floor = KdfParams::FLOOR;
    let params = Params::new(floor.memory_kib(), floor.passes(), floor.lanes(), Some(32)).unwrap();
    let mut key = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(canaries.value("password").unwrap().as_bytes(), salt, &mut key)
        .unwrap();
    canaries.add("the passphrase's key", key);
    let (data, seed) = drawn.split_at(32);
    canaries.add("the data key", data);
    canaries.add("the seed of the signing key", seed);
    for purpose in ["records", "manifest", "states", "signing"] {
        let info = format!("portcullis vault 2 {purpose}");
        Hkdf::<Sha256>::new(Some(id), data).expand(info.as_bytes(), &mut key).unwrap();
        canaries.add(&format!("the key of the {purpose}"), key);
    }
    canaries
}

#[test]
fn an_image_of_its_memory_holds_no_value_and_no_key() {
    let (canaries, key) = fresh();
    let (folder, output) = process("images", &canaries, &key);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let canaries = with_keys(canaries, &key, folder.path());
    for moment in MOMENTS.iter().take(6) {
        let image = folder.path().join(moment);
        assert!(image.metadata().unwrap().len() > 1 << 20);
        assert_none(&canaries.in_image(&image).unwrap());
    }
    assert_none(&canaries.in_image(&folder.path().join("vault")).unwrap());
}

#[test]
fn a_value_left_on_the_heap_is_in_the_image() {
    let (canaries, key) = fresh();
    let (folder, output) = process("careless", &canaries, &key);
    assert!(output.status.success());
    let seen = canaries.in_image(&folder.path().join("careless")).unwrap();
    assert!(seen.iter().any(|one| one.name == "card_number"));
}

/// The core file, or the reason why there is none.
fn core_file(folder: &Path) -> Result<PathBuf, String> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cores =
        files.filter(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("core")));
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    cores.next().ok_or_else(|| format!("this system writes cores elsewhere: {}", pattern.trim()))
}

#[test]
fn a_core_file_holds_no_value_and_no_key() {
    let (canaries, key) = fresh();
    let (folder, output) = process("abort-careless", &canaries, &key);
    assert!(!output.status.success());
    let core = match core_file(folder.path()) {
        Ok(core) => core,
        Err(reason) => {
            eprintln!("no core file was searched: {reason}");
            return;
        }
    };
    assert!(canaries.in_image(&core).unwrap().iter().any(|one| one.name == "card_number"));
    for role in ["abort-in-use", "abort-after"] {
        let (canaries, key) = fresh();
        let (folder, output) = process(role, &canaries, &key);
        assert!(!output.status.success());
        let canaries = with_keys(canaries, &key, folder.path());
        assert_none(&canaries.in_image(&core_file(folder.path()).unwrap()).unwrap());
    }
}

#[test]
fn a_panic_with_values_open_prints_none() {
    let (canaries, key) = fresh();
    let (_folder, output) = process("panic", &canaries, &key);
    assert!(!output.status.success());
    let said = [output.stdout, output.stderr].concat();
    assert_eq!(String::from_utf8_lossy(&said).matches("panicked at").count(), 2);
    assert_none(&canaries.in_bytes("the message", &said));
    assert_none(&canaries.in_text("the message", &String::from_utf8_lossy(&said)));
}
