//! Messages of the agent to the guard, and its next steps after an outcome.

use sirl::{Block, Kind, ParseError, Plan, Schema};

use crate::session::outcome::ActionOutcome;

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

/// The next steps for the agent after an outcome, one line for each reason in it. `by_hand` says whether the user could finish by
/// hand if they saw the browser's window, `login_goes_on` whether a step of a login was filled and its password is asked for later.
pub(super) fn next_steps(outcome: &ActionOutcome, by_hand: bool, login_goes_on: bool) -> Vec<&'static str> {
    let reasons = outcome.reasons();
    let mut steps: Vec<&'static str> = reasons.iter().filter_map(|reason| reason.next_step()).collect();
    if by_hand && reasons.iter().any(|reason| reason.can_be_settled_by_hand()) {
        steps.push(BY_HAND);
    }
    if login_goes_on && outcome.granted().any(|kind| kind == Kind::Login) {
        steps.push(LOGIN_GOES_ON);
    }
    steps
}

/// The next step where the user could finish by hand and sees no window.
const BY_HAND: &str = "Tell the user that they can finish this by hand, if they start the guard with `--headed` and see the browser.";

/// The next step after the first step of a login.
const LOGIN_GOES_ON: &str =
    "The form has no box for the password. Send it, and ask for `password` in the form that follows.";

#[cfg(test)]
mod tests {
    use policy_dfa::Reason;

    use super::*;
    use crate::session::outcome::RequestResult;

    #[test]
    fn each_reason_of_an_outcome_gives_one_step_and_page_text_gives_none() {
        let denied = |kind, reason| RequestResult::denied(kind, reason);
        let outcome = ActionOutcome::of_requests(vec![
            denied(Kind::Address, Reason::NoControl),
            denied(Kind::Contact, Reason::NoControl),
            denied(Kind::Login, Reason::WrongDestination),
        ]);
        let step = Reason::NoControl.next_step().unwrap_or_default();
        assert_eq!(next_steps(&outcome, false, false), [step]);
        assert_eq!(next_steps(&outcome, true, false), [step, BY_HAND]);
        // What no person may settle is not offered, whatever else is known.
        let elsewhere = ActionOutcome::of_requests(vec![denied(Kind::Login, Reason::WrongDestination)]);
        assert_eq!(next_steps(&elsewhere, true, false), [""; 0]);
        let page = "DENY.verb {\"reason\":\"no_control\"}".to_owned();
        for outcome in [ActionOutcome::done(), ActionOutcome::page(page)] {
            assert_eq!(next_steps(&outcome, true, true), [""; 0], "{outcome}");
        }
    }
}
