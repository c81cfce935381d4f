//! `portcullis policy suggest`: proposals from a record of use, their proofs, and their limits.

use std::fs;
use std::path::Path;
use std::process::Command;

use portcullis::audit::{AuditEvent, AuditLog, AuditSubject, FolderLog, SessionId, WouldHave};
use portcullis::consent::Answer;
use portcullis::policy::{Policy, Reason, VerbKind};
use portcullis::signals::{Container, Origin};
use portcullis::sirl::{FieldSet, Kind};
use portcullis::{APPROACH_C_POLICY, DEFAULT_POLICY};
use serde_json::Value;

const SHOP: &str = "https://shop.example";

fn hash(policy: &str) -> [u8; 32] {
    Policy::parse(policy).unwrap().compile().unwrap().policy_hash()
}

/// A log that sessions are written to.
struct Written {
    folder: tempfile::TempDir,
    log: FolderLog,
    tickets: u8,
    sessions: u8,
}

impl Written {
    fn new() -> Written {
        let folder = tempfile::tempdir().unwrap();
        let log = FolderLog::open(&folder.path().join("audit")).unwrap().log;
        Written { folder, log, tickets: 0, sessions: 0 }
    }

    fn session(&mut self, began: AuditEvent, events: &[AuditEvent]) {
        self.sessions += 1;
        let id = SessionId::new([self.sessions; 8]);
        let sealed = AuditEvent::Sealed {
            origins: vec![Origin::parse(SHOP).unwrap()],
            kinds: vec![Kind::Address],
            budget: None,
            container: Container::T2,
        };
        for event in [began, sealed].iter().chain(events).chain([&AuditEvent::Ended]) {
            self.log.append(id, event, 1, true).unwrap();
        }
    }

    fn question(&mut self, kind: Kind, origin: &str, answer: Answer) -> [AuditEvent; 2] {
        self.tickets += 1;
        let ticket = [self.tickets; 32];
        let about = vec![AuditSubject::Request(kind)];
        let origin = Origin::parse(origin).ok();
        let asked = AuditEvent::ConsentAsked { ticket, about, fields: FieldSet::EMPTY, origin };
        [asked, AuditEvent::ConsentAnswered { ticket, answer }]
    }

    fn suggest(&self, policy: &str, arguments: &[&str]) -> Ran {
        let path = self.folder.path().join("mine.policy");
        fs::write(&path, policy).unwrap();
        let audit = self.folder.path().join("audit");
        let given = ["policy", "suggest", path.to_str().unwrap(), "--from-audit", audit.to_str().unwrap()];
        let ran = run(&[&given[..], arguments].concat());
        assert_eq!(fs::read_to_string(&path).unwrap(), policy, "it changes nothing");
        ran
    }
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.out, self.err))
    }

    fn changes(&self) -> Vec<String> {
        let all = self.json()["proposals"].as_array().unwrap().clone();
        all.iter().map(|one| one["change"].as_str().unwrap().to_owned()).collect()
    }
}

fn run(arguments: &[&str]) -> Ran {
    let done = Command::new(env!("CARGO_BIN_EXE_portcullis")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: done.status.code().unwrap(), out: text(done.stdout), err: text(done.stderr) }
}

fn verb(verb: VerbKind, refused: Option<Reason>) -> AuditEvent {
    AuditEvent::Verb { verb, origin: Origin::parse(SHOP).ok(), refused }
}

fn check(text: &str, folder: &Path) -> Ran {
    let path = folder.join("suggested.policy");
    fs::write(&path, text).unwrap();
    run(&["policy", "check", path.to_str().unwrap()])
}

/// Six sessions of a person who shops at one place: yes to addresses, no to the newsletter of another site.
fn shopper() -> Written {
    let mut written = Written::new();
    for _ in 0..6 {
        let mut events = vec![verb(VerbKind::Open, None), verb(VerbKind::Click, None)];
        events.extend(written.question(Kind::Address, SHOP, Answer::Session));
        events.extend(written.question(Kind::Contact, "https://letters.example", Answer::No));
        events.extend(written.question(Kind::Purchase, SHOP, Answer::Once));
        events.push(verb(VerbKind::Type, None));
        events.push(verb(VerbKind::Submit, Some(Reason::WrongDestination)));
        written.session(AuditEvent::Started { policy: hash(DEFAULT_POLICY) }, &events);
    }
    written
}

#[test]
fn habits_become_proposals_that_hold() {
    let written = shopper();
    let ran = written.suggest(DEFAULT_POLICY, &["--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let changes = ran.changes();
    for expected in [
        "request address: `consent once per site` in place of `consent once per session`",
        "request login: `deliver nothing`",
        "site \"letters.example\" { never contact }",
        "no rule for the verb press, so that it is refused",
        "session: `at most 4 prompts` in place of 5",
    ] {
        assert!(changes.iter().any(|change| change == expected), "{expected} is not in {changes:#?}");
    }
    let told = ran.json();
    let loosening: Vec<&Value> =
        told["proposals"].as_array().unwrap().iter().filter(|one| one["loosens"] == true).collect();
    assert_eq!(loosening.len(), 1, "{loosening:#?}");
    assert!(loosening[0]["because"].as_str().unwrap().contains("6 times in 6 sessions"));

    let text = told["policy"].as_str().unwrap();
    let checked = check(text, written.folder.path());
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    assert!(text.contains("once per site"), "{text}");
    // The new policy has another hash, so the record of the old one is no evidence about it.
    let again = written.suggest(text, &["--json"]).json();
    assert_eq!((&again["sessions"], &again["sessions_of_other_policies"]), (&0.into(), &6.into()));
    assert_eq!(again["proposals"], Value::Array(Vec::new()));

    assert_eq!(written.suggest(DEFAULT_POLICY, &["--text"]).out, text);
    let told = written.suggest(DEFAULT_POLICY, &[]);
    assert!(told.out.contains("(tightens)") && told.out.contains("left out"), "{}", told.out);
}

#[test]
fn a_proposal_that_would_break_a_rule_is_left_out_with_that_rule() {
    let told = shopper().suggest(DEFAULT_POLICY, &["--json"]).json();
    let left = told["left_out"].as_array().unwrap();
    let why = |about: &str| {
        let of = |one: &&Value| one["about"].as_str().unwrap().contains(about);
        left.iter().find(of).unwrap_or_else(|| panic!("{about}: {left:#?}"))["why"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(why("allowing submit on https://shop.example").contains("I16"));
    assert!(why("asking less often about purchase").contains("another amount"));
}

#[test]
fn few_sessions_a_no_and_other_policies_are_no_evidence() {
    let mut written = Written::new();
    for number in 0..2 {
        let events = written.question(Kind::Address, SHOP, Answer::Once);
        written.session(AuditEvent::Started { policy: hash(DEFAULT_POLICY) }, &events);
        let events = written.question(Kind::Address, SHOP, Answer::Once);
        written.session(AuditEvent::Started { policy: hash(APPROACH_C_POLICY) }, &events);
        assert_eq!(written.suggest(DEFAULT_POLICY, &["--json"]).changes(), [""; 0], "after {number}");
    }
    for answer in [Answer::Once, Answer::Once, Answer::Once, Answer::No] {
        let events = written.question(Kind::Address, "https://tea.example", answer);
        written.session(AuditEvent::Started { policy: hash(DEFAULT_POLICY) }, &events);
    }
    let ran = written.suggest(DEFAULT_POLICY, &["--json"]);
    assert!(!ran.changes().iter().any(|change| change.contains("request address")), "{:#?}", ran.changes());
}

#[test]
fn sessions_without_blocking_have_no_answers() {
    let mut written = Written::new();
    let seen = AuditEvent::Observed {
        about: AuditSubject::Request(Kind::Address),
        fields: FieldSet::EMPTY,
        origin: Origin::parse(SHOP).ok(),
        would: WouldHave::Asked,
        done: false,
    };
    for _ in 0..8 {
        let began = AuditEvent::Observing { policy: hash(DEFAULT_POLICY) };
        written.session(began, std::slice::from_ref(&seen));
    }
    let told = written.suggest(DEFAULT_POLICY, &["--json"]).json();
    assert_eq!((&told["sessions"], &told["sessions_observed"]), (&0.into(), &8.into()));
    assert_eq!(told["proposals"], Value::Array(Vec::new()));
}

#[test]
fn a_record_that_was_changed_proposes_nothing() {
    let written = shopper();
    let segment = written.folder.path().join("audit/000001.jsonl");
    let text = fs::read_to_string(&segment).unwrap();
    fs::write(&segment, text.replacen("\"answer\":\"no\"", "\"answer\":\"once\"", 1)).unwrap();
    let ran = written.suggest(DEFAULT_POLICY, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("changed"), "{}", ran.err);
}
