//! The results of the tasks: as a file, as a table for a terminal, as a section of the report.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::report::{Approach, table};
use crate::statistics::wilson;

/// The file's name within a comparison's folder.
pub const FILE: &str = "miniwob.json";

/// One episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// The task.
    pub task: String,
    /// The seed of the page.
    pub seed: u64,
    /// The approach.
    pub approach: Approach,
    /// The page's own reward, 1 for success; `None` if the episode did not end.
    pub reward: Option<f64>,
    /// The number of prompts.
    pub prompts: u64,
    /// Denials by reason.
    pub denials: BTreeMap<String, u64>,
}

impl Episode {
    /// Returns true if the page reports success.
    pub fn succeeded(&self) -> bool {
        self.reward.is_some_and(|reward| reward >= 1.0)
    }
}

/// All episodes of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The number of seeds, from 1 on.
    pub seeds: u64,
    /// The episodes.
    pub episodes: Vec<Episode>,
}

const HEADINGS: [&str; 5] = ["task", "without a guard", "under B", "prompts an episode", "denials under B"];

impl Findings {
    /// Reads the findings in a comparison's folder; `None` if there are none.
    pub fn read(folder: &Path) -> Option<Findings> {
        serde_json::from_slice(&fs::read(folder.join(FILE)).ok()?).ok()
    }

    /// Writes them to a comparison's folder, which is created.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join(FILE), serde_json::to_string_pretty(self)?)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut tasks: Vec<&str> = self.episodes.iter().map(|episode| episode.task.as_str()).collect();
        tasks.dedup();
        let row = |name: &str, own: &dyn Fn(&Episode) -> bool| {
            let of = |approach: Approach| -> Vec<&Episode> {
                let wanted = |episode: &&Episode| own(episode) && episode.approach == approach;
                self.episodes.iter().filter(wanted).collect()
            };
            let (bare, guarded) = (of(Approach::None), of(Approach::B));
            let share = |episodes: &[&Episode]| {
                format!("{}/{}", episodes.iter().filter(|it| it.succeeded()).count(), episodes.len())
            };
            let mut denials: BTreeMap<&str, u64> = BTreeMap::new();
            for (reason, times) in guarded.iter().flat_map(|episode| &episode.denials) {
                *denials.entry(reason).or_default() += times;
            }
            let prompts: u64 = guarded.iter().map(|episode| episode.prompts).sum();
            let denied: Vec<String> =
                denials.iter().map(|(reason, times)| format!("{reason} {times}")).collect();
            vec![
                name.to_owned(),
                share(&bare),
                share(&guarded),
                format!("{:.1}", prompts as f64 / guarded.len().max(1) as f64),
                denied.join(", "),
            ]
        };
        let each = tasks.iter().map(|task| row(task, &|episode| episode.task == *task));
        each.chain([row("all", &|_| true)]).collect()
    }

    /// The success rate of an approach and its 95 % interval (Wilson, episodes as trials).
    fn rate(&self, approach: Approach) -> (f64, f64, f64) {
        let own = || self.episodes.iter().filter(|episode| episode.approach == approach);
        let (succeeded, all) =
            (own().filter(|episode| episode.succeeded()).count() as u64, own().count() as u64);
        let (low, high) = wilson(succeeded, all);
        (succeeded as f64 / all.max(1) as f64, low, high)
    }

    /// Both rates as text.
    fn rates(&self) -> String {
        let words = |approach| {
            let (rate, low, high) = self.rate(approach);
            format!("{rate:.2} [{low:.2}, {high:.2}]")
        };
        format!(
            "S without a guard {}, under B {} (95 % Wilson, episodes as trials: episodes of one task are alike)",
            words(Approach::None),
            words(Approach::B)
        )
    }

    /// The task and seed of each episode with one outcome without a guard and another under B.
    fn pairs(&self, bare: bool, guarded: bool) -> Vec<(&str, u64)> {
        let of = |approach: Approach| self.episodes.iter().filter(move |it| it.approach == approach);
        let is_pair = |one: &Episode, other: &Episode| one.task == other.task && one.seed == other.seed;
        of(Approach::None)
            .filter(|one| one.succeeded() == bare)
            .filter(|one| of(Approach::B).any(|other| is_pair(one, other) && other.succeeded() == guarded))
            .map(|one| (one.task.as_str(), one.seed))
            .collect()
    }

    /// How the two outcomes of the same page and seed go together.
    fn paired(&self) -> String {
        let names = |pairs: &[(&str, u64)]| {
            let mut by_task: BTreeMap<&str, u64> = BTreeMap::new();
            for (task, _) in pairs {
                *by_task.entry(task).or_default() += 1;
            }
            by_task.iter().map(|(task, times)| format!("{task} {times}")).collect::<Vec<_>>().join(", ")
        };
        let (kept, lost, gained) = (self.pairs(true, true), self.pairs(true, false), self.pairs(false, true));
        let done = kept.len() + lost.len();
        format!(
            "Of {done} pages that are done without a guard, {} are done under B too ({:.3}); lost: {}; done under B alone: {}",
            kept.len(),
            kept.len() as f64 / done.max(1) as f64,
            names(&lost),
            names(&gained)
        )
    }

    /// The table for a terminal.
    pub fn table(&self) -> String {
        let rows: Vec<Vec<String>> =
            [HEADINGS.map(str::to_owned).to_vec()].into_iter().chain(self.rows()).collect();
        let mut text = table::to_text(&rows);
        let _ = writeln!(text, "{}\n{}", self.rates(), self.paired());
        text
    }

    /// The report's section.
    pub fn section(&self) -> String {
        format!(
            "<h2>Third-party tasks</h2><p>Tasks of MiniWoB++ (PyPI package <code>miniwob</code>), a scripted solver, seeds 1 to {}: \
             the cost of the guard without an attack. An episode is done when its own page says so. {}. {}.</p>{}",
            self.seeds,
            self.rates(),
            self.paired(),
            table::to_html(&HEADINGS, &self.rows())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(task: &str, seed: u64, approach: Approach, reward: Option<f64>) -> Episode {
        let denials = match (approach, reward) {
            (Approach::B, None) => BTreeMap::from([("wrong_sink".to_owned(), 2)]),
            _ => BTreeMap::new(),
        };
        let prompts = u64::from(approach == Approach::B);
        Episode { task: task.to_owned(), seed, approach, reward, prompts, denials }
    }

    #[test]
    fn the_cost_of_the_guard_is_reported_task_by_task() {
        let episodes = vec![
            episode("click-test", 1, Approach::None, Some(1.0)),
            episode("click-test", 1, Approach::B, Some(1.0)),
            episode("login-user", 1, Approach::None, Some(1.0)),
            episode("login-user", 1, Approach::B, None),
            episode("login-user", 2, Approach::None, Some(-1.0)),
            episode("login-user", 2, Approach::B, None),
        ];
        let findings = Findings { seeds: 2, episodes };
        assert_eq!(
            findings.rows(),
            [
                ["click-test", "1/1", "1/1", "1.0", ""],
                ["login-user", "1/2", "0/2", "1.0", "wrong_sink 4"],
                ["all", "2/3", "1/3", "1.0", "wrong_sink 4"],
            ]
        );
        assert_eq!(
            findings.paired(),
            "Of 2 pages that are done without a guard, 1 are done under B too (0.500); lost: login-user 1; \
             done under B alone: "
        );
        assert!(findings.rates().starts_with("S without a guard 0.67"), "{}", findings.rates());
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Findings::read(folder.path()), None);
        findings.write(folder.path()).unwrap();
        assert_eq!(Findings::read(folder.path()), Some(findings));
    }
}
