//! The releases of an order: what is told to the shop, and the purchase. Each is recorded before the vault opens, on a fresh look, and
//! its outcome afterwards.

use browser_signals::{Observed, Snapshot};
use checkout_protocols::Bought;
use policy_dfa::{Consent, Delivery, Grant, Millis, Reason, SessionEvent, Ucp};
use sirl::{Kind, PurchaseMethod};
use vault::{SealedMandate, SealedOrderData};

use super::messages::{Command, GuardCommand, Look, Seen, first_of};
use super::order_state::{OrderCommand, OrderPhase, OrderState, Part, place_of};
use super::state::{AfterRecord, Core};
use crate::audit::AuditEvent;
use crate::consent::{OrderProblem, ReleaseScope, Warning, WarningCause};
use crate::egress;
use crate::guard::mandate::NotCovered;
use crate::orders::{OrderFailure, is_doubtful};
use crate::session::outcome::{ActionOutcome, RequestResult};

impl Core {
    /// Binds a yes with the task, if it allows this telling, to the order: a form is then asked about.
    pub(super) fn bind_to_order(&mut self, order: &OrderState, now: Millis) {
        let (Some(telling), Some(endpoint)) = (order.telling(), &order.endpoint) else { return };
        let records = &self.records_of(order, telling);
        let (kind, fields, to) = (telling.kind, telling.fields, &endpoint.origin);
        let form = Some(&place_of(endpoint));
        self.values.book.bind(&ReleaseScope { kind, fields, records, to, form }, now);
    }

    /// Keeps the grant of the current part, and records what is about to be released once all that goes together is granted.
    pub(super) fn intend(&mut self, mut order: OrderState, grant: Grant<Ucp>, now: Millis) -> Command {
        if order.consent == Consent::None {
            self.bind_to_order(&order, now);
        }
        // A change of consents between the first grant and the release ends the order.
        if order.grants.is_empty() {
            self.user.overtaken = false;
        }
        order.grants.push(grant);
        if order.part != Part::Purchase && order.grants.len() < order.tellings.len() {
            let next = order.grants.len();
            order.go_on(Part::Telling(next));
            return self.wait(order, OrderPhase::Looking, Command::Look(Look::Page));
        }
        let grants = std::mem::take(&mut order.grants);
        let intents = order.numbers().into_iter().zip(&grants).map(|(request, grant)| {
            let terms = grant.terms();
            AuditEvent::Intent {
                request,
                kind: terms.kind,
                fields: terms.fields,
                origin: terms.origin.clone(),
                delivery: Delivery::Ucp,
                amount: terms.amount,
            }
        });
        let intents: Vec<AuditEvent> = intents.collect();
        // Whatever becomes of this purchase, the mandate is used.
        let is_mandated = order.part == Part::Purchase && order.consent == Consent::None;
        let mandate = self.agent.mandate.as_mut().filter(|_| is_mandated);
        let mandated = mandate.map(|mandate| {
            mandate.end(NotCovered::Used);
            AuditEvent::Mandated { request: order.number(), ceiling: mandate.ceiling() }
        });
        let events = mandated.into_iter().chain(intents).collect();
        let command = Command::Guard(GuardCommand::Record { events, sync: true });
        self.wait(order, OrderPhase::RecordingIntent(grants), command)
    }

    /// Opens the vault for what is granted, whose intent is recorded.
    pub(super) fn release_for(
        &mut self,
        mut order: OrderState,
        grants: Vec<Grant<Ucp>>,
        seen: Seen,
        now: Millis,
    ) -> Command {
        let page = match first_of(seen) {
            Ok(_) if self.user.overtaken => return self.end_part(order, Err(Reason::ConsentDenied.into())),
            Ok(page) => page,
            Err(reason) => return self.end_part(order, Err(reason.into())),
        };
        if order.part != Part::Purchase {
            order.delivered_to = self.address_records(&order);
        }
        let opened = match order.part {
            Part::Purchase => self.open_mandate(grants, &page, now).map(OrderCommand::Complete),
            Part::Telling(_) => self.open_tellings(grants, &page, now).map(|told| {
                let currency = self.task.budget().map(|budget| budget.currency);
                OrderCommand::Prepare { items: order.items.clone(), told, currency }
            }),
        };
        let phase = if order.part == Part::Purchase { OrderPhase::Completing } else { OrderPhase::Preparing };
        match opened {
            Ok(command) => self.wait(order, phase, Command::Order(Box::new(command))),
            Err(reason) => self.end_part(order, Err(reason.into())),
        }
    }

    fn open_mandate(
        &mut self,
        grants: Vec<Grant<Ucp>>,
        page: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<SealedMandate, Reason> {
        let vault = self.values.vault.lock().map_err(|_| Reason::VaultLocked)?;
        let grant = grants.into_iter().next().ok_or(Reason::MalformedRequest)?;
        vault.open_mandate(grant, page, now).map_err(|error| error.reason())
    }

    /// Opens what the shop is told, all on the same fresh look. The records count as released from here on.
    fn open_tellings(
        &mut self,
        grants: Vec<Grant<Ucp>>,
        page: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<Vec<SealedOrderData>, Reason> {
        let vault = self.values.vault.lock().map_err(|_| Reason::VaultLocked)?;
        let mut told = Vec::new();
        for grant in grants {
            let terms = grant.terms().clone();
            let data = vault.open_order_data(grant, page, now).map_err(|error| error.reason())?;
            for (handle, field) in vault.suppliers_among(terms.kind, terms.fields, &[&terms.origin]) {
                let to = data.to().clone();
                self.values.releases.note(egress::ReleasedValue::new(handle, field, to));
            }
            told.push(data);
        }
        Ok(told)
    }

    pub(super) fn bought(&mut self, order: &OrderState, bought: &Bought) {
        if let Some(amount) = order.amount() {
            self.happened(SessionEvent::Paid(amount));
        }
        self.counts.releases += 1;
        if is_doubtful(bought) {
            self.warn_of_order(order, OrderProblem::DoubtfulReceipt);
        }
    }

    fn warn_of_order(&mut self, order: &OrderState, problem: OrderProblem) {
        let Some(endpoint) = &order.endpoint else { return };
        let (kind, origin) = (Kind::Purchase, endpoint.origin.clone());
        self.warn(Warning { kind, origin, cause: WarningCause::Order(problem) });
    }

    /// Records the outcome of the current part, whose intent is recorded already.
    pub(super) fn end_part(&mut self, order: OrderState, outcome: Result<(), OrderFailure>) -> Command {
        let outcome = outcome.map_err(|failure| {
            // The shop may have sold, so nothing more is bought in this task.
            if let (Reason::Unconfirmed, Some(amount)) = (failure.reason, order.amount()) {
                self.happened(SessionEvent::Paid(amount));
            }
            let problem = match (failure.reason, failure.fault) {
                (Reason::Unconfirmed, _) => Some(OrderProblem::Unknown),
                (_, fault) => fault.map(|fault| OrderProblem::NotPlaced(fault.to_string())),
            };
            if let Some(problem) = problem {
                self.warn_of_order(&order, problem);
            }
            failure.reason
        });
        let ended = order.numbers();
        let failed = outcome.err();
        let events = ended.into_iter().map(|request| AuditEvent::Outcome { request, failed }).collect();
        let command = Command::Guard(GuardCommand::Record { events, sync: true });
        self.wait(order, OrderPhase::RecordingOutcome(outcome), command)
    }

    /// Refuses the order. What the shop offered is cancelled first.
    pub(super) fn refuse_order(&mut self, mut order: OrderState, reason: Reason) -> Command {
        if order.offer.take().is_some() {
            let command = Command::Order(Box::new(OrderCommand::Abandon));
            return self.wait(order, OrderPhase::Abandoning(reason), command);
        }
        self.answer_refused(order, reason)
    }

    /// Says by the agent's request that the order is refused.
    pub(super) fn answer_refused(&mut self, mut order: OrderState, reason: Reason) -> Command {
        order.block.at = 0;
        self.refuse_line(&mut order.block, reason);
        self.answer_block(&order.block)
    }

    pub(super) fn answer_order(&mut self, order: &OrderState) -> Command {
        let (Some(amount), Some(card)) = (order.amount(), self.settings.order_account.clone()) else {
            return Command::Answer(ActionOutcome::refused(Reason::MalformedRequest));
        };
        let method = PurchaseMethod::Ucp;
        let outcome = || {
            ActionOutcome::of_requests(vec![RequestResult::Purchased { card: card.clone(), amount, method }])
        };
        self.record(Vec::new(), AfterRecord::Answer { outcome: outcome(), unrecorded: outcome() })
    }
}
