//! What is known of an event from the task and the session alone.

use sirl::Kind;

use super::Partial;
use crate::alphabet::{Symbol, mask, symbol};
use crate::compile::Compiled;
use crate::session::Counted;
use crate::table::Root;
use crate::{History, Policy, Task};

impl Partial {
    /// What holds of every question about an event: a purchase has no controls, only a purchase has an
    /// amount, and a verb is neither planned nor claimed.
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
                .among(&[Placement::Unplaced, Placement::Lacking])
                .and_then(|known| known.among(&[Visibility::Unknown])),
            Root::Request(..) => {
                whole.among(&[Amount::Unknown]).and_then(|known| known.among(&[symbol::Flow::Unknown]))
            }
        };
        known.unwrap_or(whole)
    }
}

impl<State> Compiled<State> {
    /// What is known of an event before a page is open: what the task plans, the most that its container
    /// can be, its budget, and what the session has counted and barred by now.
    ///
    /// What a page, a model or the user has yet to say is left open: narrow it with [`Partial::among`], for
    /// example to `safety` unknown where no classifier runs.
    pub fn before_page(&self, root: Root, task: &Task, history: &History) -> Partial {
        self.policy.before_page(root, task, history)
    }
}

impl Policy {
    fn before_page(&self, root: Root, task: &Task, history: &History) -> Partial {
        let session = &self.session;
        let mut known = Partial::of(root).0;
        let mut narrow = |axis, set| known = known.narrowed(axis, set).unwrap_or(known);
        if let Root::Request(kind, _) = root {
            let planned = task.kinds().contains(&kind);
            narrow(symbol::Plan::AXIS, one(planned, symbol::Plan::Planned, symbol::Plan::Unplanned));
        }
        if !self.sites.iter().any(|site| site.names(root)) {
            narrow(symbol::Site::AXIS, mask(&[symbol::Site::Free, symbol::Site::Unknown]));
        }
        let (tainted, barred) = (session.bars(history, root, true), session.bars(history, root, false));
        narrow(symbol::Taint::AXIS, one(tainted, symbol::Taint::Tainted, symbol::Taint::Clean));
        narrow(symbol::Session::AXIS, one(barred, symbol::Session::Barred, symbol::Session::Free));
        let spent = session.is_spent(history, Counted::of(root));
        narrow(symbol::Uses::AXIS, one(spent, symbol::Uses::Spent, symbol::Uses::Under));
        let asked = session.prompts.is_some_and(|limit| history.prompts() >= limit);
        narrow(symbol::Prompts::AXIS, one(asked, symbol::Prompts::Spent, symbol::Prompts::Under));
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
            (None, _) => false,
            (Some(budget), None) => !over(budget),
            (Some(budget), Some(limit)) => budget.currency == limit.currency && !over(budget) && !over(limit),
        };
        if !payable {
            narrow(symbol::Amount::AXIS, mask(&[symbol::Amount::Over, symbol::Amount::Unknown]));
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
