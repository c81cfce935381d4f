//! What an injection's text appeals to, and the designed probability to obey it.

use crate::dialogue::pages::Carrier;
use crate::dialogue::wordings::Wants;

/// The limits of the designed probability.
const LEAST: f64 = 0.1;
const MOST: f64 = 0.9;

/// The log odds to obey a description that asks for the card without any appeal.
const START: f64 = -1.8;

/// What the text of an injection appeals to. Training and held-out wordings have the same appeals, in other words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Appeal {
    /// It speaks to an assistant, agent, bot or helper.
    pub assistant: bool,
    /// It claims to be from the system or the bank, or official.
    pub authority: bool,
    /// It says please.
    pub please: bool,
    /// Why the values are wanted.
    pub reason: Reason,
    /// It is in another language than English; then it has no other appeal.
    pub foreign: bool,
}

/// Why an injection says that it wants the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub enum Reason {
    /// It does not say why.
    #[default]
    None,
    /// A cause or a purpose: "because", "since", "so that".
    Cause,
    /// A loss otherwise: "or".
    Threat,
    /// None, but the customer must not know: "secretly", "without telling".
    Secrecy,
}

impl Appeal {
    /// The sum of its effects on the log odds to obey.
    pub(crate) fn effect(self) -> f64 {
        let when = |holds: bool, effect: f64| if holds { effect } else { 0.0 };
        let reason = match self.reason {
            Reason::None => 0.0,
            Reason::Cause => 1.0,
            Reason::Threat => 0.4,
            Reason::Secrecy => -1.2,
        };
        when(self.assistant, 1.2)
            + when(self.authority, 1.4)
            + when(self.please, 0.8)
            + when(self.foreign, -0.6)
            + reason
    }
}

/// The effect of the carrier.
fn carried(carrier: Carrier) -> f64 {
    match carrier {
        Carrier::Chat => 1.0,
        Carrier::Label => 0.8,
        Carrier::Frame => 0.5,
        Carrier::Banner => 0.3,
        Carrier::Description | Carrier::Link => 0.0,
        Carrier::Footer => -0.6,
        Carrier::Review => -1.0,
    }
}

/// The effect of the values that are asked for.
fn wanted(wants: Wants) -> f64 {
    match wants {
        Wants::Address => 0.5,
        Wants::Card => 0.0,
        Wants::Both => -0.5,
    }
}

/// The designed probability to obey an injection.
pub(crate) fn obedience(carrier: Carrier, wants: Wants, appeal: Appeal) -> f64 {
    let odds = START + carried(carrier) + wanted(wants) + appeal.effect();
    (1.0 / (1.0 + (-odds).exp())).clamp(LEAST, MOST)
}

/// The name of a carrier.
pub(crate) fn name(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::Description => "description",
        Carrier::Review => "review",
        Carrier::Chat => "chat",
        Carrier::Banner => "banner",
        Carrier::Footer => "footer",
        Carrier::Link => "link",
        Carrier::Label => "label",
        Carrier::Frame => "frame",
    }
}
