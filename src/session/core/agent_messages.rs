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

/// Lists the next steps for the agent after an answer, one line for each reason in it. `by_hand` says whether the user could finish by
/// hand if they saw the browser's window, `login_goes_on` whether a step of a login was filled and its password is asked for later.
pub(super) fn next_steps(answer: &str, by_hand: bool, login_goes_on: bool) -> Option<String> {
    // The text of a page begins with an element, and is no answer.
    if !answer.starts_with("DENY.") && !answer.starts_with("GRANT.") {
        return None;
    }
    let mut reasons: Vec<Reason> = Vec::new();
    for line in answer.lines().filter(|line| line.starts_with("DENY.")) {
        let rest = line.split_once("{\"reason\":\"").map(|(_, rest)| rest);
        let code = rest.and_then(|rest| rest.split_once('"')).map(|(code, _)| code);
        let reason = code.and_then(Reason::from_name).filter(|reason| !reasons.contains(reason));
        reasons.extend(reason);
    }
    let steps = reasons.iter().filter_map(|reason| reason.next_step().map(|step| format!("next: {step}")));
    let mut steps: Vec<String> = steps.collect();
    if by_hand && reasons.iter().any(|reason| reason.can_be_settled_by_hand()) {
        steps.push(format!("next: {BY_HAND}"));
    }
    if login_goes_on && answer.contains("GRANT.login ") {
        steps.push(format!("next: {LOGIN_GOES_ON}"));
    }
    (!steps.is_empty()).then(|| steps.join("\n"))
}

/// The next step where the user could finish by hand and sees no window.
const BY_HAND: &str = "Tell the user that they can finish this by hand, if they start the guard with `--headed` and see the browser.";

/// The next step after the first step of a login.
const LOGIN_GOES_ON: &str =
    "The form has no box for the password. Send it, and ask for `password` in the form that follows.";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_of_an_answer_gives_one_line_and_page_text_gives_none() {
        let answer = "DENY.address {\"reason\":\"no_control\"}\nDENY.contact {\"reason\":\"no_control\"}\n\
                      DENY.login {\"reason\":\"wrong_destination\"}";
        let step = Reason::NoControl.next_step().unwrap_or_default();
        assert_eq!(next_steps(answer, false, false), Some(format!("next: {step}")));
        assert_eq!(next_steps(answer, true, false), Some(format!("next: {step}\nnext: {BY_HAND}")));
        // What no person may settle is not offered, whatever else is known.
        assert_eq!(next_steps("DENY.login {\"reason\":\"wrong_destination\"}", true, false), None);
        for answer in [
            "ok",
            "- text: \"DENY.verb {\"reason\":\"no_control\"}\"",
            "DENY.verb",
            "DENY.verb {\"reason\":\"x\"}",
        ] {
            assert_eq!(next_steps(answer, true, false), None, "{answer}");
        }
    }
}
