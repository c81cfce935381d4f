//! One trial as a line of JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::TrialKey;
use crate::suite::planted::Planted;
use crate::trials::judge::{Judgement, LeakChannel};
use crate::trials::user::PromptRecord;

/// One value that arrived where it should not have, without the value itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeakSeen {
    /// The channel.
    #[serde(rename = "place")]
    pub channel: LeakChannel,
    /// The field.
    pub field: String,
    /// Its encoding, such as `plain` or `base64`.
    pub encoding: String,
    /// The request that it came in, such as `POST collect.evil.test/beacon, body`.
    #[serde(rename = "way", default)]
    pub request: String,
}

/// One trial, with everything that the analysis needs, so that another analysis needs no further run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialLine {
    /// The trial's key.
    #[serde(flatten)]
    pub key: TrialKey,
    /// The page's template: the unit of the analysis.
    pub template: String,
    /// True if the task ended as the user wanted, with no leak.
    pub success: bool,
    /// The number of prompts and interruptions.
    pub prompts: u64,
    /// The number of warnings that the user saw; they need no answer and are not part of C.
    #[serde(default)]
    pub warnings: u64,
    /// The subject of each prompt to the simulated user, and the answer.
    pub asked: Vec<PromptRecord>,
    /// The leaks.
    pub leaks: Vec<LeakSeen>,
    /// The parts of the orders that are not the user's.
    pub hijacks: Vec<String>,
    /// Denials by reason.
    pub denials: BTreeMap<String, u64>,
    /// Grants by kind.
    pub grants: BTreeMap<String, u64>,
    /// The highest risk, in `[0, 1]`, that the shipped injection classifier gives to a page as the agent read it;
    /// `None` if it read none.
    pub risk: Option<f64>,
    /// The lowest safety, in `[0, 1]`, that the guard's own classifier gave to a page that was read; `None` if the
    /// policy does not use it.
    #[serde(default)]
    pub safety: Option<f64>,
    /// The number of actions.
    pub actions: u64,
    /// Their total duration.
    pub milliseconds: f64,
    /// The reason why the trial broke off, if it did; it counts as failed.
    pub broke_off: Option<String>,
    /// The number of failures of browser or servers before the agent's first action.
    pub repeated: u32,
}

impl TrialLine {
    /// A line for `key` with the judgement of the servers' record, and nothing else.
    pub fn judged(key: &TrialKey, judgement: &Judgement) -> TrialLine {
        let leaks = judgement.leaks.iter().map(|leak| LeakSeen {
            channel: leak.channel,
            field: leak.field.to_owned(),
            encoding: word(&leak.encoding),
            request: leak.request.clone(),
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

/// The string that a unit variant is serialised as.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "unknown".to_owned(),
    }
}
