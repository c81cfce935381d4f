//! Which record supplies a field.
//!
//! Only values whose binding admits every origin concerned count: for a fill the page's and the destination's,
//! for a payment the payee's.
//!
//! **One record leads.** Values of one request belong together: the number of one card never goes with the
//! expiry of another. Only name, phone and e-mail, which records share, may come from another record when the
//! leading one lacks them. Who leads is decided by these, in this order:
//!
//! 1. a record with a value that the user gave for this task;
//! 2. one that has all of the asked fields that records do not share;
//! 3. one of the preferred persona ([`Vault::prefer`]);
//! 4. one bound to this origin, then to this site, then anywhere;
//! 5. one of the request's own kind (`address:` for an address);
//! 6. the one with the most of the asked fields;
//! 7. the one that was put in first.
//!
//! A shared field that the leading record lacks comes from another by 1, 3 (unless the leading record is of
//! another persona), 4, 5, the field's usual kind, 7.
//!
//! So a record that is added and bound to one place changes nothing at another; and one that is added without
//! a binding does not displace one of the same kind that has all the asked fields.

use std::collections::HashMap;

use browser_signals::Origin;
use sirl::{Field, FieldSet, Kind};

use crate::Vault;
use crate::handle::{kind_of, name_of};
use crate::record::Record;

/// Fields that any record may supply.
const SHARED: [Field; 3] = [Field::Name, Field::Phone, Field::Email];

/// The word before the colon of the records that a kind of request is about.
fn home_of_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Address => "address",
        Kind::Payment | Kind::Purchase => "card",
        Kind::Contact => "contact",
        Kind::Identity => "identity",
        Kind::Login => "login",
        Kind::Otp => "otp",
    }
}

/// A value that may go to the places of a request.
#[derive(Clone, Copy)]
struct Candidate<'v> {
    record: &'v Record,
    for_task: bool,
}

/// Who supplies what for one request.
pub(crate) struct Supply<'v> {
    candidates: Vec<Candidate<'v>>,
    lead: Option<&'v str>,
    home: &'static str,
    /// The persona whose values go before others beside the leading record's.
    persona: Option<&'v str>,
}

impl<'v> Supply<'v> {
    /// The value that supplies `field`, whether or not the request's fields have it.
    pub(crate) fn record(&self, field: Field) -> Option<&'v Record> {
        let with_field = self.candidates.iter().filter(|c| c.record.field == field);
        let mut own = with_field.clone().filter(|c| Some(c.record.handle.as_str()) == self.lead);
        if let Some(own) = own.next() {
            return Some(own.record);
        }
        if !SHARED.contains(&field) {
            return None;
        }
        let rank = |c: &Candidate<'v>| {
            let kind = kind_of(&c.record.handle);
            let of_persona = self.persona == Some(name_of(&c.record.handle));
            (c.for_task, of_persona, c.record.binding.narrowness(), kind == self.home, kind == "contact")
        };
        first_highest(with_field.copied(), rank).map(|c| c.record)
    }
}

/// The first of those with the highest rank.
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

/// What a record has of the asked fields.
#[derive(Clone, Copy)]
struct Group<'v> {
    handle: &'v str,
    held: FieldSet,
    for_task: bool,
    narrowness: u8,
}

impl Vault {
    /// The personas: the names in the handles of stored records, each once, in the order they were put in.
    /// `card:ana` and `address:ana` are Ana's.
    pub fn personas(&self) -> Vec<&str> {
        let mut personas = Vec::new();
        for name in self.records.iter().map(|record| name_of(&record.handle)) {
            if !personas.contains(&name) {
                personas.push(name);
            }
        }
        personas
    }

    /// From now on records of this persona lead where they can; `None` prefers nobody. Lasts until the vault is
    /// dropped and is never written.
    pub fn prefer(&mut self, persona: Option<String>) {
        self.preferred = persona;
    }

    /// Which values a request of `kind` for `fields` would get on a page of `origin` that sends them to itself:
    /// for each field that the vault has for it, the record. The order of choice is in the module's text.
    ///
    /// To know what a fill will release, pass the fields that will be placed, not all that were asked for.
    pub fn suppliers(&self, kind: Kind, fields: FieldSet, origin: &Origin) -> Vec<(String, Field)> {
        self.suppliers_to(kind, fields, origin, origin)
    }

    /// The same for a page of `origin` that sends what is filled to `destination`.
    pub fn suppliers_to(
        &self,
        kind: Kind,
        fields: FieldSet,
        origin: &Origin,
        destination: &Origin,
    ) -> Vec<(String, Field)> {
        let supply = self.supply(kind, fields, &[origin, destination]);
        fields.iter().filter_map(|field| Some((supply.record(field)?.handle.clone(), field))).collect()
    }

    /// Decides who supplies `fields` where every one of `places` is concerned.
    pub(crate) fn supply(&self, kind: Kind, fields: FieldSet, places: &[&Origin]) -> Supply<'_> {
        let of_task = self.for_task.iter().map(|record| Candidate { record, for_task: true });
        let stored = self.records.iter().map(|record| Candidate { record, for_task: false });
        let candidates: Vec<_> = of_task.chain(stored).filter(|c| c.record.admits(places)).collect();
        let home = home_of_kind(kind);
        let preferred = self.preferred.as_deref();
        let lead = lead(&candidates, home, fields, preferred);
        let persona = preferred.filter(|persona| lead.is_none_or(|lead| name_of(lead) == *persona));
        Supply { candidates, lead, home, persona }
    }
}

/// The record that leads for `fields`.
fn lead<'v>(
    candidates: &[Candidate<'v>],
    home: &str,
    fields: FieldSet,
    preferred: Option<&str>,
) -> Option<&'v str> {
    let unshared: FieldSet = fields.iter().filter(|field| !SHARED.contains(field)).collect();
    let decisive = if unshared.is_empty() { fields } else { unshared };
    let mut groups: Vec<Group<'v>> = Vec::new();
    let mut places: HashMap<&'v str, usize> = HashMap::new();
    for candidate in candidates.iter().filter(|c| decisive.contains(c.record.field)) {
        let handle = candidate.record.handle.as_str();
        let place = *places.entry(handle).or_insert(groups.len());
        let narrowness = candidate.record.binding.narrowness();
        let one = FieldSet::EMPTY.with(candidate.record.field);
        match groups.get_mut(place) {
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
        let own_kind = kind_of(group.handle) == home;
        (group.for_task, complete, of_persona, group.narrowness, own_kind, group.held.len())
    };
    first_highest(groups.into_iter(), rank).map(|group| group.handle)
}
