//! The guards of an event: each tests one axis, and they are tried in the order of the axes.

use sirl::{Kind, Tier};

use crate::language::clause::{Channel, Clause, Condition, FrameTest, Owner, Test};
use crate::language::policy::Policy;
use crate::vocabulary::alphabet::{Axis, Mask, Symbol, mask, symbol};
use crate::vocabulary::event::{EventKind, Root, VerbKind};
use crate::vocabulary::outcome::{ConsentScope, Delivery, Outcome};
use crate::vocabulary::reason::Reason;

/// The rules of a policy for one event.
pub(crate) enum Rules {
    /// The outcome is the same whatever the signals are.
    Fixed(Outcome),
    /// The guards in order, and the end of the chain.
    Chain(Vec<Guard>, End),
}

impl Policy {
    /// The guards of an event.
    pub(crate) fn rules(&self, root: Root) -> Rules {
        let counted = self.session.prompts.is_some();
        match root {
            Root::Verb(VerbKind::Read | VerbKind::Idle) => Rules::Fixed(Outcome::Grant(None)),
            Root::Verb(verb) => match self.verbs.get(&verb) {
                None => Rules::Fixed(Outcome::Deny(Axis::Plan, Reason::VerbNotAllowed)),
                Some(clauses) => {
                    let mut guards = self.site_and_session_guards(root);
                    guards.extend(clauses.iter().flat_map(|clause| clause_guards(clause, root)));
                    guards.sort_by_key(|guard| guard.axis);
                    Rules::Chain(
                        guards,
                        End { scope: None, mandate: false, grant: Outcome::Grant(None), counted },
                    )
                }
            },
            Root::Request(kind, need) => {
                let Some((rule, delivery)) =
                    self.requests.get(&kind).and_then(|rule| Some((rule, rule.in_page()?)))
                else {
                    return Rules::Fixed(Outcome::Deny(Axis::Plan, Reason::DeliveryForbidden));
                };
                let mut guards = self.site_and_session_guards(root);
                guards.extend(self.implied_guards(kind, need, delivery));
                let lets_provider_in = rule.clauses.iter().any(|clause| clause.test.passes_provider());
                let written = rule.clauses.iter().flat_map(|clause| clause_guards(clause, root));
                guards.extend(
                    written.flat_map(
                        |guard| {
                            if lets_provider_in { guard.beside_provider() } else { vec![guard] }
                        },
                    ),
                );
                guards.sort_by_key(|guard| guard.axis);
                Rules::Chain(
                    guards,
                    End {
                        scope: rule.consent,
                        mandate: rule.mandate,
                        grant: Outcome::Grant(Some(delivery)),
                        counted,
                    },
                )
            }
            Root::Checkout(kind, _) => {
                let Some(rule) = self.requests.get(&kind).filter(|rule| rule.orders()) else {
                    return Rules::Fixed(Outcome::Deny(Axis::Plan, Reason::DeliveryForbidden));
                };
                let mut guards = self.site_and_session_guards(root);
                guards.extend(checkout_guards(kind));
                // There is no control whose visibility could be judged.
                let written = rule.clauses.iter().filter(|clause| clause.test != Test::Visible);
                guards.extend(written.flat_map(|clause| clause_guards(clause, root)));
                guards.sort_by_key(|guard| guard.axis);
                let grant = Outcome::Grant(Some(Delivery::Ucp));
                Rules::Chain(guards, End { scope: rule.consent, mandate: rule.mandate, grant, counted })
            }
        }
    }

    /// The guards that every request has, whatever the policy says.
    fn implied_guards(&self, kind: Kind, need: Tier, delivery: Delivery) -> Vec<Guard> {
        let mut guards = planned_and_confirmed();
        match kind {
            Kind::Purchase => guards.push(Guard::new(&[symbol::Amount::Within], Reason::BudgetSpent)),
            // A form charges what it wants, but a total that the page names is within the budget, if there is one.
            Kind::Payment => {
                let bearable = &[symbol::Amount::Within, symbol::Amount::Unnamed];
                guards.push(Guard::new(bearable, Reason::BudgetSpent));
            }
            _ => {}
        }
        use symbol::Placement::{Doubtful, FreeText, Unplaced, Whole};
        let placed: &[symbol::Placement] = match (delivery, need) {
            (Delivery::Fill | Delivery::Wire, Tier::T2) => &[Whole, Doubtful],
            (Delivery::Fill | Delivery::Wire, Tier::T0 | Tier::T1) => &[Whole, FreeText, Doubtful],
            (Delivery::PaymentApi | Delivery::Model | Delivery::Ucp, _) => &[Whole, FreeText, Unplaced],
        };
        guards.push(Guard::new(placed, Reason::NoControl));
        if matches!(delivery, Delivery::Fill | Delivery::Wire) {
            // What only the user can judge is asked about each time.
            guards.push(Guard { soft: true, ..Guard::new(&[Whole, FreeText], Reason::NoControl) });
        }
        guards
    }

    /// The guards that the `site` and `session` sections put on an event.
    fn site_and_session_guards(&self, root: Root) -> Vec<Guard> {
        let mut guards = Vec::new();
        if self.sites.iter().any(|site| site.names(root)) {
            guards.push(Guard::new(&[symbol::Site::Free], Reason::SiteDenied));
        }
        if self.session.can_bar(root, true) {
            guards.push(Guard::new(&[symbol::Taint::Clean], Reason::TaintedSession));
        }
        if self.session.can_bar(root, false) {
            guards.push(Guard::new(&[symbol::Session::Free], Reason::SessionRule));
        }
        if self.session.uses.contains_key(&EventKind::of(root)) {
            guards.push(Guard::new(&[symbol::Uses::Under], Reason::LimitReached));
        }
        guards
    }
}

/// The guards of every request, in a page and at a shop's endpoint.
fn planned_and_confirmed() -> Vec<Guard> {
    vec![
        Guard::new(&[symbol::Plan::Planned], Reason::UnplannedRequest),
        Guard::new(&[symbol::Document::Known], Reason::StaleDocument),
        Guard::new(&[symbol::Claim::Agrees], Reason::ClaimMismatch),
    ]
}

/// The guards that every request at a shop's endpoint has, whatever the policy says. The guard itself sends there, and no form of
/// the page that the user could look at says where to. So the page has to be the task's own, whole and encrypted, and the endpoint has
/// to be at that page's origin.
fn checkout_guards(kind: Kind) -> Vec<Guard> {
    use symbol::Destination::{Task, TaskLoopback, TaskPlain};
    use symbol::Placement::{FreeText, Unplaced, Whole};
    let mut guards = planned_and_confirmed();
    guards.extend([
        Guard::new(&[symbol::Origin::Task], Reason::OriginMismatch),
        Guard::new(&[symbol::TopOrigin::Task], Reason::OriginMismatch),
        Guard::new(&[symbol::Tls::Valid], Reason::TlsInvalid),
        Guard::new(&[symbol::Frame::Top], Reason::FrameNotTop),
        // Two guards, so that the reason of a refusal is the one that the clauses about the destination give.
        Guard::new(&[Task, TaskPlain, TaskLoopback], Reason::WrongDestination),
        Guard::new(&[Task], Reason::TlsInvalid),
        // No control is chosen, as for `payment_api`. The symbol still says whether every field is one of the kind.
        Guard::new(&[Whole, FreeText, Unplaced], Reason::NoControl),
    ]);
    if kind == Kind::Purchase {
        guards.push(Guard::new(&[symbol::Amount::Within], Reason::BudgetSpent));
    }
    guards
}

/// One test of one axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guard {
    pub(crate) axis: Axis,
    /// The symbols that pass.
    pub(crate) pass: Mask,
    pub(crate) reason: Reason,
    /// The cases to which the guard is limited; with none, it always applies.
    pub(crate) when: Option<Condition>,
    /// Whether a failed guard asks the user instead of refusing.
    pub(crate) soft: bool,
    /// The clause that it comes from; none where the language implies it.
    pub(crate) clause: Option<Clause>,
}

impl Guard {
    fn new<S: Symbol>(pass: &[S], reason: Reason) -> Guard {
        Guard { axis: S::AXIS, pass: mask(pass), reason, when: None, soft: false, clause: None }
    }

    /// The guard of a request that lets the frame of a payment provider in. In that frame the origin and the destination are
    /// the provider's and no other, and everywhere else they are what the clause says.
    fn beside_provider(self) -> Vec<Guard> {
        let provider = match self.axis {
            Axis::Origin => mask(&[symbol::Origin::Provider]),
            Axis::Destination => mask(&[symbol::Destination::Provider]),
            _ => return vec![self],
        };
        let frame = |symbols| Some(Condition { axis: Axis::Frame, symbols });
        let within = mask(&[symbol::Frame::Provider]);
        let elsewhere = Axis::Frame.full() & !Axis::Frame.unknown() & !within;
        vec![Guard { when: frame(elsewhere), ..self }, Guard { pass: provider, when: frame(within), ..self }]
    }
}

/// The end of a chain, after every guard has passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// How long consent holds; `None` where the user is not asked.
    pub(crate) scope: Option<ConsentScope>,
    /// Whether the task's mandate takes the place of the prompt, unless a soft guard failed.
    pub(crate) mandate: bool,
    pub(crate) grant: Outcome,
    /// Whether prompts are limited.
    pub(crate) counted: bool,
}

/// The guards of a clause.
fn clause_guards(clause: &Clause, root: Root) -> Vec<Guard> {
    use symbol::{Container, Destination, Flow, Frame, Origin, Tls, TopOrigin, Visibility};
    let (need, wrong_sink, wrong_destination) = match root {
        Root::Request(_, need) | Root::Checkout(_, need) => {
            (need, Reason::FieldNotAllowed, Reason::WrongDestination)
        }
        Root::Verb(VerbKind::Open) => (Tier::T0, Reason::FormProtected, Reason::OutsideTask),
        Root::Verb(_) => (Tier::T0, Reason::FormProtected, Reason::WrongDestination),
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
        Test::Origin(owner) => vec![
            Guard::new(
                match owner {
                    Owner::Task => &[Origin::Task],
                    Owner::TaskOrProvider => &[Origin::Task, Origin::Provider],
                },
                Reason::OriginMismatch,
            ),
            Guard::new(&[TopOrigin::Task], Reason::OriginMismatch),
        ],
        Test::Tls(channel) => one(Guard::new(
            match channel {
                Channel::Encrypted => &[Tls::Valid],
                Channel::EncryptedOrLoopback => &[Tls::Valid, Tls::Loopback],
                Channel::Loopback => &[Tls::Loopback],
            },
            Reason::TlsInvalid,
        )),
        Test::Frame(frame) => one(Guard::new(
            match frame {
                FrameTest::Top => &[Frame::Top],
                FrameTest::SameOrigin => &[Frame::Top, Frame::Same],
                FrameTest::Any => &[Frame::Top, Frame::Same, Frame::Cross, Frame::Provider],
                FrameTest::TopOrProvider => &[Frame::Top, Frame::Provider],
                FrameTest::Provider => &[Frame::Provider],
            },
            Reason::FrameNotTop,
        )),
        Test::DestinationOrigin(owner) => {
            use Destination::{Provider, Task, TaskLoopback, TaskPlain};
            one(Guard::new(
                match owner {
                    Owner::Task => &[Task, TaskPlain, TaskLoopback],
                    Owner::TaskOrProvider => &[Task, TaskPlain, TaskLoopback, Provider],
                },
                wrong_destination,
            ))
        }
        Test::DestinationChannel(channel) => {
            use Destination::{Other, OtherLoopback, Provider, Task, TaskLoopback};
            one(Guard::new(
                match channel {
                    Channel::Encrypted => &[Task, Other, Provider],
                    Channel::EncryptedOrLoopback => &[Task, Other, Provider, TaskLoopback, OtherLoopback],
                    Channel::Loopback => &[TaskLoopback, OtherLoopback],
                },
                Reason::TlsInvalid,
            ))
        }
        Test::Sink(sinks) => one(Guard { pass: sinks, ..Guard::new(&[symbol::Sink::Other], wrong_sink) }),
        Test::Visible => one(Guard::new(&[Visibility::Seen], Reason::Occluded)),
        Test::Safety => {
            one(Guard { pass: reaching(need), ..Guard::new(&[symbol::Safety::T2], Reason::LowSafety) })
        }
        Test::Flow => one(Guard::new(&[Flow::Own, Flow::Stays], Reason::CrossOriginFlow)),
        Test::FlowOwn => one(Guard::new(&[Flow::Own], Reason::CrossOriginFlow)),
    };
    for guard in &mut guards {
        guard.when = clause.when;
        guard.soft = clause.soft;
        guard.clause = Some(*clause);
    }
    guards
}

/// The safety bands that reach the threshold of a tier.
pub(crate) fn reaching(need: Tier) -> Mask {
    use symbol::Safety;
    match need {
        Tier::T0 => mask(&[Safety::T0, Safety::T1, Safety::T2]),
        Tier::T1 => mask(&[Safety::T1, Safety::T2]),
        Tier::T2 => mask(&[Safety::T2]),
    }
}
