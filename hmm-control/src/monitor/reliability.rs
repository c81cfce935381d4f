//! Showing that a probability means what it says.

use std::fmt;

/// The predictions that lay in one range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReliabilityRow {
    /// Lower end of the range, which belongs to it.
    pub from: f64,
    /// Upper end, which does not (but 1 does).
    pub to: f64,
    /// How many predictions.
    pub count: usize,
    /// Their mean; 0 where there are none.
    pub predicted: f64,
    /// The share that came true; 0 where there are none.
    pub observed: f64,
}

/// A reliability table: predicted against observed, in ranges of equal width.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// One row a range, empty ones included.
    pub rows: Vec<ReliabilityRow>,
    /// How many predictions there were. An error from few means little: a range of `n` is uncertain by about
    /// `0.5 / sqrt(n)` by itself.
    pub count: usize,
    /// The expected calibration error: the mean of `|predicted - observed|` over all predictions' ranges.
    pub expected_error: f64,
    /// The mean of `(prediction - outcome)^2`, which also rewards telling cases apart.
    pub brier: f64,
    /// The share that came true.
    pub base_rate: f64,
}

impl Reliability {
    /// The table of predictions in `[0, 1]` and whether they came true, in at least one range. A prediction that is
    /// outside or not a number is passed over.
    pub fn measure(samples: &[(f64, bool)], ranges: usize) -> Reliability {
        let ranges = ranges.max(1);
        let mut sums = vec![(0_usize, 0.0_f64, 0.0_f64); ranges];
        let (mut count, mut square) = (0_usize, 0.0);
        for (prediction, happened) in samples.iter().filter(|(p, _)| (0.0..=1.0).contains(p)) {
            let outcome = f64::from(u8::from(*happened));
            let range = ((prediction * ranges as f64) as usize).min(ranges - 1);
            if let Some((number, predicted, observed)) = sums.get_mut(range) {
                *number += 1;
                *predicted += prediction;
                *observed += outcome;
            }
            count += 1;
            square += (prediction - outcome).powi(2);
        }
        let all = count.max(1) as f64;
        let gaps: f64 = sums.iter().map(|(_, predicted, observed)| (predicted - observed).abs()).sum();
        let held: f64 = sums.iter().map(|(_, _, observed)| observed).sum();
        let rows = sums
            .iter()
            .enumerate()
            .map(|(range, (number, predicted, observed))| {
                let of = (*number).max(1) as f64;
                ReliabilityRow {
                    from: range as f64 / ranges as f64,
                    to: (range + 1) as f64 / ranges as f64,
                    count: *number,
                    predicted: predicted / of,
                    observed: observed / of,
                }
            })
            .collect();
        Reliability { rows, count, expected_error: gaps / all, brier: square / all, base_rate: held / all }
    }
}

impl fmt::Display for Reliability {
    /// A table for a person; empty ranges are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "predicted    windows  mean   observed")?;
        for row in self.rows.iter().filter(|row| row.count > 0) {
            let ReliabilityRow { from, to, count, predicted, observed } = row;
            writeln!(f, "{from:.2}-{to:.2} {count:>11}  {predicted:.3}  {observed:.3}")?;
        }
        write!(
            f,
            "expected calibration error {:.4}, Brier score {:.4}, {} windows, {:.1} % held",
            self.expected_error,
            self.brier,
            self.count,
            100.0 * self.base_rate
        )
    }
}
