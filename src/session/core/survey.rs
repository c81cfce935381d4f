//! The survey of a request block: looks at the page before the user is asked, and the question about all its requests.

use browser_signals::{Fact, Observed, Snapshot};
use policy_dfa::{Consent, ConsentScope, Millis, Reason, Verdict};
use sirl::{Field, Kind};

use super::block::has_loose_free_text;
use super::block_state::{BlockPhase, BlockState, PageIdentity, PendingConsent};
use super::messages::{Command, GuardCommand, Look, Seen, first_of};
use super::state::{Core, State};
use crate::consent::Asked;
use crate::guard::mandate::NotCovered;
use crate::guard::placement::place_at;
use crate::guard::pointing::{PointedControls, PointedForm, pointed_boxes};
use crate::guard::purpose::form_place;
use crate::session::decisions::fit_fields;

impl Core {
    pub(super) fn survey_button(&mut self, block: BlockState, forms: Vec<Observed<Snapshot>>) -> Command {
        let look = block.button.clone().map_or(Look::Page, Look::Element);
        self.enter(State::Block(Box::new((block, BlockPhase::SurveyButton(forms)))), Command::Look(look))
    }

    /// Looks at the controls that the agent points at, one after the other, and then decides.
    pub(super) fn survey_controls(
        &mut self,
        mut block: BlockState,
        forms: Vec<Observed<Snapshot>>,
        button: Option<Observed<Snapshot>>,
        now: Millis,
    ) -> Command {
        let Some((field, control)) = block.next_pointer() else {
            return self.survey(block, &forms, button, now);
        };
        let phase = BlockPhase::SurveyControl { field, forms, button };
        self.enter(State::Block(Box::new((block, phase))), Command::Look(Look::Element(control)))
    }

    /// Notes the control that the agent points at for a field of the current request. All are in one form.
    pub(super) fn note_pointer(&mut self, block: &mut BlockState, field: Field, seen: Seen) {
        let found = first_of(seen).and_then(|page| {
            let target = page.target.as_ref().ok_or(Reason::ControlMismatch)?;
            Ok((PointedForm::of(page.value()).ok_or(Reason::StaleDocument)?, target.node))
        });
        let Some(line) = block.current() else { return };
        let found = found.and_then(|(form, node)| {
            let controls =
                line.controls.get_or_insert(PointedControls { form: form.clone(), at: Vec::new() });
            if controls.form != form {
                return Err(Reason::ControlMismatch);
            }
            controls.at.push((field, node));
            Ok(())
        });
        if let Err(reason) = found {
            self.refuse_line(block, reason);
        }
    }

    /// Decides every request before the prompt, so that the user is not asked about a request that would be refused.
    fn survey(
        &mut self,
        mut block: BlockState,
        forms: &[Observed<Snapshot>],
        button: Option<Observed<Snapshot>>,
        now: Millis,
    ) -> Command {
        let mut asks: Vec<PendingConsent> = Vec::new();
        let mut pointed = self.read.pointed.clone();
        self.divide(&mut block, forms);
        for at in 0..block.requests.len() {
            block.at = at;
            let Some(line) = block.current().filter(|line| line.reply.is_none()) else { continue };
            let page =
                if line.is_purchase() { button.as_ref() } else { line.form_among(forms, pointed.as_ref()) };
            let Some(page) = page else {
                let is_there = line.is_purchase() || line.form.is_some() || line.controls.is_some();
                let reason = if is_there { Reason::StaleDocument } else { Reason::NoForm };
                self.refuse_line(&mut block, reason);
                continue;
            };
            line.pointed = pointed;
            pointed = PointedForm::of(page.value());
            let controls = line.at().to_vec();
            if line.form.is_none() {
                line.later = fit_fields(&mut line.request, page.value(), &controls);
            }
            let (request, later) = (line.request.clone(), line.later);
            let request_is_purchase = line.is_purchase();
            let form = form_place(page.value(), has_loose_free_text(forms, page));
            let hindered = if request_is_purchase {
                self.cannot_pay(&block, page.value()).map_or(Ok(None), Err)
            } else {
                self.new_password(&request, page.value(), &controls)
            };
            // A choice that the vault keeps says which record a standing yes is about.
            let _asked_below = self.undecided(request.kind, request.effective_fields(), page.value());
            let decided = self.decide_request(&request, &controls, page, &form, Consent::None, now);
            let (verdict, new_password) = match (decided, hindered) {
                (Verdict::Grant(_) | Verdict::Ask(_), Err(reason)) => (Verdict::Deny(reason), None),
                (verdict, new_password) => (verdict, new_password.ok().flatten()),
            };
            match verdict {
                // The release decides again on a fresh look. This grant expires unused.
                Verdict::Grant(_) => {}
                Verdict::Deny(reason) => {
                    let first = block.first_part();
                    asks.retain(|ask| ask.at < first);
                    block.at = first;
                    self.refuse_line(&mut block, reason);
                }
                Verdict::Ask(_) if self.prompts_are_spent() => {
                    self.refuse_line(&mut block, Reason::QuestionsSpent);
                }
                Verdict::Ask(mut prompt) => {
                    if new_password.is_some() || !request_is_purchase && !form.can_stand() {
                        prompt.scope = ConsentScope::EveryTime;
                    }
                    let (rules, makes) = new_password.map(|new| (new.rules, new.asked)).unzip();
                    if let Some(line) = block.current() {
                        line.asked_on = Some(PageIdentity::of(page.value()));
                        let fields = request.effective_fields();
                        line.asked_for = place_at(page.value(), fields, &controls).unwrap_or_default();
                        line.new_password = rules;
                    }
                    if let Some(origin) = page.origin.known() {
                        let (page, origin) = (Box::new(page.value().clone()), origin.clone());
                        let boxes = pointed_boxes(&page, request.effective_fields(), &controls);
                        asks.push(PendingConsent { at, later, prompt, page, origin, form, boxes, makes });
                    }
                }
            }
        }
        self.choose_records(block, asks, now)
    }

    /// The question about all requests of a block.
    pub(super) fn ask(&mut self, block: BlockState, asks: Vec<PendingConsent>, now: Millis) -> Command {
        if asks.is_empty() {
            return self.release_next(block, now);
        }
        let mut asked = self.asked_of(&block, &asks);
        for makes in asks.iter().filter_map(|ask| ask.makes.as_ref()) {
            if !asked.contains(makes) {
                asked.push(makes.clone());
            }
        }
        if let Some(paid) = asks.iter().find(|ask| ask.pays()) {
            // The order is at the shop, also where a provider's frame takes the card.
            let provider = self.provider_frame(&paid.page);
            let shop = provider.map_or_else(|| paid.origin.clone(), |frame| frame.top_origin().clone());
            if !self.agent.actions.can_be_shown() {
                return self.refuse_all(block, Reason::TooMuchToShow, now);
            }
            let page_says = self.page_says_it_recurs(&shop);
            let filled = asked.iter().filter_map(|asked| match asked {
                Asked::Release { kind: Kind::Address, to, records, .. } if *to == shop => {
                    Some(records.clone())
                }
                _ => None,
            });
            let filled: Vec<String> = filled.flatten().collect();
            asked.push(Asked::Order(self.agent.actions.order(&shop, filled, page_says)));
        }
        let pages: Vec<&Snapshot> = asks.iter().map(|ask| &*ask.page).collect();
        // One answer covers all requests, so it lasts no longer than the strictest one allows.
        let scopes = asks.iter().map(|ask| ask.prompt.scope);
        let scope = scopes.min_by_key(|scope| *scope as u8).unwrap_or(ConsentScope::EveryTime);
        let prompt = Box::new(self.prompt(asked, &pages, scope, now));
        // Whatever the user answers, no mandate answers a later question about a payment.
        let mandate = self.agent.mandate.as_mut().filter(|_| asks.iter().any(PendingConsent::pays));
        if let Some(mandate) = mandate {
            mandate.end(NotCovered::Asked);
        }
        let phase = BlockPhase::Asking(asks, prompt.clone());
        self.enter(State::Block(Box::new((block, phase))), Command::Guard(GuardCommand::Ask(prompt)))
    }

    /// Why a purchase could not be carried out although it were granted, as far as that is known before the button is
    /// pressed. Whether the shop then asks the browser for the payment is known only afterwards.
    fn cannot_pay(&self, block: &BlockState, page: &Snapshot) -> Option<Reason> {
        if !self.settings.has_payment_handler {
            return Some(Reason::NoPaymentHandler);
        }
        if block.button.is_none() {
            return Some(Reason::NoPayButton);
        }
        let hidden = page.target.as_ref().is_some_and(|button| button.visible == Fact::Known(false));
        hidden.then_some(Reason::Occluded)
    }
}
