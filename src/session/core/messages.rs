//! Messages between the state machine and its driver: commands, events, and their contents.

use std::borrow::Cow;

use browser_signals::key::selects_all;
use browser_signals::outline::quoted;
use browser_signals::{
    Destination, ElementRef, Observed, Origin, SealedFill, SealedWire, Snapshot, TypeManner, Verb, WritingKey,
};
use checkout_protocols::Bought;
use classifier::Safety;
use policy_dfa::Reason;
use sirl::Money;
use vault::SealedCard;
use vault::sources::Wanted;

use super::order_state::OrderCommand;
use crate::action::Action;
use crate::audit::AuditEvent;
use crate::consent::{Answered, AskedCode, ConsentPrompt, HandOver, HandedOver, SeenOffer};
use crate::guard::record_choices::{RivalRecords, Unreached};
use crate::guard::sources::FetchReport;
use crate::orders::OrderFailure;
use crate::session::outcome::ActionOutcome;

/// The part of the page that the driver looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// The top document.
    Page,
    /// One element.
    Element(ElementRef),
    /// The element with the focus, or the top document where none has it.
    Focus,
    /// The text box with the focus, for a key that changes its text. [`Event::KeySeen`] answers it.
    Key(WritingKey),
    /// Every form of every frame.
    Forms,
}

impl Look {
    /// The look at the target of a verb.
    pub(crate) fn for_verb(verb: &Verb) -> Look {
        match verb {
            Verb::Click { target, .. }
            | Verb::Hover { target }
            | Verb::Drag { target, .. }
            | Verb::Type { target, .. }
            | Verb::Select { target, .. }
            | Verb::Check { target, .. }
            | Verb::Submit { target } => Look::Element(target.clone()),
            Verb::Press { key } if key == "Enter" || selects_all(key) => Look::Focus,
            Verb::Press { key } => WritingKey::named(key).map_or(Look::Page, Look::Key),
            _ => Look::Page,
        }
    }
}

/// The text box that a key goes to.
pub struct KeyTarget {
    /// The box.
    pub target: ElementRef,
    /// Its whole text after the key.
    pub text: String,
    /// The box and its page.
    pub page: Observed<Snapshot>,
}

impl KeyTarget {
    /// The key as the typing of the text that it leads to, and the page that it is decided on.
    pub(crate) fn typing(self, key: WritingKey) -> (Verb, Observed<Snapshot>) {
        let KeyTarget { target, text, page } = self;
        (Verb::Type { target, text, manner: TypeManner::Key(key) }, page)
    }
}

/// A purchase to carry out.
pub struct Payment {
    /// The card, sealed.
    pub card: SealedCard,
    /// The payee.
    pub payee: Origin,
    /// The exact amount.
    pub amount: Money,
    /// The shop's button that starts the payment.
    pub button: ElementRef,
    /// The page of the decision.
    pub decided: Box<Observed<Snapshot>>,
}

/// A page as it is rendered for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedPage {
    /// The scrubbed text.
    pub text: String,
    /// The agent's own texts that the lines of controls repeat in it.
    pub typed: Vec<String>,
    /// The top origin.
    pub origin: Option<Origin>,
    /// The safety of the text, where a judge is set.
    pub safety: Option<Safety>,
    /// The button that starts a payment, if the page has one.
    pub pay_button: Option<ElementRef>,
}

/// A page's text without the agent's own texts, which are not read at the page's origin. The page's words cannot end a line like that:
/// quotes in them are escaped.
pub(super) fn without_typed<'a>(text: &'a str, typed: &[String]) -> Cow<'a, str> {
    if typed.is_empty() {
        return Cow::Borrowed(text);
    }
    let ends: Vec<String> = typed.iter().map(|typed| format!("]: {}", quoted(typed))).collect();
    let lines = text.lines().map(|line| {
        let end = ends.iter().find_map(|end| line.rfind(end.as_str()));
        end.and_then(|end| line.get(..end)).unwrap_or(line)
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// A command to the driver that needs no browser.
pub enum GuardCommand {
    /// Write records; with `sync`, to disk.
    Record {
        /// The records.
        events: Vec<AuditEvent>,
        /// Whether they must be on disk.
        sync: bool,
    },
    /// Ask the user.
    Ask(Box<ConsentPrompt>),
    /// Ask the user for a code, for the release that the prompt agreed to, and put it into the vault for the task.
    AskCode {
        /// The code.
        code: AskedCode,
        /// The prompt.
        prompt: Box<ConsentPrompt>,
    },
    /// Ask the user which of several records is used, and keep the choice.
    ChooseRecord(Box<RivalRecords>),
    /// Write the vault's file, which has a new password or the step of a one-time code. Nothing is released before it is on disk.
    KeepVault,
    /// Fetch values from the user's password managers, and put them into the vault for the task.
    Fetch(Box<Wanted>),
    /// Tell the time.
    ReadClock,
}

/// A command to the driver.
pub enum Command {
    /// A command that needs no browser.
    Guard(GuardCommand),
    /// Offer the user a hand-over, and wait until it ends.
    HandOver(Box<HandOver>),
    /// Read the page for the model.
    Read,
    /// Look at the page for a decision.
    Look(Look),
    /// Carry out a verb.
    Do {
        /// The verb.
        verb: Verb,
        /// The page of the decision.
        decided: Option<Box<Observed<Snapshot>>>,
    },
    /// Restrict the container's egress to these origins, before a value is shown to the model.
    Narrow(Vec<Origin>),
    /// Fill a form.
    Fill(SealedFill),
    /// Put placeholders into a form, whose values go into its request later.
    Wire(SealedWire),
    /// Pay.
    Pay(Box<Payment>),
    /// Go on with an order by the shop's own protocol.
    Order(Box<OrderCommand>),
    /// Answer the agent. This ends the action.
    Answer(ActionOutcome),
}

/// The observed pages, or why there are none.
pub(super) type Seen = Result<Vec<Observed<Snapshot>>, Reason>;

/// The page that was looked at.
pub(super) fn first_of(seen: Seen) -> Result<Observed<Snapshot>, Reason> {
    seen?.into_iter().next().ok_or(Reason::StaleDocument)
}

/// An event from the driver.
pub enum Event {
    /// The agent acts.
    Act(Action),
    /// Records were written, or not.
    Recorded(bool),
    /// The vault's file was written, or not.
    Kept(bool),
    /// The time of the system's clock.
    Clock {
        /// In milliseconds since 1970.
        unix_ms: u64,
    },
    /// A fetch ended.
    Fetched(FetchReport),
    /// The user chose the record of this handle, or none, or nobody was reached.
    Chosen(Result<Option<String>, Unreached>),
    /// The user answered, or let the prompt expire.
    Answered(Answered),
    /// The code was given and is in the vault, or was not given.
    CodeAsked,
    /// A hand-over ended.
    HandedOver(HandedOver),
    /// The page was read.
    PageRead(Result<RenderedPage, Reason>),
    /// The result of a look: one snapshot for a page or an element, one per form for forms.
    Seen(Result<Vec<Observed<Snapshot>>, Reason>),
    /// The result of the look at the box that a key goes to.
    KeySeen(Result<Box<KeyTarget>, Reason>),
    /// A verb, fill or payment ended, or the placeholders of a wire are in the form.
    Done(Result<(), Reason>),
    /// The shop's profile was read: where orders go, or none if the shop takes none that the guard can place.
    Discovered(Result<Option<Destination>, Reason>),
    /// The shop made an offer, or not.
    Offered(Result<Box<SeenOffer>, OrderFailure>),
    /// The shop sold, or not.
    Ordered(Result<Bought, OrderFailure>),
    /// The offer is cancelled, or the shop does not answer.
    Abandoned,
}
