//! Why a policy answers as it does, and what would change it.

mod history;
mod words;

use std::ops::Range;

pub use history::Barred;

use crate::alphabet::{Axis, Symbol, Valuation, symbol};
use crate::compile::Compiled;
use crate::cube::Cube;
use crate::diagram::Diagrams;
use crate::guard::{End, Guard, Rules};
use crate::policy::Policy;
use crate::table::{Outcome, Root};
use crate::{Partial, Reason};

/// More sets of changes than this are not told.
const MOST_REMEDIES: usize = 4;

/// Why a policy answers as it does in one case.
///
/// Its [`Display`](std::fmt::Display) is the whole in plain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What was decided.
    pub root: Root,
    /// The signals of the case.
    pub valuation: Valuation,
    /// The answer.
    pub outcome: Outcome,
    /// Every rule that fails, in the order in which they are tried: for a refusal the first gives its reason.
    pub failing: Vec<Hurdle>,
    /// Every rule that fails and asks instead of refusing.
    pub asking: Vec<Hurdle>,
    /// What would turn it into a grant: each names the signals that must change, and to what; nothing else
    /// has to. None could be shorter; the shortest come first, four at most. Empty for a grant, and where
    /// nothing would help.
    pub remedies: Vec<Partial>,
}

/// A rule that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hurdle {
    /// The signal on which it fails.
    pub axis: Axis,
    /// The reason that it gives.
    pub reason: Reason,
    /// The rule as the policy writes it, or what the language says of every request.
    pub rule: String,
    /// Where it stands, in bytes of the policy's text; none for what the language says, and for a policy that
    /// was not read from text.
    pub span: Option<Range<usize>>,
}

impl<State> Compiled<State> {
    /// Why an event is granted, asked about or refused in one case, and what would change it.
    ///
    /// ```
    /// # let text = include_str!("../../policies/default.policy");
    /// use policy_dfa::{Partial, Policy, Root, symbol};
    /// use sirl::{Kind, Tier};
    ///
    /// let policy = Policy::parse(text).unwrap().compile().unwrap().check().unwrap();
    /// let root = Root::Request(Kind::Address, Tier::T2);
    /// let good = Partial::anything().among(&[symbol::Container::T2]).unwrap().witness();
    /// let why = policy.explain(root, &good.with(symbol::Tls::Broken));
    /// assert_eq!(why.failing[0].rule, "tls valid");
    /// assert_eq!(why.remedies[0].to_string(), "tls is valid and consent is given");
    /// ```
    pub fn explain(&self, root: Root, valuation: &Valuation) -> Explanation {
        let outcome = self.outcome(root, valuation);
        let (failing, asking) = self.policy.failing(root, valuation);
        let remedies = self.remedies(root, valuation);
        Explanation { root, valuation: *valuation, outcome, failing, asking, remedies }
    }

    /// The smallest sets of signals that, changed, give a grant.
    ///
    /// A set is enough exactly if some way to a grant departs from the valuation on no other signal, so the
    /// smallest sets are those of the ways themselves that hold no other such set.
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
        for set in smallest.iter().filter(|set| !set.is_empty()).take(MOST_REMEDIES) {
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
    /// The rules that fail, and those that fail and only ask.
    fn failing(&self, root: Root, valuation: &Valuation) -> (Vec<Hurdle>, Vec<Hurdle>) {
        let (guards, end) = match self.rules(root) {
            Rules::Fixed(Outcome::Grant(_)) => return (Vec::new(), Vec::new()),
            Rules::Fixed(_) => return (vec![self.nothing_said(root)], Vec::new()),
            Rules::Chain(guards, end) => (guards, end),
        };
        let (mut failing, mut asking) = (Vec::new(), Vec::new());
        for guard in &guards {
            match fails(guard, valuation) {
                None => {}
                Some(Failure::Asks) => asking.push(self.hurdle(root, guard, valuation)),
                Some(Failure::Refuses(..)) => failing.push(self.hurdle(root, guard, valuation)),
            }
        }
        if end.scope.is_some() || !asking.is_empty() {
            failing.extend(self.unanswered(root, end, valuation));
        }
        (failing, asking)
    }

    /// The user's no, a yes that ran out, or a question too many.
    fn unanswered(&self, root: Root, end: End, valuation: &Valuation) -> Option<Hurdle> {
        let is = |symbol: symbol::Consent| valuation.get(Axis::Consent) == symbol.index();
        let (axis, reason) = match () {
            () if is(symbol::Consent::Refused) => (Axis::Consent, Reason::ConsentDenied),
            () if is(symbol::Consent::Expired) => (Axis::Consent, Reason::ConsentExpired),
            () if is(symbol::Consent::None)
                && end.counted
                && valuation.get(Axis::Prompts) == symbol::Prompts::Spent.index() =>
            {
                (Axis::Prompts, Reason::BudgetSpent)
            }
            () => return None,
        };
        let (rule, span) = self.asking_rule(root, axis);
        Some(Hurdle { axis, reason, rule, span })
    }
}

/// How a guard fails.
enum Failure {
    /// It asks instead of refusing.
    Asks,
    /// It refuses, and reads this axis.
    Refuses(Axis, Reason),
}

fn fails(guard: &Guard, valuation: &Valuation) -> Option<Failure> {
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

impl std::fmt::Display for Hurdle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.reason.code(), self.rule)
    }
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let answer = match self.outcome {
            Outcome::Deny(_, reason) => format!("refused: {}. {}", reason.code(), reason.explain()),
            Outcome::Ask(_) => "asked about: it is granted if the user says yes.".to_owned(),
            Outcome::Grant(None) => "granted.".to_owned(),
            Outcome::Grant(Some(way)) => format!("granted, by {}.", way.as_str()),
        };
        write!(f, "{} is {answer}", self.root)?;
        let mut title = "Because";
        for hurdle in &self.failing {
            let (axis, symbol) = (hurdle.axis.as_str(), self.valuation.name(hurdle.axis));
            write!(f, "\n{title} {axis} is {symbol}: {}", hurdle.rule)?;
            title = "Besides,";
        }
        for hurdle in &self.asking {
            let (axis, symbol) = (hurdle.axis.as_str(), self.valuation.name(hurdle.axis));
            write!(f, "\nA question is needed because {axis} is {symbol}: {}", hurdle.rule)?;
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
