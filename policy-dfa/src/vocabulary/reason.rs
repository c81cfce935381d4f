//! The closed list of reasons to deny, each explained in `spec/reasons.md`. Their words are in [`super::reason_words`].

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The reason of a denial, which means one thing. The model gets the code and what it can do next; the user gets the
/// explanation, and the record the name. Reasons that tell something of the vault share one code.
///
/// It is stored by its name, which is not for a model: [`Reason::code`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// The container is below what the fields need.
    InvalidContainer,
    /// Nobody could be asked: no channel to the user is open.
    NobodyToAsk,
    /// The page's origin is not one of the task's.
    OriginMismatch,
    /// An address outside the task's origins would be opened.
    OutsideTask,
    /// The connection is not protected by a valid certificate.
    TlsInvalid,
    /// The document is not the top frame's.
    FrameNotTop,
    /// The form goes to an origin that the task does not allow, or the page diverted it.
    WrongDestination,
    /// The task does not include this kind of request.
    UnplannedRequest,
    /// The policy has no rule for this verb.
    VerbNotAllowed,
    /// The policy does not let the agent act in a form of this kind.
    FormProtected,
    /// The guard filled this control, which changes by grants only.
    ControlFilled,
    /// The agent's actions, or its words together, are more than a question can show.
    TooMuchToShow,
    /// One text of the agent is longer than a question can show.
    TextTooLong,
    /// A tool was called that is not switched on.
    ToolNotAllowed,
    /// Text that was read at one origin would be sent to another.
    CrossOriginFlow,
    /// The policy does not release this data into a form of this kind.
    FieldNotAllowed,
    /// The page shows no form.
    NoForm,
    /// The form has no suitable control for a field.
    NoControl,
    /// The agent points at a control that is not for the field, or that its word is not enough for.
    ControlMismatch,
    /// The model's claim contradicts the browser.
    ClaimMismatch,
    /// The document changed between the decision and its execution.
    StaleDocument,
    /// No element of the last read has this name.
    UnknownElement,
    /// A needed signal is unknown.
    SignalUnknown(Signal),
    /// The safety of what the agent was told is below the threshold.
    LowSafety,
    /// The user refused.
    ConsentDenied,
    /// The user's consent expired.
    ConsentExpired,
    /// The amount is more than the task or the session may spend.
    BudgetSpent,
    /// A kind or verb occurred as often as the policy allows.
    LimitReached,
    /// The user was asked as often as is allowed.
    QuestionsSpent,
    /// The session was tainted by a suspected injection.
    TaintedSession,
    /// A rule about an earlier event of the session bars it.
    SessionRule,
    /// Something that goes out carries protected data, or could.
    EgressBlocked,
    /// The agent's text contains a value of the vault, or completes one. To the agent: as [`Reason::EgressBlocked`].
    ValueInText,
    /// The agent's text has the handle of a record, such as `[card:personal]`, where a value should stand.
    HandleInText,
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
    /// The vault has no value that can be given here.
    NoValue,
    /// The stored value does not say what a control asks for. To the agent: as [`Reason::NoValue`].
    ValueUnderivable,
    /// The stored value is damaged. To the agent: as [`Reason::NoValue`].
    ValueDamaged,
    /// The vault is locked.
    VaultLocked,
    /// The form's own rules leave no password that the guard can make for it.
    PasswordRules,
    /// A new password could not be kept in the vault's file, so none was given to the page.
    PasswordNotKept,
    /// The bank or the shop refused the payment.
    PaymentDeclined,
    /// Another payment has not ended.
    PaymentPending,
    /// The shop did not ask the browser's payment interface.
    NoPaymentInterface,
    /// The shop takes no orders by a protocol that the guard speaks.
    NoOrders,
    /// The shop does not sell the order by its own protocol: an item is not there, or it wants something that the guard cannot give.
    CheckoutRefused,
    /// The checkout that the shop stated is not the one that was wanted or agreed to, or cannot be compared with it.
    CheckoutDiffers,
    /// The shop does not answer a call of an order.
    CheckoutUnanswered,
    /// The shop wants a person to go on with the order in a page of its own.
    CheckoutEscalated,
    /// The page, as it was last read, has no button that pays.
    NoPayButton,
    /// The guard has no payment handler.
    NoPaymentHandler,
    /// The user took over, which ends the assistant's part of the task.
    TakenOver,
    /// The element does not support the action.
    NotApplicable,
    /// The browser does not send the form as it is filled in.
    FormIncomplete,
    /// An address that is no ordinary web address.
    AddressRefused,
    /// A host of this machine or of a private network.
    PrivateHost,
    /// A port that web servers do not use.
    PortRefused,
    /// Going back would send a form again.
    SentAgain,
    /// The site's certificate is not valid, so nothing was loaded.
    CertificateInvalid,
    /// No encrypted connection could be made.
    TlsFailed,
    /// The host's name has no address.
    NameNotFound,
    /// The page could not be loaded.
    PageUnreachable,
    /// The browser did not answer in time.
    BrowserTimeout,
    /// The browser refused a command.
    BrowserError,
    /// The browser closed or stopped answering.
    BrowserLost,
    /// The values were sent to the page, but the outcome is unknown.
    Unconfirmed,
    /// A dialog of the page waits for an answer.
    DialogOpen,
    /// A script of the agent's ran in the container.
    ScriptRan,
    /// The agent would drag something in a container with values of the user's.
    DragAfterRelease,
    /// The one-time code of this step was given already, or the step is about to end.
    CodeUsed,
    /// The vault could not note that a one-time code is given.
    CodeNotKept,
    /// The user's password manager does not run, is locked, refuses or does not answer. To the agent: as [`Reason::NoValue`].
    SourceUnavailable,
}

/// The signals that deny when they are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
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
    pub const ALL: [Reason; 87] = [
        Reason::InvalidContainer,
        Reason::NobodyToAsk,
        Reason::OriginMismatch,
        Reason::OutsideTask,
        Reason::TlsInvalid,
        Reason::FrameNotTop,
        Reason::WrongDestination,
        Reason::UnplannedRequest,
        Reason::VerbNotAllowed,
        Reason::FormProtected,
        Reason::ControlFilled,
        Reason::TooMuchToShow,
        Reason::TextTooLong,
        Reason::ToolNotAllowed,
        Reason::CrossOriginFlow,
        Reason::FieldNotAllowed,
        Reason::NoForm,
        Reason::NoControl,
        Reason::ControlMismatch,
        Reason::ClaimMismatch,
        Reason::StaleDocument,
        Reason::UnknownElement,
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
        Reason::LimitReached,
        Reason::QuestionsSpent,
        Reason::TaintedSession,
        Reason::SessionRule,
        Reason::EgressBlocked,
        Reason::ValueInText,
        Reason::HandleInText,
        Reason::MalformedRequest,
        Reason::AuditUnavailable,
        Reason::SiteDenied,
        Reason::DeliveryForbidden,
        Reason::Occluded,
        Reason::NoValue,
        Reason::ValueUnderivable,
        Reason::ValueDamaged,
        Reason::VaultLocked,
        Reason::PasswordRules,
        Reason::PasswordNotKept,
        Reason::PaymentDeclined,
        Reason::PaymentPending,
        Reason::NoPaymentInterface,
        Reason::NoOrders,
        Reason::CheckoutRefused,
        Reason::CheckoutDiffers,
        Reason::CheckoutUnanswered,
        Reason::CheckoutEscalated,
        Reason::NoPayButton,
        Reason::NoPaymentHandler,
        Reason::TakenOver,
        Reason::NotApplicable,
        Reason::FormIncomplete,
        Reason::AddressRefused,
        Reason::PrivateHost,
        Reason::PortRefused,
        Reason::SentAgain,
        Reason::CertificateInvalid,
        Reason::TlsFailed,
        Reason::NameNotFound,
        Reason::PageUnreachable,
        Reason::BrowserTimeout,
        Reason::BrowserError,
        Reason::BrowserLost,
        Reason::Unconfirmed,
        Reason::DialogOpen,
        Reason::ScriptRan,
        Reason::DragAfterRelease,
        Reason::CodeUsed,
        Reason::CodeNotKept,
        Reason::SourceUnavailable,
    ];
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Reason, D::Error> {
        let name = String::deserialize(deserializer)?;
        Reason::from_name(&name)
            .ok_or_else(|| D::Error::custom(format!("`{name}` is no reason; spec/reasons.md lists them")))
    }
}
