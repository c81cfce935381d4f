//! Looks and verbs in a tab of the guard's browser.

use browser_signals::playwright::{About, BridgeError, Tab};
use browser_signals::{Observed, Snapshot, Verb};
use policy_dfa::Reason;
use url::Url;

use crate::session::core::Look;

/// Observes the part of the page that a verb or a request is about.
pub(crate) async fn look(tab: &Tab, look: Look) -> Result<Vec<Observed<Snapshot>>, BridgeError> {
    match look {
        Look::Page => Ok(vec![tab.observe(About::Page).await?]),
        Look::Element(target) => Ok(vec![tab.observe(About::Element(&target)).await?]),
        Look::Forms => tab.forms().await,
    }
}

/// Carries a verb out, on the page of its decision.
pub(crate) async fn carry_out(
    tab: &Tab,
    verb: Verb,
    decided: Option<&Observed<Snapshot>>,
) -> Result<(), BridgeError> {
    match (verb, decided) {
        (Verb::Open { url }, _) => {
            let url = Url::parse(&url).map_err(|_| BridgeError::Stale)?;
            tab.open(&url).await
        }
        (Verb::Click { target }, Some(decided)) => tab.click(&target, decided).await,
        (Verb::Hover { target }, Some(decided)) => tab.hover(&target, decided).await,
        (Verb::Type { target, text }, Some(decided)) => tab.type_text(&target, &text, decided).await,
        (Verb::Select { target, option }, Some(decided)) => tab.select(&target, &option, decided).await,
        (Verb::Check { target, on }, Some(decided)) => tab.check(&target, on, decided).await,
        (Verb::Submit { target }, Some(decided)) => tab.submit(&target, decided).await,
        (Verb::Press { key }, _) => tab.press(&key).await,
        (Verb::Wait { milliseconds }, _) => {
            tab.wait(milliseconds).await;
            Ok(())
        }
        (Verb::Back, _) => tab.back().await,
        (_, _) => Err(BridgeError::Stale),
    }
}

/// The reason of a failure of the bridge.
pub(crate) fn reason_of(error: &BridgeError) -> Reason {
    match error {
        BridgeError::Stale | BridgeError::UnknownRef => Reason::StaleDocument,
        BridgeError::Occluded => Reason::Occluded,
        BridgeError::Diverted => Reason::WrongDestination,
        BridgeError::Refused(_) => Reason::UnplannedEffect,
        BridgeError::TextWithheld => Reason::EgressBlocked,
        BridgeError::NotApplicable => Reason::NotApplicable,
        BridgeError::Unreachable => Reason::PageUnreachable,
        BridgeError::Unconfirmed => Reason::Unconfirmed,
        _ => Reason::BrowserLost,
    }
}
