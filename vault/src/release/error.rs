//! The errors of a release, and the rule on containers.

use browser_signals::{Container, Fact};
use policy_dfa::Signal;
use policy_dfa::{Reason, RedeemError};
use sirl::{Field, Tier};

/// An error of a release. The grant is consumed all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The vault is locked, so its keys are wiped.
    #[error("the vault is locked; unlock it with its passphrase")]
    Locked,
    /// The grant was not accepted.
    #[error(transparent)]
    Redeem(#[from] RedeemError),
    /// No such value is stored, or none that is bound to this place. Both give the same error, since the difference
    /// would tell a page about other places.
    #[error("the vault has no {} for this place; add one", .0.as_str())]
    NoValue(Field),
    /// The stored value does not say what a control asks for: a part of a name with three words, a house number in a line with two.
    #[error("the {} of this form cannot be told from the stored one; fill the form by hand", .0.as_str())]
    Underivable(Field),
    /// A control should take a field that the grant does not name.
    #[error("the grant does not cover {}", .0.as_str())]
    NotGranted(Field),
    /// The grant places no field in a control.
    #[error("the grant names no control to fill")]
    NothingPlaced,
    /// The destination of the form is not known.
    #[error("it is not known where the form goes")]
    DestinationUnknown,
    /// The container's tier is not known.
    #[error("the container's tier is not known")]
    ContainerUnknown,
    /// The container's tier is too low for a field.
    #[error("{} is not released in this container", .0.as_str())]
    ContainerTooLow(Field),
    /// A payment needs a purchase with an amount.
    #[error("only a purchase with an amount can be paid")]
    NotAPurchase,
    /// The form is sent in the address, which ends up in the history and in referrers.
    #[error("a form that is not sent by POST takes no value in its request")]
    NotPosted,
    /// A control has no name, or that of another one, so that a request body does not show which field is which.
    #[error("the control for {} has no name of its own", .0.as_str())]
    NoName(Field),
    /// The field is shown to no model under any policy.
    #[error("{} is never shown to a model", .0.as_str())]
    NotForModels(Field),
    /// The key of mandates cannot be derived.
    #[error("the vault's signing key is damaged; restore the vault's file")]
    KeyDamaged,
    /// The record in memory does not decrypt.
    #[error("the stored {} is damaged; enter it again", .0.as_str())]
    Damaged(Field),
}

impl ReleaseError {
    /// The reason. The model is told one code for a value that is missing, unfit or damaged.
    pub fn reason(self) -> Reason {
        match self {
            ReleaseError::Locked => Reason::VaultLocked,
            ReleaseError::Redeem(RedeemError::Stale | RedeemError::NotFresh) => Reason::StaleDocument,
            ReleaseError::Redeem(RedeemError::Expired) => Reason::ConsentExpired,
            ReleaseError::Redeem(RedeemError::ForeignAuthority)
            | ReleaseError::NotAPurchase
            | ReleaseError::NotPosted
            | ReleaseError::NotForModels(_) => Reason::DeliveryForbidden,
            ReleaseError::NoValue(_) => Reason::NoValue,
            ReleaseError::Underivable(_) => Reason::ValueUnderivable,
            ReleaseError::Damaged(_) | ReleaseError::KeyDamaged => Reason::ValueDamaged,
            ReleaseError::NotGranted(_) | ReleaseError::NothingPlaced | ReleaseError::NoName(_) => {
                Reason::NoControl
            }
            ReleaseError::DestinationUnknown => Reason::SignalUnknown(Signal::Destination),
            ReleaseError::ContainerUnknown => Reason::SignalUnknown(Signal::Container),
            ReleaseError::ContainerTooLow(_) => Reason::InvalidContainer,
        }
    }
}

/// Checks that a field's tier may be released into a page of this container. A policy may be stricter; this rule
/// holds under every policy.
pub(crate) fn container_covers(container: &Fact<Container>, field: Field) -> Result<(), ReleaseError> {
    let container = container.known().ok_or(ReleaseError::ContainerUnknown)?;
    let covered = match field.tier() {
        Tier::T0 => true,
        Tier::T1 => *container != Container::T0,
        Tier::T2 => *container == Container::T2,
    };
    if covered { Ok(()) } else { Err(ReleaseError::ContainerTooLow(field)) }
}
