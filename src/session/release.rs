//! A granted release: the vault opens on a fresh look, the value goes, the outcome is recorded.

use browser_signals::{Observed, Snapshot};
use policy_dfa::{Grant, Happened, Millis, Model, Reason, Terms};
use sirl::{Reply, reply::Delivered};
use vault::Vault;

use super::core::{Command, Core, Payment, State};
use super::outcome::told_to_the_model;
use super::work::{Going, Phase, Release, Work};
use crate::audit::AuditEvent;
use crate::egress;
use crate::placement::best_form;

/// Pages that were looked at, or why not.
type Seen = Result<Vec<Observed<Snapshot>>, Reason>;

impl Core {
    /// Opens the vault for a release that is on record, and lets the value go.
    pub(super) fn release(&mut self, mut work: Work, release: Release, seen: Seen, now: Millis) -> Command {
        let pages = match seen {
            Ok(_) if self.overtaken => return self.end_line(work, Err(Reason::ConsentDenied)),
            Ok(pages) => pages,
            Err(reason) => return self.end_line(work, Err(reason)),
        };
        let opened = match release {
            Release::Fill(grant) => {
                let terms = grant.terms().clone();
                let opened = self.on_form(&terms, pages, |vault, page| vault.open_fill(grant, page, now));
                opened.map(|fill| (Going::Filled, Command::Fill(fill)))
            }
            Release::Wire(grant) => {
                let terms = grant.terms().clone();
                let mut entropy = self.nonces.entropy();
                let opened = self
                    .on_form(&terms, pages, |vault, page| vault.open_wire(grant, page, now, &mut entropy));
                let number = work.current().map_or(0, |line| line.number);
                opened.map(|mut wire| {
                    // The record knows the line by this number; the event of how the wire ended brings it back.
                    wire.request = number;
                    (Going::Wired, Command::Wire(wire))
                })
            }
            Release::Tell(grant) => self.tell(grant, pages, now),
            Release::Pay(grant) => {
                let terms = grant.terms().clone();
                let (Some(page), Some(amount), Some(button)) =
                    (pages.into_iter().next(), terms.amount, work.button.clone())
                else {
                    return self.end_line(work, Err(Reason::FieldNotAllowed));
                };
                let opened = match self.vault.lock() {
                    Ok(vault) => vault.open_payment(grant, &page, now).map_err(|error| error.reason()),
                    Err(_) => Err(Reason::VaultLocked),
                };
                opened.map(|card| {
                    let handle = card.handle().to_owned();
                    let decided = Box::new(page);
                    let payment = Payment { card, payee: terms.origin, amount, button, decided };
                    (Going::Paid(handle), Command::Pay(Box::new(payment)))
                })
            }
        };
        match opened {
            Ok((going, command)) => {
                self.enter(State::Block(Box::new((work, Phase::Releasing(going)))), command)
            }
            Err(reason) => self.end_line(work, Err(reason)),
        }
    }

    /// Opens the vault for the model, on the fresh look at the page. As for a form, what supplies the values counts as
    /// released from here on.
    fn tell(
        &mut self,
        grant: Grant<Model>,
        pages: Vec<Observed<Snapshot>>,
        now: Millis,
    ) -> Result<(Going, Command), Reason> {
        let terms = grant.terms().clone();
        let page = best_form(&pages, terms.fields).ok_or(Reason::StaleDocument)?;
        let destination = page.destination.known().cloned().ok_or(Reason::StaleDocument)?;
        let vault = self.vault.lock().map_err(|_| Reason::VaultLocked)?;
        let values = vault.open_to_the_model(grant, page, now).map_err(|error| error.reason())?;
        for (handle, field) in
            vault.suppliers_to(terms.kind, terms.fields, &terms.origin, &destination.origin)
        {
            let told = (handle.clone(), field, terms.origin.clone());
            if !self.told.contains(&told) {
                self.told.push(told);
            }
            self.releases.note(egress::Release { handle, field, destination: destination.clone() });
        }
        let open = vec![terms.origin, destination.origin];
        Ok((Going::Told(told_to_the_model(terms.kind, &values)), Command::Narrow(open)))
    }

    /// Opens the vault for a form, on the fresh look at it. What supplies the values counts as released from here
    /// on: noted before they go, not after.
    fn on_form<T>(
        &self,
        terms: &Terms,
        pages: Vec<Observed<Snapshot>>,
        open: impl FnOnce(&Vault, &Observed<Snapshot>) -> Result<T, vault::ReleaseError>,
    ) -> Result<T, Reason> {
        let same = pages.into_iter().find(|page| page.form == terms.form && page.frame == terms.frame);
        let page = same.ok_or(Reason::StaleDocument)?;
        let vault = self.vault.lock().map_err(|_| Reason::VaultLocked)?;
        let opened = open(&vault, &page).map_err(|error| error.reason())?;
        let destination = terms.destination.clone().ok_or(Reason::StaleDocument)?;
        let placed = terms.placements.iter().map(|placement| placement.field).collect();
        let suppliers = vault.suppliers_to(terms.kind, placed, &terms.origin, &destination.origin);
        self.deeds.note_filled(page.value(), terms, &suppliers);
        for (handle, field) in suppliers {
            self.releases.note(egress::Release { handle, field, destination: destination.clone() });
        }
        Ok(opened)
    }

    pub(super) fn released(
        &mut self,
        mut work: Work,
        going: Going,
        done: Result<(), Reason>,
        now: Millis,
    ) -> Command {
        let wired = matches!(going, Going::Wired);
        // What went and was not heard of again is a release, for the agent and in the policy's history: the page may
        // have it. Only the record says that nobody knows.
        let is_unconfirmed = matches!((&going, done), (Going::Filled, Err(Reason::Unconfirmed)));
        let done = if is_unconfirmed { Ok(()) } else { done };
        // A page that turned the form elsewhere may have done so when it heard of the values, which were withdrawn then. The
        // agent is told of the refusal; what the page may have had counts against what it may have.
        if let (Going::Filled, Err(Reason::WrongDestination), Some(line)) = (&going, done, work.current()) {
            let kind = line.request.kind;
            self.happened(Happened::Released(kind));
        }
        let reply = done.and_then(|()| {
            let line = work.current().ok_or(Reason::MalformedRequest)?;
            let (kind, fields, total) =
                (line.request.kind, line.request.effective_fields(), line.request.claim.total);
            self.counts.releases += 1;
            let delivered = match going {
                Going::Filled if is_unconfirmed => Delivered::Unconfirmed,
                Going::Filled => Delivered::Filled,
                Going::Wired => Delivered::Wired,
                Going::Told(text) => {
                    self.happened(Happened::Released(kind));
                    return Ok(text.as_str().to_owned());
                }
                Going::Paid(card) => {
                    let amount = total.ok_or(Reason::MalformedRequest)?;
                    self.happened(Happened::Paid(amount));
                    return Ok(Reply::Purchased { card, amount }.to_string());
                }
            };
            self.happened(Happened::Released(kind));
            Ok(Reply::Delivered { kind, delivered, fields }.to_string())
        });
        match (wired, reply) {
            // How it ends is known when the form is sent, and recorded then.
            (true, Ok(text)) => {
                if let Some(line) = work.current() {
                    self.wires.push(line.number);
                    line.reply = Some(text);
                }
                self.release_next(work, now)
            }
            (_, reply) => {
                let failed = reply.as_ref().err().copied().or(is_unconfirmed.then_some(Reason::Unconfirmed));
                self.record_outcome(work, reply, failed)
            }
        }
    }

    /// Ends a release that was answered so.
    pub(super) fn end_line(&mut self, work: Work, reply: Result<String, Reason>) -> Command {
        let failed = reply.as_ref().err().copied();
        self.record_outcome(work, reply, failed)
    }

    /// Records how a release ended. The intent was recorded, so this must be too.
    fn record_outcome(
        &mut self,
        mut work: Work,
        reply: Result<String, Reason>,
        failed: Option<Reason>,
    ) -> Command {
        let request = work.current().map_or(0, |line| line.number);
        let command = Command::Record { events: vec![AuditEvent::Outcome { request, failed }], sync: true };
        self.enter(State::Block(Box::new((work, Phase::RecordingOutcome(reply)))), command)
    }

    /// A wire is over: what is to be recorded of it, if it is one that was open. Where nothing was delivered, a
    /// denial is counted.
    pub fn end_wire(&mut self, request: u64, failed: Option<Reason>) -> Option<AuditEvent> {
        let at = self.wires.iter().position(|open| *open == request)?;
        self.wires.remove(at);
        if let Some(reason) = failed {
            self.counts.denied(reason);
        }
        Some(AuditEvent::Outcome { request, failed })
    }
}
