//! A hook that refuses unlisted tools, scrubs the results of the others, and selects the gated model.

use std::collections::BTreeSet;
use std::sync::Mutex;

use browser_signals::Outline;
use browser_signals::outline::{LinePart, OutlineLine, Purpose, TextPlace, Words};
use classifier::Detectors;
use portcullis::page_text::Scrubber;
use portcullis::page_text::mask_by_form;
use rig_agent::agent::{
    AgentHook, DispatchAction, DispatchEvent, HookContext, ModelSelection, ModelSelectionAction,
    OutcomeAction, OutcomeEvent,
};
use rig_core::tool::Tool;

use crate::browser::BrowserTool;
use crate::model::GATED;

/// The replacement of a result that was withheld.
pub const WITHHELD: &str = "[withheld]";

/// The reason why there is no gatekeeper.
#[derive(Debug, thiserror::Error)]
#[error("the shipped models cannot be read: {0}")]
pub struct NotMade(String);

/// Decides each tool call of the agent.
///
/// - The browser's own tool passes: its session decides each step.
/// - A tool that was allowed by name passes. Its result is read as a page is: text that a classifier takes for an attack
///   is replaced by a mark, and text in the form of a value is masked. A result that is not text is withheld.
/// - Every other call is refused and does not run.
///
/// The *arguments* of an allowed tool are the model's words and are not judged, so allow only tools that cannot send
/// them anywhere.
pub struct Gatekeeper {
    allowed: BTreeSet<String>,
    scrubber: Scrubber,
    detectors: Detectors,
    gated: bool,
    refused: Mutex<Vec<String>>,
}

impl Gatekeeper {
    /// Allows the browser's tool and nothing else.
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

    /// Allows another tool, whose results are scrubbed.
    #[must_use]
    pub fn allow(mut self, tool: &str) -> Gatekeeper {
        self.allowed.insert(tool.to_owned());
        self
    }

    /// Routes every completion to [`GATED`], which has to exist.
    #[must_use]
    pub fn with_gated_model(mut self) -> Gatekeeper {
        self.gated = true;
        self
    }

    /// The refused tools, in order, for the user and not for the model.
    pub fn refused(&self) -> Vec<String> {
        self.refused.lock().map(|refused| refused.clone()).unwrap_or_default()
    }

    /// Scrubs the text of a tool's result for the model.
    pub fn scrub(&self, text: &str) -> String {
        let line = |text: &str| OutlineLine {
            head: vec![LinePart::Own("- text".into())],
            text: vec![Words {
                text: text.into(),
                place: TextPlace::Shown,
                purpose: Purpose::Text,
                frame: 0,
            }],
            bare: true,
            ..OutlineLine::default()
        };
        let lines = text.lines().filter(|text| !text.trim().is_empty()).map(line).collect();
        let scrubbed = self.scrubber.scrub(&Outline { lines, frames: vec![None], ..Outline::default() });
        mask_by_form(&scrubbed.text, &self.detectors)
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
        DispatchAction::skip("DENY.tool {\"reason\":\"tool_not_allowed\"}")
    }

    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        let (Some(tool), Some(result)) = (event.tool_name(), event.tool_result()) else {
            return OutcomeAction::proceed();
        };
        // The session has already scrubbed its own text, knowing from the browser which parts of it are visible.
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
