//! The releases to a form, to a request, to a payment and to a model.

use browser_signals::{
    Destination, EmbeddedFill, NodeId, Observed, Origin, SealedFill, SealedValue, SealedWire, Snapshot,
    WireField,
};
use policy_dfa::{Fill, Grant, MayHoldT2, Millis, Model, PaymentApi, RedeemError, Terms, Wire};
use sirl::{Field, FieldSet, Kind, Money, Tier};

use super::asking::Asking;
use super::error::{ReleaseError, container_covers};
use super::placeholder::placeholder;
use crate::content::record::Record;
use crate::crypto::cipher::Entropy;
use crate::crypto::padded::Plaintext;
use crate::made::NewPasswordRules;
use crate::store::vault::Vault;

/// The time in which placeholders are replaced by values, in milliseconds. This is longer than the life of a grant,
/// because the agent has yet to send the form.
pub const WIRE_VALID_MS: u64 = 300_000;

/// One card for one payment. Only [`SealedCard::open`] can read it, and consumes it.
#[must_use = "a sealed card pays nothing until it is opened"]
pub struct SealedCard {
    handle: String,
    amount: Money,
    payee: Origin,
    number: Plaintext,
    expiry: Plaintext,
    code: Option<Plaintext>,
    name: Option<Plaintext>,
}

impl SealedCard {
    /// The handle of the card's record.
    pub fn handle(&self) -> &str {
        &self.handle
    }

    /// The exact amount that may be paid.
    pub fn amount(&self) -> Money {
        self.amount
    }

    /// The payee's origin.
    pub fn payee(&self) -> &Origin {
        &self.payee
    }

    /// Lends the card's data to `pay`, then wipes them. The result of `pay` cannot borrow from them.
    pub fn open<R>(self, pay: impl for<'x> FnOnce(ExposedCard<'x>) -> R) -> R {
        pay(ExposedCard {
            number: self.number.expose(),
            expiry: self.expiry.expose(),
            code: self.code.as_ref().map(Plaintext::expose),
            name: self.name.as_ref().map(Plaintext::expose),
        })
    }
}

/// A card's data, which exist only inside [`SealedCard::open`]. All are UTF-8, as the user wrote them.
pub struct ExposedCard<'x> {
    number: &'x [u8],
    expiry: &'x [u8],
    code: Option<&'x [u8]>,
    name: Option<&'x [u8]>,
}

impl<'x> ExposedCard<'x> {
    /// The card number.
    pub fn number(&self) -> &'x [u8] {
        self.number
    }

    /// The expiry.
    pub fn expiry(&self) -> &'x [u8] {
        self.expiry
    }

    /// The security code, if the user gave one for this session.
    pub fn code(&self) -> Option<&'x [u8]> {
        self.code
    }

    /// The holder's name, if the vault has one.
    pub fn name(&self) -> Option<&'x [u8]> {
        self.name
    }
}

/// Values that are to be shown to a model. The vault's copy is wiped when this is dropped. A value that was shown
/// cannot be taken back: it stays in the model's context, wherever that is stored or sent.
pub struct ValuesForModel(Vec<(Field, Plaintext)>);

impl ValuesForModel {
    /// Passes each field with its value to `show`.
    pub fn expose_to_the_model(&self, mut show: impl FnMut(Field, &str)) {
        for (field, plain) in &self.0 {
            show(*field, std::str::from_utf8(plain.expose()).unwrap_or(""));
        }
    }
}

/// Controls, each with the field and the value that it takes.
type PlacedValues = Vec<(NodeId, Field, SealedValue)>;

/// The name under which a control is sent, if no other control of the page has it.
fn own_name(page: &Snapshot, node: NodeId) -> Option<String> {
    let name = &page.controls.iter().find(|control| control.node == node)?.name;
    let own = page.controls.iter().filter(|control| control.name == *name).count() == 1;
    (own && !name.is_empty()).then(|| name.clone())
}

impl Vault {
    /// Releases values into a form: exactly the fields that the grant places, each for its control, in a command
    /// that only the bridge can carry out.
    ///
    /// # Errors
    /// The vault is locked; the grant is not accepted (another authority's, expired, the page changed, or no newer
    /// snapshot); a field is outside the grant; the container's tier is too low; or no value may go to the page's
    /// origin, to the destination's, and to those of a payment provider for tokens.
    pub fn open_fill(
        &self,
        grant: Grant<Fill>,
        fresh: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<SealedFill, ReleaseError> {
        if self.is_locked() {
            return Err(ReleaseError::Locked);
        }
        let redeemed = self.verifier.redeem(grant, fresh, now)?;
        let terms = redeemed.terms();
        let (destination, placed) = self.placed(terms, fresh)?;
        let made = placed.iter().filter(|(_, field, _)| *field == Field::NewPassword);
        let made = made.map(|(node, ..)| *node).collect();
        let values = placed.into_iter().map(|(node, _, value)| (node, value)).collect();
        Ok(SealedFill {
            container_id: terms.container_id.clone(),
            frame: terms.frame.clone(),
            document: terms.document.clone(),
            origin: terms.origin.clone(),
            form: terms.form,
            destination,
            embedded: terms.provider.as_ref().map(|frame| EmbeddedFill {
                top_document: frame.top_document().clone(),
                top_origin: frame.top_origin().clone(),
            }),
            values,
            made,
        })
    }

    /// Releases values into a request: exactly the fields that the grant places, each with a placeholder for its
    /// control, in a command that only the bridge can carry out. The placeholders are made from `entropy` alone.
    ///
    /// # Errors
    /// Those of [`Vault::open_fill`]; [`ReleaseError::NotPosted`] for a form that is not sent by `POST`;
    /// [`ReleaseError::NoName`] for a control without a name of its own.
    pub fn open_wire(
        &self,
        grant: Grant<Wire>,
        fresh: &Observed<Snapshot>,
        now: Millis,
        entropy: &mut dyn Entropy,
    ) -> Result<SealedWire, ReleaseError> {
        if self.is_locked() {
            return Err(ReleaseError::Locked);
        }
        let redeemed = self.verifier.redeem(grant, fresh, now)?;
        let terms = redeemed.terms();
        let (destination, placed) = self.placed(terms, fresh)?;
        if &*destination.method != "POST" {
            return Err(ReleaseError::NotPosted);
        }
        let mut fields: Vec<WireField> = Vec::with_capacity(placed.len());
        for (node, field, value) in placed {
            let name = own_name(fresh.value(), node).ok_or(ReleaseError::NoName(field))?;
            let (placeholder, shape) = placeholder(field, entropy);
            fields.push(WireField { node, name, placeholder, shape, value });
        }
        Ok(SealedWire {
            request: terms.request,
            container_id: terms.container_id.clone(),
            frame: terms.frame.clone(),
            document: terms.document.clone(),
            origin: terms.origin.clone(),
            form: terms.form,
            destination,
            fields,
            lifetime_ms: WIRE_VALID_MS,
        })
    }

    /// Decrypts the values for the controls of a form, under the terms of a redeemed grant.
    fn placed(
        &self,
        terms: &Terms,
        fresh: &Observed<Snapshot>,
    ) -> Result<(Destination, PlacedValues), ReleaseError> {
        if terms.placements.is_empty() {
            return Err(ReleaseError::NothingPlaced);
        }
        let destination = terms.goes_to().ok_or(ReleaseError::DestinationUnknown)?;
        let placed: FieldSet = terms.placements.iter().map(|placement| placement.field).collect();
        if placed.contains(Field::NewPassword) {
            // A page that changed its rules since the password was made is not the one that the user was asked about.
            let rules = NewPasswordRules::of_placed(fresh, &terms.placements);
            let made = self.made_for(&destination.origin).ok_or(ReleaseError::NoValue(Field::NewPassword))?;
            if *made.1 != rules {
                return Err(ReleaseError::Redeem(RedeemError::Stale));
            }
        }
        let receivers = terms.receivers();
        let supply = self.supply(terms.kind, placed, &receivers.iter().collect::<Vec<_>>());
        let asking = Asking::of(terms, fresh);
        let mut values = Vec::with_capacity(terms.placements.len());
        for placement in terms.placements.iter() {
            let field = placement.field;
            if !terms.fields.contains(field) {
                return Err(ReleaseError::NotGranted(field));
            }
            container_covers(&fresh.container, field)?;
            let Some(record) = supply.record(field) else {
                if terms.kind != Kind::Login && asking.may_stay_empty(placement) {
                    continue;
                }
                return Err(ReleaseError::NoValue(field));
            };
            // The stored record is the seed, which never leaves the vault.
            if field == Field::OneTimeCode && !self.task.records.iter().any(|own| std::ptr::eq(own, record)) {
                return Err(ReleaseError::NoValue(field));
            }
            let plain = self.decrypt(record)?;
            if let Some(value) = asking.shaped(placement, plain)? {
                values.push((placement.node, field, value));
            }
        }
        match (values.is_empty(), terms.placements.first()) {
            (false, _) => Ok((destination, values)),
            // Nothing of the record belongs into these controls. The agent reads the same as of a record without the field, so
            // that it does not learn how a value is stored.
            (true, Some(placement)) => Err(ReleaseError::NoValue(placement.field)),
            (true, None) => Err(ReleaseError::NothingPlaced),
        }
    }

    /// Redeems a grant for a purchase: its terms, and its exact amount.
    pub(super) fn purchase<A: MayHoldT2>(
        &self,
        grant: Grant<A>,
        fresh: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<(Terms, Money), ReleaseError> {
        if self.is_locked() {
            return Err(ReleaseError::Locked);
        }
        let terms = self.verifier.redeem(grant, fresh, now)?.terms().clone();
        let amount = terms.amount.filter(|_| terms.kind == Kind::Purchase);
        Ok((terms, amount.ok_or(ReleaseError::NotAPurchase)?))
    }

    /// Releases a card to the guard's own checkout, for one payment of the granted amount to the granted payee.
    /// Nothing of it enters the browser. Every value may go to the payee's origin.
    ///
    /// # Errors
    /// Those of [`Vault::open_fill`], and [`ReleaseError::NotAPurchase`] if the grant is for something else or has
    /// no amount.
    pub fn open_payment(
        &self,
        grant: Grant<PaymentApi>,
        fresh: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<SealedCard, ReleaseError> {
        let (terms, amount) = self.purchase(grant, fresh, now)?;
        let needed = FieldSet::EMPTY.with(Field::CardNumber).with(Field::CardExpiry);
        let supply = self.supply(Kind::Purchase, needed, &[&terms.origin]);
        let optional = |field| supply.record(field).map(|record| self.decrypt(record)).transpose();
        let required = |field| supply.record(field).ok_or(ReleaseError::NoValue(field));
        let (card, expiry) = (required(Field::CardNumber)?, required(Field::CardExpiry)?);
        Ok(SealedCard {
            handle: card.handle.clone(),
            amount,
            payee: terms.origin.clone(),
            number: self.decrypt(card)?,
            expiry: self.decrypt(expiry)?,
            code: optional(Field::CardCode)?,
            name: optional(Field::Name)?,
        })
    }

    /// Releases every field of the grant to the model, in plain text. It exists so that approach A of the paper can
    /// be compared with the approaches that fill. Under no policy does it release a T2 field.
    ///
    /// # Errors
    /// Those of [`Vault::open_fill`]; [`ReleaseError::NotForModels`] for a T2 field.
    pub fn open_to_the_model(
        &self,
        grant: Grant<Model>,
        fresh: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<ValuesForModel, ReleaseError> {
        if self.is_locked() {
            return Err(ReleaseError::Locked);
        }
        let redeemed = self.verifier.redeem(grant, fresh, now)?;
        let terms = redeemed.terms();
        // A value that the model types goes to the destination of the form.
        let destination = fresh.destination.known().ok_or(ReleaseError::DestinationUnknown)?;
        let supply = self.supply(terms.kind, terms.fields, &[&terms.origin, &destination.origin]);
        let mut values = Vec::new();
        for field in terms.fields.iter() {
            if field.tier() == Tier::T2 {
                return Err(ReleaseError::NotForModels(field));
            }
            container_covers(&fresh.container, field)?;
            values.push((field, self.decrypt(supply.record(field).ok_or(ReleaseError::NoValue(field))?)?));
        }
        Ok(ValuesForModel(values))
    }

    /// Decrypts one value.
    pub(crate) fn decrypt(&self, record: &Record) -> Result<Plaintext, ReleaseError> {
        let mut plain = self.no_value()?;
        self.decrypt_into(record, &mut plain)?;
        Ok(plain)
    }

    /// Takes a buffer for a caller that decrypts many values, one after another.
    pub(crate) fn no_value(&self) -> Result<Plaintext, ReleaseError> {
        self.keys.as_ref().map(|keys| Plaintext::empty(&keys.pool)).ok_or(ReleaseError::Locked)
    }

    /// Decrypts one value in place of the one in `plain`.
    pub(crate) fn decrypt_into(&self, record: &Record, plain: &mut Plaintext) -> Result<(), ReleaseError> {
        let keys = self.keys.as_ref().ok_or(ReleaseError::Locked)?;
        record.unseal_into(&self.id, &keys.records, plain).map_err(|_| ReleaseError::Damaged(record.field))
    }
}
