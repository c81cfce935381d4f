//! Making a predicted probability mean what it says.

/// A rising step function from a predicted probability to the share that held-out data showed.
///
/// Isotonic regression (pool adjacent violators) and not Platt's sigmoid, which would force one shape on a posterior
/// that is often near 0 and 1. With few data a plain isotonic fit learns steps of one sample by heart; so each step is
/// shrunk by the rule of succession, `(k + 1) / (n + 2)`, and made rising again. Ten good samples out of ten are then
/// 0.92 and not 1: a curve never claims more than its data can carry.
///
/// Between steps the lower one counts, and below all of them a prediction is scaled down towards 0: the conservative
/// reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Where a step begins, and its height; both rising.
    steps: Vec<(f64, f64)>,
    samples: usize,
}

struct Block {
    from: f64,
    held: f64,
    count: f64,
}

impl Curve {
    /// Fits a curve to predictions and whether they came true. Neighbouring windows of one document are not
    /// independent; the number of samples flatters the fit where documents are long and few.
    ///
    /// None without samples. A prediction that is not a number is passed over.
    pub fn fit(samples: &[(f64, bool)]) -> Option<Curve> {
        let mut sorted: Vec<(f64, bool)> = samples.iter().filter(|(p, _)| !p.is_nan()).copied().collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Equal predictions must share a step, whatever order they came in.
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

    /// Where each step begins, and its height; both rising.
    pub fn steps(&self) -> &[(f64, f64)] {
        &self.steps
    }

    /// How many samples it was fitted to.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// The calibrated probability, in `[0, 1]`; a higher prediction never gives a lower one. What is not a number
    /// gives 0.
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

/// Pools neighbours until the shares rise.
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
