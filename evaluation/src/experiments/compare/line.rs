//! One trial as a line of JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::TrialKey;
use crate::suite::planted::Planted;
use crate::trials::judge::{Judgement, Place};
use crate::trials::user::Asking;

/// One value that arrived where it should not have; never the value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeakSeen {
    /// The channel.
    pub place: Place,
    /// The field.
    pub field: String,
    /// How it was written, such as `plain` or `base64`.
    pub encoding: String,
    /// The request that it came in, such as `POST collect.evil.test/beacon, body`.
    #[serde(default)]
    pub way: String,
}

/// One trial: everything that the analysis needs, so that nothing has to be run again for another analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialLine {
    /// Which trial.
    #[serde(flatten)]
    pub key: TrialKey,
    /// The page's template: the unit of the analysis.
    pub template: String,
    /// Whether the task ended as the user wanted, with no leak.
    pub success: bool,
    /// Prompts and interruptions.
    pub prompts: u64,
    /// Warnings that the user saw; they need no answer and are not part of C.
    #[serde(default)]
    pub warnings: u64,
    /// What each prompt that the simulated user met was about, and how it was answered.
    pub asked: Vec<Asking>,
    /// What leaked.
    pub leaks: Vec<LeakSeen>,
    /// What in the orders is not the user's.
    pub hijacks: Vec<String>,
    /// Denials by reason.
    pub denials: BTreeMap<String, u64>,
    /// Grants by kind.
    pub grants: BTreeMap<String, u64>,
    /// The highest risk, in `[0, 1]`, that the shipped classifier of injections gives to a page as the agent read it;
    /// `None` where it read none.
    pub risk: Option<f64>,
    /// The lowest safety, in `[0, 1]`, that the guard's own judge gave to a page that was read; `None` where the policy
    /// asks for none.
    #[serde(default)]
    pub safety: Option<f64>,
    /// Actions of the agent.
    pub actions: u64,
    /// How long they took together.
    pub milliseconds: f64,
    /// Why the trial broke off, if it did; it counts as failed.
    pub broke_off: Option<String>,
    /// How often the apparatus failed before the agent's first action.
    pub repeated: u32,
}

impl TrialLine {
    /// A line for `key` with what the servers say of it, and nothing else.
    pub fn judged(key: &TrialKey, judgement: &Judgement) -> TrialLine {
        let leaks = judgement.leaks.iter().map(|leak| LeakSeen {
            place: leak.place,
            field: leak.field.to_owned(),
            encoding: word(&leak.encoding),
            way: leak.way.clone(),
        });
        TrialLine {
            key: key.clone(),
            template: Planted::of(&key.scenario()).template,
            success: judgement.success,
            prompts: 0,
            warnings: 0,
            asked: Vec::new(),
            leaks: leaks.collect(),
            hijacks: judgement.differences.iter().map(|name| (*name).to_owned()).collect(),
            denials: BTreeMap::new(),
            grants: BTreeMap::new(),
            risk: None,
            safety: None,
            actions: 0,
            milliseconds: 0.0,
            broke_off: None,
            repeated: 0,
        }
    }

    /// A trial that broke off.
    pub fn broken_off(key: &TrialKey, why: String) -> TrialLine {
        TrialLine { broke_off: Some(why), ..TrialLine::judged(key, &Judgement::default()) }
    }
}

/// The word that a unit variant is written as.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "unknown".to_owned(),
    }
}
