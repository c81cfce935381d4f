//! A policy as it was written: tiers, rules, limits and the statements to prove.

use std::collections::BTreeMap;

use sirl::{Field, FieldSet, Kind, Tier};

use crate::alphabet::{Axis, Mask};
use crate::session::{SessionRule, Trigger};
use crate::site::SiteRule;
use crate::spans::Spans;
use crate::table::Root;
use crate::{ConsentScope, SafetyBand, VerbKind};

/// A policy that was read and found well formed. Compile and check it before it can decide.
///
/// Its [`Display`](std::fmt::Display) is the canonical text: reading it back gives an equal policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) tiers: Tiers,
    pub(crate) thresholds: Option<Thresholds>,
    pub(crate) requests: BTreeMap<Kind, RequestRule>,
    pub(crate) verbs: BTreeMap<VerbKind, Vec<Clause>>,
    pub(crate) sites: Vec<SiteRule>,
    pub(crate) session: SessionRule,
    pub(crate) proofs: Vec<Proof>,
    /// Where each rule stands in the text it was read from.
    pub(crate) spans: Spans,
}

impl Policy {
    /// The name after `policy`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version after `version`.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The tier of a field under this policy: at least the one that the language fixes.
    pub fn tier(&self, field: Field) -> Tier {
        self.tiers.of(field)
    }

    /// The safety thresholds, where the policy names them.
    pub fn thresholds(&self) -> Option<Thresholds> {
        self.thresholds
    }

    /// The statements to prove, as written.
    pub fn proofs(&self) -> impl Iterator<Item = String> {
        self.proofs.iter().map(ToString::to_string)
    }
}

/// The tier of every field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tiers(pub(crate) [Tier; Field::ALL.len()]);

impl Tiers {
    pub(crate) fn of(&self, field: Field) -> Tier {
        // The fields are numbered in the order of `Field::ALL`.
        self.0.get(field as usize).copied().unwrap_or(Tier::T2).max(field.tier())
    }

    /// The highest tier in `fields`; `T0` for the empty set.
    pub(crate) fn need(&self, fields: FieldSet) -> Tier {
        fields.iter().map(|field| self.of(field)).max().unwrap_or(Tier::T0)
    }
}

/// The safety that each tier needs, in hundredths, strictly rising.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    pub(crate) hundredths: [u8; 3],
}

impl Thresholds {
    /// The threshold of a tier, between 0 and 1.
    pub fn of(&self, tier: Tier) -> f64 {
        let [t0, t1, t2] = self.hundredths;
        f64::from(match tier {
            Tier::T0 => t0,
            Tier::T1 => t1,
            Tier::T2 => t2,
        }) / 100.0
    }

    /// The band that a safety score falls in. What is not a number is `Below`.
    pub fn band(&self, safety: f64) -> SafetyBand {
        if safety >= self.of(Tier::T2) {
            SafetyBand::T2
        } else if safety >= self.of(Tier::T1) {
            SafetyBand::T1
        } else if safety >= self.of(Tier::T0) {
            SafetyBand::T0
        } else {
            SafetyBand::Below
        }
    }
}

/// What a `request` section says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestRule {
    /// In canonical order, each test at most once, without conditions.
    pub(crate) clauses: Vec<Clause>,
    /// How long a yes holds; `None` where nobody is asked.
    pub(crate) consent: Option<ConsentScope>,
    /// Whether the prompt names payee and amount.
    pub(crate) naming: bool,
    /// In the order preferred; empty for `nothing`.
    pub(crate) deliver: Vec<Delivery>,
}

/// One condition on an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Clause {
    pub(crate) test: Test,
    /// Where it applies only in some cases.
    pub(crate) when: Option<Condition>,
    /// Whether failing it asks the user instead of denying.
    pub(crate) soft: bool,
}

/// What a clause tests. The order is the canonical one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Test {
    ContainerCovers,
    ContainerAtLeast(Tier),
    Origin,
    Tls,
    Frame(FrameTest),
    DestinationOrigin,
    DestinationHttps,
    /// The sinks that pass.
    Sink(Mask),
    Visible,
    Safety,
    /// Text may not be carried from one origin to another.
    Flow,
    /// Only the user's own words may be carried.
    FlowOwn,
}

/// Where the frame may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FrameTest {
    Top,
    SameOrigin,
    Any,
}

/// When a clause of a verb applies: where the axis has one of the symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Condition {
    pub(crate) axis: Axis,
    pub(crate) symbols: Mask,
}

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
}

impl Delivery {
    /// Every delivery.
    pub const ALL: [Delivery; 4] = [Delivery::Fill, Delivery::Wire, Delivery::PaymentApi, Delivery::Model];

    /// The word used in policies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Delivery::Fill => "fill",
            Delivery::Wire => "wire",
            Delivery::PaymentApi => "payment_api",
            Delivery::Model => "model",
        }
    }

    /// The delivery with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Delivery> {
        Delivery::ALL.into_iter().find(|delivery| delivery.as_str() == name)
    }
}

/// A statement that must hold of every valuation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The subject is never granted where all conditions hold, since the trigger if there is one.
    NeverGrant { subject: Subject, conditions: Vec<Condition>, after: Option<Trigger> },
    /// The subject is never delivered this way.
    NeverDeliver { subject: Subject, delivery: Delivery },
}

/// What a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// Requests that need this tier or a higher one.
    Tier(Tier),
    /// Requests of this kind.
    Kind(Kind),
    /// This verb.
    Verb(VerbKind),
}

impl Proof {
    pub(crate) fn subject(&self) -> Subject {
        match self {
            Proof::NeverGrant { subject, .. } | Proof::NeverDeliver { subject, .. } => *subject,
        }
    }
}

impl Subject {
    pub(crate) fn includes(self, root: Root) -> bool {
        match (self, root) {
            (Subject::Tier(lowest), Root::Request(_, need)) => need >= lowest,
            (Subject::Kind(kind), Root::Request(asked, _)) => kind == asked,
            (Subject::Verb(verb), Root::Verb(done)) => verb == done,
            _ => false,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Subject::Tier(tier) => tier.as_str(),
            Subject::Kind(kind) => kind.as_str(),
            Subject::Verb(verb) => verb.as_str(),
        }
    }
}
