//! The construction of the deterministic automaton: subsets, minimisation, and classes of equivalent bytes.

use std::collections::{BTreeMap, HashMap};

use super::automaton::{Automaton, Edge};
use super::nfa::{Nfa, Transition};

/// The transitions of a node, by class of byte, in order. Most nodes have one or two.
type Transitions = Vec<(usize, Edge)>;

/// A deterministic automaton under construction. Node 0 is dead, node 1 the start.
struct Draft {
    rows: Vec<Transitions>,
    accepting: Vec<bool>,
}

/// Makes the smallest automaton for the language of `nfa`, counters included; `None` if it has too many nodes for a
/// table.
pub(super) fn automaton(nfa: &Nfa) -> Option<Automaton> {
    let mut bounds: Vec<u16> =
        transitions(nfa).flat_map(|m| [u16::from(m.from), u16::from(m.to) + 1]).collect();
    bounds.extend([0, 256]);
    bounds.sort_unstable();
    bounds.dedup();
    let draft = determinise(nfa, &bounds)?;
    Some(compress(&minimise(&draft)?, &bounds))
}

fn transitions(nfa: &Nfa) -> impl Iterator<Item = &Transition> {
    nfa.nodes.iter().flat_map(|node| &node.transitions)
}

fn determinise(nfa: &Nfa, bounds: &[u16]) -> Option<Draft> {
    let class = |byte: u16| bounds.partition_point(|bound| *bound <= byte) - 1;
    let start = close(nfa, vec![0]);
    let mut numbers: HashMap<Vec<usize>, u16> = HashMap::from([(Vec::new(), 0), (start.clone(), 1)]);
    let mut sets = vec![Vec::new(), start];
    let mut draft = Draft { rows: Vec::new(), accepting: Vec::new() };
    while let Some(set) = sets.get(draft.rows.len()).cloned() {
        let mut reached: BTreeMap<usize, (Edge, Vec<usize>)> = BTreeMap::new();
        for m in set.iter().filter_map(|node| nfa.nodes.get(*node)).flat_map(|node| &node.transitions) {
            for class in class(u16::from(m.from))..=class(u16::from(m.to)) {
                let (edge, targets) = reached.entry(class).or_default();
                debug_assert!(
                    targets.is_empty() || edge.action == m.action,
                    "one byte has two effects on the counters"
                );
                edge.action = m.action;
                targets.push(m.target);
            }
        }
        let mut row = Transitions::with_capacity(reached.len());
        for (class, (mut edge, targets)) in reached {
            let targets = close(nfa, targets);
            edge.target = match numbers.get(&targets) {
                Some(number) => *number,
                None => {
                    let number = u16::try_from(sets.len()).ok()?;
                    numbers.insert(targets.clone(), number);
                    sets.push(targets);
                    number
                }
            };
            row.push((class, edge));
        }
        draft.rows.push(row);
        draft.accepting.push(set.binary_search(&nfa.last).is_ok());
    }
    Some(draft)
}

/// Finds the nodes that can be reached from `nodes` by epsilon transitions, sorted. It keeps only the last node and
/// those with other transitions, since the others do not distinguish sets.
fn close(nfa: &Nfa, nodes: Vec<usize>) -> Vec<usize> {
    let mut seen: Vec<usize> = Vec::new();
    let mut todo = nodes;
    while let Some(node) = todo.pop() {
        if !seen.contains(&node) {
            seen.push(node);
            todo.extend(nfa.nodes.get(node).into_iter().flat_map(|node| &node.epsilon));
        }
    }
    seen.retain(|node| {
        *node == nfa.last || nfa.nodes.get(*node).is_some_and(|node| !node.transitions.is_empty())
    });
    seen.sort_unstable();
    seen
}

/// Joins equivalent nodes by Moore's algorithm: first by acceptance, then by the groups of their targets, until no
/// group changes. Transitions with different effects on the counters are different.
fn minimise(draft: &Draft) -> Option<Draft> {
    let mut groups: Vec<u16> = draft.accepting.iter().map(|accepts| u16::from(*accepts)).collect();
    let mut count = 0;
    loop {
        let mut numbers: HashMap<(u16, Transitions), u16> = HashMap::new();
        let mut next = Vec::with_capacity(groups.len());
        for (row, group) in draft.rows.iter().zip(&groups) {
            let number = u16::try_from(numbers.len()).ok()?;
            // Groups are numbered by first use, so that the dead node and the start stay the first two.
            next.push(*numbers.entry((*group, renamed(row, &groups))).or_insert(number));
        }
        groups = next;
        if numbers.len() == count {
            break;
        }
        count = numbers.len();
    }
    let mut kept = Draft { rows: Vec::new(), accepting: Vec::new() };
    for ((row, group), accepts) in draft.rows.iter().zip(&groups).zip(&draft.accepting) {
        if usize::from(*group) == kept.rows.len() {
            kept.rows.push(renamed(row, &groups));
            kept.accepting.push(*accepts);
        }
    }
    Some(kept)
}

fn renamed(row: &Transitions, groups: &[u16]) -> Transitions {
    let group = |target: u16| groups.get(usize::from(target)).copied().unwrap_or(0);
    row.iter().map(|(class, edge)| (*class, Edge { target: group(edge.target), ..*edge })).collect()
}

/// Makes the table, with equivalent classes joined.
fn compress(draft: &Draft, bounds: &[u16]) -> Automaton {
    let mut columns: Vec<Vec<(usize, Edge)>> = vec![Vec::new(); bounds.len() - 1];
    for (node, row) in draft.rows.iter().enumerate() {
        for (class, edge) in row {
            if let Some(column) = columns.get_mut(*class) {
                column.push((node, *edge));
            }
        }
    }
    let mut distinct: Vec<&Vec<(usize, Edge)>> = Vec::new();
    let mut classes = [0; 256];
    for (column, bound) in columns.iter().zip(bounds.windows(2)) {
        let class = distinct.iter().position(|known| *known == column).unwrap_or_else(|| {
            distinct.push(column);
            distinct.len() - 1
        });
        let [from, to] = bound else { continue };
        for byte in classes.iter_mut().take(usize::from(*to)).skip(usize::from(*from)) {
            *byte = class as u8;
        }
    }
    let width = distinct.len();
    let mut edges = vec![Edge::default(); width * draft.rows.len()];
    for (class, column) in distinct.iter().enumerate() {
        for (node, edge) in column.iter() {
            if let Some(slot) = edges.get_mut(node * width + class) {
                *slot = *edge;
            }
        }
    }
    Automaton { classes, width, edges, accepting: draft.accepting.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::automaton::Action;
    use crate::grammar::block::block;
    use crate::{Grammar, Kind};
    use std::collections::{BTreeSet, HashMap};

    fn all() -> (Nfa, Automaton) {
        let kinds = Kind::ALL.map(|kind| (kind, kind.allowed_fields()));
        let nfa = Nfa::new(&block(&kinds.into_iter().collect()));
        let automaton = automaton(&nfa).unwrap();
        (nfa, automaton)
    }

    /// Nodes are in one block while nothing is known to tell them apart: acceptance, the transitions that each has and their effects, and
    /// then the blocks of the targets, until no block splits any more (Moore's refinement). In the end each node is alone.
    #[test]
    fn no_two_nodes_are_equivalent() {
        let (_, automaton) = all();
        let (count, width) = (automaton.nodes(), automaton.width);
        let edges = |node: usize| &automaton.edges[node * width..(node + 1) * width];
        let mut block = vec![0; count];
        let mut blocks = 1;
        loop {
            let mut numbers = HashMap::new();
            let sign = |node: usize| {
                let edges = edges(node).iter();
                let targets =
                    edges.map(|edge| (edge.target == 0, edge.action, block[usize::from(edge.target)]));
                (block[node], automaton.accepting[node], targets.collect::<Vec<_>>())
            };
            let refined: Vec<usize> = (0..count)
                .map(|node| {
                    let next = numbers.len();
                    *numbers.entry(sign(node)).or_insert(next)
                })
                .collect();
            if numbers.len() == blocks {
                break;
            }
            (block, blocks) = (refined, numbers.len());
        }
        assert_eq!(blocks, count);
    }

    /// Each node of the automaton has the transitions of its set of nodes of the nondeterministic one.
    #[test]
    fn every_node_has_the_transitions_of_its_subset() {
        let (nfa, automaton) = all();
        let mut seen = BTreeSet::from([(close(&nfa, vec![0]), 1)]);
        let mut todo: Vec<_> = seen.iter().cloned().collect();
        while let Some((set, node)) = todo.pop() {
            assert_eq!(automaton.accepts(node), set.contains(&nfa.last));
            for byte in 0..=255 {
                let transitions = || {
                    let nodes = set.iter().map(|node| &nfa.nodes[*node]);
                    nodes.flat_map(|node| &node.transitions).filter(|m| (m.from..=m.to).contains(&byte))
                };
                let targets = close(&nfa, transitions().map(|m| m.target).collect());
                let edge = automaton.edge(node, byte);
                let action = transitions().next().map_or(Action::None, |m| m.action);
                assert_eq!((edge.target == 0, edge.action), (targets.is_empty(), action));
                if edge.target != 0 && seen.insert((targets.clone(), edge.target)) {
                    todo.push((targets, edge.target));
                }
            }
        }
        let nodes: BTreeSet<u16> = seen.into_iter().map(|(_, node)| node).collect();
        assert_eq!(nodes.len() + 1, automaton.nodes(), "all nodes but the dead one are reached");
    }

    #[test]
    fn the_start_is_node_one() {
        let grammar = Grammar::for_kinds(&[Kind::Otp]).unwrap();
        assert!(
            grammar.step(grammar.start(), b'R').is_some() && grammar.step(grammar.start(), b'e').is_none()
        );
    }
}
