//! The three doors. Each uses up a grant, whether it opens or not.

use browser_signals::{
    Container, Destination, Fact, NodeId, Observed, SealedFill, SealedValue, SealedWire, Snapshot, WireField,
};
use policy_dfa::reason::Signal;
use policy_dfa::{Fill, Grant, Millis, PaymentApi, Reason, RedeemError, Terms, Wire};
use sirl::{Field, FieldSet, Kind, Tier};

use crate::entropy::Entropy;
use crate::padded::Plain;
use crate::placeholder::placeholder;
use crate::{SealedCard, Vault};

/// How long the placeholders of a wire stand for the values, in milliseconds. Longer than a grant, which is
/// opened at once: the agent has yet to send the form.
pub const WIRE_STANDS_MS: u64 = 300_000;

/// Why a door stayed shut. The grant is gone in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseError {
    /// The keys are gone from memory.
    #[error("the vault is locked; unlock it with its passphrase")]
    Locked,
    /// The grant was not honoured.
    #[error(transparent)]
    Redeem(#[from] RedeemError),
    /// Nothing is stored, or nothing that is bound to this place. The two are one answer: which of them it is
    /// would tell a page about other places.
    #[error("the vault has no {} for this place; add one", .0.as_str())]
    NoValue(Field),
    /// A control was to take a field that the grant does not name.
    #[error("the grant does not cover {}", .0.as_str())]
    NotGranted(Field),
    /// A fill without controls.
    #[error("the grant names no control to fill")]
    NothingPlaced,
    /// Nobody knows where the form goes.
    #[error("it is not known where the form goes")]
    DestinationUnknown,
    /// Nobody knows the container's tier.
    #[error("the container's tier is not known")]
    ContainerUnknown,
    /// The container is below what a field needs.
    #[error("{} is not released in this container", .0.as_str())]
    ContainerTooLow(Field),
    /// A payment for something that is not a purchase, or without an amount.
    #[error("only a purchase with an amount can be paid")]
    NotAPurchase,
    /// A form that is sent in the address: what goes there stands in the history and in referrers.
    #[error("a form that is not sent by POST takes no value on its way out")]
    NotPosted,
    /// A control without a name, or with that of another, so that a body does not say which field is which.
    #[error("the control for {} has no name of its own", .0.as_str())]
    NoName(Field),
    /// A field that no model is told under any policy.
    #[error("{} is never told to a model", .0.as_str())]
    NotForModels(Field),
    /// What is in memory does not decrypt.
    #[error("the stored {} is damaged; enter it again", .0.as_str())]
    Damaged(Field),
}

impl ReleaseError {
    /// The code for the model.
    pub fn reason(self) -> Reason {
        match self {
            ReleaseError::Locked => Reason::VaultLocked,
            ReleaseError::Redeem(RedeemError::Stale | RedeemError::NotFresh) => Reason::StaleDocument,
            ReleaseError::Redeem(RedeemError::Expired) => Reason::ConsentExpired,
            ReleaseError::Redeem(RedeemError::ForeignAuthority)
            | ReleaseError::NotAPurchase
            | ReleaseError::NotPosted
            | ReleaseError::NotForModels(_) => Reason::DeliveryForbidden,
            ReleaseError::NoValue(_) | ReleaseError::Damaged(_) => Reason::NoValue,
            ReleaseError::NotGranted(_) | ReleaseError::NothingPlaced | ReleaseError::NoName(_) => {
                Reason::FieldNotAllowed
            }
            ReleaseError::DestinationUnknown => Reason::SignalUnknown(Signal::Destination),
            ReleaseError::ContainerUnknown => Reason::SignalUnknown(Signal::Container),
            ReleaseError::ContainerTooLow(_) => Reason::InvalidContainer,
        }
    }
}

/// Whether a field's own tier may be released into a page of this container. The policy decides on more;
/// this holds under every policy.
pub(crate) fn container_covers(container: &Fact<Container>, field: Field) -> Result<(), ReleaseError> {
    let container = container.known().ok_or(ReleaseError::ContainerUnknown)?;
    let covered = match field.tier() {
        Tier::T0 => true,
        Tier::T1 => *container != Container::T0,
        Tier::T2 => *container == Container::T2,
    };
    if covered { Ok(()) } else { Err(ReleaseError::ContainerTooLow(field)) }
}

/// Controls, and the field and value that each takes.
type Placed = Vec<(NodeId, Field, Plain)>;

/// The name under which a control is sent, if no other control of the form has it.
fn own_name(page: &Snapshot, node: NodeId) -> Option<String> {
    let name = &page.controls.iter().find(|control| control.node == node)?.name;
    let own = page.controls.iter().filter(|control| control.name == *name).count() == 1;
    (own && !name.is_empty()).then(|| name.clone())
}

impl Vault {
    /// The door for forms: exactly the fields that the grant places, each for its control, in a command
    /// that only the bridge can carry out.
    ///
    /// # Errors
    /// Locked, a grant that is not honoured (another authority's, too old, no newer look, the page
    /// changed), a field outside the grant, a container too low, or no value that is bound to both the page's
    /// origin and the destination's.
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
        let values = placed.into_iter().map(|(node, _, plain)| (node, SealedValue::held(plain))).collect();
        Ok(SealedFill {
            container_id: terms.container_id.clone(),
            frame: terms.frame.clone(),
            document: terms.document.clone(),
            origin: terms.origin.clone(),
            form: terms.form,
            destination,
            values,
        })
    }

    /// The door for requests: exactly the fields that the grant places, each with a placeholder for its control,
    /// in a command that only the bridge can carry out. The placeholders are made from `entropy` alone.
    ///
    /// # Errors
    /// As for [`Vault::open_fill`]; [`ReleaseError::NotPosted`] for a form that is sent otherwise than by `POST`,
    /// [`ReleaseError::NoName`] for a control that a body could not name.
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
        for (node, field, plain) in placed {
            let name = own_name(fresh.value(), node).ok_or(ReleaseError::NoName(field))?;
            let (placeholder, shape) = placeholder(field, entropy);
            fields.push(WireField { node, name, placeholder, shape, value: SealedValue::held(plain) });
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
            stands_ms: WIRE_STANDS_MS,
        })
    }

    /// The values for the controls of a form, under the terms of a grant that was redeemed.
    fn placed(
        &self,
        terms: &Terms,
        fresh: &Observed<Snapshot>,
    ) -> Result<(Destination, Placed), ReleaseError> {
        if terms.placements.is_empty() {
            return Err(ReleaseError::NothingPlaced);
        }
        let destination = terms.destination.clone().ok_or(ReleaseError::DestinationUnknown)?;
        let placed: FieldSet = terms.placements.iter().map(|placement| placement.field).collect();
        let supply = self.supply(terms.kind, placed, &[&terms.origin, &destination.origin]);
        let mut values = Vec::with_capacity(terms.placements.len());
        for placement in terms.placements.iter() {
            let field = placement.field;
            if !terms.fields.contains(field) {
                return Err(ReleaseError::NotGranted(field));
            }
            container_covers(&fresh.container, field)?;
            let plain = self.decrypt(supply.record(field).ok_or(ReleaseError::NoValue(field))?)?;
            values.push((placement.node, field, plain));
        }
        Ok((destination, values))
    }

    /// The door for the guard's own checkout: one card for one payment of the granted amount to the
    /// granted payee. Nothing of it enters the browser. Every value is bound to the payee's origin.
    ///
    /// # Errors
    /// As for [`Vault::open_fill`]; and [`ReleaseError::NotAPurchase`] where the grant is for something
    /// else or has no amount.
    pub fn open_payment(
        &self,
        grant: Grant<PaymentApi>,
        fresh: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<SealedCard, ReleaseError> {
        if self.is_locked() {
            return Err(ReleaseError::Locked);
        }
        let redeemed = self.verifier.redeem(grant, fresh, now)?;
        let terms = redeemed.terms();
        let amount =
            terms.amount.filter(|_| terms.kind == Kind::Purchase).ok_or(ReleaseError::NotAPurchase)?;
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
}
