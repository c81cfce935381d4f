//! The table of the automaton: each state reads one axis.

use std::collections::{HashMap, HashSet};

use super::cube::Cube;
use super::diagram::{Diagrams, Edge, Leaf};
use crate::vocabulary::alphabet::{Axis, Mask, Valuation};
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::Outcome;
use crate::vocabulary::reason::Reason;

/// A state or an outcome: outcomes have the high bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Target(u16);

const OUTCOME: u16 = 1 << 15;
/// The outcome of a walk through a malformed table. No walk through a table of [`Table::flat`] reaches it.
const BROKEN: Outcome = Outcome::Deny(Axis::Plan, Reason::DeliveryForbidden);

#[derive(Debug, Clone, Copy)]
struct State {
    axis: Axis,
    /// The start of its row in the targets. The row has one target for each symbol of the axis.
    row: u16,
}

/// A complete, deterministic automaton. Every walk reads each state's axis once and ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    roots: Vec<Target>,
    states: Vec<State>,
    targets: Vec<Target>,
    outcomes: Vec<Outcome>,
}

impl Table {
    /// Walks from `root`. Allocates nothing.
    pub(crate) fn walk(&self, root: Root, valuation: &Valuation) -> Outcome {
        self.follow(root, |axis| valuation.get(axis))
    }

    /// The same walk, with symbols that `read` returns on demand.
    pub(crate) fn follow(&self, root: Root, mut read: impl FnMut(Axis) -> u8) -> Outcome {
        let Some(mut at) = self.roots.get(root.index()).copied() else { return BROKEN };
        loop {
            if let Some(outcome) = self.outcome(at) {
                return outcome;
            }
            let next = (self.states.get(usize::from(at.0)))
                .and_then(|state| self.targets.get(usize::from(state.row) + usize::from(read(state.axis))));
            match next {
                // A state points only to states with a lower number, so every walk ends.
                Some(next) if next.0 & OUTCOME != 0 || next.0 < at.0 => at = *next,
                _ => return BROKEN,
            }
        }
    }

    fn outcome(&self, target: Target) -> Option<Outcome> {
        let index = target.0 & !OUTCOME;
        (target.0 & OUTCOME != 0).then(|| self.outcomes.get(usize::from(index)).copied().unwrap_or(BROKEN))
    }

    /// Whether a walk from `root` could end in [`BROKEN`], since a number is out of range.
    pub(crate) fn is_broken(&self, root: Root) -> bool {
        let mut open: Vec<Target> = match self.roots.get(root.index()) {
            Some(start) => vec![*start],
            None => return true,
        };
        let mut seen = HashSet::new();
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            if at.0 & OUTCOME != 0 {
                if self.outcomes.get(usize::from(at.0 & !OUTCOME)).is_none() {
                    return true;
                }
                continue;
            }
            let Some(state) = self.states.get(usize::from(at.0)) else { return true };
            for symbol in 0..state.axis.symbols().len() as u32 {
                match self.target(state, symbol) {
                    Some(next) if next.0 & OUTCOME != 0 || next.0 < at.0 => open.push(next),
                    _ => return true,
                }
            }
        }
        false
    }

    /// The automaton of one root, as a diagram.
    pub(crate) fn diagram(&self, diagrams: &mut Diagrams, root: Root) -> Edge {
        let start = self.diagrams(diagrams).nth(root.index());
        start.unwrap_or(Diagrams::NOTHING)
    }

    /// The automaton of each root, as diagrams in the order of [`Root::all`].
    pub(crate) fn diagrams(&self, diagrams: &mut Diagrams) -> impl Iterator<Item = Edge> {
        let mut edges = Vec::with_capacity(self.states.len());
        let edge = |diagrams: &mut Diagrams, edges: &[Edge], target: Target| match self.outcome(target) {
            Some(outcome) => diagrams.outcome(outcome),
            None => edges.get(usize::from(target.0)).copied().unwrap_or(Diagrams::NOTHING),
        };
        for state in &self.states {
            let next: Vec<Edge> = (0..state.axis.symbols().len() as u32)
                .map(|symbol| {
                    let target = self.target(state, symbol).unwrap_or(Target(OUTCOME));
                    edge(diagrams, &edges, target)
                })
                .collect();
            let made = next.iter().enumerate().fold(Diagrams::NOTHING, |rest, (symbol, next)| {
                let here = diagrams.test(state.axis, 1 << symbol);
                diagrams.select(here, *next, rest)
            });
            edges.push(made);
        }
        let starts: Vec<_> = self.roots.iter().map(|start| edge(diagrams, &edges, *start)).collect();
        starts.into_iter()
    }

    /// The number of states.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Every path from `root` to an outcome. The cubes are disjoint and together fill the space of valuations.
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
                if let (Some(part), Some(target)) = (cube.narrowed(state.axis, symbols), target) {
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

/// The parts of a table, for its form as bytes. Each added part is checked against the parts that are there, so that
/// every walk through a table ends.
impl Table {
    pub(crate) fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The axis and the successors of each state.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Axis, &[Target])> {
        self.states.iter().map(|state| {
            let row = usize::from(state.row);
            (state.axis, self.targets.get(row..row + state.axis.symbols().len()).unwrap_or_default())
        })
    }

    /// The starts, in the order of [`Root::all`].
    pub(crate) fn starts(&self) -> &[Target] {
        &self.roots
    }

    pub(crate) fn add_outcome(&mut self, outcome: Outcome) -> Option<()> {
        number(self.outcomes.len())?;
        self.outcomes.push(outcome);
        Some(())
    }

    /// Adds a state with a successor for each symbol of its axis. Returns none where a successor does not exist or
    /// does not read a later axis.
    pub(crate) fn add_state(&mut self, axis: Axis, successors: &[Target]) -> Option<()> {
        number(self.states.len())?;
        let row = u16::try_from(self.targets.len()).ok()?;
        let later = |target: &Target| match self.states.get(usize::from(target.0)) {
            Some(state) => state.axis > axis,
            None => self.has_outcome(*target),
        };
        if successors.len() != axis.symbols().len() || !successors.iter().all(later) {
            return None;
        }
        self.targets.extend_from_slice(successors);
        self.states.push(State { axis, row });
        Some(())
    }

    /// Adds the start of the next root. Returns none where the target does not exist.
    pub(crate) fn add_start(&mut self, start: Target) -> Option<()> {
        if !self.has_outcome(start) && usize::from(start.0) >= self.states.len() {
            return None;
        }
        self.roots.push(start);
        Some(())
    }

    fn has_outcome(&self, target: Target) -> bool {
        target.0 & OUTCOME != 0 && usize::from(target.0 & !OUTCOME) < self.outcomes.len()
    }
}

impl Target {
    pub(crate) fn from_number(number: u16) -> Target {
        Target(number)
    }

    /// The number of a state, or of an outcome with the high bit set.
    pub(crate) fn number(self) -> u16 {
        self.0
    }
}

impl Table {
    /// The table of the diagrams that start at `roots`, or none where they have more states than a table can
    /// number.
    pub(crate) fn flat(diagrams: &Diagrams, roots: &[Edge]) -> Option<Table> {
        let mut flat = Flattener { diagrams, done: HashMap::new(), table: Table::default() };
        for root in roots {
            let start = flat.target(*root)?;
            flat.table.roots.push(start);
        }
        Some(flat.table)
    }
}

/// Numbers the nodes of diagrams, successors before the nodes that point to them.
struct Flattener<'a> {
    diagrams: &'a Diagrams,
    done: HashMap<Edge, Target>,
    table: Table,
}

impl Flattener<'_> {
    fn target(&mut self, edge: Edge) -> Option<Target> {
        if let Some(known) = self.done.get(&edge) {
            return Some(*known);
        }
        let target = match (self.diagrams.axis(edge), self.diagrams.leaf(edge)) {
            (Some(axis), _) => {
                let mut next = Vec::new();
                for index in 0..axis.symbols().len() as u8 {
                    next.push(self.target(self.diagrams.after(edge, axis, index))?);
                }
                let row = u16::try_from(self.table.targets.len()).ok()?;
                self.table.targets.append(&mut next);
                self.table.states.push(State { axis, row });
                Target(number(self.table.states.len() - 1)?)
            }
            (None, Some(Leaf::Outcome(outcome))) => {
                self.table.outcomes.push(outcome);
                Target(OUTCOME | number(self.table.outcomes.len() - 1)?)
            }
            _ => return None,
        };
        self.done.insert(edge, target);
        Some(target)
    }
}

fn number(index: usize) -> Option<u16> {
    u16::try_from(index).ok().filter(|number| number & OUTCOME == 0)
}
