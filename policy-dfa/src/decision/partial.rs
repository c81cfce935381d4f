//! Partial valuations: the knowledge about a decision while some signals are still open.

use sirl::Kind;

use super::history::History;
use super::question::Task;
use crate::automaton::compile::Compiled;
use crate::automaton::cube::Cube;
use crate::language::policy::Policy;
use crate::vocabulary::alphabet::{Axis, Mask, Symbol, Valuation, mask, symbol};
use crate::vocabulary::event::{EventKind, Root};

/// The destinations of an order: the page's own origin or another one. What is on this machine and what is a payment provider's
/// is not told apart there, since an order goes to neither.
const SEEN_AT_ENDPOINT: [symbol::Destination; 5] = [
    symbol::Destination::Task,
    symbol::Destination::TaskPlain,
    symbol::Destination::Other,
    symbol::Destination::OtherPlain,
    symbol::Destination::Unknown,
];

/// The connections of the page of an order: one in clear is one, on this machine too.
const ENCRYPTED_OR_NOT: [symbol::Tls; 4] =
    [symbol::Tls::Valid, symbol::Tls::Broken, symbol::Tls::Insecure, symbol::Tls::Unknown];

/// A partial valuation: a set of symbols for each signal. It represents every valuation that has one of them for
/// each signal.
///
/// Its [`Display`](std::fmt::Display) has the form of the conditions of a `prove` line, or is `anything` where
/// nothing is known.
///
/// ```
/// use policy_dfa::{Axis, Partial, symbol};
///
/// let known = Partial::anything().among(&[symbol::Container::T0, symbol::Container::T1]).unwrap();
/// let known = known.named(Axis::Tls, &["valid", "broken", "insecure", "loopback"]).unwrap();
/// assert_eq!(known.to_string(), "container is T0 or T1 and tls is not unknown");
/// assert!(known.among(&[symbol::Container::T2]).is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Partial(pub(crate) Cube);

impl Partial {
    /// Nothing is known: every signal may have any symbol.
    pub fn anything() -> Partial {
        Partial(Cube::whole())
    }

    /// The knowledge that holds for every question about an event: a purchase and an order at a shop's endpoint have no controls, only a
    /// purchase and a card in a form have an amount, and a verb is neither planned nor claimed.
    pub fn of(root: Root) -> Partial {
        use symbol::{Amount, Placement, Visibility};
        let whole = Partial::anything();
        let known = match root {
            Root::Verb(_) => whole
                .among(&[symbol::Plan::Unplanned])
                .and_then(|known| known.among(&[symbol::Claim::Contradicts]))
                .and_then(|known| known.among(&[Amount::Unknown]))
                .and_then(|known| known.among(&[Placement::Lacking])),
            Root::Request(Kind::Purchase, _) => whole
                .among(&[Amount::Within, Amount::Over, Amount::Unknown])
                .and_then(|known| known.among(&[Placement::Unplaced, Placement::Lacking]))
                .and_then(|known| known.among(&[Visibility::Unknown])),
            Root::Request(Kind::Payment, _) => whole.among(&[symbol::Flow::Unknown]),
            Root::Checkout(kind, _) => whole
                .among(match kind {
                    Kind::Purchase => &[Amount::Within, Amount::Over, Amount::Unknown],
                    _ => &[Amount::Unknown],
                })
                .and_then(|known| known.among(&[Placement::Unplaced, Placement::Lacking]))
                .and_then(|known| known.among(&[Visibility::Unknown]))
                .and_then(|known| known.among(&[symbol::Flow::Unknown]))
                .and_then(|known| known.among(&SEEN_AT_ENDPOINT))
                .and_then(|known| known.among(&ENCRYPTED_OR_NOT)),
            Root::Request(..) => {
                whole.among(&[Amount::Unknown]).and_then(|known| known.among(&[symbol::Flow::Unknown]))
            }
        };
        known.unwrap_or(whole)
    }

    /// The part in which an axis has one of the symbols; none where that part is empty.
    pub fn among<S: Symbol>(self, symbols: &[S]) -> Option<Partial> {
        self.0.narrowed(S::AXIS, mask(symbols)).map(Partial)
    }

    /// The part in which an axis has one of the symbols with these names; none where the axis lacks a name, or
    /// where that part is empty.
    pub fn named(self, axis: Axis, symbols: &[&str]) -> Option<Partial> {
        let mut each = symbols.iter().map(|symbol| axis.mask_of(symbol));
        let all = each.try_fold(0, |all: Mask, one| one.map(|one| all | one))?;
        self.0.narrowed(axis, all).map(Partial)
    }

    /// Whether a valuation is one of those that it represents.
    pub fn holds(&self, valuation: &Valuation) -> bool {
        self.0.contains(valuation)
    }

    /// The number of valuations that it represents.
    pub fn count(&self) -> u128 {
        self.0.count()
    }

    /// One of its valuations.
    pub fn witness(&self) -> Valuation {
        self.0.witness()
    }

    /// The axes about which something is known.
    pub fn limits(&self) -> impl Iterator<Item = Axis> {
        self.0.constrained_axes()
    }

    /// The names of the symbols that an axis may have.
    pub fn symbols(&self, axis: Axis) -> impl Iterator<Item = &'static str> {
        axis.named(self.0.mask(axis))
    }
}

impl std::fmt::Display for Partial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let each: Vec<String> = self.limits().map(|axis| is(axis, self.0.mask(axis))).collect();
        f.write_str(if each.is_empty() { "anything" } else { "" })?;
        f.write_str(&each.join(" and "))
    }
}

/// `container is T0 or T1`, or the same with `not` where that is shorter.
fn is(axis: Axis, symbols: Mask) -> String {
    let others = axis.full() & !symbols;
    let not = others != 0 && others.count_ones() < symbols.count_ones();
    let set = if not { others } else { symbols };
    format!("{} is {}{}", axis.as_str(), if not { "not " } else { "" }, axis.names(set, " or "))
}

impl<State> Compiled<State> {
    /// The knowledge about an event before a page is open: the kinds that the task plans, the highest tier of its
    /// container, its budget, and the counts and bars of the session so far.
    ///
    /// The signals that depend on a page, a model or the user are left open. [`Partial::among`] narrows them, for
    /// example `safety` to unknown where no classifier runs.
    pub fn before_page(&self, root: Root, task: &Task, history: &History) -> Partial {
        self.policy.before_page(root, task, history)
    }
}

impl Policy {
    fn before_page(&self, root: Root, task: &Task, history: &History) -> Partial {
        let session = &self.session;
        let mut known = Partial::of(root).0;
        let mut narrow = |axis, set| known = known.narrowed(axis, set).unwrap_or(known);
        if let Some((kind, _)) = root.asked() {
            let planned = task.kinds().contains(kind);
            narrow(symbol::Plan::AXIS, one(planned, symbol::Plan::Planned, symbol::Plan::Unplanned));
        }
        if !self.sites.iter().any(|site| site.names(root)) {
            narrow(symbol::Site::AXIS, mask(&[symbol::Site::Free, symbol::Site::Unknown]));
        }
        let (tainted, barred) = (session.bars(history, root, true), session.bars(history, root, false));
        narrow(symbol::Taint::AXIS, one(tainted, symbol::Taint::Tainted, symbol::Taint::Clean));
        narrow(symbol::Session::AXIS, one(barred, symbol::Session::Barred, symbol::Session::Free));
        let spent = session.is_spent(history, EventKind::of(root));
        narrow(symbol::Uses::AXIS, one(spent, symbol::Uses::Spent, symbol::Uses::Under));
        let out_of_prompts = session.is_out_of_prompts(history);
        narrow(symbol::Prompts::AXIS, one(out_of_prompts, symbol::Prompts::Spent, symbol::Prompts::Under));
        use browser_signals::Container as Raised;
        use symbol::Container::{T0, T1, T2, Unknown};
        let container = match task.container() {
            Raised::T0 => mask(&[T0, Unknown]),
            Raised::T1 => mask(&[T0, T1, Unknown]),
            Raised::T2 => mask(&[T0, T1, T2, Unknown]),
        };
        narrow(symbol::Container::AXIS, container);
        let over = |limit: sirl::Money| history.spent_minor() > limit.minor;
        let payable = match (task.budget(), session.money) {
            (None, Some(limit)) if matches!(root, Root::Request(Kind::Payment, _)) => !over(limit),
            (None, _) => false,
            (Some(budget), None) => !over(budget),
            (Some(budget), Some(limit)) => budget.currency == limit.currency && !over(budget) && !over(limit),
        };
        if !payable {
            let unpaid = [symbol::Amount::Over, symbol::Amount::Unnamed, symbol::Amount::Unknown];
            narrow(symbol::Amount::AXIS, mask(&unpaid));
        }
        if task.origins().is_empty() {
            narrow(symbol::Origin::AXIS, mask(&[symbol::Origin::Other, symbol::Origin::Unknown]));
            narrow(symbol::TopOrigin::AXIS, mask(&[symbol::TopOrigin::Other, symbol::TopOrigin::Unknown]));
        }
        Partial(known)
    }
}

fn one<S: Symbol>(first: bool, yes: S, no: S) -> u8 {
    mask(&[if first { yes } else { no }])
}
