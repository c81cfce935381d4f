//! The state of an order by the shop's own protocol, on its walk through the session.

use browser_signals::{Destination, Observed, Origin, Snapshot};
use policy_dfa::{Consent, Grant, Reason, Ucp};
use sirl::{Currency, Items, Money, Request};
use vault::{SealedMandate, SealedOrderData};

use super::block_state::{BlockState, PageIdentity};
use crate::consent::{Answer, ConsentPrompt, FormPlace, Purpose, SeenOffer};
use crate::guard::record_choices::RivalRecords;

/// A command to the driver about an order.
pub enum OrderCommand {
    /// Read the profile of the shop with this origin. [`Event::Discovered`](super::Event::Discovered) answers it.
    Discover(Origin),
    /// Tell the shop the items, and what was released for it. [`Event::Offered`](super::Event::Offered) answers it.
    Prepare {
        /// The items.
        items: Items,
        /// The address, and how the buyer is reached.
        told: Vec<SealedOrderData>,
        /// The currency of the user's budget.
        currency: Option<Currency>,
    },
    /// Buy what was offered. [`Event::Ordered`](super::Event::Ordered) answers it.
    Complete(SealedMandate),
    /// Cancel what was offered. [`Event::Abandoned`](super::Event::Abandoned) answers it.
    Abandon,
}

/// The part of an order that is decided now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Part {
    /// What the shop is told, by its index.
    Telling(usize),
    Purchase,
}

/// A request of the guard's own, for values that the shop is told.
pub(in crate::session) struct Telling {
    pub request: Request,
    /// Its number in the record.
    pub number: u64,
}

/// An order on its walk.
pub(in crate::session) struct OrderState {
    /// The agent's block, which has this one request.
    pub block: BlockState,
    pub items: Items,
    pub part: Part,
    /// What the shop is told: the address, and how the buyer is reached where the task is about that too.
    pub tellings: Vec<Telling>,
    /// The grants of the parts that are released together. They expire while the user is asked for too long.
    pub grants: Vec<Grant<Ucp>>,
    /// The records that the goods go to, as they were told to the shop.
    pub delivered_to: Vec<String>,
    /// Where the order goes, once the shop's profile says so.
    pub endpoint: Option<Destination>,
    /// The user's answer about the current part, and the page that it is about.
    pub consent: Consent,
    pub asked_on: Option<PageIdentity>,
    pub offer: Option<Box<SeenOffer>>,
}

/// The step that an order waits for.
pub(in crate::session) enum OrderPhase {
    /// The look at the page, before the current part is asked about.
    Looking,
    /// The shop's profile.
    Discovering(Box<Observed<Snapshot>>),
    /// The user's choice among addresses.
    Choosing(Box<Observed<Snapshot>>, Box<RivalRecords>),
    /// The user's answer.
    Asking(Box<ConsentPrompt>),
    /// The record of the answer.
    RecordingAnswer(Answer),
    /// The look for the decision with the answer.
    Deciding,
    /// The record of the intent.
    RecordingIntent(Vec<Grant<Ucp>>),
    /// The fresh look for the release.
    LookingAgain(Vec<Grant<Ucp>>),
    /// The shop's offer.
    Preparing,
    /// The end of the purchase.
    Completing,
    /// The end of an offer that is not bought, for this reason.
    Abandoning(Reason),
    /// The record of the outcome of the current part.
    RecordingOutcome(Result<(), Reason>),
}

impl OrderState {
    /// Goes on to another part, about which nobody was asked yet.
    pub fn go_on(&mut self, part: Part) {
        (self.part, self.consent, self.asked_on) = (part, Consent::None, None);
    }

    /// The request for what the shop is told, while that is the current part.
    pub fn telling(&self) -> Option<&Request> {
        match self.part {
            Part::Telling(at) => self.tellings.get(at).map(|telling| &telling.request),
            Part::Purchase => None,
        }
    }

    /// The request of the current part.
    pub fn request(&self) -> Option<&Request> {
        match self.part {
            Part::Telling(_) => self.telling(),
            Part::Purchase => self.block.requests.first().map(|line| &line.request),
        }
    }

    /// The number of the current part in the record.
    pub fn number(&self) -> u64 {
        match self.part {
            Part::Telling(at) => self.tellings.get(at).map_or(0, |telling| telling.number),
            Part::Purchase => self.block.requests.first().map_or(0, |line| line.number),
        }
    }

    /// The numbers of what is released together with the current part.
    pub fn numbers(&self) -> Vec<u64> {
        match self.part {
            Part::Purchase => vec![self.number()],
            Part::Telling(_) => self.tellings.iter().map(|telling| telling.number).collect(),
        }
    }

    /// What the shop asks, once it has signed it.
    pub fn amount(&self) -> Option<Money> {
        self.offer.as_ref().filter(|_| self.part == Part::Purchase).map(|offer| offer.total)
    }
}

/// Where a yes to tell the shop something is for: orders at this endpoint.
pub(super) fn place_of(endpoint: &Destination) -> FormPlace {
    FormPlace::new(Purpose::Order, Some(&endpoint.path), Some(&endpoint.path), None)
}
