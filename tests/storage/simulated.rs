//! The simulated disk behaves as the operating system's disk.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::storage_support::{Order, SimulatedDisk, folder};
use portcullis::storage::{Disk, SystemDisk};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Call {
    Read(usize, u64),
    WriteNew(usize, Vec<u8>),
    Append(usize, Vec<u8>),
    Truncate(usize, u64),
    Sync(usize),
    SyncFolder,
    Link(usize, usize),
    Rename(usize, usize),
    Remove(usize),
}

fn call() -> impl Strategy<Value = Call> {
    let name = || 0..4_usize;
    let bytes = || proptest::collection::vec(1_u8.., 0..6);
    prop_oneof![
        (name(), 0..9_u64).prop_map(|(a, limit)| Call::Read(a, limit)),
        (name(), bytes()).prop_map(|(a, bytes)| Call::WriteNew(a, bytes)),
        (name(), bytes()).prop_map(|(a, bytes)| Call::Append(a, bytes)),
        (name(), 0..9_u64).prop_map(|(a, length)| Call::Truncate(a, length)),
        name().prop_map(Call::Sync),
        Just(Call::SyncFolder),
        (name(), name()).prop_map(|(a, b)| Call::Link(a, b)),
        (name(), name()).prop_map(|(a, b)| Call::Rename(a, b)),
        name().prop_map(Call::Remove),
    ]
}

/// The result of a call, and the whole folder after it.
type Answer = (Result<Vec<u8>, ErrorKind>, Vec<(String, Vec<u8>)>);

fn answer(disk: &dyn Disk, folder: &Path, call: &Call) -> Answer {
    let at = |name: &usize| folder.join(format!("file-{name}"));
    let nothing = |result: io::Result<()>| result.map(|()| Vec::new());
    let result = match call {
        Call::Read(a, limit) => disk.read(&at(a), *limit),
        Call::WriteNew(a, bytes) => nothing(disk.write_new(&at(a), bytes)),
        Call::Append(a, bytes) => nothing(disk.append(&at(a), bytes)),
        Call::Truncate(a, length) => nothing(disk.truncate(&at(a), *length)),
        Call::Sync(a) => nothing(disk.sync(&at(a))),
        Call::SyncFolder => nothing(disk.sync_folder(folder)),
        Call::Link(a, b) => nothing(disk.link(&at(a), &at(b))),
        Call::Rename(a, b) => nothing(disk.rename(&at(a), &at(b))),
        Call::Remove(a) => nothing(disk.remove(&at(a))),
    };
    let list = disk.list(folder).unwrap();
    let files = list
        .iter()
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), disk.read(path, 1000).unwrap()));
    (result.map_err(|error| error.kind()), files.collect())
}

proptest! {
    #[test]
    fn both_disks_behave_alike(calls in proptest::collection::vec(call(), 0..40)) {
        let real = tempfile::tempdir().unwrap();
        let simulated = SimulatedDisk::default();
        for call in &calls {
            let expected = answer(&SystemDisk, real.path(), call);
            prop_assert_eq!(answer(&simulated, folder(), call), expected, "{:?}", call);
        }
    }

    /// Synced content survives a power cut, and all other content may survive it.
    #[test]
    fn synced_content_stays(calls in proptest::collection::vec(call(), 0..12)) {
        let disk = SimulatedDisk::default();
        for call in &calls {
            let _ = answer(&disk, folder(), call);
        }
        for order in [Order::Journal, Order::Any] {
            let left: Vec<_> = disk.after_power_cut(order).iter().map(SimulatedDisk::files).collect();
            prop_assert!(left.contains(&disk.files()));
        }
        for name in disk.files().keys() {
            disk.sync(&folder().join(name)).unwrap();
        }
        disk.sync_folder(folder()).unwrap();
        for order in [Order::Journal, Order::Any] {
            let left: Vec<_> = disk.after_power_cut(order).iter().map(SimulatedDisk::files).collect();
            prop_assert_eq!(&left, &[disk.files()]);
        }
    }
}

/// Without syncs the model loses and tears content, so that a missing sync is detected.
#[test]
fn unsynced_content_may_be_lost_or_torn() {
    let disk = SimulatedDisk::default();
    let path = folder().join("a");
    disk.write_new(&path, b"xyz").unwrap();
    disk.sync_folder(folder()).unwrap();
    let mut left: Vec<_> =
        disk.after_power_cut(Order::Journal).iter().map(|disk| disk.files()["a"].clone()).collect();
    left.sort();
    let torn: [&[u8]; 6] = [b"", b"\0\0\0", b"x", b"x\0\0", b"xy", b"xy\0"];
    assert_eq!(left, torn.iter().map(|bytes| bytes.to_vec()).chain([b"xyz".to_vec()]).collect::<Vec<_>>());
    disk.sync(&path).unwrap();
    disk.rename(&path, &folder().join("b")).unwrap();
    let names = |order| {
        let mut names: Vec<Vec<String>> =
            disk.after_power_cut(order).iter().map(|disk| disk.files().into_keys().collect()).collect();
        names.sort();
        names
    };
    assert_eq!(names(Order::Journal), [["a"], ["b"]]);
    assert_eq!(
        names(Order::Any),
        [vec![], vec!["a".to_owned()], vec!["a".into(), "b".into()], vec!["b".into()]]
    );
}
