//! Answers that stand: for the rest of a session, or until they run out or are taken back.

use std::fmt;

use browser_signals::Origin;
use policy_dfa::{Consent, Millis};
use serde::{Deserialize, Serialize};
use sirl::{Field, FieldSet, Kind};

use super::Answer;

/// How long a yes for a session holds.
pub const CONSENT_LIFETIME: Millis = Millis(30 * 60 * 1000);

/// How long a yes for a site holds: 30 days.
pub const SITE_LIFETIME: Millis = Millis(30 * 24 * 60 * 60 * 1000);

/// The most answers that are kept beyond a session. The oldest yes goes first, a no never.
const MOST_STANDING: usize = 128;

/// An answer that stands beyond a session: a yes for a site, or a never.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingConsent {
    /// The kind of request.
    pub kind: Kind,
    /// The fields; all of the kind's for a never.
    pub fields: FieldSet,
    /// The site.
    pub to: Origin,
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
            Some(until) => write!(f, ", until {}", crate::time::date(until)),
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
            given: w.given,
            since: w.since,
            // A yes without an end is not one of ours.
            until: if w.given { Some(w.until?) } else { None },
        })
    };
    Some(written.into_iter().filter_map(read).take(MOST_STANDING).collect())
}

/// Writes standing consents, to be kept in the vault.
pub fn to_json(standing: &[StandingConsent]) -> Vec<u8> {
    let written: Vec<Written> = standing
        .iter()
        .map(|consent| Written {
            kind: consent.kind.as_str().to_owned(),
            fields: consent.fields.iter().map(|field| field.as_str().to_owned()).collect(),
            to: consent.to.to_string(),
            given: consent.given,
            since: consent.since,
            until: consent.until,
        })
        .collect();
    serde_json::to_vec(&written).unwrap_or_default()
}

/// One answer, on the session's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Noted {
    kind: Kind,
    fields: FieldSet,
    to: Origin,
    answer: Answer,
    until: Option<Millis>,
}

/// The answers that hold in one session, newest first.
#[derive(Debug, Default)]
pub struct ConsentBook {
    noted: Vec<Noted>,
    standing: Vec<StandingConsent>,
    began: u64,
    changed: bool,
}

impl ConsentBook {
    /// A book for a session that begins at `began` (milliseconds since 1970), with what stands from before.
    pub fn with_standing(standing: Vec<StandingConsent>, began: u64) -> ConsentBook {
        let noted = standing.iter().map(|consent| Noted {
            kind: consent.kind,
            fields: consent.fields,
            to: consent.to.clone(),
            answer: if consent.given { Answer::Site } else { Answer::Never },
            until: consent.until.map(|until| Millis(until.saturating_sub(began))),
        });
        ConsentBook { noted: noted.collect(), standing, began, changed: false }
    }

    /// Notes an answer about letting `fields` of `kind` go to `to`. A yes for this once is for the line that
    /// was asked about and is not noted.
    pub fn note(&mut self, kind: Kind, fields: FieldSet, to: Origin, answer: Answer, now: Millis) {
        let lasts = match answer {
            Answer::Once => return,
            Answer::Session => Some(CONSENT_LIFETIME),
            Answer::Site => Some(SITE_LIFETIME),
            Answer::No | Answer::Never => None,
        };
        let until = lasts.map(|lasts| Millis(now.0.saturating_add(lasts.0)));
        if matches!(answer, Answer::Site | Answer::Never) {
            self.keep(StandingConsent {
                kind,
                fields,
                to: to.clone(),
                given: answer == Answer::Site,
                since: self.began.saturating_add(now.0),
                until: until.map(|until| self.began.saturating_add(until.0)),
            });
        }
        self.noted.insert(0, Noted { kind, fields, to, answer, until });
    }

    fn keep(&mut self, consent: StandingConsent) {
        self.standing.retain(|old| (old.kind, &old.to) != (consent.kind, &consent.to));
        if self.standing.len() >= MOST_STANDING {
            let oldest = self.standing.iter().enumerate().filter(|(_, old)| old.given);
            if let Some((at, _)) = oldest.min_by_key(|(_, old)| old.since) {
                self.standing.remove(at);
            }
        }
        self.standing.push(consent);
        self.changed = true;
    }

    /// What the user has said about letting `fields` of `kind` go to `to`. A yes covers fewer fields, a no
    /// covers more, a never all of the kind.
    pub fn about(&self, kind: Kind, fields: FieldSet, to: &Origin, now: Millis) -> Consent {
        let found = self.noted.iter().find(|noted| {
            let covers = match noted.answer {
                Answer::Never => true,
                Answer::No => noted.fields.is_subset_of(fields),
                _ => fields.is_subset_of(noted.fields),
            };
            noted.kind == kind && noted.to == *to && covers
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shop() -> Origin {
        Origin::parse("https://shop.example").unwrap()
    }

    fn city() -> FieldSet {
        FieldSet::EMPTY.with(Field::City)
    }

    #[test]
    fn a_yes_covers_fewer_fields_of_the_same_site_until_it_runs_out() {
        let other = Origin::parse("https://shop.example:8443").unwrap();
        let both = city().with(Field::Street);
        let mut book = ConsentBook::default();
        book.note(Kind::Address, both, shop(), Answer::Session, Millis(10));
        let about =
            |book: &ConsentBook, fields, to: &Origin, now| book.about(Kind::Address, fields, to, Millis(now));
        assert_eq!(about(&book, city(), &shop(), 11), Consent::Given);
        assert_eq!(about(&book, both.with(Field::Name), &shop(), 11), Consent::None);
        assert_eq!(about(&book, city(), &other, 11), Consent::None);
        assert_eq!(book.about(Kind::Contact, city(), &shop(), Millis(11)), Consent::None);
        assert_eq!(about(&book, city(), &shop(), 10 + CONSENT_LIFETIME.0), Consent::Expired);
        book.note(Kind::Address, city(), shop(), Answer::No, Millis(12));
        assert_eq!(about(&book, both, &shop(), 13), Consent::Refused);
        assert!(book.take_changes().is_none(), "nothing of this outlives the session");
    }

    #[test]
    fn a_yes_for_this_once_leaves_nothing_behind() {
        let mut book = ConsentBook::default();
        book.note(Kind::Address, city(), shop(), Answer::Once, Millis(0));
        assert_eq!(book.about(Kind::Address, city(), &shop(), Millis(1)), Consent::None);
    }

    #[test]
    fn a_yes_for_the_site_and_a_never_stand_in_the_next_session() {
        let began = 1_800_000_000_000;
        let mut book = ConsentBook::with_standing(Vec::new(), began);
        book.note(Kind::Address, city(), shop(), Answer::Site, Millis(5));
        book.note(Kind::Contact, FieldSet::EMPTY, shop(), Answer::Never, Millis(6));
        let kept = from_json(&to_json(&book.take_changes().unwrap())).unwrap();
        assert_eq!(book.take_changes(), None);

        let next = ConsentBook::with_standing(kept.clone(), began + 1_000);
        assert_eq!(next.about(Kind::Address, city(), &shop(), Millis(0)), Consent::Given);
        assert_eq!(next.about(Kind::Contact, city(), &shop(), Millis(0)), Consent::Refused);
        assert!(next.never(Kind::Contact, &shop()) && !next.never(Kind::Address, &shop()));

        let late = ConsentBook::with_standing(kept, began + 5 + SITE_LIFETIME.0);
        assert_eq!(late.about(Kind::Address, city(), &shop(), Millis(0)), Consent::Expired);
        assert_eq!(late.about(Kind::Contact, city(), &shop(), Millis(0)), Consent::Refused);
    }

    #[test]
    fn a_later_answer_takes_the_place_of_an_earlier_one() {
        let mut book = ConsentBook::default();
        book.note(Kind::Address, city(), shop(), Answer::Site, Millis(0));
        book.note(Kind::Address, city(), shop(), Answer::Never, Millis(1));
        let kept = book.take_changes().unwrap();
        assert_eq!(kept.len(), 1);
        assert!(!kept.first().unwrap().given);
    }

    #[test]
    fn an_entry_that_is_not_understood_is_no_consent() {
        let mut entry = serde_json::json!([{
            "kind": "address", "fields": ["city"], "to": "https://shop.example",
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
