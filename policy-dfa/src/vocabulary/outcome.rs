//! The outcomes of a decision.

use super::alphabet::Axis;
use super::reason::Reason;

/// How a value leaves the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Delivery {
    /// Into controls of the page.
    Fill,
    /// Into one outgoing request.
    Wire,
    /// By the guard's own checkout.
    PaymentApi,
    /// To the language model.
    Model,
    /// By an order that the guard places at the shop's own endpoint.
    Ucp,
}

impl Delivery {
    /// Every delivery.
    pub const ALL: [Delivery; 5] =
        [Delivery::Fill, Delivery::Wire, Delivery::PaymentApi, Delivery::Model, Delivery::Ucp];

    /// The name used in policies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Delivery::Fill => "fill",
            Delivery::Wire => "wire",
            Delivery::PaymentApi => "payment_api",
            Delivery::Model => "model",
            Delivery::Ucp => "ucp",
        }
    }

    /// The delivery with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Delivery> {
        Delivery::ALL.into_iter().find(|delivery| delivery.as_str() == name)
    }
}

/// How long an answer of the user holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConsentScope {
    /// For this one use.
    EveryTime,
    /// For this task, on the site where it was given.
    Session,
    /// On this site, in later sessions too, until the user revokes it.
    Site,
}

impl ConsentScope {
    pub(crate) const ALL: [ConsentScope; 3] =
        [ConsentScope::EveryTime, ConsentScope::Session, ConsentScope::Site];

    /// How often the user is asked, in the words of the policy language.
    pub(crate) const fn how_often(self) -> &'static str {
        match self {
            ConsentScope::EveryTime => "every time",
            ConsentScope::Session => "once per session",
            ConsentScope::Site => "once per site",
        }
    }
}

/// The end of a walk through the automaton. Outcomes of different guards are never merged, so that each denial
/// has its own reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Refused by the guard that reads this axis.
    Deny(Axis, Reason),
    /// The user must be asked.
    Ask(ConsentScope),
    /// Granted: a release by this delivery, or, with none, a verb.
    Grant(Option<Delivery>),
}

impl Outcome {
    /// Whether the event happens, now or after the user agrees.
    pub(crate) fn permits(self) -> bool {
        !matches!(self, Outcome::Deny(..))
    }
}
