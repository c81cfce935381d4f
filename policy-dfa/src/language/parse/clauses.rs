//! The parser of the sections `request`, `verb` and `prove`.

use std::ops::Range;

use sirl::Kind;

use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};
use super::provider::judge_provider_rule;
use crate::language::clause::{Channel, Clause, Condition, FrameTest, Owner, Test};
use crate::language::error::Fault;
use crate::language::policy::{Proof, RequestRule};
use crate::language::spans::{RuleId, RuleSpans};
use crate::vocabulary::alphabet::{Axis, Mask};
use crate::vocabulary::event::{ORDERED, VerbKind, takes_card_or_id};
use crate::vocabulary::outcome::{ConsentScope, Delivery};

const CLAUSES: [&str; 8] =
    ["container", "origin", "tls", "frame", "destination", "sink", "visible", "safety"];

impl Parser<'_> {
    /// `{ ... }` of a `request`.
    pub(crate) fn request(
        &mut self,
        kind: Kind,
        head: Range<usize>,
        spans: &mut RuleSpans,
    ) -> Parsed<RequestRule> {
        let mut clauses = Vec::new();
        let (mut consent, mut deliver) = (None, None);
        self.open()?;
        while !self.close()? {
            let (word, span) = self.word("a clause")?;
            let again = match word {
                "consent" => consent.replace(self.consent(kind)?).is_some(),
                "deliver" => deliver.replace(self.deliver(kind)?).is_some(),
                "flow" => {
                    return Err(Fault::new(
                        span,
                        "`flow` is about text that a verb carries, not about a request",
                    ));
                }
                _ => {
                    let test = self.test(word, span.clone(), &["consent", "deliver"])?;
                    if test.passes_loopback() && takes_card_or_id(kind) {
                        let message = format!("`{}` never goes over a connection in clear", kind.as_str());
                        return Err(Fault::new(span.start..self.last_end(), message).help(
                            "leave `loopback` out: it is not for card data and government identity numbers",
                        ));
                    }
                    self.request_names_provider(kind, test, span.clone())?;
                    let clause = Clause { test, when: None, soft: self.request_asks(test)? };
                    spans.record(RuleId::RequestClause(kind, clause), span.start..self.last_end());
                    add(&mut clauses, clause)
                }
            };
            if again {
                return Err(Fault::repeated(word, span));
            }
        }
        clauses.sort();
        let missing = |what: &str, help: &str| {
            Fault::new(head.clone(), format!("request `{}` does not say {what}", kind.as_str())).help(help)
        };
        let ConsentRule { scope: consent, naming, mandate } = consent
            .ok_or_else(|| missing("when the user is asked", "add a line such as: consent every time"))?;
        let deliver =
            deliver.ok_or_else(|| missing("where the values go", "add a line such as: deliver fill"))?;
        if clauses.iter().any(|clause: &Clause| clause.test.passes_provider()) {
            judge_provider_rule(head, consent, &deliver)?;
        }
        Ok(RequestRule { clauses, consent, naming, mandate, deliver })
    }

    /// `{ ... }` of a `verb`.
    pub(crate) fn verb_clauses(&mut self, verb: VerbKind, spans: &mut RuleSpans) -> Parsed<Vec<Clause>> {
        let mut clauses = Vec::new();
        self.open()?;
        while !self.close()? {
            let (word, span) = self.word("a clause")?;
            if word == "safety" {
                return Err(Fault::new(span, "`safety` is about the fields of a request, not about a verb"));
            }
            let test = if word == "flow" {
                match self.word("`stays` or `own`")? {
                    ("stays", _) => Test::Flow,
                    ("own", _) => Test::FlowOwn,
                    (other, span) => {
                        let fault = Fault::new(span, format!("`flow` is never tested for `{other}`"));
                        return Err(fault.suggest(other, ["stays", "own"]));
                    }
                }
            } else {
                self.test(word, span.clone(), &["flow"])?
            };
            if matches!(test, Test::Frame(frame) if frame.passes_provider()) {
                return Err(Fault::new(
                    span.start..self.last_end(),
                    "a verb is not let into frames by `frame`",
                )
                .help("write: origin is the task's or provider's"));
            }
            if test == Test::ContainerCovers {
                return Err(Fault::new(span, "a verb has no fields that a container could cover")
                    .help("write: container T1"));
            }
            let page = matches!(
                test,
                Test::Frame(_) | Test::Tls(_) | Test::Origin(_) | Test::Visible | Test::Sink(_)
            );
            if page && verb == VerbKind::Open {
                let message =
                    format!("`{word}` cannot be asked of `open`: the page it goes to is not loaded yet");
                return Err(Fault::new(span, message).help("use `destination`, `container` or `flow`"));
            }
            let when = self.condition()?;
            let soft = self.else_ask()?;
            let clause = Clause { test, when, soft };
            spans.record(RuleId::VerbClause(verb, clause), span.start..self.last_end());
            if add(&mut clauses, clause) {
                return Err(Fault::repeated(word, span));
            }
        }
        clauses.sort();
        Ok(clauses)
    }

    /// `else ask`, `else deny` or nothing, which is `else deny`. Returns whether a failed clause asks.
    fn else_ask(&mut self) -> Parsed<bool> {
        let soft = self.takes("else") && !self.takes("deny");
        if soft {
            self.keyword("ask")?;
        }
        Ok(soft)
    }

    /// The same for a clause of a request. Only a low safety may ask: every other clause of a request is about where the
    /// values go, and no answer of the user's makes that right.
    fn request_asks(&mut self, test: Test) -> Parsed<bool> {
        if test == Test::Safety {
            return self.else_ask();
        }
        let span = self.peek().span;
        match self.takes("else") {
            true => Err(Fault::new(span, "only `safety` may ask in a request, so this clause has no `else`")
                .help("remove it")),
            false => Ok(false),
        }
    }

    fn test(&mut self, word: &str, span: Range<usize>, more: &[&str]) -> Parsed<Test> {
        match word {
            "container" if self.takes("covers") => {
                self.keyword("the")?;
                self.keyword("fields")?;
                Ok(Test::ContainerCovers)
            }
            "container" => Ok(Test::ContainerAtLeast(self.tier()?.0)),
            "origin" => self.is_the_tasks().map(Test::Origin),
            "tls" => self.channel("valid", "`valid` or `loopback`").map(Test::Tls),
            "frame" if self.takes("top") => {
                if !self.takes("or") {
                    return Ok(Test::Frame(FrameTest::Top));
                }
                self.keyword("provider")?;
                Ok(Test::Frame(FrameTest::TopOrProvider))
            }
            "frame" if self.takes("provider") => Ok(Test::Frame(FrameTest::Provider)),
            "frame" if self.takes("any") => Ok(Test::Frame(FrameTest::Any)),
            "frame" => {
                if !self.takes("same") {
                    return Err(
                        self.unexpected("`top`, `top or provider`, `provider`, `same origin` or `any`")
                    );
                }
                self.keyword("origin")?;
                Ok(Test::Frame(FrameTest::SameOrigin))
            }
            "destination" if self.takes("origin") => self.is_the_tasks().map(Test::DestinationOrigin),
            "destination" => {
                let wanted = "`https`, `loopback` or `origin is the task's`";
                self.channel("https", wanted).map(Test::DestinationChannel)
            }
            "sink" => self.sink(span),
            "visible" => Ok(Test::Visible),
            "safety" => {
                self.keyword("reaches")?;
                self.keyword("the")?;
                self.keyword("threshold")?;
                Ok(Test::Safety)
            }
            other => {
                let names = CLAUSES.into_iter().chain(more.iter().copied());
                Err(Fault::new(span, format!("unknown clause `{other}`")).suggest(other, names))
            }
        }
    }

    /// `encrypted`, `loopback` or both with `or` between them; each is named once.
    fn channel(&mut self, encrypted: &str, wanted: &str) -> Parsed<Channel> {
        let (mut secure, mut loopback) = (false, false);
        loop {
            let span = self.peek().span;
            let (slot, word) = if self.takes(encrypted) {
                (&mut secure, encrypted)
            } else if self.takes("loopback") {
                (&mut loopback, "loopback")
            } else {
                return Err(self.unexpected(wanted));
            };
            if std::mem::replace(slot, true) {
                return Err(Fault::repeated(word, span));
            }
            if !self.takes("or") {
                return Channel::of(secure, loopback).ok_or_else(|| self.unexpected(wanted));
            }
        }
    }

    fn is_the_tasks(&mut self) -> Parsed<Owner> {
        ["is", "the", "task's"].into_iter().try_for_each(|word| self.keyword(word))?;
        if !self.takes("or") {
            return Ok(Owner::Task);
        }
        self.keyword("provider's")?;
        Ok(Owner::TaskOrProvider)
    }

    fn sink(&mut self, span: Range<usize>) -> Parsed<Test> {
        let not = self.takes("not");
        let mut named = self.symbol(Axis::Sink)?;
        while self.comma() {
            named |= self.symbol(Axis::Sink)?;
        }
        let known = Axis::Sink.full() & !Axis::Sink.unknown();
        if named & !known != 0 {
            return Err(Fault::new(span, "an unknown sink passes no guard").help("name the sinks that pass"));
        }
        let pass = if not { known & !named } else { named };
        if pass == 0 {
            return Err(Fault::new(span, "no sink passes this clause").help("leave at least one"));
        }
        Ok(Test::Sink(pass))
    }

    /// One symbol of an axis.
    fn symbol(&mut self, axis: Axis) -> Parsed<Mask> {
        let wanted = format!("a word for `{}`", axis.as_str());
        let (word, span) = self.word(&wanted)?;
        axis.mask_of(word).ok_or_else(|| {
            let message = format!("`{}` is never `{word}`", axis.as_str());
            Fault::new(span, message).suggest(word, axis.symbols().iter().copied())
        })
    }

    /// `if container is T1 or T2`, `unless sink is free_text`, or nothing.
    fn condition(&mut self) -> Parsed<Option<Condition>> {
        let unless = self.takes("unless");
        if !unless && !self.takes("if") {
            return Ok(None);
        }
        let (word, span) = self.word("`container` or `sink`")?;
        let Some(axis) = Axis::from_name(word).filter(|axis| matches!(axis, Axis::Container | Axis::Sink))
        else {
            let fault = Fault::new(span, format!("a clause cannot depend on `{word}`"));
            return Err(fault.suggest(word, ["container", "sink"]));
        };
        let (named, not) = self.symbols(axis)?;
        let known = axis.full() & !axis.unknown();
        let named = if not { named & known } else { named };
        let symbols = if unless { known & !named } else { named };
        if named & !known != 0 || symbols == 0 || symbols == known {
            let message =
                format!("this condition on `{word}` always gives the same answer, or depends on an unknown");
            return Err(Fault::new(span, message).help("name some of the known values"));
        }
        Ok(Some(Condition { axis, symbols }))
    }

    /// `is T0 or T1` or `is not valid`, with whether it has a `not`.
    fn symbols(&mut self, axis: Axis) -> Parsed<(Mask, bool)> {
        let start = self.peek().span.start;
        self.keyword("is")?;
        let not = self.takes("not");
        let mut named = self.symbol(axis)?;
        while self.takes("or") {
            named |= self.symbol(axis)?;
        }
        let meant = if not { axis.full() & !named } else { named };
        if meant == 0 {
            let message = format!("`{}` has no other value than those named here", axis.as_str());
            return Err(Fault::new(start..self.last_end(), message).help("leave at least one"));
        }
        Ok((meant, not))
    }

    fn consent(&mut self, kind: Kind) -> Parsed<ConsentRule> {
        let plain = |scope| ConsentRule { scope, naming: false, mandate: false };
        if self.takes("none") {
            return Ok(plain(None));
        }
        if self.takes("once") {
            self.keyword("per")?;
            return match self.word("`session` or `site`")? {
                ("session", _) => Ok(plain(Some(ConsentScope::Session))),
                ("site", _) => Ok(plain(Some(ConsentScope::Site))),
                (other, span) => {
                    let fault = Fault::new(span, format!("a yes does not hold per `{other}`"));
                    Err(fault.suggest(other, ["session", "site"]))
                }
            };
        }
        if !self.takes("every") {
            return Err(self.unexpected("`every time`, `once per session`, `once per site` or `none`"));
        }
        self.keyword("time")?;
        if !self.comma() {
            return Ok(plain(Some(ConsentScope::EveryTime)));
        }
        let span = self.peek().span;
        for word in ["naming", "payee", "and", "amount"] {
            self.keyword(word)?;
        }
        if kind != Kind::Purchase {
            return Err(Fault::new(span, format!("`{}` has no payee and no amount", kind.as_str())));
        }
        let mandate = self.comma();
        if mandate {
            self.keyword("unless")?;
            self.keyword("mandated")?;
        }
        Ok(ConsentRule { scope: Some(ConsentScope::EveryTime), naming: true, mandate })
    }

    fn deliver(&mut self, kind: Kind) -> Parsed<Vec<Delivery>> {
        if self.takes("nothing") {
            return Ok(Vec::new());
        }
        let mut deliveries = Vec::new();
        loop {
            let (delivery, span) = self.delivery()?;
            if deliveries.contains(&delivery) {
                return Err(Fault::repeated(delivery.as_str(), span));
            }
            let help = match delivery {
                Delivery::Ucp if !ORDERED.contains(&kind) => {
                    Some("`ucp` is for an address and for a purchase alone")
                }
                Delivery::Ucp => None,
                _ if (delivery == Delivery::PaymentApi) != (kind == Kind::Purchase) => {
                    Some("`payment_api` is for a purchase, and a purchase goes by it or by `ucp`")
                }
                _ => None,
            };
            if let Some(help) = help {
                let message = format!("`{}` is not a way to deliver `{}`", delivery.as_str(), kind.as_str());
                return Err(Fault::new(span, message).help(help));
            }
            deliveries.push(delivery);
            if !self.takes("or") {
                return Ok(deliveries);
            }
        }
    }

    pub(crate) fn delivery(&mut self) -> Parsed<(Delivery, Range<usize>)> {
        let (word, span) = self.word("a way to deliver")?;
        let delivery = Delivery::from_name(word).ok_or_else(|| {
            let names = Delivery::ALL.map(Delivery::as_str).into_iter().chain(["nothing"]);
            Fault::new(span.clone(), format!("unknown way to deliver `{word}`")).suggest(word, names)
        })?;
        Ok((delivery, span))
    }

    /// The statement after `prove`.
    pub(crate) fn proof(&mut self) -> Parsed<Proof> {
        self.keyword("never")?;
        if self.takes("deliver") {
            let subject = self.subject()?;
            self.keyword("to")?;
            return Ok(Proof::NeverDeliver { subject, delivery: self.delivery()?.0 });
        }
        if !self.takes("grant") {
            return Err(self.unexpected("`grant` or `deliver`"));
        }
        let subject = self.subject()?;
        let after = if self.takes("after") { Some(self.trigger()?) } else { None };
        let mut conditions = Vec::new();
        let mut more = self.takes("where");
        while more {
            let (word, span) = self.word("a signal")?;
            let axis = Axis::from_name(word).ok_or_else(|| {
                let names = Axis::ALL.iter().map(|axis| axis.as_str());
                Fault::new(span, format!("unknown signal `{word}`")).suggest(word, names)
            })?;
            conditions.push(Condition { axis, symbols: self.symbols(axis)?.0 });
            more = self.takes("and");
        }
        if self.peek().kind == TokenKind::Comma {
            return Err(self.unexpected("`and`, or the end of the statement"));
        }
        Ok(Proof::NeverGrant { subject, conditions, after })
    }
}

/// What a `consent` line says.
struct ConsentRule {
    scope: Option<ConsentScope>,
    naming: bool,
    mandate: bool,
}

/// Adds a clause. Returns whether one with the same test and condition is there already.
fn add(clauses: &mut Vec<Clause>, clause: Clause) -> bool {
    let same = |other: &Clause| {
        other.when == clause.when
            && std::mem::discriminant(&other.test) == std::mem::discriminant(&clause.test)
    };
    let again = clauses.iter().any(same);
    clauses.push(clause);
    again
}
