//! The words for outcomes and starts.

use sirl::Tier;

use crate::reason::{Reason, Signal};
use crate::table::Root;
use crate::{ConsentScope, Delivery};

/// The scopes and their words: those of the language.
pub(super) const SCOPES: [(ConsentScope, &str); 3] = [
    (ConsentScope::EveryTime, "every time"),
    (ConsentScope::Session, "once per session"),
    (ConsentScope::Site, "once per site"),
];

/// Every reason but the unknown signals. One that is missing here is written, but not read back.
const REASONS: [Reason; 31] = [
    Reason::InvalidContainer,
    Reason::OriginMismatch,
    Reason::TlsInvalid,
    Reason::FrameNotTop,
    Reason::WrongDestination,
    Reason::UnplannedEffect,
    Reason::CrossOriginFlow,
    Reason::FieldNotAllowed,
    Reason::ClaimMismatch,
    Reason::StaleDocument,
    Reason::LowSafety,
    Reason::ConsentDenied,
    Reason::ConsentExpired,
    Reason::BudgetSpent,
    Reason::TaintedSession,
    Reason::SessionRule,
    Reason::EgressBlocked,
    Reason::MalformedRequest,
    Reason::AuditUnavailable,
    Reason::SiteDenied,
    Reason::DeliveryForbidden,
    Reason::Occluded,
    Reason::NoValue,
    Reason::VaultLocked,
    Reason::PaymentDeclined,
    Reason::NoPaymentInterface,
    Reason::TakenOver,
    Reason::NotApplicable,
    Reason::PageUnreachable,
    Reason::BrowserLost,
    Reason::Unconfirmed,
];

const SIGNALS: [Signal; 12] = [
    Signal::Origin,
    Signal::TopOrigin,
    Signal::Tls,
    Signal::Container,
    Signal::Frame,
    Signal::Document,
    Signal::Destination,
    Signal::Sink,
    Signal::Visibility,
    Signal::Safety,
    Signal::Flow,
    Signal::Amount,
];

/// Every reason with its code.
pub(super) fn reasons() -> impl Iterator<Item = (String, Reason)> {
    let all = REASONS.into_iter().chain(SIGNALS.map(Reason::SignalUnknown));
    all.map(|reason| (reason.code(), reason))
}

pub(super) fn scope(scope: ConsentScope) -> &'static str {
    SCOPES.iter().find(|(known, _)| *known == scope).map_or("", |(_, word)| word)
}

/// The word of a way; a verb, which delivers nothing, has an empty one.
pub(super) fn way(way: Option<Delivery>) -> &'static str {
    way.map_or("", Delivery::as_str)
}

/// The two words of a start: the event, and what a request of it needs. A verb needs nothing.
pub(super) fn start(root: Root) -> (&'static str, &'static str) {
    match root {
        Root::Request(kind, need) => (kind.as_str(), Tier::as_str(need)),
        Root::Verb(verb) => (verb.as_str(), ""),
    }
}
