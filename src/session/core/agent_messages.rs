//! Messages of the agent to the guard, and replies to it.

use browser_signals::Verb;
use policy_dfa::Reason;
use sirl::{Block, Kind, ParseError, Plan, Reply, Schema};
use vault::ValuesForModel;
use zeroize::Zeroizing;

/// One action of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A verb on the page.
    Verb(Verb),
    /// Text with a request block (`REQ.` lines up to `REQ.end`), or with a plan.
    Request(String),
}

/// A parsed message of the model to the guard.
pub(crate) enum AgentMessage {
    Block(Block),
    Plan(Plan),
}

impl AgentMessage {
    pub(crate) fn read(schema: &Schema, text: &str) -> Result<AgentMessage, ParseError> {
        if text.trim_start().starts_with("PLAN.") {
            return sirl::parse_plan_with(schema, text).map(AgentMessage::Plan);
        }
        sirl::parse_block_with(schema, text).map(AgentMessage::Block)
    }
}

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
pub fn values_for_the_model(kind: Kind, values: &ValuesForModel) -> Zeroizing<String> {
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
