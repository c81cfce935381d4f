//! A comparison in shards: each machine makes a part of one plan, and the parts are merged into one folder.
//!
//! A shard is every n-th trial of the plan, so that shards have the same mixture of pages and approaches. A trial's seed alone says what
//! happens in it, so it does not matter which machine makes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::journal::{Journal, JournalError, read};
use super::line::TrialLine;
use super::plan::{Settings, TrialKey};

/// One of several parts of a plan, written as `2/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

/// A text is no shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a shard is written as I/N, with I from 1 to N, such as 2/8")]
pub struct NoShard;

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Shard, NoShard> {
        let (number, of) = text.split_once('/').ok_or(NoShard)?;
        let (number, of) = (number.parse().map_err(|_| NoShard)?, of.parse().map_err(|_| NoShard)?);
        if (1..=of).contains(&number) { Ok(Shard { number, of }) } else { Err(NoShard) }
    }
}

impl Shard {
    /// Whether the trial at this place of the plan, counted from 0, is in the shard.
    pub(super) fn has(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }
}

/// Why shards cannot be merged. Nothing is written then.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A folder cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// There is nothing to merge.
    #[error("name the folders of the shards")]
    None,
    /// Shards of different plans.
    #[error("{0} and {1} hold shards of different plans: their settings.json differ")]
    OtherPlan(PathBuf, PathBuf),
    /// A trial that the plan does not have.
    #[error("{folder} holds the trial {trial}, which its plan does not have")]
    Unplanned {
        /// The folder.
        folder: PathBuf,
        /// The trial's name.
        trial: String,
    },
    /// Two results of one trial.
    #[error(
        "{folder} holds another result of the trial {trial} than a folder before it: make it again in one of them"
    )]
    Twice {
        /// The folder.
        folder: PathBuf,
        /// The trial's name.
        trial: String,
    },
}

/// What a merge has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merged {
    /// The trials in the folder now.
    pub trials: usize,
    /// The trials of the plan.
    pub planned: usize,
}

/// Merges the shards in these folders, in any order, into another folder, which may hold a part of the same comparison already. The report is
/// then made there, and missing trials can be made there too.
///
/// # Errors
/// [`MergeError`]; nothing is written in that case.
pub fn merge(folders: &[PathBuf], out: &Path) -> Result<Merged, MergeError> {
    let mut shards = Vec::new();
    for folder in folders {
        let (settings, lines) = read(folder)?;
        shards.push((folder, settings, lines));
    }
    let Some((first, settings, _)) = shards.first() else { return Err(MergeError::None) };
    if let Some((other, ..)) = shards.iter().find(|(_, other, _)| other != settings) {
        return Err(MergeError::OtherPlan((*first).clone(), (*other).clone()));
    }
    let (settings, planned) = (settings.clone(), settings.trials());
    let mut merged = own(out, &settings)?;
    for (folder, _, lines) in shards {
        for line in lines {
            let at_fault = || (folder.clone(), line.key.name());
            if !planned.contains(&line.key) {
                let (folder, trial) = at_fault();
                return Err(MergeError::Unplanned { folder, trial });
            }
            if merged.get(&line.key).is_some_and(|there| *there != line) {
                let (folder, trial) = at_fault();
                return Err(MergeError::Twice { folder, trial });
            }
            merged.insert(line.key.clone(), line);
        }
    }
    let mut journal = Journal::open(out, &settings)?;
    for line in merged.values() {
        journal.append(line)?;
    }
    Ok(Merged { trials: merged.len(), planned: planned.len() })
}

/// The trials that the folder has already, if it holds the same comparison.
fn own(out: &Path, settings: &Settings) -> Result<BTreeMap<TrialKey, TrialLine>, MergeError> {
    if !out.join(super::journal::SETTINGS).exists() {
        return Ok(BTreeMap::new());
    }
    let (own, lines) = read(out)?;
    if own != *settings {
        return Err(JournalError::OtherSettings(out.to_owned()).into());
    }
    Ok(lines.into_iter().map(|line| (line.key.clone(), line)).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::experiments::compare::journal::TRIALS;
    use crate::experiments::compare::plan::small;
    use crate::trials::judge::Judgement;

    fn line(key: &TrialKey) -> TrialLine {
        TrialLine { prompts: key.seed, ..TrialLine::judged(key, &Judgement::default()) }
    }

    /// The shards of a plan, each in a folder of its own.
    fn shards(home: &Path, settings: &Settings, of: usize) -> Vec<PathBuf> {
        let shard = |number| {
            let shard = Shard { number, of };
            let folder = home.join(format!("shard-{number}"));
            let mut journal = Journal::open(&folder, settings).unwrap();
            let plan = settings.trials();
            for (_, key) in plan.iter().enumerate().filter(|(place, _)| shard.has(*place)) {
                journal.append(&line(key)).unwrap();
            }
            folder
        };
        (1..=of).map(shard).collect()
    }

    #[test]
    fn a_shard_is_one_of_several() {
        for text in ["1/1", "2/8", "8/8"] {
            assert!(text.parse::<Shard>().is_ok(), "{text}");
        }
        for text in ["0/8", "9/8", "1/0", "1", "a/b", "-1/2", "1/2/3", ""] {
            assert_eq!(text.parse::<Shard>(), Err(NoShard), "{text}");
        }
    }

    #[test]
    fn every_trial_is_in_one_shard_and_any_order_merges_to_the_same() {
        let (home, settings) = (tempfile::tempdir().unwrap(), small(3));
        let mut folders = shards(home.path(), &settings, 5);
        let whole = |name: &str, folders: &[PathBuf]| {
            let out = home.path().join(name);
            let merged = merge(folders, &out).unwrap();
            assert_eq!((merged.trials, merged.planned), (24, 24));
            fs::read(out.join(TRIALS)).unwrap()
        };
        let first = whole("one", &folders);
        folders.reverse();
        assert_eq!(whole("other", &folders), first);
        // Shards that come later go into the same folder, and one that comes twice changes nothing.
        let out = home.path().join("late");
        assert_eq!(merge(&folders[..2], &out).unwrap().trials, 9);
        assert_eq!(merge(&folders, &out).unwrap().trials, 24);
    }

    #[test]
    fn what_is_not_of_the_plan_is_refused_and_nothing_is_written() {
        let (home, settings) = (tempfile::tempdir().unwrap(), small(2));
        let folders = shards(home.path(), &settings, 2);
        let out = home.path().join("out");
        let refused = |folders: &[PathBuf]| {
            let error = merge(folders, &out).unwrap_err();
            assert!(!out.exists(), "{error}");
            error
        };
        assert!(matches!(refused(&[]), MergeError::None));
        // Another plan.
        let other = shards(&home.path().join("other"), &small(3), 2);
        assert!(matches!(refused(&[folders[0].clone(), other[1].clone()]), MergeError::OtherPlan(..)));
        // A trial of a seed that the plan does not have, and another result of one that was made.
        let trials = folders[1].join(TRIALS);
        let text = fs::read_to_string(&trials).unwrap();
        fs::write(&trials, text.replace("\"seed\":2", "\"seed\":7")).unwrap();
        assert!(matches!(refused(&folders), MergeError::Unplanned { .. }));
        fs::write(&trials, &text).unwrap();
        let copy = home.path().join("copy");
        fs::create_dir(&copy).unwrap();
        fs::copy(folders[1].join(super::super::journal::SETTINGS), copy.join("settings.json")).unwrap();
        fs::write(copy.join(TRIALS), text.replace("\"prompts\":1", "\"prompts\":9")).unwrap();
        assert!(matches!(refused(&[folders[1].clone(), copy]), MergeError::Twice { .. }));
    }
}
