//! The capability that opens the vault.
//!
//! A grant is minted by a decision point, names exactly what it allows, and is consumed when it is
//! redeemed. It cannot be made, copied, printed in full, stored or redirected outside this crate.

use std::marker::PhantomData;

use browser_signals::{
    ContainerId, Destination, DocumentId, Fact, FormId, FrameId, NodeId, Observed, Origin, Snapshot, TlsState,
};
use sirl::{Field, FieldSet, Kind, Money};

use crate::{Millis, Placement};

mod sealed {
    pub trait Sealed {
        /// Whether the value goes through a form of the page.
        const IN_PAGE: bool;
    }
}

/// To whom a grant lets a value go. Sealed: the four audiences below are all there are.
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
    /// A control of a page, filled by the bridge.
    Fill, "fill", true
);
audience!(
    /// One outgoing request, changed by the bridge.
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
impl MayHoldT2 for Fill {}
impl MayHoldT2 for Wire {}
impl MayHoldT2 for PaymentApi {}

/// The id that a decision point and its verifier share, and nobody else.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct AuthorityId(pub(crate) [u8; 16]);

/// Which control takes which field, in a grant: as many as a kind has fields, and kept in place, so that
/// minting a grant allocates nothing. Reads as a slice.
///
/// ```
/// use browser_signals::NodeId;
/// use policy_dfa::{Placement, Placements};
/// use sirl::Field;
///
/// let city = Placement { field: Field::City, node: NodeId(4) };
/// assert_eq!(*Placements::new(&[city]).unwrap(), [city]);
/// assert!(Placements::new(&[city; Placements::MAX + 1]).is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Placements {
    placed: [Placement; Placements::MAX],
    len: usize,
}

impl Placements {
    /// The most fields that a kind of request has.
    pub const MAX: usize = most_fields();

    /// No placement.
    pub const NONE: Placements = Placements { placed: [UNUSED; Placements::MAX], len: 0 };

    /// These placements in this order, or `None` where they are more than [`Placements::MAX`].
    pub fn new(placements: &[Placement]) -> Option<Placements> {
        let mut all = Placements { len: placements.len(), ..Placements::NONE };
        all.placed.get_mut(..placements.len())?.copy_from_slice(placements);
        Some(all)
    }
}

/// Fills the places that are not in use, and is never seen.
const UNUSED: Placement = Placement { field: Field::Name, node: NodeId(0) };

const fn most_fields() -> usize {
    let mut most = 0;
    let mut kinds: &[Kind] = &Kind::ALL;
    while let [kind, rest @ ..] = kinds {
        let fields = kind.allowed_fields().len();
        if fields > most {
            most = fields;
        }
        kinds = rest;
    }
    most
}

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

/// What exactly a grant allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// The number of the request within the session.
    pub request: u64,
    /// The kind of request.
    pub kind: Kind,
    /// The fields.
    pub fields: FieldSet,
    /// Which control takes which field.
    pub placements: Placements,
    /// The browser context.
    pub container_id: ContainerId,
    /// The frame.
    pub frame: FrameId,
    /// The document in it.
    pub document: DocumentId,
    /// The frame's origin; for a purchase, the payee.
    pub origin: Origin,
    /// The form that owns the controls.
    pub form: Option<FormId>,
    /// Where the form goes.
    pub destination: Option<Destination>,
    /// For a purchase: the exact amount.
    pub amount: Option<Money>,
    /// The policy that decided, by its hash.
    pub policy: [u8; 32],
    /// The number of the observation it was decided on; redeeming needs a later one.
    pub observed: u64,
    /// When it ends.
    pub expires: Millis,
}

/// The right to one release, to one audience, once.
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

    /// What it allows.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }
}

impl<A: Audience> std::fmt::Debug for Grant<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Grant<{}>({} #{})", A::NAME, self.terms.kind.as_str(), self.terms.request)
    }
}

/// Checks grants for the one who releases. Belongs to exactly one decision point.
pub struct Verifier {
    authority: AuthorityId,
}

/// A grant that was checked and used up. Only a verifier makes one.
#[must_use = "a redeemed grant is gone"]
pub struct Redeemed<A: Audience> {
    terms: Terms,
    audience: PhantomData<fn() -> A>,
}

impl<A: Audience> Redeemed<A> {
    /// What it allows.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }
}

/// Why a grant was not honoured. The grant is gone in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedeemError {
    /// Minted by another authority.
    #[error("the grant belongs to another policy")]
    ForeignAuthority,
    /// Too old.
    #[error("the grant has run out")]
    Expired,
    /// The observation is not newer than the one decided on.
    #[error("a newer look at the page is needed")]
    NotFresh,
    /// Another container, frame, document, origin, form or destination than the one granted, or a
    /// connection that is no longer valid.
    #[error("the page changed after the decision")]
    Stale,
}

impl Verifier {
    pub(crate) fn new(authority: AuthorityId) -> Verifier {
        Verifier { authority }
    }

    /// Uses up `grant` if it is this authority's, has not run out, and `fresh` is a later look at the
    /// same container, frame, document and origin, still over a valid connection; and, for a value that
    /// goes through a form, at the same form, controls and destination.
    ///
    /// # Errors
    /// Where one of these does not hold. The grant is gone in every case.
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
            && page.tls == Fact::Known(TlsState::Valid);
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
