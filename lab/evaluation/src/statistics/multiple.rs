//! Multiple testing.

/// Holm's adjusted p-values, in the order given. Each may be compared with the level as a single test would be, and the
/// probability of any false discovery among them stays at most the level, whatever their dependence.
///
/// ```
/// use evaluation::statistics::holm;
/// assert_eq!(holm(&[0.01, 0.5]), [0.02, 0.5]);
/// ```
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    order.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut adjusted = vec![1.0; values.len()];
    let mut greatest = 0.0f64;
    for (rank, (place, value)) in order.into_iter().enumerate() {
        greatest = greatest.max((values.len() - rank) as f64 * value).min(1.0);
        if let Some(slot) = adjusted.get_mut(place) {
            *slot = greatest;
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(ours: &[f64], published: &[f64]) -> bool {
        ours.len() == published.len() && ours.iter().zip(published).all(|(a, b)| (a - b).abs() < 1e-9)
    }

    #[test]
    fn worked_examples_agree() {
        assert!(close(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]));
        assert!(close(&holm(&[0.6, 0.7, 0.9]), &[1.0, 1.0, 1.0]));
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }

    proptest! {
        /// The closed test of Bonferroni is the definition that Holm's shortcut computes.
        #[test]
        fn it_equals_the_closure_of_bonferronis_test(values in proptest::collection::vec(0.0f64..=1.0, 1..7)) {
            let adjusted = holm(&values);
            for (place, ours) in adjusted.iter().enumerate() {
                let closed = (1u32..1 << values.len())
                    .filter(|set| set >> place & 1 == 1)
                    .map(|set| {
                        let members = || values.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
                        let least = members().map(|(_, value)| *value).fold(1.0, f64::min);
                        (least * members().count() as f64).min(1.0)
                    })
                    .fold(0.0, f64::max);
                prop_assert!((ours - closed).abs() < 1e-12);
            }
        }
    }
}
