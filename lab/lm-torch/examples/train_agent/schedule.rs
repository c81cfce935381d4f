//! Learning rates.

/// The share of the highest learning rate at the end.
const LAST: f64 = 0.02;

/// Steps and learning rate of a run.
#[derive(Clone, Copy)]
pub struct Schedule {
    /// Steps in all.
    pub steps: usize,
    /// Warm-up steps, and cool-down steps at the end.
    pub warm: usize,
    pub cool: usize,
    /// The highest learning rate.
    pub rate: f64,
}

impl Schedule {
    /// The learning rate of a step: linear warm-up, constant, linear cool-down. Before the cool-down, the number of steps may
    /// still be changed without losing the steps so far.
    pub fn rate(&self, step: usize) -> f64 {
        let up = (step + 1) as f64 / self.warm as f64;
        let down = LAST + (1.0 - LAST) * self.steps.saturating_sub(step) as f64 / self.cool as f64;
        self.rate * up.min(down).min(1.0)
    }
}
