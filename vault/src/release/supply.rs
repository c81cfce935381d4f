//! The record that supplies a field.
//!
//! Only values whose binding admits every origin concerned count: for a fill the page's and the destination's,
//! for a payment the payee's. A login and its e-mail address supply logins and codes alone: the address of an account is not where its
//! owner wants other mail.
//!
//! **One record is the primary one.** Values of one request belong together: the number of one card never goes
//! with the expiry of another. Only name, phone, e-mail, user name and company, which records share, may come from another record if
//! the primary one lacks them. The primary record is chosen by these criteria, in this order:
//!
//! 1. it has a value that the user gave for this task, or a password that the guard made in it; for a login, also one that was fetched
//!    from a source;
//! 2. it has all of the requested fields that records do not share, and the password if a login is requested, so that each page of
//!    a login in steps gets its part from the same account; for a payment number, expiry and, if
//!    a card has one, code, so that each frame gets its part of the same card;
//! 3. it belongs to the preferred persona ([`Vault::prefer`]);
//! 4. it is bound to this origin, then to this site, then anywhere;
//! 5. it is of the request's own kind (`address:` for an address);
//! 6. it has the most of the requested fields;
//! 7. the user chose it for this kind and origin ([`Vault::choose_record`]);
//! 8. it was added first.
//!
//! A shared field that the primary record lacks comes from another record by criteria 1, 3 (unless the primary
//! record belongs to another persona), 4, 5, the field's usual kind, 8.
//!
//! So a new record that is bound to one place changes nothing at another place, and a new record without a binding
//! does not displace one of the same kind that has all the requested fields.

use std::collections::HashMap;

use browser_signals::Origin;
use sirl::{Field, FieldSet, Kind};

use crate::content::handle::{kind_of, name_of};
use crate::content::record::Record;
use crate::store::task::ChosenRecord;
use crate::store::vault::Vault;

/// Fields that any record may supply.
const SHARED: [Field; 5] = [Field::Name, Field::Phone, Field::Email, Field::Username, Field::Company];

/// Recognises the fields that any record may supply.
pub fn is_shared(field: Field) -> bool {
    SHARED.contains(&field)
}

/// The kind of record that a kind of request is about, which is the word before the colon in a handle.
pub const fn record_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Address => "address",
        Kind::Payment | Kind::Purchase => "card",
        Kind::Contact => "contact",
        Kind::Identity => "identity",
        Kind::Login => "login",
        Kind::Otp => "otp",
    }
}

/// Whether the record of this handle may supply requests of a kind, whatever its fields and its binding are.
pub fn may_supply(handle: &str, kind: Kind) -> bool {
    let is_of_account = |kind: &str| matches!(kind, "login" | "otp");
    !is_of_account(kind_of(handle)) || is_of_account(record_kind(kind))
}

/// A value that may go to the origins of a request.
#[derive(Clone, Copy)]
struct Candidate<'v> {
    record: &'v Record,
    for_task: bool,
}

/// The records that supply the fields of one request.
pub(crate) struct Supply<'v> {
    candidates: Vec<Candidate<'v>>,
    primary: Option<&'v str>,
    /// The records among which no criterion before the user's choice decides, the one that was added first before the others.
    rivals: Vec<&'v str>,
    /// True if the primary record is an account of a source.
    is_fetched: bool,
    own_kind: &'static str,
    fields: FieldSet,
    /// The record of the password that was made for this place in this task.
    made: Option<&'v str>,
    /// The persona whose values are preferred for fields that the primary record lacks.
    persona: Option<&'v str>,
}

impl<'v> Supply<'v> {
    /// The record that supplies `field`, even if the request does not ask for the field. The e-mail address of a login is
    /// its user name where the form has no control for the address; in any other form a user name may be for everybody to read.
    pub(crate) fn record(&self, field: Field) -> Option<&'v Record> {
        if field == Field::NewPassword {
            let mut passwords = self.candidates.iter().filter(|c| c.record.field == Field::Password);
            return passwords.find(|c| Some(c.record.handle.as_str()) == self.made).map(|c| c.record);
        }
        // No name of another record goes with the password of a source's account.
        if self.is_fetched && self.own_kind == "login" && SHARED.contains(&field) {
            let address = Some(Field::Email).filter(|_| field == Field::Username);
            return self.own(field).or_else(|| self.own(address?));
        }
        // A login with a user name needs no address of another record.
        if field == Field::Email && self.own_kind == "login" && self.own(Field::Username).is_some() {
            return self.own(field);
        }
        if field != Field::Username || self.own_kind != "login" || self.fields.contains(Field::Email) {
            return self.own(field).or_else(|| self.shared(field));
        }
        let one_of = |find: &dyn Fn(Field) -> Option<&'v Record>| {
            [Field::Username, Field::Email].into_iter().find_map(find)
        };
        one_of(&|field| self.own(field)).or_else(|| one_of(&|field| self.shared(field)))
    }

    /// The primary record, if it has the field.
    fn own(&self, field: Field) -> Option<&'v Record> {
        let mut with_field = self.candidates.iter().filter(|c| c.record.field == field);
        with_field.find(|c| Some(c.record.handle.as_str()) == self.primary).map(|c| c.record)
    }

    /// The record that supplies a field that records share, where the primary record lacks it.
    fn shared(&self, field: Field) -> Option<&'v Record> {
        if !SHARED.contains(&field) {
            return None;
        }
        let with_field = self.candidates.iter().filter(|c| c.record.field == field);
        let rank = |c: &Candidate<'v>| {
            let kind = kind_of(&c.record.handle);
            let of_persona = self.persona == Some(name_of(&c.record.handle));
            (c.for_task, of_persona, c.record.binding.narrowness(), kind == self.own_kind, kind == "contact")
        };
        first_highest(with_field.copied(), rank).map(|c| c.record)
    }
}

/// Finds the first of those with the highest rank.
fn first_highest<T: Copy, R: Ord>(all: impl Iterator<Item = T>, rank: impl Fn(&T) -> R) -> Option<T> {
    let mut best: Option<(R, T)> = None;
    for one in all {
        let rank = rank(&one);
        if best.as_ref().is_none_or(|(highest, _)| rank > *highest) {
            best = Some((rank, one));
        }
    }
    best.map(|(_, one)| one)
}

/// The requested fields that a record has.
#[derive(Clone, Copy)]
struct Group<'v> {
    handle: &'v str,
    held: FieldSet,
    for_task: bool,
    narrowness: u8,
}

impl Vault {
    /// The personas, which are the names in the handles of stored records, each once, in the order in which they
    /// were added. `card:ana` and `address:ana` belong to the persona `ana`.
    pub fn personas(&self) -> Vec<&str> {
        let mut personas = Vec::new();
        for name in self.records.iter().map(|record| name_of(&record.handle)) {
            if !personas.contains(&name) {
                personas.push(name);
            }
        }
        personas
    }

    /// Prefers records of this persona from now on; `None` prefers none. The preference is never written to the
    /// file.
    pub fn prefer(&mut self, persona: Option<String>) {
        self.task.preferred = persona;
    }

    /// Names the records that would supply `fields` for a request of `kind` on a page of `origin` that sends them to
    /// itself: a handle for each field that the vault has, with the field of the record. The criteria are in the documentation
    /// of the module.
    ///
    /// To predict a fill, pass the fields that will be placed, not all that were requested.
    pub fn suppliers(&self, kind: Kind, fields: FieldSet, origin: &Origin) -> Vec<(String, Field)> {
        self.suppliers_to(kind, fields, origin, origin)
    }

    /// Does the same for a page of `origin` whose form goes to `destination`.
    pub fn suppliers_to(
        &self,
        kind: Kind,
        fields: FieldSet,
        origin: &Origin,
        destination: &Origin,
    ) -> Vec<(String, Field)> {
        self.suppliers_among(kind, fields, &[origin, destination])
    }

    /// Does the same for a form whose values go to every one of `origins`.
    pub fn suppliers_among(&self, kind: Kind, fields: FieldSet, origins: &[&Origin]) -> Vec<(String, Field)> {
        let supply = self.supply(kind, fields, origins);
        let records = fields.iter().filter_map(|field| supply.record(field));
        records.map(|record| (record.handle.clone(), record.field)).collect()
    }

    /// The records that could supply `fields` alike, for a request whose values go to every one of `origins`: their handles, in the order in
    /// which they were added. There are none or at least two. Which one it is can only the user say ([`Vault::choose_record`]).
    pub fn rivals_among(&self, kind: Kind, fields: FieldSet, origins: &[&Origin]) -> Vec<String> {
        let Supply { rivals, .. } = self.supply(kind, fields, origins);
        if rivals.len() > 1 { rivals.into_iter().map(str::to_owned).collect() } else { Vec::new() }
    }

    /// Has this record supply requests of a kind at an origin from now on, where [`Vault::rivals_among`] names it. The choice is never
    /// written to the file.
    pub fn choose_record(&mut self, kind: Kind, origin: &Origin, handle: &str) {
        let kind = record_kind(kind);
        let is_same = |it: &ChosenRecord| it.kind == kind && it.origin == *origin && it.handle == handle;
        self.task.chosen.retain(|chosen| !is_same(chosen));
        self.task.chosen.push(ChosenRecord { kind, origin: origin.clone(), handle: handle.to_owned() });
    }

    /// Returns true if the user chose one of these records for this kind and origin.
    pub fn has_chosen(&self, kind: Kind, origin: &Origin, among: &[String]) -> bool {
        let among: Vec<&str> = among.iter().map(String::as_str).collect();
        self.task.chosen_among(record_kind(kind), origin, &among).is_some()
    }

    /// Chooses the records that supply `fields` for a request that concerns every one of `origins`.
    pub(crate) fn supply(&self, kind: Kind, fields: FieldSet, origins: &[&Origin]) -> Supply<'_> {
        let own_kind = record_kind(kind);
        // An account of a source was fetched for logins, and is of no use for anything else.
        let is_for_this = |record: &&Record| {
            matches!(own_kind, "login" | "otp") || self.source_of(&record.handle).is_none()
        };
        let of_task = self.task.records.iter().filter(is_for_this);
        let of_task = of_task.map(|record| Candidate { record, for_task: true });
        let made = self.task.made.iter().find(|made| origins.iter().all(|origin| **origin == made.origin));
        let made = made.map(|made| made.handle.as_str());
        let is_made = |record: &Record| own_kind == "login" && Some(record.handle.as_str()) == made;
        let stored = self.records.iter().map(|record| Candidate { record, for_task: is_made(record) });
        let is_for_kind = |c: &Candidate<'_>| may_supply(&c.record.handle, kind) && c.record.admits(origins);
        let candidates: Vec<_> = of_task.chain(stored).filter(is_for_kind).collect();
        let preferred = self.task.preferred.as_deref();
        // The pages of a login ask for its parts one after another, and the account is the same on each: the one with a password.
        let whole = |kind| if kind == Kind::Login { fields.with(Field::Password) } else { fields };
        // The frames of a payment are one payment, and the card is the same in each: one with a code, if there is one.
        let card = FieldSet::EMPTY.with(Field::CardNumber).with(Field::CardExpiry);
        let coded = |handle: &&str| {
            let has =
                |field| candidates.iter().any(|c| c.record.handle == **handle && c.record.field == field);
            card.with(Field::CardCode).iter().all(has)
        };
        let new = FieldSet::EMPTY.with(Field::NewPassword);
        let first = |fields| first(&candidates, own_kind, fields, preferred);
        let rivals = match made.filter(|_| fields.contains(Field::NewPassword)) {
            Some(made) => vec![made],
            None if fields.contains(Field::NewPassword) => first(fields.without(new)),
            None if kind == Kind::Payment => {
                let mut rivals = first(card.with(Field::CardCode));
                rivals.retain(coded);
                if rivals.is_empty() { first(card) } else { rivals }
            }
            None => {
                let rivals = first(whole(kind));
                if rivals.is_empty() { first(fields) } else { rivals }
            }
        };
        let chosen = origins.first().and_then(|origin| self.task.chosen_among(own_kind, origin, &rivals));
        let primary = rivals.get(chosen.unwrap_or_default()).copied();
        let persona = preferred.filter(|persona| primary.is_none_or(|handle| name_of(handle) == *persona));
        let is_fetched = primary.is_some_and(|handle| self.source_of(handle).is_some());
        Supply { candidates, primary, rivals, is_fetched, own_kind, fields, made, persona }
    }
}

/// The records for `fields` that are first by every criterion before the user's choice.
fn first<'v>(
    candidates: &[Candidate<'v>],
    record_kind: &str,
    fields: FieldSet,
    preferred: Option<&str>,
) -> Vec<&'v str> {
    let unshared: FieldSet = fields.iter().filter(|field| !SHARED.contains(field)).collect();
    let decisive = if unshared.is_empty() { fields } else { unshared };
    let mut groups: Vec<Group<'v>> = Vec::new();
    let mut indices: HashMap<&'v str, usize> = HashMap::new();
    for candidate in candidates.iter().filter(|c| decisive.contains(c.record.field)) {
        let handle = candidate.record.handle.as_str();
        let index = *indices.entry(handle).or_insert(groups.len());
        let narrowness = candidate.record.binding.narrowness();
        let one = FieldSet::EMPTY.with(candidate.record.field);
        match groups.get_mut(index) {
            Some(group) => {
                group.held = group.held.with(candidate.record.field);
                group.for_task |= candidate.for_task;
                group.narrowness = group.narrowness.min(narrowness);
            }
            None => groups.push(Group { handle, held: one, for_task: candidate.for_task, narrowness }),
        }
    }
    let rank = |group: &Group<'v>| {
        let complete = unshared.is_subset_of(group.held);
        let of_persona = preferred == Some(name_of(group.handle));
        let own_kind = kind_of(group.handle) == record_kind;
        (group.for_task, complete, of_persona, group.narrowness, own_kind, group.held.len())
    };
    let highest = groups.iter().map(rank).max();
    groups.iter().filter(|group| Some(rank(group)) == highest).map(|group| group.handle).collect()
}
