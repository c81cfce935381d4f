//! From a policy and its table to bytes.

use sirl::Field;

use super::layout::{
    AXES, DIGEST, HEADER, MAGIC, OUTCOMES, OWN_PATH, PROVIDERS, ROOTS, SESSION, SITES, STATES, TEXT,
    THRESHOLDS, TIERS, VERSION, delivery_word, start_words,
};
use crate::automaton::table::Table;
use crate::language::policy::Policy;
use crate::language::provider::Provider;
use crate::language::session::SessionRule;
use crate::language::site::{SiteEffect, SiteRule};
use crate::vocabulary::alphabet::Axis;
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::Outcome;

/// A file without its checksum. `text` is the policy's canonical text.
pub(super) fn body(policy: &Policy, text: &str, table: &Table) -> Vec<u8> {
    let mut file = Writer(Vec::with_capacity(text.len() + 8 * table.len() + 4096));
    file.0.extend_from_slice(MAGIC);
    file.long(VERSION);
    file.long(0);
    file.part(TEXT, |part| part.0.extend_from_slice(text.as_bytes()));
    file.part(AXES, Writer::axes);
    file.part(OUTCOMES, |part| part.list(table.outcomes(), |part, outcome| part.outcome(*outcome)));
    file.part(STATES, |part| {
        part.count(table.len());
        for (axis, targets) in table.rows() {
            part.0.push(axis as u8);
            targets.iter().for_each(|target| part.short(target.number()));
        }
    });
    file.part(ROOTS, |part| {
        part.count(table.starts().len());
        for (root, start) in Root::all().zip(table.starts()) {
            let (event, need) = start_words(root);
            part.word(event);
            part.word(need);
            part.short(start.number());
        }
    });
    file.part(TIERS, |part| {
        let fields: Vec<Field> = policy.named_fields().collect();
        part.list(&fields, |part, field| {
            part.word(field.as_str());
            part.word(policy.tier(*field).as_str());
        });
    });
    file.part(THRESHOLDS, |part| part.0.extend(policy.thresholds.iter().flat_map(|all| all.hundredths)));
    file.part(SESSION, |part| part.session(&policy.session));
    file.part(SITES, |part| part.list(&policy.sites, Writer::site));
    if !policy.providers.is_empty() {
        file.part(PROVIDERS, |part| part.list(&policy.providers, |part, it| part.provider(it)));
    }
    if policy.session.own_path {
        file.part(OWN_PATH, |_| ());
    }
    let length = long(file.0.len() + DIGEST).to_le_bytes();
    file.0
        .iter_mut()
        .take(HEADER)
        .skip(HEADER - length.len())
        .zip(length)
        .for_each(|(slot, byte)| *slot = byte);
    file.0
}

/// A length as a number of four bytes. No policy comes near the limit, since a text has at most 256 KiB and a table
/// 32768 states.
fn long(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

struct Writer(Vec<u8>);

impl Writer {
    fn short(&mut self, number: u16) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn long(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.short(u16::try_from(count).unwrap_or(u16::MAX));
    }

    fn word(&mut self, word: &str) {
        self.count(word.len());
        self.0.extend_from_slice(word.as_bytes());
    }

    fn list<T>(&mut self, all: &[T], each: impl Fn(&mut Writer, &T)) {
        self.count(all.len());
        all.iter().for_each(|one| each(self, one));
    }

    /// A tag, the length of the content, and the content.
    fn part(&mut self, tag: &str, fill: impl FnOnce(&mut Writer)) {
        self.0.extend_from_slice(tag.as_bytes());
        let begin = self.0.len();
        self.long(0);
        fill(self);
        let length = long(self.0.len() - begin - 4).to_le_bytes();
        self.0.iter_mut().skip(begin).zip(length).for_each(|(slot, byte)| *slot = byte);
    }

    fn axes(&mut self) {
        self.list(Axis::ALL, |part, axis| {
            part.word(axis.as_str());
            part.list(axis.symbols(), |part, symbol| part.word(symbol));
        });
    }

    fn outcome(&mut self, outcome: Outcome) {
        let (verdict, axis) = match outcome {
            Outcome::Deny(axis, _) => (0, axis as u8),
            Outcome::Ask(_) => (1, u8::MAX),
            Outcome::Grant(_) => (2, u8::MAX),
        };
        self.0.extend_from_slice(&[verdict, axis]);
        match outcome {
            Outcome::Deny(_, reason) => self.word(&reason.name()),
            Outcome::Ask(scope) => self.word(scope.how_often()),
            Outcome::Grant(delivery) => self.word(delivery_word(delivery)),
        }
    }

    fn session(&mut self, rule: &SessionRule) {
        self.count(rule.uses.len());
        for (event, limit) in &rule.uses {
            self.word(event.as_str());
            self.long(*limit);
        }
        self.0.push(u8::from(rule.prompts.is_some()));
        rule.prompts.into_iter().for_each(|limit| self.long(limit));
        self.0.push(u8::from(rule.money.is_some()));
        if let Some(limit) = rule.money {
            self.word(limit.currency.as_str());
            self.0.extend_from_slice(&limit.minor.to_le_bytes());
        }
        self.list(&rule.bars, |part, bar| {
            part.word(bar.after.as_str());
            part.list(&bar.never, |part, subject| part.word(subject.as_str()));
            part.word(bar.until_name());
        });
    }

    fn provider(&mut self, provider: &Provider) {
        self.word(&provider.name);
        for origins in [&provider.frames, &provider.tokens] {
            self.list(origins, |part, origin| part.word(&origin.to_string()));
        }
    }

    fn site(&mut self, rule: &SiteRule) {
        self.0.push(match rule.effect {
            SiteEffect::Never => 0,
            SiteEffect::Only => 1,
        });
        self.word(&rule.pattern.to_string());
        self.list(&rule.events, |part, event| part.word(event.as_str()));
    }
}

/// The content of the part with the signals.
pub(super) fn axes() -> Vec<u8> {
    let mut part = Writer(Vec::with_capacity(1024));
    part.axes();
    part.0
}
