//! The walk of a request block: the survey, one prompt, then each release on a fresh look.

use std::time::Duration;

use browser_signals::{ElementRef, Observed, Origin, Snapshot};
use policy_dfa::{Consent, Delivery, Granted, Millis, Reason, Verdict};
use sirl::{Block, Field, FieldSet, Kind};

use super::block_state::{
    BlockPhase, BlockState, GrantedRelease, LineReply, MadeSecret, PageIdentity, RequestLine,
};
use super::messages::{Command, Event, GuardCommand, Look, Seen};
use super::state::{AfterRecord, Core, State};
use crate::audit::AuditEvent;
use crate::consent::{AskedCode, Warning, WarningCause};
use crate::guard::mandate::NotCovered;
use crate::guard::placement::place_at;
use crate::guard::purpose::{form_place, is_free_text};
use crate::session::outcome::{ActionOutcome, RequestResult};

impl Core {
    pub(super) fn begin_block(&mut self, block: Block) -> Command {
        let requests = block.requests.into_iter().map(|request| {
            self.requests += 1;
            RequestLine {
                request,
                later: FieldSet::EMPTY,
                number: self.requests,
                consent: Consent::None,
                asked_on: None,
                asked_for: Vec::new(),
                pointed: None,
                controls: None,
                form: None,
                goes_on: false,
                is_fetched: false,
                delivered: None,
                card_fill: None,
                new_password: None,
                reply: None,
                refused: None,
            }
        });
        let requests: Vec<RequestLine> = requests.collect();
        let named = requests.iter().find_map(|line| line.request.claim.control.clone());
        let button = named.map(ElementRef).or_else(|| self.read.pay_button.clone());
        let before = self.policy.history;
        let block = BlockState { requests, button, at: 0, before, code: None };
        if self.is_order(&block) { self.begin_order(block) } else { self.begin_block_in_page(block) }
    }

    /// Begins a block whose requests are about the page.
    pub(super) fn begin_block_in_page(&mut self, block: BlockState) -> Command {
        if block.has_pending(false) {
            self.enter(State::Block(Box::new((block, BlockPhase::SurveyForms))), Command::Look(Look::Forms))
        } else {
            self.survey_button(block, Vec::new())
        }
    }

    /// Takes one event of a block and returns the next command.
    pub(super) fn step_block(
        &mut self,
        mut block: BlockState,
        phase: BlockPhase,
        event: Event,
        now: Millis,
    ) -> Command {
        match (phase, event) {
            (BlockPhase::SurveyForms, Event::Seen(Ok(forms))) if block.has_pending(true) => {
                self.survey_button(block, forms)
            }
            (BlockPhase::SurveyForms, Event::Seen(Ok(forms))) => {
                self.survey_controls(block, forms, None, now)
            }
            (BlockPhase::SurveyButton(forms), Event::Seen(Ok(pages))) => {
                let page = pages.into_iter().next();
                self.survey_controls(block, forms, page, now)
            }
            (BlockPhase::SurveyControl { field, forms, button }, Event::Seen(seen)) => {
                self.note_pointer(&mut block, field, seen);
                self.survey_controls(block, forms, button, now)
            }
            (BlockPhase::SurveyForms | BlockPhase::SurveyButton(_), Event::Seen(Err(reason))) => {
                self.refuse_all(block, reason, now)
            }
            (BlockPhase::Choosing(asks, rivals), Event::Chosen(chosen)) => {
                self.chosen(block, asks, &rivals, chosen, now)
            }
            (BlockPhase::Asking(asked, prompt), Event::Answered(answered)) => {
                self.note_reached(&answered);
                let answer = prompt.ticket().settle(&answered, now);
                if answer.agrees() {
                    block.code = self.missing_code(&prompt).map(|code| (code, prompt.clone()));
                }
                self.answered(block, asked, prompt, answer)
            }
            (BlockPhase::RecordingAnswer { asked, prompt, answer }, Event::Recorded(true)) => {
                self.store_answer(&block, &asked, &prompt, answer, now);
                match block.code.clone().filter(|(code, _)| !self.comes_after_a_source(code)) {
                    Some((code, prompt)) => self.enter(
                        State::Block(Box::new((block, BlockPhase::AskingCode))),
                        Command::Guard(GuardCommand::AskCode { code, prompt }),
                    ),
                    None => self.release_next(block, now),
                }
            }
            (BlockPhase::AskingCode, Event::CodeAsked) => self.release_next(block, now),
            (BlockPhase::Deciding, Event::Seen(seen)) => self.decide_current(block, seen, now),
            (BlockPhase::Fetching, Event::Fetched(report)) => self.record_fetch(block, report),
            (BlockPhase::RecordingFetch(report), Event::Recorded(true)) => self.fetched(block, &report, now),
            (BlockPhase::KeepingFetched(origin), Event::Kept(kept)) => {
                self.kept_fetched(block, &origin, kept, now)
            }
            (BlockPhase::RecordingIntent(release), Event::Recorded(true)) => self.code_before(block, release),
            (BlockPhase::ReadingClock(release), Event::Clock { unix_ms }) => {
                self.make_code(block, release, unix_ms)
            }
            (BlockPhase::Keeping { release, made }, Event::Kept(kept)) => {
                self.kept(block, release, made, kept)
            }
            (BlockPhase::RecordingKept { release, made: MadeSecret::Code }, Event::Recorded(true)) => {
                self.keep_before(block, release)
            }
            (BlockPhase::RecordingKept { release, made: MadeSecret::Password }, Event::Recorded(true)) => {
                self.look_again(block, release)
            }
            (
                BlockPhase::RecordingIntent(_)
                | BlockPhase::RecordingFetch(_)
                | BlockPhase::RecordingKept { .. }
                | BlockPhase::RecordingAnswer { .. },
                Event::Recorded(false),
            ) => self.refuse_all(block, Reason::AuditUnavailable, now),
            (BlockPhase::LookingAgain(release), Event::Seen(seen)) => self.release(block, release, seen, now),
            (BlockPhase::Releasing(in_flight), Event::Done(done)) => {
                self.released(block, in_flight, done, now)
            }
            (BlockPhase::RecordingOutcome(reply), Event::Recorded(_)) => {
                let reply = match reply {
                    Ok(reply) => reply,
                    Err(reason) => self.refusal(&mut block, reason),
                };
                let failed = block.current().is_some_and(|line| {
                    line.reply = Some(LineReply::Own(reply));
                    line.refused.is_some()
                });
                if failed {
                    block.end_parts();
                }
                self.release_next(block, now)
            }
            (BlockPhase::HandingOver(offer), Event::HandedOver(ended)) => {
                self.handed_over(block, *offer, ended)
            }
            (_, _) => self.refuse_all(block, Reason::BrowserLost, now),
        }
    }

    /// Goes on to the next request without a reply, or ends the block.
    pub(in crate::session) fn release_next(&mut self, mut block: BlockState, _now: Millis) -> Command {
        if block.next_pending().is_none() {
            return self.offer_hand_over(block);
        }
        let look = block.look();
        self.enter(State::Block(Box::new((block, BlockPhase::Deciding))), Command::Look(look))
    }

    fn decide_current(&mut self, mut block: BlockState, seen: Seen, now: Millis) -> Command {
        let Some(line) = block.current() else {
            return self.refuse_all(block, Reason::MalformedRequest, now);
        };
        let (request, number, consent) = (line.request.clone(), line.number, line.consent);
        let (asked_on, asked_rules) = (line.asked_on.clone(), line.new_password.clone());
        let asked_for = line.asked_for.clone();
        let purchase = line.is_purchase();
        let (controls, goes_on, is_named) =
            (line.at().to_vec(), line.goes_on, line.form.is_some() || line.controls.is_some());
        let picked = seen.map(|pages| {
            let pointed = line.pointed.as_ref();
            let page = if purchase { pages.first() } else { line.form_among(&pages, pointed) };
            let page = page.cloned();
            page.map(|page| (form_place(page.value(), has_loose_free_text(&pages, &page)), page, pages))
        });
        let (form, page, pages) = match picked {
            Ok(Some(picked)) => picked,
            Ok(None) if is_named => return self.refuse_current(block, Reason::StaleDocument, now),
            Ok(None) => return self.refuse_current(block, Reason::NoForm, now),
            Err(reason) => return self.refuse_current(block, reason, now),
        };
        // The yes is for these controls, and for what the page said of them.
        let placed = place_at(page.value(), request.effective_fields(), &controls);
        let is_moved = !purchase && placed.is_some_and(|placed| placed != asked_for);
        if asked_on.is_some_and(|asked| is_moved || asked != PageIdentity::of(page.value())) {
            return self.refuse_current(block, Reason::StaleDocument, now);
        }
        if let Err(reason) = self.is_as_asked(&request, (page.value(), &controls), (consent, asked_rules)) {
            return self.refuse_current(block, reason, now);
        }
        self.user.overtaken = false;
        let present = self.policy.history;
        if goes_on {
            // The parts of a request are one payment.
            self.policy.history = block.before;
        } else {
            block.before = present;
        }
        let verdict = self.decide_request(&request, &controls, &page, &form, consent, now);
        let refused = match (&verdict, goes_on) {
            (Verdict::Grant(_), false) => self.refused_part(&block, &pages, now),
            _ => None,
        };
        self.policy.history = present;
        if let Some(reason) = refused {
            return self.refuse_current(block, reason, now);
        }
        if matches!(verdict, Verdict::Grant(_)) && consent == Consent::None {
            self.bind(&request, page.value(), &form, now);
        }
        let release = match verdict {
            Verdict::Grant(Granted::Fill(grant)) => GrantedRelease::Fill(grant),
            Verdict::Grant(Granted::Wire(grant)) => GrantedRelease::Wire(grant),
            Verdict::Grant(Granted::PaymentApi(grant)) => GrantedRelease::Pay(grant),
            Verdict::Grant(Granted::Model(grant)) if self.settings.shows_values_to_model => {
                GrantedRelease::ShowToModel(grant)
            }
            // A request in a page is never an order at the shop's endpoint.
            Verdict::Grant(_) => return self.refuse_current(block, Reason::DeliveryForbidden, now),
            Verdict::Deny(reason) => return self.refuse_current(block, reason, now),
            // The page changed, so that the prompt would be a new one.
            Verdict::Ask(_) => return self.refuse_current(block, Reason::StaleDocument, now),
        };
        if let Some(wanted) = self.to_fetch(&block, &release) {
            return self.fetch(block, wanted, now);
        }
        let (terms, delivery) = match &release {
            GrantedRelease::Fill(grant) => (grant.terms(), Delivery::Fill),
            GrantedRelease::Wire(grant) => (grant.terms(), Delivery::Wire),
            GrantedRelease::Pay(grant) => (grant.terms(), Delivery::PaymentApi),
            GrantedRelease::ShowToModel(grant) => (grant.terms(), Delivery::Model),
        };
        let intent = AuditEvent::Intent {
            request: number,
            kind: request.kind,
            fields: terms.fields,
            origin: terms.origin.clone(),
            delivery,
            amount: terms.amount,
        };
        // Whatever becomes of this purchase, the mandate is used.
        let is_mandated = purchase && consent == Consent::None;
        let mandate = self.agent.mandate.as_mut().filter(|_| is_mandated);
        let mandated = mandate.map(|mandate| {
            mandate.end(NotCovered::Used);
            AuditEvent::Mandated { request: number, ceiling: mandate.ceiling() }
        });
        let events = mandated.into_iter().chain([intent]).collect();
        let command = Command::Guard(GuardCommand::Record { events, sync: true });
        self.enter(State::Block(Box::new((block, BlockPhase::RecordingIntent(release)))), command)
    }

    fn refuse_current(&mut self, mut block: BlockState, reason: Reason, now: Millis) -> Command {
        self.refuse_line(&mut block, reason);
        self.release_next(block, now)
    }

    pub(super) fn refuse_all(&mut self, mut block: BlockState, reason: Reason, _now: Millis) -> Command {
        while block.next_pending().is_some() {
            self.refuse_line(&mut block, reason);
        }
        self.answer_block(&block)
    }

    /// Refuses the current request, and with it the parts that follow.
    pub(super) fn refuse_line(&mut self, block: &mut BlockState, reason: Reason) {
        let reply = self.refusal(block, reason);
        if let Some(line) = block.current() {
            line.reply = Some(LineReply::Own(reply));
        }
        block.end_parts();
    }

    /// Answers the agent, once the refusals are recorded.
    pub(super) fn answer_block(&mut self, block: &BlockState) -> Command {
        if let Some((AskedCode::Card(card), _)) = &block.code
            && let Ok(mut vault) = self.values.vault.lock()
        {
            // A security code is for one payment.
            vault.forget_task_value(card, Field::CardCode);
        }
        let events = std::mem::take(&mut self.unrecorded);
        // A granted request keeps its reply, since it is recorded, even if a refusal in the same block cannot be.
        let unrecorded = ActionOutcome::of_requests(block.answers(Some(Reason::AuditUnavailable)));
        let answer =
            AfterRecord::Answer { outcome: ActionOutcome::of_requests(block.answers(None)), unrecorded };
        self.record(events, answer)
    }

    /// Counts a refusal of the current request, and returns the reply.
    pub(super) fn refusal(&mut self, block: &mut BlockState, reason: Reason) -> RequestResult {
        let reason = self.for_want_of_a_user(reason);
        self.counts.denied(reason);
        let (kind, number, fields) = block.current().map_or((Kind::Contact, 0, FieldSet::EMPTY), |l| {
            (l.request.kind, l.number, l.request.effective_fields())
        });
        self.unrecorded.push(AuditEvent::Refused {
            request: number,
            kind: Some(kind),
            fields,
            origin: self.read.origin.clone(),
            reason,
        });
        self.warn_of(kind, reason);
        if let Some(line) = block.current() {
            line.refused = Some(reason);
        }
        RequestResult::denied(kind, reason)
    }

    /// Warns the user of a refusal for a low safety or for an egress that stays open, once per kind of request.
    fn warn_of(&mut self, kind: Kind, reason: Reason) {
        let waits = self.user.wait.take().filter(|_| reason == Reason::EgressBlocked);
        let (origin, wait) = match waits {
            Some((origin, wait)) => (Some(origin), Some(wait)),
            None => (self.read.origin.clone(), None),
        };
        let cause = match reason {
            Reason::LowSafety => WarningCause::UnsafePage,
            Reason::EgressBlocked => WarningCause::EarlierPage { wait },
            _ => return,
        };
        if let Some(origin) = origin {
            self.warn(Warning { kind, origin, cause });
        }
    }

    /// Warns the user, unless they were warned of the same before.
    pub(in crate::session) fn warn(&mut self, warning: Warning) {
        if !self.user.warned.iter().any(|earlier| earlier.is_like(&warning)) {
            self.counts.warnings += 1;
            self.user.warned.push(warning.clone());
            self.user.warnings.push(warning);
        }
    }

    /// Records the wait before a release to a site whose page was open before the task. The warning of the refusal that
    /// follows shows it to the user.
    #[cfg_attr(not(unix), allow(dead_code, reason = "the service is for Unix"))]
    pub(in crate::session) fn note_wait(&mut self, to: Origin, wait: Duration) {
        self.user.wait = Some((to, wait));
    }
}

impl BlockState {
    /// The look that the decision of the current request needs.
    pub(super) fn look(&mut self) -> Look {
        match (self.current().is_some_and(|line| line.is_purchase()), &self.button) {
            (true, Some(button)) => Look::Element(button.clone()),
            (true, None) => Look::Page,
            (false, _) => Look::Forms,
        }
    }
}

/// Whether the form's document has a free-text control that no form owns. A script may send it with the form.
pub(super) fn has_loose_free_text(pages: &[Observed<Snapshot>], form: &Snapshot) -> bool {
    let loose = pages.iter().filter(|page| page.form.is_none() && page.document == form.document);
    loose.flat_map(|page| &page.controls).any(is_free_text)
}
