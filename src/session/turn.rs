//! What the state machine has its driver do, and what the driver tells it.

use browser_signals::{ElementRef, Observed, Origin, SealedFill, SealedWire, Snapshot, Verb};
use classifier::Safety;
use policy_dfa::Reason;
use sirl::Money;
use vault::SealedCard;

use crate::action::Action;
use crate::audit::AuditEvent;
use crate::consent::{Answered, ConsentPrompt, HandOver, HandedOver};

/// What to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// The top document.
    Page,
    /// One element.
    Element(ElementRef),
    /// Every form of every frame.
    Forms,
}

/// A purchase to be carried out.
pub struct Payment {
    /// The card, sealed.
    pub card: SealedCard,
    /// Who is paid.
    pub payee: Origin,
    /// How much, exactly.
    pub amount: Money,
    /// The shop's button that starts the payment.
    pub button: ElementRef,
    /// The page that it was decided on.
    pub decided: Box<Observed<Snapshot>>,
}

/// A page as the model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The scrubbed text.
    pub text: String,
    /// The top origin.
    pub origin: Option<Origin>,
    /// How safe the page is, where somebody judges.
    pub safety: Option<Safety>,
}

/// What the driver is to do.
pub enum Command {
    /// Write records; with `sync`, to disk.
    Record {
        /// The records.
        events: Vec<AuditEvent>,
        /// Whether they must be on disk.
        sync: bool,
    },
    /// Ask the user.
    Ask(Box<ConsentPrompt>),
    /// Ask the user for a card's security code, for the payment that the prompt agreed to, and put it into the
    /// vault for the task.
    AskCode {
        /// The card's record.
        card: String,
        /// The prompt.
        prompt: Box<ConsentPrompt>,
    },
    /// Offer the user to go on by hand, and wait until they have.
    HandOver(Box<HandOver>),
    /// Read the page for the model.
    Read,
    /// Look at the page for a decision.
    Look(Look),
    /// Carry out a verb.
    Do {
        /// The verb.
        verb: Verb,
        /// The page that it was decided on.
        decided: Option<Box<Observed<Snapshot>>>,
    },
    /// Leave the container these ways out and no other: a value is told to the model next.
    Narrow(Vec<Origin>),
    /// Fill a form.
    Fill(SealedFill),
    /// Put the placeholders of a wire into a form.
    Wire(SealedWire),
    /// Pay.
    Pay(Box<Payment>),
    /// Answer the agent: the action is over.
    Answer(String),
}

/// What happened.
pub enum Event {
    /// The agent acts.
    Act(Action),
    /// Records were written, or not.
    Recorded(bool),
    /// The user answered, or let the prompt run out.
    Answered(Answered),
    /// The security code was given and is in the vault, or was not given.
    CodeAsked,
    /// An offer to go on by hand ended.
    HandedOver(HandedOver),
    /// The page was read.
    Text(Result<Told, Reason>),
    /// The page was looked at: one snapshot for a page or an element, one a form for forms.
    Seen(Result<Vec<Observed<Snapshot>>, Reason>),
    /// A verb, fill or payment ended, or a wire's placeholders stand.
    Done(Result<(), Reason>),
}
