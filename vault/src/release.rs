//! The two doors. Each uses up a grant, whether it opens or not.

use browser_signals::{Container, Fact, Observed, SealedFill, SealedValue, Snapshot};
use policy_dfa::reason::Signal;
use policy_dfa::{Fill, Grant, Millis, PaymentApi, Reason, RedeemError};
use sirl::{Field, FieldSet, Kind, Tier};

use crate::{SealedCard, Vault};

/// Why a door stayed shut. The grant is gone in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseError {
    /// The keys are gone from memory.
    #[error("the vault is locked; unlock it with its passphrase")]
    Locked,
    /// The grant was not honoured.
    #[error(transparent)]
    Redeem(#[from] RedeemError),
    /// Nothing is stored.
    #[error("the vault has no {}; add one", .0.as_str())]
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
            ReleaseError::Redeem(RedeemError::ForeignAuthority) | ReleaseError::NotAPurchase => {
                Reason::DeliveryForbidden
            }
            ReleaseError::NoValue(_) | ReleaseError::Damaged(_) => Reason::NoValue,
            ReleaseError::NotGranted(_) | ReleaseError::NothingPlaced => Reason::FieldNotAllowed,
            ReleaseError::DestinationUnknown => Reason::SignalUnknown(Signal::Destination),
            ReleaseError::ContainerUnknown => Reason::SignalUnknown(Signal::Container),
            ReleaseError::ContainerTooLow(_) => Reason::InvalidContainer,
        }
    }
}

/// Whether a field's own tier may be released into a page of this container. The policy decides on more;
/// this holds under every policy.
fn container_covers(container: &Fact<Container>, field: Field) -> Result<(), ReleaseError> {
    let container = container.known().ok_or(ReleaseError::ContainerUnknown)?;
    let covered = match field.tier() {
        Tier::T0 => true,
        Tier::T1 => *container != Container::T0,
        Tier::T2 => *container == Container::T2,
    };
    if covered { Ok(()) } else { Err(ReleaseError::ContainerTooLow(field)) }
}

impl Vault {
    /// The door for forms: exactly the fields that the grant places, each for its control, in a command
    /// that only the bridge can carry out.
    ///
    /// # Errors
    /// Locked, a grant that is not honoured (another authority's, too old, no newer look, the page
    /// changed), a field outside the grant, a container too low, or no value.
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
        if terms.placements.is_empty() {
            return Err(ReleaseError::NothingPlaced);
        }
        let destination = terms.destination.clone().ok_or(ReleaseError::DestinationUnknown)?;
        let mut values = Vec::with_capacity(terms.placements.len());
        for placement in terms.placements.iter() {
            let field = placement.field;
            if !terms.fields.contains(field) {
                return Err(ReleaseError::NotGranted(field));
            }
            container_covers(&fresh.container, field)?;
            let supplier = self.supplier_for(terms.kind, terms.fields, field);
            let plain = self.decrypt(supplier.ok_or(ReleaseError::NoValue(field))?, field)?;
            values.push((placement.node, SealedValue::held(plain)));
        }
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

    /// The door for the guard's own checkout: one card for one payment of the granted amount to the
    /// granted payee. Nothing of it enters the browser.
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
        let wanted = needed.with(Field::CardCode).with(Field::Name);
        let handle = self
            .supplier_for(Kind::Purchase, wanted, Field::CardNumber)
            .ok_or(ReleaseError::NoValue(Field::CardNumber))?;
        let optional = |field| match self.supplier_for(Kind::Purchase, wanted, field) {
            Some(supplier) => self.decrypt(supplier, field).map(Some),
            None => Ok(None),
        };
        Ok(SealedCard {
            handle: handle.to_owned(),
            amount,
            payee: terms.origin.clone(),
            number: self.decrypt(handle, Field::CardNumber)?,
            expiry: self.decrypt(handle, Field::CardExpiry)?,
            code: optional(Field::CardCode)?,
            name: optional(Field::Name)?,
        })
    }
}
