//! Pseudo-random choices that a seed repeats exactly. Not for keys or tokens.

/// A small generator (SplitMix64, that of `agent-model` from a start of its own): the same seed gives the same sequence on every machine.
///
/// ```
/// use evaluation::random::Random;
/// assert_eq!(Random::new(7).below(100), Random::new(7).below(100));
/// ```
#[derive(Debug, Clone)]
pub struct Random(agent_model::random::Random);

impl Random {
    /// A generator for `seed`.
    pub fn new(seed: u64) -> Random {
        Random(agent_model::random::Random::from_state(seed ^ 0x5851_F42D_4C95_7F2D))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 up to, not including, `bound` (0 when `bound` is 0).
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64().checked_rem(bound).unwrap_or(0)
    }

    /// One of `choices`; the type's default where there are none.
    pub fn pick<T: Copy + Default>(&mut self, choices: &[T]) -> T {
        self.0.of(choices)
    }

    /// `count` digits, the first of them never 0.
    pub fn digits(&mut self, count: usize) -> String {
        self.0.digits(count)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every page of the suite, and so every recorded trial, depends on these.
    #[test]
    fn a_seed_draws_the_same_numbers_in_every_version() {
        let mut random = Random::new(7);
        let drawn: [u64; 3] = std::array::from_fn(|_| random.next_u64());
        assert_eq!(drawn, [0xFAE3_3298_A839_9D50, 0x61C9_4329_3FFF_298C, 0xA09A_6880_3AF1_5238]);
    }
}
