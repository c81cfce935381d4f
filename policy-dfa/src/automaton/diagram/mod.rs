//! Reduced ordered decision diagrams, and the Boolean algebra of the sets of valuations that they represent.
//!
//! A diagram reads the axes in their order, each at most once on a path, and ends in a leaf. Equal nodes are made
//! once, and a node with only one successor is not made at all. So two diagrams of one [`Diagrams`] are equal
//! exactly where they represent the same function of the valuation (Bryant 1986, for axes with more than two
//! symbols). A *region* is a diagram whose leaves are `In` and `Out`: the set of valuations that lead to `In`.

use std::collections::HashMap;

use super::cube::Cube;
use crate::vocabulary::alphabet::{Axis, Mask, Symbol};
use crate::vocabulary::outcome::Outcome;

/// The most symbols that an axis has.
const WIDTH: usize = 8;

const _: () = {
    let mut rest = Axis::ALL;
    while let [axis, more @ ..] = rest {
        assert!(axis.symbols().len() <= WIDTH, "an axis has more symbols than a state has edges");
        rest = more;
    }
};

/// A node or a leaf of some [`Diagrams`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Edge(u32);

const LEAF: u32 = 1 << 31;

/// The end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Leaf {
    Out,
    In,
    Outcome(Outcome),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    axis: Axis,
    /// One edge for each symbol of the axis; the rest repeats the last.
    next: [Edge; WIDTH],
}

/// A store of diagrams that share their nodes. A node points only to nodes that are older than itself.
#[derive(Debug)]
pub(crate) struct Diagrams {
    nodes: Vec<Node>,
    numbers: HashMap<Node, u32>,
    leaves: Vec<Leaf>,
    selected: HashMap<(Edge, Edge, Edge), Edge>,
}

impl Default for Diagrams {
    fn default() -> Diagrams {
        let leaves = vec![Leaf::Out, Leaf::In];
        Diagrams { nodes: Vec::new(), numbers: HashMap::new(), leaves, selected: HashMap::new() }
    }
}

impl Diagrams {
    /// The region without any valuation.
    pub(crate) const NOTHING: Edge = Edge(LEAF);
    /// The region of every valuation.
    pub(crate) const EVERYTHING: Edge = Edge(LEAF | 1);

    pub(crate) fn outcome(&mut self, outcome: Outcome) -> Edge {
        let leaf = Leaf::Outcome(outcome);
        let index = self.leaves.iter().position(|known| *known == leaf).unwrap_or_else(|| {
            self.leaves.push(leaf);
            self.leaves.len() - 1
        });
        Edge(LEAF | index as u32)
    }

    /// A node that reads `axis` and has the successors `next`, or the successor itself where there is only one.
    /// The successors must read later axes only.
    pub(crate) fn state(&mut self, axis: Axis, next: impl Fn(u8) -> Edge) -> Edge {
        let mut edges = [Diagrams::NOTHING; WIDTH];
        let last = axis.symbols().len().saturating_sub(1);
        for (index, slot) in edges.iter_mut().enumerate() {
            *slot = next(index.min(last) as u8);
        }
        let [first, rest @ ..] = edges;
        if rest.iter().all(|edge| *edge == first) {
            return first;
        }
        let node = Node { axis, next: edges };
        let fresh = self.nodes.len() as u32;
        let number = *self.numbers.entry(node).or_insert(fresh);
        if number == fresh {
            self.nodes.push(node);
        }
        Edge(number)
    }

    /// The region in which `axis` has one of the symbols.
    pub(crate) fn test(&mut self, axis: Axis, symbols: Mask) -> Edge {
        self.state(
            axis,
            |index| {
                if symbols & (1 << index) != 0 { Diagrams::EVERYTHING } else { Diagrams::NOTHING }
            },
        )
    }

    /// The region in which an axis has one symbol.
    pub(crate) fn is<S: Symbol>(&mut self, symbol: S) -> Edge {
        self.test(S::AXIS, 1 << symbol.index())
    }

    /// `yes` inside of a region, `no` outside of it: the if-then-else operator, from which all others are made.
    pub(crate) fn select(&mut self, region: Edge, yes: Edge, no: Edge) -> Edge {
        match region {
            Diagrams::EVERYTHING => return yes,
            Diagrams::NOTHING => return no,
            _ if yes == no => return yes,
            _ => {}
        }
        if let Some(known) = self.selected.get(&(region, yes, no)) {
            return *known;
        }
        let top = [region, yes, no].into_iter().filter_map(|edge| self.axis(edge)).min();
        // A region that is neither everything nor nothing has a node.
        let Some(axis) = top else { return no };
        let mut edges = [Diagrams::NOTHING; WIDTH];
        for (index, slot) in edges.iter_mut().enumerate().take(axis.symbols().len()) {
            let at = |edge| self.after(edge, axis, index as u8);
            let (region, yes, no) = (at(region), at(yes), at(no));
            *slot = self.select(region, yes, no);
        }
        let made = self.state(axis, |index| edges.get(usize::from(index)).copied().unwrap_or(no));
        self.selected.insert((region, yes, no), made);
        made
    }

    pub(crate) fn and(&mut self, a: Edge, b: Edge) -> Edge {
        self.select(a, b, Diagrams::NOTHING)
    }

    pub(crate) fn or(&mut self, a: Edge, b: Edge) -> Edge {
        self.select(a, Diagrams::EVERYTHING, b)
    }

    pub(crate) fn not(&mut self, a: Edge) -> Edge {
        self.select(a, Diagrams::NOTHING, Diagrams::EVERYTHING)
    }

    /// The difference of two regions.
    pub(crate) fn minus(&mut self, a: Edge, b: Edge) -> Edge {
        self.select(b, Diagrams::NOTHING, a)
    }

    /// The projection of a region along one axis: a valuation is in it if it is in the region with some symbol of
    /// the axis.
    pub(crate) fn project(&mut self, region: Edge, axis: Axis) -> Edge {
        let mut some = Diagrams::NOTHING;
        for index in 0..axis.symbols().len() as u8 {
            let part = self.restrict(region, axis, 1 << index);
            some = self.or(some, part);
        }
        some
    }

    /// The diagram with `axis` fixed to the first of `symbols`. The axis is not read any more.
    pub(crate) fn restrict(&mut self, edge: Edge, axis: Axis, symbols: Mask) -> Edge {
        let mut done = HashMap::new();
        self.restricted(edge, axis, symbols.trailing_zeros() as u8, &mut done)
    }

    fn restricted(&mut self, edge: Edge, axis: Axis, index: u8, done: &mut HashMap<Edge, Edge>) -> Edge {
        match self.axis(edge) {
            Some(read) if read < axis => {}
            Some(read) if read == axis => return self.after(edge, axis, index),
            _ => return edge,
        }
        if let Some(known) = done.get(&edge) {
            return *known;
        }
        let Some(node) = self.node(edge) else { return edge };
        let mut edges = node.next;
        for slot in &mut edges {
            *slot = self.restricted(*slot, axis, index, done);
        }
        let made = self.state(node.axis, |at| edges.get(usize::from(at)).copied().unwrap_or(edge));
        done.insert(edge, made);
        made
    }

    /// The region in which a diagram ends in an outcome that `matches`.
    pub(crate) fn where_ends(&mut self, edge: Edge, matches: impl Fn(Outcome) -> bool) -> Edge {
        let mut done = HashMap::new();
        self.ends(edge, &matches, &mut done)
    }

    fn ends(
        &mut self,
        edge: Edge,
        matches: &dyn Fn(Outcome) -> bool,
        done: &mut HashMap<Edge, Edge>,
    ) -> Edge {
        if let Some(leaf) = self.leaf(edge) {
            let inside = match leaf {
                Leaf::In => true,
                Leaf::Out => false,
                Leaf::Outcome(outcome) => matches(outcome),
            };
            return if inside { Diagrams::EVERYTHING } else { Diagrams::NOTHING };
        }
        if let Some(known) = done.get(&edge) {
            return *known;
        }
        let Some(node) = self.node(edge) else { return Diagrams::NOTHING };
        let mut edges = node.next;
        for slot in &mut edges {
            *slot = self.ends(*slot, matches, done);
        }
        let made =
            self.state(node.axis, |at| edges.get(usize::from(at)).copied().unwrap_or(Diagrams::NOTHING));
        done.insert(edge, made);
        made
    }

    /// The number of valuations in a region.
    pub(crate) fn count(&self, region: Edge) -> u128 {
        self.cubes(region).iter().filter(|(_, leaf)| *leaf == Leaf::In).map(|(cube, _)| cube.count()).sum()
    }

    /// Every path to a leaf. The cubes are disjoint and together fill the space of valuations.
    pub(crate) fn cubes(&self, edge: Edge) -> Vec<(Cube, Leaf)> {
        let mut open = vec![(Cube::whole(), edge)];
        let mut done = Vec::new();
        while let Some((cube, at)) = open.pop() {
            let Some(node) = self.node(at) else {
                done.extend(self.leaf(at).map(|leaf| (cube, leaf)));
                continue;
            };
            let mut rest = node.axis.full();
            while rest != 0 {
                let target = self.after(at, node.axis, rest.trailing_zeros() as u8);
                let same = (0..WIDTH as u8)
                    .filter(|index| rest & (1 << index) != 0 && self.after(at, node.axis, *index) == target);
                let symbols = same.fold(0, |set: Mask, index| set | 1 << index);
                rest &= !symbols;
                open.extend(cube.narrowed(node.axis, symbols).map(|part| (part, target)));
            }
        }
        done
    }

    /// Every outcome in the store.
    pub(crate) fn outcomes(&self) -> Vec<Outcome> {
        let outcome = |leaf: &Leaf| match leaf {
            Leaf::Outcome(outcome) => Some(*outcome),
            Leaf::In | Leaf::Out => None,
        };
        self.leaves.iter().filter_map(outcome).collect()
    }

    /// The axis that is read first; none at a leaf.
    pub(crate) fn axis(&self, edge: Edge) -> Option<Axis> {
        self.node(edge).map(|node| node.axis)
    }

    /// The successor of an edge when `axis` has the symbol with this index. The edge must read no earlier axis.
    pub(crate) fn after(&self, edge: Edge, axis: Axis, index: u8) -> Edge {
        match self.node(edge) {
            Some(node) if node.axis == axis => node.next.get(usize::from(index)).copied().unwrap_or(edge),
            _ => edge,
        }
    }

    pub(crate) fn leaf(&self, edge: Edge) -> Option<Leaf> {
        (edge.0 & LEAF != 0).then(|| self.leaves.get((edge.0 & !LEAF) as usize).copied())?
    }

    fn node(&self, edge: Edge) -> Option<Node> {
        (edge.0 & LEAF == 0).then(|| self.nodes.get(edge.0 as usize).copied())?
    }
}

#[cfg(test)]
mod tests;
