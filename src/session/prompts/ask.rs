//! Prompts within an action: their lines, their notices, the ticket that binds the answer, and the effects of the answer.

use browser_signals::lookalike::warnings;
use browser_signals::meaning::{Decisive, decisive};
use browser_signals::{Container, Fact, Origin, Snapshot, TlsState};
use policy_dfa::{Consent, ConsentScope, Millis, Reason, SessionEvent};
use sirl::{Field, FieldSet, Kind, Tier};

use super::{consent_events, distinct_records, fields_of, subject_of};
use crate::audit::AuditEvent;
use crate::consent::StandingChanges;
use crate::consent::order::WaitingRequest;
use crate::consent::{
    ACCOUNT_NAMES, Answer, Answered, Asked, AskedCode, AskedProvider, Change, ChangeOutcome, ConsentPrompt,
    Notice, QuestionTask, ReleaseScope, StandingConsent, Ticket,
};
use crate::guard::mandate::NotCovered;
use crate::session::core::block_state::{BlockPhase, BlockState, PendingConsent};
use crate::session::core::{Command, Core, GuardCommand, MAX_PROMPTS, State};

/// The maximum number of lines of a page that a prompt quotes about one subject.
const MAX_LINES: usize = 3;

/// Words for a total, in the languages of the supported shops.
const TOTALS: [&str; 7] = ["total", "summe", "gesamt", "montant", "importe", "totaal", "zu zahlen"];

impl Core {
    /// Whether the task's prompts are used up.
    pub(in crate::session) fn prompts_are_spent(&self) -> bool {
        // A question about a provider is none of these: what is left of them would tell the agent of the vault.
        let about_providers = u32::try_from(self.user.asked_providers.len()).unwrap_or(u32::MAX);
        self.counts.prompts.saturating_sub(about_providers) >= MAX_PROMPTS
    }

    /// A prompt with a ticket of its own. The answer is bound to the prompt's text, to the policy, and to `pages`, the
    /// browser's facts about each page of the prompt.
    pub(in crate::session) fn prompt(
        &mut self,
        asked: Vec<Asked>,
        pages: &[&Snapshot],
        scope: ConsentScope,
        now: Millis,
    ) -> ConsentPrompt {
        let subject = subject_of(&self.policy.decision.policy_hash(), &asked);
        let subject = pages.iter().fold(subject, |subject, page| subject.page(page)).finish();
        let ticket = Ticket::new(self.nonces.next(), subject, now);
        let mut noticed = self.notices(pages);
        noticed.extend(self.amount_notice(&asked));
        noticed.extend(self.code_notice(&asked));
        noticed.extend(self.mandate_notice(&asked, pages));
        let task = QuestionTask { chosen_by: self.settings.chosen_by, tier: self.tier(&asked) };
        let prompt = ConsentPrompt::new(asked, noticed, scope, ticket).in_task(task);
        if self.values.has_vault_file { prompt } else { prompt.for_this_task_only() }
    }

    /// The higher one of the container's tier and that of the data.
    fn tier(&self, asked: &[Asked]) -> Container {
        let of_data = match self.policy.decision.tier(fields_of(asked)) {
            Tier::T0 => Container::T0,
            Tier::T1 => Container::T1,
            Tier::T2 => Container::T2,
        };
        self.task.container().max(of_data)
    }

    /// The notices about these pages and about the task so far.
    fn notices(&self, pages: &[&Snapshot]) -> Vec<Notice> {
        let mut noticed = Vec::new();
        for page in pages {
            let Some(origin) = page.origin.known() else { continue };
            let warnings = warnings(origin, self.task.origins());
            noticed.extend(warnings.iter().map(|warning| Notice::Host(warning.to_string())));
            if page.tls == Fact::Known(TlsState::Loopback) {
                noticed.push(Notice::InClear { site: origin.clone() });
            }
            if let Some(top) = page.top_origin.known().filter(|top| *top != origin) {
                noticed.push(Notice::InFrame { top: top.clone() });
            }
            if let Some(to) = page.destination.known().map(|to| &to.origin).filter(|to| *to != origin) {
                noticed.push(Notice::SentElsewhere { to: to.clone() });
            }
        }
        noticed.dedup();
        let about = pages.iter().filter_map(|page| page.top_origin.known());
        let concerns = self.agent.safety.concerns(self.policy.decision.thresholds(), about);
        noticed.extend(concerns.into_iter().map(Notice::Suspicion));
        noticed.extend(self.settings.notice.clone());
        let refusals = self.counts.refused;
        noticed.extend((refusals > 0).then_some(Notice::Refusals(refusals)));
        noticed.extend((!self.counts.guessed.is_empty()).then_some(Notice::Guessed));
        let before = self.settings.earlier_guesses;
        noticed.extend((before > 0).then_some(Notice::GuessedBefore(before)));
        noticed
    }

    /// What is asked about these requests. The parts of one payment are one question.
    pub(in crate::session) fn asked_of(&self, block: &BlockState, asks: &[PendingConsent]) -> Vec<Asked> {
        let mut all: Vec<Asked> = Vec::new();
        for ask in asks {
            let goes_on = block.requests.get(ask.at).is_some_and(|line| line.goes_on);
            let part = self.asked(ask);
            match (all.last_mut(), part) {
                (
                    Some(Asked::Release { fields, records, .. }),
                    Asked::Release { fields: more, records: others, .. },
                ) if goes_on => {
                    *fields = more.iter().fold(*fields, FieldSet::with);
                    records.extend(
                        others.into_iter().filter(|other| !records.contains(other)).collect::<Vec<_>>(),
                    );
                }
                (_, part) => all.push(part),
            }
        }
        all
    }

    /// The prompt's lines about a request: the site, the fields and their records, the destination.
    pub(in crate::session) fn asked(&self, ask: &PendingConsent) -> Asked {
        let PendingConsent { later, prompt, page, origin, form, boxes, .. } = ask;
        match (prompt.kind, prompt.amount) {
            (Some(Kind::Purchase), Some(amount)) => Asked::Pay {
                payee: origin.clone(),
                amount,
                card: self.card(origin),
                page_says: self.page_says(origin, &amount.to_decimal()),
            },
            (kind, _) => {
                let kind = kind.unwrap_or(Kind::Contact);
                let sent_to = page.destination.known().map(|to| to.origin.clone());
                let provider = self.provider_frame(page).map(|frame| AskedProvider {
                    name: frame.provider().name().to_owned(),
                    shop: frame.top_origin().clone(),
                    tokens: frame.provider().tokens().to_vec(),
                });
                let beside = provider.iter().flat_map(|provider| &provider.tokens);
                let receivers: Vec<&Origin> = [origin].into_iter().chain(&sent_to).chain(beside).collect();
                let goal = sent_to.as_ref().unwrap_or(origin);
                let now = self.supplied(kind, prompt.fields, origin, goal);
                let fields = now.iter().chain(later.iter()).collect();
                Asked::Release {
                    kind,
                    fields,
                    later: *later,
                    to: origin.clone(),
                    records: self.records_for(kind, fields, &receivers),
                    sent_to: sent_to.clone(),
                    form: Some(form.clone()),
                    boxes: boxes.clone(),
                    provider,
                    in_order: false,
                }
            }
        }
    }

    /// The records that would supply the fields.
    pub(in crate::session) fn records(
        &self,
        kind: Kind,
        fields: FieldSet,
        to: &Origin,
        sent_to: &Origin,
    ) -> Vec<String> {
        self.records_for(kind, fields, &[to, sent_to])
    }

    /// The vault's own records that would supply the fields for an origin, without what a source would.
    pub(in crate::session) fn own_records(&self, kind: Kind, fields: FieldSet, to: &Origin) -> Vec<String> {
        let Ok(vault) = self.values.vault.lock() else { return Vec::new() };
        distinct_records(vault.suppliers(kind, fields, to))
    }

    /// The records that would supply the fields for all these origins.
    fn records_for(&self, kind: Kind, fields: FieldSet, to: &[&Origin]) -> Vec<String> {
        // A source that supplies a login supplies all of it, so that no name of another record goes with its password.
        if let Some(source) = self.source_for(kind, fields, to) {
            return vec![source.to_owned()];
        }
        let Ok(vault) = self.values.vault.lock() else { return Vec::new() };
        let named = vault.suppliers_among(kind, fields, to).into_iter().map(|(handle, field)| {
            // A source's account is named by the source: its handle is the guard's, and the user does not know it.
            (vault.source_of(&handle).map_or(handle.clone(), str::to_owned), field)
        });
        distinct_records(named.collect())
    }

    /// The fields of the records that would supply the fields of a login: an account without a user name is named by its e-mail
    /// address. Every other request stays as it is.
    pub(in crate::session) fn supplied(
        &self,
        kind: Kind,
        fields: FieldSet,
        to: &Origin,
        sent_to: &Origin,
    ) -> FieldSet {
        let username = FieldSet::EMPTY.with(Field::Username);
        if kind != Kind::Login
            || fields.intersection(ACCOUNT_NAMES) != username
            || self.source_for(kind, fields, &[to, sent_to]).is_some()
        {
            return fields;
        }
        let Ok(vault) = self.values.vault.lock() else { return fields };
        let by_address =
            vault.suppliers_to(kind, fields, to, sent_to).iter().any(|(_, field)| *field == Field::Email);
        if by_address { fields.without(username).with(Field::Email) } else { fields }
    }

    /// The card that would pay.
    fn card(&self, payee: &Origin) -> Option<String> {
        let vault = self.values.vault.lock().ok()?;
        let card = FieldSet::EMPTY.with(Field::CardNumber).with(Field::CardExpiry);
        let supplied = vault.suppliers(Kind::Purchase, card, payee);
        supplied.into_iter().find(|(_, field)| *field == Field::CardNumber).map(|(handle, _)| handle)
    }

    /// The code that an agreed prompt needs and the vault does not have: that of a card, of a payment or of a form with a field for
    /// it, or a one-time code of a login without a seed.
    pub(in crate::session) fn missing_code(&self, prompt: &ConsentPrompt) -> Option<AskedCode> {
        self.card_without_code(prompt).map(AskedCode::Card).or_else(|| self.missing_one_time_code(prompt))
    }

    /// A code that the user typed counts once, since a site takes none twice.
    fn missing_one_time_code(&self, prompt: &ConsentPrompt) -> Option<AskedCode> {
        let to = prompt.asked.iter().find_map(|asked| match asked {
            Asked::Release { fields, to, sent_to, .. } if fields.contains(Field::OneTimeCode) => {
                Some(sent_to.as_ref().unwrap_or(to))
            }
            _ => None,
        })?;
        let code = FieldSet::EMPTY.with(Field::OneTimeCode);
        // A code of an earlier fetch is forgotten before a source is asked.
        let is_served = self.source_for(Kind::Otp, code, &[to]).is_some();
        let vault = self.values.vault.lock().ok()?;
        let released = self.values.releases.all();
        let is_there = vault.suppliers(Kind::Otp, code, to).into_iter().any(|(handle, field)| {
            let is_used = released.iter().any(|used| (&used.handle, used.field) == (&handle, field));
            field == Field::OneTimeCode && (vault.makes_codes(&handle) || !(is_used || is_served))
        });
        (!is_there).then(|| AskedCode::OneTime { to: to.clone() })
    }

    fn card_without_code(&self, prompt: &ConsentPrompt) -> Option<String> {
        let cards = prompt.asked.iter().filter_map(|asked| match asked {
            Asked::Pay { card, .. } => card.clone(),
            Asked::Release { kind: Kind::Payment, fields, records, .. }
                if fields.contains(Field::CardCode) =>
            {
                records.iter().find(|record| record.starts_with("card:")).cloned()
            }
            _ => None,
        });
        let vault = self.values.vault.lock().ok()?;
        let code = FieldSet::EMPTY.with(Field::CardCode);
        cards.into_iter().find(|card| !vault.has(code, Some(card)))
    }

    /// The notice of a prompt that lets a card go into a page's form.
    fn amount_notice(&self, asked: &[Asked]) -> Option<Notice> {
        let (to, sent_to, provider) = asked.iter().find_map(|asked| match asked {
            Asked::Release { kind: Kind::Payment, to, sent_to, provider, .. } => {
                Some((to, sent_to, provider))
            }
            _ => None,
        })?;
        let receivers: Vec<&Origin> = [to].into_iter().chain(sent_to).collect();
        // The total is the shop's, also where a provider's frame takes the card.
        let to = provider.as_ref().map_or(to, |provider| &provider.shop);
        let stated = self.stated_total(to).map(|total| self.page_says(to, &total.to_decimal()));
        let mut page_says = stated.unwrap_or_default();
        for line in self.page_says_of(to, names_total) {
            if !page_says.contains(&line) {
                page_says.push(line);
            }
        }
        Some(Notice::NoAmount { page_says, is_repeated: self.has_filled_card(&receivers) })
    }

    /// The notice of a payment that the mandate of the task does not cover.
    fn mandate_notice(&self, asked: &[Asked], pages: &[&Snapshot]) -> Option<Notice> {
        let (payee, amount) = asked.iter().find_map(|asked| match asked {
            Asked::Pay { payee, amount, .. } => Some((payee, *amount)),
            _ => None,
        })?;
        let page = pages.iter().find(|page| page.origin.known() == Some(payee))?;
        self.mandated(page, Some(amount))?.err().map(Notice::NotMandated)
    }

    /// The notice of a prompt about a one-time code for a site that neither got a password in this task nor gets one now.
    fn code_notice(&self, asked: &[Asked]) -> Option<Notice> {
        let with = |wanted: Field| {
            asked.iter().filter_map(move |asked| match asked {
                Asked::Release { fields, to, sent_to, .. } if fields.contains(wanted) => {
                    Some(sent_to.as_ref().unwrap_or(to))
                }
                _ => None,
            })
        };
        let to = with(Field::OneTimeCode).next()?;
        let earlier = self.values.releases.all().into_iter();
        let mut passwords = earlier.filter(|release| release.field == Field::Password);
        let has_password = with(Field::Password).any(|other| other == to)
            || passwords.any(|release| release.destination.origin == *to);
        (!has_password).then_some(Notice::CodeAlone)
    }

    /// The prompt about waiting requests, or the reason why they are blocked without asking.
    pub fn ask_about_waiting(
        &mut self,
        waiting: Vec<WaitingRequest>,
        now: Millis,
    ) -> Result<Box<ConsentPrompt>, Reason> {
        if self.prompts_are_spent() {
            return Err(Reason::QuestionsSpent);
        }
        let order = self.agent.actions.waiting(waiting).ok_or(Reason::TooMuchToShow)?;
        if self.agent.actions.is_refused_again(&order) {
            self.agent.actions.answered(&order, false);
            return Err(Reason::ConsentDenied);
        }
        Ok(Box::new(self.prompt(vec![Asked::Order(order)], &[], ConsentScope::EveryTime, now)))
    }
}

impl Core {
    /// Counts a prompt.
    pub fn note_prompt(&mut self) {
        self.counts.prompts += 1;
        self.happened(SessionEvent::Prompted);
    }

    /// Takes the answer to a prompt within an action, which counts.
    pub(in crate::session) fn settle_answer(
        &mut self,
        prompt: &ConsentPrompt,
        answered: &Answered,
        now: Millis,
    ) -> Answer {
        self.note_reached(answered);
        let answer = prompt.ticket().settle(answered, now);
        self.note_prompt();
        self.note_answer(answer);
        answer
    }

    /// Advances the policy's history by the answer to a prompt within an action.
    pub(in crate::session) fn note_answer(&mut self, answer: Answer) {
        if !answer.agrees() {
            self.happened(SessionEvent::Refused);
        }
    }

    /// Applies the answer to the prompt of a block, and records it.
    pub(in crate::session) fn answered(
        &mut self,
        mut block: BlockState,
        asked: Vec<PendingConsent>,
        prompt: Box<ConsentPrompt>,
        answer: Answer,
    ) -> Command {
        self.note_prompt();
        self.note_answer(answer);
        let agreed = answer.agrees();
        self.note_seen(&prompt, agreed);
        for PendingConsent { at, .. } in &asked {
            if let Some(line) = block.requests.get_mut(*at) {
                line.consent = if agreed { Consent::Given } else { Consent::Refused };
            }
        }
        let events = consent_events(&prompt, answer);
        let command = Command::Guard(GuardCommand::Record { events, sync: false });
        self.enter(
            State::Block(Box::new((block, BlockPhase::RecordingAnswer { asked, prompt, answer }))),
            command,
        )
    }

    /// Stores an answer in the consent book, once it is recorded.
    pub(in crate::session) fn store_answer(
        &mut self,
        block: &BlockState,
        asked: &[PendingConsent],
        prompt: &ConsentPrompt,
        answer: Answer,
        now: Millis,
    ) {
        // The parts of a payment are one question.
        let goes_on = |ask: &&PendingConsent| block.requests.get(ask.at).is_some_and(|line| line.goes_on);
        let asked = asked.iter().filter(|ask| !goes_on(ask));
        for (PendingConsent { at, origin, later, .. }, about) in asked.zip(&prompt.asked) {
            let Some(line) = block.requests.get(*at) else { continue };
            let kind = line.request.kind;
            let (fields, records, form) = match about {
                Asked::Release { fields, later, records, form, .. } => {
                    (fields.without(*later), records.clone(), form.as_ref())
                }
                Asked::Pay { card, .. } => {
                    (line.request.effective_fields(), card.iter().cloned().collect(), None)
                }
                _ => (line.request.effective_fields(), Vec::new(), None),
            };
            // A payment in a provider's frame is one to the shop, and a never is about the shop.
            let payee = match about {
                Asked::Release { provider: Some(provider), .. } => &provider.shop,
                _ => origin,
            };
            if answer.agrees() && self.values.book.never(kind, payee) {
                // The user said never while the prompt was open. A yes does not replace it.
                continue;
            }
            let to = if answer == Answer::Never { payee } else { origin };
            let now_filled = ReleaseScope { kind, fields, records: &records, to, form };
            self.values.book.note(&now_filled, answer, now);
            if answer.agrees() && !later.is_empty() {
                let later = ReleaseScope { fields: *later, form: None, ..now_filled };
                self.values.book.note_later(&later, answer, now);
            }
        }
    }

    /// Changes the standing consents for all later decisions. A release that is decided and not delivered yet is refused.
    pub fn change(&mut self, change: &Change, now: Millis) -> ChangeOutcome {
        self.user.overtaken = true;
        if let State::Block(block) = &mut self.state {
            let agreed = block.0.requests.iter_mut().filter(|line| line.consent == Consent::Given);
            agreed.for_each(|line| line.consent = Consent::Refused);
        }
        self.values.book.change(change, now)
    }

    /// The changes of the consents that outlive the session, if there are some since the last call.
    pub fn take_standing(&mut self) -> Option<StandingChanges> {
        self.values.book.take_changes()
    }

    /// Notes that these changes are stored.
    pub(in crate::session) fn note_stored(&mut self, changes: &StandingChanges) {
        self.values.book.note_stored(changes);
    }

    /// Takes over the standing consents that are stored now, which sessions at the same time may have changed.
    pub(in crate::session) fn take_over_standing(&mut self, stored: Vec<StandingConsent>) {
        self.values.book.take_over(stored);
    }

    /// Marks the agent actions that a prompt showed as seen.
    fn note_seen(&self, prompt: &ConsentPrompt, agreed: bool) {
        for asked in &prompt.asked {
            if let Asked::Order(order) = asked {
                self.agent.actions.answered(order, agreed);
            }
        }
    }

    /// Applies the answer to [`Core::ask_about_waiting`]. The requests may leave if it is yes and recorded.
    pub fn answered_about_waiting(
        &mut self,
        prompt: &ConsentPrompt,
        answered: &Answered,
        now: Millis,
    ) -> (bool, Vec<AuditEvent>) {
        let answer = self.settle_answer(prompt, answered, now);
        self.note_seen(prompt, answer.agrees());
        if let Some(mandate) = self.agent.mandate.as_mut().filter(|_| !answer.agrees()) {
            mandate.end(NotCovered::Refused);
        }
        (answer.agrees(), consent_events(prompt, answer))
    }
}

impl Core {
    /// Lines of the payee's page that speak of a recurring payment.
    pub(in crate::session) fn page_says_it_recurs(&self, payee: &Origin) -> Vec<String> {
        self.page_says_of(payee, |line| decisive(&[line]) == Some(Decisive::Recurs))
    }

    /// The first lines of the payee's page that satisfy a predicate.
    fn page_says_of(&self, payee: &Origin, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let here = self.read.origin.as_ref() == Some(payee);
        let lines = self.read.text.lines().filter(|line| here && is_meant(line));
        lines.map(shown_line).take(MAX_LINES).collect()
    }

    /// The lines before the amount on the payee's page, which describe the purchase in the page's own words. Text of
    /// another page is never quoted.
    fn page_says(&self, payee: &Origin, amount: &str) -> Vec<String> {
        if self.read.origin.as_ref() != Some(payee) {
            return Vec::new();
        }
        let lines: Vec<&str> = self.read.text.lines().collect();
        let Some(at) = lines.iter().rposition(|line| names(line, amount)) else { return Vec::new() };
        let around = lines.get(at.saturating_sub(3)..=at).unwrap_or(&[]);
        around.iter().map(|line| shown_line(line)).collect()
    }
}

/// A line of a page as a prompt quotes it.
fn shown_line(line: &str) -> String {
    line.trim().trim_start_matches("- ").chars().take(120).collect()
}

/// Whether a line names a total.
fn names_total(line: &str) -> bool {
    let line = line.to_lowercase();
    line.contains(|c: char| c.is_ascii_digit()) && TOTALS.iter().any(|word| line.contains(word))
}

/// Whether a line names exactly this amount, and not a longer number that contains it.
fn names(line: &str, amount: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    line.match_indices(amount).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let mut after = line.get(at + amount.len()..).unwrap_or_default().chars();
        let (next, one_more) = (after.next(), after.next());
        // A full stop may end a sentence or continue a number.
        let goes_on = next.is_some_and(|c| c.is_ascii_digit())
            || next.is_some_and(number) && one_more.is_some_and(|c| c.is_ascii_digit());
        !before.is_some_and(number) && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn an_amount_is_not_found_within_another() {
        assert!(
            names("Total: 64.15 USD", "64.15")
                && names("It is 64.15.", "64.15")
                && names("64.15, paid", "64.15")
        );
        for line in ["164.15", "64.155", "1,64.15", "64.15.3", "64.1", "4.15"] {
            assert!(!names(line, "64.15"), "{line}");
        }
    }
}
