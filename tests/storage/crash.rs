//! The power fails at every call of every operation on an atomic file, and every disk that this may leave is opened; every
//! call fails, and the file is used afterwards (I10).

use std::io::ErrorKind;
use std::sync::Arc;

use crate::storage_support::{Fault, Order, SimulatedDisk, folder};
use portcullis::storage::{AtomicFile, AtomicFileError};

const NAME: &str = "n";

/// The content for a number: no part of one, with or without zeros, is the content for another.
fn content(number: u8) -> Vec<u8> {
    vec![number; 10 + usize::from(number)]
}

fn number(bytes: &[u8]) -> u8 {
    let number = bytes.first().copied().unwrap_or_default();
    assert!(number > 0 && content(number) == bytes, "between: {bytes:?}");
    number
}

fn kept(disk: &Arc<SimulatedDisk>) -> AtomicFile {
    AtomicFile::new(disk.clone(), folder(), NAME, 1000).unwrap()
}

/// The file, its backups and its original, as numbers; 0 is none.
type View = [u8; 4];

fn view(disk: &SimulatedDisk) -> View {
    let mut files = disk.files();
    let view = ["n", "n.backup-1", "n.backup-2", "n.v1"]
        .map(|name| files.remove(name).map_or(0, |bytes| number(&bytes)));
    assert!(files.is_empty(), "left over: {files:?}");
    view
}

struct Scenario {
    /// The contents that were saved before.
    before: &'static [u8],
    run: fn(&AtomicFile) -> Result<(), AtomicFileError>,
    /// The states it goes through, first and last included.
    states: &'static [View],
}

fn keep_and_save(file: &AtomicFile) -> Result<(), AtomicFileError> {
    file.keep_original("v1")?;
    file.save(&content(4))
}

const SCENARIOS: &[Scenario] = &[
    Scenario { before: &[], run: |file| file.create(&content(1)), states: &[[0; 4], [1, 0, 0, 0]] },
    Scenario { before: &[1], run: |file| file.save(&content(2)), states: &[[1, 0, 0, 0], [2, 1, 0, 0]] },
    Scenario { before: &[1, 2], run: |file| file.save(&content(3)), states: &[[2, 1, 0, 0], [3, 2, 1, 0]] },
    Scenario {
        before: &[1, 2, 3],
        run: |file| file.save(&content(4)),
        states: &[[3, 2, 1, 0], [4, 3, 2, 0]],
    },
    Scenario { before: &[1, 2, 3], run: |file| file.save(&content(3)), states: &[[3, 2, 1, 0]] },
    Scenario {
        before: &[1, 2, 3],
        run: |file| file.restore(1).map(drop),
        states: &[[3, 2, 1, 0], [2, 3, 1, 0]],
    },
    Scenario {
        before: &[1, 2, 3],
        run: |file| file.restore(2).map(drop),
        states: &[[3, 2, 1, 0], [1, 3, 2, 0]],
    },
    Scenario { before: &[1, 2, 3], run: keep_and_save, states: &[[3, 2, 1, 0], [3, 2, 1, 3], [4, 3, 2, 3]] },
    Scenario {
        before: &[1, 2, 3],
        run: |file| file.refresh(&content(4)),
        states: &[[3, 2, 1, 0], [4, 2, 1, 0]],
    },
    Scenario {
        before: &[1, 2, 3],
        run: |file| file.save(&content(4)).and_then(|()| file.refresh(&content(5))),
        states: &[[3, 2, 1, 0], [4, 3, 2, 0], [5, 3, 2, 0]],
    },
    Scenario {
        before: &[1, 2, 3],
        run: |file| file.save(&content(4)).and_then(|()| file.save(&content(5))),
        states: &[[3, 2, 1, 0], [4, 3, 2, 0], [5, 4, 3, 0]],
    },
];

impl Scenario {
    fn start(&self) -> Arc<SimulatedDisk> {
        let disk = Arc::new(SimulatedDisk::default());
        let file = kept(&disk);
        for (at, saved) in self.before.iter().enumerate() {
            if at == 0 { file.create(&content(*saved)) } else { file.save(&content(*saved)) }.unwrap();
        }
        Arc::new(disk.settled())
    }

    fn last(&self) -> View {
        *self.states.last().unwrap()
    }

    fn calls(&self) -> Vec<String> {
        let disk = self.start();
        (self.run)(&kept(&disk)).unwrap();
        assert_eq!(view(&disk), self.last());
        disk.calls()
    }

    /// If names reach the disk in the order of the calls, nothing is lost, not even backups. In any other order the file
    /// exists and is complete, and so is every backup that exists.
    fn judge(&self, found: View, order: Order, done: bool) {
        let states = if done { std::slice::from_ref(self.states.last().unwrap()) } else { self.states };
        match order {
            Order::Journal => assert!(states.contains(&found), "{found:?} is none of {states:?}"),
            Order::Any => assert!(states.iter().any(|state| state[0] == found[0]), "{found:?} of {states:?}"),
        }
        if order == Order::Any && self.states.len() == 3 && self.last()[3] == 3 && found[0] == 4 {
            assert_eq!(found[3], 3, "migrated without the original");
        }
    }
}

/// Opens a disk after a fault, checks it, and saves to it.
fn reopen(disk: SimulatedDisk, judge: impl Fn(View)) {
    let disk = Arc::new(disk);
    let file = kept(&disk);
    file.recover().unwrap();
    let found = view(&disk);
    judge(found);
    if found[0] == 0 {
        file.create(&content(9)).unwrap();
        assert_eq!(view(&disk), [9, 0, 0, 0]);
    } else {
        file.save(&content(9)).unwrap();
        let saved = view(&disk);
        assert_eq!((saved[0], saved[1], saved[3]), (9, found[0], found[3]));
    }
}

/// Returns the number of disks that were checked.
fn power_cuts(scenario: &Scenario, order: Order) -> usize {
    let mut seen = 0;
    for stop in 0.. {
        let disk = scenario.start();
        disk.set(Some(Fault::Stop(stop)));
        let done = (scenario.run)(&kept(&disk)).is_ok();
        for left in disk.after_power_cut(order) {
            // The power may fail again during the recovery from the first cut.
            for again in 0.. {
                let mending = Arc::new(left.settled());
                mending.set(Some(Fault::Stop(again)));
                let mended = kept(&mending).recover().is_ok();
                for found in mending.after_power_cut(order) {
                    seen += 1;
                    reopen(found, |view| scenario.judge(view, order, done));
                }
                if mended {
                    break;
                }
            }
        }
        if disk.calls().len() <= stop {
            break;
        }
    }
    seen
}

#[test]
fn a_power_cut_at_any_call_leaves_old_or_new_and_every_backup() {
    let seen: usize = SCENARIOS.iter().map(|scenario| power_cuts(scenario, Order::Journal)).sum();
    println!("{seen} disks");
    assert!(seen > 1000, "{seen}");
}

#[test]
fn a_power_cut_leaves_old_or_new_in_whatever_order_names_reach_the_disk() {
    let seen: usize = SCENARIOS.iter().map(|scenario| power_cuts(scenario, Order::Any)).sum();
    println!("{seen} disks");
    assert!(seen > 10_000, "{seen}");
}

#[test]
fn an_error_at_any_call_is_reported_and_the_file_goes_on() {
    for scenario in SCENARIOS {
        let calls = scenario.calls();
        let mut syncs = (0..calls.len()).filter(|at| calls[*at].starts_with("sync_folder"));
        // The second of two saves finishes the first after an error at its end.
        let reported = if scenario.last()[0] == 5 { syncs.next() } else { syncs.next_back() }.unwrap();
        for at in 0..calls.len() {
            for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
                for fault in [Fault::Once(at, kind), Fault::Forever(at, kind)] {
                    let disk = scenario.start();
                    disk.set(Some(fault));
                    let result = (scenario.run)(&kept(&disk));
                    let what = format!("{fault:?}: {} of {calls:#?}", calls[at]);
                    if at <= reported && !calls[at].starts_with("remove") {
                        assert!(result.is_err(), "{what}");
                    }
                    disk.set(None);
                    go_on(scenario, &disk, result.is_ok());
                }
            }
        }
    }
}

/// Checks the disk after a failed call: used in the same process, opened by the next one, and after a power cut.
fn go_on(scenario: &Scenario, disk: &SimulatedDisk, done: bool) {
    let same = Arc::new(disk.settled());
    let file = kept(&same);
    let held = file.read().map_or(0, |bytes| number(&bytes));
    assert!(scenario.states.iter().any(|state| state[0] == held));
    if held == 0 {
        file.create(&content(9)).unwrap();
    } else {
        file.save(&content(9)).unwrap();
    }
    assert_eq!(number(&file.read().unwrap()), 9);
    reopen(disk.settled(), |view| scenario.judge(view, Order::Journal, done));
    for left in disk.after_power_cut(Order::Journal) {
        reopen(left, |view| scenario.judge(view, Order::Journal, done));
    }
}

#[test]
fn an_original_is_stored_once() {
    let disk = SCENARIOS[3].start();
    let file = kept(&disk);
    assert!(file.keep_original("v1").unwrap());
    file.save(&content(4)).unwrap();
    assert!(!file.keep_original("v1").unwrap());
    assert_eq!(view(&disk), [4, 3, 2, 3]);
    for label in ["", "V1", "a.b", "../v1", "backup-1", "lock", "replaced", "a23456789b1234567"] {
        assert!(matches!(file.keep_original(label), Err(AtomicFileError::Name { .. })), "{label}");
    }
}

#[test]
fn a_refused_call_changes_nothing() {
    let disk = SCENARIOS[3].start();
    let file = kept(&disk);
    assert!(matches!(file.create(&content(4)), Err(AtomicFileError::OnlyBackups { count: 2, .. })));
    for number in [0, 3, 255] {
        assert!(matches!(file.restore(number), Err(AtomicFileError::NoBackup { .. })), "{number}");
    }
    let too_long = file.save(&[4; 1001]);
    assert!(matches!(too_long, Err(AtomicFileError::TooLong { length: 1001, limit: 1000, .. })));
    assert_eq!(view(&disk), [3, 2, 1, 0]);
    let fresh = SCENARIOS[1].start();
    assert!(matches!(kept(&fresh).create(&content(2)), Err(AtomicFileError::Exists { .. })));
    assert!(matches!(kept(&fresh).restore(1), Err(AtomicFileError::NoBackup { number: 1, .. })));
    assert_eq!(view(&fresh), [1, 0, 0, 0]);
}

#[test]
fn a_name_that_is_a_part_of_another_file_is_refused() {
    let refused = |name: &str| {
        let disk = Arc::new(SimulatedDisk::default());
        matches!(AtomicFile::new(disk, folder(), name, 9), Err(AtomicFileError::Name { .. }))
    };
    for name in
        ["", ".", "..", "a/b", "/", "a/", "n.lock", "n.replaced", "n.backup-1", "n.draft-00ff00ff00ff00ff"]
    {
        assert!(refused(name), "{name}");
    }
    for name in ["n", "my.vault", ".hidden", "n.v1", "backup-1", "lock", "n.draft-", "n.locked"] {
        assert!(!refused(name), "{name}");
    }
}
