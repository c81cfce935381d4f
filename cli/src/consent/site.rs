//! The user's view of one site: what may go there, what stands, what was done, and the switches for it.

use std::collections::BTreeMap;
use std::path::Path;

use portcullis::audit::{AuditEvent, AuditSubject, Record, segments};
use portcullis::consent::{Change, ChangeKind, ConsentBook, StandingConsent, standing};
use portcullis::guard::SystemEntropy;
use portcullis::guard::record_choices::RecordChoices;
use portcullis::policy::Millis;
use portcullis::signals::Origin;
use portcullis::sirl::{Field, Kind};
use portcullis::storage::SystemDisk;
use portcullis::vault::{StateName, Vault, may_supply, record_kind};

use crate::audit::failure;
use crate::failure::Failure;
use crate::vault::{By, Opened, Target, day, now_ms};

/// A kind of request, as it is written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedKind(Kind);

impl std::str::FromStr for NamedKind {
    type Err = String;

    fn from_str(name: &str) -> Result<NamedKind, String> {
        let known = || Kind::ALL.map(Kind::as_str).join(", ");
        Kind::from_name(name)
            .map(NamedKind)
            .ok_or_else(|| format!("`{name}` is no kind of request; there are {}", known()))
    }
}

/// The site and its switches.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// The site, such as `https://shop.example`.
    site: String,
    /// Never release this kind of data there, and do not ask: `address`, `login` and so on.
    #[arg(long, value_name = "KIND")]
    never: Vec<NamedKind>,
    /// Take a yes and a never for this kind back, and your choice among several records, so that you are asked.
    #[arg(long, value_name = "KIND")]
    ask: Vec<NamedKind>,
}

/// Sets the switches, if some are given, and shows the site.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { target, site, never, ask } = arguments;
    let to = Origin::parse(site).map_err(|error| Failure::Input(format!("`{site}`: {error}")))?;
    if let Some(NamedKind(twice)) = never.iter().find(|kind| ask.contains(kind)) {
        let kind = twice.as_str();
        return Err(Failure::Input(format!(
            "`{kind}` is after `--never` and after `--ask`; leave one of them out"
        )));
    }
    let (mut opened, _) = Opened::open(target, &mut target.source()?, By::Cache)?;
    let switches = never.iter().map(|kind| (kind.0, ChangeKind::Never));
    let switches: Vec<_> = switches.chain(ask.iter().map(|kind| (kind.0, ChangeKind::TakeBack))).collect();
    if !switches.is_empty() {
        set(&mut opened, &to, &switches)?;
    }
    let standing = super::standing(&opened.vault)?;
    for line in shown(&opened.vault, &to, &standing)? {
        println!("{line}");
    }
    match &target.audit {
        Some(log) => done_there(log, &to)?.into_iter().for_each(|line| println!("{line}")),
        None => println!("what was done there: name the record with `--audit FOLDER`"),
    }
    Ok(())
}

fn set(opened: &mut Opened, to: &Origin, switches: &[(Kind, ChangeKind)]) -> Result<(), Failure> {
    let before = super::standing(&opened.vault)?;
    let mut book = ConsentBook::with_standing(before.clone(), now_ms());
    let mut events = Vec::new();
    for (kind, how) in switches {
        let outcome = book.change(&Change { kind: *kind, to: to.clone(), how: *how }, Millis(0));
        if outcome.is_full {
            return Err(Failure::Input(
                "there are too many standing answers; take one back first".to_owned(),
            ));
        }
        let about = AuditSubject::Request(*kind);
        events.extend(outcome.gone.into_iter().map(|gone| AuditEvent::ConsentRevoked {
            about,
            fields: gone.fields,
            origin: Some(gone.to),
        }));
        if *how == ChangeKind::Never {
            events.push(AuditEvent::ConsentNever { about, origin: to.clone() });
        }
    }
    let after = book.take_changes().map_or(before.clone(), |changes| changes.applied_to(before));
    let set = opened.vault.set_state(StateName::Consents, &standing::to_json(&after), &mut SystemEntropy);
    set.map_err(|error| Failure::Input(error.to_string()))?;
    let taken_back = switches.iter().filter(|(_, how)| *how == ChangeKind::TakeBack);
    let before = choices(&opened.vault)?;
    let after = taken_back.fold(before.clone(), |kept, (kind, _)| kept.without(record_kind(*kind), to));
    if after != before {
        let set = opened.vault.set_state(StateName::Choices, &after.to_json(), &mut SystemEntropy);
        set.map_err(|error| Failure::Input(error.to_string()))?;
    }
    opened.refresh(&events)
}

/// The user's choices among records that fit alike.
fn choices(vault: &Vault) -> Result<RecordChoices, Failure> {
    let stored = vault.state(StateName::Choices).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(RecordChoices::from_json(stored.as_ref().map(|bytes| bytes.as_slice())))
}

/// A line for each kind of request: what the vault has for the site, and the answer that stands.
fn shown(vault: &Vault, to: &Origin, standing: &[StandingConsent]) -> Result<Vec<String>, Failure> {
    let mut lines = vec![format!("{to}")];
    let choices = choices(vault)?;
    for kind in Kind::ALL {
        let mut records: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let allowed =
            |field: Field, handle: &str| kind.allowed_fields().contains(field) && may_supply(handle, kind);
        let here = vault.entries().filter(|entry| entry.binding.admits(to));
        for entry in here.filter(|entry| allowed(entry.field, entry.handle)) {
            records.entry(entry.handle).or_default().push(entry.field.as_str());
        }
        let here: Vec<_> = standing.iter().filter(|one| one.kind == kind && one.to == *to).collect();
        let answer = match here.as_slice() {
            [] => "you are asked".to_owned(),
            all if all.iter().any(|one| !one.given) => "never".to_owned(),
            all => {
                let until = all.iter().filter_map(|one| one.until).max();
                until.map_or("yes".to_owned(), |until| {
                    format!("yes until {}, into {}", day(until), forms(all))
                })
            }
        };
        if records.is_empty() && here.is_empty() {
            continue;
        }
        let of = |(handle, fields): (&str, Vec<&str>)| format!("{handle} ({})", fields.join(", "));
        let records: Vec<String> = records.into_iter().map(of).collect();
        lines.push(format!("  {:<9}{answer:<16}{}", kind.as_str(), records.join("; ")).trim_end().to_owned());
        let chosen =
            choices.at(record_kind(kind), to).map(|choice| format!("  {:<9}you chose {}", "", choice.record));
        lines.extend(chosen);
    }
    let saved = vault.saved_logins().map_err(|error| Failure::Input(error.to_string()))?;
    let saved = saved.into_iter().find(|login| login.origin == *to);
    lines.extend(
        saved.map(|login| format!("  saved login until {}, asked about each time", day(login.ends_ms))),
    );
    if lines.len() == 1 {
        lines.push("  nothing in the vault may go there".to_owned());
    }
    Ok(lines)
}

fn forms(all: &[&StandingConsent]) -> String {
    let forms: Vec<String> = all.iter().filter_map(|one| Some(one.form.as_ref()?.to_string())).collect();
    forms.join("; ")
}

/// Lists what the record holds about the site: releases and refusals by kind, and the last day.
fn done_there(log: &Path, to: &Origin) -> Result<Vec<String>, Failure> {
    let mut there = DoneThere::default();
    for segment in segments(&SystemDisk, log).map_err(failure)? {
        let bytes = segment.read(&SystemDisk).map_err(failure)?;
        let text = String::from_utf8_lossy(&bytes);
        text.lines()
            .filter_map(|line| Record::parse(line).ok())
            .for_each(|record| there.note(&record, &to.to_string()));
    }
    Ok(there.lines())
}

/// The records about one site, counted by what they say.
#[derive(Default)]
struct DoneThere {
    counts: BTreeMap<String, u64>,
    /// The kinds of releases that began there and whose outcome is not read yet, by session and request.
    begun: BTreeMap<(String, String), String>,
    last_ms: u64,
}

impl DoneThere {
    fn note(&mut self, record: &Record, site: &str) {
        let text = |name: &str| record.body.get(name).and_then(|value| value.as_str()).unwrap_or_default();
        let request = record.body.get("request").map(ToString::to_string).unwrap_or_default();
        let id = (record.session.to_string(), request);
        let or_failed = |done: String, not_done: String| match text("failed") {
            "" => done,
            reason => format!("{not_done}: {reason}"),
        };
        let what = match record.event.as_str() {
            "outcome" => {
                let Some(kind) = self.begun.remove(&id) else { return };
                or_failed(format!("{kind} released"), format!("{kind} not released"))
            }
            _ if text("origin") != site => return,
            "intent" => {
                self.begun.insert(id, text("kind").to_owned());
                return;
            }
            "refused" => format!("{} refused: {}", text("kind"), text("reason")),
            "login_restored" => or_failed("saved login used".to_owned(), "saved login not used".to_owned()),
            "uploaded" => "files uploaded".to_owned(),
            _ => return,
        };
        *self.counts.entry(what).or_default() += 1;
        self.last_ms = self.last_ms.max(record.unix_ms);
    }

    fn lines(mut self) -> Vec<String> {
        // A guard that ended in between wrote no outcome.
        for kind in std::mem::take(&mut self.begun).into_values() {
            *self.counts.entry(format!("{kind} released perhaps: no outcome is recorded")).or_default() += 1;
        }
        if self.counts.is_empty() {
            return vec!["what was done there: nothing".to_owned()];
        }
        let head = match self.last_ms {
            0 => "what was done there".to_owned(),
            last => format!("what was done there, last on {}", day(last)),
        };
        let lines = self.counts.into_iter().map(|(what, count)| format!("  {count:>4}  {what}"));
        std::iter::once(head).chain(lines).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use portcullis::audit::{AuditLog, MemoryLog, SessionId};
    use portcullis::policy::Reason;
    use portcullis::sirl::FieldSet;

    use super::*;

    #[test]
    fn what_was_done_is_told_from_what_was_begun_or_failed() {
        let shop = Origin::parse("https://shop.example").unwrap();
        let other = Origin::parse("https://other.example").unwrap();
        let mut log = MemoryLog::default();
        let session = SessionId::new([7; 8]);
        let intent = |request, origin: &Origin| AuditEvent::Intent {
            request,
            kind: Kind::Address,
            fields: FieldSet::EMPTY.with(Field::City),
            origin: origin.clone(),
            delivery: portcullis::policy::Delivery::Fill,
            amount: None,
        };
        let outcome = |request, failed| AuditEvent::Outcome { request, failed };
        let restored = |failed| AuditEvent::LoginRestored { origin: shop.clone(), failed };
        let events = [
            intent(1, &shop),
            outcome(1, None),
            intent(2, &shop),
            outcome(2, Some(Reason::StaleDocument)),
            intent(3, &shop),
            intent(4, &other),
            outcome(4, None),
            restored(None),
            restored(Some(Reason::ValueDamaged)),
        ];
        for event in &events {
            log.append(session, event, 1_800_000_000_000, true).unwrap();
        }
        let mut there = DoneThere::default();
        let text = log.text();
        text.lines().for_each(|line| there.note(&Record::parse(line).unwrap(), &shop.to_string()));
        let lines = there.lines();
        assert!(lines.first().unwrap().contains("last on 2027-01-15"), "{lines:?}");
        let counted: Vec<&str> = lines.iter().skip(1).map(|line| line.trim()).collect();
        let expected = [
            "1  address not released: stale_document",
            "1  address released",
            "1  address released perhaps: no outcome is recorded",
            "1  saved login not used: value_damaged",
            "1  saved login used",
        ];
        assert_eq!(counted, expected);
    }
}
