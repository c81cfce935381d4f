//! How a request block walks: survey, one prompt, then each release on a fresh look.

use std::time::Duration;

use browser_signals::{ElementRef, Observed, Origin, Snapshot};
use policy_dfa::{Consent, ConsentScope, Delivery, Granted, Millis, Reason, Verdict};
use sirl::{Block, Field, FieldSet, Kind};

use super::core::{After, Command, Core, Event, Look, State};
use super::outcome::request_refused;
use super::work::{Ask, Line, Page, Phase, Release, Work};
use crate::audit::AuditEvent;
use crate::consent::{Asked, Warning};
use crate::placement::best_form;
use crate::purpose::{form_place, is_free_text};

/// Words on the button that starts a payment, in the languages the shops here are written in.
const PAY_WORDS: [&str; 8] = ["pay", "bezahlen", "zahlen", "payer", "pagar", "paga", "checkout", "betalen"];

impl Core {
    pub(super) fn begin_block(&mut self, block: Block) -> Command {
        let lines = block.requests.into_iter().map(|request| {
            self.requests += 1;
            Line {
                request,
                number: self.requests,
                consent: Consent::None,
                asked_on: None,
                reply: None,
                refused: None,
            }
        });
        let lines: Vec<Line> = lines.collect();
        let named = lines.iter().find_map(|line| line.request.claim.control.clone());
        let button = named.map(ElementRef).or_else(|| pay_button(&self.last_text));
        let work = Work { lines, button, at: 0, code: None };
        if work.pending(false) {
            self.enter(State::Block(Box::new((work, Phase::SurveyForms))), Command::Look(Look::Forms))
        } else {
            self.survey_button(work, Vec::new())
        }
    }

    pub(super) fn block(&mut self, mut work: Work, phase: Phase, event: Event, now: Millis) -> Command {
        match (phase, event) {
            (Phase::SurveyForms, Event::Seen(Ok(forms))) if work.pending(true) => {
                self.survey_button(work, forms)
            }
            (Phase::SurveyForms, Event::Seen(Ok(forms))) => self.survey(work, &forms, None, now),
            (Phase::SurveyButton(forms), Event::Seen(Ok(pages))) => {
                let page = pages.into_iter().next();
                self.survey(work, &forms, page, now)
            }
            (Phase::SurveyForms | Phase::SurveyButton(_), Event::Seen(Err(reason))) => {
                self.refuse_all(work, reason, now)
            }
            (Phase::Asking(asked, prompt), Event::Answered(answered)) => {
                let answer = prompt.ticket().settle(&answered, now);
                if answer.agrees() {
                    work.code = self.card_without_code(&prompt).map(|card| (card, prompt.clone()));
                }
                self.answered(work, asked, prompt, answer)
            }
            (Phase::RecordingAnswer { asked, prompt, answer }, Event::Recorded(true)) => {
                self.let_stand(&work, &asked, &prompt, answer, now);
                match work.code.clone() {
                    Some((card, prompt)) => self.enter(
                        State::Block(Box::new((work, Phase::AskingCode))),
                        Command::AskCode { card, prompt },
                    ),
                    None => self.release_next(work, now),
                }
            }
            (Phase::AskingCode, Event::CodeAsked) => self.release_next(work, now),
            (Phase::Deciding, Event::Seen(seen)) => self.decide_line(work, seen, now),
            (Phase::RecordingIntent(release), Event::Recorded(true)) => {
                let look = work.look();
                self.enter(State::Block(Box::new((work, Phase::Freshening(release)))), Command::Look(look))
            }
            (Phase::RecordingIntent(_) | Phase::RecordingAnswer { .. }, Event::Recorded(false)) => {
                self.refuse_all(work, Reason::AuditUnavailable, now)
            }
            (Phase::Freshening(release), Event::Seen(seen)) => self.release(work, release, seen, now),
            (Phase::Releasing(going), Event::Done(done)) => self.released(work, going, done, now),
            (Phase::RecordingOutcome(reply), Event::Recorded(_)) => {
                let reply = match reply {
                    Ok(text) => text,
                    Err(reason) => self.refusal(&mut work, reason),
                };
                if let Some(line) = work.current() {
                    line.reply = Some(reply);
                }
                self.release_next(work, now)
            }
            (Phase::HandingOver(offer), Event::HandedOver(ended)) => self.handed_over(work, *offer, ended),
            (_, _) => self.refuse_all(work, Reason::BrowserLost, now),
        }
    }

    fn survey_button(&mut self, work: Work, forms: Vec<Observed<Snapshot>>) -> Command {
        let look = work.button.clone().map_or(Look::Page, Look::Element);
        self.enter(State::Block(Box::new((work, Phase::SurveyButton(forms)))), Command::Look(look))
    }

    /// Decides every line before anybody is asked: nobody is asked about what would be refused.
    fn survey(
        &mut self,
        mut work: Work,
        forms: &[Observed<Snapshot>],
        button: Option<Observed<Snapshot>>,
        now: Millis,
    ) -> Command {
        let mut asks = Vec::new();
        for at in 0..work.lines.len() {
            work.at = at;
            let Some(line) = work.current() else { continue };
            let page = if line.is_purchase() {
                button.as_ref()
            } else {
                best_form(forms, line.request.effective_fields())
            };
            let Some(page) = page else {
                let reason = Reason::FieldNotAllowed;
                let reply = self.refusal(&mut work, reason);
                if let Some(line) = work.current() {
                    line.reply = Some(reply);
                }
                continue;
            };
            Core::fit_fields(&mut line.request, page.value());
            let (request, request_is_purchase) = (line.request.clone(), line.is_purchase());
            let form = form_place(page.value(), has_free_text_beside(forms, page));
            match self.decide_request(&request, page, &form, Consent::None, now) {
                // Decided again on a fresh look before the release; this grant lapses unused.
                Verdict::Grant(_) => {}
                Verdict::Deny(reason) => {
                    let reply = self.refusal(&mut work, reason);
                    if let Some(line) = work.current() {
                        line.reply = Some(reply);
                    }
                }
                Verdict::Ask(_) if self.asked_enough() => {
                    let reply = self.refusal(&mut work, Reason::BudgetSpent);
                    if let Some(line) = work.current() {
                        line.reply = Some(reply);
                    }
                }
                Verdict::Ask(mut prompt) => {
                    if !request_is_purchase && !form.can_stand() {
                        prompt.scope = ConsentScope::EveryTime;
                    }
                    if let Some(line) = work.current() {
                        line.asked_on = Some(Page::of(page.value()));
                    }
                    if let Some(origin) = page.origin.known() {
                        let (page, origin) = (Box::new(page.value().clone()), origin.clone());
                        asks.push(Ask { at, prompt, page, origin, form });
                    }
                }
            }
        }
        if asks.is_empty() {
            return self.release_next(work, now);
        }
        let mut asked: Vec<Asked> = asks.iter().map(|ask| self.asked(ask)).collect();
        if let Some(paid) = asks.iter().find(|ask| ask.pays()) {
            if !self.deeds.can_be_shown() {
                return self.refuse_all(work, Reason::UnplannedEffect, now);
            }
            let page_says = self.page_says_it_recurs(&paid.origin);
            let filled = asked.iter().filter_map(|asked| match asked {
                Asked::Release { kind: Kind::Address, to, records, .. } if *to == paid.origin => {
                    Some(records.clone())
                }
                _ => None,
            });
            let filled: Vec<String> = filled.flatten().collect();
            asked.push(Asked::Order(self.deeds.order(&paid.origin, filled, page_says)));
        }
        let pages: Vec<&Snapshot> = asks.iter().map(|ask| &*ask.page).collect();
        // There is one answer: it stands no longer than the strictest line allows.
        let scopes = asks.iter().map(|ask| ask.prompt.scope);
        let scope = scopes.min_by_key(|scope| *scope as u8).unwrap_or(ConsentScope::EveryTime);
        let prompt = self.prompt(asked, &pages, scope, now);
        let prompt = Box::new(prompt);
        let phase = Phase::Asking(asks, prompt.clone());
        self.enter(State::Block(Box::new((work, phase))), Command::Ask(prompt))
    }

    pub(super) fn release_next(&mut self, mut work: Work, _now: Millis) -> Command {
        if work.next_pending().is_none() {
            return self.offer_by_hand(work);
        }
        let look = work.look();
        self.enter(State::Block(Box::new((work, Phase::Deciding))), Command::Look(look))
    }

    fn decide_line(
        &mut self,
        mut work: Work,
        seen: Result<Vec<Observed<Snapshot>>, Reason>,
        now: Millis,
    ) -> Command {
        let Some(line) = work.current() else { return self.refuse_all(work, Reason::MalformedRequest, now) };
        let (request, number, consent) = (line.request.clone(), line.number, line.consent);
        let line_asked = line.asked_on.clone();
        let purchase = line.is_purchase();
        let picked = seen.map(|pages| {
            let page = pick(&pages, request.effective_fields(), purchase).cloned();
            page.map(|page| (form_place(page.value(), has_free_text_beside(&pages, &page)), page))
        });
        let (form, page) = match picked {
            Ok(Some(picked)) => picked,
            Ok(None) => return self.refuse_line(work, Reason::FieldNotAllowed, now),
            Err(reason) => return self.refuse_line(work, reason, now),
        };
        if line_asked.is_some_and(|asked| asked != Page::of(page.value())) {
            return self.refuse_line(work, Reason::StaleDocument, now);
        }
        self.overtaken = false;
        let verdict = self.decide_request(&request, &page, &form, consent, now);
        if matches!(verdict, Verdict::Grant(_)) && consent == Consent::None {
            self.bind(&request, page.value(), &form, now);
        }
        let release = match verdict {
            Verdict::Grant(Granted::Fill(grant)) => Release::Fill(grant),
            Verdict::Grant(Granted::Wire(grant)) => Release::Wire(grant),
            Verdict::Grant(Granted::PaymentApi(grant)) => Release::Pay(grant),
            Verdict::Grant(Granted::Model(grant)) if self.tells_model => Release::Tell(grant),
            Verdict::Grant(_) => return self.refuse_line(work, Reason::DeliveryForbidden, now),
            Verdict::Deny(reason) => return self.refuse_line(work, reason, now),
            // The page changed so that the question is a new one.
            Verdict::Ask(_) => return self.refuse_line(work, Reason::StaleDocument, now),
        };
        let (terms, delivery) = match &release {
            Release::Fill(grant) => (grant.terms(), Delivery::Fill),
            Release::Wire(grant) => (grant.terms(), Delivery::Wire),
            Release::Pay(grant) => (grant.terms(), Delivery::PaymentApi),
            Release::Tell(grant) => (grant.terms(), Delivery::Model),
        };
        let intent = AuditEvent::Intent {
            request: number,
            kind: request.kind,
            fields: terms.fields,
            origin: terms.origin.clone(),
            delivery,
            amount: terms.amount,
        };
        let command = Command::Record { events: vec![intent], sync: true };
        self.enter(State::Block(Box::new((work, Phase::RecordingIntent(release)))), command)
    }

    fn refuse_line(&mut self, mut work: Work, reason: Reason, now: Millis) -> Command {
        let reply = self.refusal(&mut work, reason);
        if let Some(line) = work.current() {
            line.reply = Some(reply);
        }
        self.release_next(work, now)
    }

    fn refuse_all(&mut self, mut work: Work, reason: Reason, _now: Millis) -> Command {
        while work.next_pending().is_some() {
            let reply = self.refusal(&mut work, reason);
            if let Some(line) = work.current() {
                line.reply = Some(reply);
            }
        }
        self.answer_block(&work)
    }

    /// Answers the agent, once the refusals are on record.
    pub(super) fn answer_block(&mut self, work: &Work) -> Command {
        if let Some((card, _)) = &work.code
            && let Ok(mut vault) = self.vault.lock()
        {
            // A security code is for one payment.
            vault.forget_task_value(card, Field::CardCode);
        }
        let events = std::mem::take(&mut self.unrecorded);
        // What was granted is granted, and on record, although a refusal beside it cannot be put there.
        let unrecorded = |line: &Line| match (&line.reply, line.refused) {
            (Some(reply), None) => reply.clone(),
            _ => request_refused(line.request.kind, Reason::AuditUnavailable),
        };
        let unrecorded: Vec<String> = work.lines.iter().map(unrecorded).collect();
        let answer = After::Answer { text: work.replies(), unrecorded: unrecorded.join("\n") };
        self.record(events, answer)
    }

    /// Counts a refusal of the current line and words the answer.
    fn refusal(&mut self, work: &mut Work, reason: Reason) -> String {
        self.counts.denied(reason);
        let (kind, number, fields) = work.current().map_or((Kind::Contact, 0, FieldSet::EMPTY), |l| {
            (l.request.kind, l.number, l.request.effective_fields())
        });
        self.unrecorded.push(AuditEvent::Refused {
            request: number,
            kind: Some(kind),
            fields,
            origin: self.page.clone(),
            reason,
        });
        self.warn_of(kind, reason);
        if let Some(line) = work.current() {
            line.refused = Some(reason);
        }
        request_refused(kind, reason)
    }

    /// A page that looks unsafe, or whose way out stays open, is told to the user, once for what was asked for.
    fn warn_of(&mut self, kind: Kind, reason: Reason) {
        let waits = self.wait.take().filter(|_| reason == Reason::EgressBlocked);
        let told = matches!(reason, Reason::LowSafety | Reason::EgressBlocked);
        let (origin, wait) = match waits {
            Some((origin, wait)) => (Some(origin), Some(wait)),
            None => (self.page.clone(), None),
        };
        let (true, Some(origin)) = (told, origin) else { return };
        let warning = Warning { kind, origin, reason, wait };
        if !self.warned.iter().any(|earlier| says_the_same(earlier, &warning)) {
            self.counts.warnings += 1;
            self.warned.push(warning.clone());
            self.warnings.push(warning);
        }
    }

    /// Nothing can be released to a site for so long yet, since a page of it was open before the task: said before the refusal,
    /// and told to the user with it.
    #[cfg_attr(not(unix), allow(dead_code, reason = "the service is for Unix"))]
    pub(super) fn note_wait(&mut self, to: Origin, wait: Duration) {
        self.wait = Some((to, wait));
    }
}

impl Work {
    /// What the current line has to be decided on.
    fn look(&mut self) -> Look {
        match (self.current().is_some_and(|line| line.is_purchase()), &self.button) {
            (true, Some(button)) => Look::Element(button.clone()),
            (true, None) => Look::Page,
            (false, _) => Look::Forms,
        }
    }
}

/// Whether two warnings differ in nothing but the time that is left.
fn says_the_same(one: &Warning, other: &Warning) -> bool {
    let about =
        |warning: &Warning| (warning.kind, warning.origin.clone(), warning.reason, warning.wait.is_some());
    about(one) == about(other)
}

/// The page a line is decided on: for a purchase the one looked at, else the form that fits best.
fn pick(pages: &[Observed<Snapshot>], fields: FieldSet, purchase: bool) -> Option<&Observed<Snapshot>> {
    if purchase { pages.first() } else { best_form(pages, fields) }
}

/// Whether a box for free text that no form owns stands in the form's document: a script sends it with the form.
fn has_free_text_beside(pages: &[Observed<Snapshot>], form: &Snapshot) -> bool {
    let loose = pages.iter().filter(|page| page.form.is_none() && page.document == form.document);
    loose.flat_map(|page| &page.controls).any(is_free_text)
}

/// The last button of the text that the model read whose name has a word for paying.
fn pay_button(text: &str) -> Option<ElementRef> {
    let lines = text.lines().rev().filter(|line| line.trim_start().starts_with("- button"));
    let mut paying = lines.filter(|line| {
        let line = line.to_lowercase();
        line.split(|c: char| !c.is_alphanumeric()).any(|word| PAY_WORDS.contains(&word))
    });
    let line = paying.next()?;
    let from = line.rfind("[ref=")? + "[ref=".len();
    let rest = line.get(from..)?;
    rest.get(..rest.find(']')?).map(|name| ElementRef(name.to_owned()))
}
