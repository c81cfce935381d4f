//! The log after a power cut at any call of the disk, and after calls that fail (I9, I10).

use std::io::ErrorKind;
use std::sync::Arc;

use crate::storage_support::{Fault, Order, SimulatedDisk, folder};
use crate::support::*;
use portcullis::audit::{
    AuditEvent, AuditLog, FolderLog, LogError, LogOptions, OpenedLog, Record, SessionId, SignedHead,
    verify_on, verify_text,
};
use portcullis::storage::Disk;

const SEGMENT: u64 = 4;

/// The events of a session, each with whether it is synced.
fn script() -> Vec<(SessionId, AuditEvent, bool)> {
    vec![
        (session(1), AuditEvent::Started { policy: [1; 32] }, true),
        (session(1), intent(1), true),
        (session(1), verb(), false),
        (session(1), outcome(1), true),
        (session(2), intent(1), true),
        (session(1), verb(), false),
        (session(1), intent(2), true),
        (session(2), outcome(1), true),
        (session(1), verb(), false),
        (session(1), AuditEvent::Ended, true),
    ]
}

/// The caller's knowledge at the end.
#[derive(Default)]
struct Known {
    /// The numbers of the script's events that were tried, in order, with their results.
    tried: Vec<(usize, bool)>,
    /// The number of tried events that are certainly on disk.
    durable: usize,
    /// The newest head that was given out.
    head: Option<SignedHead>,
}

/// Plays the script as a correct caller does: no outcome without its intent. It signs the head in the middle.
fn play(disk: &Arc<SimulatedDisk>) -> Known {
    let mut known = Known::default();
    let shared: Arc<dyn Disk> = disk.clone();
    let opened = (0..2).find_map(|_| FolderLog::open_on(shared.clone(), folder(), opening(SEGMENT)).ok());
    let Some(OpenedLog { mut log, .. }) = opened else { return known };
    let mut begun = Vec::new();
    for (number, (session, event, sync)) in script().into_iter().enumerate() {
        if let AuditEvent::Outcome { request, .. } = event
            && !begun.contains(&(session, request))
        {
            continue;
        }
        let done = log.append(session, &event, 10 + number as u64, sync).is_ok();
        known.tried.push((number, done));
        if done && sync {
            known.durable = known.tried.len();
        }
        if let (AuditEvent::Intent { request, .. }, true) = (&event, done) {
            begun.push((session, *request));
        }
        if number == 5
            && let Ok(head) = log.sign_head(&Signer::new(9), 10)
        {
            known.durable = known.tried.len();
            known.head = head;
        }
    }
    known
}

/// All records of an undamaged log.
fn records(disk: &SimulatedDisk) -> Vec<Record> {
    let segments = disk.files().into_iter().filter(|(name, _)| name.ends_with(".jsonl"));
    let text: String = segments.map(|(_, bytes)| String::from_utf8(bytes).unwrap()).collect();
    verify_text(&text).unwrap().0
}

/// The script's events that a log holds, by number: each was written with its number as its time.
fn of_script(records: &[Record]) -> Vec<usize> {
    let ours = records
        .iter()
        .filter(|record| !matches!(record.event.as_str(), "log_opened" | "head_signed" | "unknown_outcome"));
    ours.map(|record| usize::try_from(record.unix_ms).unwrap() - 10).collect()
}

/// Opens the log after the fault, and checks the properties that must always hold.
fn reopen(disk: &Arc<SimulatedDisk>, known: &Known, what: &str) -> Vec<usize> {
    let opening = LogOptions { known: known.head.clone(), unix_ms: 5000, ..opening(SEGMENT) };
    let opened = FolderLog::open_on(disk.clone(), folder(), opening)
        .unwrap_or_else(|error| panic!("{what}: {error}\n{:#?}", disk.calls()));
    let report = verify_on(disk.as_ref(), folder(), known.head.as_ref(), None).unwrap();
    assert_eq!(report.unfinished, [], "{what}");
    let records = records(disk);
    let (mut open, mut ended) = (Vec::new(), 0);
    for record in &records {
        let request = record.body.get("request").and_then(serde_json::Value::as_u64);
        let release = (record.session, request.unwrap_or(0));
        match record.event.as_str() {
            "intent" => open.push(release),
            "outcome" => {
                assert!(open.contains(&release), "{what}: done without its intent");
                open.retain(|other| *other != release);
            }
            "unknown_outcome" => {
                assert!(open.contains(&release), "{what}");
                open.retain(|other| *other != release);
                ended += u64::from(record.unix_ms == 5000);
            }
            _ => {}
        }
    }
    assert_eq!(open, [], "{what}: an intent stays open");
    assert_eq!(opened.unfinished.len() as u64, ended, "{what}: told and recorded alike");
    of_script(&records)
}

fn calls_of_a_whole_run() -> usize {
    let disk = Arc::new(SimulatedDisk::default());
    let known = play(&disk);
    let calls = disk.calls().len();
    assert!(known.tried.iter().all(|(_, done)| *done));
    assert!(known.head.is_some());
    assert_eq!(reopen(&disk, &known, "no fault"), (0..script().len()).collect::<Vec<_>>());
    let files = disk.files();
    assert!(files.contains_key("000003.jsonl") && files.contains_key("head.note"), "{:?}", files.keys());
    calls
}

#[test]
fn after_a_power_cut_at_any_call_the_log_is_a_prefix_of_the_written_one() {
    let mut disks = 0;
    for stop in 0..calls_of_a_whole_run() {
        let disk = Arc::new(SimulatedDisk::default());
        disk.set(Some(Fault::Stop(stop)));
        let known = play(&disk);
        let tried: Vec<usize> = known.tried.iter().map(|(number, _)| *number).collect();
        for order in [Order::Journal, Order::Any] {
            // With names in any order there are many similar disks; one in three of them is enough.
            let each = if order == Order::Any { 3 } else { 1 };
            for left in disk.after_power_cut(order).iter().step_by(each) {
                disks += 1;
                let what = format!("stopped before call {stop}, {order:?}, {:?}", left.files().keys());
                let found = reopen(&Arc::new(left.settled()), &known, &what);
                assert!(tried.starts_with(&found), "{what}: {found:?} is no beginning of {tried:?}");
                assert!(found.len() >= known.durable, "{what}: {found:?} lacks what was synced");
            }
        }
    }
    assert!(disks > 1000, "{disks}");
}

#[test]
fn a_power_cut_while_a_log_is_opened_after_one_leaves_it_to_be_opened_again() {
    for stop in [9, 14, 20, 26] {
        let disk = Arc::new(SimulatedDisk::default());
        disk.set(Some(Fault::Stop(stop)));
        let known = play(&disk);
        let lefts = disk.after_power_cut(Order::Journal);
        for left in lefts.iter().step_by(lefts.len().div_ceil(12)) {
            let whole = Arc::new(left.settled());
            let found = reopen(&whole, &known, "second opening");
            for again in 0..whole.calls().len() {
                let second = Arc::new(left.settled());
                second.set(Some(Fault::Stop(again)));
                let opened = FolderLog::open_on(second.clone(), folder(), opening(SEGMENT));
                let seconds = second.after_power_cut(Order::Journal);
                for third in seconds.iter().step_by(seconds.len().div_ceil(20)) {
                    let what = format!("stopped before call {stop}, then {again}");
                    let third = Arc::new(third.settled());
                    let before = third.files();
                    assert_eq!(reopen(&third, &known, &what), found, "{what}");
                    // The report of the second opening is on disk.
                    if let Ok(opened) = &opened {
                        let text: String = before.values().map(|b| String::from_utf8_lossy(b)).collect();
                        let closed = text.matches("\"unknown_outcome\"").count();
                        assert_eq!(closed, opened.unfinished.len(), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_call_that_fails_leaves_no_incomplete_record() {
    let calls = calls_of_a_whole_run();
    for at in 0..calls {
        for kind in [ErrorKind::StorageFull, ErrorKind::PermissionDenied] {
            for fault in [Fault::Once(at, kind), Fault::Forever(at, kind)] {
                let disk = Arc::new(SimulatedDisk::default());
                disk.set(Some(fault));
                let known = play(&disk);
                let what = format!("{fault:?}: {:?}", disk.calls().get(at));
                let found = reopen(&Arc::new(disk.settled()), &known, &what);
                let done: Vec<usize> = known.tried.iter().filter(|t| t.1).map(|t| t.0).collect();
                let tried: Vec<usize> = known.tried.iter().map(|t| t.0).collect();
                // Acknowledged events are there, in their order, and no event that was never tried. An event that was
                // refused because it could not be synced may be there; it led to no release.
                assert!(is_within(&done, &found), "{what}: {found:?} lacks some of {done:?}");
                assert!(is_within(&found, &tried), "{what}: {found:?} has more than {tried:?}");
                let once = matches!(fault, Fault::Once(..));
                let sync = disk.calls()[at].starts_with("sync /f/0") && !disk.calls()[at].contains(".new");
                if once && sync && at > 10 {
                    // The content of the disk is unknown: from the first refusal on, everything is refused.
                    assert!(known.tried.iter().skip_while(|t| t.1).all(|t| !t.1), "{what}");
                    assert!(known.tried.last().is_some_and(|t| !t.1), "{what}");
                }
                let append =
                    disk.calls()[at].starts_with("append") || disk.calls()[at].starts_with("write_new");
                if once && append && !disk.calls()[at].contains(".new") {
                    // A failed write that was undone loses its own record alone.
                    assert!(known.tried.iter().filter(|t| !t.1).count() <= 1, "{what}");
                    assert_eq!(done, found, "{what}");
                }
            }
        }
    }
}

/// Whether `some` are among `all`, in the same order.
fn is_within(some: &[usize], all: &[usize]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|number| rest.any(|other| other == number))
}

#[test]
fn a_torn_line_is_cut_and_the_cut_recorded_unless_a_head_covers_it() {
    let disk = Arc::new(SimulatedDisk::default());
    let known = play(&disk);
    let last = folder().join("000003.jsonl");
    let bytes = disk.read(&last, u64::MAX).unwrap();
    for cut in 1..60 {
        let torn = Arc::new(disk.settled());
        torn.truncate(&last, bytes.len() as u64 - cut).unwrap();
        let opened = FolderLog::open_on(torn.clone(), folder(), opening(SEGMENT)).unwrap();
        assert!(opened.cut > 0);
        let records = records(&torn);
        let opening = records.iter().rfind(|record| record.event == "log_opened").unwrap();
        assert_eq!(opening.body["cut"], opened.cut);
        reopen(&torn, &known, "torn");
    }
    // All after the head is gone, and the last covered line is torn: that is no accident.
    let records = records(&disk);
    let covered = usize::try_from(known.head.as_ref().unwrap().records).unwrap();
    let segment = covered.div_ceil(usize::try_from(SEGMENT).unwrap());
    let torn = Arc::new(disk.settled());
    let kept = &records[(segment - 1) * 4..covered];
    let length: usize = kept.iter().map(|record| record.to_line().len() + 1).sum();
    torn.truncate(&folder().join(format!("{segment:06}.jsonl")), length as u64 - 1).unwrap();
    for later in segment + 1..=3 {
        torn.remove(&folder().join(format!("{later:06}.jsonl"))).unwrap();
    }
    let before = torn.files();
    let refused = FolderLog::open_on(torn.clone(), folder(), opening(SEGMENT));
    assert!(matches!(refused, Err(LogError::Broken { .. })));
    assert_eq!(torn.files(), before);
}

#[test]
fn a_release_in_the_wrong_order_is_not_recorded() {
    let disk = Arc::new(SimulatedDisk::default());
    let mut log = FolderLog::open_on(disk.clone(), folder(), opening(SEGMENT)).unwrap().log;
    let mut append = |session, event| log.append(session, &event, 1, true).map_err(|error| error.kind());
    assert_eq!(append(session(1), outcome(1)), Err(ErrorKind::InvalidInput));
    assert_eq!(append(SessionId::LOG, intent(1)), Err(ErrorKind::InvalidInput));
    append(session(1), intent(1)).unwrap();
    assert_eq!(append(session(1), intent(1)), Err(ErrorKind::InvalidInput));
    assert_eq!(append(session(2), outcome(1)), Err(ErrorKind::InvalidInput));
    append(session(1), outcome(1)).unwrap();
    assert_eq!(append(session(1), outcome(1)), Err(ErrorKind::InvalidInput));
    assert_eq!(records(&disk).len(), 3);
}
