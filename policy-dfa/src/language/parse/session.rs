//! The parser of the sections `session` and `site`.

use std::ops::Range;

use sirl::{Currency, Money};

use super::parser::{Parsed, Parser};
use crate::language::error::Fault;
use crate::language::session::{Bar, MAX_BARS, NEW_TASK, SessionRule};
use crate::language::site::{MAX_SITES, SiteEffect, SitePattern, SiteRule};
use crate::language::spans::{RuleId, RuleSpans};
use crate::vocabulary::event::EventKind;

impl Parser<'_> {
    /// `{ ... }` of `session`.
    pub(crate) fn session(&mut self, spans: &mut RuleSpans) -> Parsed<SessionRule> {
        let mut rule = SessionRule::default();
        self.open()?;
        while !self.close()? {
            let (word, span) = self.word("`at most`, `values` or `after`")?;
            match word {
                "at" => {
                    self.keyword("most")?;
                    self.limits(&mut rule)?;
                }
                "values" => {
                    for word in ["keep", "to", "their", "path"] {
                        self.keyword(word)?;
                    }
                    if std::mem::replace(&mut rule.own_path, true) {
                        return Err(Fault::repeated(word, span));
                    }
                }
                "after" => {
                    let bar = self.bar()?;
                    let span = span.start..self.last_end();
                    if rule.bars.contains(&bar) {
                        return Err(Fault::repeated(word, span));
                    }
                    if rule.bars.len() >= MAX_BARS {
                        return Err(Fault::new(span, format!("more than {MAX_BARS} `after` rules")));
                    }
                    spans.record(RuleId::Bar(rule.bars.len()), span);
                    rule.bars.push(bar);
                }
                other => {
                    return Err(Fault::new(span, format!("unknown rule `{other}`"))
                        .suggest(other, ["at", "values", "after"]));
                }
            }
        }
        Ok(rule)
    }

    /// The rule after the word `after`.
    fn bar(&mut self) -> Parsed<Bar> {
        let after = self.trigger()?;
        self.keyword("never")?;
        let mut never = Vec::new();
        loop {
            let span = self.peek().span;
            let subject = self.subject()?;
            if never.contains(&subject) {
                return Err(Fault::repeated(subject.as_str(), span));
            }
            never.push(subject);
            if !self.comma() {
                break;
            }
        }
        never.sort();
        self.keyword("until")?;
        if self.takes(NEW_TASK) {
            return Ok(Bar { after, never, until: None });
        }
        let span = self.peek().span;
        let until = self.trigger()?;
        if until == after {
            let message = format!("`{after}` cannot end what it begins");
            return Err(Fault::new(span, message).help("write: until new_task"));
        }
        Ok(Bar { after, never, until: Some(until) })
    }

    /// The limits after `at most`.
    fn limits(&mut self, rule: &mut SessionRule) -> Parsed<()> {
        loop {
            let (digits, at) = self.digits("how many, or how much money")?;
            let (word, span) = self.word("what is counted, or a currency")?;
            let again = match word {
                "prompt" | "prompts" => rule.prompts.replace(whole(digits, at)?).is_some(),
                word if word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_uppercase()) => {
                    rule.money.replace(money(digits, word, at)?).is_some()
                }
                word => {
                    let event = event_kind(word, span.clone(), &["prompts"])?;
                    rule.uses.insert(event, whole(digits, at)?).is_some()
                }
            };
            if again {
                return Err(Fault::repeated(word, span));
            }
            if !self.comma() {
                return Ok(());
            }
        }
    }

    /// A `site` rule. `before` has the rules above it.
    pub(crate) fn site(&mut self, before: &[SiteRule], spans: &mut RuleSpans) -> Parsed<SiteRule> {
        let (text, span) = self.quoted("a host")?;
        let pattern = SitePattern::parse(text).map_err(|error| {
            Fault::new(span.clone(), format!("`{text}` is not a host")).help(error.to_string())
        })?;
        let mut events = Vec::new();
        self.open()?;
        let effect = match self.word("`never` or `only`")? {
            ("never", _) => SiteEffect::Never,
            ("only", _) => SiteEffect::Only,
            (other, span) => {
                let fault = Fault::new(span, format!("a site has no rule `{other}`"));
                return Err(fault.suggest(other, ["never", "only"]));
            }
        };
        loop {
            let (word, span) = self.word("a kind of request or a verb")?;
            let event = event_kind(word, span.clone(), &[])?;
            if events.contains(&event) {
                return Err(Fault::repeated(word, span));
            }
            events.push(event);
            if !self.comma() {
                break;
            }
        }
        if !self.close()? {
            return Err(self.unexpected("`,` or `}`"));
        }
        if before.len() >= MAX_SITES {
            return Err(Fault::new(span, format!("more than {MAX_SITES} sites")));
        }
        events.sort();
        let rule = SiteRule { pattern, effect, events };
        if let Some(site) = before.iter().find(|site| site.effect == effect && site.covers(&rule)) {
            let message = format!("this rule changes nothing: `{}` above already says it", site.pattern);
            return Err(Fault::new(span, message).help("remove one of the two"));
        }
        let contradicts = |site: &&SiteRule| {
            (site.effect, effect) == (SiteEffect::Never, SiteEffect::Only) && site.covers(&rule)
        };
        if let Some(site) = before.iter().find(contradicts) {
            let message =
                format!("this allows nothing: `{}` above forbids it, and a refusal wins", site.pattern);
            return Err(Fault::new(span, message).help("remove one of the two"));
        }
        spans.record(RuleId::Site(before.len()), span.start..self.last_end());
        Ok(rule)
    }
}

/// A kind of request or a verb; `purchases` is another word for `purchase`.
fn event_kind(word: &str, span: Range<usize>, more: &[&'static str]) -> Parsed<EventKind> {
    let word = if word == "purchases" { "purchase" } else { word };
    EventKind::from_name(word).ok_or_else(|| {
        let names = EventKind::names().chain(more.iter().copied());
        Fault::new(span, format!("unknown kind or verb `{word}`")).suggest(word, names)
    })
}

fn whole(digits: &str, span: Range<usize>) -> Parsed<u32> {
    let number = digits.parse::<u32>().ok().filter(|number| *number <= MAX_LIMIT);
    number.ok_or_else(|| {
        Fault::new(span, format!("`{digits}` is not a number of times"))
            .help(format!("write a whole number up to {MAX_LIMIT}"))
    })
}

/// The highest limit that a policy can set.
const MAX_LIMIT: u32 = 10_000;

fn money(digits: &str, currency: &str, span: Range<usize>) -> Parsed<Money> {
    let amount = Currency::new(currency).and_then(|code| Money::parse(digits, code));
    amount.ok_or_else(|| {
        Fault::new(span, format!("`{digits} {currency}` is not an amount of money"))
            .help("write an amount such as 250.00 USD, with no more decimals than the currency has")
    })
}
