//! Question RQ3: a soft constraint beside an agent that was trained to prefer not to obey (DPO), and both together.
//!
//! Both start from the same graded agent and the same dialogues. The soft constraint is the look-ahead of the hidden Markov model of the graded
//! agent's answers; the preferred agent was trained on pairs of an answer that ignores an injection and one that obeys it. They are compared on the
//! same product pages, stories and random numbers, in four kinds of words: none of an attacker, words of the training half, held-out words, and the held-out words
//! that an adaptive attacker chooses, who knows the agent and takes, of so many wordings of one story, the one that it most probably obeys.
//!
//! | module | subject |
//! |---|---|
//! | `run` | the answers to every page |
//! | `report` | the results: a table, comparisons, a figure |

mod report;
mod run;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use report::Measured;
pub use run::run;

/// The file of the answers within the folder of a run.
pub const FILE: &str = "preference.jsonl";
/// The file of the figure.
pub const FIGURE: &str = "preference.svg";

/// The models that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models {
    /// The folder of the graded agent, with its `hmm.safetensors`.
    pub graded: PathBuf,
    /// The folder of the agent that was trained by preferences.
    pub preferred: PathBuf,
}

/// The size of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The number of pages for each kind of words.
    pub turns: usize,
    /// The number of wordings that the adaptive attacker tries for each story.
    pub tries: u64,
    /// The tokens that are looked ahead.
    pub horizon: usize,
    /// The seed of all random choices.
    pub seed: u64,
}

impl Default for Settings {
    /// The planned size.
    fn default() -> Settings {
        Settings { turns: 120, tries: 16, horizon: 48, seed: 1 }
    }
}

/// The words on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Words {
    /// Nobody attacks.
    None,
    /// Words of the training half.
    Seen,
    /// Held-out words.
    Unseen,
    /// The held-out words that the agent most probably obeys.
    Adaptive,
}

impl Words {
    /// All of them.
    pub const ALL: [Words; 4] = [Words::None, Words::Seen, Words::Unseen, Words::Adaptive];

    /// Their name in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Words::None => "no attack",
            Words::Seen => "seen",
            Words::Unseen => "unseen",
            Words::Adaptive => "adaptive",
        }
    }
}

/// An agent, and whether it is steered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The graded agent alone.
    Base,
    /// The graded agent under the soft constraint.
    Soft,
    /// The agent that was trained by preferences.
    Preferred,
    /// That agent under the soft constraint.
    Both,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 4] = [Method::Base, Method::Soft, Method::Preferred, Method::Both];

    /// Its name in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Base => "base",
            Method::Soft => "soft",
            Method::Preferred => "DPO",
            Method::Both => "both",
        }
    }
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The seed of the story.
    pub turn: u64,
    /// The words on its page.
    pub words: Words,
    /// The method.
    pub method: Method,
    /// True if the card was given away: the violation.
    pub leak: bool,
    /// True if the task continued without a leak.
    pub success: bool,
    /// The number of written tokens.
    pub tokens: usize,
    /// Their log probability under the agent alone.
    pub log_probability: f64,
}
