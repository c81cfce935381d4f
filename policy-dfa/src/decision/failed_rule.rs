//! The rules that fail in a case, in the words of the policy.

use std::ops::Range;

use crate::automaton::guards::Guard;
use crate::language::clause::Clause;
use crate::language::policy::Policy;
use crate::language::spans::RuleId;
use crate::vocabulary::alphabet::{Axis, Valuation};
use crate::vocabulary::event::{EventKind, Root};
use crate::vocabulary::reason::Reason;

/// A rule that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRule {
    /// The signal on which it fails.
    pub axis: Axis,
    /// The reason that it gives.
    pub reason: Reason,
    /// The rule as the policy has it, or a rule that the language implies for every request.
    pub rule: String,
    /// Its location in bytes of the policy's text; none for a rule that the language implies, and for a policy that
    /// was not parsed from text.
    pub span: Option<Range<usize>>,
}

impl std::fmt::Display for FailedRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.reason.code(), self.rule)
    }
}

/// The text of a rule, and its location where that is known.
type RuleText = (String, Option<Range<usize>>);

impl Policy {
    /// The rule of a guard that fails. For a valuation that passes the guard, the reason is the guard's own.
    pub(crate) fn failed_rule(&self, root: Root, guard: &Guard, valuation: &Valuation) -> FailedRule {
        let (axis, reason) = match failure(guard, valuation) {
            Some(Failure::Refuses(axis, reason)) => (axis, reason),
            Some(Failure::Asks) | None => (guard.axis, guard.reason),
        };
        let (rule, span) = match &guard.clause {
            Some(clause) => self.clause_text(root, clause),
            None => self.implied_rule(root, guard),
        };
        FailedRule { axis, reason, rule, span }
    }

    /// The reason why an event without rules is refused.
    pub(crate) fn missing_rules(&self, root: Root) -> FailedRule {
        let (reason, rule, span) = match root {
            Root::Verb(verb) => {
                let rule = format!("the policy has no section `verb {}`", verb.as_str());
                (Reason::VerbNotAllowed, rule, None)
            }
            Root::Request(kind, _) | Root::Checkout(kind, _) => {
                let rule = match (self.requests.get(&kind), root) {
                    (None, _) => format!("the policy has no section `request {}`", kind.as_str()),
                    (Some(rule), _) if rule.deliver.is_empty() => "deliver nothing".to_owned(),
                    (Some(_), Root::Checkout(..)) => "the section does not say `deliver ucp`".to_owned(),
                    (Some(_), _) => "deliver ucp".to_owned(),
                };
                (Reason::DeliveryForbidden, rule, self.span_of(RuleId::Request(kind)))
            }
        };
        FailedRule { axis: Axis::Plan, reason, rule, span }
    }

    /// The rule that prompts the user, or the one that limits the prompts.
    pub(crate) fn prompt_rule(&self, root: Root, axis: Axis) -> RuleText {
        match (axis, root, self.session.prompts) {
            (Axis::Prompts, _, Some(limit)) => (format!("at most {limit} prompts"), None),
            (_, Root::Request(kind, _) | Root::Checkout(kind, _), _) => {
                ("the user is asked".to_owned(), self.span_of(RuleId::Request(kind)))
            }
            (_, Root::Verb(verb), _) => ("the user is asked".to_owned(), self.span_of(RuleId::Verb(verb))),
        }
    }

    fn clause_text(&self, root: Root, clause: &Clause) -> RuleText {
        let rule = match root {
            Root::Request(kind, _) | Root::Checkout(kind, _) => RuleId::RequestClause(kind, *clause),
            Root::Verb(verb) => RuleId::VerbClause(verb, *clause),
        };
        (clause.to_string(), self.span_of(rule))
    }

    /// The rule of a guard without a clause: one about sites or the session, or one that every request has.
    fn implied_rule(&self, root: Root, guard: &Guard) -> RuleText {
        let sites = || {
            let named = self.sites.iter().enumerate().filter(|(_, site)| site.names(root));
            named.map(|(index, site)| (site.to_string(), self.span_of(RuleId::Site(index)))).collect()
        };
        let bars = |taint: bool| {
            let all = self.session.bars.iter().enumerate();
            let these = all.filter(|(_, bar)| bar.is_taint() == taint && bar.concerns(root));
            these.map(|(index, bar)| (bar.to_string(), self.span_of(RuleId::Bar(index)))).collect()
        };
        let always = |words: &str| (format!("every request: {words}"), None);
        let order = |words: &str| (format!("every order by ucp: {words}"), None);
        match guard.axis {
            Axis::Site => joined(sites()),
            Axis::Taint => joined(bars(true)),
            Axis::Session => joined(bars(false)),
            Axis::Uses => {
                let event = EventKind::of(root);
                let limit = self.session.uses.get(&event).copied().unwrap_or(0);
                (format!("at most {limit} {}", event.as_str()), None)
            }
            Axis::Plan => always("the task planned it"),
            Axis::Document => always("the loaded document is known"),
            Axis::Claim => always("the browser confirms what the model claims"),
            Axis::Amount => always("the amount is within the budget"),
            Axis::Placement if guard.soft => {
                always("the page says what each control is for, and no street goes into a text area")
            }
            Axis::Placement if matches!(root, Root::Checkout(..)) => order("every field is of the kind"),
            Axis::Placement => always("every field has a control that suits it"),
            Axis::Origin | Axis::TopOrigin => order("the page is of the task"),
            Axis::Tls => order("the page came over an encrypted connection"),
            Axis::Frame => order("the page is in the top frame"),
            Axis::Destination => order("the endpoint is at the page's own origin, over https"),
            other => always(other.as_str()),
        }
    }

    /// The location of a rule, if the policy was parsed from text.
    pub(crate) fn span_of(&self, rule: RuleId) -> Option<Range<usize>> {
        self.spans.of(rule)
    }
}

/// Several rules as one text, with the location of the first.
fn joined(rules: Vec<RuleText>) -> RuleText {
    let span = rules.first().and_then(|(_, span)| span.clone());
    let texts: Vec<String> = rules.into_iter().map(|(text, _)| text).collect();
    (texts.join("; "), span)
}

/// The effect of a guard that fails.
pub(crate) enum Failure {
    /// The user is asked.
    Asks,
    /// The event is refused because of this axis.
    Refuses(Axis, Reason),
}

/// The effect of a guard on a valuation that does not pass it.
pub(crate) fn failure(guard: &Guard, valuation: &Valuation) -> Option<Failure> {
    let has = |axis: Axis, symbols| 1u8 << valuation.get(axis) & symbols != 0;
    if let Some(when) = guard.when {
        if has(when.axis, when.axis.unknown()) {
            return Some(Failure::Refuses(when.axis, when.axis.unknown_reason()));
        }
        if !has(when.axis, when.symbols) {
            return None;
        }
    }
    match () {
        () if has(guard.axis, guard.pass) => None,
        () if has(guard.axis, guard.axis.unknown()) => {
            Some(Failure::Refuses(guard.axis, guard.axis.unknown_reason()))
        }
        () if guard.soft => Some(Failure::Asks),
        () => Some(Failure::Refuses(guard.axis, guard.reason)),
    }
}
