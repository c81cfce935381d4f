//! Calibrating predicted probabilities, and measuring how reliable they are.

use std::fmt;

/// A calibration curve: a rising step function from a predicted probability to the observed share in held-out data.
///
/// It is isotonic regression (pool adjacent violators) and not Platt's sigmoid, which would force one shape on a posterior
/// that is often near 0 and 1. With few data a plain isotonic fit overfits steps of one sample. So each step is shrunk by
/// the rule of succession, `(k + 1) / (n + 2)`, and made rising again: ten good samples out of ten give 0.92 and not 1.
///
/// Between steps the lower one counts, and below all of them a prediction is scaled towards 0, which is conservative.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The beginning and the height of each step; both rising.
    steps: Vec<(f64, f64)>,
    samples: usize,
}

struct Block {
    from: f64,
    held: f64,
    count: f64,
}

impl Curve {
    /// Fits a curve to predictions and their outcomes. Neighbouring windows of one document are not independent, so that the
    /// number of samples overstates the evidence where documents are long and few.
    ///
    /// None without samples. A NaN prediction is skipped.
    pub fn fit(samples: &[(f64, bool)]) -> Option<Curve> {
        let mut sorted: Vec<(f64, bool)> = samples.iter().filter(|(p, _)| !p.is_nan()).copied().collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Equal predictions must share a step, in any order.
        let mut ties: Vec<Block> = Vec::new();
        for (prediction, happened) in &sorted {
            let held = f64::from(u8::from(*happened));
            match ties.last_mut() {
                Some(last) if last.from == *prediction => {
                    last.held += held;
                    last.count += 1.0;
                }
                _ => ties.push(Block { from: *prediction, held, count: 1.0 }),
            }
        }
        let raw = pool(ties);
        let shrunk = raw.into_iter().map(|block| Block {
            held: block.held + 1.0,
            count: block.count + 2.0,
            from: block.from,
        });
        let steps: Vec<(f64, f64)> =
            pool(shrunk).into_iter().map(|block| (block.from, block.held / block.count)).collect();
        if steps.is_empty() { None } else { Some(Curve { steps, samples: sorted.len() }) }
    }

    pub(super) fn from_steps(steps: Vec<(f64, f64)>, samples: usize) -> Curve {
        Curve { steps, samples }
    }

    /// The beginning and the height of each step; both rising.
    pub fn steps(&self) -> &[(f64, f64)] {
        &self.steps
    }

    /// The number of fitted samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// The calibrated probability, in `[0, 1]`; a higher prediction never gives a lower one. NaN gives 0.
    pub fn apply(&self, prediction: f64) -> f64 {
        if prediction.is_nan() {
            return 0.0;
        }
        let above = self.steps.partition_point(|(from, _)| *from <= prediction);
        match (above.checked_sub(1).and_then(|last| self.steps.get(last)), self.steps.first()) {
            (Some((_, height)), _) => *height,
            (None, Some((from, height))) if prediction > 0.0 => height * (prediction / from),
            _ => 0.0,
        }
    }
}

/// Pools neighbouring blocks until the shares rise.
fn pool(blocks: impl IntoIterator<Item = Block>) -> Vec<Block> {
    let mut pooled: Vec<Block> = Vec::new();
    for mut block in blocks {
        while let Some(last) = pooled.pop_if(|last| last.held * block.count >= block.held * last.count) {
            block = Block { from: last.from, held: last.held + block.held, count: last.count + block.count };
        }
        pooled.push(block);
    }
    pooled
}

/// The predictions in one range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReliabilityRow {
    /// The lower end of the range, inclusive.
    pub from: f64,
    /// The upper end, exclusive (except for 1).
    pub to: f64,
    /// Number of predictions.
    pub count: usize,
    /// Their mean; 0 where there are none.
    pub predicted: f64,
    /// The share of good outcomes; 0 where there are none.
    pub observed: f64,
}

/// A reliability table: predicted against observed, in ranges of equal width.
#[derive(Debug, Clone, PartialEq)]
pub struct ReliabilityTable {
    /// One row per range, also for empty ones.
    pub rows: Vec<ReliabilityRow>,
    /// Number of predictions. A range of `n` predictions is uncertain by about `0.5 / sqrt(n)`.
    pub count: usize,
    /// The expected calibration error: the mean of `|predicted - observed|` over all predictions' ranges.
    pub expected_error: f64,
    /// The mean of `(prediction - outcome)^2`, which also rewards discrimination.
    pub brier: f64,
    /// The share of good outcomes.
    pub base_rate: f64,
}

impl ReliabilityTable {
    /// The table of predictions in `[0, 1]` and their outcomes, in at least one range. A prediction outside `[0, 1]` is
    /// skipped.
    pub fn measure(samples: &[(f64, bool)], ranges: usize) -> ReliabilityTable {
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
        ReliabilityTable {
            rows,
            count,
            expected_error: gaps / all,
            brier: square / all,
            base_rate: held / all,
        }
    }
}

impl fmt::Display for ReliabilityTable {
    /// A readable table without empty ranges.
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
