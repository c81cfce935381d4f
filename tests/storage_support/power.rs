//! Every disk that a power cut may leave.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::simulated::{Inode, SimulatedDisk, State};

/// The order in which names reach the disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// In the order of the calls, as journalling file systems (ext4, XFS, btrfs, APFS) do it.
    Journal,
    /// Each name by itself, in any order, as POSIX allows.
    Any,
}

/// The most disks that a test may produce.
const MOST: usize = 200_000;

type Names = BTreeMap<PathBuf, usize>;

impl SimulatedDisk {
    /// The disks that a power cut at this moment may leave: any part of the unsynced names and contents may be there. The
    /// bytes of a write may be missing from any position on, or be zeros.
    pub fn after_power_cut(&self, order: Order) -> Vec<SimulatedDisk> {
        let state = self.state();
        let mut seen = BTreeSet::new();
        let mut disks = Vec::new();
        for names in state.names_left(order) {
            let used: BTreeSet<usize> = names.values().copied().collect();
            let mut chosen = vec![BTreeMap::new()];
            for inode in used {
                let contents = contents_left(&state.inodes[inode]);
                chosen = chosen
                    .iter()
                    .flat_map(|others: &BTreeMap<usize, Vec<u8>>| {
                        contents.iter().map(|bytes| {
                            let mut all = others.clone();
                            all.insert(inode, bytes.clone());
                            all
                        })
                    })
                    .collect();
                assert!(chosen.len() < MOST, "too many contents");
            }
            for contents in chosen {
                if seen.insert((names.clone(), contents.clone())) {
                    disks.push(disk(&names, &contents));
                }
            }
            assert!(disks.len() < MOST, "too many disks");
        }
        disks
    }
}

fn disk(names: &Names, contents: &BTreeMap<usize, Vec<u8>>) -> SimulatedDisk {
    let numbers: BTreeMap<usize, usize> = contents.keys().enumerate().map(|(new, old)| (*old, new)).collect();
    let names: Names = names.iter().map(|(path, inode)| (path.clone(), numbers[inode])).collect();
    let inodes = contents.values().map(|bytes| Inode { steps: vec![bytes.clone()] }).collect();
    SimulatedDisk::of(State { inodes, durable: names.clone(), names, ..State::default() })
}

impl State {
    fn names_left(&self, order: Order) -> Vec<Names> {
        let set = |names: &mut Names, path: &PathBuf, inode: Option<usize>| {
            match inode {
                Some(inode) => names.insert(path.clone(), inode),
                None => names.remove(path),
            };
        };
        if order == Order::Journal {
            let mut names = self.durable.clone();
            let mut all = vec![names.clone()];
            for change in &self.changes {
                for (path, inode) in change {
                    set(&mut names, path, *inode);
                }
                all.push(names.clone());
            }
            return all;
        }
        let mut values: BTreeMap<&PathBuf, BTreeSet<Option<usize>>> = BTreeMap::new();
        for (path, inode) in self.changes.iter().flatten() {
            let durable = self.durable.get(path).copied();
            values.entry(path).or_insert_with(|| [durable].into()).insert(*inode);
        }
        let mut all = vec![self.durable.clone()];
        for (path, values) in values {
            all = all
                .iter()
                .flat_map(|names| {
                    values.iter().map(|inode| {
                        let mut names = names.clone();
                        set(&mut names, path, *inode);
                        names
                    })
                })
                .collect();
            assert!(all.len() < MOST, "too many names");
        }
        all
    }
}

/// The possible contents of a file: each content since the last sync, and between two of them any part of the added bytes,
/// or zeros in their place.
fn contents_left(inode: &Inode) -> BTreeSet<Vec<u8>> {
    let mut all: BTreeSet<Vec<u8>> = inode.steps.iter().cloned().collect();
    for pair in inode.steps.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        if !after.starts_with(before) {
            continue;
        }
        for end in before.len()..after.len() {
            all.insert(after[..end].to_vec());
            let mut zeros = after[..end].to_vec();
            zeros.resize(after.len(), 0);
            all.insert(zeros);
        }
    }
    all
}
