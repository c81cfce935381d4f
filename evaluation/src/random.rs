//! Pseudo-random choices that a seed repeats exactly. Not for keys or tokens.

/// A small generator (SplitMix64): the same seed gives the same sequence on every machine.
///
/// ```
/// use evaluation::random::Random;
/// assert_eq!(Random::new(7).below(100), Random::new(7).below(100));
/// ```
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator for `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed ^ 0x5851_F42D_4C95_7F2D)
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
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64().checked_rem(bound).unwrap_or(0)
    }

    /// One of `choices`; the type's default where there are none.
    pub fn pick<T: Copy + Default>(&mut self, choices: &[T]) -> T {
        let index = self.below(choices.len() as u64) as usize;
        choices.get(index).copied().unwrap_or_default()
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

    /// A pronounceable word of `length` letters that starts with a capital.
    pub fn word(&mut self, length: usize) -> String {
        (0..length)
            .map(|place| {
                let letters: &[u8] = if place % 2 == 0 { b"bdfgklmnprstvz" } else { b"aeiou" };
                let letter = char::from(self.pick(letters));
                if place == 0 { letter.to_ascii_uppercase() } else { letter }
            })
            .collect()
    }
}
