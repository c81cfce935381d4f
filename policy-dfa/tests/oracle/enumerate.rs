//! Enumeration of every valuation without visiting each one: a computation reads the symbol of a signal on demand, and
//! runs again for every other symbol that it could have read.
//!
//! The symbols of one run are a cube: all valuations that have them. Two runs differ in a symbol that both read, so
//! the cubes are disjoint. Every symbol is tried, so together the cubes are the whole space. The result of a run
//! holds for its whole cube, since the run read nothing else.

use policy_dfa::Axis;

/// The index of the symbol of each signal; none where the signal is free.
pub type Cube = [Option<u8>; Axis::COUNT];

pub const ANY: Cube = [None; Axis::COUNT];

/// The symbols that one run has read so far.
pub struct Asker<'a> {
    pub cube: Cube,
    script: &'a mut Vec<(Axis, u8)>,
    asked: usize,
}

impl Asker<'_> {
    pub fn index(&mut self, axis: Axis) -> u8 {
        if let Some(index) = self.cube[axis as usize] {
            return index;
        }
        if self.asked == self.script.len() {
            self.script.push((axis, 0));
        }
        let (expected, index) = self.script[self.asked];
        assert_eq!(expected, axis, "the same symbols must lead to the same signal");
        self.asked += 1;
        self.cube[axis as usize] = Some(index);
        index
    }

    pub fn name(&mut self, axis: Axis) -> &'static str {
        axis.symbols()[usize::from(self.index(axis))]
    }
}

/// Runs a computation for every valuation in a cube.
pub fn every(within: &Cube, mut run: impl FnMut(&mut Asker<'_>)) {
    let mut script: Vec<(Axis, u8)> = Vec::new();
    loop {
        run(&mut Asker { cube: *within, script: &mut script, asked: 0 });
        loop {
            let Some((axis, index)) = script.pop() else { return };
            if usize::from(index) + 1 < axis.symbols().len() {
                script.push((axis, index + 1));
                break;
            }
        }
    }
}

/// Whether a condition holds for some valuation in a cube.
pub fn some(within: &Cube, mut holds: impl FnMut(&mut Asker<'_>) -> bool) -> bool {
    let mut found = false;
    every(within, |ask| found = found || holds(ask));
    found
}

/// The number of valuations in a cube.
pub fn size(cube: &Cube) -> u128 {
    let free = Axis::ALL.iter().filter(|axis| cube[**axis as usize].is_none());
    free.map(|axis| axis.symbols().len() as u128).product()
}

/// A cube in words.
pub fn shown(cube: &Cube) -> String {
    let known = Axis::ALL.iter().filter_map(|axis| cube[*axis as usize].map(|index| (axis, index)));
    let named =
        known.map(|(axis, index)| format!("{} is {}", axis.as_str(), axis.symbols()[usize::from(index)]));
    named.collect::<Vec<_>>().join(", ")
}
