//! From a policy to its JSON form.

use sirl::{Field, Tier};

use crate::language::clause::{Clause, Condition, FrameTest, Owner, Test};
use crate::language::policy::{Policy, Proof, RequestRule};
use crate::language::provider::Provider;
use crate::language::session::{Bar, SessionRule};
use crate::language::site::SiteRule;
use crate::vocabulary::alphabet::{Axis, Mask};
use crate::vocabulary::outcome::ConsentScope;

/// The longest line that holds a whole list or object, in bytes.
const WIDTH: usize = 100;

/// A JSON value whose keys are in the order of insertion.
enum Shape {
    /// A string, a number or a Boolean, as it is written.
    Plain(String),
    List(Vec<Shape>),
    Map(Vec<(&'static str, Shape)>),
}

/// The JSON of a policy, with a line end.
pub(super) fn json(policy: &Policy) -> String {
    let mut out = String::new();
    lay_out(&policy.shape(), 0, true, &mut out);
    out.push('\n');
    out
}

/// Writes a value on one line if it fits there, else with one line for each of its parts.
fn lay_out(shape: &Shape, indent: usize, broken: bool, out: &mut String) {
    let line = inline(shape);
    let (open, close, parts): (_, _, Vec<(String, &Shape)>) = match shape {
        Shape::List(items) if !items.is_empty() => {
            ('[', ']', items.iter().map(|item| (String::new(), item)).collect())
        }
        Shape::Map(entries) if !entries.is_empty() => {
            ('{', '}', entries.iter().map(|(key, value)| (format!("\"{key}\": "), value)).collect())
        }
        _ => return out.push_str(&line),
    };
    if !broken && indent + line.len() <= WIDTH {
        return out.push_str(&line);
    }
    out.push(open);
    for (index, (key, part)) in parts.into_iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&" ".repeat(indent + 2));
        out.push_str(&key);
        lay_out(part, indent + 2, false, out);
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(close);
}

fn inline(shape: &Shape) -> String {
    match shape {
        Shape::Plain(written) => written.clone(),
        Shape::List(items) => {
            let items: Vec<_> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Shape::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Shape::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("\"{key}\": {}", inline(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

fn text(text: &str) -> Shape {
    Shape::Plain(serde_json::Value::from(text).to_string())
}

fn number(number: u32) -> Shape {
    Shape::Plain(number.to_string())
}

fn texts<'a>(all: impl IntoIterator<Item = &'a str>) -> Shape {
    Shape::List(all.into_iter().map(text).collect())
}

fn one(key: &'static str, value: Shape) -> (&'static str, Shape) {
    (key, value)
}

impl Policy {
    fn shape(&self) -> Shape {
        let mut entries = vec![one("policy", text(&self.name)), one("version", number(self.version))];
        let fields = |tier| self.named_fields().filter(move |field| self.tier(*field) == tier);
        let tiers = Tier::ALL.into_iter().filter(|tier| fields(*tier).next().is_some());
        let tiers = tiers.map(|tier| (tier.as_str(), texts(fields(tier).map(Field::as_str)))).collect();
        entries.push(one("tiers", Shape::Map(tiers)));
        if let Some(thresholds) = self.thresholds {
            let each = Tier::ALL.map(Tier::as_str).into_iter().zip(thresholds.digits().map(Shape::Plain));
            entries.push(one("thresholds", Shape::Map(each.collect())));
        }
        let requests = self.requests.iter().map(|(kind, rule)| (kind.as_str(), rule.shape()));
        let verbs = self.verbs.iter().map(|(verb, clauses)| {
            (
                verb.as_str(),
                Shape::Map(vec![one("clauses", Shape::List(clauses.iter().map(clause).collect()))]),
            )
        });
        let sections = [
            one("requests", Shape::Map(requests.collect())),
            one("verbs", Shape::Map(verbs.collect())),
            one("sites", Shape::List(self.sites.iter().map(site).collect())),
            one("providers", Shape::List(self.providers.iter().map(|it| provider(it)).collect())),
            one("session", session(&self.session)),
            one("prove", Shape::List(self.proofs.iter().map(proof).collect())),
        ];
        entries.extend(sections.into_iter().filter(|(_, section)| !is_empty(section)));
        Shape::Map(entries)
    }
}

fn is_empty(shape: &Shape) -> bool {
    match shape {
        Shape::Plain(_) => false,
        Shape::List(items) => items.is_empty(),
        Shape::Map(entries) => entries.is_empty(),
    }
}

impl RequestRule {
    fn shape(&self) -> Shape {
        let consent = match self.consent {
            None => "none",
            Some(ConsentScope::Session) => "session",
            Some(ConsentScope::Site) => "site",
            Some(ConsentScope::EveryTime) => "every_time",
        };
        let mut entries = vec![
            one("clauses", Shape::List(self.clauses.iter().map(clause).collect())),
            one("consent", text(consent)),
        ];
        if self.naming {
            entries.push(one("naming_payee_and_amount", Shape::Plain("true".to_owned())));
        }
        if self.mandate {
            entries.push(one("unless_mandated", Shape::Plain("true".to_owned())));
        }
        entries.push(one("deliver", texts(self.deliver.iter().map(|delivery| delivery.as_str()))));
        Shape::Map(entries)
    }
}

fn clause(clause: &Clause) -> Shape {
    let test = match clause.test {
        Test::ContainerCovers => one("container", text("fields")),
        Test::ContainerAtLeast(tier) => one("container", text(tier.as_str())),
        Test::Origin(owner) => one("origin", owned_by(owner)),
        Test::Tls(channel) => one("tls", text(&channel.words("valid").replace(' ', "_"))),
        Test::Frame(FrameTest::Top) => one("frame", text("top")),
        Test::Frame(FrameTest::SameOrigin) => one("frame", text("same_origin")),
        Test::Frame(FrameTest::Any) => one("frame", text("any")),
        Test::Frame(FrameTest::TopOrProvider) => one("frame", text("top_or_provider")),
        Test::Frame(FrameTest::Provider) => one("frame", text("provider")),
        Test::DestinationOrigin(owner) => one("destination", owned_by(owner)),
        Test::DestinationChannel(channel) => {
            one("destination", text(&channel.words("https").replace(' ', "_")))
        }
        Test::Sink(sinks) => one("sink", symbols(Axis::Sink, sinks)),
        Test::Visible => one("visible", Shape::Plain("true".to_owned())),
        Test::Safety => one("safety", text("threshold")),
        Test::Flow => one("flow", text("stays")),
        Test::FlowOwn => one("flow", text("own")),
    };
    let mut entries = vec![test];
    entries.extend(clause.when.as_ref().map(|when| one("if", condition(when))));
    if clause.soft {
        entries.push(one("else", text("ask")));
    }
    Shape::Map(entries)
}

fn owned_by(owner: Owner) -> Shape {
    text(match owner {
        Owner::Task => "task",
        Owner::TaskOrProvider => "task_or_provider",
    })
}

fn condition(condition: &Condition) -> Shape {
    Shape::Map(vec![(condition.axis.as_str(), symbols(condition.axis, condition.symbols))])
}

fn symbols(axis: Axis, set: Mask) -> Shape {
    texts(axis.named(set))
}

fn site(site: &SiteRule) -> Shape {
    let events = texts(site.events.iter().map(|event| event.as_str()));
    Shape::Map(vec![one("site", text(&site.pattern.to_string())), (site.effect.as_str(), events)])
}

fn provider(provider: &Provider) -> Shape {
    let origins = |origins: &[browser_signals::Origin]| {
        Shape::List(origins.iter().map(|origin| text(&origin.to_string())).collect())
    };
    Shape::Map(vec![
        one("provider", text(&provider.name)),
        one("frame", origins(&provider.frames)),
        one("token", origins(&provider.tokens)),
    ])
}

fn session(rule: &SessionRule) -> Shape {
    let mut limits: Vec<_> =
        rule.uses.iter().map(|(event, limit)| (event.as_str(), number(*limit))).collect();
    limits.extend(rule.prompts.map(|limit| one("prompts", number(limit))));
    limits.extend(rule.money.map(|limit| one("money", text(&limit.to_string()))));
    let mut entries = vec![one("at_most", Shape::Map(limits))];
    entries.extend(rule.own_path.then(|| one("values", text("path"))));
    entries.push(one("after", Shape::List(rule.bars.iter().map(bar).collect())));
    Shape::Map(entries.into_iter().filter(|(_, part)| !is_empty(part)).collect())
}

fn bar(bar: &Bar) -> Shape {
    Shape::Map(vec![
        one("event", text(bar.after.as_str())),
        one("never", texts(bar.never.iter().map(|subject| subject.as_str()))),
        one("until", text(bar.until_name())),
    ])
}

fn proof(proof: &Proof) -> Shape {
    match proof {
        Proof::NeverGrant { subject, conditions, after } => {
            let mut entries = vec![one("never", text("grant")), one("subject", text(subject.as_str()))];
            entries.extend(after.map(|trigger| one("after", text(trigger.as_str()))));
            if !conditions.is_empty() {
                entries.push(one("where", Shape::List(conditions.iter().map(condition).collect())));
            }
            Shape::Map(entries)
        }
        Proof::NeverDeliver { subject, delivery } => Shape::Map(vec![
            one("never", text("deliver")),
            one("subject", text(subject.as_str())),
            one("to", text(delivery.as_str())),
        ]),
    }
}
