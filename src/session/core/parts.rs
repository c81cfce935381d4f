//! A payment in the frames of a provider: one request, and a fill of its own in each frame.
//!
//! A provider may ask for the number, the expiry and the code in a frame each. The request is divided into parts, each for one
//! form in one frame. They have one question and count as one payment. No part is filled unless all of them would be granted.

use browser_signals::{Observed, Snapshot};
use policy_dfa::{Consent, Millis, ProviderFrame, Reason, Verdict};
use sirl::{FieldSet, Kind, Pointers, reply::Delivered};

use super::block_state::LineReply;
use super::block_state::{BlockState, RequestLine};
use super::state::Core;
use crate::guard::placement::place;
use crate::guard::pointing::PointedForm;
use crate::guard::purpose::form_place;
use crate::session::outcome::RequestResult;

impl Core {
    /// The payment provider whose frame this is, if the policy names it.
    pub(in crate::session) fn provider_frame(&self, page: &Snapshot) -> Option<ProviderFrame> {
        self.policy.decision.provider_frame(page, &self.task)
    }

    /// Divides each payment over the frames of the page's provider. A page with such frames takes the card in them alone,
    /// whatever its own forms ask for.
    pub(super) fn divide(&mut self, block: &mut BlockState, forms: &[Observed<Snapshot>]) {
        let lines = std::mem::take(&mut block.requests);
        for line in lines {
            let parts = if line.reply.is_some() { Vec::new() } else { self.parts_of(&line, forms) };
            if parts.is_empty() {
                block.requests.push(line);
                continue;
            }
            let is_a_part = |form: &PointedForm| parts.iter().any(|(_, part)| part == form);
            if line.controls.as_ref().is_some_and(|controls| !is_a_part(&controls.form)) {
                // The card goes into the provider's frames alone, and the agent points at something else.
                block.at = block.requests.len();
                block.requests.push(line);
                self.refuse_line(block, Reason::ControlMismatch);
                continue;
            }
            for (at, (fields, form)) in parts.into_iter().enumerate() {
                let mut part = line.part(fields, form);
                if at > 0 {
                    self.requests += 1;
                    part.number = self.requests;
                    part.goes_on = true;
                }
                block.requests.push(part);
            }
        }
    }

    /// The parts of a payment: fields, and the form in a frame that takes them. If the frames do not take all that is asked for,
    /// this is the request as it is, for the first of them, and the policy refuses it.
    fn parts_of(&self, line: &RequestLine, forms: &[Observed<Snapshot>]) -> Vec<(FieldSet, PointedForm)> {
        if line.request.kind != Kind::Payment {
            return Vec::new();
        }
        let asked = line.request.effective_fields();
        let taken = |page: &Snapshot, wanted: FieldSet| {
            place(page, wanted).iter().map(|placement| placement.field).collect::<FieldSet>()
        };
        let frames = forms.iter().map(Observed::value).filter_map(|page| {
            let provider = self.provider_frame(page)?;
            (!taken(page, asked).is_empty()).then_some((page, provider))
        });
        let mut frames: Vec<(&Snapshot, ProviderFrame)> = frames.collect();
        let Some((first, chosen)) = frames.iter().rev().max_by_key(|(page, _)| taken(page, asked).len())
        else {
            return Vec::new();
        };
        let (first, chosen) = (PointedForm::of(first), chosen.clone());
        frames.retain(|(_, provider)| *provider == chosen);
        let offered = frames
            .iter()
            .fold(FieldSet::EMPTY, |all, (page, _)| taken(page, asked).iter().fold(all, FieldSet::with));
        let mut wanted = if line.request.fields.is_empty() { offered.intersection(asked) } else { asked };
        let whole = wanted;
        let mut parts = Vec::new();
        while let Some((page, _)) = frames.iter().rev().max_by_key(|(page, _)| taken(page, wanted).len()) {
            let fields = taken(page, wanted);
            let Some(form) = PointedForm::of(page).filter(|_| !fields.is_empty()) else { break };
            wanted = wanted.iter().filter(|field| !fields.contains(*field)).collect();
            parts.push((fields, form));
        }
        if wanted.is_empty() { parts } else { first.map(|form| (whole, form)).into_iter().collect() }
    }

    /// Why a further part of the current request would not be granted; `None` if all would be. It is decided before the first
    /// part is filled.
    pub(super) fn refused_part(
        &mut self,
        block: &BlockState,
        forms: &[Observed<Snapshot>],
        now: Millis,
    ) -> Option<Reason> {
        let rest = block.requests.iter().skip(block.at + 1).take_while(|line| line.goes_on);
        let rest: Vec<_> = rest.map(|line| (line.request.clone(), line.consent, line.form.clone())).collect();
        rest.into_iter().find_map(|(request, consent, form)| {
            let Some(page) = forms.iter().find(|page| PointedForm::of(page.value()) == form) else {
                return Some(Reason::StaleDocument);
            };
            let place = form_place(page.value(), false);
            match self.decide_request(&request, &[], page, &place, consent, now) {
                Verdict::Grant(_) => None,
                Verdict::Deny(reason) => Some(reason),
                Verdict::Ask(_) => Some(Reason::StaleDocument),
            }
        })
    }
}

impl RequestLine {
    /// The part of this request that takes these fields, in this form of a provider's frame.
    fn part(&self, fields: FieldSet, form: PointedForm) -> RequestLine {
        let mut request = self.request.clone();
        request.fields = fields;
        // The page's own word places card data in such a frame.
        request.at = Pointers::default();
        RequestLine {
            request,
            number: self.number,
            consent: Consent::None,
            asked_on: None,
            asked_for: Vec::new(),
            pointed: None,
            controls: None,
            new_password: None,
            later: FieldSet::EMPTY,
            form: Some(form),
            goes_on: false,
            is_fetched: false,
            delivered: None,
            card_fill: None,
            reply: None,
            refused: None,
        }
    }
}

impl BlockState {
    /// The index of the first part of the current request.
    pub(super) fn first_part(&self) -> usize {
        let begins = |at: &usize| self.requests.get(*at).is_some_and(|line| !line.goes_on);
        (0..=self.at).rev().find(begins).unwrap_or(self.at)
    }

    /// Ends the parts after the current one, which was refused: none of them is filled, and they are not answered apart.
    pub(super) fn end_parts(&mut self) {
        let rest = self.requests.iter_mut().skip(self.at + 1).take_while(|line| line.goes_on);
        rest.for_each(|line| line.reply = Some(LineReply::OfAnotherPart));
    }

    /// The answer to each request; that of a refused request is `unrecorded`, where there is one. A request that was divided
    /// has one answer if all its parts ended alike. Otherwise one line says what was filled, and another why the rest was not.
    pub(super) fn answers(&self, unrecorded: Option<Reason>) -> Vec<RequestResult> {
        let mut lines = Vec::new();
        let mut rest = self.requests.as_slice();
        while let [first, more @ ..] = rest {
            let parts = more.iter().take_while(|line| line.goes_on).count();
            let (parts, after) = more.split_at(parts);
            rest = after;
            lines.extend(answer_of(first, parts, unrecorded));
        }
        lines
    }
}

fn answer_of(first: &RequestLine, parts: &[RequestLine], unrecorded: Option<Reason>) -> Vec<RequestResult> {
    let kind = first.request.kind;
    let refusal = |line: &RequestLine| match (unrecorded, line.refused) {
        (Some(reason), Some(_)) => Some(RequestResult::denied(kind, reason)),
        (Some(reason), None) if line.reply.is_none() => Some(RequestResult::denied(kind, reason)),
        _ => match &line.reply {
            Some(LineReply::Own(reply)) => Some(reply.clone()),
            Some(LineReply::OfAnotherPart) | None => None,
        },
    };
    if parts.is_empty() {
        return refusal(first).into_iter().collect();
    }
    let all = || std::iter::once(first).chain(parts);
    let filled = all().filter(|line| line.delivered.is_some());
    let fields = filled
        .clone()
        .fold(FieldSet::EMPTY, |all, line| line.request.effective_fields().iter().fold(all, FieldSet::with));
    let unsure = filled.filter(|line| line.delivered == Some(Delivered::Unconfirmed)).count() > 0;
    let delivered = if unsure { Delivered::Unconfirmed } else { Delivered::Filled };
    let told = (!fields.is_empty()).then(|| RequestResult::Delivered { kind, delivered, fields });
    let failed = all().find(|line| line.delivered.is_none()).and_then(refusal);
    told.into_iter().chain(failed).collect()
}
