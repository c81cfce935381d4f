//! The walk of an order by the shop's own protocol: the shop's profile; the address, and how the buyer is reached, each by a grant of its
//! own; the shop's offer; the purchase by another grant.
//!
//! The page is only what the agent was on when it asked. Nothing on it is read or pressed, so nothing that the page or the agent did
//! there changes what is ordered: that is the offer which the shop stated, and which the user saw.

use browser_signals::meaning::{Decisive, decisive};
use browser_signals::{Destination, Observed, Snapshot};
use policy_dfa::{
    Consent, ConsentScope, Delivery, Event as Asking, Granted, Millis, Reason, SessionEvent, Verdict,
};
use sirl::{Claim, Items, Kind, Pointers, Request};

use super::block_state::{BlockState, PageIdentity};
use super::messages::{Command, Event, GuardCommand, Look, Seen, first_of};
use super::order_state::{OrderCommand, OrderPhase, OrderState, Part, Telling, place_of};
use super::state::{Core, State};
use crate::consent::{Answer, Asked, ReleaseScope};
use crate::guard::mandate::{NotCovered, ShopOffer};
use crate::guard::record_choices::{RivalRecords, Unreached};
use crate::session::prompts::consent_events;

impl Core {
    /// Whether a block is an order that the guard may place by the shop's protocol, before the other ways are tried.
    pub(super) fn is_order(&self, block: &BlockState) -> bool {
        let [line] = block.requests.as_slice() else { return false };
        let ways = self.policy.decision.deliveries(Kind::Purchase);
        let is_possible = match ways.iter().position(|way| *way == Delivery::Ucp) {
            Some(0) => true,
            // The policy prefers the payment interface, where the page has it.
            Some(_) => block.button.is_none(),
            None => false,
        };
        is_possible && self.settings.order_account.is_some() && !line.request.items.is_empty()
    }

    pub(super) fn begin_order(&mut self, block: BlockState) -> Command {
        let items = block.requests.first().map(|line| line.request.items.clone()).unwrap_or_default();
        let order = OrderState {
            block,
            items,
            part: Part::Telling(0),
            tellings: Vec::new(),
            grants: Vec::new(),
            delivered_to: Vec::new(),
            endpoint: None,
            consent: Consent::None,
            asked_on: None,
            offer: None,
        };
        self.wait(order, OrderPhase::Looking, Command::Look(Look::Page))
    }

    pub(super) fn wait(&mut self, order: OrderState, phase: OrderPhase, command: Command) -> Command {
        self.enter(State::Order(Box::new((order, phase))), command)
    }

    /// Takes one event of an order and returns the next command.
    pub(super) fn step_order(
        &mut self,
        mut order: OrderState,
        phase: OrderPhase,
        event: Event,
        now: Millis,
    ) -> Command {
        match (phase, event) {
            (OrderPhase::Looking, Event::Seen(seen)) => self.seen_for_order(order, seen, now),
            (OrderPhase::Discovering(_), Event::Discovered(Ok(None))) => self.order_in_page(order),
            (OrderPhase::Discovering(page), Event::Discovered(Ok(Some(endpoint)))) => {
                self.discovered(order, &page, endpoint, now)
            }
            (OrderPhase::Discovering(_), Event::Discovered(Err(reason))) => self.refuse_order(order, reason),
            (OrderPhase::Choosing(page, rivals), Event::Chosen(chosen)) => {
                self.chosen_for_order(order, &page, &rivals, chosen, now)
            }
            (OrderPhase::Asking(prompt), Event::Answered(answered)) => {
                let answer = self.settle_answer(&prompt, &answered, now);
                order.consent = if answer.agrees() { Consent::Given } else { Consent::Refused };
                let events = consent_events(&prompt, answer);
                let command = Command::Guard(GuardCommand::Record { events, sync: false });
                self.wait(order, OrderPhase::RecordingAnswer(answer), command)
            }
            (OrderPhase::RecordingAnswer(answer), Event::Recorded(true)) => {
                self.store_answer_about(&order, answer, now);
                self.wait(order, OrderPhase::Deciding, Command::Look(Look::Page))
            }
            (OrderPhase::Deciding, Event::Seen(seen)) => self.decide_with_answer(order, seen, now),
            (OrderPhase::RecordingIntent(grants), Event::Recorded(true)) => {
                self.wait(order, OrderPhase::LookingAgain(grants), Command::Look(Look::Page))
            }
            (OrderPhase::LookingAgain(grants), Event::Seen(seen)) => {
                self.release_for(order, grants, seen, now)
            }
            (OrderPhase::Preparing, Event::Offered(offered)) => {
                // Whatever the shop answered, it may have the address.
                for telling in &order.tellings {
                    self.counts.releases += 1;
                    self.happened(SessionEvent::Released(telling.request.kind));
                }
                let outcome = offered.map(|offer| order.offer = Some(offer));
                self.end_part(order, outcome)
            }
            (OrderPhase::Completing, Event::Ordered(ordered)) => {
                let outcome = ordered.map(|bought| self.bought(&order, &bought));
                self.end_part(order, outcome)
            }
            (OrderPhase::RecordingOutcome(Err(reason)), Event::Recorded(_)) => {
                self.refuse_order(order, reason)
            }
            (OrderPhase::Abandoning(reason), Event::Abandoned) => self.answer_refused(order, reason),
            (OrderPhase::RecordingOutcome(Ok(())), Event::Recorded(_)) if order.part != Part::Purchase => {
                order.go_on(Part::Purchase);
                self.wait(order, OrderPhase::Looking, Command::Look(Look::Page))
            }
            (OrderPhase::RecordingOutcome(Ok(())), Event::Recorded(_)) => self.answer_order(&order),
            (OrderPhase::RecordingAnswer(..) | OrderPhase::RecordingIntent(_), Event::Recorded(false)) => {
                self.refuse_order(order, Reason::AuditUnavailable)
            }
            (_, _) => self.refuse_order(order, Reason::BrowserLost),
        }
    }

    /// The first look, at which the shop's profile is read, and the look before the user is asked about the purchase.
    fn seen_for_order(&mut self, order: OrderState, seen: Seen, now: Millis) -> Command {
        let page = match first_of(seen) {
            Ok(page) => page,
            Err(reason) => return self.refuse_order(order, reason),
        };
        if order.endpoint.is_some() {
            return self.decide_before_asking(order, &page, now);
        }
        match page.origin.known().filter(|origin| origin.scheme() == "https").cloned() {
            Some(origin) => {
                let command = Command::Order(Box::new(OrderCommand::Discover(origin)));
                self.wait(order, OrderPhase::Discovering(Box::new(page)), command)
            }
            None => self.order_in_page(order),
        }
    }

    /// Tries the ways of the page, where the agent says what it would pay there.
    fn order_in_page(&mut self, order: OrderState) -> Command {
        let names_total = order.block.requests.iter().any(|line| line.request.claim.total.is_some());
        if names_total {
            self.begin_block_in_page(order.block)
        } else {
            self.refuse_order(order, Reason::NoOrders)
        }
    }

    fn discovered(
        &mut self,
        mut order: OrderState,
        page: &Observed<Snapshot>,
        endpoint: Destination,
        now: Millis,
    ) -> Command {
        // The ids are text of the agent's, which the shop gets.
        let ids: Vec<&str> = order.items.iter().map(|(id, _)| id).collect();
        if let Err(reason) = self.may_answer_with(&ids.join(" "), Some(&endpoint.origin)) {
            return self.refuse_order(order, reason);
        }
        for kind in [Kind::Address, Kind::Contact] {
            let fields = self.values.vault.lock().map(|vault| vault.order_fields(kind, &endpoint.origin));
            let fields = fields.unwrap_or_default();
            // Without an address there is no order, and the policy says so. Shops do without the rest.
            if kind == Kind::Address || self.task.kinds().contains(kind) && !fields.is_empty() {
                self.requests += 1;
                let (at, items, claim) = (Pointers::default(), Items::default(), Claim::default());
                let request = Request { kind, fields, at, items, claim };
                order.tellings.push(Telling { request, number: self.requests });
            }
        }
        order.endpoint = Some(endpoint);
        self.decide_before_asking(order, page, now)
    }

    /// Decides the current part, so that the user is not asked about what would be refused.
    fn decide_before_asking(&mut self, order: OrderState, page: &Observed<Snapshot>, now: Millis) -> Command {
        if let Some(rivals) = self.rivals_for(&order) {
            if self.user.chose_none.contains(&(rivals.kind, rivals.handles.clone())) {
                return self.refuse_order(order, Reason::ConsentDenied);
            }
            let rivals = Box::new(rivals);
            let command = Command::Guard(GuardCommand::ChooseRecord(rivals.clone()));
            return self.wait(order, OrderPhase::Choosing(Box::new(page.clone()), rivals), command);
        }
        match self.decide_order(&order, page, now) {
            Verdict::Grant(Granted::Ucp(grant)) => self.intend(order, grant, now),
            Verdict::Grant(_) => self.refuse_order(order, Reason::DeliveryForbidden),
            Verdict::Deny(reason) => self.refuse_order(order, reason),
            Verdict::Ask(_) if self.prompts_are_spent() => self.refuse_order(order, Reason::QuestionsSpent),
            Verdict::Ask(prompt) => self.ask_about_order(order, page, prompt.scope, now),
        }
    }

    /// The records for what the shop is told, among which the user has to choose.
    fn rivals_for(&self, order: &OrderState) -> Option<RivalRecords> {
        let (to, telling) = (&order.endpoint.as_ref()?.origin, order.telling()?);
        self.undecided_among(telling.kind, telling.fields, &[to], to)
    }

    fn chosen_for_order(
        &mut self,
        order: OrderState,
        page: &Observed<Snapshot>,
        rivals: &RivalRecords,
        chosen: Result<Option<String>, Unreached>,
        now: Millis,
    ) -> Command {
        self.user.reached_nobody = chosen.is_err();
        let Ok(chosen) = chosen else { return self.refuse_order(order, Reason::ConsentDenied) };
        let chosen = chosen.filter(|handle| rivals.handles.contains(handle));
        self.note_choice(rivals, order.telling().map(|telling| telling.kind), chosen);
        self.decide_before_asking(order, page, now)
    }

    /// Decides the current part on a page, with the user's answer or an earlier one.
    fn decide_order(&mut self, order: &OrderState, page: &Observed<Snapshot>, now: Millis) -> Verdict {
        let Some(endpoint) = &order.endpoint else { return Verdict::Deny(Reason::StaleDocument) };
        let Some(request) = order.request() else { return Verdict::Deny(Reason::MalformedRequest) };
        let event = Asking::Checkout { request, endpoint, amount: order.amount() };
        let history = self.policy.history;
        let consent = match order.consent {
            Consent::None | Consent::Given if self.values.book.never(request.kind, &endpoint.origin) => {
                Consent::Refused
            }
            Consent::None => {
                match self.decide(event, Some(page), history.without_prompts(), Consent::None, now) {
                    Verdict::Ask(prompt) => match self.earlier_answer(order, prompt.scope, now) {
                        Consent::None if self.is_mandated_order(order) => Consent::Mandated,
                        answer => answer,
                    },
                    _ => Consent::None,
                }
            }
            answer => answer,
        };
        self.decide(event, Some(page), history, consent, now)
    }

    /// The user's earlier answer about what the shop is told. A purchase is asked about each time.
    fn earlier_answer(&self, order: &OrderState, scope: ConsentScope, now: Millis) -> Consent {
        let (Some(telling), Some(endpoint)) = (order.telling(), &order.endpoint) else {
            return Consent::None;
        };
        let longest = self.policy.decision.consent_scope(telling.kind).unwrap_or(ConsentScope::Session);
        let records = &self.records_of(order, telling);
        let (kind, fields, to) = (telling.kind, telling.fields, &endpoint.origin);
        let form = Some(&place_of(endpoint));
        match self.values.book.about(&ReleaseScope { kind, fields, records, to, form }, longest, now) {
            Consent::Refused => Consent::Refused,
            _ if scope == ConsentScope::EveryTime => Consent::None,
            answer => answer,
        }
    }

    /// The records that supply what the shop is told.
    pub(super) fn records_of(&self, order: &OrderState, telling: &Request) -> Vec<String> {
        let to = order.endpoint.as_ref().map(|endpoint| &endpoint.origin);
        to.map(|to| self.records(telling.kind, telling.fields, to, to)).unwrap_or_default()
    }

    /// The records that the goods go to.
    pub(super) fn address_records(&self, order: &OrderState) -> Vec<String> {
        let address = order.tellings.iter().find(|telling| telling.request.kind == Kind::Address);
        address.map(|address| self.records_of(order, &address.request)).unwrap_or_default()
    }

    /// Whether the mandate of the task covers what the shop offers.
    fn is_mandated_order(&self, order: &OrderState) -> bool {
        let (Some(endpoint), Some(offer)) = (&order.endpoint, &order.offer) else { return false };
        let mandate = self.agent.mandate.as_ref().filter(|_| self.policy.decision.takes_mandates());
        let (shop, records) = (&endpoint.origin, &order.delivered_to);
        let acted = self.agent.actions.order(shop, Vec::new(), Vec::new());
        let is_unseen = self.agent.actions.must_be_seen() || !acted.refused.is_empty();
        let recurs = !self.page_says_it_recurs(shop).is_empty()
            || offer.texts().any(|text| decisive(&[text]) == Some(Decisive::Recurs));
        let signed = ShopOffer { shop, offer, records, actions: &acted.actions, is_unseen, recurs };
        mandate.is_some_and(|mandate| mandate.covers_offer(&signed).is_ok())
    }

    fn ask_about_order(
        &mut self,
        mut order: OrderState,
        page: &Observed<Snapshot>,
        scope: ConsentScope,
        now: Millis,
    ) -> Command {
        let Some(to) = order.endpoint.as_ref().map(|endpoint| endpoint.origin.clone()) else {
            return self.refuse_order(order, Reason::StaleDocument);
        };
        let asked = match (order.telling(), &order.offer) {
            (Some(telling), _) => {
                let records = self.records_of(&order, telling);
                Asked::Tell { kind: telling.kind, fields: telling.fields, shop: to, records }
            }
            (None, Some(offer)) => {
                let (records, offer) = (order.delivered_to.clone(), offer.clone());
                if let Some(mandate) = &mut self.agent.mandate {
                    mandate.end(NotCovered::Asked);
                }
                Asked::Buy {
                    shop: to,
                    records,
                    account: self.settings.order_account.clone().unwrap_or_default(),
                    offer,
                }
            }
            (None, None) => return self.refuse_order(order, Reason::MalformedRequest),
        };
        order.asked_on = Some(PageIdentity::of(page.value()));
        let prompt = Box::new(self.prompt(vec![asked], &[page.value()], scope, now));
        let command = Command::Guard(GuardCommand::Ask(prompt.clone()));
        self.wait(order, OrderPhase::Asking(prompt), command)
    }

    /// Stores an answer in the consent book, once it is recorded.
    fn store_answer_about(&mut self, order: &OrderState, answer: Answer, now: Millis) {
        let (Some(endpoint), Some(request)) = (&order.endpoint, order.request()) else { return };
        let (kind, to) = (request.kind, &endpoint.origin);
        // The user may have said never while the question was open. A yes does not replace it.
        if answer.agrees() && self.values.book.never(kind, to) {
            return;
        }
        let fields = request.effective_fields();
        let records = order.telling().map(|telling| self.records_of(order, telling)).unwrap_or_default();
        let form = place_of(endpoint);
        let form = (order.part != Part::Purchase).then_some(&form);
        self.values.book.note(&ReleaseScope { kind, fields, records: &records, to, form }, answer, now);
    }

    fn decide_with_answer(&mut self, order: OrderState, seen: Seen, now: Millis) -> Command {
        let page = match first_of(seen) {
            Ok(page) => page,
            Err(reason) => return self.refuse_order(order, reason),
        };
        if order.asked_on.as_ref().is_some_and(|asked| *asked != PageIdentity::of(page.value())) {
            return self.refuse_order(order, Reason::StaleDocument);
        }
        match self.decide_order(&order, &page, now) {
            Verdict::Grant(Granted::Ucp(grant)) => self.intend(order, grant, now),
            Verdict::Grant(_) => self.refuse_order(order, Reason::DeliveryForbidden),
            Verdict::Deny(reason) => self.refuse_order(order, reason),
            // The page changed, so that the question would be a new one.
            Verdict::Ask(_) => self.refuse_order(order, Reason::StaleDocument),
        }
    }
}
