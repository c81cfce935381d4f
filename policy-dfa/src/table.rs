//! The automaton: a table of states that each read one axis.

use sirl::{Kind, Tier};

use crate::alphabet::{Axis, Mask, Valuation};
use crate::policy::Delivery;
use crate::{ConsentScope, Reason, VerbKind};

/// What is decided: where a walk starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// A request of this kind whose fields need this tier.
    Request(Kind, Tier),
    /// A verb.
    Verb(VerbKind),
}

/// The verbs in the order of their roots.
const VERBS: [VerbKind; 8] = [
    VerbKind::Open,
    VerbKind::Read,
    VerbKind::Click,
    VerbKind::Type,
    VerbKind::Choose,
    VerbKind::Press,
    VerbKind::Submit,
    VerbKind::Idle,
];

impl Root {
    /// Every root, in the order of the table.
    pub fn all() -> impl Iterator<Item = Root> {
        let requests = Kind::ALL.into_iter().flat_map(|kind| Tier::ALL.map(|tier| Root::Request(kind, tier)));
        requests.chain(VERBS.map(Root::Verb))
    }

    pub(crate) fn index(self) -> usize {
        match self {
            Root::Request(kind, tier) => kind as usize * Tier::ALL.len() + tier as usize,
            Root::Verb(verb) => Kind::ALL.len() * Tier::ALL.len() + verb as usize,
        }
    }
}

impl std::fmt::Display for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Root::Request(kind, tier) => write!(f, "`{}` with {} fields", kind.as_str(), tier.as_str()),
            Root::Verb(verb) => write!(f, "`{}`", verb.as_str()),
        }
    }
}

/// Where a walk ends. Sinks of different guards are never merged, so that each denial has its own reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Refused by the guard that reads this axis.
    Deny(Axis, Reason),
    /// To be asked.
    Ask(ConsentScope),
    /// Granted: a release by this way, or, with none, a verb.
    Grant(Option<Delivery>),
}

/// A state or an outcome: outcomes have the high bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Target(u16);

const OUTCOME: u16 = 1 << 15;
/// Stands for a table that was built wrong; no table that [`Builder`] makes reaches it.
const BROKEN: Outcome = Outcome::Deny(Axis::Plan, Reason::DeliveryForbidden);

#[derive(Debug, Clone, Copy)]
struct State {
    axis: Axis,
    /// Where its row begins: one target for each symbol of the axis.
    row: u16,
}

/// A complete, deterministic automaton. Every walk reads each state's axis once and ends.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    roots: Vec<Target>,
    states: Vec<State>,
    targets: Vec<Target>,
    outcomes: Vec<Outcome>,
}

/// A part of the space with one outcome: for each axis the symbols that lead there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cube {
    masks: [Mask; Axis::COUNT],
    /// The axes that were read on the way.
    read: u32,
}

impl Cube {
    pub(crate) fn whole() -> Cube {
        let mut cube = Cube { masks: [0; Axis::COUNT], read: 0 };
        for (slot, axis) in cube.masks.iter_mut().zip(Axis::ALL) {
            *slot = axis.full();
        }
        cube
    }

    pub(crate) fn mask(&self, axis: Axis) -> Mask {
        self.masks.get(axis as usize).copied().unwrap_or(0)
    }

    /// The part of the cube where `axis` is in `symbols`, if there is one.
    pub(crate) fn narrowed(mut self, axis: Axis, symbols: Mask) -> Option<Cube> {
        let slot = self.masks.get_mut(axis as usize)?;
        *slot &= symbols;
        (*slot != 0).then_some(self)
    }

    /// The cube without what it says of `axis`.
    pub(crate) fn freed(mut self, axis: Axis) -> Cube {
        if let Some(slot) = self.masks.get_mut(axis as usize) {
            *slot = axis.full();
        }
        self
    }

    /// The part that two cubes share, if there is one.
    pub(crate) fn meet(self, other: &Cube) -> Option<Cube> {
        Axis::ALL.iter().try_fold(self, |cube, axis| cube.narrowed(*axis, other.mask(*axis)))
    }

    pub(crate) fn was_read(&self, axis: Axis) -> bool {
        self.read & (1 << axis as u32) != 0
    }

    /// One valuation of the cube: the first symbol of each axis.
    pub(crate) fn witness(&self) -> Valuation {
        let mut valuation = Valuation::FIRST;
        for axis in Axis::ALL {
            valuation.set(*axis, self.mask(*axis).trailing_zeros() as u8);
        }
        valuation
    }
}

impl Table {
    /// Walks from `root`. Allocates nothing.
    pub(crate) fn walk(&self, root: Root, valuation: &Valuation) -> Outcome {
        self.roots.get(root.index()).map_or(BROKEN, |start| self.run(*start, valuation))
    }

    fn run(&self, start: Target, valuation: &Valuation) -> Outcome {
        let mut at = start;
        loop {
            if let Some(outcome) = self.outcome(at) {
                return outcome;
            }
            let next = (self.states.get(usize::from(at.0))).and_then(|state| {
                self.targets.get(usize::from(state.row) + usize::from(valuation.get(state.axis)))
            });
            match next {
                // States point only to states made before them, so every walk ends.
                Some(next) if next.0 & OUTCOME != 0 || next.0 < at.0 => at = *next,
                _ => return BROKEN,
            }
        }
    }

    fn outcome(&self, target: Target) -> Option<Outcome> {
        let place = target.0 & !OUTCOME;
        (target.0 & OUTCOME != 0).then(|| self.outcomes.get(usize::from(place)).copied().unwrap_or(BROKEN))
    }

    /// How many states the table has.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Every way from `root` to an outcome. The cubes are disjoint and together are the whole space.
    pub(crate) fn paths(&self, root: Root) -> Vec<(Cube, Outcome)> {
        let mut open: Vec<_> =
            self.roots.get(root.index()).map(|start| (Cube::whole(), *start)).into_iter().collect();
        let mut done = Vec::new();
        while let Some((cube, at)) = open.pop() {
            if let Some(outcome) = self.outcome(at) {
                done.push((cube, outcome));
                continue;
            }
            let Some(state) = self.states.get(usize::from(at.0)) else { continue };
            let mut rest = cube.mask(state.axis);
            while rest != 0 {
                let target = self.target(state, rest.trailing_zeros());
                let same = (0..8).filter(|s| rest & (1 << s) != 0 && self.target(state, *s) == target);
                let symbols = same.fold(0, |set: Mask, s| set | 1 << s);
                rest &= !symbols;
                if let (Some(mut part), Some(target)) = (cube.narrowed(state.axis, symbols), target) {
                    part.read |= 1 << state.axis as u32;
                    open.push((part, target));
                }
            }
        }
        done
    }

    fn target(&self, state: &State, symbol: u32) -> Option<Target> {
        self.targets.get(usize::from(state.row) + symbol as usize).copied()
    }
}

/// Makes a table from the outcomes up; equal states are made once.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    states: Vec<State>,
    rows: Vec<Vec<Target>>,
    outcomes: Vec<Outcome>,
    full: bool,
}

impl Builder {
    pub(crate) fn outcome(&mut self, outcome: Outcome) -> Target {
        let place = self.outcomes.iter().position(|known| *known == outcome).unwrap_or_else(|| {
            self.outcomes.push(outcome);
            self.outcomes.len() - 1
        });
        self.number(place).map_or(Target(OUTCOME), |place| Target(OUTCOME | place))
    }

    /// A state that reads `axis` and goes on by `next`; no state where every symbol goes the same way.
    pub(crate) fn state(&mut self, axis: Axis, next: impl Fn(u8) -> Target) -> Target {
        let row: Vec<Target> = (0..axis.symbols().len() as u8).map(next).collect();
        if let Some(first) = row.first()
            && row.iter().all(|target| target == first)
        {
            return *first;
        }
        let known = self.states.iter().zip(&self.rows).position(|(s, r)| s.axis == axis && *r == row);
        let place = known.unwrap_or_else(|| {
            self.states.push(State { axis, row: 0 });
            self.rows.push(row);
            self.states.len() - 1
        });
        self.number(place).map_or(Target(OUTCOME), Target)
    }

    fn number(&mut self, place: usize) -> Option<u16> {
        let number = u16::try_from(place).ok().filter(|number| number & OUTCOME == 0);
        self.full |= number.is_none();
        number
    }

    /// The table, or nothing where the policy needs more states than a table holds.
    pub(crate) fn finish(mut self, roots: Vec<Target>) -> Option<Table> {
        let mut targets = Vec::new();
        for (state, row) in self.states.iter_mut().zip(&self.rows) {
            state.row = u16::try_from(targets.len()).ok()?;
            targets.extend_from_slice(row);
        }
        (!self.full).then_some(Table { roots, states: self.states, targets, outcomes: self.outcomes })
    }
}
