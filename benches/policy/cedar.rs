//! Cedar's side: the same samples as Cedar requests, against `default.cedar`.
//!
//! Cedar has no loops, so three facts are computed while the request is built, from the sample and not with our code:
//! if the frame is the top one, the quality of the placement, and if every control is visible.

use std::collections::HashSet;

use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityUid, PolicyId, PolicySet, Request,
    RestrictedExpression as Value, Schema, ValidationMode, Validator,
};
use policy_dfa::{Consent, VerbKind};
use sirl::{Field, FieldSet, Kind};

use crate::ours::Answer;
use crate::sample::{Act, BUDGET_MINOR, Chosen, Claims, FORM, PageFacts, Sample, TASK_ORIGINS};

/// The policy set, validated against its schema.
pub struct Cedar {
    authorizer: Authorizer,
    policies: PolicySet,
    asks: HashSet<PolicyId>,
    schema: Schema,
    task: EntityUid,
    page: EntityUid,
    kinds: [EntityUid; Kind::ALL.len()],
    verbs: [EntityUid; 8],
}

fn uid(text: &str) -> EntityUid {
    text.parse().unwrap()
}

fn text(text: &str) -> Value {
    Value::new_string(text.to_owned())
}

/// A record of the facts that are known.
fn known<const N: usize>(facts: [(&str, Option<Value>); N]) -> impl Iterator<Item = (String, Value)> {
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)))
}

impl Cedar {
    /// Reads and validates the policies.
    pub fn new() -> Cedar {
        let policies: PolicySet = include_str!("default.cedar").parse().unwrap();
        let (schema, warnings) = Schema::from_cedarschema_str(include_str!("default.cedarschema")).unwrap();
        assert_eq!(warnings.count(), 0);
        let checked = Validator::new(schema.clone()).validate(&policies, ValidationMode::Strict);
        assert!(checked.validation_passed_without_warnings(), "{checked}");
        let asks = policies.policies().filter(|policy| policy.annotation("answer") == Some("ask"));
        Cedar {
            authorizer: Authorizer::new(),
            asks: asks.map(|policy| policy.id().clone()).collect(),
            policies,
            schema,
            task: uid(r#"Task::"task""#),
            page: uid(r#"PageFacts::"page""#),
            kinds: Kind::ALL.map(|kind| uid(&format!(r#"Action::"{}""#, kind.as_str()))),
            verbs: ["open", "read", "click", "type", "choose", "press", "submit", "idle"]
                .map(|verb| uid(&format!(r#"Action::"{verb}""#))),
        }
    }

    /// The sealed task, which outlives one question.
    pub fn task(&self, sample: &Sample) -> Entities {
        let attributes = known([
            ("origins", Some(Value::new_set(TASK_ORIGINS.map(text)))),
            ("kinds", Some(Value::new_set(sample.kinds.iter().map(|kind| text(kind.as_str()))))),
            ("budget", Some(Value::new_long(BUDGET_MINOR as i64))),
            ("raised", Some(Value::new_long(i64::from(sample.raised)))),
        ]);
        let task = Entity::new(self.task.clone(), attributes.collect(), HashSet::new()).unwrap();
        Entities::from_entities([task], Some(&self.schema)).unwrap()
    }

    /// The request of a sample, not validated, as a fast caller would do.
    pub fn build(&self, sample: &Sample) -> Request {
        self.request(sample, None)
    }

    /// The request of a sample, validated against the schema.
    pub fn build_validated(&self, sample: &Sample) -> Request {
        self.request(sample, Some(&self.schema))
    }

    fn request(&self, sample: &Sample, schema: Option<&Schema>) -> Request {
        let (action, context) = match &sample.act {
            Act::Verb { verb, to, foreign } => {
                let form =
                    || sample.page.as_ref().and_then(|page| page.destination.as_ref()).map(|(to, _)| to);
                let goal = to.as_ref().or_else(|| if *verb == VerbKind::Open { None } else { form() });
                let flow = match foreign {
                    Some(false) => "stays",
                    Some(true) => "crosses",
                    None => "unknown",
                };
                let context = known([("page", Some(facts(sample, goal))), ("flow", Some(text(flow)))]);
                (&self.verbs[*verb as usize], Context::from_pairs(context).unwrap())
            }
            Act::Request { kind, fields, amount, claim } => {
                (&self.kinds[*kind as usize], release(sample, *kind, fields, *amount, claim))
            }
        };
        let action = action.clone();
        Request::new(self.task.clone(), action, self.page.clone(), context, schema).unwrap()
    }

    /// Cedar's answer.
    pub fn decide(&self, request: &Request, task: &Entities) -> Answer {
        let response = self.authorizer.is_authorized(request, &self.policies, task);
        debug_assert_eq!(response.diagnostics().errors().count(), 0);
        match response.decision() {
            Decision::Deny => Answer::Deny,
            Decision::Allow if response.diagnostics().reason().any(|id| self.asks.contains(id)) => {
                Answer::Ask
            }
            Decision::Allow => Answer::Grant,
        }
    }

    /// Tells if a decision has no error. Cedar skips a policy with an error.
    pub fn has_no_error(&self, request: &Request, task: &Entities) -> bool {
        self.authorizer.is_authorized(request, &self.policies, task).diagnostics().errors().next().is_none()
    }
}

/// The facts that both requests and verbs use.
fn facts(sample: &Sample, goal: Option<&String>) -> Value {
    let page = sample.page.as_ref();
    let destination = |to: &String| {
        let parts = [("origin", Some(text(to))), ("https", Some(Value::new_bool(to.starts_with("https:"))))];
        Value::new_record(known(parts)).unwrap()
    };
    let tier = page.map_or(Some(sample.raised), |page| page.tier);
    Value::new_record(known([
        ("tier", tier.map(|tier| Value::new_long(i64::from(tier)))),
        ("origin", page.and_then(|page| page.origin.as_deref()).map(text)),
        ("top_origin", page.and_then(|page| page.top_origin.as_deref()).map(text)),
        ("destination", goal.map(destination)),
        ("sink", page.and_then(|page| page.sink).map(text)),
    ]))
    .unwrap()
}

fn release(sample: &Sample, kind: Kind, fields: &[Field], amount: Option<u64>, claim: &Claims) -> Context {
    let page = sample.page.as_ref();
    let asked: FieldSet =
        if fields.is_empty() { kind.default_fields() } else { fields.iter().copied().collect() };
    let needed = if kind == Kind::Purchase { 2 } else { need(asked.iter()) };
    let chosen = page.map_or(&[][..], |page| &page.chosen);
    let chosen = if kind == Kind::Purchase { &[] } else { chosen };
    let money = |minor: u64| Value::new_long(minor as i64);
    let claim = Value::new_record(known([
        ("origin", claim.origin.as_deref().map(text)),
        ("top_origin", claim.top_origin.as_deref().map(text)),
        ("tier", claim.tier.map(|tier| Value::new_long(i64::from(tier)))),
        ("tls", claim.tls.map(Value::new_bool)),
        ("sink", claim.sink.map(text)),
        ("total", claim.total.map(money)),
    ]));
    let consent = match sample.consent {
        // The policy of this comparison lets no mandate in.
        Consent::None | Consent::Mandated => "none",
        Consent::Given => "given",
        Consent::Refused => "refused",
        Consent::Expired => "expired",
    };
    let goal = page.and_then(|page| page.destination.as_ref()).map(|(to, _)| to);
    let visible = !chosen.is_empty()
        && chosen
            .iter()
            .all(|it| on_page(page, it.node).is_some_and(|c| (c.visible, c.hit) == (Some(true), Some(true))));
    Context::from_pairs(known([
        ("page", Some(facts(sample, goal))),
        ("kind", Some(text(kind.as_str()))),
        ("need", Some(Value::new_long(needed))),
        ("claim", Some(claim.unwrap())),
        ("amount", amount.map(money)),
        ("consent", Some(text(consent))),
        ("purchases", Some(Value::new_long(i64::from(sample.purchases)))),
        ("prompts", Some(Value::new_long(i64::from(sample.prompts)))),
        ("spent", Some(money(sample.spent_minor))),
        ("tainted", Some(Value::new_bool(sample.tainted))),
        ("tls", Some(text(page.and_then(|page| page.tls).unwrap_or("unknown")))),
        ("top_frame", Some(Value::new_bool(page.is_some_and(is_top)))),
        ("document", Some(Value::new_bool(page.is_some_and(|page| page.document.is_some())))),
        ("placement", Some(text(placement(page, kind, asked, chosen)))),
        ("visible", Some(Value::new_bool(visible))),
    ]))
    .unwrap()
}

fn is_top(page: &PageFacts) -> bool {
    page.ancestors.as_ref().is_some_and(Vec::is_empty)
        && page.origin.is_some()
        && page.origin == page.top_origin
        && page.document == page.top_document
}

/// The control of this node, if the page has it.
fn on_page(page: Option<&PageFacts>, node: i64) -> Option<&Chosen> {
    page?.chosen.iter().find(|control| control.on_page && control.node == node)
}

fn placement(page: Option<&PageFacts>, kind: Kind, asked: FieldSet, chosen: &[Chosen]) -> &'static str {
    if !asked.is_subset_of(kind.allowed_fields()) {
        return "lacking";
    }
    if chosen.is_empty() {
        return "unplaced";
    }
    let mut nodes: Vec<i64> = chosen.iter().map(|it| it.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let fields: FieldSet = chosen.iter().map(|it| it.field).collect();
    let takes = |it: &Chosen| on_page(page, it.node).is_some_and(|c| c.editable && c.form == FORM);
    let whole = nodes.len() == chosen.len()
        && fields.len() == chosen.len()
        && fields == asked
        && chosen.iter().all(takes);
    let exposed = |it: &Chosen| need([it.field]) == 2 && on_page(page, it.node).is_some_and(|c| c.text_area);
    match whole {
        false => "lacking",
        true if chosen.iter().any(exposed) => "free_text",
        true => "whole",
    }
}

/// The highest tier of these fields.
fn need(fields: impl IntoIterator<Item = Field>) -> i64 {
    fields.into_iter().map(|field| field.tier() as i64).max().unwrap_or(0)
}
