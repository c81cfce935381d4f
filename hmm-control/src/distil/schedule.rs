//! The sequences of each training step, and its size.

use super::DistilError;
use std::ops::Range;

/// Steps of the same number of portions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stage {
    /// Number of steps.
    pub steps: u32,
    /// Portions of the training set per step, one after the other, starting again after the last.
    pub portions: u32,
}

/// The steps of a training.
///
/// ```
/// use hmm_control::distil::Schedule;
///
/// let ctrl_g = Schedule::parse("10,1;5,2;4,5;4,10;4,20;1,40", 100)?;
/// assert_eq!(ctrl_g.steps(), 28);
/// assert_eq!(ctrl_g.ranges(27, 1000), [600..1000]);
/// # Ok::<(), hmm_control::distil::DistilError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Schedule {
    portions: u32,
    stages: Vec<Stage>,
}

/// A schedule in a checkpoint.
#[derive(serde::Deserialize)]
struct Unchecked {
    portions: u32,
    stages: Vec<Stage>,
}

impl TryFrom<Unchecked> for Schedule {
    type Error = DistilError;

    fn try_from(Unchecked { portions, stages }: Unchecked) -> Result<Schedule, DistilError> {
        Schedule::new(portions, stages)
    }
}

impl Schedule {
    /// A schedule over a training set of `portions` equal portions.
    ///
    /// # Errors
    /// When there is no step or no portion, or a step takes more portions than there are.
    pub fn new(portions: u32, stages: Vec<Stage>) -> Result<Schedule, DistilError> {
        let steps: u64 = stages.iter().map(|stage| u64::from(stage.steps)).sum();
        let fits = |stage: &Stage| (1..=portions).contains(&stage.portions);
        if steps == 0 || steps > u64::from(u32::MAX) || !stages.iter().all(fits) {
            return Err(DistilError::Setting {
                name: "the schedule",
                given: format!("{portions} portions, {stages:?}"),
                wanted: "at least one step, each of at least one portion and no more than there are",
            });
        }
        Ok(Schedule { portions, stages })
    }

    /// Standard expectation-maximisation: every step uses all sequences.
    ///
    /// # Errors
    /// When there is no step.
    pub fn full_batch(steps: u32) -> Result<Schedule, DistilError> {
        Schedule::new(1, vec![Stage { steps, portions: 1 }])
    }

    /// Reads `steps,portions;steps,portions;...`, the notation of Ctrl-G.
    ///
    /// # Errors
    /// When the text is something else, and as for [`Schedule::new`].
    pub fn parse(text: &str, portions: u32) -> Result<Schedule, DistilError> {
        let stage = |part: &str| {
            let (steps, portions) = part.split_once(',')?;
            Some(Stage { steps: steps.trim().parse().ok()?, portions: portions.trim().parse().ok()? })
        };
        let stages: Option<Vec<Stage>> = text.split(';').map(stage).collect();
        let stages = stages.ok_or_else(|| DistilError::Setting {
            name: "the schedule",
            given: text.to_owned(),
            wanted: "pairs of numbers, as in `10,1;5,2` for 10 steps of 1 portion and 5 of 2",
        })?;
        Schedule::new(portions, stages)
    }

    /// Number of steps.
    pub fn steps(&self) -> u32 {
        self.stages.iter().map(|stage| stage.steps).sum()
    }

    /// The sequences of a step (counted from 0), of `sequences` in all: a range, or two where the step wraps around.
    pub fn ranges(&self, step: u32, sequences: usize) -> Vec<Range<usize>> {
        let (mut left, mut first) = (step, 0_u64);
        for stage in &self.stages {
            if left >= stage.steps {
                left -= stage.steps;
                first += u64::from(stage.steps) * u64::from(stage.portions);
                continue;
            }
            let first = (first + u64::from(left) * u64::from(stage.portions)) % u64::from(self.portions);
            let end = first + u64::from(stage.portions);
            let all = u64::from(self.portions);
            let cut = |portion: u64| (u128::from(portion) * sequences as u128 / u128::from(all)) as usize;
            let over = (end > all).then(|| 0..cut(end - all));
            return [Some(cut(first)..cut(end.min(all))), over].into_iter().flatten().collect();
        }
        Vec::new()
    }

    /// The sequences of all steps from one on, of `sequences` in all: the number of complete passes, and further ranges. The
    /// time does not depend on the number of steps.
    pub(super) fn left(&self, step: u32, sequences: usize) -> (u64, Vec<Range<usize>>) {
        let all = u64::from(self.portions.max(1));
        let cut = |portion: u64| (u128::from(portion) * sequences as u128 / u128::from(all)) as usize;
        let (mut done, mut first, mut passes, mut further) = (step, 0_u64, 0_u64, Vec::new());
        for stage in &self.stages {
            let skipped = done.min(stage.steps);
            done -= skipped;
            let begin = (first + u64::from(skipped) * u64::from(stage.portions)) % all;
            let count = u64::from(stage.steps - skipped) * u64::from(stage.portions);
            first = (first + u64::from(stage.steps) * u64::from(stage.portions)) % all;
            passes = passes.saturating_add(count / all);
            let end = begin + count % all;
            further.push(cut(begin)..cut(end.min(all)));
            further.extend((end > all).then(|| 0..cut(end - all)));
        }
        (passes, further)
    }
}

/// The step size from the running counts towards those of the step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum StepSize {
    /// 1: each step replaces the counts (full batches, and Ctrl-G's growing portions).
    #[default]
    Whole,
    /// Stepwise expectation-maximisation: the counts become `(1 - size) * old + size * new` (scaled to the whole
    /// training set) with `size = (step + 1 + offset)^-exponent`, and 1 for the first step. It converges for exponents
    /// above 0.5 and up to 1 (Cappe and Moulines 2009). It needs one more set of parameters in memory.
    Decaying {
        /// Above 0.5 and at most 1; a lower exponent forgets old counts sooner.
        exponent: f64,
        /// At least 0; a larger offset keeps the first steps small.
        offset: f64,
    },
}

impl StepSize {
    /// The size for a step, counted from 0; in 0 to 1, and 1 for the first.
    pub fn of(&self, step: u32) -> f64 {
        match self {
            StepSize::Decaying { exponent, offset } if step > 0 => {
                (f64::from(step) + 1.0 + offset).powf(-exponent)
            }
            _ => 1.0,
        }
    }

    pub(super) fn check(&self) -> Result<(), DistilError> {
        match *self {
            StepSize::Decaying { exponent, offset }
                if !(exponent > 0.5 && exponent <= 1.0 && (0.0..f64::INFINITY).contains(&offset)) =>
            {
                Err(DistilError::Setting {
                    name: "the decaying step size",
                    given: format!("exponent {exponent}, offset {offset}"),
                    wanted: "an exponent above 0.5 and up to 1, and an offset of at least 0",
                })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;
    use std::ops::Range;

    #[test]
    fn remaining_sequences_equal_the_sum_over_the_steps() {
        let length = |ranges: Vec<Range<usize>>| ranges.into_iter().map(|range| range.len()).sum::<usize>();
        for (text, portions) in
            [("10,1;5,2;4,5;4,10;4,20;1,40", 100), ("7,3;2,1;5,4", 4), ("3,1", 1), ("0,1;2,2", 3)]
        {
            let schedule = Schedule::parse(text, portions).unwrap();
            for sequences in [0, 1, 5, 1003] {
                for step in 0..=schedule.steps() + 1 {
                    let steps = step..schedule.steps();
                    let one_by_one: usize = steps.map(|step| length(schedule.ranges(step, sequences))).sum();
                    let (passes, further) = schedule.left(step, sequences);
                    assert_eq!(
                        passes as usize * sequences + length(further),
                        one_by_one,
                        "{text} from {step}"
                    );
                }
            }
        }
    }
}
