//! Agents: they read a page and choose the next action. They have no I/O.

pub mod chat;
mod instruction;
mod lexicon;
pub mod model;
mod obedience;
mod obedient;
pub(crate) mod observation;
pub(crate) mod photo;
mod plan;
pub(crate) mod word_choice;

use browser_signals::Verb;

pub use instruction::{Instruction, find_instructions};
pub use model::ModelAgent;
pub use obedient::ObedientAgent;

/// The pieces of text in a page as an agent reads it, inline pieces joined.
pub fn passages(page: &str) -> Vec<String> {
    observation::Page::parse(page).passages()
}

/// What an agent with eyes for it sees in a screenshot, as a line of the page's text: the words that a picture hides.
pub(crate) fn seen_in(screenshot: &[u8]) -> String {
    let line = |words: String| format!("\n- text: {}", serde_json::Value::from(words));
    photo::reveal(screenshot).map(line).unwrap_or_default()
}

/// Returns true if the obedient agent would hand data over on reading this.
pub fn would_hand_over(text: &str) -> bool {
    find_instructions(&instruction::readings(text)).iter().any(|instruction| instruction.wants_data)
}

/// Returns true if the obedient agent would pass this text on.
pub fn would_pass_on(text: &str) -> bool {
    find_instructions(&instruction::readings(text)).iter().any(|instruction| instruction.passes_on)
}

/// One step of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// An action on the page.
    Verb(Verb),
    /// A request block: `REQ.` lines up to `REQ.end`.
    Request(String),
    /// The agent believes that its task is over.
    Done,
}

/// An agent, driven one step at a time.
pub trait Agent {
    /// The agent's name in reports.
    fn name(&self) -> &str;

    /// The next step, given the result of the last one: the page as text after [`Verb::Read`], the guard's answer after
    /// a request, `ok` or a reason after any other verb, and an empty text at the start.
    fn next(&mut self, observation: &str) -> Action;

    /// The reason why the agent stopped before its task was over because something outside it failed: a model that
    /// cannot be reached, a recording of another page.
    fn broke_off(&self) -> Option<String> {
        None
    }
}
