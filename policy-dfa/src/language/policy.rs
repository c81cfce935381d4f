//! The syntax tree of a policy: tiers, rules, limits and the statements to prove.

use std::collections::BTreeMap;
use std::sync::Arc;

use sirl::{Field, FieldSet, Kind, Tier};

use super::clause::{Clause, Condition};
use super::provider::Provider;
use super::session::{SessionRule, Trigger};
use super::site::SiteRule;
use super::spans::RuleSpans;
use crate::vocabulary::event::{ORDERED, Root, Subject, VerbKind};
use crate::vocabulary::outcome::{ConsentScope, Delivery};

/// A well-formed policy. It can decide once it is compiled and checked.
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
    pub(crate) providers: Vec<Arc<Provider>>,
    pub(crate) session: SessionRule,
    pub(crate) proofs: Vec<Proof>,
    /// The location of each rule in the text that the policy was read from.
    pub(crate) spans: RuleSpans,
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

    /// The fields that the canonical text names with their tiers. A field that the language gained later is left out at its
    /// usual tier, so that the text and the hash of an earlier policy stay what they are.
    pub(crate) fn named_fields(&self) -> impl Iterator<Item = Field> {
        let usual = |field: Field| unnamed_tier(field, self.tier(Field::Email));
        Field::ALL
            .into_iter()
            .filter(move |field| !ADDED_LATER.contains(field) || self.tier(*field) != usual(*field))
    }

    /// The safety thresholds, where the policy names them.
    pub fn thresholds(&self) -> Option<Thresholds> {
        self.thresholds
    }

    /// The payment providers that the policy names.
    pub fn providers(&self) -> &[Arc<Provider>] {
        &self.providers
    }

    /// The statements to prove, as written.
    pub fn proofs(&self) -> impl Iterator<Item = String> {
        self.proofs.iter().map(ToString::to_string)
    }

    /// The root of a request of this kind. An empty field set means the fields that the kind has by default.
    pub(crate) fn root_of(&self, kind: Kind, fields: FieldSet) -> Root {
        Root::Request(kind, self.need_of(kind, fields))
    }

    /// The root of the same request at a shop's endpoint.
    pub(crate) fn checkout_root_of(&self, kind: Kind, fields: FieldSet) -> Root {
        Root::Checkout(kind, self.need_of(kind, fields))
    }

    fn need_of(&self, kind: Kind, fields: FieldSet) -> Tier {
        let tiers = &self.tiers;
        match kind {
            Kind::Purchase => tiers.need(fields).max(tiers.need(card_fields())),
            _ if fields.is_empty() => tiers.need(kind.default_fields()),
            _ => tiers.need(fields),
        }
    }

    /// Whether any event can have this root: a purchase always needs the card, and another kind of request needs
    /// one of the tiers of its fields.
    pub(crate) fn can_occur(&self, root: Root) -> bool {
        match root {
            Root::Verb(_) => true,
            Root::Checkout(kind, _) if !ORDERED.contains(&kind) => false,
            Root::Request(Kind::Purchase, need) | Root::Checkout(Kind::Purchase, need) => {
                need == self.tiers.need(card_fields())
            }
            Root::Request(kind, need) | Root::Checkout(kind, need) => {
                kind.allowed_fields().iter().any(|field| self.tiers.of(field) == need)
            }
        }
    }
}

impl RequestRule {
    /// The way by which a page's own request is granted: the first that is not `ucp`, which belongs to a shop's endpoint.
    pub(crate) fn in_page(&self) -> Option<Delivery> {
        self.deliver.iter().copied().find(|delivery| *delivery != Delivery::Ucp)
    }

    /// Whether the guard may place an order at the shop's endpoint for it.
    pub(crate) fn orders(&self) -> bool {
        self.deliver.contains(&Delivery::Ucp)
    }
}

/// The fields that a purchase uses: the guard's checkout needs the card, though the request names no field.
fn card_fields() -> FieldSet {
    [Field::CardNumber, Field::CardExpiry, Field::CardCode].into_iter().collect()
}

/// The fields that the language gained after its first version. A policy that does not name them leaves them at their own tier.
pub(crate) const ADDED_LATER: [Field; 4] =
    [Field::Username, Field::Company, Field::BirthDate, Field::NewPassword];

/// The tier of a field that the language gained later and a policy does not name: its own, and at least that of the e-mail address
/// for a user name, since the address of a login may be its name.
pub(crate) fn unnamed_tier(field: Field, email: Tier) -> Tier {
    if field == Field::Username { field.tier().max(email) } else { field.tier() }
}

/// The tier of every field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tiers {
    each: [Tier; Field::ALL.len()],
    /// The fields of T1 or T2, and those of T2: a decision needs the highest tier of a set at once.
    above_t0: FieldSet,
    above_t1: FieldSet,
}

impl Tiers {
    /// The tiers that a policy names, in the order of `Field::ALL`. No field has less than the tier of its own.
    pub(crate) fn new(named: [Tier; Field::ALL.len()]) -> Tiers {
        let mut tiers = Tiers { each: named, above_t0: FieldSet::EMPTY, above_t1: FieldSet::EMPTY };
        for (field, tier) in Field::ALL.into_iter().zip(&mut tiers.each) {
            *tier = field.tier().max(*tier);
            if *tier > Tier::T0 {
                tiers.above_t0 = tiers.above_t0.with(field);
            }
            if *tier > Tier::T1 {
                tiers.above_t1 = tiers.above_t1.with(field);
            }
        }
        tiers
    }

    pub(crate) fn of(&self, field: Field) -> Tier {
        // The fields are numbered in the order of `Field::ALL`.
        self.each.get(field as usize).copied().unwrap_or(Tier::T2)
    }

    /// The highest tier in `fields`; `T0` for the empty set.
    pub(crate) fn need(&self, fields: FieldSet) -> Tier {
        if !fields.intersection(self.above_t1).is_empty() {
            Tier::T2
        } else if !fields.intersection(self.above_t0).is_empty() {
            Tier::T1
        } else {
            Tier::T0
        }
    }
}

/// The safety that each tier needs, in hundredths, strictly increasing.
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

    /// The thresholds as they are written, such as `0.50`.
    pub(crate) fn digits(&self) -> [String; 3] {
        self.hundredths.map(|h| format!("{}.{:02}", h / 100, h % 100))
    }

    /// The band that a safety score falls in. `NaN` is `Below`.
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

/// The safety of a page, as a band between the policy's thresholds: the highest tier whose threshold the safety
/// score reaches, or `Below` all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SafetyBand {
    /// Below every threshold.
    Below,
    /// Reaches the threshold of T0.
    T0,
    /// Reaches the threshold of T1.
    T1,
    /// Reaches the threshold of T2.
    T2,
}

/// The content of a `request` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestRule {
    /// In canonical order, each test at most once, without conditions. Only the test of safety may ask.
    pub(crate) clauses: Vec<Clause>,
    /// How long consent holds; `None` where the user is not asked.
    pub(crate) consent: Option<ConsentScope>,
    /// Whether the prompt names payee and amount.
    pub(crate) naming: bool,
    /// Whether the task's mandate takes the place of the prompt.
    pub(crate) mandate: bool,
    /// In order of preference; empty for `nothing`. `ucp` belongs to the request at a shop's endpoint, the others to the one in
    /// a page.
    pub(crate) deliver: Vec<Delivery>,
}

/// A statement that must hold of every valuation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The subject is never granted where all conditions hold, since the trigger if there is one.
    NeverGrant { subject: Subject, conditions: Vec<Condition>, after: Option<Trigger> },
    /// The subject is never delivered this way.
    NeverDeliver { subject: Subject, delivery: Delivery },
}

impl Proof {
    pub(crate) fn subject(&self) -> Subject {
        match self {
            Proof::NeverGrant { subject, .. } | Proof::NeverDeliver { subject, .. } => *subject,
        }
    }
}
