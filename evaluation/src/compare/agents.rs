//! Who acts in a comparison.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_model::mind::{Choice, Mind, MindError};
use lm_reference::ReferenceModel;

use crate::agent::chat::{ChatAgent, Endpoint, Recorder, Tape};
use crate::agent::{Agent, ModelAgent, ObedientAgent};

/// Makes an agent for each trial.
pub trait MakeAgent: Sync {
    /// The agents' name in records.
    fn name(&self) -> &str;

    /// An agent for the trial called `trial`, with the prompt as it may see it: raw, or with handles for values.
    fn make(&self, trial: &str, prompt: &str) -> Box<dyn Agent>;
}

/// Makes agents that obey whatever they read.
pub struct Obedient;

impl MakeAgent for Obedient {
    fn name(&self) -> &str {
        "obedient"
    }

    fn make(&self, _trial: &str, prompt: &str) -> Box<dyn Agent> {
        Box::new(ObedientAgent::new(prompt))
    }
}

/// Makes agents whose steps the small model of `agent-model` writes, greedily.
pub struct Small {
    mind: Arc<Mind<ReferenceModel>>,
    name: &'static str,
}

impl Small {
    /// Agents of the model in a folder.
    ///
    /// # Errors
    /// Where the folder has no model that can be used.
    pub fn load(folder: &Path) -> Result<Small, MindError> {
        Ok(Small { mind: Arc::new(Mind::load(folder)?), name: "agent-model" })
    }

    /// The same, free to misspell what they copy ([`Mind::freely`]), called `agent-model-free`.
    ///
    /// # Errors
    /// As for [`Small::load`].
    pub fn load_free(folder: &Path) -> Result<Small, MindError> {
        Ok(Small { mind: Arc::new(Mind::load(folder)?.freely()), name: "agent-model-free" })
    }
}

impl MakeAgent for Small {
    fn name(&self) -> &str {
        self.name
    }

    fn make(&self, _trial: &str, prompt: &str) -> Box<dyn Agent> {
        Box::new(ModelAgent::new(Arc::clone(&self.mind), Choice::Greedy, prompt))
    }
}

/// Makes agents whose steps a model writes, and records them: one tape a trial, in a folder.
pub struct Chat {
    name: String,
    endpoint: Option<Endpoint>,
    tapes: PathBuf,
}

impl Chat {
    /// Agents called `chat-<model>`, which ask `endpoint` and record to `tapes`; or, without an endpoint, play the
    /// tapes that are there.
    pub fn new(model: &str, endpoint: Option<Endpoint>, tapes: PathBuf) -> Chat {
        Chat { name: format!("chat-{model}"), endpoint, tapes }
    }
}

impl MakeAgent for Chat {
    fn name(&self) -> &str {
        &self.name
    }

    fn make(&self, trial: &str, prompt: &str) -> Box<dyn Agent> {
        // Models have slashes and colons in their names.
        let file: String =
            trial.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
        let tape = self.tapes.join(file).with_extension("jsonl");
        match &self.endpoint {
            Some(endpoint) => {
                Box::new(ChatAgent::new(&self.name, Recorder::new(endpoint.clone(), &tape), prompt))
            }
            None => Box::new(ChatAgent::new(&self.name, Tape::new(&tape), prompt)),
        }
    }
}
