//! From words to a policy: the `session` and `site` sections.

use std::ops::Range;

use sirl::{Currency, Kind, Money};

use crate::clause::twice;
use crate::error::Fault;
use crate::parser::{Parsed, Parser};
use crate::places::MAX_SITES;
use crate::session::{Bar, Counted, MAX_BARS, SessionRule};
use crate::site::{SiteEffect, SitePattern, SiteRule};
use crate::spans::{Rule, Spans};
use crate::words;

impl Parser<'_> {
    /// `{ ... }` of `session`.
    pub(crate) fn session(&mut self, spans: &mut Spans) -> Parsed<SessionRule> {
        let mut rule = SessionRule::default();
        self.open()?;
        while !self.close()? {
            let (word, span) = self.word("`at most` or `after`")?;
            match word {
                "at" => {
                    self.keyword("most")?;
                    self.limits(&mut rule)?;
                }
                "after" => {
                    let bar = self.bar()?;
                    let span = span.start..self.behind();
                    if rule.bars.contains(&bar) {
                        return Err(twice(word, span));
                    }
                    if rule.bars.len() >= MAX_BARS {
                        return Err(Fault::new(span, format!("more than {MAX_BARS} `after` rules")));
                    }
                    spans.note(Rule::Bar(rule.bars.len()), span);
                    rule.bars.push(bar);
                }
                other => {
                    return Err(
                        Fault::new(span, format!("unknown rule `{other}`")).suggest(other, ["at", "after"])
                    );
                }
            }
        }
        Ok(rule)
    }

    /// What follows `after`.
    fn bar(&mut self) -> Parsed<Bar> {
        let after = self.trigger()?;
        self.keyword("never")?;
        let mut never = Vec::new();
        loop {
            let span = self.peek().span;
            let subject = self.subject()?;
            if never.contains(&subject) {
                return Err(twice(subject.as_str(), span));
            }
            never.push(subject);
            if !self.comma() {
                break;
            }
        }
        never.sort();
        self.keyword("until")?;
        if self.takes("new_task") {
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

    /// What follows `at most`.
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
                    let counted = counted(word, span.clone(), &["prompts"])?;
                    rule.uses.insert(counted, whole(digits, at)?).is_some()
                }
            };
            if again {
                return Err(twice(word, span));
            }
            if !self.comma() {
                return Ok(());
            }
        }
    }

    /// A `site` rule. `before` are those above it.
    pub(crate) fn site(&mut self, before: &[SiteRule], spans: &mut Spans) -> Parsed<SiteRule> {
        let (text, span) = self.quoted("a host")?;
        let place = SitePattern::parse(text).map_err(|error| {
            Fault::new(span.clone(), format!("`{text}` is not a host")).help(error.to_string())
        })?;
        let (mut kinds, mut verbs) = (Vec::new(), Vec::new());
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
            match counted(word, span.clone(), &[])? {
                Counted::Kind(kind) if !kinds.contains(&kind) => kinds.push(kind),
                Counted::Verb(verb) if !verbs.contains(&verb) => verbs.push(verb),
                _ => return Err(twice(word, span)),
            }
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
        kinds.sort();
        verbs.sort();
        let rule = SiteRule { place, effect, kinds, verbs };
        if let Some(site) = before.iter().find(|site| says(site, &rule)) {
            let message = format!("this rule changes nothing: `{}` above already says it", site.place);
            return Err(Fault::new(span, message).help("remove one of the two"));
        }
        if let Some(site) = before.iter().find(|site| contradicts(site, &rule)) {
            let (above, _) = (&site.place, &rule.place);
            let message = format!("this allows nothing: `{above}` above forbids it, and a refusal wins");
            return Err(Fault::new(span, message).help("remove one of the two"));
        }
        spans.note(Rule::Site(before.len()), span.start..self.behind());
        Ok(rule)
    }
}

/// Whether everything that `rule` says is said by `site` already.
fn says(site: &SiteRule, rule: &SiteRule) -> bool {
    site.effect == rule.effect
        && site.place.covers(&rule.place)
        && rule.kinds.iter().all(|kind| site.kinds.contains(kind))
        && rule.verbs.iter().all(|verb| site.verbs.contains(verb))
}

/// Whether `rule` allows only what `site` forbids.
fn contradicts(site: &SiteRule, rule: &SiteRule) -> bool {
    (site.effect, rule.effect) == (SiteEffect::Never, SiteEffect::Only)
        && site.place.covers(&rule.place)
        && rule.kinds.iter().all(|kind| site.kinds.contains(kind))
        && rule.verbs.iter().all(|verb| site.verbs.contains(verb))
}

/// A kind of request or a verb; `purchases` may stand for `purchase`.
fn counted(word: &str, span: Range<usize>, more: &[&str]) -> Parsed<Counted> {
    let word = if word == "purchases" { "purchase" } else { word };
    let kind = Kind::from_name(word).map(Counted::Kind);
    kind.or(words::verb_named(word).map(Counted::Verb)).ok_or_else(|| {
        let names = Kind::ALL.map(Kind::as_str).into_iter().chain(words::VERBS.map(|(_, name)| name));
        Fault::new(span, format!("unknown kind or verb `{word}`"))
            .suggest(word, names.chain(more.iter().copied()))
    })
}

fn whole(digits: &str, span: Range<usize>) -> Parsed<u32> {
    let number = digits.parse::<u32>().ok().filter(|number| *number <= MOST);
    number.ok_or_else(|| {
        Fault::new(span, format!("`{digits}` is not a number of times"))
            .help(format!("write a whole number up to {MOST}"))
    })
}

/// The highest limit that a session counts to.
const MOST: u32 = 10_000;

fn money(digits: &str, currency: &str, span: Range<usize>) -> Parsed<Money> {
    let amount = Currency::new(currency).and_then(|code| Money::parse(digits, code));
    amount.ok_or_else(|| {
        Fault::new(span, format!("`{digits} {currency}` is not an amount of money"))
            .help("write an amount such as 250.00 USD, with no more decimals than the currency has")
    })
}
