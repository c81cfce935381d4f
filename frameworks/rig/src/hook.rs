//! A hook that refuses tools nobody allowed, scrubs what the others bring, and chooses the gated model.

use std::collections::BTreeSet;
use std::sync::Mutex;

use browser_signals::Outline;
use browser_signals::outline::{Line, Part, Place, Purpose, Words};
use classifier::Detectors;
use portcullis::scrub::Scrubber;
use portcullis::text::mask_by_form;
use rig_agent::agent::{
    AgentHook, DispatchAction, DispatchEvent, HookContext, ModelSelection, ModelSelectionAction,
    OutcomeAction, OutcomeEvent,
};
use rig_core::tool::Tool;

use crate::browser::BrowserTool;
use crate::model::GATED;

/// What stands where a whole result was withheld.
pub const WITHHELD: &str = "[withheld]";

/// Why there is no gatekeeper.
#[derive(Debug, thiserror::Error)]
#[error("the shipped models cannot be read: {0}")]
pub struct NotMade(String);

/// Stands at the agent's tools.
///
/// - The browser's own tool passes: its session decides each step.
/// - A tool that was allowed by name passes; what it brings is read as a page is: what a model takes for an attack is
///   replaced by a mark, and what has the form of a value is masked. A result that is no text is withheld.
/// - Every other call is refused, and does not run.
///
/// An allowed tool's *arguments* are the model's words and are not judged: allow what cannot send them anywhere.
pub struct Gatekeeper {
    allowed: BTreeSet<String>,
    scrubber: Scrubber,
    detectors: Detectors,
    gated: bool,
    refused: Mutex<Vec<String>>,
}

impl Gatekeeper {
    /// Lets the browser's tool pass, and nothing else.
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn new() -> Result<Gatekeeper, NotMade> {
        Ok(Gatekeeper {
            allowed: BTreeSet::new(),
            scrubber: Scrubber::standard().map_err(|error| NotMade(error.to_string()))?,
            detectors: Detectors::standard().map_err(|error| NotMade(error.to_string()))?,
            gated: false,
            refused: Mutex::default(),
        })
    }

    /// Lets another tool pass, whose results are scrubbed.
    #[must_use]
    pub fn allow(mut self, tool: &str) -> Gatekeeper {
        self.allowed.insert(tool.to_owned());
        self
    }

    /// Lets every completion be answered by the route [`GATED`], which has to be there.
    #[must_use]
    pub fn with_gated_model(mut self) -> Gatekeeper {
        self.gated = true;
        self
    }

    /// The tools that were refused, in order: for the user, not for the model.
    pub fn refused(&self) -> Vec<String> {
        self.refused.lock().map(|refused| refused.clone()).unwrap_or_default()
    }

    /// What the model may read of a text that a tool brought.
    pub fn scrub(&self, text: &str) -> String {
        let line = |text: &str| Line {
            head: vec![Part::Own("- text".into())],
            text: vec![Words { text: text.into(), place: Place::Shown, purpose: Purpose::Text, frame: 0 }],
            bare: true,
            ..Line::default()
        };
        let lines = text.lines().filter(|text| !text.trim().is_empty()).map(line).collect();
        let told = self.scrubber.scrub(&Outline { lines, frames: vec![None], ..Outline::default() });
        mask_by_form(&told.text, &self.detectors)
    }
}

impl AgentHook for Gatekeeper {
    fn on_model_select(&self, _: &HookContext, _: ModelSelection<'_>) -> ModelSelectionAction {
        if self.gated { ModelSelectionAction::select(GATED) } else { ModelSelectionAction::continue_run() }
    }

    async fn on_dispatch(&self, _: &HookContext, event: DispatchEvent<'_>) -> DispatchAction {
        let Some(tool) = event.tool_name() else { return DispatchAction::proceed() };
        if tool == BrowserTool::NAME || self.allowed.contains(tool) {
            return DispatchAction::proceed();
        }
        if let Ok(mut refused) = self.refused.lock() {
            refused.push(tool.to_owned());
        }
        DispatchAction::skip("DENY.tool {\"reason\":\"unplanned_effect\"}")
    }

    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        let (Some(tool), Some(result)) = (event.tool_name(), event.tool_result()) else {
            return OutcomeAction::proceed();
        };
        // The session scrubbed what it told, with the browser's own word for what a person sees.
        if tool == BrowserTool::NAME {
            return OutcomeAction::proceed();
        }
        let scrubbed = match result.output().as_text() {
            Some(text) => self.scrub(text),
            None => {
                result.output().as_json().map_or(WITHHELD.to_owned(), |json| self.scrub(&json.to_string()))
            }
        };
        OutcomeAction::rewrite_tool_result(&event, scrubbed)
    }
}
