//! What the agent reads back, and what the session counts.

use std::collections::BTreeMap;

use policy_dfa::Reason;
use sirl::{Field, Kind, Reply};
use vault::HandedValues;
use zeroize::Zeroizing;

/// The answer to a verb that was refused.
pub fn verb_refused(reason: Reason) -> String {
    format!("DENY.verb {{\"reason\":\"{}\"}}", reason.code())
}

/// The answer to a block that could not be read.
pub fn block_refused(reason: Reason, place: &str) -> String {
    let answer = format!("DENY.block {{\"reason\":\"{}\"}} {place}", reason.code());
    answer.trim_end().to_owned()
}

/// The answer to one request that was refused.
pub fn request_refused(kind: Kind, reason: Reason) -> String {
    Reply::Denied { kind, reason: reason.code() }.to_string()
}

/// The answer to a request whose values are told to the model. It is the one answer that holds any.
pub fn told_to_the_model(kind: Kind, values: &HandedValues) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(1024));
    text.push_str(&format!("GRANT.{} {{\"delivered\":\"model\",\"values\":{{", kind.as_str()));
    let mut comma = "";
    values.expose_to_the_model(|field, value| {
        let value = Zeroizing::new(serde_json::Value::from(value).to_string());
        for part in [comma, "\"", field.as_str(), "\":", &value] {
            text.push_str(part);
        }
        comma = ",";
    });
    text.push_str("}}");
    text
}

/// The answer to a plan: what of it can never be granted, and that it was read.
pub fn plan_answered(ruled_out: &[(Kind, Reason)]) -> String {
    let refused = ruled_out.iter().map(|(kind, reason)| request_refused(*kind, *reason) + "\n");
    refused.collect::<String>() + "PLAN.end"
}

/// What a session counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Actions of the agent.
    pub actions: u64,
    /// Prompts shown to the user.
    pub prompts: u32,
    /// Warnings shown to the user, which need no answer.
    pub warnings: u32,
    /// Releases and purchases carried out.
    pub releases: u32,
    /// Denials, by reason code.
    pub denials: BTreeMap<String, u64>,
    /// Refusals that confirmed a guess of a value, by record and field. Whoever runs session after session adds
    /// these up: each of them tells the agent that what it wrote is in the vault.
    pub guessed: BTreeMap<(String, Field), u32>,
}

impl Counts {
    /// Counts a denial.
    pub fn denied(&mut self, reason: Reason) {
        *self.denials.entry(reason.code()).or_default() += 1;
    }
}
