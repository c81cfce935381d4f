//! How much of every count is given to what was not seen.

/// What is taken from a count of 1, of 2, and of 3 or more (modified Kneser-Ney: Chen and Goodman 1999, equation 26).
///
/// With `n[k]` n-grams counted `k` times and `y = n[1] / (n[1] + 2 n[2])`, a count of `k` loses
/// `k - (k + 1) y n[k + 1] / n[k]`. Where a sample is so small or odd that this is not between 0 and `k`, it loses
/// half of `k`, so that what was seen and what was not both keep some of the mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Discounts([f64; 3]);

impl Discounts {
    pub(crate) fn estimate(counts: &[u32]) -> Discounts {
        let mut numbers = [0_u64; 4];
        for &count in counts {
            if let Some(number) = (count as usize).checked_sub(1).and_then(|place| numbers.get_mut(place)) {
                *number += 1;
            }
        }
        let [n1, n2, n3, n4] = numbers.map(|number| number as f64);
        let y = n1 / (n1 + 2.0 * n2);
        let one = |k: f64, here: f64, next: f64| {
            let discount = k - (k + 1.0) * y * next / here;
            // Written so that a NaN falls back too.
            if discount > 0.0 && discount < k { discount } else { k / 2.0 }
        };
        Discounts([one(1.0, n1, n2), one(2.0, n2, n3), one(3.0, n3, n4)])
    }

    /// What a count loses.
    pub(crate) fn of(&self, count: u32) -> f64 {
        let Discounts([one, two, more]) = *self;
        match count {
            0 => 0.0,
            1 => one,
            2 => two,
            _ => more,
        }
    }
}
