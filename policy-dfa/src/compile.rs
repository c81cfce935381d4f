//! From a policy to its automaton.

use std::marker::PhantomData;

use sha2::{Digest, Sha256};
use sirl::{Kind, Tier};

use crate::alphabet::{Axis, Mask, Symbol, Valuation, mask, symbol};
use crate::error::{Fault, PolicyError};
use crate::policy::{
    Clause, Condition, Delivery, FrameTest, Policy, Proof, SessionRule, SiteRule, Test, Thresholds, Tiers,
};
use crate::table::{Builder, Outcome, Root, Table, Target};
use crate::{ConsentScope, Reason, VerbKind, check};

/// The mark of a policy about which nothing is proved yet. It cannot decide.
#[derive(Debug)]
pub enum Unchecked {}

/// The mark of a policy whose statements were proved.
#[derive(Debug)]
pub enum Checked {}

/// A compiled policy. Only a `Compiled<Checked>` can decide, and only
/// [`check`](Compiled::check) makes one.
#[derive(Debug)]
pub struct Compiled<State> {
    pub(crate) name: String,
    pub(crate) table: Table,
    pub(crate) tiers: Tiers,
    pub(crate) thresholds: Option<Thresholds>,
    pub(crate) sites: Vec<SiteRule>,
    pub(crate) session: SessionRule,
    pub(crate) proofs: Vec<Proof>,
    pub(crate) hash: [u8; 32],
    state: PhantomData<State>,
}

impl Policy {
    /// Turns the policy into an automaton over the valuations of the signals.
    ///
    /// # Errors
    /// Where the automaton would have more states than its table can number.
    pub fn compile(&self) -> Result<Compiled<Unchecked>, PolicyError> {
        let mut builder = Builder::default();
        let roots = Root::all().map(|root| self.root(&mut builder, root)).collect();
        let large =
            || PolicyError::new("", vec![Fault::new(0..0, "the policy has too many rules; make it smaller")]);
        Ok(Compiled {
            name: format!("{} version {}", self.name, self.version),
            table: builder.finish(roots).ok_or_else(large)?,
            tiers: self.tiers,
            thresholds: self.thresholds,
            sites: self.sites.clone(),
            session: self.session,
            proofs: self.proofs.clone(),
            hash: Sha256::digest(self.to_string().as_bytes()).into(),
            state: PhantomData,
        })
    }

    fn root(&self, builder: &mut Builder, root: Root) -> Target {
        match root {
            Root::Verb(VerbKind::Read | VerbKind::Idle) => builder.outcome(Outcome::Grant(None)),
            Root::Verb(verb) => match self.verbs.get(&verb) {
                None => builder.outcome(Outcome::Deny(Axis::Plan, Reason::UnplannedEffect)),
                Some(clauses) => {
                    let mut guards = self.site_guard(|site| site.verbs.contains(&verb));
                    guards.extend(clauses.iter().flat_map(|clause| written(clause, root)));
                    let end = End {
                        scope: None,
                        grant: Outcome::Grant(None),
                        counted: self.session.prompts.is_some(),
                    };
                    chain(builder, &guards, end)
                }
            },
            Root::Request(kind, need) => {
                let Some((rule, way)) = self.requests.get(&kind).and_then(|r| Some((r, r.deliver.first()?)))
                else {
                    return builder.outcome(Outcome::Deny(Axis::Plan, Reason::DeliveryForbidden));
                };
                let mut guards = self.implied(kind, need, *way);
                guards.extend(rule.clauses.iter().flat_map(|clause| written(clause, root)));
                guards.sort_by_key(|guard| guard.axis);
                let grant = Outcome::Grant(Some(*way));
                chain(
                    builder,
                    &guards,
                    End { scope: rule.consent, grant, counted: self.session.prompts.is_some() },
                )
            }
        }
    }

    /// The guards that every request has, written or not.
    fn implied(&self, kind: Kind, need: Tier, way: Delivery) -> Vec<Guard> {
        let mut guards = vec![Guard::new(&[symbol::Plan::Planned], Reason::UnplannedEffect)];
        guards.extend(self.site_guard(|site| site.kinds.contains(&kind)));
        if self.session.tainted.is_some_and(|lowest| need >= lowest) {
            guards.push(Guard::new(&[symbol::Taint::Clean], Reason::TaintedSession));
        }
        guards.push(Guard::new(&[symbol::Document::Known], Reason::StaleDocument));
        guards.push(Guard::new(&[symbol::Claim::Agrees], Reason::ClaimMismatch));
        if kind == Kind::Purchase {
            if self.session.purchases.is_some() {
                guards.push(Guard::new(&[symbol::Purchases::Under], Reason::BudgetSpent));
            }
            guards.push(Guard::new(&[symbol::Amount::Within], Reason::BudgetSpent));
        }
        use symbol::Placement::{FreeText, Unplaced, Whole};
        let placed: &[symbol::Placement] = match (way, need) {
            (Delivery::Fill | Delivery::Wire, Tier::T2) => &[Whole],
            (Delivery::Fill | Delivery::Wire, Tier::T0 | Tier::T1) => &[Whole, FreeText],
            (Delivery::PaymentApi | Delivery::Model, _) => &[Whole, FreeText, Unplaced],
        };
        guards.push(Guard::new(placed, Reason::FieldNotAllowed));
        guards
    }

    fn site_guard(&self, concerns: impl Fn(&SiteRule) -> bool) -> Vec<Guard> {
        let concerned = self.sites.iter().any(concerns);
        let guard = Guard::new(&[symbol::Site::Free], Reason::SiteDenied);
        concerned.then_some(guard).into_iter().collect()
    }
}

impl<State> Compiled<State> {
    /// The SHA-256 of the policy's canonical text.
    pub fn policy_hash(&self) -> [u8; 32] {
        self.hash
    }

    /// The safety thresholds, where the policy names them.
    pub fn thresholds(&self) -> Option<Thresholds> {
        self.thresholds
    }

    /// How many statements there are to prove: the built-in invariants, and those of the policy.
    pub fn statements(&self) -> usize {
        check::BUILT_IN + self.proofs.len()
    }

    /// How many states the automaton has.
    pub fn states(&self) -> usize {
        self.table.len()
    }

    /// The outcome of one walk.
    pub fn outcome(&self, root: Root, valuation: &Valuation) -> Outcome {
        self.table.walk(root, valuation)
    }

    pub(crate) fn marked<Other>(self) -> Compiled<Other> {
        Compiled {
            name: self.name,
            table: self.table,
            tiers: self.tiers,
            thresholds: self.thresholds,
            sites: self.sites,
            session: self.session,
            proofs: self.proofs,
            hash: self.hash,
            state: PhantomData,
        }
    }
}

impl std::fmt::Display for Compiled<Checked> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} statements proved over {} states", self.name, self.statements(), self.states())
    }
}

/// One test of one axis.
#[derive(Debug, Clone, Copy)]
struct Guard {
    axis: Axis,
    pass: Mask,
    reason: Reason,
    when: Option<Condition>,
    soft: bool,
}

impl Guard {
    fn new<S: Symbol>(pass: &[S], reason: Reason) -> Guard {
        Guard { axis: S::AXIS, pass: mask(pass), reason, when: None, soft: false }
    }
}

/// What follows when every guard has passed.
#[derive(Debug, Clone, Copy)]
struct End {
    /// How long a yes holds; `None` where nobody is asked.
    scope: Option<ConsentScope>,
    grant: Outcome,
    /// Whether prompts are limited.
    counted: bool,
}

/// The guards that a clause stands for.
fn written(clause: &Clause, root: Root) -> Vec<Guard> {
    use symbol::{Container, Destination, Flow, Frame, Origin, Tls, TopOrigin, Visibility};
    let (need, unfit, astray) = match root {
        Root::Request(_, need) => (need, Reason::FieldNotAllowed, Reason::WrongDestination),
        Root::Verb(VerbKind::Open) => (Tier::T0, Reason::UnplannedEffect, Reason::UnplannedEffect),
        Root::Verb(_) => (Tier::T0, Reason::UnplannedEffect, Reason::WrongDestination),
    };
    let at_least = |tier| match tier {
        Tier::T0 => mask(&[Container::T0, Container::T1, Container::T2]),
        Tier::T1 => mask(&[Container::T1, Container::T2]),
        Tier::T2 => mask(&[Container::T2]),
    };
    let one = |guard: Guard| vec![guard];
    let container =
        |tier| vec![Guard { pass: at_least(tier), ..Guard::new(&[Container::T2], Reason::InvalidContainer) }];
    let mut guards = match clause.test {
        Test::ContainerCovers => container(need),
        Test::ContainerAtLeast(tier) => container(tier),
        Test::Origin => vec![
            Guard::new(&[Origin::Task], Reason::OriginMismatch),
            Guard::new(&[TopOrigin::Task], Reason::OriginMismatch),
        ],
        Test::Tls => one(Guard::new(&[Tls::Valid], Reason::TlsInvalid)),
        Test::Frame(place) => one(Guard::new(
            match place {
                FrameTest::Top => &[Frame::Top],
                FrameTest::SameOrigin => &[Frame::Top, Frame::Same],
                FrameTest::Any => &[Frame::Top, Frame::Same, Frame::Cross],
            },
            Reason::FrameNotTop,
        )),
        Test::DestinationOrigin => one(Guard::new(&[Destination::Task, Destination::TaskPlain], astray)),
        Test::DestinationHttps => {
            one(Guard::new(&[Destination::Task, Destination::Other], Reason::TlsInvalid))
        }
        Test::Sink(sinks) => one(Guard { pass: sinks, ..Guard::new(&[symbol::Sink::Other], unfit) }),
        Test::Visible => one(Guard::new(&[Visibility::Seen], Reason::Occluded)),
        Test::Safety => {
            one(Guard { pass: reaching(need), ..Guard::new(&[symbol::Safety::T2], Reason::LowSafety) })
        }
        Test::Flow => one(Guard::new(&[Flow::Stays], Reason::CrossOriginFlow)),
    };
    for guard in &mut guards {
        guard.when = clause.when;
        guard.soft = clause.soft;
    }
    guards
}

/// The bands that reach the threshold of a tier.
fn reaching(need: Tier) -> Mask {
    use symbol::Safety;
    match need {
        Tier::T0 => mask(&[Safety::T0, Safety::T1, Safety::T2]),
        Tier::T1 => mask(&[Safety::T1, Safety::T2]),
        Tier::T2 => mask(&[Safety::T2]),
    }
}

/// The states of one chain of guards, made from its end. Asking comes last, so that nobody is asked about
/// what would be refused anyway; a soft guard that failed only moves the walk to the chain that asks.
fn chain(builder: &mut Builder, guards: &[Guard], end: End) -> Target {
    let mut asking = consent(builder, end.scope.unwrap_or(ConsentScope::EveryTime), end);
    let mut plain = match end.scope {
        Some(_) => asking,
        None => builder.outcome(end.grant),
    };
    for guard in guards.iter().rev() {
        let unknown = builder.outcome(Outcome::Deny(guard.axis, guard.axis.unknown_reason()));
        let deny = builder.outcome(Outcome::Deny(guard.axis, guard.reason));
        let fails = if guard.soft { asking } else { deny };
        let mut link = |next: Target| {
            let read = builder.state(guard.axis, |place| match 1 << place {
                bit if guard.pass & bit != 0 => next,
                bit if guard.axis.unknown() & bit != 0 => unknown,
                _ => fails,
            });
            let Some(when) = guard.when else { return read };
            let unclear = builder.outcome(Outcome::Deny(when.axis, when.axis.unknown_reason()));
            builder.state(when.axis, |place| match 1 << place {
                bit if when.symbols & bit != 0 => read,
                bit if when.axis.unknown() & bit != 0 => unclear,
                _ => next,
            })
        };
        (plain, asking) = (link(plain), link(asking));
    }
    plain
}

fn consent(builder: &mut Builder, scope: ConsentScope, end: End) -> Target {
    let grant = builder.outcome(end.grant);
    let refused = builder.outcome(Outcome::Deny(Axis::Consent, Reason::ConsentDenied));
    let expired = builder.outcome(Outcome::Deny(Axis::Consent, Reason::ConsentExpired));
    let ask = builder.outcome(Outcome::Ask(scope));
    let spent = builder.outcome(Outcome::Deny(Axis::Prompts, Reason::BudgetSpent));
    let prompt = if end.counted {
        builder
            .state(Axis::Prompts, |place| if place == symbol::Prompts::Under.index() { ask } else { spent })
    } else {
        ask
    };
    builder.state(Axis::Consent, |place| match place {
        place if place == symbol::Consent::None.index() => prompt,
        place if place == symbol::Consent::Given.index() => grant,
        place if place == symbol::Consent::Refused.index() => refused,
        _ => expired,
    })
}
