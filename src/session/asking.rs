//! Asking the user within an action: what a prompt says, what it is bound to, what the answer changes.

use browser_signals::lookalike::warnings;
use browser_signals::meaning::{Decisive, decisive};
use browser_signals::{Origin, Snapshot};
use policy_dfa::{Consent, ConsentScope, Happened, Millis};
use sha2::{Digest, Sha256};
use sirl::{Field, FieldSet, Kind};

use super::core::{Command, Core, State};
use super::work::{Ask, Phase, Work};
use crate::audit::{About, AuditEvent};
use crate::consent::order::Waiting;
use crate::consent::ticket::SubjectOf;
use crate::consent::{
    Answer, Answered, Asked, Change, ConsentPrompt, Made, Notice, Release, StandingConsent, Ticket,
};

use super::plan::distinct;

/// The most prompts of one task, whatever the policy allows. After them the answer is no: a user who is asked
/// without end says yes in the end.
pub const MOST_PROMPTS: u32 = 12;

/// The most lines of a page that a question quotes for one thing.
const MOST_LINES: usize = 3;

/// Words for a sum that is to be paid, in the languages the shops here are written in.
const TOTALS: [&str; 7] = ["total", "summe", "gesamt", "montant", "importe", "totaal", "zu zahlen"];

/// Numbers for prompts, each used once: hashes of a random seed and a counter.
pub(super) struct Nonces {
    seed: [u8; 32],
    used: u64,
}

impl Nonces {
    pub(super) fn new(seed: [u8; 32]) -> Nonces {
        Nonces { seed, used: 0 }
    }

    fn next(&mut self) -> [u8; 16] {
        self.used += 1;
        let hash = Sha256::new().chain_update(self.seed).chain_update(self.used.to_le_bytes()).finalize();
        let mut nonce = [0; 16];
        nonce.iter_mut().zip(hash).for_each(|(out, byte)| *out = byte);
        nonce
    }
}

impl Nonces {
    /// Random bytes that are used for nothing else, for the vault.
    pub(super) fn entropy(&mut self) -> impl FnMut(&mut [u8]) + use<> {
        let seed = self.next();
        let mut used = 0_u64;
        move |out: &mut [u8]| {
            for chunk in out.chunks_mut(32) {
                used += 1;
                let hash = Sha256::new().chain_update(b"placeholders").chain_update(seed);
                let hash = hash.chain_update(used.to_le_bytes()).finalize();
                chunk.iter_mut().zip(hash).for_each(|(byte, random)| *byte = random);
            }
        }
    }
}

impl Core {
    /// Notes a prompt that was shown outside an action: the one at plan time.
    pub fn note_prompt(&mut self) {
        self.counts.prompts += 1;
        self.happened(Happened::Prompted);
    }

    /// Notes what the user answered to a prompt within an action.
    pub(super) fn note_answer(&mut self, answer: Answer) {
        if !answer.agrees() {
            self.happened(Happened::Refused);
        }
    }

    /// Whether the task's prompts are used up.
    pub(super) fn asked_enough(&self) -> bool {
        self.counts.prompts >= MOST_PROMPTS
    }

    /// A prompt with a ticket of its own. What is asked about is part of what the answer is bound to, and so
    /// are the policy and `pages`: what the browser said of each page that is asked about.
    pub(super) fn prompt(
        &mut self,
        asked: Vec<Asked>,
        pages: &[&Snapshot],
        scope: ConsentScope,
        now: Millis,
    ) -> ConsentPrompt {
        let mut subject = SubjectOf::policy(&self.decision.policy_hash());
        for about in &asked {
            subject = subject.part(about.to_string().as_bytes());
            subject = about
                .details()
                .iter()
                .fold(subject, |subject, line| subject.part(line.to_string().as_bytes()));
        }
        let subject = pages.iter().fold(subject, |subject, page| subject.page(page)).finish();
        let ticket = Ticket::new(self.nonces.next(), subject, now);
        let mut noticed = self.notices(pages);
        noticed.extend(self.amount_notice(&asked));
        let prompt = ConsentPrompt::new(asked, noticed, scope, ticket);
        if self.lasting { prompt } else { prompt.for_this_task_only() }
    }

    /// What the user should know of these pages and of the task so far.
    fn notices(&self, pages: &[&Snapshot]) -> Vec<Notice> {
        let mut noticed = Vec::new();
        for page in pages {
            let Some(origin) = page.origin.known() else { continue };
            let warnings = warnings(origin, self.task.origins());
            noticed.extend(warnings.iter().map(|warning| Notice::Host(warning.to_string())));
            if let Some(top) = page.top_origin.known().filter(|top| *top != origin) {
                noticed.push(Notice::InFrame { top: top.clone() });
            }
            if let Some(to) = page.destination.known().map(|to| &to.origin).filter(|to| *to != origin) {
                noticed.push(Notice::SentElsewhere { to: to.clone() });
            }
        }
        noticed.dedup();
        noticed.extend(self.always_noticed.clone());
        let refusals = self.counts.denials.values().sum();
        noticed.extend((refusals > 0).then_some(Notice::Refusals(refusals)));
        noticed.extend((!self.counts.guessed.is_empty()).then_some(Notice::Guessed));
        let before = self.guessed_before;
        noticed.extend((before > 0).then_some(Notice::GuessedBefore(before)));
        noticed
    }

    /// Changes what stands, for whatever is decided from now on. What was decided and did not go yet does not go.
    pub fn change(&mut self, change: &Change, now: Millis) -> Made {
        self.overtaken = true;
        if let State::Block(block) = &mut self.state {
            let agreed = block.0.lines.iter_mut().filter(|line| line.consent == Consent::Given);
            agreed.for_each(|line| line.consent = Consent::Refused);
        }
        self.book.change(change, now)
    }

    /// What stands beyond the session, if an answer changed it.
    pub fn take_standing(&mut self) -> Option<Vec<StandingConsent>> {
        self.book.take_changes()
    }

    /// What the user is asked about a line: who asks, which fields from which records, where they go.
    pub(super) fn asked(&self, ask: &Ask) -> Asked {
        let Ask { prompt, page, origin, form, .. } = ask;
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
                Asked::Release {
                    kind,
                    fields: prompt.fields,
                    to: origin.clone(),
                    records: self.records(kind, prompt.fields, origin, sent_to.as_ref().unwrap_or(origin)),
                    sent_to,
                    form: Some(form.clone()),
                }
            }
        }
    }

    /// The records that would supply the fields.
    pub(super) fn records(&self, kind: Kind, fields: FieldSet, to: &Origin, sent_to: &Origin) -> Vec<String> {
        let Ok(vault) = self.vault.lock() else { return Vec::new() };
        distinct(vault.suppliers_to(kind, fields, to, sent_to))
    }

    /// The card that would pay.
    fn card(&self, payee: &Origin) -> Option<String> {
        let vault = self.vault.lock().ok()?;
        let card = FieldSet::EMPTY.with(Field::CardNumber).with(Field::CardExpiry);
        let supplied = vault.suppliers(Kind::Purchase, card, payee);
        supplied.into_iter().find(|(_, field)| *field == Field::CardNumber).map(|(handle, _)| handle)
    }

    /// The card that a prompt pays with, or whose code a form asks for, where that code has to be asked for.
    pub(super) fn card_without_code(&self, prompt: &ConsentPrompt) -> Option<String> {
        let cards = prompt.asked.iter().filter_map(|asked| match asked {
            Asked::Pay { card, .. } => card.clone(),
            Asked::Release { kind: Kind::Payment, fields, records, .. }
                if fields.contains(Field::CardCode) =>
            {
                records.iter().find(|record| record.starts_with("card:")).cloned()
            }
            _ => None,
        });
        let vault = self.vault.lock().ok()?;
        let code = FieldSet::EMPTY.with(Field::CardCode);
        cards.into_iter().find(|card| !vault.has(code, Some(card)))
    }

    pub(super) fn answered(
        &mut self,
        mut work: Work,
        asked: Vec<Ask>,
        prompt: Box<ConsentPrompt>,
        answer: Answer,
    ) -> Command {
        self.note_prompt();
        self.note_answer(answer);
        let agreed = answer.agrees();
        self.note_seen(&prompt, agreed);
        for Ask { at, .. } in &asked {
            if let Some(line) = work.lines.get_mut(*at) {
                line.consent = if agreed { Consent::Given } else { Consent::Refused };
            }
        }
        let events = on_record(&prompt, answer);
        let command = Command::Record { events, sync: false };
        self.enter(State::Block(Box::new((work, Phase::RecordingAnswer { asked, prompt, answer }))), command)
    }

    /// Lets an answer stand, once it is on record.
    pub(super) fn let_stand(
        &mut self,
        work: &Work,
        asked: &[Ask],
        prompt: &ConsentPrompt,
        answer: Answer,
        now: Millis,
    ) {
        for (Ask { at, origin, .. }, about) in asked.iter().zip(&prompt.asked) {
            let Some(line) = work.lines.get(*at) else { continue };
            let (records, form) = match about {
                Asked::Release { records, form, .. } => (records.clone(), form.as_ref()),
                Asked::Pay { card, .. } => (card.iter().cloned().collect(), None),
                _ => (Vec::new(), None),
            };
            let (kind, fields) = (line.request.kind, line.request.effective_fields());
            if answer.agrees() && self.book.never(kind, origin) {
                // Said while the question was open, and told to be kept: a yes does not take its place.
                continue;
            }
            self.book.note(&Release { kind, fields, records: &records, to: origin, form }, answer, now);
        }
    }
}

impl Core {
    /// What a user should know who lets a card go into a page's form.
    fn amount_notice(&self, asked: &[Asked]) -> Option<Notice> {
        let to = asked.iter().find_map(|asked| match asked {
            Asked::Release { kind: Kind::Payment, to, .. } => Some(to),
            _ => None,
        })?;
        Some(Notice::NoAmount { page_says: self.page_says_of(to, names_total) })
    }

    /// Lines of the page that is paid which speak of something that comes again.
    pub(super) fn page_says_it_recurs(&self, payee: &Origin) -> Vec<String> {
        self.page_says_of(payee, |line| decisive(&[line]) == Some(Decisive::Recurs))
    }

    fn page_says_of(&self, payee: &Origin, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let here = self.page.as_ref() == Some(payee);
        let lines = self.last_text.lines().filter(|line| here && is_meant(line));
        lines.map(shown_line).take(MOST_LINES).collect()
    }

    /// The user saw what a prompt shows of an order.
    fn note_seen(&self, prompt: &ConsentPrompt, agreed: bool) {
        for asked in &prompt.asked {
            if let Asked::Order(order) = asked {
                self.deeds.answered(order, agreed);
            }
        }
    }

    /// What the user is asked about requests that wait; none where the answer is no without asking.
    pub fn ask_about_waiting(&mut self, waiting: Vec<Waiting>, now: Millis) -> Option<Box<ConsentPrompt>> {
        if self.asked_enough() {
            return None;
        }
        let order = self.deeds.waiting(waiting)?;
        if self.deeds.is_refused_again(&order) {
            self.deeds.answered(&order, false);
            return None;
        }
        Some(Box::new(self.prompt(vec![Asked::Order(order)], &[], ConsentScope::EveryTime, now)))
    }

    /// Takes in the answer to [`Core::ask_about_waiting`]. The requests may go if it is yes and on record.
    pub fn answered_about_waiting(
        &mut self,
        prompt: &ConsentPrompt,
        answered: &Answered,
        now: Millis,
    ) -> (bool, Vec<AuditEvent>) {
        let answer = prompt.ticket().settle(answered, now);
        self.note_prompt();
        self.note_answer(answer);
        self.note_seen(prompt, answer.agrees());
        (answer.agrees(), on_record(prompt, answer))
    }
}

/// A question and its answer, for the record.
pub(super) fn on_record(prompt: &ConsentPrompt, answer: Answer) -> Vec<AuditEvent> {
    let ticket = prompt.ticket().hash();
    let fields = prompt.asked.iter().fold(FieldSet::EMPTY, |all, asked| match asked {
        Asked::Release { fields, .. } => fields.iter().fold(all, FieldSet::with),
        _ => all,
    });
    let asked = AuditEvent::ConsentAsked {
        ticket,
        about: prompt.asked.iter().map(About::from).collect(),
        fields,
        origin: prompt.asked.iter().find_map(Asked::origin).cloned(),
    };
    vec![asked, AuditEvent::ConsentAnswered { ticket, answer }]
}

/// A line of a page as a question quotes it.
fn shown_line(line: &str) -> String {
    line.trim().trim_start_matches("- ").chars().take(120).collect()
}

/// Whether a line names a sum that is to be paid.
fn names_total(line: &str) -> bool {
    let line = line.to_lowercase();
    line.contains(|c: char| c.is_ascii_digit()) && TOTALS.iter().any(|word| line.contains(word))
}

/// Whether a line names this amount, and not one that it is a part of.
fn names(line: &str, amount: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    line.match_indices(amount).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let mut after = line.get(at + amount.len()..).unwrap_or_default().chars();
        let (next, one_more) = (after.next(), after.next());
        // A full stop ends a sentence as well as it goes on in a number.
        let goes_on = next.is_some_and(|c| c.is_ascii_digit())
            || next.is_some_and(number) && one_more.is_some_and(|c| c.is_ascii_digit());
        !before.is_some_and(number) && !goes_on
    })
}

impl Core {
    /// The lines around the amount, of the page that is paid: the page's own words about what is bought. What the
    /// agent read on another page says nothing of this one.
    fn page_says(&self, payee: &Origin, amount: &str) -> Vec<String> {
        if self.page.as_ref() != Some(payee) {
            return Vec::new();
        }
        let lines: Vec<&str> = self.last_text.lines().collect();
        let Some(at) = lines.iter().rposition(|line| names(line, amount)) else { return Vec::new() };
        let around = lines.get(at.saturating_sub(3)..=at).unwrap_or(&[]);
        around.iter().map(|line| shown_line(line)).collect()
    }
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
