//! Explanations: the rules behind an outcome, and the changes that would turn it into a grant; and the session rules that
//! bar an event.

use std::ops::Range;

use sirl::Kind;

use crate::automaton::compile::Compiled;
use crate::automaton::cube::Cube;
use crate::automaton::diagram::Diagrams;
use crate::automaton::guards::{End, Rules};
use crate::decision::failed_rule::{FailedRule, Failure, failure};
use crate::decision::history::History;
use crate::decision::partial::Partial;
use crate::language::policy::Policy;
use crate::language::session::{Bar, NEW_TASK, SessionRule};
use crate::language::spans::RuleId;
use crate::vocabulary::alphabet::{Axis, Symbol, Valuation, symbol};
use crate::vocabulary::event::{EventKind, Root};
use crate::vocabulary::outcome::Outcome;
use crate::vocabulary::reason::Reason;

/// The most remedies that are reported.
const MAX_REMEDIES: usize = 4;

/// The explanation of the outcome in one case.
///
/// Its [`Display`](std::fmt::Display) is the whole explanation in plain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The event.
    pub root: Root,
    /// The signals of the case.
    pub valuation: Valuation,
    /// The outcome.
    pub outcome: Outcome,
    /// Every rule that fails, in the order in which they are tried. The first gives the reason of a denial.
    pub failing: Vec<FailedRule>,
    /// Every rule that fails and asks the user instead of refusing.
    pub asking: Vec<FailedRule>,
    /// The changes that would turn the outcome into a grant. Each one names signals and their new symbols, and is
    /// sufficient and minimal. The shortest come first, and there are at most four. Empty for a grant, and where no
    /// change helps.
    pub remedies: Vec<Partial>,
}

impl<State> Compiled<State> {
    /// Explains why an event is granted, asked about or refused in one case, and what would change that.
    ///
    /// ```
    /// use policy_dfa::{EXAMPLE_POLICY, Partial, Policy, Root, symbol};
    /// use sirl::{Kind, Tier};
    ///
    /// let policy = Policy::parse(EXAMPLE_POLICY).unwrap().compile().unwrap().check().unwrap();
    /// let root = Root::Request(Kind::Address, Tier::T2);
    /// let good = Partial::anything().among(&[symbol::Container::T2]).unwrap().witness();
    /// let why = policy.explain(root, &good.with(symbol::Tls::Broken));
    /// assert_eq!(why.failing[0].rule, "tls valid or loopback");
    /// assert_eq!(why.remedies[0].to_string(), "tls is valid or loopback and consent is given");
    /// ```
    pub fn explain(&self, root: Root, valuation: &Valuation) -> Explanation {
        let outcome = self.outcome(root, valuation);
        let (failing, asking) = self.policy.failing(root, valuation);
        let remedies = self.remedies(root, valuation);
        Explanation { root, valuation: *valuation, outcome, failing, asking, remedies }
    }

    /// The minimal sets of signals whose change gives a grant.
    ///
    /// A set is sufficient exactly if some path to a grant departs from the valuation on no other signal. So the
    /// minimal sets are among the sets on which paths depart.
    fn remedies(&self, root: Root, valuation: &Valuation) -> Vec<Partial> {
        let paths = self.table.paths(root);
        let grants = paths.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Grant(_)));
        let departs = |axis: &Axis, cube: &Cube| cube.mask(*axis) & (1 << valuation.get(*axis)) == 0;
        let mut sets: Vec<Vec<Axis>> = grants
            .map(|(cube, _)| Axis::ALL.iter().copied().filter(|axis| departs(axis, cube)).collect())
            .collect();
        sets.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        let mut smallest: Vec<Vec<Axis>> = Vec::new();
        for set in sets {
            if !smallest.iter().any(|known| known.iter().all(|axis| set.contains(axis))) {
                smallest.push(set);
            }
        }
        let mut diagrams = Diagrams::default();
        let walked = self.table.diagram(&mut diagrams, root);
        let granted = diagrams.where_ends(walked, |outcome| matches!(outcome, Outcome::Grant(_)));
        let mut remedies = Vec::new();
        for set in smallest.iter().filter(|set| !set.is_empty()).take(MAX_REMEDIES) {
            let mut open = granted;
            for axis in Axis::ALL.iter().filter(|axis| !set.contains(axis)) {
                open = diagrams.restrict(open, *axis, 1 << valuation.get(*axis));
            }
            let widest = diagrams.cover(open, open).into_iter().max_by_key(Cube::count);
            remedies.extend(widest.map(Partial));
        }
        remedies
    }
}

impl Policy {
    /// The rules that fail and refuse, and those that fail and ask the user.
    fn failing(&self, root: Root, valuation: &Valuation) -> (Vec<FailedRule>, Vec<FailedRule>) {
        let (guards, end) = match self.rules(root) {
            Rules::Fixed(Outcome::Grant(_)) => return (Vec::new(), Vec::new()),
            Rules::Fixed(_) => return (vec![self.missing_rules(root)], Vec::new()),
            Rules::Chain(guards, end) => (guards, end),
        };
        let (mut failing, mut asking) = (Vec::new(), Vec::new());
        for guard in &guards {
            match failure(guard, valuation) {
                None => {}
                Some(Failure::Asks) => asking.push(self.failed_rule(root, guard, valuation)),
                Some(Failure::Refuses(..)) => failing.push(self.failed_rule(root, guard, valuation)),
            }
        }
        if end.scope.is_some() || !asking.is_empty() {
            let mandate = end.mandate && asking.is_empty();
            failing.extend(self.unanswered(root, end, mandate, valuation));
        }
        (failing, asking)
    }

    /// The failed rule about consent: it was refused or has expired, or the limit of prompts is reached. `mandate` says whether a mandate
    /// would take the place of the prompt.
    fn unanswered(&self, root: Root, end: End, mandate: bool, valuation: &Valuation) -> Option<FailedRule> {
        let is = |symbol: symbol::Consent| valuation.get(Axis::Consent) == symbol.index();
        let (axis, reason) = match () {
            () if is(symbol::Consent::Refused) => (Axis::Consent, Reason::ConsentDenied),
            () if is(symbol::Consent::Expired) => (Axis::Consent, Reason::ConsentExpired),
            () if (is(symbol::Consent::None) || is(symbol::Consent::Mandated) && !mandate)
                && end.counted
                && valuation.get(Axis::Prompts) == symbol::Prompts::Spent.index() =>
            {
                (Axis::Prompts, Reason::QuestionsSpent)
            }
            () => return None,
        };
        let (rule, span) = self.prompt_rule(root, axis);
        Some(FailedRule { axis, reason, rule, span })
    }
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let answer = match self.outcome {
            Outcome::Deny(_, reason) => format!("refused: {}. {}", reason.code(), reason.explain()),
            Outcome::Ask(_) => "asked about: it is granted if the user says yes.".to_owned(),
            Outcome::Grant(None) => "granted.".to_owned(),
            Outcome::Grant(Some(delivery)) => format!("granted, by {}.", delivery.as_str()),
        };
        write!(f, "{} is {answer}", self.root)?;
        let mut title = "Because";
        for rule in &self.failing {
            let (axis, symbol) = (rule.axis.as_str(), self.valuation.name(rule.axis));
            write!(f, "\n{title} {axis} is {symbol}: {}", rule.rule)?;
            title = "Besides,";
        }
        for rule in &self.asking {
            let (axis, symbol) = (rule.axis.as_str(), self.valuation.name(rule.axis));
            write!(f, "\nA question is needed each time because {axis} is {symbol}: {}", rule.rule)?;
        }
        if self.remedies.is_empty() && !matches!(self.outcome, Outcome::Grant(_)) {
            f.write_str("\nNo other signals would change it: only another policy does.")?;
        }
        let mut title = "It would be granted if";
        for remedy in &self.remedies {
            write!(f, "\n{title} {}", remedy.to_string().replace(" is ", " were "))?;
            title = "or if";
        }
        Ok(())
    }
}

/// A session rule that bars an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Barred {
    /// The signal that it sets.
    pub axis: Axis,
    /// The rule as the policy has it.
    pub rule: String,
    /// Its location in bytes of the policy's text, where that is known.
    pub span: Option<Range<usize>>,
    /// The events that end the bar, in the words of the policy. A new task always does.
    pub until: String,
}

impl std::fmt::Display for Barred {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (until {})", self.rule, self.until)
    }
}

impl<State> Compiled<State> {
    /// Every session rule that bars an event after this history, with the events that end the bar. A limit of prompts
    /// that is reached is among them, since it bars events that need a prompt.
    pub fn barred(&self, root: Root, history: &History) -> Vec<Barred> {
        self.policy.barred(root, history)
    }
}

impl Policy {
    fn barred(&self, root: Root, history: &History) -> Vec<Barred> {
        let session = &self.session;
        let mut found = Vec::new();
        for (index, bar) in session.bars.iter().enumerate().filter(|(_, bar)| bar.concerns(root)) {
            if only_bar(session, index).bars(history, root, bar.is_taint()) {
                found.push(Barred {
                    axis: if bar.is_taint() { Axis::Taint } else { Axis::Session },
                    rule: bar.to_string(),
                    span: self.span_of(RuleId::Bar(index)),
                    until: bar.until.map_or(NEW_TASK.to_owned(), |until| format!("{until} or {NEW_TASK}")),
                });
            }
        }
        let mut limit = |axis, rule| {
            found.push(Barred { axis, rule, span: None, until: NEW_TASK.to_owned() });
        };
        let event = EventKind::of(root);
        if let Some(most) = session.uses.get(&event).filter(|_| session.is_spent(history, event)) {
            limit(Axis::Uses, format!("at most {most} {}", event.as_str()));
        }
        let buys = matches!(root, Root::Request(Kind::Purchase, _) | Root::Checkout(Kind::Purchase, _));
        if let Some(most) = session.money.filter(|most| buys && history.spent_minor() >= most.minor) {
            limit(Axis::Amount, format!("at most {most}"));
        }
        if let Some(most) = session.prompts.filter(|_| session.is_out_of_prompts(history)) {
            limit(Axis::Prompts, format!("at most {most} prompts"));
        }
        found
    }
}

/// The session rules in which only the `after` rule at `index` bars events. The others stay, so that it keeps its
/// latch.
fn only_bar(session: &SessionRule, index: usize) -> SessionRule {
    let silent = |(number, bar): (usize, &Bar)| Bar {
        never: if number == index { bar.never.clone() } else { Vec::new() },
        ..bar.clone()
    };
    SessionRule { bars: session.bars.iter().enumerate().map(silent).collect(), ..session.clone() }
}
