//! The closed list of reasons to deny, each explained in `spec/reasons.md`.

/// Why something was refused. The model gets the code, the user gets the explanation.
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
    /// The form goes somewhere else than the task allows.
    WrongDestination,
    /// A verb would have an effect that the task did not plan.
    UnplannedEffect,
    /// Something read at one origin would be carried to another.
    CrossOriginFlow,
    /// The kind does not have this field, or the page has no control for it.
    FieldNotAllowed,
    /// The model's claim contradicts the browser.
    ClaimMismatch,
    /// The document changed between the decision and its execution.
    StaleDocument,
    /// A needed signal is unknown.
    SignalUnknown(Signal),
    /// The page is not judged safe enough.
    LowSafety,
    /// The user said no.
    ConsentDenied,
    /// The user's consent ran out.
    ConsentExpired,
    /// A budget of the session or the task is spent.
    BudgetSpent,
    /// The session was tainted by a suspected injection.
    TaintedSession,
    /// An earlier event of the session rules it out.
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
    /// The user went on by hand, and the assistant's part of the task is over.
    TakenOver,
    /// The element does not take what was to be done with it.
    NotApplicable,
    /// The page could not be loaded.
    PageUnreachable,
    /// The browser went away.
    BrowserLost,
    /// The values went, and the browser did not say how that ended.
    Unconfirmed,
}

/// The signals whose absence denies.
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
    /// Where the form goes.
    Destination,
    /// What the form is for.
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
    /// The signal's name in a reason code.
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
}
