//! Which record supplies a field.
//!
//! Values of one request belong together: the number of one card never goes with the expiry of another.
//! So one record leads, the first inserted among those with the most of the asked fields, preferring the
//! request's own kind (`address:` for an address). Only name, phone and e-mail, which several records
//! share, may come from another record when the leading one lacks them.

use sirl::{Field, FieldSet, Kind};

use crate::Vault;
use crate::handle::kind_of;

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

/// The word before the colon of the records that a field is usually kept in.
fn home_of_field(field: Field) -> &'static str {
    match field {
        Field::Name | Field::Phone | Field::Email => "contact",
        Field::Country | Field::Region | Field::City | Field::Street | Field::PostalCode => "address",
        Field::CardNumber | Field::CardExpiry | Field::CardCode => "card",
        Field::GovernmentId => "identity",
        Field::Password => "login",
        Field::OneTimeCode => "otp",
    }
}

impl Vault {
    /// The handle that supplies `field` where no request says more: the first inserted of the field's own
    /// kind, else the first inserted of any.
    pub fn supplier(&self, field: Field) -> Option<&str> {
        let mut with_field = self.entries().filter(|(_, f)| *f == field).map(|(handle, _)| handle);
        let home = home_of_field(field);
        let own = with_field.clone().find(|handle| kind_of(handle) == home);
        own.or_else(|| with_field.next())
    }

    /// The handle that supplies `field` in a request of `kind` for `fields`, if the vault has it.
    ///
    /// The leading record is chosen for the whole set; see the module's text.
    pub fn supplier_for(&self, kind: Kind, fields: FieldSet, field: Field) -> Option<&str> {
        let home = home_of_kind(kind);
        let lead = self.lead(home, fields);
        let holds = |handle: &&str| self.has(FieldSet::EMPTY.with(field), Some(handle));
        if let Some(lead) = lead.filter(holds) {
            return Some(lead);
        }
        if !SHARED.contains(&field) {
            return None;
        }
        let own = self.entries().find(|(handle, f)| *f == field && kind_of(handle) == home);
        own.map(|(handle, _)| handle).or_else(|| self.supplier(field))
    }

    /// The record with the most of `fields`, shared ones counting only between equals; then the one of
    /// the kind's own; then the first inserted.
    fn lead(&self, home: &str, fields: FieldSet) -> Option<&str> {
        let mut best: Option<((usize, bool, usize), &str)> = None;
        for (handle, _) in self.entries() {
            let held: FieldSet = self.entries().filter(|(h, _)| *h == handle).map(|(_, f)| f).collect();
            let asked = held.intersection(fields);
            let bound = asked.iter().filter(|field| !SHARED.contains(field)).count();
            let rank = (bound, kind_of(handle) == home, asked.len());
            if !asked.is_empty() && best.is_none_or(|(highest, _)| rank > highest) {
                best = Some((rank, handle));
            }
        }
        best.map(|(_, handle)| handle)
    }
}
