//! The events that a policy decides on: requests of the model and verbs of the agent.

use sirl::{Field, FieldSet, Kind, Tier};

/// The verbs that the policy knows as events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VerbKind {
    /// Going to an address.
    Open,
    /// Reading.
    Read,
    /// Clicking.
    Click,
    /// Typing text.
    Type,
    /// Choosing an option, or setting a box.
    Choose,
    /// Pressing a key.
    Press,
    /// Submitting a form.
    Submit,
    /// Going back, or waiting.
    Idle,
}

impl VerbKind {
    /// Every verb, in the order of its discriminant.
    pub(crate) const ALL: [VerbKind; 8] = [
        VerbKind::Open,
        VerbKind::Read,
        VerbKind::Click,
        VerbKind::Type,
        VerbKind::Choose,
        VerbKind::Press,
        VerbKind::Submit,
        VerbKind::Idle,
    ];

    /// The verbs that a policy has rules for. Reading and idling have no effect and are always granted.
    pub(crate) const RULED: [VerbKind; 6] = [
        VerbKind::Open,
        VerbKind::Click,
        VerbKind::Type,
        VerbKind::Choose,
        VerbKind::Press,
        VerbKind::Submit,
    ];

    /// The verb's name, in policies and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            VerbKind::Open => "open",
            VerbKind::Read => "read",
            VerbKind::Click => "click",
            VerbKind::Type => "type",
            VerbKind::Choose => "choose",
            VerbKind::Press => "press",
            VerbKind::Submit => "submit",
            VerbKind::Idle => "idle",
        }
    }

    /// The verb with this name, if a policy can have a rule for it.
    pub(crate) fn ruled_from_name(name: &str) -> Option<VerbKind> {
        VerbKind::RULED.into_iter().find(|verb| verb.as_str() == name)
    }
}

/// The fields that never go over a connection in clear, not even on this machine.
pub(crate) const NEVER_IN_CLEAR: FieldSet = FieldSet::EMPTY
    .with(Field::CardNumber)
    .with(Field::CardExpiry)
    .with(Field::CardCode)
    .with(Field::GovernmentId);

/// The fields that the agent's word alone never places.
pub(crate) const NEVER_POINTED: FieldSet =
    NEVER_IN_CLEAR.with(Field::Password).with(Field::NewPassword).with(Field::OneTimeCode);

/// Whether requests of a kind may ask for card data or a government identity number, or pay with a card.
pub(crate) fn takes_card_or_id(kind: Kind) -> bool {
    kind == Kind::Purchase || !kind.allowed_fields().intersection(NEVER_IN_CLEAR).is_empty()
}

/// The kinds of request that an order at a shop's endpoint carries.
pub(crate) const ORDERED: [Kind; 3] = [Kind::Address, Kind::Contact, Kind::Purchase];

/// The event that is decided. Each root is a start state of the automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// A request of this kind whose fields need this tier.
    Request(Kind, Tier),
    /// A verb.
    Verb(VerbKind),
    /// A request of this kind, for fields of this tier, that the guard answers at a shop's endpoint. The kind is `address`,
    /// `contact` or `purchase`; one of any other kind is always refused.
    Checkout(Kind, Tier),
}

impl Root {
    /// Every root, in the order of the table.
    pub fn all() -> impl Iterator<Item = Root> {
        let requests = Kind::ALL.into_iter().flat_map(|kind| Tier::ALL.map(|tier| Root::Request(kind, tier)));
        let orders = ORDERED.into_iter().flat_map(|kind| Tier::ALL.map(|tier| Root::Checkout(kind, tier)));
        requests.chain(VerbKind::ALL.map(Root::Verb)).chain(orders)
    }

    /// The name of the event in compiled policies and in cases: the kind of a request, the verb, or, for an order at a shop's
    /// endpoint, `checkout_` and the kind.
    pub const fn event_name(self) -> &'static str {
        match self {
            Root::Request(kind, _) => kind.as_str(),
            Root::Verb(verb) => verb.as_str(),
            Root::Checkout(Kind::Address, _) => "checkout_address",
            Root::Checkout(Kind::Contact, _) => "checkout_contact",
            Root::Checkout(Kind::Purchase, _) => "checkout_purchase",
            Root::Checkout(..) => "checkout",
        }
    }

    /// The tier that the fields of the event need; none for a verb.
    pub const fn need(self) -> Option<Tier> {
        match self {
            Root::Request(_, need) | Root::Checkout(_, need) => Some(need),
            Root::Verb(_) => None,
        }
    }

    /// The kind of the request, and the tier that its fields need, however it is answered; none for a verb.
    pub(crate) const fn asked(self) -> Option<(Kind, Tier)> {
        match self {
            Root::Request(kind, need) | Root::Checkout(kind, need) => Some((kind, need)),
            Root::Verb(_) => None,
        }
    }

    pub(crate) fn index(self) -> usize {
        match self {
            Root::Request(kind, tier) => kind as usize * Tier::ALL.len() + tier as usize,
            Root::Verb(verb) => Kind::ALL.len() * Tier::ALL.len() + verb as usize,
            Root::Checkout(kind, tier) => {
                let first = Kind::ALL.len() * Tier::ALL.len() + VerbKind::ALL.len();
                let place = ORDERED.into_iter().position(|ordered| ordered == kind);
                // No table has a start for another kind, so that its walk ends in a refusal.
                place.map_or(usize::MAX, |place| first + place * Tier::ALL.len() + tier as usize)
            }
        }
    }
}

impl std::fmt::Display for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Root::Request(kind, tier) => write!(f, "`{}` with {} fields", kind.as_str(), tier.as_str()),
            Root::Verb(verb) => write!(f, "`{}`", verb.as_str()),
            Root::Checkout(kind, tier) => {
                write!(f, "`{}` with {} fields at a checkout", kind.as_str(), tier.as_str())
            }
        }
    }
}

/// A class of events that a rule or a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// Requests that need this tier or a higher one.
    Tier(Tier),
    /// Requests of this kind.
    Kind(Kind),
    /// This verb.
    Verb(VerbKind),
}

impl Subject {
    pub(crate) fn includes(self, root: Root) -> bool {
        match (self, root) {
            (Subject::Tier(lowest), Root::Request(_, need) | Root::Checkout(_, need)) => need >= lowest,
            (Subject::Kind(kind), Root::Request(asked, _) | Root::Checkout(asked, _)) => kind == asked,
            (Subject::Verb(verb), Root::Verb(done)) => verb == done,
            _ => false,
        }
    }

    /// The subject with this name, if there is one.
    pub(crate) fn from_name(name: &str) -> Option<Subject> {
        (Tier::from_name(name).map(Subject::Tier))
            .or(Kind::from_name(name).map(Subject::Kind))
            .or(VerbKind::ruled_from_name(name).map(Subject::Verb))
    }

    /// The names of every subject.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Tier::ALL.map(Tier::as_str).into_iter().chain(EventKind::names())
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Subject::Tier(tier) => tier.as_str(),
            Subject::Kind(kind) => kind.as_str(),
            Subject::Verb(verb) => verb.as_str(),
        }
    }
}

/// A kind of request, or a verb: the events that sessions count and that `site` rules name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum EventKind {
    Request(Kind),
    Verb(VerbKind),
}

impl EventKind {
    pub(crate) fn of(root: Root) -> EventKind {
        match root {
            Root::Request(kind, _) | Root::Checkout(kind, _) => EventKind::Request(kind),
            Root::Verb(verb) => EventKind::Verb(verb),
        }
    }

    /// Its number: the kinds of request first, then the verbs.
    pub(crate) fn index(self) -> usize {
        match self {
            EventKind::Request(kind) => kind as usize,
            EventKind::Verb(verb) => Kind::ALL.len() + verb as usize,
        }
    }

    /// Every event that a policy can name.
    pub(crate) fn all() -> impl Iterator<Item = EventKind> {
        let verbs = VerbKind::RULED.into_iter().map(EventKind::Verb);
        Kind::ALL.into_iter().map(EventKind::Request).chain(verbs)
    }

    /// The event with this name, if a policy can name it.
    pub(crate) fn from_name(name: &str) -> Option<EventKind> {
        let kind = Kind::from_name(name).map(EventKind::Request);
        kind.or(VerbKind::ruled_from_name(name).map(EventKind::Verb))
    }

    /// The names of the events that a policy can name.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        EventKind::all().map(EventKind::as_str)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            EventKind::Request(kind) => kind.as_str(),
            EventKind::Verb(verb) => verb.as_str(),
        }
    }
}
