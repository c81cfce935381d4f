//! The reasons in plain words, for the user.

use crate::Reason;
use crate::reason::Signal;

impl Reason {
    /// Every reason, each signal's included, in the order of `spec/reasons.md`.
    pub const ALL: [Reason; 43] = [
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
        Reason::SignalUnknown(Signal::Origin),
        Reason::SignalUnknown(Signal::TopOrigin),
        Reason::SignalUnknown(Signal::Tls),
        Reason::SignalUnknown(Signal::Container),
        Reason::SignalUnknown(Signal::Frame),
        Reason::SignalUnknown(Signal::Document),
        Reason::SignalUnknown(Signal::Destination),
        Reason::SignalUnknown(Signal::Sink),
        Reason::SignalUnknown(Signal::Visibility),
        Reason::SignalUnknown(Signal::Safety),
        Reason::SignalUnknown(Signal::Flow),
        Reason::SignalUnknown(Signal::Amount),
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

    /// One sentence for the user. Never shown to the model, which gets the code only.
    ///
    /// ```
    /// use policy_dfa::Reason;
    /// assert!(Reason::TlsInvalid.explain().ends_with('.'));
    /// ```
    pub const fn explain(self) -> &'static str {
        match self {
            Reason::InvalidContainer => {
                "This browser container is not trusted enough for the data that was asked for; you can raise it."
            }
            Reason::OriginMismatch => "The page is not on a site that you named for this task.",
            Reason::TlsInvalid => "The connection is not encrypted with a valid certificate.",
            Reason::FrameNotTop => {
                "The form is inside a frame of another page, where you could not tell whose it is."
            }
            Reason::WrongDestination => {
                "The form would send your data to a site that you did not name for this task."
            }
            Reason::UnplannedEffect => "The assistant tried to do something that this task does not include.",
            Reason::CrossOriginFlow => "The assistant tried to carry what it read on one site to another.",
            Reason::FieldNotAllowed => {
                "This kind of request does not include that data, or the page has no suitable control for it."
            }
            Reason::ClaimMismatch => "What the assistant says of the page is not what the browser says.",
            Reason::StaleDocument => "The page changed between the decision and its execution.",
            Reason::SignalUnknown(signal) => unknown(signal),
            Reason::LowSafety => "The page does not look safe enough for the data that was asked for.",
            Reason::ConsentDenied => "You said no.",
            Reason::ConsentExpired => "Your permission ran out before it was used.",
            Reason::BudgetSpent => {
                "The money, the purchases or the questions that you allowed for this task are used up."
            }
            Reason::TaintedSession => {
                "A page may have tried to take over the assistant; sensitive data stays locked until a new task."
            }
            Reason::SessionRule => "Your policy rules this out after what happened earlier in this session.",
            Reason::EgressBlocked => "The outgoing text contains protected data.",
            Reason::MalformedRequest => "The assistant's request could not be read.",
            Reason::AuditUnavailable => "The audit log cannot be written, so nothing is released.",
            Reason::SiteDenied => "Your policy never allows this on this site.",
            Reason::DeliveryForbidden => {
                "Your policy does not allow this kind of data to be handed over in this way."
            }
            Reason::Occluded => "The control is hidden, or something covers it.",
            Reason::NoValue => "The vault has no value for this.",
            Reason::VaultLocked => "The vault is locked.",
            Reason::PaymentDeclined => "The bank or the shop refused the payment.",
            Reason::NoPaymentInterface => {
                "The shop does not ask your browser for the payment, so nothing was paid and no card was given."
            }
            Reason::TakenOver => {
                "The page was yours to finish by hand; the assistant does nothing more in this task."
            }
            Reason::NotApplicable => {
                "The element does not take this: there is no such option, key or form, or the form refuses what stands in it."
            }
            Reason::PageUnreachable => "The page could not be loaded: nobody answers at its address.",
            Reason::BrowserLost => "The browser closed or stopped answering.",
            Reason::Unconfirmed => {
                "The data was on its way into the page when the browser stopped answering; take it as given to the site."
            }
        }
    }
}

const fn unknown(signal: Signal) -> &'static str {
    match signal {
        Signal::Origin => "The browser could not say which site the page belongs to.",
        Signal::TopOrigin => "The browser could not say which site the window shows.",
        Signal::Tls => "The browser could not say whether the connection is secure.",
        Signal::Container => "It is unclear which container the page is in, or it is above what you allowed.",
        Signal::Frame => {
            "The browser could not say which pages the form is embedded in, or contradicted itself."
        }
        Signal::Document => "The browser could not say which document is loaded.",
        Signal::Destination => "The browser could not say where the form would send your data.",
        Signal::Sink => "It is unclear what the form is for.",
        Signal::Visibility => "The browser could not say whether the control can be seen and clicked.",
        Signal::Safety => "Nobody judged how safe the page is, and your policy asks for it.",
        Signal::Flow => "It is unclear where the text was read that the assistant wants to send.",
        Signal::Amount => "It is unclear how much would be paid.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_in_the_specification_with_its_explanation() {
        let text = include_str!("../../spec/reasons.md");
        for reason in Reason::ALL {
            let line = format!("| `{}` | {} |", reason.code(), reason.explain());
            assert!(text.contains(&line), "missing in spec/reasons.md:\n{line}");
        }
        let rows = text.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows, Reason::ALL.len());
    }

    #[test]
    fn codes_and_explanations_are_distinct() {
        let codes: std::collections::HashSet<_> = Reason::ALL.map(Reason::code).into_iter().collect();
        let texts: std::collections::HashSet<_> = Reason::ALL.map(Reason::explain).into_iter().collect();
        assert_eq!((codes.len(), texts.len()), (Reason::ALL.len(), Reason::ALL.len()));
    }
}
