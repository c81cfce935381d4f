//! The question to the decision point: everything that a decision may depend on.

use browser_signals::{Container, Destination, Fact, NodeId, Observed, Origin, Snapshot};
use sirl::{Field, Kind, KindSet, Money, Request};

use super::history::History;
use super::sign_on::SignOn;
use crate::language::policy::SafetyBand;
use crate::vocabulary::event::VerbKind;

/// Milliseconds on the session's own monotonic clock. Time is always an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

/// The task, fixed by the user's own words before any page is read (invariant I16). It has no setters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    origins: Vec<Origin>,
    /// The first of the origins once more. Nearly every task has no others, so that a decision reads no other memory for them.
    first: [Option<Origin>; 2],
    kinds: KindSet,
    budget: Option<Money>,
    container: Container,
    on_this_machine: Vec<Origin>,
    sign_on: Option<SignOn>,
}

impl Task {
    /// A task that may go to `origins`, request `kinds` and spend up to `budget` in all, in a container of at most
    /// the tier that the user raised it to.
    pub fn new(
        origins: Vec<Origin>,
        kinds: impl IntoIterator<Item = Kind>,
        budget: Option<Money>,
        container: Container,
    ) -> Task {
        let first = [origins.first().cloned(), origins.get(1).cloned()];
        let kinds = kinds.into_iter().collect();
        Task { origins, first, kinds, budget, container, on_this_machine: Vec::new(), sign_on: None }
    }

    /// The same task with the sites of this machine that the user listed: `http` with a loopback host and a port. Other
    /// origins are left out.
    #[must_use]
    pub fn with_sites_on_this_machine(mut self, origins: impl IntoIterator<Item = Origin>) -> Task {
        self.on_this_machine = origins.into_iter().filter(Origin::is_plain_loopback).collect();
        self
    }

    /// The same task with the provider at which the user agreed to log in for one of its sites. A provider that is a site of the
    /// task itself, and one for another site, change nothing.
    #[must_use]
    pub fn signing_on(mut self, sign_on: SignOn) -> Task {
        if self.is_about(&sign_on.site) && !self.is_about(&sign_on.provider) {
            self.sign_on = Some(sign_on);
        }
        self
    }

    /// The provider at which the user agreed to log in for one of the task's sites.
    pub fn sign_on(&self) -> Option<&SignOn> {
        self.sign_on.as_ref()
    }

    /// Whether an origin is a site of this machine that the user listed.
    pub fn has_on_this_machine(&self, origin: &Origin) -> bool {
        self.on_this_machine.contains(origin)
    }

    /// The origins the task may act on.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// Whether an origin is one that the task may act on.
    ///
    /// ```
    /// use browser_signals::{Container, Origin};
    /// use policy_dfa::Task;
    ///
    /// let sites = ["a", "b", "c", "d"].map(|name| Origin::parse(&format!("https://{name}.example")).unwrap());
    /// for count in 0..=sites.len() {
    ///     let task = Task::new(sites[..count].to_vec(), [], None, Container::T0);
    ///     assert!(sites[..count].iter().all(|site| task.is_about(site)));
    ///     assert!(!sites[count..].iter().any(|site| task.is_about(site)));
    /// }
    /// ```
    pub fn is_about(&self, origin: &Origin) -> bool {
        let rest = self.origins.get(self.first.len()..);
        self.first.iter().flatten().any(|first| first == origin)
            || rest.is_some_and(|rest| rest.contains(origin))
    }

    /// The kinds of request the task may need.
    pub fn kinds(&self) -> KindSet {
        self.kinds
    }

    /// The most that it may spend in all.
    pub fn budget(&self) -> Option<Money> {
        self.budget
    }

    /// The tier the user raised the task's container to.
    pub fn container(&self) -> Container {
        self.container
    }

    /// A number that depends on every part of the task that stands in the task itself and that a decision reads, computed without a
    /// branch. It means nothing; computing it fetches those parts from memory.
    #[inline(always)]
    pub(super) fn every_part(&self) -> u8 {
        let [first, second] = &self.first;
        u8::from(first.is_some())
            + u8::from(second.is_some())
            + u8::from(self.kinds.contains(Kind::Address))
            + u8::from(self.sign_on.is_some())
            + u8::from(self.container == Container::T0)
    }
}

/// The assignment of a field to a control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The field.
    pub field: Field,
    /// The control.
    pub node: NodeId,
    /// Who says that the control asks for the field.
    pub basis: Basis,
}

/// Who says that a control asks for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Basis {
    /// The page, by whatever describes the control.
    Page,
    /// The agent alone, where the page says nothing.
    Agent,
}

/// The address that a verb goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goal<'a> {
    /// Its origin.
    pub origin: &'a Origin,
    /// Its path, as the browser would resolve it, without query and fragment.
    pub path: &'a str,
}

/// The provenance of the text that a verb carries. Where several apply, the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Carried {
    /// There is no text, or every part of it is in the user's own words.
    Own,
    /// Every other part was read at the origin that it goes to, or at none.
    Here,
    /// Some part was read only at another origin.
    Elsewhere,
}

/// The event that is to be decided.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A request of the model.
    Request {
        /// The request.
        request: &'a Request,
        /// The controls for the fields of a fill; empty for a purchase.
        placements: &'a [Placement],
        /// For a purchase, the amount that is requested and consented to. The payment handler pays it only if the
        /// browser reports exactly the same amount. For a card in a form, the total that the page names, if it names one.
        amount: Option<Money>,
    },
    /// A request of the model that the guard answers at a shop's endpoint, and not in the page: the address of an order, or the
    /// order itself.
    Checkout {
        /// The request, which is one for an address, for contact data or for a purchase.
        request: &'a Request,
        /// The address that the guard sends to, as the shop's profile names it.
        endpoint: &'a Destination,
        /// For a purchase, the total of the checkout that the shop stated. For an address, nothing.
        amount: Option<Money>,
    },
    /// A verb of the agent.
    Verb {
        /// The verb.
        verb: VerbKind,
        /// For `Open`, the address to open. For other verbs the snapshot has it.
        to: Option<Goal<'a>>,
        /// The provenance of the text that it carries.
        carries: Fact<Carried>,
    },
}

/// The answer of the user to a prompt about the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Consent {
    /// There is no answer yet.
    None,
    /// The user consented, and the consent still holds.
    Given,
    /// The user refused.
    Refused,
    /// The user consented, but the consent expired.
    Expired,
    /// There is no answer to this purchase, but it is within the mandate that the user gave with the task: payee, ceiling and currency
    /// in the user's own words. It grants where the policy says `unless mandated`, and otherwise counts as no answer.
    Mandated,
}

/// One question to the policy.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The event that is to be decided.
    pub event: Event<'a>,
    /// The facts from the browser; `None` before any page is open.
    pub page: Option<&'a Observed<Snapshot>>,
    /// The sealed task.
    pub task: &'a Task,
    /// The answer of the user.
    pub consent: Consent,
    /// The events of the session so far.
    pub history: History,
    /// The page's safety, where a classifier rated it.
    pub safety: Fact<SafetyBand>,
    /// The current time.
    pub now: Millis,
}
