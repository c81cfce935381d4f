//! The closed list of reasons to deny, each explained in `spec/reasons.md`.

/// The reason of a denial. The model gets the code, the user gets the explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The container is below what the fields need.
    InvalidContainer,
    /// The page's origin is not one of the task's.
    OriginMismatch,
    /// The connection is not protected by a valid certificate.
    TlsInvalid,
    /// The document is not the top frame's.
    FrameNotTop,
    /// The form goes to an origin that the task does not allow.
    WrongDestination,
    /// A verb would have an effect that the task does not include.
    UnplannedEffect,
    /// Text that was read at one origin would be sent to another.
    CrossOriginFlow,
    /// The kind does not have this field, or the page has no control for it.
    FieldNotAllowed,
    /// The model's claim contradicts the browser.
    ClaimMismatch,
    /// The document changed between the decision and its execution.
    StaleDocument,
    /// A needed signal is unknown.
    SignalUnknown(Signal),
    /// The safety of what the agent was told is below the threshold.
    LowSafety,
    /// The user refused.
    ConsentDenied,
    /// The user's consent expired.
    ConsentExpired,
    /// A budget of the session or the task is spent.
    BudgetSpent,
    /// The session was tainted by a suspected injection.
    TaintedSession,
    /// A rule about an earlier event of the session bars it.
    SessionRule,
    /// Outgoing text carries protected data.
    EgressBlocked,
    /// The request could not be read.
    MalformedRequest,
    /// The audit record cannot be written.
    AuditUnavailable,
    /// The policy never allows this on this site.
    SiteDenied,
    /// The policy does not allow this delivery.
    DeliveryForbidden,
    /// The control is covered or not visible.
    Occluded,
    /// The vault has no such value.
    NoValue,
    /// The vault is locked.
    VaultLocked,
    /// The bank or the shop refused the payment.
    PaymentDeclined,
    /// The shop did not ask the browser's payment interface.
    NoPaymentInterface,
    /// The user took over, which ends the assistant's part of the task.
    TakenOver,
    /// The element does not support the action.
    NotApplicable,
    /// The page could not be loaded.
    PageUnreachable,
    /// The browser closed or stopped answering.
    BrowserLost,
    /// The values were sent to the page, but the outcome is unknown.
    Unconfirmed,
}

/// The signals that deny when they are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signal {
    /// The page's origin.
    Origin,
    /// The top frame's origin.
    TopOrigin,
    /// The connection's state.
    Tls,
    /// The container's tier.
    Container,
    /// The frame's ancestors.
    Frame,
    /// The loaded document.
    Document,
    /// The destination of the form.
    Destination,
    /// The purpose of the form.
    Sink,
    /// Whether the control can be seen and hit.
    Visibility,
    /// The safety score.
    Safety,
    /// Whether the text was read at another origin.
    Flow,
    /// The amount to pay.
    Amount,
}

impl Signal {
    /// The name of the signal in a reason code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Signal::Origin => "origin",
            Signal::TopOrigin => "top_origin",
            Signal::Tls => "tls",
            Signal::Container => "container",
            Signal::Frame => "frame",
            Signal::Document => "document",
            Signal::Destination => "destination",
            Signal::Sink => "sink",
            Signal::Visibility => "visibility",
            Signal::Safety => "safety",
            Signal::Flow => "flow",
            Signal::Amount => "amount",
        }
    }
}

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

    /// The code the model reads, such as `invalid_container` or `signal_unknown:tls`.
    pub fn code(self) -> String {
        let word = match self {
            Reason::InvalidContainer => "invalid_container",
            Reason::OriginMismatch => "origin_mismatch",
            Reason::TlsInvalid => "tls_invalid",
            Reason::FrameNotTop => "frame_not_top",
            Reason::WrongDestination => "wrong_destination",
            Reason::UnplannedEffect => "unplanned_effect",
            Reason::CrossOriginFlow => "cross_origin_flow",
            Reason::FieldNotAllowed => "field_not_allowed",
            Reason::ClaimMismatch => "claim_mismatch",
            Reason::StaleDocument => "stale_document",
            Reason::SignalUnknown(signal) => return format!("signal_unknown:{}", signal.as_str()),
            Reason::LowSafety => "low_safety",
            Reason::ConsentDenied => "consent_denied",
            Reason::ConsentExpired => "consent_expired",
            Reason::BudgetSpent => "budget_spent",
            Reason::TaintedSession => "tainted_session",
            Reason::SessionRule => "session_rule",
            Reason::EgressBlocked => "egress_blocked",
            Reason::MalformedRequest => "malformed_request",
            Reason::AuditUnavailable => "audit_unavailable",
            Reason::SiteDenied => "site_denied",
            Reason::DeliveryForbidden => "delivery_forbidden",
            Reason::Occluded => "occluded",
            Reason::NoValue => "no_value",
            Reason::VaultLocked => "vault_locked",
            Reason::PaymentDeclined => "payment_declined",
            Reason::NoPaymentInterface => "no_payment_interface",
            Reason::TakenOver => "taken_over",
            Reason::NotApplicable => "not_applicable",
            Reason::PageUnreachable => "page_unreachable",
            Reason::BrowserLost => "browser_lost",
            Reason::Unconfirmed => "unconfirmed",
        };
        word.to_owned()
    }

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
            Reason::LowSafety => {
                "Something that the assistant was told in this task does not look safe enough for the data that was asked for."
            }
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
        Signal::Safety => {
            "Nobody judged how safe what the assistant was told is, and your policy asks for it."
        }
        Signal::Flow => "It is unclear where the text was read that the assistant wants to send.",
        Signal::Amount => "It is unclear how much would be paid.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_in_the_specification_with_its_explanation() {
        let text = include_str!("../../../spec/reasons.md");
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
