//! Runs the missing trials.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::journal::Journal;
use super::line::TrialLine;
use super::plan::TrialKey;
use super::shards::Shard;
use crate::report::Approach;
use crate::trials::EvaluationError;

/// Runs trials, one after the other.
pub trait Trials {
    /// Runs one trial.
    ///
    /// # Errors
    /// [`EvaluationError`] if browser or servers failed. A failure of the agent or a denial is never an error.
    fn make(&mut self, key: &TrialKey) -> impl Future<Output = Result<TrialLine, EvaluationError>>;
}

/// A progress callback: finished trials, all trials, and the name of the next one.
pub type Progress<'a> = &'a (dyn Fn(u64, u64, &str) + Sync);

/// The part of a plan that one run makes. The plan is the same whatever the parts are; the rest is left for a later run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// The approaches, by name; all where there are none.
    pub approaches: Vec<Approach>,
    /// The shard, where several machines make the plan together.
    pub shard: Option<Shard>,
    /// No trial begins after this time; `None` means that the run goes on to the end.
    pub time: Option<Duration>,
}

impl Part {
    fn takes(&self, place: usize, key: &TrialKey) -> bool {
        let is_of_shard = self.shard.is_none_or(|shard| shard.has(place));
        is_of_shard && (self.approaches.is_empty() || self.approaches.contains(&key.approach))
    }
}

struct Shared<'a> {
    ends: Option<Instant>,
    waiting: Mutex<VecDeque<&'a TrialKey>>,
    journal: Mutex<&'a mut Journal>,
    all: u64,
    progress: Progress<'a>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs those trials of a part of `plan` that `journal` lacks, on two lanes, in the plan's order.
///
/// # Errors
/// [`EvaluationError`] if browser, servers or disk failed. Finished trials are kept; the next run continues from there.
pub async fn run_missing<T: Trials>(
    plan: &[TrialKey],
    part: &Part,
    journal: &mut Journal,
    lanes: (T, T),
    progress: Progress<'_>,
) -> Result<(), EvaluationError> {
    let planned = plan.iter().enumerate().filter(|(place, key)| part.takes(*place, key));
    let waiting = planned.map(|(_, key)| key).filter(|key| !journal.has(key)).collect();
    let shared = Shared {
        ends: part.time.and_then(|time| Instant::now().checked_add(time)),
        waiting: Mutex::new(waiting),
        journal: Mutex::new(journal),
        all: plan.len() as u64,
        progress,
    };
    tokio::try_join!(lane(&shared, lanes.0), lane(&shared, lanes.1))?;
    let made = plan.iter().filter(|key| journal.has(key)).count();
    progress(made as u64, plan.len() as u64, "done");
    Ok(())
}

async fn lane<T: Trials>(shared: &Shared<'_>, mut trials: T) -> Result<(), EvaluationError> {
    while shared.ends.is_none_or(|ends| Instant::now() < ends) {
        let (key, left) = {
            let mut waiting = lock(&shared.waiting);
            let Some(key) = waiting.pop_front() else { return Ok(()) };
            (key, waiting.len() as u64)
        };
        let half = if key.hostile { "hostile" } else { "benign" };
        let what = format!(
            "{}, {}, {} ({half}, seed {})",
            key.approach.as_str(),
            key.agent,
            key.kind.as_str(),
            key.seed
        );
        (shared.progress)(shared.all - left - 1, shared.all, &what);
        let line = trials.make(key).await?;
        lock(&shared.journal).append(&line).map_err(|error| EvaluationError::Failed(error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::path::Path;
    use std::rc::Rc;

    use super::*;
    use crate::experiments::compare::journal::{JournalError, SETTINGS, TRIALS, read};
    use crate::experiments::compare::plan::{Settings, small as settings};
    use crate::trials::judge::Judgement;

    /// The result of a trial follows from its key. It fails after a number of trials.
    struct Fake {
        left: Rc<Cell<u64>>,
        made: Rc<Cell<u64>>,
    }

    impl Trials for Fake {
        async fn make(&mut self, key: &TrialKey) -> Result<TrialLine, EvaluationError> {
            tokio::task::yield_now().await;
            if self.left.get() == 0 {
                return Err(EvaluationError::Failed("killed".to_owned()));
            }
            self.left.set(self.left.get() - 1);
            self.made.set(self.made.get() + 1);
            let judgement = Judgement { success: !key.seed.is_multiple_of(3), ..Judgement::default() };
            Ok(TrialLine { prompts: key.seed, ..TrialLine::judged(key, &judgement) })
        }
    }

    /// Runs until all is done or `most` trials were made; returns the number of trials.
    fn run(folder: &Path, settings: &Settings, most: u64) -> (Result<(), EvaluationError>, u64) {
        run_part(folder, settings, &Part::default(), most)
    }

    fn run_part(
        folder: &Path,
        settings: &Settings,
        part: &Part,
        most: u64,
    ) -> (Result<(), EvaluationError>, u64) {
        let (left, made) = (Rc::new(Cell::new(most)), Rc::new(Cell::new(0)));
        let fake = || Fake { left: left.clone(), made: made.clone() };
        let mut journal = Journal::open(folder, settings).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let plan = settings.trials();
        let done = runtime.block_on(run_missing(&plan, part, &mut journal, (fake(), fake()), &|_, _, _| ()));
        (done, made.get())
    }

    #[test]
    fn a_run_that_is_killed_anywhere_ends_like_an_uninterrupted_one() {
        let settings = settings(3);
        let all = settings.trials().len() as u64;
        let whole = tempfile::tempdir().unwrap();
        assert_eq!(run(whole.path(), &settings, u64::MAX).1, all);
        let (_, expected) = read(whole.path()).unwrap();
        let bytes = fs::read(whole.path().join(TRIALS)).unwrap();
        // The file is cut after every line, and within each: at its first byte, in the middle, before its end.
        let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').map(|at| at + 1).collect();
        let mut start = 0;
        for (number, end) in ends.iter().enumerate() {
            for cut in [start, start + 1, (start + end) / 2, end - 1, *end] {
                let folder = tempfile::tempdir().unwrap();
                fs::write(folder.path().join(TRIALS), &bytes[..cut]).unwrap();
                fs::copy(whole.path().join(SETTINGS), folder.path().join(SETTINGS)).unwrap();
                let (done, made) = run(folder.path(), &settings, u64::MAX);
                assert!(done.is_ok());
                let kept = if cut == *end { number + 1 } else { number } as u64;
                assert_eq!(made, all - kept, "cut at byte {cut}");
                assert_eq!(read(folder.path()).unwrap().1, expected, "cut at byte {cut}");
            }
            start = *end;
        }
    }

    #[test]
    fn parts_make_up_the_whole() {
        let settings = settings(2);
        let folder = tempfile::tempdir().unwrap();
        let part = |approaches, time| Part { approaches, time, shard: None };
        let no_time = part(Vec::new(), Some(Duration::ZERO));
        assert_eq!(run_part(folder.path(), &settings, &no_time, u64::MAX).1, 0);
        let of_b = part(vec![Approach::B], Some(Duration::from_secs(3600)));
        assert_eq!(run_part(folder.path(), &settings, &of_b, u64::MAX).1, 8);
        assert!(read(folder.path()).unwrap().1.iter().all(|line| line.key.approach == Approach::B));
        assert_eq!(run(folder.path(), &settings, u64::MAX).1, 8, "the rest");
    }

    #[test]
    fn a_run_whose_harness_fails_resumes_where_it_stopped() {
        let settings = settings(2);
        let folder = tempfile::tempdir().unwrap();
        let mut made = 0;
        for most in [0, 1, 5, u64::MAX] {
            let (done, now) = run(folder.path(), &settings, most);
            made += now;
            assert_eq!(done.is_ok(), most == u64::MAX);
        }
        assert_eq!(made, settings.trials().len() as u64, "none was made twice");
        assert_eq!(run(folder.path(), &settings, 0).1, 0);
    }

    #[test]
    fn settings_do_not_mix_and_two_runs_do_not_share_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = Journal::open(folder.path(), &settings(2)).unwrap();
        assert!(matches!(Journal::open(folder.path(), &settings(2)), Err(JournalError::Busy(_))));
        drop(first);
        assert!(matches!(Journal::open(folder.path(), &settings(3)), Err(JournalError::OtherSettings(_))));
        assert!(Journal::open(folder.path(), &settings(2)).is_ok());
    }

    #[test]
    fn a_foreign_line_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        assert!(run(folder.path(), &settings(1), u64::MAX).0.is_ok());
        let path = folder.path().join(TRIALS);
        let text = fs::read_to_string(&path).unwrap().replacen("\"seed\":1", "\"seed\":one", 1);
        fs::write(&path, &text).unwrap();
        let refused = Journal::open(folder.path(), &settings(1)).unwrap_err();
        assert!(refused.to_string().contains("line 1"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "and nothing is changed");
    }
}
