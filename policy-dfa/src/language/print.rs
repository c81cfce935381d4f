//! The canonical text of a policy.

use std::fmt::{Display, Formatter, Result};

use sirl::{Field, Tier};

use super::clause::{Clause, Condition, FrameTest, Test};
use super::policy::{Policy, Proof, RequestRule};
use super::session::{Bar, SessionRule, Trigger};
use super::site::SiteRule;
use crate::vocabulary::alphabet::Axis;
use crate::vocabulary::event::Subject;
use crate::vocabulary::outcome::ConsentScope;

impl Display for Policy {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "policy \"{}\" version {}", self.name, self.version)?;
        for tier in Tier::ALL {
            let fields: Vec<_> = self.named_fields().filter(|field| self.tier(*field) == tier).collect();
            if !fields.is_empty() {
                let names: Vec<_> = fields.into_iter().map(Field::as_str).collect();
                writeln!(f, "tier {} {{ {} }}", tier.as_str(), names.join(" "))?;
            }
        }
        if let Some(thresholds) = self.thresholds {
            let [t0, t1, t2] = thresholds.digits();
            writeln!(f, "threshold T0 {t0} T1 {t1} T2 {t2}")?;
        }
        for (kind, rule) in &self.requests {
            writeln!(f, "request {} {{\n{rule}}}", kind.as_str())?;
        }
        for (verb, clauses) in &self.verbs {
            writeln!(f, "verb {} {{", verb.as_str())?;
            clauses.iter().try_for_each(|clause| writeln!(f, "    {clause}"))?;
            writeln!(f, "}}")?;
        }
        self.sites.iter().try_for_each(|site| writeln!(f, "{site}"))?;
        self.providers.iter().try_for_each(|provider| writeln!(f, "{provider}"))?;
        if !self.session.is_empty() {
            writeln!(f, "{}", self.session)?;
        }
        self.proofs.iter().try_for_each(|proof| writeln!(f, "prove {proof}"))
    }
}

impl Display for SessionRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("session {")?;
        let counts = self.uses.iter().map(|(event, limit)| format!("{limit} {}", event.as_str()));
        let prompts = self.prompts.map(|limit| format!("{limit} prompts"));
        let money = self.money.map(|limit| limit.to_string());
        let limits: Vec<_> = counts.chain(prompts).chain(money).collect();
        if !limits.is_empty() {
            write!(f, "\n    at most {}", limits.join(", "))?;
        }
        if self.own_path {
            f.write_str("\n    values keep to their path")?;
        }
        self.bars.iter().try_for_each(|bar| write!(f, "\n    {bar}"))?;
        f.write_str("\n}")
    }
}

impl Display for Bar {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let never: Vec<_> = self.never.iter().map(|subject| subject.as_str()).collect();
        write!(f, "after {} never {} until {}", self.after, never.join(", "), self.until_name())
    }
}

impl Display for RequestRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.clauses.iter().try_for_each(|clause| writeln!(f, "    {clause}"))?;
        let consent = self.consent.map_or("none", ConsentScope::how_often);
        let naming = if self.naming { ", naming payee and amount" } else { "" };
        let mandate = if self.mandate { ", unless mandated" } else { "" };
        writeln!(f, "    consent {consent}{naming}{mandate}")?;
        let named: Vec<_> = self.deliver.iter().map(|delivery| delivery.as_str()).collect();
        writeln!(
            f,
            "    deliver {}",
            if named.is_empty() { "nothing".to_owned() } else { named.join(" or ") }
        )
    }
}

impl Display for Clause {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.test.fmt(f)?;
        if let Some(condition) = self.when {
            write!(f, " if {condition}")?;
        }
        f.write_str(if self.soft { " else ask" } else { "" })
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Test::ContainerCovers => f.write_str("container covers the fields"),
            Test::ContainerAtLeast(tier) => write!(f, "container {}", tier.as_str()),
            Test::Origin(owner) => write!(f, "origin {}", owner.words()),
            Test::Tls(channel) => write!(f, "tls {}", channel.words("valid")),
            Test::Frame(FrameTest::Top) => f.write_str("frame top"),
            Test::Frame(FrameTest::SameOrigin) => f.write_str("frame same origin"),
            Test::Frame(FrameTest::Any) => f.write_str("frame any"),
            Test::Frame(FrameTest::TopOrProvider) => f.write_str("frame top or provider"),
            Test::Frame(FrameTest::Provider) => f.write_str("frame provider"),
            Test::DestinationOrigin(owner) => write!(f, "destination origin {}", owner.words()),
            Test::DestinationChannel(channel) => write!(f, "destination {}", channel.words("https")),
            Test::Sink(sinks) => write!(f, "sink {}", Axis::Sink.names(*sinks, ", ")),
            Test::Visible => f.write_str("visible"),
            Test::Safety => f.write_str("safety reaches the threshold"),
            Test::Flow => f.write_str("flow stays"),
            Test::FlowOwn => f.write_str("flow own"),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} is {}", self.axis.as_str(), self.axis.names(self.symbols, " or "))
    }
}

impl Display for SiteRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let events: Vec<_> = self.events.iter().map(|event| event.as_str()).collect();
        write!(f, "site \"{}\" {{ {} {} }}", self.pattern, self.effect.as_str(), events.join(", "))
    }
}

impl Display for Proof {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Proof::NeverGrant { subject, conditions, after } => {
                write!(f, "never grant {subject}")?;
                if let Some(trigger) = after {
                    write!(f, " after {trigger}")?;
                }
                for (index, condition) in conditions.iter().enumerate() {
                    write!(f, " {} {condition}", if index == 0 { "where" } else { "and" })?;
                }
                Ok(())
            }
            Proof::NeverDeliver { subject, delivery } => {
                write!(f, "never deliver {subject} to {}", delivery.as_str())
            }
        }
    }
}

impl Display for Subject {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.as_str())
    }
}

impl Display for Trigger {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.as_str())
    }
}
