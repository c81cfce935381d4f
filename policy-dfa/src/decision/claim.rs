//! What a request claims about its page, against what the browser says.

use browser_signals::{Container, Origin, Sink, Snapshot, TlsState};
use sirl::{Claim, Tier};

use crate::vocabulary::alphabet::symbol;

/// Whether the browser confirms every claim. It does not confirm a claim that is no origin, or one about a fact that it
/// does not know.
pub(super) fn claim(claim: &Claim, page: Option<&Snapshot>, amount: Option<sirl::Money>) -> symbol::Claim {
    let same_origin = |claimed: &Option<String>, seen: Option<&Origin>| match claimed {
        None => true,
        Some(text) => seen.is_some_and(|origin| origin.is_written_as(text)),
    };
    let agrees = same_origin(&claim.origin, page.and_then(|page| page.origin.known()))
        && same_origin(&claim.top_origin, page.and_then(|page| page.top_origin.known()))
        && claim
            .container
            .is_none_or(|tier| page.and_then(|p| p.container.known()).copied() == Some(container_of(tier)))
        && claim.tls.is_none_or(|secure| {
            page.and_then(|page| page.tls.known()).is_some_and(|state| (*state == TlsState::Valid) == secure)
        })
        && claim.sink.as_deref().is_none_or(|word| {
            let seen = page.and_then(|page| page.sink.known()).copied();
            sink_named(word).is_some_and(|claimed| seen == Some(claimed))
        })
        && claim.total.is_none_or(|total| amount == Some(total));
    if agrees { symbol::Claim::Agrees } else { symbol::Claim::Contradicts }
}

const fn container_of(tier: Tier) -> Container {
    match tier {
        Tier::T0 => Container::T0,
        Tier::T1 => Container::T1,
        Tier::T2 => Container::T2,
    }
}

/// The sink that a claim names.
fn sink_named(word: &str) -> Option<Sink> {
    match word {
        "payment" | "payment_form" | "payment form" => Some(Sink::PaymentForm),
        "address" | "address_form" | "address form" => Some(Sink::AddressForm),
        "login" | "login_form" | "login form" => Some(Sink::LoginForm),
        "free_text" | "free text" => Some(Sink::FreeText),
        "other" => Some(Sink::Other),
        _ => None,
    }
}
