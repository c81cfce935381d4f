//! The parser: from text to a policy. This file reads the sections and puts them together.

mod clauses;
pub(super) mod lexer;
mod parser;
mod provider;
mod session;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use sirl::{Field, Kind, Tier};

use super::clause::{Clause, Test};
use super::error::{Fault, PolicyError};
use super::policy::{ADDED_LATER, Policy, Proof, RequestRule, Thresholds, Tiers, unnamed_tier};
use super::provider::Provider;
use super::session::SessionRule;
use super::site::SiteRule;
use super::spans::{RuleId, RuleSpans};
use crate::vocabulary::event::VerbKind;
use parser::{Parsed, Parser, SECTIONS};

/// The most problems that are reported.
const MAX_FAULTS: usize = 20;
/// The most statements to prove.
const MAX_PROOFS: usize = 256;

impl Policy {
    /// Parses a policy text. The language is described in `spec/policy.md`.
    ///
    /// # Errors
    /// Every problem of the text, each with its location.
    ///
    /// ```
    /// use policy_dfa::Policy;
    ///
    /// let error = Policy::parse("policy \"mine\" version 1\ntier T1 { emial }").unwrap_err();
    /// let first = &error.problems()[0];
    /// assert_eq!((first.line, first.column), (2, 11));
    /// assert_eq!(first.help.as_deref(), Some("did you mean `email`?"));
    /// ```
    pub fn parse(text: &str) -> Result<Policy, PolicyError> {
        let tokens = lexer::tokens(text).map_err(|faults| PolicyError::new(text, faults))?;
        let mut parser = Parser::new(tokens);
        let mut draft = Draft::default();
        let mut faults = Vec::new();
        if let Err(fault) = draft.head(&mut parser) {
            faults.push(fault);
            parser.skip_to_section();
        }
        while !parser.at_end() && faults.len() < MAX_FAULTS {
            if let Err(fault) = draft.section(&mut parser) {
                faults.push(fault);
                parser.skip_to_section();
            }
        }
        if faults.is_empty() {
            faults.extend(draft.missing(text.len()));
        }
        if faults.is_empty() { Ok(draft.finish()) } else { Err(PolicyError::new(text, faults)) }
    }
}

/// A policy while it is parsed.
#[derive(Default)]
struct Draft {
    name: String,
    version: u32,
    tiers: BTreeMap<Field, Tier>,
    thresholds: Option<Thresholds>,
    requests: BTreeMap<Kind, RequestRule>,
    verbs: BTreeMap<VerbKind, Vec<Clause>>,
    sites: Vec<SiteRule>,
    providers: Vec<Arc<Provider>>,
    session: Option<SessionRule>,
    proofs: Vec<Proof>,
    /// The location of the first `safety` clause.
    safety: Option<Range<usize>>,
    /// The location of the first clause about a provider.
    provider: Option<Range<usize>>,
    spans: RuleSpans,
}

impl Draft {
    fn head(&mut self, parser: &mut Parser<'_>) -> Parsed<()> {
        parser.keyword("policy")?;
        self.name = parser.quoted("the name of the policy")?.0.to_owned();
        parser.keyword("version")?;
        self.version = parser.count("the version")?;
        Ok(())
    }

    fn section(&mut self, parser: &mut Parser<'_>) -> Parsed<()> {
        let (word, span) = parser.word("a section")?;
        match word {
            "tier" => self.tier(parser),
            "threshold" => self.threshold(parser, span),
            "request" => {
                let (kind, span) = parser.kind()?;
                let start = parser.position();
                let rule = parser.request(kind, span.clone(), &mut self.spans)?;
                self.spans.record(RuleId::Request(kind), span.clone());
                if rule.clauses.iter().any(|clause| clause.test == Test::Safety) && self.safety.is_none() {
                    self.safety = parser.span_of("safety", start);
                }
                if rule.clauses.iter().any(|clause| clause.test.passes_provider()) && self.provider.is_none()
                {
                    self.provider = parser.span_of("provider", start);
                }
                once(self.requests.insert(kind, rule).is_none(), span, kind.as_str())
            }
            "verb" => {
                let (verb, span) = parser.verb()?;
                let start = parser.position();
                let clauses = parser.verb_clauses(verb, &mut self.spans)?;
                self.spans.record(RuleId::Verb(verb), span.clone());
                if clauses.iter().any(|clause| clause.test.passes_provider()) && self.provider.is_none() {
                    self.provider = parser.span_of("provider's", start);
                }
                once(self.verbs.insert(verb, clauses).is_none(), span, verb.as_str())
            }
            "site" => {
                let rule = parser.site(&self.sites, &mut self.spans)?;
                self.sites.push(rule);
                Ok(())
            }
            "provider" => {
                let provider = parser.provider(&self.providers, &mut self.spans)?;
                self.providers.push(provider);
                Ok(())
            }
            "session" => {
                let rule = parser.session(&mut self.spans)?;
                once(self.session.replace(rule).is_none(), span, "session")
            }
            "prove" => {
                let proof = parser.proof()?;
                let span = span.start..parser.last_end();
                if self.proofs.contains(&proof) {
                    return Err(Fault::new(span, "this is stated twice").help("keep one of the two"));
                }
                if self.proofs.len() >= MAX_PROOFS {
                    return Err(Fault::new(span, format!("more than {MAX_PROOFS} statements")));
                }
                self.spans.record(RuleId::Proof(self.proofs.len()), span);
                self.proofs.push(proof);
                Ok(())
            }
            other => Err(Fault::new(span, format!("unknown section `{other}`")).suggest(other, SECTIONS)),
        }
    }

    fn tier(&mut self, parser: &mut Parser<'_>) -> Parsed<()> {
        let (tier, _) = parser.tier()?;
        parser.open()?;
        while !parser.close()? {
            let (word, span) = parser.word("a field")?;
            let Some(field) = Field::from_name(word) else {
                let fault = Fault::new(span, format!("unknown field `{word}`"));
                return Err(fault.suggest(word, Field::ALL.map(Field::as_str)));
            };
            if tier < field.tier() {
                let (least, name) = (field.tier().as_str(), field.as_str());
                let message = format!(
                    "`{name}` cannot be {}: a policy may raise a field's tier, never lower it",
                    tier.as_str()
                );
                return Err(Fault::new(span, message).help(format!("put it in {least}")));
            }
            if let Some(before) = self.tiers.insert(field, tier) {
                let message = format!("`{}` already has a tier: {}", field.as_str(), before.as_str());
                return Err(Fault::new(span, message).help("name each field once"));
            }
        }
        Ok(())
    }

    fn threshold(&mut self, parser: &mut Parser<'_>, span: Range<usize>) -> Parsed<()> {
        let mut hundredths = [0u8; 3];
        for (tier, slot) in Tier::ALL.into_iter().zip(&mut hundredths) {
            parser.keyword(tier.as_str())?;
            *slot = parser.hundredths()?;
        }
        let [t0, t1, t2] = hundredths;
        if t0 >= t1 || t1 >= t2 {
            return Err(Fault::new(span, "the thresholds do not rise").help("write T0 below T1 below T2"));
        }
        once(self.thresholds.replace(Thresholds { hundredths }).is_none(), span, "threshold")
    }

    /// The faults of the policy as a whole.
    fn missing(&self, end: usize) -> Vec<Fault> {
        let mut faults = Vec::new();
        let lacking: Vec<_> = Field::ALL
            .into_iter()
            .filter(|field| !ADDED_LATER.contains(field) && !self.tiers.contains_key(field))
            .collect();
        if !lacking.is_empty() {
            let names: Vec<_> = lacking.iter().map(|field| format!("`{}`", field.as_str())).collect();
            let message = format!("no tier is given for {}", names.join(", "));
            faults.push(Fault::new(end..end, message).help("every field needs a tier"));
        }
        if let (Some(span), None) = (&self.safety, self.thresholds) {
            let fault = Fault::new(span.clone(), "`safety` is used, but the policy has no thresholds");
            faults.push(fault.help("add a line such as: threshold T0 0.50 T1 0.80 T2 0.95"));
        }
        if let (Some(span), true) = (&self.provider, self.providers.is_empty()) {
            let fault = Fault::new(span.clone(), "a provider is let in here, but the policy names none");
            faults.push(fault.help(
                "add: provider \"pay\" { frame \"https://elements.pay.example\" token \"https://api.pay.example\" }",
            ));
        }
        faults
    }

    fn finish(self) -> Policy {
        let email = self.tiers.get(&Field::Email).copied().unwrap_or(Tier::T2);
        let tier = |field: Field| {
            let usual = if ADDED_LATER.contains(&field) { unnamed_tier(field, email) } else { Tier::T2 };
            self.tiers.get(&field).copied().unwrap_or(usual)
        };
        Policy {
            name: self.name,
            version: self.version,
            tiers: Tiers::new(Field::ALL.map(tier)),
            thresholds: self.thresholds,
            requests: self.requests,
            verbs: self.verbs,
            sites: self.sites,
            providers: self.providers,
            session: self.session.unwrap_or_default(),
            proofs: self.proofs,
            spans: self.spans,
        }
    }
}

fn once(first: bool, span: Range<usize>, what: &str) -> Parsed<()> {
    if first {
        Ok(())
    } else {
        Err(Fault::new(span, format!("`{what}` is described twice")).help("keep one of the two"))
    }
}
