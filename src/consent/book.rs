//! The consent book: the answers that are in force in a session.

use browser_signals::Origin;
use policy_dfa::{Consent, ConsentScope, Millis};
use sirl::{FieldSet, Kind};

use super::answer::Answer;
use super::asked::ACCOUNT_NAMES;
use super::form::FormPlace;
use super::standing::{StandingChanges, StandingConsent};

/// The lifetime of a yes for a session.
pub const CONSENT_LIFETIME: Millis = Millis(30 * 60 * 1000);

/// The lifetime of a yes for a site: 30 days.
pub const SITE_LIFETIME: Millis = Millis(30 * 24 * 60 * 60 * 1000);

/// The most standing consents. When a question is answered with one more, the oldest yes is removed, or the oldest never
/// where there is no yes. This many fit into a state of the vault, however long their hosts are.
pub(super) const MAX_STANDING: usize = 64;

/// One answer, with times on the session's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) kind: Kind,
    fields: FieldSet,
    pub(super) to: Origin,
    records: Vec<String>,
    /// The form; none for a yes to a plan under which no form was filled yet.
    form: Option<FormPlace>,
    pub(super) answer: Answer,
    until: Option<Millis>,
    /// Whether it is from an earlier session.
    earlier: bool,
}

impl Noted {
    /// A standing consent from an earlier session, or from one at the same time, in a session that began at `began`.
    fn standing(consent: &StandingConsent, began: u64) -> Noted {
        Noted {
            kind: consent.kind,
            fields: consent.fields,
            to: consent.to.clone(),
            records: consent.records.clone(),
            form: consent.form.clone(),
            answer: if consent.given { Answer::Site } else { Answer::Never },
            until: consent.until.map(|until| Millis(until.saturating_sub(began))),
            earlier: true,
        }
    }

    /// Whether it is in force by this standing consent.
    fn is_by(&self, consent: &StandingConsent) -> bool {
        let answer = if consent.given { Answer::Site } else { Answer::Never };
        (self.kind, &self.to, self.answer) == (consent.kind, &consent.to, answer) && self.form == consent.form
    }

    /// Whether a yes covers these fields of these records in this form.
    fn covers(&self, release: &ReleaseScope<'_>) -> bool {
        let ReleaseScope { kind, fields, records, form, .. } = release;
        let here = match (form, &self.form) {
            // A plan names no form; the decision is repeated at the form.
            (None, _) => true,
            (Some(form), _) if !form.can_stand() => false,
            (Some(form), Some(said)) => *form == said,
            (Some(form), None) => form.purpose.is_planned_for(*kind),
        };
        here && fields.is_subset_of(self.fields) && records.iter().all(|record| self.records.contains(record))
    }

    /// The fields of a login that a form leaves for a later one.
    fn left_of_login(&self, release: &ReleaseScope<'_>) -> FieldSet {
        let named = !release.fields.intersection(ACCOUNT_NAMES).is_empty();
        match self.kind {
            Kind::Login if named => self.fields.without(release.fields).without(ACCOUNT_NAMES),
            Kind::Login => self.fields.without(release.fields),
            _ => FieldSet::EMPTY,
        }
    }

    /// Whether this no also refuses a release.
    fn refuses(&self, release: &ReleaseScope<'_>) -> bool {
        let same = match (release.form, &self.form) {
            (Some(form), Some(refused)) => refused.resembles(form),
            (_, _) => true,
        };
        same && self.fields.is_subset_of(release.fields)
    }
}

/// The scope of a consent: fields of a kind, from records, into a form of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseScope<'a> {
    /// The kind of request.
    pub kind: Kind,
    /// The fields.
    pub fields: FieldSet,
    /// The records that supply them.
    pub records: &'a [String],
    /// The site.
    pub to: &'a Origin,
    /// The form, if one was examined.
    pub form: Option<&'a FormPlace>,
}

/// The answers that are in force in one session, newest first.
#[derive(Debug, Default)]
pub struct ConsentBook {
    pub(super) noted: Vec<Noted>,
    pub(super) standing: Vec<StandingConsent>,
    /// The standing consents that the vault stored when the book last saw it.
    stored: Vec<StandingConsent>,
    began: u64,
    pub(super) changed: bool,
}

impl ConsentBook {
    /// A book for a session that begins at `began` (milliseconds since 1970), with the standing consents from before.
    pub fn with_standing(standing: Vec<StandingConsent>, began: u64) -> ConsentBook {
        let noted = standing.iter().map(|consent| Noted::standing(consent, began)).collect();
        ConsentBook { noted, stored: standing.clone(), standing, began, changed: false }
    }

    /// Takes over what sessions at the same time changed of the stored standing consents. `stored` are those of now.
    pub fn take_over(&mut self, stored: Vec<StandingConsent>) {
        let changes = StandingChanges::between(&self.stored, &stored);
        for gone in &changes.gone {
            self.noted.retain(|noted| !noted.is_by(gone));
        }
        let new = changes.new.iter().map(|consent| Noted::standing(consent, self.began));
        self.noted.splice(0..0, new);
        self.standing = changes.applied_to(std::mem::take(&mut self.standing));
        self.stored = stored;
    }

    /// Notes an answer. A yes for this once counts for its question alone and is not noted; neither is one for a form that
    /// needs a question every time. A yes without a form becomes a standing consent only when it is
    /// [bound](ConsentBook::bind) to one.
    pub fn note(&mut self, release: &ReleaseScope<'_>, answer: Answer, now: Millis) {
        let lasts = match answer {
            Answer::Once => return,
            Answer::Session => Some(CONSENT_LIFETIME),
            Answer::Site => Some(SITE_LIFETIME),
            Answer::No | Answer::Never => None,
        };
        let ReleaseScope { kind, fields, records, to, form } = release.clone();
        if answer.agrees() && form.is_some_and(|form| !form.can_stand()) {
            return;
        }
        let until = lasts.map(|lasts| Millis(now.0.saturating_add(lasts.0)));
        let form = form.filter(|_| answer != Answer::Never).cloned();
        let (to, records) = (to.clone(), records.to_vec());
        let noted = Noted { kind, fields, to, records, form, answer, until, earlier: false };
        if answer == Answer::Never || (answer == Answer::Site && noted.form.is_some()) {
            self.make_standing(&noted, now);
        }
        self.noted.insert(0, noted);
    }

    /// Notes a yes to the fields of a login that a later form asks for. It is bound to the first such form. A yes for this once is
    /// used up there.
    pub fn note_later(&mut self, release: &ReleaseScope<'_>, answer: Answer, now: Millis) {
        let ReleaseScope { kind, fields, records, to, .. } = release.clone();
        let lasts = if answer == Answer::Site { SITE_LIFETIME } else { CONSENT_LIFETIME };
        let until = Some(Millis(now.0.saturating_add(lasts.0)));
        let (to, records) = (to.clone(), records.to_vec());
        let noted = Noted { kind, fields, to, records, form: None, answer, until, earlier: false };
        self.noted.insert(0, noted);
    }

    /// Binds a yes to a plan to the first form that is filled under it: for another form the user is asked. The fields of a login
    /// that this form does not take are left for the first form that does.
    pub fn bind(&mut self, release: &ReleaseScope<'_>, now: Millis) {
        let Some(form) = release.form else { return };
        let unbound = self.noted.iter_mut().find(|noted| {
            let ours = (noted.kind, &noted.to) == (release.kind, release.to);
            ours && noted.answer.agrees() && noted.form.is_none() && noted.covers(release)
        });
        let Some(noted) = unbound else { return };
        let left = Noted { fields: noted.left_of_login(release), ..noted.clone() };
        noted.form = Some(form.clone());
        if noted.answer == Answer::Site {
            let noted = noted.clone();
            self.make_standing(&noted, now);
        }
        // A yes for this once to a later step.
        self.noted.retain(|noted| noted.answer != Answer::Once || noted.form.is_none());
        if !left.fields.is_empty() {
            self.noted.insert(0, left);
        }
    }

    /// Takes the fields of a login that were filled from the yeses that wait for a later form at this site, whatever they were
    /// granted by: each waits for one form.
    pub fn use_up(&mut self, to: &Origin, fields: FieldSet) {
        let waits = |noted: &Noted| {
            noted.kind == Kind::Login && noted.to == *to && noted.form.is_none() && noted.answer.agrees()
        };
        for noted in self.noted.iter_mut().filter(|noted| waits(noted)) {
            noted.fields = noted.fields.without(fields);
        }
        self.noted.retain(|noted| !(waits(noted) && noted.fields.is_empty()));
    }

    /// Makes an answer a standing consent. A yes replaces one for the same form, and a never replaces all of its kind and
    /// site.
    fn make_standing(&mut self, noted: &Noted, now: Millis) {
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
        if self.standing.len() >= MAX_STANDING {
            // A yes is removed before a never: one more question costs the user less than a lost refusal.
            let oldest = self.standing.iter().enumerate().min_by_key(|(_, old)| (!old.given, old.since));
            if let Some((at, _)) = oldest {
                self.standing.remove(at);
            }
        }
        self.standing.push(consent);
        self.changed = true;
    }

    /// Whether there is room for one more standing consent without removing a never.
    pub(super) fn has_room(&self) -> bool {
        self.standing.len() < MAX_STANDING || self.standing.iter().any(|old| old.given)
    }

    /// The user's consent to a release, where `scope` is the longest consent that the policy allows. A yes covers the same
    /// or fewer fields, from the records that its question named, in the same form. A no covers the same or more fields, at
    /// the same path or for the same purpose. A never covers the whole kind.
    pub fn about(&self, release: &ReleaseScope<'_>, scope: ConsentScope, now: Millis) -> Consent {
        let found = self.noted.iter().find(|noted| {
            let covers = match noted.answer {
                Answer::Never => true,
                Answer::No => noted.refuses(release),
                // The policy may have become stricter since the earlier session.
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

    /// Whether the user answered never to this kind on this site.
    pub fn never(&self, kind: Kind, to: &Origin) -> bool {
        self.noted.iter().any(|noted| (noted.kind, &noted.to, noted.answer) == (kind, to, Answer::Never))
    }

    /// The changes of the standing consents that are not stored, if there are some since the last call.
    pub fn take_changes(&mut self) -> Option<StandingChanges> {
        let changed = std::mem::take(&mut self.changed);
        changed.then(|| StandingChanges::between(&self.stored, &self.standing))
    }

    /// Notes that these changes are stored now.
    pub fn note_stored(&mut self, changes: &StandingChanges) {
        self.stored = changes.applied_to(std::mem::take(&mut self.stored));
    }
}

#[cfg(test)]
mod tests {
    use sirl::Field;

    use super::super::form::{Exposed, Purpose};
    use super::super::standing::{from_json, to_json};
    use super::*;

    fn shop() -> Origin {
        Origin::parse("https://shop.example").unwrap()
    }

    fn city() -> FieldSet {
        FieldSet::EMPTY.with(Field::City)
    }

    /// A question for fields of an address from `address:home`, to `to`.
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

        fn release(&self, kind: Kind, fields: FieldSet) -> ReleaseScope<'_> {
            let Asked { records, to, form } = self;
            ReleaseScope { kind, fields, records, to, form: form.as_ref() }
        }
    }

    fn at(purpose: Purpose, page: &str) -> FormPlace {
        FormPlace::new(purpose, Some(page), Some("/save"), None)
    }

    const SESSION: ConsentScope = ConsentScope::Session;
    const SITE: ConsentScope = ConsentScope::Site;

    #[test]
    fn a_yes_covers_fewer_fields_of_the_same_site_until_it_expires() {
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
    fn a_yes_does_not_cover_another_form_and_a_no_covers_similar_forms() {
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
            FormPlace { exposed: Some(Exposed::FreeText), ..at(Purpose::Address, "/checkout") };
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
            assert_eq!(book.take_changes(), None, "without a form there is no standing consent");
            for purpose in Purpose::ALL {
                let covered = matches!(purpose, Purpose::Address | Purpose::Payment | Purpose::Order);
                let expected = if covered { Consent::Given } else { Consent::None };
                assert_eq!(about(&book, &at(purpose, "/checkout")), expected, "{purpose:?}");
            }
            let bound = Asked::new("address:home", "https://shop.example");
            book.bind(&bound.release(Kind::Address, city()), Millis(2));
            assert_eq!(about(&book, &at(Purpose::Address, "/checkout")), Consent::Given);
            assert_eq!(about(&book, &at(Purpose::Address, "/club")), Consent::None);
            let standing = book.take_changes();
            assert_eq!(standing.as_ref().map(|changes| changes.new.len()), kept);
            // A later plan is not asked about again, and a later form is.
            let Some(standing) = standing else { continue };
            let standing = from_json(&to_json(&standing.new)).unwrap();
            assert_eq!(standing[0].form, bound.form);
            let next = ConsentBook::with_standing(standing, began);
            assert_eq!(next.about(&plan.release(Kind::Address, city()), SITE, Millis(0)), Consent::Given);
            assert_eq!(about(&next, &at(Purpose::Address, "/checkout")), Consent::Given);
            assert_eq!(about(&next, &at(Purpose::Address, "/club")), Consent::None);
        }
    }

    #[test]
    fn a_yes_for_this_once_is_not_noted() {
        let here = Asked::new("address:home", "https://shop.example");
        let mut book = ConsentBook::default();
        book.note(&here.release(Kind::Address, city()), Answer::Once, Millis(0));
        assert_eq!(book.about(&here.release(Kind::Address, city()), SESSION, Millis(1)), Consent::None);
    }

    #[test]
    fn a_yes_for_the_site_and_a_never_are_in_force_in_the_next_session() {
        let began = 1_800_000_000_000;
        let here = Asked::new("address:home", "https://shop.example");
        let mut book = ConsentBook::with_standing(Vec::new(), began);
        book.note(&here.release(Kind::Address, city()), Answer::Site, Millis(5));
        book.note(&here.release(Kind::Contact, FieldSet::EMPTY), Answer::Never, Millis(6));
        let kept = from_json(&to_json(&book.take_changes().unwrap().new)).unwrap();
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
    fn a_later_answer_replaces_an_earlier_one() {
        let here = Asked::new("address:home", "https://shop.example");
        let mut book = ConsentBook::default();
        book.note(&here.release(Kind::Address, city()), Answer::Site, Millis(0));
        book.note(&here.release(Kind::Address, city()), Answer::Never, Millis(1));
        let kept = book.take_changes().unwrap().new;
        assert_eq!(kept.len(), 1);
        assert!(!kept.first().unwrap().given);
    }

    #[test]
    fn standing_consents_fit_into_the_vault_and_the_newest_is_among_them() {
        let mut book = ConsentBook::default();
        for number in 0..=MAX_STANDING {
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
        let kept = to_json(&book.take_changes().unwrap().new);
        assert!(kept.len() < 64 << 10, "{} bytes", kept.len());
        let read = from_json(&kept).unwrap();
        assert_eq!(read.len(), MAX_STANDING);
        assert!(read.last().unwrap().to.host().starts_with(&format!("{MAX_STANDING:03}.")));
    }

    #[test]
    fn an_unknown_entry_is_no_consent() {
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

    #[test]
    fn sessions_at_the_same_time_lose_no_answer_of_each_other() {
        let (shop, bank) = (
            Asked::new("address:home", "https://shop.example"),
            Asked::new("address:home", "https://bank.example"),
        );
        fn release(asked: &Asked) -> ReleaseScope<'_> {
            asked.release(Kind::Address, Kind::Address.default_fields())
        }
        let about =
            |book: &ConsentBook, asked: &Asked| book.about(&release(asked), ConsentScope::Site, Millis(9));
        let mut stored = Vec::new();
        let store = |book: &mut ConsentBook, stored: &mut Vec<StandingConsent>| {
            let changes = book.take_changes().unwrap();
            *stored = changes.applied_to(std::mem::take(stored));
            book.note_stored(&changes);
        };
        let [mut first, mut second] = [5, 6].map(|began| ConsentBook::with_standing(Vec::new(), began));
        first.note(&release(&shop), Answer::Site, Millis(1));
        second.note(&release(&bank), Answer::Never, Millis(2));
        store(&mut first, &mut stored);
        store(&mut second, &mut stored);
        assert_eq!(stored.len(), 2, "neither answer replaces the other");
        first.take_over(stored.clone());
        second.take_over(stored.clone());
        for book in [&first, &second] {
            assert_eq!((about(book, &shop), about(book, &bank)), (Consent::Given, Consent::Refused));
            assert!(book.never(Kind::Address, &bank.to));
        }
        second.note(&release(&shop), Answer::Never, Millis(3));
        store(&mut second, &mut stored);
        first.take_over(stored.clone());
        assert_eq!(
            about(&first, &shop),
            Consent::Refused,
            "a never of another session holds in this one too"
        );
        assert_eq!(stored.len(), 2);
        assert_eq!(first.take_changes(), None, "what others changed is stored already");
    }
}
