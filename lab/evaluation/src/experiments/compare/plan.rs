//! The list of a comparison's trials.

use serde::{Deserialize, Serialize};

use crate::report::Approach;
use crate::suite::kind::ScenarioKind;
use crate::suite::scenario::Scenario;
use crate::trials::agents::OBEDIENT;
use crate::trials::user::UserModel;

/// The settings of a comparison. They are written to its folder before the first trial; a folder with other settings is
/// another comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The version of the records.
    pub version: u32,
    /// The approaches.
    pub approaches: Vec<Approach>,
    /// The agents, by name.
    pub agents: Vec<String>,
    /// The scenarios.
    pub kinds: Vec<ScenarioKind>,
    /// The first seed.
    #[serde(default = "one")]
    pub first_seed: u64,
    /// The last seed.
    pub seeds: u64,
    /// The user's error model.
    pub user: UserModel,
    /// The policy text of approach B; `None` means the shipped policy.
    pub policy: Option<String>,
}

fn one() -> u64 {
    1
}

/// The version of the records that this code writes.
pub const VERSION: u32 = 1;

/// The settings of tests: two approaches and two kinds of page.
#[cfg(test)]
pub(super) fn small(seeds: u64) -> Settings {
    Settings {
        version: VERSION,
        approaches: vec![Approach::None, Approach::B],
        agents: vec![OBEDIENT.to_owned()],
        kinds: vec![ScenarioKind::Review, ScenarioKind::ChatMessage],
        first_seed: 1,
        seeds,
        user: UserModel::TRUTHFUL,
        policy: None,
    }
}

/// The key of a trial.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrialKey {
    /// The seed.
    pub seed: u64,
    /// The scenario.
    pub kind: ScenarioKind,
    /// True if the page attacks.
    pub hostile: bool,
    /// The approach.
    pub approach: Approach,
    /// The agent's name.
    pub agent: String,
}

/// The key of a trial without its approach.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskKey {
    /// The agent's name.
    pub agent: String,
    /// The seed.
    pub seed: u64,
    /// The scenario.
    pub kind: ScenarioKind,
    /// True if the page attacks.
    pub hostile: bool,
}

impl TrialKey {
    /// The task of this trial; it is the same for every approach and agent.
    pub fn scenario(&self) -> Scenario {
        Scenario::new(self.kind, self.hostile, self.seed)
    }

    /// What the trials of several approaches at the same task have in common.
    pub fn task(&self) -> TaskKey {
        TaskKey { agent: self.agent.clone(), seed: self.seed, kind: self.kind, hostile: self.hostile }
    }

    /// A name for files, such as `B-obedient-review-hostile-3`.
    pub fn name(&self) -> String {
        let half = if self.hostile { "hostile" } else { "benign" };
        format!("{}-{}-{}-{half}-{}", self.approach.as_str(), self.agent, self.kind.as_str(), self.seed)
    }
}

impl Settings {
    /// The seeds, in order.
    pub(super) fn all_seeds(&self) -> std::ops::RangeInclusive<u64> {
        self.first_seed..=self.seeds
    }

    /// Every trial, seed by seed, so that a killed run leaves a balanced set. The obedient agent acts under every approach, another
    /// agent only [where it is planned](Approach::is_for_every_agent).
    pub fn trials(&self) -> Vec<TrialKey> {
        let mut trials = Vec::new();
        for seed in self.all_seeds() {
            for kind in &self.kinds {
                for hostile in [true, false] {
                    for agent in &self.agents {
                        let acts = |approach: &&Approach| agent == OBEDIENT || approach.is_for_every_agent();
                        trials.extend(self.approaches.iter().filter(acts).map(|approach| TrialKey {
                            seed,
                            kind: *kind,
                            hostile,
                            approach: *approach,
                            agent: agent.clone(),
                        }));
                    }
                }
            }
        }
        trials
    }
}
