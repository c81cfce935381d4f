//! The release of a granted request: the vault opens on a fresh look, the driver delivers the values, and the outcome is
//! recorded.

use browser_signals::{Destination, Observed, Snapshot};
use policy_dfa::{Grant, Millis, Model, Reason, SessionEvent, Terms};
use sirl::{FieldSet, Kind, PurchaseMethod, reply::Delivered};
use vault::Vault;

use super::block_state::LineReply;
use super::block_state::{BlockPhase, BlockState, GrantedRelease, InFlight};
use super::messages::{Command, GuardCommand, Payment, Seen};
use super::state::{Core, State};
use crate::audit::AuditEvent;
use crate::consent::ACCOUNT_NAMES;
use crate::egress;
use crate::guard::pointing::PointedForm;
use crate::session::outcome::{RequestResult, ShownValues};

impl Core {
    /// Opens the vault for a release whose intent is recorded, and has the driver deliver the values.
    pub(super) fn release(
        &mut self,
        mut block: BlockState,
        release: GrantedRelease,
        seen: Seen,
        now: Millis,
    ) -> Command {
        let pages = match seen {
            Ok(_) if self.user.overtaken => return self.end_request(block, Err(Reason::ConsentDenied)),
            Ok(pages) => pages,
            Err(reason) => return self.end_request(block, Err(reason)),
        };
        if let Some(line) = block.current().filter(|line| line.request.kind == Kind::Payment) {
            let page = line.form_among(&pages, line.pointed.as_ref());
            line.card_fill = page.and_then(|page| self.card_fill(page.value()));
        }
        let opened = match release {
            GrantedRelease::Fill(grant) => {
                let terms = grant.terms().clone();
                let opened = self.on_form(&terms, pages, |vault, page| vault.open_fill(grant, page, now));
                opened.map(|fill| (InFlight::Filled, Command::Fill(fill)))
            }
            GrantedRelease::Wire(grant) => {
                let terms = grant.terms().clone();
                let mut entropy = self.nonces.entropy();
                let opened = self
                    .on_form(&terms, pages, |vault, page| vault.open_wire(grant, page, now, &mut entropy));
                let number = block.current().map_or(0, |line| line.number);
                opened.map(|mut wire| {
                    // The record identifies the request by this number, and so does the event of the wire's end.
                    wire.request = number;
                    (InFlight::Wired, Command::Wire(wire))
                })
            }
            GrantedRelease::ShowToModel(grant) => {
                let line = block.current();
                let page = line.and_then(|line| line.form_among(&pages, line.pointed.as_ref()));
                match page.cloned() {
                    Some(page) => self.show_to_model(grant, &page, now),
                    None => Err(Reason::StaleDocument),
                }
            }
            GrantedRelease::Pay(grant) => {
                let terms = grant.terms().clone();
                let (Some(page), Some(amount), Some(button)) =
                    (pages.into_iter().next(), terms.amount, block.button.clone())
                else {
                    return self.end_request(block, Err(Reason::NoPayButton));
                };
                let opened = match self.values.vault.lock() {
                    Ok(vault) => vault.open_payment(grant, &page, now).map_err(|error| error.reason()),
                    Err(_) => Err(Reason::VaultLocked),
                };
                opened.map(|card| {
                    let handle = card.handle().to_owned();
                    let decided = Box::new(page);
                    let payment = Payment { card, payee: terms.origin, amount, button, decided };
                    (InFlight::Paid(handle), Command::Pay(Box::new(payment)))
                })
            }
        };
        match opened {
            Ok((in_flight, command)) => {
                self.enter(State::Block(Box::new((block, BlockPhase::Releasing(in_flight)))), command)
            }
            Err(reason) => self.end_request(block, Err(reason)),
        }
    }

    /// Opens the vault for the model, on the fresh look at the page. As for a form, the supplying records count as released
    /// from here on.
    fn show_to_model(
        &mut self,
        grant: Grant<Model>,
        page: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<(InFlight, Command), Reason> {
        let terms = grant.terms().clone();
        let destination = page.destination.known().cloned().ok_or(Reason::StaleDocument)?;
        let vault = self.values.vault.lock().map_err(|_| Reason::VaultLocked)?;
        let values = vault.open_to_the_model(grant, page, now).map_err(|error| error.reason())?;
        for (handle, field) in
            vault.suppliers_to(terms.kind, terms.fields, &terms.origin, &destination.origin)
        {
            let shown = (handle.clone(), field, terms.origin.clone());
            if !self.values.shown_to_model.contains(&shown) {
                self.values.shown_to_model.push(shown);
            }
            self.values.releases.note(egress::ReleasedValue::new(handle, field, destination.clone()));
        }
        let open = vec![terms.origin, destination.origin];
        Ok((InFlight::Shown(ShownValues::new(terms.kind, &values)), Command::Narrow(open)))
    }

    /// Opens the vault for a form, on the fresh look at it. The supplying records count as released from here on, before
    /// the values are delivered.
    fn on_form<T>(
        &mut self,
        terms: &Terms,
        pages: Vec<Observed<Snapshot>>,
        open: impl FnOnce(&Vault, &Observed<Snapshot>) -> Result<T, vault::ReleaseError>,
    ) -> Result<T, Reason> {
        let same = pages.into_iter().find(|page| page.form == terms.form && page.frame == terms.frame);
        let page = same.ok_or(Reason::StaleDocument)?;
        let vault = self.values.vault.lock().map_err(|_| Reason::VaultLocked)?;
        let opened = open(&vault, &page).map_err(|error| error.reason())?;
        let destination = terms.goes_to().ok_or(Reason::StaleDocument)?;
        let placed: FieldSet = terms.placements.iter().map(|placement| placement.field).collect();
        let receivers = terms.receivers();
        let suppliers = vault.suppliers_among(terms.kind, placed, &receivers.iter().collect::<Vec<_>>());
        self.agent.actions.note_filled(page.value(), terms, &suppliers);
        drop(vault);
        if terms.kind == Kind::Login {
            self.values.book.use_up(&terms.origin, used_names(placed));
        }
        self.read.pointed = PointedForm::of(page.value());
        // A provider's frame may send the values to each of the provider's origins, on any path.
        let beside = receivers.into_iter().filter(|to| terms.provider.is_some() && *to != destination.origin);
        let total = self.greatest_amount(terms.amount);
        let beside = beside.map(|origin| Destination { origin, path: "/".into(), method: "POST".into() });
        for to in std::iter::once(destination.clone()).chain(beside) {
            for (handle, field) in suppliers.iter().cloned() {
                self.values.releases.note(egress::ReleasedValue {
                    total,
                    ..egress::ReleasedValue::new(handle, field, to.clone())
                });
            }
        }
        Ok(opened)
    }

    /// Settles a release that the driver carried out.
    pub(super) fn released(
        &mut self,
        mut block: BlockState,
        in_flight: InFlight,
        done: Result<(), Reason>,
        now: Millis,
    ) -> Command {
        let wired = matches!(in_flight, InFlight::Wired);
        // A form post whose outcome is unknown counts as a release, for the agent and in the policy's history, because the
        // page may have the values. Only the record says that the outcome is unknown.
        let is_unconfirmed = matches!((&in_flight, done), (InFlight::Filled, Err(Reason::Unconfirmed)));
        let done = if is_unconfirmed { Ok(()) } else { done };
        // A page that redirected the form may have done so when it saw the values, which were then withdrawn. The agent gets
        // a refusal, and the history counts a release, because the page may have the values.
        if let (InFlight::Filled, Err(Reason::WrongDestination)) = (&in_flight, done) {
            // Such a page gets the card once.
            block.current().into_iter().for_each(|line| line.card_fill = None);
            self.note_release(&mut block);
        }
        let reply = done.and_then(|()| {
            let line = block.current().ok_or(Reason::MalformedRequest)?;
            let (kind, fields, total) =
                (line.request.kind, line.request.effective_fields(), line.request.claim.total);
            self.agent.login_goes_on |= !line.later.is_empty();
            self.counts.releases += 1;
            let delivered = match in_flight {
                InFlight::Filled if is_unconfirmed => Delivered::Unconfirmed,
                InFlight::Filled => Delivered::Filled,
                InFlight::Wired => Delivered::Wired,
                InFlight::Shown(values) => {
                    self.happened(SessionEvent::Released(kind));
                    return Ok(RequestResult::Shown(values));
                }
                InFlight::Paid(card) => {
                    let amount = total.ok_or(Reason::MalformedRequest)?;
                    self.happened(SessionEvent::Paid(amount));
                    let method = PurchaseMethod::PaymentRequest;
                    return Ok(RequestResult::Purchased { card, amount, method });
                }
            };
            line.delivered = Some(delivered);
            self.note_release(&mut block);
            Ok(RequestResult::Delivered { kind, delivered, fields })
        });
        match (wired, reply) {
            // The outcome of a wire is known when the form is sent, and recorded then.
            (true, Ok(reply)) => {
                if let Some(line) = block.current() {
                    self.wires.push(line.number);
                    line.reply = Some(LineReply::Own(reply));
                }
                self.release_next(block, now)
            }
            (_, reply) => {
                let failed = reply.as_ref().err().copied().or(is_unconfirmed.then_some(Reason::Unconfirmed));
                self.record_outcome(block, reply, failed)
            }
        }
    }

    /// Ends the release of the current request with this reply.
    pub(super) fn end_request(&mut self, block: BlockState, reply: Result<RequestResult, Reason>) -> Command {
        let failed = reply.as_ref().err().copied();
        self.record_outcome(block, reply, failed)
    }

    /// Records the outcome of a release, whose intent is recorded already.
    fn record_outcome(
        &mut self,
        mut block: BlockState,
        reply: Result<RequestResult, Reason>,
        failed: Option<Reason>,
    ) -> Command {
        let request = block.current().map_or(0, |line| line.number);
        let command = Command::Guard(GuardCommand::Record {
            events: vec![AuditEvent::Outcome { request, failed }],
            sync: true,
        });
        self.enter(State::Block(Box::new((block, BlockPhase::RecordingOutcome(reply)))), command)
    }

    /// Ends a wire. Returns the event to record, if the wire was open, and counts a denial if nothing was delivered.
    pub fn end_wire(&mut self, request: u64, failed: Option<Reason>) -> Option<AuditEvent> {
        let at = self.wires.iter().position(|open| *open == request)?;
        self.wires.remove(at);
        if let Some(reason) = failed {
            self.counts.denied(reason);
        }
        Some(AuditEvent::Outcome { request, failed })
    }
}

/// The fields of a login that a form has taken. The account is named once, by its user name or its address.
fn used_names(placed: FieldSet) -> FieldSet {
    let is_named = !placed.intersection(ACCOUNT_NAMES).is_empty();
    if is_named { ACCOUNT_NAMES.iter().fold(placed, FieldSet::with) } else { placed }
}
