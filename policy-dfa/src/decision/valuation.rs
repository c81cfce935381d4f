//! From a question to its valuation: every fact becomes a symbol of its axis.

use browser_signals::{Container, Control, Destination, Fact, Origin, Sink, Snapshot, TlsState};
use sirl::{Claim, Field, Kind, Request, Tier};

use super::history::History;
use super::provider::goal_of_frame;
use super::question::{Basis, Carried, Consent, Event, Goal, Placement, Question, Task};
use super::sign_on::Sites;
use crate::automaton::compile::{Checked, Compiled};
use crate::automaton::site_matcher::SiteAddress;
use crate::language::policy::SafetyBand;
use crate::vocabulary::alphabet::{Axis, Symbol, Valuation, symbol};
use crate::vocabulary::event::{EventKind, NEVER_IN_CLEAR, NEVER_POINTED, Root, VerbKind, takes_card_or_id};

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
        let page = question.page.map(|page| page.value());
        let provider = page.and_then(|page| self.policy.provider_of(page, question.task));
        let root = self.root(&question.event);
        let sites = Sites::of(&question.event, page, question.task);
        let base = unknown()
            .with(if self.policy.session.is_spent(&question.history, EventKind::of(root)) {
                symbol::Uses::Spent
            } else {
                symbol::Uses::Under
            })
            .with(if self.policy.session.is_out_of_prompts(&question.history) {
                symbol::Prompts::Spent
            } else {
                symbol::Prompts::Under
            })
            .with(if self.policy.session.bars(&question.history, root, true) {
                symbol::Taint::Tainted
            } else {
                symbol::Taint::Clean
            })
            .with(if self.policy.session.bars(&question.history, root, false) {
                symbol::Session::Barred
            } else {
                symbol::Session::Free
            })
            .with(consent(question.consent))
            .with(safety(question.safety))
            .with(container(page, question.task));
        let seen = match page {
            Some(page) => base
                .with(match relation(&page.origin, &sites) {
                    Some(_) if provider.is_some() => symbol::Origin::Provider,
                    Some(true) => symbol::Origin::Task,
                    Some(false) => symbol::Origin::Other,
                    None => symbol::Origin::Unknown,
                })
                .with(match relation(&page.top_origin, &sites) {
                    Some(true) => symbol::TopOrigin::Task,
                    Some(false) => symbol::TopOrigin::Other,
                    None => symbol::TopOrigin::Unknown,
                })
                .with(tls(page, question.task))
                .with(if provider.is_some() { symbol::Frame::Provider } else { frame(page) })
                .with(if page.document.is_known() {
                    symbol::Document::Known
                } else {
                    symbol::Document::Unknown
                })
                .with(sink(page.sink)),
            None => base,
        };
        let seen = match &question.event {
            // The policy refuses these over a connection in clear; here they do not even look like it.
            Event::Request { request, .. } if is_never_in_clear(request) => without_loopback(seen),
            // Nor is anything ordered over one.
            Event::Checkout { .. } => without_loopback(seen),
            _ => seen,
        };
        let decided = match &question.event {
            Event::Request { request, placements, amount } => seen
                .with(plan(request.kind, question.task))
                .with(destination(
                    page.and_then(|page| page.destination.known()).map(|goal| &goal.origin),
                    |goal| sites.is_goal(goal),
                    !is_never_in_clear(request)
                        && page.is_some_and(|page| sends_on_this_machine(page, question.task)),
                ))
                .with(claim(&request.claim, page, *amount))
                .with(match page {
                    None if request.kind == Kind::Payment => symbol::Amount::Unknown,
                    _ => self.amount(request.kind, *amount, question.task, &question.history),
                })
                .with(self.placement(request, placements, page))
                .with(visibility(placements.iter().map(|p| control(page, *p))))
                .with(self.site(question, page)),
            Event::Checkout { request, endpoint, amount } => seen
                .with(plan(request.kind, question.task))
                .with(endpoint_goal(endpoint, page, &sites))
                .with(claim(&request.claim, page, *amount))
                .with(match request.kind {
                    Kind::Purchase => self.amount(request.kind, *amount, question.task, &question.history),
                    _ => symbol::Amount::Unknown,
                })
                .with(self.placement(request, &[], page))
                .with(self.site(question, page)),
            Event::Verb { verb, to, carries } => seen
                .with(destination(
                    goal(*verb, *to, page).map(|goal| goal.origin),
                    |goal| sites.is_goal(goal),
                    match (verb, to) {
                        // The proxy connects a listed site of this machine to a loopback address or not at all.
                        // A task with sites of its own is not about another one of this machine.
                        (VerbKind::Open, Some(to)) => {
                            let sites = question.task.origins();
                            question.task.has_on_this_machine(to.origin)
                                && (sites.is_empty() || sites.contains(to.origin))
                        }
                        _ => page.is_some_and(|page| sends_on_this_machine(page, question.task)),
                    },
                ))
                .with(visibility(page.and_then(|page| page.target.as_ref()).map(Some).into_iter()))
                .with(match carries {
                    Fact::Known(Carried::Own) => symbol::Flow::Own,
                    Fact::Known(Carried::Here) => symbol::Flow::Stays,
                    Fact::Known(Carried::Elsewhere) => symbol::Flow::Crosses,
                    Fact::Unknown => symbol::Flow::Unknown,
                })
                .with(self.site(question, page)),
        };
        // These say themselves where they go to, and not by a form of the page.
        let has_own_goal =
            matches!(question.event, Event::Verb { verb: VerbKind::Open, .. } | Event::Checkout { .. });
        match (page, provider) {
            (Some(page), Some(provider)) if !has_own_goal => decided.with(goal_of_frame(page, provider)),
            _ => decided,
        }
    }

    /// The symbol for the controls of the fields.
    fn placement(
        &self,
        request: &Request,
        placements: &[Placement],
        page: Option<&Snapshot>,
    ) -> symbol::Placement {
        let fields = request.effective_fields();
        if !fields.is_subset_of(request.kind.allowed_fields()) {
            return symbol::Placement::Lacking;
        }
        if placements.is_empty() {
            return symbol::Placement::Unplaced;
        }
        let form = page.and_then(|page| page.form);
        let takes = |placement: &Placement| {
            control(page, *placement).is_some_and(|control| control.editable && control.form == form)
        };
        let repeated = |index: usize, placement: &Placement| {
            let mut rest = placements.iter().skip(index + 1);
            rest.any(|other| other.node == placement.node)
        };
        let whole = placements.iter().map(|placement| placement.field).collect::<sirl::FieldSet>() == fields
            && placements.iter().all(takes)
            && !placements.iter().enumerate().any(|(index, placement)| repeated(index, placement));
        let in_lines = |placement: &Placement| {
            placement.field == Field::Street
                && control(page, *placement).is_some_and(|control| control.tag == "textarea")
        };
        let exposed = |placement: &Placement| {
            self.policy.tiers.of(placement.field) == Tier::T2
                && control(page, *placement).is_some_and(free_text)
                && !in_lines(placement)
        };
        let pointed = |placement: &&Placement| placement.basis == Basis::Agent;
        let astray = |placement: &Placement| !page.is_some_and(|page| suffices(page, *placement));
        match whole {
            false => symbol::Placement::Lacking,
            true if placements.iter().filter(pointed).any(astray) => symbol::Placement::Lacking,
            true if placements.iter().any(exposed) => symbol::Placement::FreeText,
            true if placements.iter().any(|placement| pointed(&placement) || in_lines(placement)) => {
                symbol::Placement::Doubtful
            }
            true => symbol::Placement::Whole,
        }
    }

    fn amount(
        &self,
        kind: Kind,
        amount: Option<sirl::Money>,
        task: &Task,
        history: &History,
    ) -> symbol::Amount {
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
    fn site(&self, question: &Question<'_>, page: Option<&Snapshot>) -> symbol::Site {
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
        let root = self.root(&question.event);
        let forbidden = self.sites.forbids(root, from.chain(to));
        match (forbidden, complete) {
            (true, _) => symbol::Site::Forbidden,
            (false, true) => symbol::Site::Free,
            (false, false) => symbol::Site::Unknown,
        }
    }
}

/// The valuation in which every fact is unknown.
fn unknown() -> Valuation {
    Valuation::FIRST
        .with(symbol::Plan::Unplanned)
        .with(symbol::Site::Unknown)
        .with(symbol::Container::Unknown)
        .with(symbol::Origin::Unknown)
        .with(symbol::TopOrigin::Unknown)
        .with(symbol::Tls::Unknown)
        .with(symbol::Frame::Unknown)
        .with(symbol::Document::Unknown)
        .with(symbol::Destination::Unknown)
        .with(symbol::Sink::Unknown)
        .with(symbol::Claim::Contradicts)
        .with(symbol::Amount::Unknown)
        .with(symbol::Placement::Lacking)
        .with(symbol::Visibility::Unknown)
        .with(symbol::Safety::Unknown)
        .with(symbol::Flow::Unknown)
}

fn plan(kind: Kind, task: &Task) -> symbol::Plan {
    if task.kinds().contains(&kind) { symbol::Plan::Planned } else { symbol::Plan::Unplanned }
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

fn without_loopback(seen: Valuation) -> Valuation {
    let is_loopback = seen.get(Axis::Tls) == symbol::Tls::Loopback.index();
    if is_loopback { seen.with(symbol::Tls::Insecure) } else { seen }
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

fn control(page: Option<&Snapshot>, placement: Placement) -> Option<&Control> {
    page.and_then(|page| page.controls.iter().find(|control| control.node == placement.node))
}

/// Whether the agent's word is enough for a placement, if the user agrees: it never is for card data, passwords, codes and
/// identity numbers, for free text, and for a form that is not sent by `POST`.
pub fn suffices(page: &Snapshot, placement: Placement) -> bool {
    let is_posted = page.destination.known().is_some_and(|goal| &*goal.method == "POST");
    let takes_a_line = control(Some(page), placement).is_some_and(|control| !free_text(control));
    is_posted && takes_a_line && !NEVER_POINTED.contains(placement.field)
}

/// Whether a control takes free text, such as a chat box.
fn free_text(control: &Control) -> bool {
    !matches!(control.tag.as_str(), "input" | "select") || control.input_type == "search"
}

fn visibility<'a>(controls: impl Iterator<Item = Option<&'a Control>>) -> symbol::Visibility {
    let mut worst = None;
    for control in controls {
        let seen = match control.map(|control| (control.visible, control.hit)) {
            Some((Fact::Known(true), Fact::Known(true))) => symbol::Visibility::Seen,
            Some((Fact::Known(false), _) | (_, Fact::Known(false))) => symbol::Visibility::Hidden,
            _ => symbol::Visibility::Unknown,
        };
        worst = worst.max(Some(seen));
    }
    worst.unwrap_or(symbol::Visibility::Unknown)
}

/// Whether the browser confirms every claim. It does not confirm a claim that is no origin, or one about a fact that it
/// does not know.
fn claim(claim: &Claim, page: Option<&Snapshot>, amount: Option<sirl::Money>) -> symbol::Claim {
    let same_origin = |claimed: &Option<String>, seen: Option<&Origin>| match claimed {
        None => true,
        Some(text) => seen.is_some_and(|origin| origin.is_written_as(text)),
    };
    let agrees = same_origin(&claim.origin, page.and_then(|page| page.origin.known()))
        && same_origin(&claim.top_origin, page.and_then(|page| page.top_origin.known()))
        && claim
            .container
            .is_none_or(|tier| page.and_then(|p| p.container.known()).copied() == Some(container_of(tier)))
        && claim.tls.is_none_or(|secure| {
            page.and_then(|page| page.tls.known()).is_some_and(|state| (*state == TlsState::Valid) == secure)
        })
        && claim.sink.as_deref().is_none_or(|word| {
            let seen = page.and_then(|page| page.sink.known()).copied();
            sink_named(word).is_some_and(|claimed| seen == Some(claimed))
        })
        && claim.total.is_none_or(|total| amount == Some(total));
    if agrees { symbol::Claim::Agrees } else { symbol::Claim::Contradicts }
}

const fn container_of(tier: Tier) -> Container {
    match tier {
        Tier::T0 => Container::T0,
        Tier::T1 => Container::T1,
        Tier::T2 => Container::T2,
    }
}

/// The sink that a claim names.
fn sink_named(word: &str) -> Option<Sink> {
    match word {
        "payment" | "payment_form" | "payment form" => Some(Sink::PaymentForm),
        "address" | "address_form" | "address form" => Some(Sink::AddressForm),
        "login" | "login_form" | "login form" => Some(Sink::LoginForm),
        "free_text" | "free text" => Some(Sink::FreeText),
        "other" => Some(Sink::Other),
        _ => None,
    }
}
