//! Answers that stand: for the rest of a session, or until they run out or are taken back.

use std::fmt;

use browser_signals::Origin;
use policy_dfa::{Consent, ConsentScope, Millis};
use serde::{Deserialize, Serialize};
use sirl::{Field, FieldSet, Kind};

use super::{Answer, FormPlace, Purpose};

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
    /// The form that a yes is for; none for a never.
    pub form: Option<FormPlace>,
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
        if let Some(form) = &self.form {
            write!(f, ", into {form}")?;
        }
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    form: Option<WrittenForm>,
    given: bool,
    since: u64,
    until: Option<u64>,
}

/// How the form of a yes is written.
#[derive(Serialize, Deserialize)]
struct WrittenForm {
    purpose: String,
    page: String,
    action: String,
}

impl WrittenForm {
    fn of(form: &FormPlace) -> Option<WrittenForm> {
        let (page, action) = (form.page.clone()?, form.action.clone()?);
        Some(WrittenForm { purpose: form.purpose.as_str().to_owned(), page, action })
    }

    fn read(&self) -> Option<FormPlace> {
        let purpose = Purpose::from_word(&self.purpose)?;
        let form = FormPlace::new(purpose, Some(&self.page), Some(&self.action), None);
        form.can_stand().then_some(form)
    }
}

/// Reads standing consents as [`to_json`] writes them. Entries that are not understood are left out, which
/// only means that the user is asked; a text that is not such a list at all gives `None`. A yes that names no form, as
/// versions before wrote it, is one of those: it was said of every form of a site. A never of those versions stands.
pub fn from_json(bytes: &[u8]) -> Option<Vec<StandingConsent>> {
    let written: Vec<Written> = serde_json::from_slice(bytes).ok()?;
    let read = |w: Written| {
        let fields: Option<FieldSet> = w.fields.iter().map(|name| Field::from_name(name)).collect();
        Some(StandingConsent {
            kind: Kind::ALL.into_iter().find(|kind| kind.as_str() == w.kind)?,
            fields: fields?,
            to: Origin::parse(&w.to).ok()?,
            records: w.records,
            // A yes without a form is not one of ours.
            form: if w.given { Some(w.form?.read()?) } else { None },
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
            form: consent.form.as_ref().and_then(WrittenForm::of),
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
    /// The form; none for a yes to a plan that no form was filled under yet.
    form: Option<FormPlace>,
    pub(super) answer: Answer,
    until: Option<Millis>,
    /// From an earlier session.
    earlier: bool,
}

impl Noted {
    /// Whether a yes covers these fields out of these records in this form.
    fn covers(&self, release: &Release<'_>) -> bool {
        let Release { kind, fields, records, form, .. } = release;
        let here = match (form, &self.form) {
            // A plan names no form; at the form it is decided anew.
            (None, _) => true,
            (Some(form), _) if !form.can_stand() => false,
            (Some(form), Some(said)) => *form == said,
            (Some(form), None) => form.purpose.is_planned_for(*kind),
        };
        here && fields.is_subset_of(self.fields) && records.iter().all(|record| self.records.contains(record))
    }

    /// Whether a no to this is a no to that.
    fn refuses(&self, release: &Release<'_>) -> bool {
        let same = match (release.form, &self.form) {
            (Some(form), Some(refused)) => refused.resembles(form),
            (_, _) => true,
        };
        same && self.fields.is_subset_of(release.fields)
    }
}

/// What a consent is about: fields of a kind, out of these records, into a form of a site.
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
    /// The form, if one was looked at.
    pub form: Option<&'a FormPlace>,
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
            form: consent.form.clone(),
            answer: if consent.given { Answer::Site } else { Answer::Never },
            until: consent.until.map(|until| Millis(until.saturating_sub(began))),
            earlier: true,
        });
        ConsentBook { noted: noted.collect(), standing, began, changed: false }
    }

    /// Notes an answer about a release. A yes for this once is for the line that was asked about and is not
    /// noted; neither is one about a form whose every question is a new one. A yes that named no form stands beyond the
    /// session once it is [bound](ConsentBook::bind) to one.
    pub fn note(&mut self, release: &Release<'_>, answer: Answer, now: Millis) {
        let lasts = match answer {
            Answer::Once => return,
            Answer::Session => Some(CONSENT_LIFETIME),
            Answer::Site => Some(SITE_LIFETIME),
            Answer::No | Answer::Never => None,
        };
        let Release { kind, fields, records, to, form } = release.clone();
        if answer.agrees() && form.is_some_and(|form| !form.can_stand()) {
            return;
        }
        let until = lasts.map(|lasts| Millis(now.0.saturating_add(lasts.0)));
        let form = form.filter(|_| answer != Answer::Never).cloned();
        let (to, records) = (to.clone(), records.to_vec());
        let noted = Noted { kind, fields, to, records, form, answer, until, earlier: false };
        if answer == Answer::Never || (answer == Answer::Site && noted.form.is_some()) {
            self.keep(&noted, now);
        }
        self.noted.insert(0, noted);
    }

    /// Binds a yes that was said of a plan to the form that is filled under it now: another form is asked about.
    pub fn bind(&mut self, release: &Release<'_>, now: Millis) {
        let Some(form) = release.form else { return };
        let unbound = self.noted.iter_mut().find(|noted| {
            let ours = (noted.kind, &noted.to) == (release.kind, release.to);
            ours && noted.answer.agrees() && noted.form.is_none() && noted.covers(release)
        });
        let Some(noted) = unbound else { return };
        noted.form = Some(form.clone());
        if noted.answer == Answer::Site {
            let noted = noted.clone();
            self.keep(&noted, now);
        }
    }

    /// Keeps an answer beyond the session. A yes takes the place of one for the same form, a never that of all.
    fn keep(&mut self, noted: &Noted, now: Millis) {
        let given = noted.answer.agrees();
        let consent = StandingConsent {
            kind: noted.kind,
            fields: noted.fields,
            to: noted.to.clone(),
            records: if given { noted.records.clone() } else { Vec::new() },
            form: noted.form.clone(),
            given,
            since: self.began.saturating_add(now.0),
            until: noted.until.map(|until| self.began.saturating_add(until.0)),
        };
        self.standing.retain(|old| {
            let same = (old.kind, &old.to) == (consent.kind, &consent.to);
            !same || (given && old.given && old.form != consent.form)
        });
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
    /// fields out of the records that the user was told of, in the same form; a no covers more fields, at the same path
    /// or for the same purpose; a never all of the kind.
    pub fn about(&self, release: &Release<'_>, scope: ConsentScope, now: Millis) -> Consent {
        let found = self.noted.iter().find(|noted| {
            let covers = match noted.answer {
                Answer::Never => true,
                Answer::No => noted.refuses(release),
                // A policy that was tightened since is kept to.
                _ if noted.earlier && scope != ConsentScope::Site => false,
                _ => noted.covers(release),
            };
            noted.kind == release.kind && noted.to == *release.to && covers
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
        form: Option<FormPlace>,
    }

    impl Asked {
        fn new(record: &str, to: &str) -> Asked {
            let form = Some(at(Purpose::Address, "/checkout"));
            Asked { records: vec![record.to_owned()], to: Origin::parse(to).unwrap(), form }
        }

        fn of(form: Option<FormPlace>) -> Asked {
            Asked { form, ..Asked::new("address:home", "https://shop.example") }
        }

        fn release(&self, kind: Kind, fields: FieldSet) -> Release<'_> {
            let Asked { records, to, form } = self;
            Release { kind, fields, records, to, form: form.as_ref() }
        }
    }

    fn at(purpose: Purpose, page: &str) -> FormPlace {
        FormPlace::new(purpose, Some(page), Some("/save"), None)
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
    fn a_yes_does_not_cover_another_form_and_a_no_covers_what_is_like_it() {
        let here = Asked::new("address:home", "https://shop.example");
        let other = |purpose, page| Asked::of(Some(at(purpose, page)));
        let about = |book: &ConsentBook, asked: &Asked| {
            book.about(&asked.release(Kind::Address, city()), SESSION, Millis(1))
        };
        for (said, elsewhere) in [(Answer::Session, Consent::None), (Answer::No, Consent::Refused)] {
            let mut book = ConsentBook::default();
            book.note(&here.release(Kind::Address, city()), said, Millis(0));
            for form in [other(Purpose::Address, "/club"), other(Purpose::Contact, "/checkout")] {
                assert_eq!(about(&book, &form), elsewhere, "{said:?}");
            }
            assert_eq!(about(&book, &other(Purpose::Contact, "/club")), Consent::None, "{said:?}");
        }
        let mut book = ConsentBook::default();
        let read_by_others =
            FormPlace { exposed: Some(super::super::Exposed::FreeText), ..at(Purpose::Address, "/checkout") };
        book.note(&here.release(Kind::Address, city()), Answer::Session, Millis(0));
        let exposed = Asked::of(Some(read_by_others));
        assert_eq!(about(&book, &exposed), Consent::None);
        book.note(&exposed.release(Kind::Address, city()), Answer::Session, Millis(0));
        assert_eq!(about(&book, &exposed), Consent::None, "each is asked about");
    }

    #[test]
    fn a_yes_to_a_plan_is_for_the_first_form_of_its_purpose() {
        let began = 1_800_000_000_000;
        let plan = Asked::of(None);
        for (said, kept) in [(Answer::Session, None), (Answer::Site, Some(1))] {
            let mut book = ConsentBook::with_standing(Vec::new(), began);
            let about = |book: &ConsentBook, form: &FormPlace| {
                book.about(&Asked::of(Some(form.clone())).release(Kind::Address, city()), SITE, Millis(1))
            };
            book.note(&plan.release(Kind::Address, city()), said, Millis(0));
            assert_eq!(book.take_changes(), None, "nothing stands for a form that nobody saw");
            for purpose in Purpose::ALL {
                let covered = matches!(purpose, Purpose::Address | Purpose::Payment);
                let expected = if covered { Consent::Given } else { Consent::None };
                assert_eq!(about(&book, &at(purpose, "/checkout")), expected, "{purpose:?}");
            }
            let bound = Asked::new("address:home", "https://shop.example");
            book.bind(&bound.release(Kind::Address, city()), Millis(2));
            assert_eq!(about(&book, &at(Purpose::Address, "/checkout")), Consent::Given);
            assert_eq!(about(&book, &at(Purpose::Address, "/club")), Consent::None);
            let standing = book.take_changes();
            assert_eq!(standing.as_ref().map(Vec::len), kept);
            // A later plan is not asked about again, and a later form is.
            let Some(standing) = standing else { continue };
            let standing = from_json(&to_json(&standing)).unwrap();
            assert_eq!(standing[0].form, bound.form);
            let next = ConsentBook::with_standing(standing, began);
            assert_eq!(next.about(&plan.release(Kind::Address, city()), SITE, Millis(0)), Consent::Given);
            assert_eq!(about(&next, &at(Purpose::Address, "/checkout")), Consent::Given);
            assert_eq!(about(&next, &at(Purpose::Address, "/club")), Consent::None);
        }
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
            let mut asked = Asked::new("address:a-name-as-long-as-names-can-be-1", &long);
            let path = "/long".repeat(24);
            asked.form = Some(FormPlace::new(Purpose::Registration, Some(&path), Some(&path), None));
            let release = asked.release(Kind::Address, Field::ALL.into_iter().collect());
            book.note(&release, Answer::Site, Millis(number as u64));
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
            "form": { "purpose": "address", "page": "/checkout", "action": "/save" },
            "given": true, "since": 1, "until": 2
        }]);
        assert_eq!(from_json(&serde_json::to_vec(&entry).unwrap()).unwrap().len(), 1);
        for (key, value) in [
            ("kind", serde_json::json!("everything")),
            ("fields", serde_json::json!(["soul"])),
            ("to", serde_json::json!("shop.example")),
            ("until", serde_json::Value::Null),
            // As an earlier version wrote it.
            ("form", serde_json::Value::Null),
            ("form", serde_json::json!({ "purpose": "everything", "page": "/a", "action": "/b" })),
            ("form", serde_json::json!({ "purpose": "search", "page": "/a", "action": "/b" })),
        ] {
            let old = entry[0][key].take();
            entry[0][key] = value;
            assert_eq!(from_json(&serde_json::to_vec(&entry).unwrap()).unwrap(), [], "{key}");
            entry[0][key] = old;
        }
        assert_eq!(from_json(b"{}"), None);
    }
}
