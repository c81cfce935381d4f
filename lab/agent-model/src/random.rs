//! A random generator that gives the same choices for the same seed on every machine. Not for keys or tokens.

/// A small generator (SplitMix64).
///
/// ```
/// use agent_model::random::Random;
/// assert_eq!(Random::new(7).below(100), Random::new(7).below(100));
/// ```
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator for `seed`. Neighbouring seeds give unrelated choices.
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed ^ 0xA076_1D64_78BD_642F);
        random.0 = random.next_u64();
        random
    }

    /// A generator in a given state, for sequences whose start is fixed elsewhere.
    pub fn from_state(state: u64) -> Random {
        Random(state)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, not including, `bound` (0 when `bound` is 0).
    pub fn below(&mut self, bound: usize) -> usize {
        self.next_u64().checked_rem(bound as u64).unwrap_or(0) as usize
    }

    /// True with a probability of `percent` in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`; empty where there are none.
    pub fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let at = self.below(choices.len());
        choices.get(at).copied().unwrap_or_default()
    }

    /// One of `choices`; the type's default where there are none.
    pub fn of<T: Copy + Default>(&mut self, choices: &[T]) -> T {
        let at = self.below(choices.len());
        choices.get(at).copied().unwrap_or_default()
    }

    /// `count` digits, the first of them never 0.
    pub fn digits(&mut self, count: usize) -> String {
        (0..count)
            .map(|place| {
                let digit = if place == 0 { 1 + self.below(9) } else { self.below(10) };
                char::from(b'0' + digit as u8)
            })
            .collect()
    }

    /// A pronounceable word of `length` lower-case letters.
    pub fn word(&mut self, length: usize) -> String {
        let turn = self.below(2);
        (0..length)
            .map(|place| {
                let letters: &[u8] = if place % 2 == turn { b"bcdfghjklmnprstvwyz" } else { b"aeiou" };
                letters.get(self.below(letters.len())).map_or('a', |letter| char::from(*letter))
            })
            .collect()
    }

    /// The same with a capital.
    pub fn name(&mut self, length: usize) -> String {
        let word = self.word(length);
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
    }
}
