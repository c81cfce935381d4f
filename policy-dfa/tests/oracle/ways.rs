//! Every valuation there is, without counting them: a computation asks for the symbol of a signal only when
//! it needs it, and is run again for every answer that it could have got.
//!
//! The answers of one run are a cube: all valuations that have them. Runs differ in an answer to the same
//! question, so cubes are disjoint; every answer is given, so together they are the whole space. And what a
//! run computed holds of its whole cube, since it looked at nothing else.

use policy_dfa::Axis;

/// What is known of each signal, by the place of its symbol.
pub type Cube = [Option<u8>; Axis::COUNT];

pub const ANY: Cube = [None; Axis::COUNT];

/// One run: what was asked so far.
pub struct Asker<'a> {
    pub cube: Cube,
    script: &'a mut Vec<(Axis, u8)>,
    asked: usize,
}

impl Asker<'_> {
    pub fn place(&mut self, axis: Axis) -> u8 {
        if let Some(place) = self.cube[axis as usize] {
            return place;
        }
        if self.asked == self.script.len() {
            self.script.push((axis, 0));
        }
        let (expected, place) = self.script[self.asked];
        assert_eq!(expected, axis, "the same answers must lead to the same question");
        self.asked += 1;
        self.cube[axis as usize] = Some(place);
        place
    }

    pub fn name(&mut self, axis: Axis) -> &'static str {
        axis.symbols()[usize::from(self.place(axis))]
    }
}

/// Runs for every valuation in a cube.
pub fn every(within: &Cube, mut run: impl FnMut(&mut Asker<'_>)) {
    let mut script: Vec<(Axis, u8)> = Vec::new();
    loop {
        run(&mut Asker { cube: *within, script: &mut script, asked: 0 });
        loop {
            let Some((axis, place)) = script.pop() else { return };
            if usize::from(place) + 1 < axis.symbols().len() {
                script.push((axis, place + 1));
                break;
            }
        }
    }
}

/// Whether something holds of some valuation in a cube.
pub fn some(within: &Cube, mut holds: impl FnMut(&mut Asker<'_>) -> bool) -> bool {
    let mut found = false;
    every(within, |ask| found = found || holds(ask));
    found
}

/// How many valuations a cube holds.
pub fn size(cube: &Cube) -> u128 {
    let free = Axis::ALL.iter().filter(|axis| cube[**axis as usize].is_none());
    free.map(|axis| axis.symbols().len() as u128).product()
}

/// A cube in words.
pub fn shown(cube: &Cube) -> String {
    let known = Axis::ALL.iter().filter_map(|axis| cube[*axis as usize].map(|place| (axis, place)));
    let named =
        known.map(|(axis, place)| format!("{} is {}", axis.as_str(), axis.symbols()[usize::from(place)]));
    named.collect::<Vec<_>>().join(", ")
}
