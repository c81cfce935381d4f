//! The payment journal: durable, in the old or the new state after a cut at any byte (I10), and without secrets (I2).

use std::path::PathBuf;

use crate::support::*;
use portcullis::checkout::{FileJournal, Intent, Journal, JournalError, PurchaseId, Settlement};
use proptest::prelude::*;

fn intent(id: u8) -> Intent {
    Intent::new(PurchaseId([id; 16]), shop(), usd("64.15"))
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("payments.journal");
    (folder, path)
}

fn open_ids(journal: &FileJournal) -> Vec<u8> {
    journal.open_intents().unwrap().iter().map(|intent| intent.purchase.0[0]).collect()
}

#[test]
fn written_records_are_read_again() {
    let (_folder, path) = folder();
    let journal = FileJournal::open(&path).unwrap();
    for id in 1..=3 {
        journal.intend(&intent(id)).unwrap();
    }
    journal.settle(PurchaseId([2; 16]), Settlement::Paid).unwrap();
    drop(journal);
    let journal = FileJournal::open(&path).unwrap();
    assert_eq!(journal.open_intents().unwrap(), [intent(1), intent(3)]);
    // Repeating an open intent changes nothing; with another amount it is refused; a closed one may be opened again.
    journal.intend(&intent(1)).unwrap();
    let other = Intent::new(PurchaseId([1; 16]), shop(), usd("1"));
    assert!(matches!(journal.intend(&other), Err(JournalError::Conflict)));
    journal.intend(&intent(2)).unwrap();
    drop(journal);
    assert_eq!(open_ids(&FileJournal::open(&path).unwrap()), [1, 3, 2]);
}

#[test]
fn a_cut_at_any_byte_leaves_the_old_or_the_new_state() {
    let (_folder, path) = folder();
    let journal = FileJournal::open(&path).unwrap();
    let mut states = vec![(0, vec![])];
    let mut note = |journal: &FileJournal| {
        states.push((std::fs::metadata(&path).unwrap().len() as usize, open_ids(journal)));
    };
    journal.intend(&intent(1)).unwrap();
    note(&journal);
    journal.intend(&intent(2)).unwrap();
    note(&journal);
    journal.settle(PurchaseId([1; 16]), Settlement::Voided).unwrap();
    note(&journal);
    drop(journal);
    let bytes = std::fs::read(&path).unwrap();
    let near = |cut: usize| states.iter().any(|(length, _)| cut.abs_diff(*length) < 3);
    for cut in (0..=bytes.len()).filter(|cut| near(*cut) || cut % 17 == 0) {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let (whole, expected) = states.iter().rfind(|(length, _)| *length <= cut).unwrap();
        let journal = FileJournal::open(&path).unwrap();
        assert_eq!(&open_ids(&journal), expected, "cut at {cut}");
        assert_eq!(std::fs::metadata(&path).unwrap().len() as usize, *whole, "cut at {cut}");
        // The next record is not appended to the torn line.
        journal.intend(&intent(7)).unwrap();
        drop(journal);
        assert!(open_ids(&FileJournal::open(&path).unwrap()).contains(&7), "cut at {cut}");
    }
}

#[test]
fn damage_before_the_last_line_is_named_and_nothing_is_changed() {
    let (_folder, path) = folder();
    let journal = FileJournal::open(&path).unwrap();
    journal.intend(&intent(1)).unwrap();
    let first = std::fs::metadata(&path).unwrap().len() as usize;
    journal.intend(&intent(2)).unwrap();
    drop(journal);
    let bytes = std::fs::read(&path).unwrap();
    for at in 0..first - 1 {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        std::fs::write(&path, &bad).unwrap();
        let error = FileJournal::open(&path).unwrap_err();
        assert!(matches!(error, JournalError::Damaged { line: 1, .. }), "byte {at}: {error}");
        assert_eq!(std::fs::read(&path).unwrap(), bad);
    }
}

#[test]
fn one_guard_at_a_time() {
    let (_folder, path) = folder();
    let journal = FileJournal::open(&path).unwrap();
    assert!(matches!(FileJournal::open(&path), Err(JournalError::InUse { .. })));
    drop(journal);
    FileJournal::open(&path).unwrap();
}

#[cfg(unix)]
#[test]
fn it_is_readable_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = folder();
    let _journal = FileJournal::open(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(target_os = "linux")]
#[test]
fn other_than_files_are_refused() {
    for path in ["/dev/full", "/dev/null", "/"] {
        assert!(matches!(FileJournal::open(path.as_ref()), Err(JournalError::File { .. })), "{path}");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let (_folder, path) = folder();
    std::fs::File::create(&path).unwrap().set_len(65 << 20).unwrap();
    assert!(matches!(FileJournal::open(&path), Err(JournalError::File { .. })));
}

#[test]
fn a_missing_folder_is_named() {
    let (folder, _) = folder();
    let error = FileJournal::open(&folder.path().join("no/such/journal")).unwrap_err();
    assert!(error.to_string().contains("no/such/journal"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Any history, with closing and opening at any point, reads as a list in memory does.
    #[test]
    fn any_history_reads_back(steps in proptest::collection::vec((1u8..5, 0u8..3), 0..20)) {
        let (_folder, path) = folder();
        let mut journal = FileJournal::open(&path).unwrap();
        let mut model: Vec<u8> = Vec::new();
        for (id, step) in steps {
            match step {
                0 => {
                    journal.intend(&intent(id)).unwrap();
                    if !model.contains(&id) {
                        model.push(id);
                    }
                }
                1 => {
                    journal.settle(PurchaseId([id; 16]), Settlement::Paid).unwrap();
                    model.retain(|other| *other != id);
                }
                _ => {
                    drop(journal);
                    journal = FileJournal::open(&path).unwrap();
                }
            }
            prop_assert_eq!(open_ids(&journal), model.clone());
        }
    }

    /// Any bytes are read or refused, without a panic.
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let (_folder, path) = folder();
        std::fs::write(&path, bytes).unwrap();
        let _ = FileJournal::open(&path);
    }
}
