//! The content of a log: any sequence of events, no values, old files, one writer.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::storage_support::{SimulatedDisk, folder};
use crate::support::*;
use policy_dfa::{Delivery, Reason, Signal, VerbKind};
use portcullis::audit::{
    AuditEvent, AuditLog, AuditSubject, BlockedByBrowser, FolderLog, LogError, LogOptions, MemoryLog,
    VaultAct, WouldHave, verify, verify_on, verify_text,
};
use portcullis::consent::Answer;
use portcullis::signals::{Container, Origin};
use portcullis::storage::Disk;
use proptest::prelude::*;
use proptest::sample::select;
use sirl::{Field, FieldSet, Kind};

/// Values that must not be in a log, in an address that a page chose. Only its host may be in a log.
const CANARIES: [&str; 5] = [
    "4111 1111 1111 1111",
    "Ophelia Quillfeather",
    "ophelia@quill.example",
    "+49 30 5550 1177",
    "hunter2-canary",
];

fn address() -> impl Strategy<Value = Origin> {
    let hosts = select(vec!["shop.example", "bank.test:8443", "[::1]", "xn--pple-43d.example"]);
    (hosts, select(&CANARIES[..]), select(&CANARIES[..])).prop_map(|(host, path, query)| {
        let clean = |value: &str| value.replace([' ', '+', '@'], "-");
        let text = format!("https://{host}/{}/pay?q={}#{}", clean(path), clean(query), clean(path));
        Origin::parse(&text).unwrap()
    })
}

fn fields() -> impl Strategy<Value = FieldSet> {
    let all = [Field::Street, Field::City, Field::CardNumber, Field::CardCode, Field::Password, Field::Email];
    proptest::sample::subsequence(all.to_vec(), 0..=6)
        .prop_map(|fields| fields.into_iter().fold(FieldSet::EMPTY, FieldSet::with))
}

fn reason() -> impl Strategy<Value = Reason> {
    select(vec![Reason::InvalidContainer, Reason::SignalUnknown(Signal::Tls), Reason::EgressBlocked])
}

fn about() -> impl Strategy<Value = AuditSubject> {
    select(vec![
        AuditSubject::Container,
        AuditSubject::PageText,
        AuditSubject::Request(Kind::Purchase),
        AuditSubject::Verb(VerbKind::Submit),
    ])
}

fn event() -> impl Strategy<Value = AuditEvent> {
    let kind = || select(&Kind::ALL[..]);
    let origin = || proptest::option::of(address());
    let money = || {
        proptest::option::of(
            (0u64..100_000).prop_map(|cents| usd(&format!("{}.{:02}", cents / 100, cents % 100))),
        )
    };
    prop_oneof![
        any::<[u8; 32]>().prop_map(|policy| AuditEvent::Started { policy }),
        (proptest::collection::vec(address(), 0..40), proptest::collection::vec(kind(), 0..4), money())
            .prop_map(|(origins, kinds, budget)| AuditEvent::Sealed {
                origins,
                kinds,
                budget,
                container: Container::T2
            }),
        (any::<[u8; 32]>(), proptest::collection::vec(about(), 0..4), fields(), origin()).prop_map(
            |(ticket, about, fields, origin)| AuditEvent::ConsentAsked { ticket, about, fields, origin }
        ),
        (any::<[u8; 32]>(), select(vec![Answer::No, Answer::Never, Answer::Site]))
            .prop_map(|(ticket, answer)| AuditEvent::ConsentAnswered { ticket, answer }),
        (about(), fields(), origin()).prop_map(|(about, fields, origin)| AuditEvent::ConsentRevoked {
            about,
            fields,
            origin
        }),
        (about(), address()).prop_map(|(about, origin)| AuditEvent::ConsentNever { about, origin }),
        (select(vec![VaultAct::Opened, VaultAct::PassphraseChanged]), any::<u64>())
            .prop_map(|(act, generation)| AuditEvent::Vault { act, generation }),
        (origin(), proptest::option::of(reason())).prop_map(|(origin, refused)| AuditEvent::Verb {
            verb: VerbKind::Type,
            origin,
            refused
        }),
        (0u64..4, proptest::option::of(kind()), fields(), origin(), reason()).prop_map(
            |(request, kind, fields, origin, reason)| AuditEvent::Refused {
                request,
                kind,
                fields,
                origin,
                reason
            }
        ),
        (0u64..4, kind(), fields(), address(), select(&Delivery::ALL[..]), money()).prop_map(
            |(request, kind, fields, origin, delivery, amount)| AuditEvent::Intent {
                request,
                kind,
                fields,
                origin,
                delivery,
                amount
            }
        ),
        (0u64..4, proptest::option::of(reason()))
            .prop_map(|(request, failed)| AuditEvent::Outcome { request, failed }),
        select(vec![BlockedByBrowser::Dialog, BlockedByBrowser::Request])
            .prop_map(|what| AuditEvent::Browser { what }),
        (origin(), any::<Option<u64>>()).prop_map(|(origin, bytes)| AuditEvent::Downloaded { origin, bytes }),
        (address(), any::<u64>(), any::<u64>()).prop_map(|(origin, files, bytes)| AuditEvent::Uploaded {
            origin,
            files,
            bytes
        }),
        (origin(), reason()).prop_map(|(origin, reason)| AuditEvent::UploadFailed { origin, reason }),
        any::<[u8; 32]>().prop_map(|policy| AuditEvent::Observing { policy }),
        (about(), fields(), origin(), would_have(), any::<bool>()).prop_map(
            |(about, fields, origin, would, done)| AuditEvent::Observed {
                about,
                fields,
                origin,
                would,
                done
            }
        ),
        Just(AuditEvent::Ended),
    ]
}

fn would_have() -> impl Strategy<Value = WouldHave> {
    prop_oneof![Just(WouldHave::Asked), Just(WouldHave::Withheld), reason().prop_map(WouldHave::Denied),]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// For any events of three sessions, with closing, opening and signing at any point: the log is undamaged, holds the
    /// accepted events in their order, accepts only events in a valid order, reports the open releases, and has no value.
    #[test]
    fn any_history_verifies(
        steps in proptest::collection::vec((event(), 0u8..3, any::<bool>(), 0u8..12), 0..40),
        segment in 1u64..9,
    ) {
        let disk = Arc::new(SimulatedDisk::default());
        let open = || FolderLog::open_on(disk.clone(), folder(), opening(segment)).unwrap();
        let mut log = open().log;
        let mut begun: BTreeSet<(u8, u64)> = BTreeSet::new();
        let mut written = Vec::new();
        let mut head = None;
        for (event, number, sync, then) in steps {
            let in_step = match &event {
                AuditEvent::Intent { request, .. } => begun.insert((number, *request)),
                AuditEvent::Outcome { request, .. } => begun.remove(&(number, *request)),
                _ => true,
            };
            let done = log.append(session(number), &event, 7, sync);
            prop_assert_eq!(done.is_ok(), in_step, "{:?}", event);
            if in_step {
                written.push(number);
            }
            match then {
                0 => {
                    drop(log);
                    let opened = open();
                    let told: BTreeSet<(u8, u64)> = opened.unfinished.iter()
                        .map(|open| ((0..3).find(|n| session(*n) == open.session).unwrap(), open.request))
                        .collect();
                    prop_assert_eq!(&told, &begun);
                    begun.clear();
                    log = opened.log;
                }
                1 => head = log.sign_head(&Signer::new(9), 8).unwrap(),
                _ => {}
            }
        }
        let key = Signer::new(9).key();
        let report = verify_on(disk.as_ref(), folder(), head.as_ref(), Some(key)).unwrap();
        prop_assert_eq!(report.unfinished.len(), begun.len());
        let files = disk.files();
        let segments = files.iter().filter(|(name, _)| name.ends_with(".jsonl"));
        let text: String = segments.map(|(_, bytes)| std::str::from_utf8(bytes).unwrap()).collect();
        let (records, _) = verify_text(&text).unwrap();
        let of_sessions: Vec<u8> = records.iter()
            .filter(|record| record.session.is_session() && record.event != "unknown_outcome")
            .map(|record| (0..3).find(|number| session(*number) == record.session).unwrap())
            .collect();
        prop_assert_eq!(of_sessions, written);
        let lines: Vec<String> = records.iter().map(|record| record.to_line() + "\n").collect();
        prop_assert_eq!(lines.concat(), text.clone());
        for canary in CANARIES {
            prop_assert_eq!(canary::find(&text, canary), None);
        }
    }
}

#[test]
fn an_overlong_host_is_not_spelled_out() {
    let long = Origin::parse(&format!("https://{}.example", "canary-in-a-host.".repeat(40))).unwrap();
    let mut log = MemoryLog::default();
    let event = AuditEvent::Verb { verb: VerbKind::Open, origin: Some(long.clone()), refused: None };
    log.append(session(1), &event, 1, false).unwrap();
    let origins = vec![long; 1000];
    let event = AuditEvent::Sealed { origins, kinds: vec![], budget: None, container: Container::T0 };
    log.append(session(1), &event, 1, false).unwrap();
    assert!(!log.text().contains("canary"), "{}", log.text());
    assert!(log.text().lines().all(|line| line.len() < 4096));
}

#[test]
fn a_file_of_the_version_before_is_read_and_can_be_continued() {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit/support/before.jsonl");
    let report = verify(&old, None, None).unwrap();
    assert_eq!((report.records, report.segments, report.log), (9, 1, None));
    assert_eq!(report.unfinished[0].amount.as_deref(), Some("64.15 USD"));
    // As the first segment of a folder it can be continued.
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("audit");
    drop(FolderLog::open(&folder).unwrap());
    fs::copy(&old, folder.join("000001.jsonl")).unwrap();
    let mut opened = FolderLog::open_with(&folder, opening(100)).unwrap();
    assert_eq!(opened.unfinished, report.unfinished);
    opened.log.append(session(1), &AuditEvent::Ended, 1, true).unwrap();
    assert_eq!(verify(&folder, None, None).unwrap().records, 12);
}

#[test]
fn one_writer_at_a_time_in_a_folder_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("audit");
    let opened = FolderLog::open(&folder).unwrap();
    assert!(matches!(FolderLog::open(&folder), Err(LogError::InUse { .. })));
    drop(opened);
    drop(FolderLog::open(&folder).unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("000001.jsonl"))), (0o700, 0o600));
        std::os::unix::fs::symlink(&folder, home.path().join("link")).unwrap();
        let link = FolderLog::open(&home.path().join("link"));
        assert!(matches!(link, Err(LogError::NotPrivate { .. })));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).unwrap();
        let error = FolderLog::open(&folder).err().unwrap().to_string();
        assert!(error.contains("chmod 700"), "{error}");
    }
}

#[test]
fn concurrent_sessions_share_a_log() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("audit");
    let small = LogOptions { segment_bytes: 2000, ..opening(1000) };
    let log = Arc::new(Mutex::new(FolderLog::open_with(&folder, small).unwrap().log));
    std::thread::scope(|scope| {
        for number in 1..=4 {
            let mut log = log.clone();
            scope.spawn(move || {
                for request in 0..20 {
                    log.append(session(number), &intent(request), 1, false).unwrap();
                    log.append(session(number), &outcome(request), 1, false).unwrap();
                }
            });
        }
    });
    let report = verify(&folder, None, None).unwrap();
    assert_eq!(report.records, 161);
    assert!(report.segments > 10, "{}", report.segments);
    assert_eq!(report.unfinished, []);
}

#[test]
fn an_empty_disk_gives_a_new_log() {
    let disk = SimulatedDisk::default();
    assert!(verify_on(&disk, folder(), None, None).is_err());
    assert!(disk.list(folder()).unwrap().is_empty());
}
