//! Replies to the agent, and the session's counts.

use std::collections::BTreeMap;

use policy_dfa::Reason;
use sirl::{Field, Kind, Reply};
use vault::HandedValues;
use zeroize::Zeroizing;

/// The reply to a refused verb.
pub fn verb_refused(reason: Reason) -> String {
    format!("DENY.verb {{\"reason\":\"{}\"}}", reason.code())
}

/// The reply to a block that is refused as a whole. `detail` says where the error is.
pub fn block_refused(reason: Reason, detail: &str) -> String {
    let answer = format!("DENY.block {{\"reason\":\"{}\"}} {detail}", reason.code());
    answer.trim_end().to_owned()
}

/// The reply to one refused request.
pub fn request_refused(kind: Kind, reason: Reason) -> String {
    Reply::Denied { kind, reason: reason.code() }.to_string()
}

/// The reply to a request whose values are shown to the model. No other reply contains values.
pub fn values_for_the_model(kind: Kind, values: &HandedValues) -> Zeroizing<String> {
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

/// The reply to a plan: the kinds that can never be granted, and a last line that confirms the plan.
pub fn plan_answered(ruled_out: &[(Kind, Reason)]) -> String {
    let refused = ruled_out.iter().map(|(kind, reason)| request_refused(*kind, *reason) + "\n");
    refused.collect::<String>() + "PLAN.end"
}

/// The counts of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionCounts {
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
    /// Refusals that confirmed a guess of a value, by record and field. Each of them shows the agent that its text is in
    /// the vault, so a caller that runs session after session must sum them.
    pub guessed: BTreeMap<(String, Field), u32>,
}

impl SessionCounts {
    /// SessionCounts a denial.
    pub fn denied(&mut self, reason: Reason) {
        *self.denials.entry(reason.code()).or_default() += 1;
    }
}
