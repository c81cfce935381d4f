//! Answers that stand: for the rest of a session, or until they run out or are taken back.

use std::fmt;

use browser_signals::Origin;
use policy_dfa::{Consent, ConsentScope, Millis};
use serde::{Deserialize, Serialize};
use sirl::{Field, FieldSet, Kind};

use super::Answer;

/// How long a yes for a session holds.
pub const CONSENT_LIFETIME: Millis = Millis(30 * 60 * 1000);

/// How long a yes for a site holds: 30 days.
pub const SITE_LIFETIME: Millis = Millis(30 * 24 * 60 * 60 * 1000);

/// The most answers that are kept beyond a session. Where one more is given to a question the oldest yes goes first, then
/// the oldest never. So many fit into a state of the vault, however long their hosts are.
const MOST_STANDING: usize = 64;

/// An answer that stands beyond a session: a yes for a site, or a never.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingConsent {
    /// The kind of request.
    pub kind: Kind,
    /// The fields; all of the kind's for a never.
    pub fields: FieldSet,
    /// The site.
    pub to: Origin,
    /// The records that the user was told the fields come from; none for a never.
    pub records: Vec<String>,
    /// Whether it is a yes.
    pub given: bool,
    /// When it was given, in milliseconds since 1970.
    pub since: u64,
    /// When it runs out, in milliseconds since 1970; a never does not.
    pub until: Option<u64>,
}

impl fmt::Display for StandingConsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, to) = (self.kind.as_str(), &self.to);
        if !self.given {
            return write!(f, "never: {kind} to {to}");
        }
        let names: Vec<&str> = self.fields.iter().map(Field::as_str).collect();
        write!(f, "yes: {kind} ({}) to {to}", names.join(", "))?;
        match self.until.and_then(|until| i64::try_from(until).ok()) {
            Some(until) => write!(f, ", until {}", date(until)),
            None => Ok(()),
        }
    }
}

/// How a standing consent is written in the vault.
#[derive(Serialize, Deserialize)]
struct Written {
    kind: String,
    fields: Vec<String>,
    to: String,
    records: Vec<String>,
    given: bool,
    since: u64,
    until: Option<u64>,
}

/// Reads standing consents as [`to_json`] writes them. Entries that are not understood are left out, which
/// only means that the user is asked; a text that is not such a list at all gives `None`.
pub fn from_json(bytes: &[u8]) -> Option<Vec<StandingConsent>> {
    let written: Vec<Written> = serde_json::from_slice(bytes).ok()?;
    let read = |w: Written| {
        let fields: Option<FieldSet> = w.fields.iter().map(|name| Field::from_name(name)).collect();
        Some(StandingConsent {
            kind: Kind::ALL.into_iter().find(|kind| kind.as_str() == w.kind)?,
            fields: fields?,
            to: Origin::parse(&w.to).ok()?,
            records: w.records,
            given: w.given,
            since: w.since,
            // A yes without an end is not one of ours.
            until: if w.given { Some(w.until?) } else { None },
        })
    };
    Some(written.into_iter().filter_map(read).collect())
}

/// Writes standing consents, to be kept in the vault.
pub fn to_json(standing: &[StandingConsent]) -> Vec<u8> {
    let written: Vec<Written> = standing
        .iter()
        .map(|consent| Written {
            kind: consent.kind.as_str().to_owned(),
            fields: consent.fields.iter().map(|field| field.as_str().to_owned()).collect(),
            to: consent.to.to_string(),
            records: consent.records.clone(),
            given: consent.given,
            since: consent.since,
            until: consent.until,
        })
        .collect();
    serde_json::to_vec(&written).unwrap_or_default()
}

/// One answer, on the session's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) kind: Kind,
    fields: FieldSet,
    pub(super) to: Origin,
    records: Vec<String>,
    pub(super) answer: Answer,
    until: Option<Millis>,
    /// From an earlier session.
    earlier: bool,
}

/// What a consent is about: fields of a kind, out of these records, to a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release<'a> {
    /// The kind of request.
    pub kind: Kind,
    /// The fields.
    pub fields: FieldSet,
    /// The records that supply them.
    pub records: &'a [String],
    /// The site.
    pub to: &'a Origin,
}

/// The answers that hold in one session, newest first.
#[derive(Debug, Default)]
pub struct ConsentBook {
    pub(super) noted: Vec<Noted>,
    pub(super) standing: Vec<StandingConsent>,
    began: u64,
    pub(super) changed: bool,
}

impl ConsentBook {
    /// A book for a session that begins at `began` (milliseconds since 1970), with what stands from before.
    pub fn with_standing(standing: Vec<StandingConsent>, began: u64) -> ConsentBook {
        let noted = standing.iter().map(|consent| Noted {
            kind: consent.kind,
            fields: consent.fields,
            to: consent.to.clone(),
            records: consent.records.clone(),
            answer: if consent.given { Answer::Site } else { Answer::Never },
            until: consent.until.map(|until| Millis(until.saturating_sub(began))),
            earlier: true,
        });
        ConsentBook { noted: noted.collect(), standing, began, changed: false }
    }

    /// Notes an answer about a release. A yes for this once is for the line that was asked about and is not
    /// noted.
    pub fn note(&mut self, release: &Release<'_>, answer: Answer, now: Millis) {
        let lasts = match answer {
            Answer::Once => return,
            Answer::Session => Some(CONSENT_LIFETIME),
            Answer::Site => Some(SITE_LIFETIME),
            Answer::No | Answer::Never => None,
        };
        let Release { kind, fields, records, to } = release.clone();
        let until = lasts.map(|lasts| Millis(now.0.saturating_add(lasts.0)));
        if matches!(answer, Answer::Site | Answer::Never) {
            let given = answer == Answer::Site;
            self.keep(StandingConsent {
                kind,
                fields,
                to: to.clone(),
                records: if given { records.to_vec() } else { Vec::new() },
                given,
                since: self.began.saturating_add(now.0),
                until: until.map(|until| self.began.saturating_add(until.0)),
            });
        }
        let (to, records) = (to.clone(), records.to_vec());
        self.noted.insert(0, Noted { kind, fields, to, records, answer, until, earlier: false });
    }

    fn keep(&mut self, consent: StandingConsent) {
        self.standing.retain(|old| (old.kind, &old.to) != (consent.kind, &consent.to));
        if self.standing.len() >= MOST_STANDING {
            // A yes before a no: who is asked again loses less than who is not.
            let oldest = self.standing.iter().enumerate().min_by_key(|(_, old)| (!old.given, old.since));
            if let Some((at, _)) = oldest {
                self.standing.remove(at);
            }
        }
        self.standing.push(consent);
        self.changed = true;
    }

    /// Whether one more can be kept without a never having to go.
    pub(super) fn has_room(&self) -> bool {
        self.standing.len() < MOST_STANDING || self.standing.iter().any(|old| old.given)
    }

    /// What the user has said about a release, where the policy lets a yes stand as `scope`. A yes covers fewer
    /// fields out of the records that the user was told of; a no covers more fields, a never all of the kind.
    pub fn about(&self, release: &Release<'_>, scope: ConsentScope, now: Millis) -> Consent {
        let Release { kind, fields, records, to } = release;
        let found = self.noted.iter().find(|noted| {
            let covers = match noted.answer {
                Answer::Never => true,
                Answer::No => noted.fields.is_subset_of(*fields),
                // A policy that was tightened since is kept to.
                _ if noted.earlier && scope != ConsentScope::Site => false,
                _ => {
                    fields.is_subset_of(noted.fields)
                        && records.iter().all(|record| noted.records.contains(record))
                }
            };
            noted.kind == *kind && noted.to == **to && covers
        });
        match found {
            None => Consent::None,
            Some(noted) if noted.until.is_some_and(|until| now >= until) => Consent::Expired,
            Some(noted) if noted.answer.agrees() => Consent::Given,
            Some(_) => Consent::Refused,
        }
    }

    /// Whether the user said never to this kind on this site.
    pub fn never(&self, kind: Kind, to: &Origin) -> bool {
        self.noted.iter().any(|noted| (noted.kind, &noted.to, noted.answer) == (kind, to, Answer::Never))
    }

    /// What is to be kept beyond the session, if it changed since the last call.
    pub fn take_changes(&mut self) -> Option<Vec<StandingConsent>> {
        std::mem::take(&mut self.changed).then(|| self.standing.clone())
    }
}

/// The day of a time in milliseconds since 1970, in UTC, such as `2026-11-21`.
fn date(unix_ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(unix_ms).ok();
    at.map_or_else(|| "a day out of range".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop() -> Origin {
        Origin::parse("https://shop.example").unwrap()
    }

    fn city() -> FieldSet {
        FieldSet::EMPTY.with(Field::City)
    }

    /// Fields of an address out of `address:home`, to `to`.
    struct Asked {
        records: Vec<String>,
        to: Origin,
    }

    impl Asked {
        fn new(record: &str, to: &str) -> Asked {
            Asked { records: vec![record.to_owned()], to: Origin::parse(to).unwrap() }
        }

        fn release(&self, kind: Kind, fields: FieldSet) -> Release<'_> {
            Release { kind, fields, records: &self.records, to: &self.to }
        }
    }

    const SESSION: ConsentScope = ConsentScope::Session;
    const SITE: ConsentScope = ConsentScope::Site;

    #[test]
    fn a_yes_covers_fewer_fields_of_the_same_site_until_it_runs_out() {
        let here = Asked::new("address:home", "https://shop.example");
        let other = Asked::new("address:home", "https://shop.example:8443");
        let both = city().with(Field::Street);
        let mut book = ConsentBook::default();
        book.note(&here.release(Kind::Address, both), Answer::Session, Millis(10));
        let about = |book: &ConsentBook, asked: &Asked, fields, now| {
            book.about(&asked.release(Kind::Address, fields), SESSION, Millis(now))
        };
        assert_eq!(about(&book, &here, city(), 11), Consent::Given);
        assert_eq!(about(&book, &here, both.with(Field::Name), 11), Consent::None);
        assert_eq!(about(&book, &other, city(), 11), Consent::None);
        assert_eq!(book.about(&here.release(Kind::Contact, city()), SESSION, Millis(11)), Consent::None);
        assert_eq!(about(&book, &here, city(), 10 + CONSENT_LIFETIME.0), Consent::Expired);
        book.note(&here.release(Kind::Address, city()), Answer::No, Millis(12));
        assert_eq!(about(&book, &here, both, 13), Consent::Refused);
        assert!(book.take_changes().is_none(), "nothing of this outlives the session");
    }

    #[test]
    fn a_yes_does_not_cover_another_record() {
        let (home, work) = (
            Asked::new("address:home", "https://shop.example"),
            Asked::new("address:work", "https://shop.example"),
        );
        let mut book = ConsentBook::default();
        book.note(&home.release(Kind::Address, city()), Answer::Session, Millis(0));
        assert_eq!(book.about(&home.release(Kind::Address, city()), SESSION, Millis(1)), Consent::Given);
        assert_eq!(book.about(&work.release(Kind::Address, city()), SESSION, Millis(1)), Consent::None);
    }

    #[test]
    fn a_yes_for_this_once_leaves_nothing_behind() {
        let here = Asked::new("address:home", "https://shop.example");
        let mut book = ConsentBook::default();
        book.note(&here.release(Kind::Address, city()), Answer::Once, Millis(0));
        assert_eq!(book.about(&here.release(Kind::Address, city()), SESSION, Millis(1)), Consent::None);
    }

    #[test]
    fn a_yes_for_the_site_and_a_never_stand_in_the_next_session() {
        let began = 1_800_000_000_000;
        let here = Asked::new("address:home", "https://shop.example");
        let mut book = ConsentBook::with_standing(Vec::new(), began);
        book.note(&here.release(Kind::Address, city()), Answer::Site, Millis(5));
        book.note(&here.release(Kind::Contact, FieldSet::EMPTY), Answer::Never, Millis(6));
        let kept = from_json(&to_json(&book.take_changes().unwrap())).unwrap();
        assert_eq!(book.take_changes(), None);

        let address = here.release(Kind::Address, city());
        let contact = here.release(Kind::Contact, city());
        let next = ConsentBook::with_standing(kept.clone(), began + 1_000);
        assert_eq!(next.about(&address, SITE, Millis(0)), Consent::Given);
        assert_eq!(next.about(&address, SESSION, Millis(0)), Consent::None, "the policy was tightened");
        assert_eq!(next.about(&contact, SITE, Millis(0)), Consent::Refused);
        assert!(next.never(Kind::Contact, &shop()) && !next.never(Kind::Address, &shop()));

        let late = ConsentBook::with_standing(kept, began + 5 + SITE_LIFETIME.0);
        assert_eq!(late.about(&address, SITE, Millis(0)), Consent::Expired);
        assert_eq!(late.about(&contact, SITE, Millis(0)), Consent::Refused);
    }

    #[test]
    fn a_later_answer_takes_the_place_of_an_earlier_one() {
        let here = Asked::new("address:home", "https://shop.example");
        let mut book = ConsentBook::default();
        book.note(&here.release(Kind::Address, city()), Answer::Site, Millis(0));
        book.note(&here.release(Kind::Address, city()), Answer::Never, Millis(1));
        let kept = book.take_changes().unwrap();
        assert_eq!(kept.len(), 1);
        assert!(!kept.first().unwrap().given);
    }

    #[test]
    fn what_is_kept_fits_into_the_vault_and_the_newest_is_in_it() {
        let mut book = ConsentBook::default();
        for number in 0..=MOST_STANDING {
            let long = format!(
                "https://{number:03}.{}.{}.example",
                "a".repeat(63),
                "b".repeat(63).repeat(2).replace("bbb", "b.b")
            );
            let asked = Asked::new("address:a-name-as-long-as-names-can-be-1", &long);
            book.note(
                &asked.release(Kind::Address, Field::ALL.into_iter().collect()),
                Answer::Never,
                Millis(number as u64),
            );
        }
        let kept = to_json(&book.take_changes().unwrap());
        assert!(kept.len() < 64 << 10, "{} bytes", kept.len());
        let read = from_json(&kept).unwrap();
        assert_eq!(read.len(), MOST_STANDING);
        assert!(read.last().unwrap().to.host().starts_with(&format!("{MOST_STANDING:03}.")));
    }

    #[test]
    fn an_entry_that_is_not_understood_is_no_consent() {
        let mut entry = serde_json::json!([{
            "kind": "address", "fields": ["city"], "to": "https://shop.example", "records": [],
            "given": true, "since": 1, "until": 2
        }]);
        assert_eq!(from_json(&serde_json::to_vec(&entry).unwrap()).unwrap().len(), 1);
        for (key, value) in [
            ("kind", serde_json::json!("everything")),
            ("fields", serde_json::json!(["soul"])),
            ("to", serde_json::json!("shop.example")),
            ("until", serde_json::Value::Null),
        ] {
            let old = entry[0][key].take();
            entry[0][key] = value;
            assert_eq!(from_json(&serde_json::to_vec(&entry).unwrap()).unwrap(), [], "{key}");
            entry[0][key] = old;
        }
        assert_eq!(from_json(b"{}"), None);
    }
}
