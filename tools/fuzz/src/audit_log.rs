//! Segments of an audit log: reading, verifying, writing again.

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use portcullis::audit::{LogError, SignedHead, verify_on, verify_text};
use portcullis::storage::Disk;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Tests the input as a segment and as a signed head, and again with a correct chain of its lines, since few inputs
/// would pass the first hash.
///
/// # Panics
/// An accepted input is written in another form, or two readers disagree.
pub fn run(input: &[u8]) {
    check(input);
    let text = String::from_utf8_lossy(input);
    check(chained(&text).as_bytes());
    if let Ok(head) = SignedHead::parse(&text) {
        assert_eq!(head.to_text(), text, "a head is written in another form than it was read");
    }
}

fn check(segment: &[u8]) {
    let verified = verify_on(&OneFile(segment), Path::new("/log"), None, None);
    let read = std::str::from_utf8(segment).ok().map(verify_text);
    match (verified, read) {
        (Ok(report), Some(Ok((records, chain)))) => {
            let lines: Vec<String> = records.iter().map(|record| record.to_line() + "\n").collect();
            assert!(
                lines.concat().as_bytes() == segment,
                "a segment is written in another form than it was read"
            );
            assert_eq!((report.records, report.head), (chain.length(), chain.head()));
            assert_eq!(report.unfinished.len(), chain.open().count());
        }
        (Err(LogError::Broken { broken, .. }), Some(Err((place, problem)))) => {
            assert_eq!((broken.place, broken.problem), (Some(place), problem));
        }
        // A log with a signed head needs the note, which a single segment does not have.
        (Err(LogError::Broken { broken, .. }), Some(Ok((_, chain)))) => {
            assert!(chain.was_signed() && broken.place.is_none(), "{broken}");
        }
        (Err(LogError::Broken { .. }), None) => {}
        (verified, _) => panic!("two readers disagree: {verified:?}"),
    }
}

/// The lines that are JSON objects, with new numbers, links and hashes.
fn chained(text: &str) -> String {
    let (mut out, mut previous, mut number) = (String::new(), "0".repeat(64), 0u64);
    for line in text.lines() {
        let Ok(mut record) = serde_json::from_str::<Map<String, Value>>(line) else { continue };
        record.insert("number".into(), number.into());
        record.insert("previous".into(), previous.into());
        record.remove("hash");
        let digest = Sha256::digest(Value::Object(record.clone()).to_string());
        previous = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        record.insert("hash".into(), previous.clone().into());
        out.push_str(&Value::Object(record).to_string());
        out.push('\n');
        number += 1;
    }
    out
}

/// A folder with one segment.
struct OneFile<'a>(&'a [u8]);

impl Disk for OneFile<'_> {
    fn read(&self, path: &Path, _: u64) -> Result<Vec<u8>> {
        let segment = path.ends_with("000001.jsonl");
        if segment { Ok(self.0.to_vec()) } else { Err(ErrorKind::NotFound.into()) }
    }

    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        Ok(vec![folder.join("000001.jsonl")])
    }

    fn write_new(&self, _: &Path, _: &[u8]) -> Result<()> {
        read_only()
    }

    fn append(&self, _: &Path, _: &[u8]) -> Result<()> {
        read_only()
    }

    fn truncate(&self, _: &Path, _: u64) -> Result<()> {
        read_only()
    }

    fn sync(&self, _: &Path) -> Result<()> {
        read_only()
    }

    fn sync_folder(&self, _: &Path) -> Result<()> {
        read_only()
    }

    fn link(&self, _: &Path, _: &Path) -> Result<()> {
        read_only()
    }

    fn rename(&self, _: &Path, _: &Path) -> Result<()> {
        read_only()
    }

    fn remove(&self, _: &Path) -> Result<()> {
        read_only()
    }
}

fn read_only() -> Result<()> {
    Err(Error::from(ErrorKind::ReadOnlyFilesystem))
}
