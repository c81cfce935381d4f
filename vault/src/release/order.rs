//! The releases to an order by a shop's own protocol: an address, how the buyer is reached, and the keys that sign the mandates of one
//! purchase.

use browser_signals::{Destination, Observed, Origin, Snapshot};
use policy_dfa::{Grant, Millis, Ucp};
use sirl::{Field, FieldSet, Kind, Money};
use zeroize::Zeroizing;

use super::error::{ReleaseError, container_covers};
use crate::content::record::Record;
use crate::content::signing::MandateKey;
use crate::crypto::padded::Plaintext;
use crate::error::VaultError;
use crate::shape::{country_code, parts_of_name, parts_of_street};
use crate::store::vault::Vault;

/// The fields that an address for an order cannot do without.
const NEEDED: [Field; 4] = [Field::Name, Field::Street, Field::City, Field::Country];
/// The fields that it has where the record has them.
const OPTIONAL: [Field; 2] = [Field::PostalCode, Field::Region];

/// How a buyer is reached.
const CONTACT: [Field; 2] = [Field::Email, Field::Phone];

/// An address, or how a buyer is reached, for one order at one shop. Only [`SealedOrderData::open`] can read it, and consumes it.
#[must_use = "sealed values reach nobody until they are opened"]
pub struct SealedOrderData {
    kind: Kind,
    to: Destination,
    values: Vec<(Field, Plaintext)>,
}

/// The values of a [`SealedOrderData`], which exist only inside its method `open`. What was not granted is empty.
pub struct ExposedOrderData<'x> {
    /// The given name, or the whole name where its parts cannot be told apart.
    pub given_name: &'x str,
    /// The family name.
    pub family_name: &'x str,
    /// The first line of the street.
    pub street: &'x str,
    /// Its other lines.
    pub street_rest: &'x str,
    /// The city.
    pub city: &'x str,
    /// The postal code.
    pub postal_code: &'x str,
    /// The region, as the user wrote it.
    pub region: &'x str,
    /// The country: two letters of ISO 3166-1.
    pub country: &'x str,
    /// The e-mail address.
    pub email: &'x str,
    /// The telephone number.
    pub phone: &'x str,
}

impl SealedOrderData {
    /// The kind of request that it answers.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it may be sent.
    pub fn to(&self) -> &Destination {
        &self.to
    }

    /// Lends the values to `tell`, then wipes them. The result of `tell` cannot borrow from them.
    pub fn open<R>(self, tell: impl for<'x> FnOnce(ExposedOrderData<'x>) -> R) -> R {
        let text = |field: Field| {
            let value = self.values.iter().find(|(it, _)| *it == field);
            value.and_then(|(_, plain)| std::str::from_utf8(plain.expose()).ok()).unwrap_or("")
        };
        let (given, family) = parts_of_name(text(Field::Name));
        let (street, rest) = parts_of_street(text(Field::Street));
        tell(ExposedOrderData {
            given_name: &given,
            family_name: &family,
            street: &street,
            street_rest: &rest,
            city: text(Field::City),
            postal_code: text(Field::PostalCode),
            region: text(Field::Region),
            country: country_code(text(Field::Country)).unwrap_or(""),
            email: text(Field::Email),
            phone: text(Field::Phone),
        })
    }
}

/// The keys of the mandates of one purchase: of one amount, at one shop. Only [`SealedMandate::open`] can use them, and consumes them.
#[must_use = "sealed keys sign nothing until they are opened"]
pub struct SealedMandate {
    payee: Origin,
    amount: Money,
    surface: Zeroizing<[u8; 32]>,
    agent: Zeroizing<[u8; 32]>,
}

impl SealedMandate {
    /// The shop that is paid.
    pub fn payee(&self) -> &Origin {
        &self.payee
    }

    /// The exact amount.
    pub fn amount(&self) -> Money {
        self.amount
    }

    /// Lends the secret keys to `sign`, then wipes them: that of the trusted surface, and that of the agent, which no agent has. Both are
    /// for ECDSA on the curve P-256.
    pub fn open<R>(self, sign: impl for<'x> FnOnce(&'x [u8; 32], &'x [u8; 32]) -> R) -> R {
        sign(&self.surface, &self.agent)
    }
}

impl Vault {
    /// The fields that an order at this shop would tell of an address, or of how a buyer is reached: those that the vault has among those
    /// that shops take. Without a whole address these are the fields that it needs.
    pub fn order_fields(&self, kind: Kind, shop: &Origin) -> FieldSet {
        let all: FieldSet = match kind {
            Kind::Address => NEEDED.into_iter().chain(OPTIONAL).collect(),
            Kind::Contact => CONTACT.into_iter().collect(),
            _ => return FieldSet::EMPTY,
        };
        let supply = self.supply(kind, all, &[shop]);
        let needed = NEEDED.into_iter().filter(|_| kind == Kind::Address);
        let there = all.iter().filter(|field| supply.record(*field).is_some());
        needed.chain(there).collect()
    }

    /// Releases an address, or how the buyer is reached, for one order, to be told to the shop by its own protocol. Nothing of it enters
    /// the browser.
    ///
    /// # Errors
    /// Those of [`Vault::open_fill`]; [`ReleaseError::Underivable`] for a country that has no code.
    pub fn open_order_data(
        &self,
        grant: Grant<Ucp>,
        fresh: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<SealedOrderData, ReleaseError> {
        if self.is_locked() {
            return Err(ReleaseError::Locked);
        }
        let redeemed = self.verifier.redeem(grant, fresh, now)?;
        let terms = redeemed.terms();
        let needed: &[Field] = match terms.kind {
            Kind::Address => &NEEDED,
            Kind::Contact => &[],
            _ => return Err(ReleaseError::NothingPlaced),
        };
        let to = terms.destination.clone().ok_or(ReleaseError::DestinationUnknown)?;
        if let Some(field) = needed.iter().find(|field| !terms.fields.contains(**field)) {
            return Err(ReleaseError::NotGranted(*field));
        }
        let supply = self.supply(terms.kind, terms.fields, &[&terms.origin, &to.origin]);
        let mut values = Vec::new();
        for field in terms.fields.iter() {
            container_covers(&fresh.container, field)?;
            let record: &Record = supply.record(field).ok_or(ReleaseError::NoValue(field))?;
            let plain = self.decrypt(record)?;
            if plain.expose().trim_ascii().is_empty() {
                return Err(ReleaseError::NoValue(field));
            }
            values.push((field, plain));
        }
        let country = values.iter().find(|(field, _)| *field == Field::Country);
        let country = country.and_then(|(_, plain)| std::str::from_utf8(plain.expose()).ok());
        if terms.kind == Kind::Address && country.and_then(country_code).is_none() {
            return Err(ReleaseError::Underivable(Field::Country));
        }
        Ok(SealedOrderData { kind: terms.kind, to, values })
    }

    /// Releases the keys for the mandates of one purchase: of the granted amount, at the granted shop.
    ///
    /// # Errors
    /// Those of [`Vault::open_payment`].
    pub fn open_mandate(
        &self,
        grant: Grant<Ucp>,
        fresh: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<SealedMandate, ReleaseError> {
        let (terms, amount) = self.purchase(grant, fresh, now)?;
        let keys = self.keys.as_ref().ok_or(ReleaseError::Locked)?;
        let key = |which| {
            self.signing.mandate_key(which, &self.id, &keys.signing).map_err(|_| ReleaseError::KeyDamaged)
        };
        Ok(SealedMandate {
            payee: terms.origin,
            amount,
            surface: key(MandateKey::Surface)?,
            agent: key(MandateKey::Agent)?,
        })
    }

    /// The public key of the trusted surface, by which shops verify mandates: the coordinates x and y on the curve P-256, 32 bytes each. It
    /// is derived from the vault's signing key, so it stays the same as long as the vault.
    ///
    /// # Errors
    /// [`VaultError::Locked`], [`VaultError::SigningDamaged`].
    pub fn mandate_key(&self) -> Result<[u8; 64], VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        self.signing.mandate_public(&self.id, &keys.signing)
    }
}
