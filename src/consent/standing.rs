//! Standing consents: answers that outlive a session, and their stored form.

use std::fmt;

use browser_signals::Origin;
use serde::{Deserialize, Serialize};
use sirl::{Field, FieldSet, Kind};

use super::book::MAX_STANDING;
use super::form::{FormPlace, Purpose};

/// An answer that outlives a session: a yes for a site, or a never.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingConsent {
    /// The kind of request.
    pub kind: Kind,
    /// The fields; all fields of the kind for a never.
    pub fields: FieldSet,
    /// The site.
    pub to: Origin,
    /// The records of the fields, as the question named them; none for a never.
    pub records: Vec<String>,
    /// The form of a yes; none for a never.
    pub form: Option<FormPlace>,
    /// Whether it is a yes.
    pub given: bool,
    /// The time of the answer, in milliseconds since 1970.
    pub since: u64,
    /// The time of expiry, in milliseconds since 1970; none for a never.
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

/// What a session changed of the standing consents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StandingChanges {
    /// Those that are gone.
    pub gone: Vec<StandingConsent>,
    /// New ones, oldest first.
    pub new: Vec<StandingConsent>,
}

impl StandingChanges {
    /// The changes from one list to another.
    pub fn between(before: &[StandingConsent], after: &[StandingConsent]) -> StandingChanges {
        let without = |all: &[StandingConsent], others: &[StandingConsent]| {
            all.iter().filter(|one| !others.contains(one)).cloned().collect()
        };
        StandingChanges { gone: without(before, after), new: without(after, before) }
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.new.is_empty()
    }

    /// These consents with the changes made. What another session changed meanwhile stays changed.
    pub fn applied_to(&self, stored: Vec<StandingConsent>) -> Vec<StandingConsent> {
        let mut all = stored;
        all.retain(|one| !self.gone.contains(one) && !self.new.contains(one));
        all.extend(self.new.iter().cloned());
        while all.len() > MAX_STANDING {
            // A yes is removed before a never: one more question costs the user less than a lost refusal.
            let oldest = all.iter().enumerate().min_by_key(|(_, old)| (!old.given, old.since));
            let Some((at, _)) = oldest else { break };
            all.remove(at);
        }
        all
    }
}

/// The stored form of a standing consent.
#[derive(Serialize, Deserialize)]
struct StoredConsent {
    kind: String,
    fields: Vec<String>,
    to: String,
    records: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    form: Option<StoredForm>,
    given: bool,
    since: u64,
    until: Option<u64>,
}

/// The stored form of a [`FormPlace`].
#[derive(Serialize, Deserialize)]
struct StoredForm {
    purpose: String,
    page: String,
    action: String,
}

impl StoredForm {
    fn of(form: &FormPlace) -> Option<StoredForm> {
        let (page, action) = (form.page.clone()?, form.action.clone()?);
        Some(StoredForm { purpose: form.purpose.as_str().to_owned(), page, action })
    }

    fn read(&self) -> Option<FormPlace> {
        let purpose = Purpose::from_word(&self.purpose)?;
        let form = FormPlace::new(purpose, Some(&self.page), Some(&self.action), None);
        form.can_stand().then_some(form)
    }
}

/// Reads standing consents in the form of [`to_json`]. Unknown entries are left out, so that the user is asked again; a
/// text that is not such a list gives `None`. A yes without a form, as earlier versions wrote it, is left out too, since it
/// was for every form of a site. A never of those versions remains in force.
pub fn from_json(bytes: &[u8]) -> Option<Vec<StandingConsent>> {
    let stored: Vec<StoredConsent> = serde_json::from_slice(bytes).ok()?;
    let read = |w: StoredConsent| {
        let fields: Option<FieldSet> = w.fields.iter().map(|name| Field::from_name(name)).collect();
        Some(StandingConsent {
            kind: Kind::ALL.into_iter().find(|kind| kind.as_str() == w.kind)?,
            fields: fields?,
            to: Origin::parse(&w.to).ok()?,
            records: w.records,
            // This version writes no yes without a form.
            form: if w.given { Some(w.form?.read()?) } else { None },
            given: w.given,
            since: w.since,
            // No version writes a yes without an expiry.
            until: if w.given { Some(w.until?) } else { None },
        })
    };
    Some(stored.into_iter().filter_map(read).collect())
}

/// Writes standing consents for the vault.
pub fn to_json(standing: &[StandingConsent]) -> Vec<u8> {
    let stored: Vec<StoredConsent> = standing
        .iter()
        .map(|consent| StoredConsent {
            kind: consent.kind.as_str().to_owned(),
            fields: consent.fields.iter().map(|field| field.as_str().to_owned()).collect(),
            to: consent.to.to_string(),
            records: consent.records.clone(),
            form: consent.form.as_ref().and_then(StoredForm::of),
            given: consent.given,
            since: consent.since,
            until: consent.until,
        })
        .collect();
    serde_json::to_vec(&stored).unwrap_or_default()
}

/// The date of a time in milliseconds since 1970, in UTC, such as `2026-11-21`.
pub(super) fn date(unix_ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(unix_ms).ok();
    at.map_or_else(|| "a day out of range".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}
