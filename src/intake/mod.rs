//! The user's first prompt: values move into the vault, handles take their place, the task is sealed.
//!
//! Intake is deterministic and runs before the model sees a word. It finds what the user labels or says in a
//! usual phrase (`street: 17 Quarry Road`, `my name is ...`, `mit Passwort ...`), what has a recognisable form
//! (card numbers, e-mail addresses, phone numbers), and addresses. Where it cannot know, it leaves the text
//! and names the place in [`Intake::unsure`], for the user to be asked. A value that has neither label nor
//! form stays in the prompt, and so with the model: label what you want kept.
//!
//! | module | subject |
//! |---|---|
//! | `text` | the prompt in words and marks |
//! | `labels` | labels and phrases of four languages |
//! | `readers` | how the value behind a label is read |
//! | `card` | expiry and security code |
//! | `address`, `places` | streets and what stands behind them |
//! | `names` | people |
//! | `mentions` | the same value elsewhere |
//! | `records` | which record a value goes into |
//! | `chosen` | records and persona that the user names |
//! | `origins` | web addresses |
//! | `task` | kinds of request, budget |
//! | `negation` | which words are about what is not to be done |

mod address;
mod card;
mod chosen;
mod labels;
mod mentions;
mod names;
mod negation;
mod origins;
mod places;
mod readers;
mod records;
mod task;
mod text;

use std::ops::Range;

use browser_signals::{Container, Origin};
use classifier::{Detector, Detectors, Finding, SensitiveKind};
use policy_dfa::Task;
use sirl::{Field, Kind, Money};

use readers::Sure;
pub use records::HANDLES;
use text::Text;

/// One value found in the prompt, by its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it stands.
    pub span: Range<usize>,
    /// What it is.
    pub field: Field,
    /// The handle of the record it goes into, such as `card:task`.
    pub handle: &'static str,
    /// Where a password or one-time code belongs: the last web address named before it, else the first of
    /// the prompt. `None` for other fields, and where the prompt names none.
    pub binding: Option<Origin>,
}

/// A place that may hold a value. The user is asked; until then the text stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsure {
    /// Where it stands.
    pub span: Range<usize>,
    /// What it may be.
    pub field: Field,
}

/// What intake made of a prompt. The values themselves are still in the caller's text, at the spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intake {
    /// The values, in the order of the text. The same value twice is found twice, with the same handle.
    pub found: Vec<Found>,
    /// What only the user knows, in the order of the text. No place of it overlaps a found value.
    pub unsure: Vec<Unsure>,
    /// Sensitive values that no field of the language is for (IBANs, keys). They stay in the prompt: the user
    /// should be told.
    pub unkept: Vec<Finding>,
    /// The prompt for the model, with handles in place of the values.
    pub prompt: String,
    /// The origins the user named.
    pub origins: Vec<Origin>,
    /// The records of the vault that the user named, each once, such as `card:personal`. Whether they exist
    /// is for the vault to say.
    pub handles: Vec<String>,
    /// The persona that the user named. It may be no persona at all: `as ana` is all that intake sees.
    pub persona: Option<String>,
    /// The kinds of request that the task may need.
    pub kinds: Vec<Kind>,
    /// The most the user wants to spend.
    pub budget: Option<Money>,
}

/// Reads a prompt.
///
/// What stands within a web address is left, whatever it is: it is part of the address.
pub fn read(prompt: &str, detectors: &Detectors) -> Intake {
    let named = origins::named(prompt);
    let chosen = chosen::handles(prompt);
    let findings = detectors.detect(prompt);
    let unkept = |kind| {
        use SensitiveKind::{Iban, NationalId, Passport, Password, Token};
        matches!(kind, Iban | NationalId | Passport | Password | Token)
    };
    let mut closed = origins::links(prompt);
    closed.extend(chosen.iter().map(|(span, _)| span.clone()));
    let values = values(prompt, &findings, &closed);
    let mut handles: Vec<String> = Vec::new();
    for (_, handle) in chosen {
        if !handles.contains(&handle) {
            handles.push(handle);
        }
    }
    let free = |span: &Range<usize>| {
        values.sure.iter().all(|(other, _)| apart(span, other))
            && values.unsure.iter().all(|other| apart(span, &other.span))
    };
    let unkept = findings.iter().filter(|f| unkept(f.kind) && free(&f.span)).cloned().collect();
    let mut intake = Intake {
        unsure: values.unsure,
        unkept,
        origins: origins::distinct(&named),
        handles,
        persona: chosen::persona(&Text::new(prompt, &closed)),
        budget: task::budget(prompt),
        found: Vec::new(),
        prompt: String::new(),
        kinds: Vec::new(),
    };
    intake.settle(prompt, values.sure);
    intake
}

impl Intake {
    /// The task, sealed, in a container of at most `container`.
    pub fn seal(&self, container: Container) -> Task {
        Task::new(self.origins.clone(), self.kinds.clone(), self.budget, container)
    }

    /// Takes what the user confirmed to be a value out of the prompt, everywhere it stands. `original` is
    /// the text that was read. Returns whether there is such a place; the places behind it move up by one,
    /// and those that overlap it are gone too.
    pub fn conceal(&mut self, original: &str, index: usize) -> bool {
        if index >= self.unsure.len() {
            return false;
        }
        let Unsure { span, field } = self.unsure.remove(index);
        let mut sure: Vec<(Range<usize>, Field)> =
            self.found.iter().map(|found| (found.span.clone(), found.field)).collect();
        if sure.iter().all(|(other, _)| apart(&span, other)) {
            sure.push((span, field));
        }
        self.settle(original, sure);
        true
    }

    /// Makes the prompt of the values that are sure, and all that follows from them.
    fn settle(&mut self, original: &str, mut sure: Vec<(Range<usize>, Field)>) {
        let mut closed = origins::links(original);
        closed.extend(chosen::handles(original).into_iter().map(|(span, _)| span));
        for (span, field) in sure.clone() {
            let Some(value) = original.get(span) else { continue };
            for place in mentions::of(original, value, field) {
                let open = closed.iter().all(|other| apart(&place, other));
                if open && sure.iter().all(|(other, _)| apart(&place, other)) {
                    sure.push((place, field));
                }
            }
        }
        sure.sort_by_key(|(span, _)| span.start);
        self.unsure.retain(|unsure| sure.iter().all(|(span, _)| apart(&unsure.span, span)));
        self.found = records::assign(original, sure, &origins::named(original));
        self.prompt = String::with_capacity(original.len());
        let mut from = 0;
        for value in &self.found {
            self.prompt.push_str(original.get(from..value.span.start).unwrap_or(""));
            self.prompt.push_str(&format!("[{}]", value.handle));
            from = value.span.end;
        }
        self.prompt.push_str(original.get(from..).unwrap_or(""));
        let values: Vec<_> = self.found.iter().map(|value| (value.span.clone(), value.field)).collect();
        self.kinds = task::kinds(original, &origins::links(original), &values);
    }
}

/// What was found, before it is known which record it goes into.
#[derive(Default)]
struct Values {
    sure: Vec<(Range<usize>, Field)>,
    unsure: Vec<Unsure>,
}

impl Values {
    fn of(&self, field: Field) -> Vec<(Range<usize>, Field)> {
        self.sure.iter().filter(|(_, other)| *other == field).cloned().collect()
    }

    /// Notes a value, unless a part of it is another already.
    fn put(&mut self, span: Range<usize>, field: Field, sure: Sure) {
        if !self.sure.iter().all(|(other, _)| apart(&span, other)) {
            return;
        }
        match sure {
            Sure::Yes => self.sure.push((span, field)),
            Sure::Ask if self.unsure.iter().all(|other| apart(&span, &other.span)) => {
                self.unsure.push(Unsure { span, field });
            }
            Sure::Ask => {}
        }
    }
}

/// All values, in the order of what is trusted more: what the user labelled goes before what only looks
/// like something.
fn values(prompt: &str, findings: &[Finding], closed: &[Range<usize>]) -> Values {
    let mut values = Values::default();
    let mut shut = closed.to_vec();
    let kept = |finding: &&Finding| matches!(finding.kind, SensitiveKind::Iban);
    shut.extend(findings.iter().filter(kept).map(|finding| finding.span.clone()));
    let text = Text::new(prompt, &shut);
    for (span, field, sure) in labels::values(&text) {
        if closed.iter().all(|link| apart(&span, link)) {
            values.put(span, field, sure);
        }
    }
    for finding in findings {
        let field = match finding.kind {
            SensitiveKind::CardNumber => Field::CardNumber,
            SensitiveKind::Email => Field::Email,
            SensitiveKind::Phone => Field::Phone,
            _ => continue,
        };
        if closed.iter().all(|link| apart(&finding.span, link)) {
            values.put(finding.span.clone(), field, Sure::Yes);
        }
    }
    for (span, _) in values.of(Field::CardNumber) {
        if let Some(expiry) = card::expiry_behind(&text, &span) {
            values.put(expiry, Field::CardExpiry, Sure::Yes);
        }
    }
    for (span, _) in values.of(Field::CardExpiry) {
        if let Some(code) = card::code_behind(&text, &span) {
            values.put(code, Field::CardCode, Sure::Yes);
        }
    }
    for (span, _) in values.of(Field::Email) {
        let password = readers::password_behind(&text, &span);
        if let Some(password) = password.filter(|span| closed.iter().all(|link| apart(span, link))) {
            values.put(password, Field::Password, Sure::Yes);
        }
    }
    let taken = values.sure.clone();
    let free = |at: usize| taken.iter().all(|(span, _)| apart(&text.span(at, at + 1), span));
    for (parts, sure) in address::addresses(&text, free) {
        let start = parts.first().map_or(0, |(span, _)| span.start);
        if let Some(name) = names::before_address(&text, start).filter(|_| sure == Sure::Yes) {
            values.put(name, Field::Name, sure);
        }
        for (span, field) in parts {
            values.put(span, field, sure);
        }
    }
    // What stands behind a street that was labelled is a part of the address too.
    for (span, _) in taken.iter().filter(|(_, field)| *field == Field::Street) {
        for (span, field) in address::behind(&text, span.end) {
            values.put(span, field, Sure::Yes);
        }
    }
    for (span, field) in names::perhaps(&text) {
        values.put(span, field, Sure::Ask);
    }
    values.unsure.sort_by_key(|unsure| unsure.span.start);
    values
}

/// Whether two places have no byte in common.
fn apart(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.end <= other.start || other.end <= one.start
}
