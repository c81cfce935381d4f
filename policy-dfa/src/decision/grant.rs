//! The capability that opens the vault.
//!
//! A decision point mints a grant, whose terms are exactly what it allows. Redeeming the grant consumes it. Code
//! outside of this crate cannot make, copy, print in full, store or redirect one.

use std::marker::PhantomData;

use browser_signals::{
    ContainerId, Destination, DocumentId, Fact, FormId, FrameId, NodeId, Observed, Origin, Snapshot, TlsState,
};
use sirl::{Field, FieldSet, Kind, Money};

use super::provider::ProviderFrame;
use super::question::{Basis, Millis, Placement};
use crate::vocabulary::event::{NEVER_IN_CLEAR, takes_card_or_id};

mod sealed {
    pub trait Sealed {
        /// Whether the value goes through a form of the page.
        const IN_PAGE: bool;
    }
}

/// The receiver of a value. The trait is sealed: there are no other audiences than the six below.
pub trait Audience: sealed::Sealed {
    /// The audience's name, for records.
    const NAME: &'static str;
}

/// Audiences that may be given T2 fields. The model is not one of them.
pub trait MayHoldT2: Audience {}

macro_rules! audience {
    ($(#[$doc:meta])* $name:ident, $text:literal, $in_page:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name {}
        impl sealed::Sealed for $name {
            const IN_PAGE: bool = $in_page;
        }
        impl Audience for $name {
            const NAME: &'static str = $text;
        }
    };
}

audience!(
    /// A control of a page, which the bridge fills.
    Fill, "fill", true
);
audience!(
    /// One outgoing request, which the bridge changes.
    Wire, "wire", true
);
audience!(
    /// The guard's own checkout.
    PaymentApi, "payment_api", false
);
audience!(
    /// The language model.
    Model, "model", false
);
audience!(
    /// The endpoint of a shop, to which the guard sends the address of an order and one mandate to pay for it.
    Ucp, "ucp", false
);
audience!(
    /// A fresh container, into which the bridge puts a saved login.
    Restore, "restore", false
);
impl MayHoldT2 for Fill {}
impl MayHoldT2 for Wire {}
impl MayHoldT2 for PaymentApi {}
impl MayHoldT2 for Ucp {}
impl MayHoldT2 for Restore {}

/// The id that only the decision points of one authority and their verifier share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct AuthorityId(pub(crate) [u8; 16]);

/// The placements of a grant: several for a field that a form divides or asks for again. They are stored inline, so that minting a
/// grant allocates nothing. The type dereferences to a slice.
///
/// ```
/// use browser_signals::NodeId;
/// use policy_dfa::{Basis, Placement, Placements};
/// use sirl::Field;
///
/// let city = Placement { field: Field::City, node: NodeId(4), basis: Basis::Page };
/// assert_eq!(*Placements::new(&[city]).unwrap(), [city]);
/// assert!(Placements::new(&[city; Placements::MAX + 1]).is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Placements {
    placed: [Placement; Placements::MAX],
    len: usize,
}

impl Placements {
    /// The most controls that one grant fills.
    pub const MAX: usize = 24;

    /// No placement.
    pub const NONE: Placements = Placements { placed: [UNUSED; Placements::MAX], len: 0 };

    /// These placements in this order, or `None` if there are more than [`Placements::MAX`].
    pub fn new(placements: &[Placement]) -> Option<Placements> {
        let mut all = Placements { len: placements.len(), ..Placements::NONE };
        all.placed.get_mut(..placements.len())?.copy_from_slice(placements);
        Some(all)
    }
}

/// The value of the slots that are not in use.
const UNUSED: Placement = Placement { field: Field::Name, node: NodeId(0), basis: Basis::Page };

impl std::ops::Deref for Placements {
    type Target = [Placement];

    fn deref(&self) -> &[Placement] {
        self.placed.get(..self.len).unwrap_or_default()
    }
}

impl PartialEq for Placements {
    fn eq(&self, other: &Placements) -> bool {
        **self == **other
    }
}

impl Eq for Placements {}

impl std::fmt::Debug for Placements {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

/// The exact release that a grant allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// The number of the request within the session.
    pub request: u64,
    /// The kind of request.
    pub kind: Kind,
    /// The fields.
    pub fields: FieldSet,
    /// The controls for the fields.
    pub placements: Placements,
    /// The browser context.
    pub container_id: ContainerId,
    /// The frame.
    pub frame: FrameId,
    /// The document in it.
    pub document: DocumentId,
    /// The frame's origin. For a purchase, it is the payee.
    pub origin: Origin,
    /// The form that owns the controls.
    pub form: Option<FormId>,
    /// The address that the form is sent to. For an order, the shop's endpoint.
    pub destination: Option<Destination>,
    /// The frame of a payment provider that the form or the controls are in, if they are in one.
    pub provider: Option<ProviderFrame>,
    /// The connection of the page: valid, or in clear on this machine where the policy allows it.
    pub tls: TlsState,
    /// For a purchase, the exact amount: at a shop's endpoint, the total of the checkout that the shop stated. For a card in a form, the total that the page names, if it names one.
    pub amount: Option<Money>,
    /// The hash of the policy that decided.
    pub policy: [u8; 32],
    /// The number of the observation that the decision is based on. Redeeming needs a later one.
    pub observed: u64,
    /// The time of its expiry.
    pub expires: Millis,
}

impl Terms {
    /// The destination of the values. Controls of a provider's frame that no form owns have none of their own, and what is
    /// filled into them goes to the frame's origin.
    pub fn goes_to(&self) -> Option<Destination> {
        self.destination.clone().or_else(|| {
            self.provider.as_ref()?;
            Some(Destination { origin: self.origin.clone(), path: "/".into(), method: "POST".into() })
        })
    }

    /// Every origin that the values may go to: the page's, the destination's, and those of a provider for tokens.
    pub fn receivers(&self) -> Vec<Origin> {
        let tokens = self.provider.iter().flat_map(|frame| frame.provider().tokens());
        let to = self.destination.iter().map(|to| &to.origin);
        let mut all: Vec<Origin> = Vec::new();
        for origin in std::iter::once(&self.origin).chain(to).chain(tokens) {
            if !all.contains(origin) {
                all.push(origin.clone());
            }
        }
        all
    }

    /// Whether the connection is one over which these fields may go.
    fn connection_suffices(&self) -> bool {
        match self.tls {
            TlsState::Valid => true,
            TlsState::Loopback => {
                let stays = self.destination.as_ref().is_none_or(|goal| goal.origin == self.origin);
                let fields = self.fields.intersection(NEVER_IN_CLEAR).is_empty();
                stays && fields && !takes_card_or_id(self.kind) && self.origin.is_plain_loopback()
            }
            TlsState::Broken | TlsState::Insecure => false,
        }
    }
}

/// The right to a single release to one audience.
#[must_use = "an unused grant is lost"]
pub struct Grant<A: Audience> {
    terms: Terms,
    authority: AuthorityId,
    audience: PhantomData<fn() -> A>,
}

impl<A: Audience> Grant<A> {
    pub(crate) fn mint(terms: Terms, authority: AuthorityId) -> Grant<A> {
        Grant { terms, authority, audience: PhantomData }
    }

    /// The release that it allows.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }
}

impl<A: Audience> std::fmt::Debug for Grant<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Grant<{}>({} #{})", A::NAME, self.terms.kind.as_str(), self.terms.request)
    }
}

/// The verifier of grants, for the code that releases values. It belongs to the decision points of one authority.
pub struct Verifier {
    authority: AuthorityId,
}

/// A grant that was verified and consumed. Only a verifier makes one.
#[must_use = "a redeemed grant is gone"]
pub struct Redeemed<A: Audience> {
    terms: Terms,
    audience: PhantomData<fn() -> A>,
}

impl<A: Audience> Redeemed<A> {
    /// The release that it allows.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }
}

/// The reason why a grant was not honoured. The grant is consumed in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedeemError {
    /// The grant was minted by another authority.
    #[error("the grant belongs to another policy")]
    ForeignAuthority,
    /// The grant has expired.
    #[error("the grant has run out")]
    Expired,
    /// The observation is not newer than the one that the decision is based on.
    #[error("a newer look at the page is needed")]
    NotFresh,
    /// The container, frame, document, origin, form or destination, or the page around a provider's frame, is not the
    /// granted one, or the connection is no longer valid.
    #[error("the page changed after the decision")]
    Stale,
}

impl Verifier {
    pub(crate) fn new(authority: AuthorityId) -> Verifier {
        Verifier { authority }
    }

    /// Consumes `grant` if it is this authority's, has not expired, and `fresh` is a later observation of the same
    /// container, frame, document and origin over the same kind of connection: a valid one, or one in clear that stays
    /// on this machine, which is never honoured for card data and government identity numbers. For a value that goes through a form, the form,
    /// its controls and its destination must be the same too.
    ///
    /// # Errors
    /// One of these does not hold. The grant is consumed in every case.
    pub fn redeem<A: Audience>(
        &self,
        grant: Grant<A>,
        fresh: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<Redeemed<A>, RedeemError> {
        let terms = grant.terms;
        if grant.authority != self.authority {
            return Err(RedeemError::ForeignAuthority);
        }
        if now >= terms.expires {
            return Err(RedeemError::Expired);
        }
        if fresh.number() <= terms.observed {
            return Err(RedeemError::NotFresh);
        }
        let page = fresh.value();
        let same = page.container_id == terms.container_id
            && page.frame == terms.frame
            && page.document.known() == Some(&terms.document)
            && page.origin.known() == Some(&terms.origin)
            && page.tls == Fact::Known(terms.tls)
            && terms.provider.as_ref().is_none_or(|frame| frame.is_still(page))
            && terms.connection_suffices();
        let same_form = page.form == terms.form
            && page.destination.known() == terms.destination.as_ref()
            && terms.placements.iter().all(|placement| {
                page.controls.iter().any(|c| c.node == placement.node && c.form == terms.form && c.editable)
            });
        if same && (same_form || !A::IN_PAGE) {
            Ok(Redeemed { terms, audience: PhantomData })
        } else {
            Err(RedeemError::Stale)
        }
    }
}
