//! The longest common subsequence of two texts' words (Myers' algorithm in linear space).

#![allow(
    clippy::indexing_slicing,
    reason = "all indices are those of the two texts, and a property test checks them"
)]

/// The pairs of equal elements of a longest common subsequence, as indices in `a` and in `b`, in order.
pub fn aligned(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let width = a.len() + b.len() + 3;
    let mut search = Search { forward: vec![0; 2 * width], backward: vec![0; 2 * width], middle: width };
    let mut pairs = Vec::new();
    // The parts that are left, the next one last. The recursion is a list because it may be deep.
    let mut parts = vec![(0, a.len(), 0, b.len())];
    while let Some((mut from_a, mut to_a, mut from_b, mut to_b)) = parts.pop() {
        while from_a < to_a && from_b < to_b && a[from_a] == b[from_b] {
            pairs.push((from_a, from_b));
            (from_a, from_b) = (from_a + 1, from_b + 1);
        }
        while from_a < to_a && from_b < to_b && a[to_a - 1] == b[to_b - 1] {
            (to_a, to_b) = (to_a - 1, to_b - 1);
            pairs.push((to_a, to_b));
        }
        if from_a == to_a || from_b == to_b {
            continue;
        }
        let (x, y) = search.split(&a[from_a..to_a], &b[from_b..to_b]);
        parts.push((from_a + x, to_a, from_b + y, to_b));
        parts.push((from_a, from_a + x, from_b, from_b + y));
    }
    pairs.sort_unstable();
    pairs
}

struct Search {
    /// The furthest point of each diagonal from the beginning, and from the end.
    forward: Vec<usize>,
    backward: Vec<usize>,
    /// The index of diagonal zero.
    middle: usize,
}

impl Search {
    /// A point on a shortest path of changes from `a` to `b`, about in its middle. Both are not empty, and differ in
    /// their first and in their last elements.
    fn split(&mut self, a: &[u32], b: &[u32]) -> (usize, usize) {
        let (n, m) = (a.len() as isize, b.len() as isize);
        let delta = n - m;
        let middle = self.middle as isize;
        let at = |k: isize| (middle + k) as usize;
        (self.forward[at(1)], self.backward[at(1)]) = (0, 0);
        for d in 0..=(n + m + 1) / 2 {
            for k in (-d..=d).step_by(2) {
                let down = k == -d || (k != d && self.forward[at(k - 1)] < self.forward[at(k + 1)]);
                let begin = if down { self.forward[at(k + 1)] } else { self.forward[at(k - 1)] + 1 };
                let (mut x, mut y) = (begin as isize, begin as isize - k);
                let start = (x, y);
                while x < n && (0..m).contains(&y) && a[x as usize] == b[y as usize] {
                    (x, y) = (x + 1, y + 1);
                }
                self.forward[at(k)] = x as usize;
                let met = delta - k;
                if delta % 2 != 0 && met.abs() < d && x + self.backward[at(met)] as isize >= n {
                    return (start.0 as usize, start.1 as usize);
                }
            }
            for k in (-d..=d).step_by(2) {
                let down = k == -d || (k != d && self.backward[at(k - 1)] < self.backward[at(k + 1)]);
                let begin = if down { self.backward[at(k + 1)] } else { self.backward[at(k - 1)] + 1 };
                let (mut x, mut y) = (begin as isize, begin as isize - k);
                while x < n && (0..m).contains(&y) && a[(n - x - 1) as usize] == b[(m - y - 1) as usize] {
                    (x, y) = (x + 1, y + 1);
                }
                self.backward[at(k)] = x as usize;
                let met = delta - k;
                if delta % 2 == 0 && met.abs() <= d && x + self.forward[at(met)] as isize >= n {
                    return ((n - x) as usize, (m - y) as usize);
                }
            }
        }
        (n as usize, 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::aligned;

    /// The length of a longest common subsequence, by the table of all prefixes.
    fn longest(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for one in a {
            let mut diagonal = 0;
            for (at, other) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if one == other { diagonal + 1 } else { row[at].max(above) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn the_pairs_are_a_longest_common_subsequence(
            a in proptest::collection::vec(0u32..4, 0..40), b in proptest::collection::vec(0u32..4, 0..40)
        ) {
            let pairs = aligned(&a, &b);
            prop_assert_eq!(pairs.len(), longest(&a, &b));
            prop_assert!(pairs.iter().all(|(x, y)| a[*x] == b[*y]));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }
    }
}
