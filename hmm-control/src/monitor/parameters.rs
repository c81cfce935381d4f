//! The parameters of a monitor, and the forward and backward recursions.

use ndarray::Array2;

/// One window, reduced to bins and label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coded {
    pub state: Option<usize>,
    /// Each detector's bin.
    pub bins: Vec<Option<usize>>,
}

/// Initial distribution, transitions and score tables. Every entry of the tables is above 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameters {
    pub initial: Vec<f64>,
    /// `[from, to]`.
    pub transition: Array2<f64>,
    /// For each detector `log p(bin | state)` as `[state, bin]`.
    pub log_scores: Vec<Array2<f64>>,
    /// The exponent on a window's likelihood.
    pub temper: f64,
}

/// The smoothed hidden states of a document.
pub(super) struct Smoothed {
    /// For each window `p(state | all windows)`.
    pub states: Vec<Vec<f64>>,
    /// Expected transitions, `[from, to]`.
    pub transitions: Array2<f64>,
    /// `log p(all windows, labels)`.
    pub log_evidence: f64,
}

impl Parameters {
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    /// `temper * log p(scores | state)` for each state; a missing score adds nothing.
    pub fn log_likelihoods(&self, bins: &[Option<usize>]) -> Vec<f64> {
        let mut sums = vec![0.0; self.states()];
        for (table, bin) in self.log_scores.iter().zip(bins) {
            let Some(bin) = *bin else { continue };
            for (state, sum) in sums.iter_mut().enumerate() {
                *sum += table.get((state, bin)).copied().unwrap_or(0.0);
            }
        }
        sums.iter_mut().for_each(|sum| *sum *= self.temper);
        sums
    }

    /// Turns `p(state | windows before)` into `p(state | windows before and this one)` and returns
    /// `log p(this window | windows before)`.
    pub fn update(&self, predicted: &mut [f64], bins: &[Option<usize>]) -> f64 {
        let logs = self.log_likelihoods(bins);
        // The largest among the possible states, so that their sum cannot vanish.
        let largest = largest_possible(&logs, predicted);
        let mut sum = 0.0;
        for (value, log) in predicted.iter_mut().zip(&logs) {
            // An impossible state must stay impossible even where its likelihood would overflow.
            *value = if *value > 0.0 { *value * (log - largest).exp() } else { 0.0 };
            sum += *value;
        }
        predicted.iter_mut().for_each(|value| *value /= sum);
        sum.ln() + largest
    }

    /// `p(next state)` from `p(state)`.
    pub fn advance(&self, posterior: &[f64]) -> Vec<f64> {
        let mut next = vec![0.0; self.states()];
        for (row, share) in self.transition.rows().into_iter().zip(posterior) {
            next.iter_mut().zip(row).for_each(|(next, step)| *next += share * step);
        }
        // Rounding would otherwise accumulate over a long document.
        let sum: f64 = next.iter().sum();
        next.iter_mut().for_each(|next| *next /= sum);
        next
    }

    /// Forward-backward over a whole document; a labelled window has the state of its label.
    ///
    /// None for a document without windows, or whose labels are impossible under the model.
    pub fn smooth(&self, document: &[Coded]) -> Option<Smoothed> {
        let count = self.states();
        let mut log_evidence = 0.0;
        let mut likelihoods = Vec::with_capacity(document.len());
        let mut forward: Vec<Vec<f64>> = Vec::with_capacity(document.len());
        for window in document {
            let logs = self.log_likelihoods(&window.bins);
            let mut now = forward.last().map_or_else(|| self.initial.clone(), |last| self.advance(last));
            let allowed = |state: usize| window.state.is_none_or(|label| label == state);
            let possible: Vec<f64> =
                now.iter().enumerate().map(|(state, p)| if allowed(state) { *p } else { 0.0 }).collect();
            let largest = largest_possible(&logs, &possible);
            let likelihood: Vec<f64> = logs
                .iter()
                .enumerate()
                .map(|(state, log)| if allowed(state) { (log - largest).exp() } else { 0.0 })
                .collect();
            now.iter_mut().zip(&possible).zip(&likelihood).for_each(|((now, p), l)| *now = p * l);
            let sum: f64 = now.iter().sum();
            if sum.is_nan() || sum <= 0.0 {
                return None;
            }
            now.iter_mut().for_each(|now| *now /= sum);
            log_evidence += sum.ln() + largest;
            forward.push(now);
            likelihoods.push(likelihood);
        }
        let mut states = vec![forward.last()?.clone()];
        let mut transitions = Array2::zeros((count, count));
        let mut backward = vec![1.0; count];
        for (before, likelihood) in forward.iter().rev().skip(1).zip(likelihoods.iter().rev()) {
            let after: Vec<f64> = likelihood.iter().zip(&backward).map(|(l, b)| l * b).collect();
            let total: f64 = before
                .iter()
                .zip(self.transition.rows())
                .map(|(p, row)| p * row.iter().zip(&after).map(|(a, b)| a * b).sum::<f64>())
                .sum();
            let steps = transitions.rows_mut().into_iter().zip(self.transition.rows()).zip(before);
            for ((mut counts, row), p) in steps {
                let joint = row.iter().zip(&after).map(|(step, b)| p * step * b / total);
                counts.iter_mut().zip(joint).for_each(|(count, joint)| *count += joint);
            }
            backward = self.transition.rows().into_iter().map(|row| dot(row, &after) / total).collect();
            states.push(before.iter().zip(&backward).map(|(p, b)| p * b).collect());
        }
        states.reverse();
        Some(Smoothed { states, transitions, log_evidence })
    }
}

fn dot(row: ndarray::ArrayView1<'_, f64>, vector: &[f64]) -> f64 {
    row.iter().zip(vector).map(|(a, b)| a * b).sum()
}

fn largest_possible(logs: &[f64], possible: &[f64]) -> f64 {
    logs.iter()
        .zip(possible)
        .filter(|(_, p)| **p > 0.0)
        .fold(f64::NEG_INFINITY, |largest, (log, _)| largest.max(*log))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distribution(length: usize) -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(0.01..1.0_f64, length).prop_map(|values| {
            let sum: f64 = values.iter().sum();
            values.iter().map(|value| value / sum).collect()
        })
    }

    fn table(rows: usize, columns: usize) -> impl Strategy<Value = Array2<f64>> {
        proptest::collection::vec(distribution(columns), rows).prop_map(move |rows| {
            Array2::from_shape_fn((rows.len(), columns), |(row, column)| rows[row][column])
        })
    }

    fn case() -> impl Strategy<Value = (Parameters, Vec<Coded>)> {
        let window = (proptest::option::weighted(0.3, 0_usize..3), proptest::option::of(0_usize..4));
        let windows = proptest::collection::vec(window, 1..6);
        (distribution(3), table(3, 3), table(3, 4), 0.2..1.0_f64, windows).prop_map(
            |(initial, transition, scores, temper, windows)| {
                let log_scores = vec![scores.mapv(f64::ln)];
                let coded = windows.iter().map(|(state, bin)| Coded { state: *state, bins: vec![*bin] });
                (Parameters { initial, transition, log_scores, temper }, coded.collect())
            },
        )
    }

    proptest! {
        #[test]
        fn smoothing_equals_enumeration((parameters, document) in case()) {
            let length = document.len();
            let mut states = vec![[0.0; 3]; length];
            let mut transitions = [[0.0; 3]; 3];
            let mut all = 0.0;
            for number in 0..3_usize.pow(length as u32) {
                let path: Vec<usize> = (0..length).map(|place| number / 3_usize.pow(place as u32) % 3).collect();
                let fits = document.iter().zip(&path).all(|(window, state)| window.state.is_none_or(|s| s == *state));
                if !fits {
                    continue;
                }
                let seen: f64 = document
                    .iter()
                    .zip(&path)
                    .map(|(window, state)| parameters.log_likelihoods(&window.bins)[*state].exp())
                    .product();
                let steps: f64 = path.windows(2).map(|pair| parameters.transition[[pair[0], pair[1]]]).product();
                let weight = parameters.initial[path[0]] * steps * seen;
                all += weight;
                path.iter().zip(&mut states).for_each(|(state, sums)| sums[*state] += weight);
                path.windows(2).for_each(|pair| transitions[pair[0]][pair[1]] += weight);
            }
            let smoothed = parameters.smooth(&document).unwrap();
            prop_assert!((smoothed.log_evidence - f64::ln(all)).abs() < 1e-9);
            for (found, sums) in smoothed.states.iter().zip(&states) {
                prop_assert!(found.iter().zip(sums).all(|(p, sum)| (p - sum / all).abs() < 1e-9));
            }
            for ((from, to), found) in smoothed.transitions.indexed_iter() {
                prop_assert!((found - transitions[from][to] / all).abs() < 1e-9);
            }
        }
    }
}
