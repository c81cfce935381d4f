//! The alphabet: every signal that a decision reads, as an axis with a few symbols.
//!
//! Texts, numbers and lists become symbols before the automaton runs: an origin is the task's or another one, a
//! safety score is a band, a count is under its limit or spent. An axis whose fact the browser may not know has
//! `unknown` as its last symbol, which passes no guard.

use super::reason::{Reason, Signal};

/// A set of symbols of one axis, one bit each.
pub(crate) type Mask = u8;

/// One symbol of one axis.
pub trait Symbol: Copy {
    /// The axis that it belongs to.
    const AXIS: Axis;

    /// Its index on the axis.
    fn index(self) -> u8;
}

/// The set of these symbols.
pub(crate) fn mask<S: Symbol>(symbols: &[S]) -> Mask {
    symbols.iter().fold(0, |set, symbol| set | 1 << symbol.index())
}

macro_rules! axes {
    ($($(#[$doc:meta])* $axis:ident $name:literal { $($(#[$symbol_doc:meta])* $symbol:ident $text:literal),+ $(,)? })+) => {
        /// One signal of a decision. The order is the order in which guards are tried.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Axis {
            $($(#[$doc])* $axis),+
        }

        impl Axis {
            /// Every axis, in order.
            pub const ALL: &'static [Axis] = &[$(Axis::$axis),+];

            /// The name used in policies and counterexamples.
            pub const fn as_str(self) -> &'static str {
                match self { $(Axis::$axis => $name),+ }
            }

            /// The names of its symbols, in order.
            pub const fn symbols(self) -> &'static [&'static str] {
                match self { $(Axis::$axis => &[$($text),+]),+ }
            }
        }

        /// The symbols of the axes, as one enum for each.
        pub mod symbol {
            use super::{Axis, Symbol};
            $(
                $(#[$doc])*
                #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
                pub enum $axis {
                    $($(#[$symbol_doc])* $symbol),+
                }
                impl Symbol for $axis {
                    const AXIS: Axis = Axis::$axis;
                    fn index(self) -> u8 {
                        self as u8
                    }
                }
            )+
        }
    };
}

axes! {
    /// Whether the task may need this kind of request.
    Plan "plan" {
        /// The task may need it.
        Planned "planned",
        /// The task does not include it.
        Unplanned "unplanned",
    }
    /// Whether a `site` rule forbids the event on a host that takes part.
    Site "site" {
        /// No rule forbids it.
        Free "free",
        /// A rule forbids it.
        Forbidden "forbidden",
        /// The host of an address that takes part is unknown.
        Unknown "unknown",
    }
    /// Whether a rule about suspected injections bars the event.
    Taint "taint" {
        /// No rule bars it.
        Clean "clean",
        /// A rule bars it.
        Tainted "tainted",
    }
    /// Whether a rule about an earlier event of the session bars the event.
    Session "session" {
        /// No rule bars it.
        Free "free",
        /// A rule bars it.
        Barred "barred",
    }
    /// How often the event was granted, against the session's limit for it.
    Uses "uses" {
        /// One more is within the limit.
        Under "under",
        /// The limit is reached.
        Spent "spent",
    }
    /// The browser context's tier.
    Container "container" {
        /// Reading only.
        T0 "T0",
        /// Low-risk data.
        T1 "T1",
        /// High-risk data.
        T2 "T2",
        /// Not known, or higher than the user raised it.
        Unknown "unknown",
    }
    /// The frame's origin against the task's.
    Origin "origin" {
        /// One of the task's.
        Task "task",
        /// Another one.
        Other "other",
        /// That of a payment provider which the policy names, in its frame in a page of the task.
        Provider "provider",
        /// Not known.
        Unknown "unknown",
    }
    /// The top frame's origin against the task's.
    TopOrigin "top_origin" {
        /// One of the task's.
        Task "task",
        /// Another one.
        Other "other",
        /// Not known.
        Unknown "unknown",
    }
    /// The connection, by the browser's security state.
    Tls "tls" {
        /// A valid certificate.
        Valid "valid",
        /// A certificate error or mixed content.
        Broken "broken",
        /// Plain http.
        Insecure "insecure",
        /// Plain http to a port of this machine that the user listed, connected to a loopback address.
        Loopback "loopback",
        /// Not known.
        Unknown "unknown",
    }
    /// The position of the frame.
    Frame "frame" {
        /// It is the top frame.
        Top "top",
        /// It is embedded, and all its ancestors have its own origin.
        Same "same_origin",
        /// It is embedded in another origin.
        Cross "cross_origin",
        /// It is of a payment provider that the policy names, and stands directly in a page of the task, in no sandbox.
        Provider "provider",
        /// Not known, or the browser's facts about it contradict each other.
        Unknown "unknown",
    }
    /// Whether the loaded document is known.
    Document "document" {
        /// It is.
        Known "known",
        /// It is not.
        Unknown "unknown",
    }
    /// The destination of the form, or the address to open.
    Destination "destination" {
        /// An origin of the task, over https.
        Task "task",
        /// An origin of the task, over plain http.
        TaskPlain "task_over_http",
        /// An origin of the task, over plain http on this machine, on a port that the user listed.
        TaskLoopback "task_on_loopback",
        /// Another origin, over https.
        Other "other",
        /// Another origin, over plain http.
        OtherPlain "other_over_http",
        /// Another origin, over plain http on this machine, on a port that the user listed.
        OtherLoopback "other_on_loopback",
        /// From the frame of a payment provider, one of its origins.
        Provider "provider",
        /// Not known.
        Unknown "unknown",
    }
    /// The purpose of the form or control.
    Sink "sink" {
        /// None of the following, or several of them.
        Other "other",
        /// Card data.
        Payment "payment_form",
        /// A postal address.
        Address "address_form",
        /// A password.
        Login "login_form",
        /// Free text.
        FreeText "free_text",
        /// Not known.
        Unknown "unknown",
    }
    /// The model's claim against the browser's facts.
    Claim "claim" {
        /// The browser confirms every claim.
        Agrees "agrees",
        /// The browser does not confirm some claim.
        Contradicts "contradicts",
    }
    /// The amount to pay against what the task may still spend.
    Amount "amount" {
        /// Within.
        Within "within",
        /// Over, in another currency, or the task has no budget.
        Over "over",
        /// For a card in a form: the page names no total, or several, or there is no budget.
        Unnamed "unnamed",
        /// Not known.
        Unknown "unknown",
    }
    /// The controls chosen for the fields.
    Placement "placement" {
        /// Every field of the kind, once, in an editable control of the form.
        Whole "whole",
        /// As `whole`, but a T2 field is in a control or form for free text.
        FreeText "free_text",
        /// As `whole`, but of a control only the agent says that it asks for its field, or a street goes into a text area.
        Doubtful "doubtful",
        /// Every field is of the kind, but no control was chosen at all.
        Unplaced "unplaced",
        /// Anything else.
        Lacking "lacking",
    }
    /// Whether the controls can be seen and hit.
    Visibility "visibility" {
        /// All of them.
        Seen "seen",
        /// One is hidden or covered.
        Hidden "hidden",
        /// Not known of one.
        Unknown "unknown",
    }
    /// The page's safety, as a band between the thresholds.
    Safety "safety" {
        /// Below every threshold.
        Below "below",
        /// Reaches the threshold of T0.
        T0 "T0",
        /// Reaches the threshold of T1.
        T1 "T1",
        /// Reaches the threshold of T2.
        T2 "T2",
        /// No classifier rated it.
        Unknown "unknown",
    }
    /// The provenance of the text that a verb carries.
    Flow "flow" {
        /// The user's own words, or no text at all.
        Own "own",
        /// The user's own words, and text that was read at the origin that it goes to, or at none.
        Stays "stays",
        /// Another origin.
        Crosses "crosses",
        /// Not known.
        Unknown "unknown",
    }
    /// The answer of the user.
    Consent "consent" {
        /// There is no answer yet.
        None "none",
        /// The user consented, and the consent still holds.
        Given "given",
        /// The user refused.
        Refused "refused",
        /// The user consented, but the consent expired.
        Expired "expired",
        /// There is no answer to this purchase, but the user's mandate of the task covers it.
        Mandated "mandated",
    }
    /// Prompts shown, against the session's limit.
    Prompts "prompts" {
        /// One more is within the limit.
        Under "under",
        /// The limit is reached.
        Spent "spent",
    }
}

impl Axis {
    /// The number of axes.
    pub const COUNT: usize = Axis::ALL.len();

    /// The axis with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Axis> {
        Axis::ALL.iter().copied().find(|axis| axis.as_str() == name)
    }

    /// All symbols.
    pub(crate) fn full(self) -> Mask {
        ((1u16 << self.symbols().len()) - 1) as Mask
    }

    /// The set of the symbol `unknown`; empty where the axis has no such symbol.
    pub(crate) fn unknown(self) -> Mask {
        match self.symbols() {
            [.., "unknown"] => 1 << (self.symbols().len() - 1),
            _ => 0,
        }
    }

    /// The set of the symbol with this name, if the axis has it.
    pub(crate) fn mask_of(self, symbol: &str) -> Option<Mask> {
        self.symbols().iter().position(|name| *name == symbol).map(|index| 1 << index)
    }

    /// The names of the symbols in a set.
    pub(crate) fn named(self, set: Mask) -> impl Iterator<Item = &'static str> {
        self.symbols()
            .iter()
            .enumerate()
            .filter(move |(index, _)| set & (1 << index) != 0)
            .map(|(_, name)| *name)
    }

    /// The names of the symbols in a set as one text.
    pub(crate) fn names(self, set: Mask, separator: &str) -> String {
        self.named(set).collect::<Vec<_>>().join(separator)
    }

    /// The reason of the denial where this axis is unknown.
    pub(crate) const fn unknown_reason(self) -> Reason {
        Reason::SignalUnknown(match self {
            Axis::Container => Signal::Container,
            Axis::TopOrigin => Signal::TopOrigin,
            Axis::Tls => Signal::Tls,
            Axis::Frame => Signal::Frame,
            Axis::Document => Signal::Document,
            Axis::Destination => Signal::Destination,
            Axis::Sink => Signal::Sink,
            Axis::Amount => Signal::Amount,
            Axis::Visibility => Signal::Visibility,
            Axis::Safety => Signal::Safety,
            Axis::Flow => Signal::Flow,
            Axis::Origin
            | Axis::Site
            | Axis::Plan
            | Axis::Taint
            | Axis::Session
            | Axis::Uses
            | Axis::Claim
            | Axis::Placement
            | Axis::Consent
            | Axis::Prompts => Signal::Origin,
        })
    }
}

/// One symbol for every axis. A decision depends on nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Valuation {
    symbols: [u8; Axis::COUNT],
}

impl Valuation {
    /// The valuation in which every axis has its first symbol.
    pub const FIRST: Valuation = Valuation { symbols: [0; Axis::COUNT] };

    /// Sets the symbol of one axis.
    #[must_use]
    pub fn with<S: Symbol>(mut self, symbol: S) -> Valuation {
        self.set(S::AXIS, symbol.index());
        self
    }

    /// Sets an axis to the symbol with this index. An index that the axis lacks is ignored.
    pub fn set(&mut self, axis: Axis, index: u8) {
        if usize::from(index) < axis.symbols().len()
            && let Some(slot) = self.symbols.get_mut(axis as usize)
        {
            *slot = index;
        }
    }

    /// The index of the symbol of `axis`.
    pub fn get(&self, axis: Axis) -> u8 {
        self.symbols.get(axis as usize).copied().unwrap_or(0)
    }

    /// The name of the symbol of `axis`.
    pub fn name(&self, axis: Axis) -> &'static str {
        axis.symbols().get(usize::from(self.get(axis))).copied().unwrap_or("unknown")
    }
}
