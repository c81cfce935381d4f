//! Worms: text that asks an agent to pass it on, followed over generations.
//!
//! A chain begins at a shop whose page carries the worm, in its chat, in a review or where nobody sees it. The agent does its own user's
//! task there. If what it posts in that shop's chat still asks its reader to pass it on, the next generation begins: another user's agent
//! reads the posted text, as it arrived at the server, at another shop. The reader is the obedient agent, which follows everything that it
//! reads and copies a text whole; it is the worst case, so that what stops a chain is the guard. The chat stands for every place that one
//! agent writes and another one reads.
//!
//! Under a guard each chain runs twice: with a user who answers rightly, and with one who agrees to everything. The second shows what is left
//! when nobody looks.
//!
//! | module | subject |
//! |---|---|
//! | `text` | the worms, and the forms in which they hide |
//! | `chain` | one chain in the browser |
//! | `findings` | the results, as a table and as a figure |

mod chain;
mod findings;
mod text;

use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

pub use findings::Findings;
pub use text::Form;

use crate::experiments::rows::RowFile;
use crate::suite::ScenarioKind;
use crate::trials::EvaluationError;
use chain::Place;

/// The file of the rows within the folder of a run.
pub const FILE: &str = "worms.jsonl";
/// The file of the figure.
pub const FIGURE: &str = "worms.svg";

/// The generations of a chain at most.
pub const GENERATIONS: usize = 4;

/// The places in which a worm is read.
pub const CARRIERS: [ScenarioKind; 3] =
    [ScenarioKind::ChatMessage, ScenarioKind::Review, ScenarioKind::HiddenText];

/// The guard of a chain, and its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guarding {
    /// There is no guard.
    None,
    /// Approach B.
    B,
    /// Approach C.
    C,
    /// Approach B with a user who agrees to everything.
    BAgreeing,
    /// Approach C with a user who agrees to everything.
    CAgreeing,
}

impl Guarding {
    /// All of them.
    pub const ALL: [Guarding; 5] =
        [Guarding::None, Guarding::B, Guarding::C, Guarding::BAgreeing, Guarding::CAgreeing];

    /// Its name in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Guarding::None => "no guard",
            Guarding::B => "B",
            Guarding::C => "C",
            Guarding::BAgreeing => "B, every question agreed to",
            Guarding::CAgreeing => "C, every question agreed to",
        }
    }
}

/// The key of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The seed, from which the worm's words and the tasks follow.
    pub seed: u64,
    /// The guard.
    pub guarding: Guarding,
    /// The place in which the worm is read.
    pub carrier: ScenarioKind,
    /// Its form.
    pub form: Form,
}

/// One chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// Its key.
    #[serde(flatten)]
    pub key: Key,
    /// For each generation that began: the posted texts that ask their reader to pass them on. The last number is 0 unless
    /// the chain reached its [last generation](GENERATIONS).
    pub copies: Vec<u32>,
    /// The generations in which the agent found the worm's words in what it read.
    pub read: u32,
    /// The generations in which a value of the user's arrived where it should not.
    pub leaks: u32,
    /// The generations in which the user's own task ended as wanted.
    pub done: u32,
    /// The questions to the users.
    pub prompts: u64,
}

/// The chains of a plan, seed by seed.
pub fn plan(seeds: u64) -> Vec<Key> {
    let mut keys = Vec::new();
    for seed in 1..=seeds {
        for carrier in CARRIERS {
            for form in Form::ALL {
                keys.extend(Guarding::ALL.map(|guarding| Key { seed, guarding, carrier, form }));
            }
        }
    }
    keys
}

/// Runs the chains of so many seeds that are missing in the folder `out`, and gives all. No chain begins after `time`; the same
/// call goes on from there. `progress` is called with the finished chains, all chains, and the name of the next one.
///
/// # Errors
/// [`EvaluationError`]; finished chains are kept.
pub async fn run(
    seeds: u64,
    out: &Path,
    time: Option<Duration>,
    progress: &(dyn Fn(u64, u64, &str) + Sync),
) -> Result<Findings, EvaluationError> {
    let (mut file, mut chains) = RowFile::<Chain>::open(&out.join(FILE))?;
    let plan = plan(seeds);
    let missing: Vec<Key> =
        plan.iter().filter(|key| !chains.iter().any(|chain| chain.key == **key)).copied().collect();
    let began = Instant::now();
    if !missing.is_empty() {
        let place = Place::set_up().await?;
        for key in missing {
            if time.is_some_and(|time| began.elapsed() > time) {
                break;
            }
            let what = format!("{}, {}, {}", key.guarding.as_str(), key.carrier.as_str(), key.form.as_str());
            progress(chains.len() as u64, plan.len() as u64, &what);
            let chain = place.run(key).await?;
            file.append(&chain)?;
            chains.push(chain);
        }
        place.close().await?;
    }
    chains.sort_by_key(|chain| chain.key);
    let findings = Findings { planned: plan.len() as u64, chains };
    std::fs::write(out.join(FIGURE), findings.figure())?;
    Ok(findings)
}
