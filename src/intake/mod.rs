//! Intake of the user's first prompt: values move into the vault, handles replace them, and the task is sealed.
//!
//! Intake is deterministic and runs before the model sees a word. It finds values that the user labels or announces with a
//! usual phrase (`street: 17 Quarry Road`, `my name is ...`, `mit Passwort ...`), values with a recognisable form (card
//! numbers, e-mail addresses, phone numbers), and addresses. In doubt it leaves the text and lists the span in
//! [`Intake::unsure`], so that the user is asked. A value with neither label nor form stays in the prompt and reaches the
//! model: the user should label every value that is to be protected.
//!
//! | module | subject |
//! |---|---|
//! | `text` | the prompt as words and marks |
//! | `labels` | labels and phrases of four languages |
//! | `readers` | reading the value after a label |
//! | `address`, `lexicon` | addresses, and the word lists for them |
//! | `names` | names of people |
//! | `values` | all values of a prompt, and their other occurrences |
//! | `records` | the record of each value |
//! | `named` | the records, the persona and the web addresses that the user names |
//! | `task` | kinds of request, budget |
//! | `negation` | the words in the reach of a negation |
//! | `wish` | the purchase that the words name |

mod address;
mod labels;
mod lexicon;
mod named;
mod names;
mod negation;
mod readers;
mod records;
mod task;
mod text;
mod values;
mod wish;

use std::ops::Range;

use browser_signals::{Container, Origin};
use classifier::{Detector, Detectors, Finding, SensitiveKind};
use policy_dfa::Task;
use sirl::{Field, Kind, Money};

pub(crate) use named::has_handle;
pub use records::{Found, HANDLES};
use text::Text;
pub use values::PossibleValue;
use values::apart;
pub use wish::Wish;

/// The result of intake. The values themselves are still in the caller's text, at the spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intake {
    /// The values, in the order of the text. A value that occurs twice is found twice, with the same handle.
    pub found: Vec<Found>,
    /// The parts that the user is asked about, in the order of the text. None overlaps a found value.
    pub unsure: Vec<PossibleValue>,
    /// Sensitive values for which the language has no field (IBANs, keys). They stay in the prompt, and the user should be
    /// informed.
    pub unsupported: Vec<Finding>,
    /// The prompt for the model, with handles in place of the values.
    pub prompt: String,
    /// The origins that the user named.
    pub origins: Vec<Origin>,
    /// The records of the vault that the user named, each once, such as `card:personal`. Intake does not check that they
    /// exist.
    pub handles: Vec<String>,
    /// The persona that the user named. It may be no persona: intake sees only a phrase such as `as ana`.
    pub persona: Option<String>,
    /// The kinds of request that the task may need.
    pub kinds: Vec<Kind>,
    /// The most that the user wants to spend.
    pub budget: Option<Money>,
    /// The purchase that the words name, if they name one item.
    pub wish: Option<Wish>,
}

/// Reads a prompt. Text within a web address is never a value.
pub fn read(prompt: &str, detectors: &Detectors) -> Intake {
    let origins = named::origins(prompt);
    let chosen = named::handles(prompt);
    // In doubt digits are a card's, unless they are something else that is found.
    let sure = detectors.detect(prompt);
    let mut findings = detectors.detect_doubtful(prompt);
    findings.retain(|one| sure.contains(one) || sure.iter().all(|other| apart(&one.span, &other.span)));
    let has_no_field = |kind| {
        use SensitiveKind::{Iban, NationalId, Passport, Password, Token};
        matches!(kind, Iban | NationalId | Passport | Password | Token)
    };
    let mut closed = named::links(prompt);
    closed.extend(chosen.iter().map(|(span, _)| span.clone()));
    let values = values::find(prompt, &findings, &closed);
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
    let unsupported = findings.iter().filter(|f| has_no_field(f.kind) && free(&f.span)).cloned().collect();
    let mut intake = Intake {
        unsure: values.unsure,
        unsupported,
        origins: named::distinct(&origins),
        handles,
        persona: named::persona(&Text::new(prompt, &closed)),
        budget: task::budget(prompt),
        found: Vec::new(),
        prompt: String::new(),
        kinds: Vec::new(),
        wish: None,
    };
    intake.settle(prompt, values.sure);
    intake
}

impl Intake {
    /// Seals the task, in a container of at most `container`.
    pub fn seal(&self, container: Container) -> Task {
        Task::new(self.origins.clone(), self.kinds.clone(), self.budget, container)
    }

    /// Removes a value that the user confirmed from the prompt, in all its occurrences. `original` is the text that was
    /// read. Returns whether `index` is valid; the later entries of `unsure` move up by one, and those that overlap the
    /// value are removed too.
    pub fn conceal(&mut self, original: &str, index: usize) -> bool {
        if index >= self.unsure.len() {
            return false;
        }
        let PossibleValue { span, field } = self.unsure.remove(index);
        let mut sure: Vec<(Range<usize>, Field)> =
            self.found.iter().map(|found| (found.span.clone(), found.field)).collect();
        if sure.iter().all(|(other, _)| apart(&span, other)) {
            sure.push((span, field));
        }
        self.settle(original, sure);
        true
    }

    /// Makes the prompt and everything else that depends on the certain values.
    fn settle(&mut self, original: &str, mut sure: Vec<(Range<usize>, Field)>) {
        let mut closed = named::links(original);
        closed.extend(named::handles(original).into_iter().map(|(span, _)| span));
        for (span, field) in sure.clone() {
            let Some(value) = original.get(span) else { continue };
            for span in values::occurrences(original, value, field) {
                let open = closed.iter().all(|other| apart(&span, other));
                if open && sure.iter().all(|(other, _)| apart(&span, other)) {
                    sure.push((span, field));
                }
            }
        }
        sure.sort_by_key(|(span, _)| span.start);
        self.unsure.retain(|unsure| sure.iter().all(|(span, _)| apart(&unsure.span, span)));
        self.found = records::assign(original, sure, &named::origins(original));
        self.prompt = String::with_capacity(original.len());
        let mut from = 0;
        for value in &self.found {
            self.prompt.push_str(original.get(from..value.span.start).unwrap_or(""));
            self.prompt.push_str(&format!("[{}]", value.handle));
            from = value.span.end;
        }
        self.prompt.push_str(original.get(from..).unwrap_or(""));
        self.wish = wish::wish(&self.prompt);
        let values: Vec<_> = self.found.iter().map(|value| (value.span.clone(), value.field)).collect();
        self.kinds = task::kinds(original, &named::links(original), &values);
    }
}
