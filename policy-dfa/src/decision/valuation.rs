//! From a question to its valuation: every fact becomes a symbol of its axis.
//!
//! One function gives the symbol of an axis. The valuation asks it for every axis, and a decision only for those that
//! its walk reads.

use std::hint::black_box;

use browser_signals::{Container, Destination, Fact, Origin, Sink, Snapshot, TlsState};
use sirl::{Kind, Request};

use super::claim::claim;
use super::controls::{Placed, seen};
use super::provider::goal_of_frame;
use super::question::{Carried, Consent, Event, Goal, Question, Task};
use super::sign_on::Sites;
use crate::automaton::compile::{Checked, Compiled};
use crate::automaton::site_matcher::{SiteAddress, SiteMatcher};
use crate::language::policy::{Policy, SafetyBand};
use crate::language::provider::Provider;
use crate::vocabulary::alphabet::{Axis, Symbol, Valuation, symbol};
use crate::vocabulary::event::{EventKind, NEVER_IN_CLEAR, Root, VerbKind, takes_card_or_id};
use crate::vocabulary::outcome::Outcome;

impl Compiled<Checked> {
    /// The root of an event.
    pub fn root(&self, event: &Event<'_>) -> Root {
        match event {
            Event::Verb { verb, .. } => Root::Verb(*verb),
            Event::Request { request, .. } => self.policy.root_of(request.kind, request.fields),
            Event::Checkout { request, .. } => self.policy.checkout_root_of(request.kind, request.fields),
        }
    }

    /// The symbols of a question. A fact that is not known is unknown; nothing is assumed.
    pub fn valuation(&self, question: &Question<'_>) -> Valuation {
        let mut facts = Facts::of(self, question);
        let mut valuation = Valuation::FIRST;
        Axis::ALL.iter().for_each(|axis| valuation.set(*axis, facts.symbol(*axis)));
        valuation
    }

    /// The root of a question, and the outcome of the walk for its [`valuation`](Self::valuation). Only the symbols
    /// that the walk reads are computed.
    pub(crate) fn answer(&self, question: &Question<'_>) -> (Root, Outcome) {
        prefetch(question);
        let mut facts = Facts::of(self, question);
        (facts.root, self.table.follow(facts.root, |axis| facts.symbol(axis)))
    }
}

/// Reads every part of the task and of the page that walks read, with no branch in between, so that the processor fetches them from
/// memory at the same time. A walk branches on each fact in turn, and would wait for each by itself.
#[inline(always)]
fn prefetch(question: &Question<'_>) {
    let of_page = question.page.map_or(0, |page| {
        let page = page.value();
        u8::from(page.container.is_known())
            + u8::from(page.document.is_known())
            + u8::from(page.origin.is_known())
            + u8::from(page.top_origin.is_known())
            + u8::from(page.ancestors.is_known())
            + u8::from(page.tls.is_known())
            + u8::from(page.destination.is_known())
            + u8::from(page.target.is_some())
    });
    black_box(of_page + question.task.every_part());
}

/// A question, with the facts on which several symbols depend.
struct Facts<'q> {
    policy: &'q Policy,
    matcher: &'q SiteMatcher,
    question: &'q Question<'q>,
    root: Root,
    page: Option<&'q Snapshot>,
    /// The payment provider in whose frame the page is.
    provider: Option<&'q Provider>,
    sites: Sites<'q>,
    /// The controls, once they are looked up.
    placed: Option<Placed>,
}

impl<'q> Facts<'q> {
    fn of(compiled: &'q Compiled<Checked>, question: &'q Question<'q>) -> Facts<'q> {
        let page = question.page.map(|page| page.value());
        let policy = &compiled.policy;
        Facts {
            policy,
            matcher: &compiled.sites,
            question,
            root: compiled.root(&question.event),
            page,
            provider: page
                .and_then(|page| policy.provider_of(page, question.task))
                .map(|provider| &**provider),
            sites: Sites::of(&question.event, page, question.task),
            placed: None,
        }
    }

    /// The index of the question's symbol on an axis.
    fn symbol(&mut self, axis: Axis) -> u8 {
        let (session, history) = (&self.policy.session, &self.question.history);
        let (page, task) = (self.page, self.question.task);
        match axis {
            Axis::Plan => {
                self.request().map_or(symbol::Plan::Unplanned, |asked| plan(asked.kind, task)).index()
            }
            Axis::Site => self.site().index(),
            Axis::Taint if session.bars(history, self.root, true) => symbol::Taint::Tainted.index(),
            Axis::Taint => symbol::Taint::Clean.index(),
            Axis::Session if session.bars(history, self.root, false) => symbol::Session::Barred.index(),
            Axis::Session => symbol::Session::Free.index(),
            Axis::Uses if session.is_spent(history, EventKind::of(self.root)) => symbol::Uses::Spent.index(),
            Axis::Uses => symbol::Uses::Under.index(),
            Axis::Container => container(page, task).index(),
            Axis::Origin => match page.and_then(|page| relation(&page.origin, &self.sites)) {
                Some(_) if self.provider.is_some() => symbol::Origin::Provider,
                Some(true) => symbol::Origin::Task,
                Some(false) => symbol::Origin::Other,
                None => symbol::Origin::Unknown,
            }
            .index(),
            Axis::TopOrigin => match page.and_then(|page| relation(&page.top_origin, &self.sites)) {
                Some(true) => symbol::TopOrigin::Task,
                Some(false) => symbol::TopOrigin::Other,
                None => symbol::TopOrigin::Unknown,
            }
            .index(),
            Axis::Tls => page.map_or(symbol::Tls::Unknown, |page| self.tls(page)).index(),
            Axis::Frame if self.provider.is_some() => symbol::Frame::Provider.index(),
            Axis::Frame => page.map_or(symbol::Frame::Unknown, frame).index(),
            Axis::Document if page.is_some_and(|page| page.document.is_known()) => {
                symbol::Document::Known.index()
            }
            Axis::Document => symbol::Document::Unknown.index(),
            Axis::Destination => self.destination().index(),
            Axis::Sink => page.map_or(symbol::Sink::Unknown, |page| sink(page.sink)).index(),
            Axis::Claim => match self.question.event {
                Event::Request { request, amount, .. } | Event::Checkout { request, amount, .. } => {
                    claim(&request.claim, page, amount)
                }
                Event::Verb { .. } => symbol::Claim::Contradicts,
            }
            .index(),
            Axis::Amount => self.amount().index(),
            Axis::Placement => {
                self.placed().map_or(symbol::Placement::Lacking, |placed| placed.placement).index()
            }
            Axis::Visibility => match self.question.event {
                Event::Verb { .. } => match page.and_then(|page| page.target.as_ref()) {
                    Some(target) => seen(Some(target)),
                    None => symbol::Visibility::Unknown,
                },
                _ => self.placed().map_or(symbol::Visibility::Unknown, |placed| placed.visibility),
            }
            .index(),
            Axis::Safety => safety(self.question.safety).index(),
            Axis::Flow => flow(&self.question.event).index(),
            Axis::Consent => consent(self.question.consent).index(),
            Axis::Prompts if session.is_out_of_prompts(history) => symbol::Prompts::Spent.index(),
            Axis::Prompts => symbol::Prompts::Under.index(),
        }
    }

    /// The request, which a verb has not.
    fn request(&self) -> Option<&'q Request> {
        match self.question.event {
            Event::Request { request, .. } | Event::Checkout { request, .. } => Some(request),
            Event::Verb { .. } => None,
        }
    }

    /// The controls of a request; none for a verb. A request at a shop's endpoint has no control.
    fn placed(&mut self) -> Option<Placed> {
        let (request, placements) = match self.question.event {
            Event::Request { request, placements, .. } => (request, placements),
            Event::Checkout { request, .. } => (request, &[][..]),
            Event::Verb { .. } => return None,
        };
        let (page, tiers) = (self.page, &self.policy.tiers);
        Some(*self.placed.get_or_insert_with(|| Placed::of(request, placements, page, tiers)))
    }

    fn tls(&self, page: &Snapshot) -> symbol::Tls {
        let in_clear = match &self.question.event {
            // The policy refuses these over a connection in clear; here they do not even look like it.
            Event::Request { request, .. } => !is_never_in_clear(request),
            // Nor is anything ordered over one.
            Event::Checkout { .. } => false,
            Event::Verb { .. } => true,
        };
        match tls(page, self.question.task) {
            symbol::Tls::Loopback if !in_clear => symbol::Tls::Insecure,
            seen => seen,
        }
    }

    fn destination(&self) -> symbol::Destination {
        let (page, task) = (self.page, self.question.task);
        // These say themselves where they go to, and not by a form of the page.
        let has_own_goal =
            matches!(self.question.event, Event::Verb { verb: VerbKind::Open, .. } | Event::Checkout { .. });
        if let (Some(page), Some(provider), false) = (page, self.provider, has_own_goal) {
            return goal_of_frame(page, provider);
        }
        let sends_here = || page.is_some_and(|page| sends_on_this_machine(page, task));
        match &self.question.event {
            Event::Request { request, .. } => destination(
                page.and_then(|page| page.destination.known()).map(|goal| &goal.origin),
                |goal| self.sites.is_goal(goal),
                sends_here() && !is_never_in_clear(request),
            ),
            Event::Checkout { endpoint, .. } => endpoint_goal(endpoint, page, &self.sites),
            Event::Verb { verb, to, .. } => destination(
                goal(*verb, *to, page).map(|goal| goal.origin),
                |goal| self.sites.is_goal(goal),
                match (verb, to) {
                    // The proxy connects a listed site of this machine to a loopback address or not at all.
                    // A task with sites of its own is not about another one of this machine.
                    (VerbKind::Open, Some(to)) => {
                        task.has_on_this_machine(to.origin)
                            && (task.origins().is_empty() || task.is_about(to.origin))
                    }
                    _ => sends_here(),
                },
            ),
        }
    }

    fn amount(&self) -> symbol::Amount {
        match self.question.event {
            Event::Request { request, .. } if request.kind == Kind::Payment && self.page.is_none() => {
                symbol::Amount::Unknown
            }
            Event::Request { request, amount, .. } => self.amount_of(request.kind, amount),
            Event::Checkout { request, amount, .. } if request.kind == Kind::Purchase => {
                self.amount_of(request.kind, amount)
            }
            Event::Checkout { .. } | Event::Verb { .. } => symbol::Amount::Unknown,
        }
    }

    fn amount_of(&self, kind: Kind, amount: Option<sirl::Money>) -> symbol::Amount {
        let (task, history) = (self.question.task, &self.question.history);
        let is_bounded = task.budget().is_some() || self.policy.session.money.is_some();
        let amount = match (kind, amount) {
            (Kind::Purchase, Some(amount)) => amount,
            (Kind::Payment, Some(amount)) if is_bounded => amount,
            (Kind::Payment, _) => return symbol::Amount::Unnamed,
            _ => return symbol::Amount::Unknown,
        };
        let Some(total) = history.spent_minor().checked_add(amount.minor) else {
            return symbol::Amount::Over;
        };
        let within = |limit: sirl::Money| limit.currency == amount.currency && total <= limit.minor;
        let is_bearable = match kind {
            Kind::Payment => task.budget().is_none_or(within),
            _ => task.budget().is_some_and(within),
        };
        match is_bearable && self.policy.session.money.is_none_or(within) {
            true => symbol::Amount::Within,
            false => symbol::Amount::Over,
        }
    }

    /// Whether a `site` rule forbids the event on a host that takes part in it.
    fn site(&self) -> symbol::Site {
        let (question, page) = (self.question, self.page);
        let here = page.and_then(|page| page.origin.known());
        let top = page.and_then(|page| page.top_origin.known());
        let (goal, complete) = match &question.event {
            Event::Verb { verb: VerbKind::Open, to, .. } => (*to, to.is_some()),
            Event::Verb { verb, to, .. } => (goal(*verb, *to, page), here.is_some() && top.is_some()),
            Event::Checkout { endpoint, .. } => (Some(form_goal(endpoint)), here.is_some() && top.is_some()),
            Event::Request { request, .. } => {
                let goal = page.and_then(|page| page.destination.known()).map(form_goal);
                let needed = request.kind != Kind::Purchase;
                (goal, here.is_some() && top.is_some() && (goal.is_some() || !needed))
            }
        };
        // For an address to open, the page that it is opened from takes no part.
        let opening = matches!(question.event, Event::Verb { verb: VerbKind::Open, .. });
        let from = [here, top].into_iter().flatten().filter(|_| !opening);
        let from = from.map(|origin| SiteAddress { host: origin.host(), path: None });
        let to = goal.map(|goal| SiteAddress { host: goal.origin.host(), path: Some(goal.path) });
        let forbidden = self.matcher.forbids(self.root, from.chain(to));
        match (forbidden, complete) {
            (true, _) => symbol::Site::Forbidden,
            (false, true) => symbol::Site::Free,
            (false, false) => symbol::Site::Unknown,
        }
    }
}

fn plan(kind: Kind, task: &Task) -> symbol::Plan {
    if task.kinds().contains(kind) { symbol::Plan::Planned } else { symbol::Plan::Unplanned }
}

/// The symbol of a shop's endpoint. It is of the task only at the page's own origin: another one is another one, though it may be of
/// the task too.
fn endpoint_goal(endpoint: &Destination, page: Option<&Snapshot>, sites: &Sites<'_>) -> symbol::Destination {
    let Some(here) = page.and_then(|page| page.origin.known()) else { return symbol::Destination::Unknown };
    destination(Some(&endpoint.origin), |goal| goal == here && sites.is_goal(goal), false)
}

fn consent(consent: Consent) -> symbol::Consent {
    match consent {
        Consent::None => symbol::Consent::None,
        Consent::Given => symbol::Consent::Given,
        Consent::Refused => symbol::Consent::Refused,
        Consent::Expired => symbol::Consent::Expired,
        Consent::Mandated => symbol::Consent::Mandated,
    }
}

fn flow(event: &Event<'_>) -> symbol::Flow {
    match event {
        Event::Verb { carries: Fact::Known(carried), .. } => match carried {
            Carried::Own => symbol::Flow::Own,
            Carried::Here => symbol::Flow::Stays,
            Carried::Elsewhere => symbol::Flow::Crosses,
        },
        _ => symbol::Flow::Unknown,
    }
}

fn safety(band: Fact<SafetyBand>) -> symbol::Safety {
    match band {
        Fact::Known(SafetyBand::Below) => symbol::Safety::Below,
        Fact::Known(SafetyBand::T0) => symbol::Safety::T0,
        Fact::Known(SafetyBand::T1) => symbol::Safety::T1,
        Fact::Known(SafetyBand::T2) => symbol::Safety::T2,
        Fact::Unknown => symbol::Safety::Unknown,
    }
}

/// The page's container or, before a page is open, the container of the task. A page in a higher container than the
/// user raised the task to is a contradiction, so its container is unknown.
fn container(page: Option<&Snapshot>, task: &Task) -> symbol::Container {
    let tier = page.map_or(Fact::Known(task.container()), |page| page.container);
    match tier {
        Fact::Known(tier) if tier > task.container() => symbol::Container::Unknown,
        Fact::Known(Container::T0) => symbol::Container::T0,
        Fact::Known(Container::T1) => symbol::Container::T1,
        Fact::Known(Container::T2) => symbol::Container::T2,
        Fact::Unknown => symbol::Container::Unknown,
    }
}

/// Whether an origin is one of the task's.
fn relation(origin: &Fact<Origin>, sites: &Sites<'_>) -> Option<bool> {
    origin.known().map(|origin| sites.is_here(origin))
}

fn tls(page: &Snapshot, task: &Task) -> symbol::Tls {
    match page.tls {
        Fact::Known(TlsState::Valid) => symbol::Tls::Valid,
        Fact::Known(TlsState::Loopback) if is_on_this_machine(page, task) => symbol::Tls::Loopback,
        Fact::Known(TlsState::Loopback) => symbol::Tls::Insecure,
        Fact::Known(TlsState::Broken) => symbol::Tls::Broken,
        Fact::Known(TlsState::Insecure) => symbol::Tls::Insecure,
        Fact::Unknown => symbol::Tls::Unknown,
    }
}

/// Whether the browser got the page from a site of this machine that the user listed, and the top frame is of that site
/// too.
fn is_on_this_machine(page: &Snapshot, task: &Task) -> bool {
    let listed =
        |origin: &Fact<Origin>| origin.known().is_some_and(|origin| task.has_on_this_machine(origin));
    page.tls == Fact::Known(TlsState::Loopback) && listed(&page.origin) && page.top_origin == page.origin
}

/// Whether the page is of a site of this machine, and its form is sent to the same origin.
fn sends_on_this_machine(page: &Snapshot, task: &Task) -> bool {
    let goal = page.destination.known().map(|goal| &goal.origin);
    is_on_this_machine(page, task) && goal.is_some() && goal == page.origin.known()
}

/// Whether a request is about card data or a government identity number.
fn is_never_in_clear(request: &Request) -> bool {
    takes_card_or_id(request.kind) || !request.effective_fields().intersection(NEVER_IN_CLEAR).is_empty()
}

/// The position of the frame. Facts that contradict each other make it unknown: a top frame whose origin or document is
/// not that of the top frame, or an outermost ancestor whose origin is not the top origin.
fn frame(page: &Snapshot) -> symbol::Frame {
    let (Some(ancestors), Some(origin), Some(top)) =
        (page.ancestors.known(), page.origin.known(), page.top_origin.known())
    else {
        return symbol::Frame::Unknown;
    };
    match ancestors.last() {
        None if origin == top && page.document == page.top_document => symbol::Frame::Top,
        Some(outermost) if outermost == top && ancestors.iter().all(|ancestor| ancestor == origin) => {
            symbol::Frame::Same
        }
        Some(outermost) if outermost == top => symbol::Frame::Cross,
        _ => symbol::Frame::Unknown,
    }
}

fn sink(sink: Fact<Sink>) -> symbol::Sink {
    match sink {
        Fact::Known(Sink::PaymentForm) => symbol::Sink::Payment,
        Fact::Known(Sink::AddressForm) => symbol::Sink::Address,
        Fact::Known(Sink::LoginForm) => symbol::Sink::Login,
        Fact::Known(Sink::FreeText) => symbol::Sink::FreeText,
        Fact::Known(Sink::Other) => symbol::Sink::Other,
        Fact::Unknown => symbol::Sink::Unknown,
    }
}

fn form_goal(goal: &Destination) -> Goal<'_> {
    Goal { origin: &goal.origin, path: &goal.path }
}

/// The address that a verb goes to: the address to open, else the destination of the page's form.
fn goal<'a>(verb: VerbKind, to: Option<Goal<'a>>, page: Option<&'a Snapshot>) -> Option<Goal<'a>> {
    let form = || page.and_then(|page| page.destination.known()).map(form_goal);
    to.or_else(|| if verb == VerbKind::Open { None } else { form() })
}

/// The symbol of an address. `on_this_machine` counts for `http` alone.
pub(super) fn destination(
    goal: Option<&Origin>,
    is_of_task: impl Fn(&Origin) -> bool,
    on_this_machine: bool,
) -> symbol::Destination {
    let Some(goal) = goal else { return symbol::Destination::Unknown };
    match (is_of_task(goal), goal.scheme() == "https") {
        (true, false) if on_this_machine => symbol::Destination::TaskLoopback,
        (false, false) if on_this_machine => symbol::Destination::OtherLoopback,
        (true, true) => symbol::Destination::Task,
        (true, false) => symbol::Destination::TaskPlain,
        (false, true) => symbol::Destination::Other,
        (false, false) => symbol::Destination::OtherPlain,
    }
}
