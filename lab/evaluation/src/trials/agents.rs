//! The agents that are compared.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_model::agent::{AgentModel, AgentModelError, Choice};
use agent_model::gate::{Gate, GateError};
use language_models::transformer::TransformerModel;

use crate::agent::chat::{ChatAgent, Endpoint, Recorder, Tape};
use crate::agent::{Agent, ModelAgent, ObedientAgent};
use crate::trials::Approach;

/// Makes an agent for each trial.
pub trait MakeAgent: Sync {
    /// The agents' name in records.
    fn name(&self) -> &str;

    /// Makes an agent for the trial called `trial`. `prompt` is the prompt as the agent may see it: raw, or with
    /// handles for values. If the approach [gates a model's output](Approach::has_gated_output) and the agent writes
    /// token by token, its output is steered.
    fn make(&self, trial: &str, prompt: &str, approach: Approach) -> Box<dyn Agent>;
}

/// The name of the agent that obeys everything it reads.
pub const OBEDIENT: &str = "obedient";

/// Makes agents that obey everything they read.
pub struct Obedient;

impl MakeAgent for Obedient {
    fn name(&self) -> &str {
        OBEDIENT
    }

    fn make(&self, _trial: &str, prompt: &str, _approach: Approach) -> Box<dyn Agent> {
        Box::new(ObedientAgent::new(prompt))
    }
}

/// Makes agents whose steps the small model of `agent-model` writes, greedily.
pub struct Small {
    model: Arc<AgentModel<TransformerModel>>,
    gate: Gate,
    name: &'static str,
}

/// The reason why the small model of a folder cannot act.
#[derive(Debug, thiserror::Error)]
pub enum SmallError {
    /// The model itself.
    #[error(transparent)]
    Model(#[from] AgentModelError),
    /// The gate that steers it.
    #[error(transparent)]
    Gate(#[from] GateError),
}

impl Small {
    /// Makes agents of the model in a folder.
    ///
    /// # Errors
    /// If the folder has no usable model, or no gate for it.
    pub fn load(folder: &Path) -> Result<Small, SmallError> {
        let model = AgentModel::load(folder)?;
        let gate = Gate::load(folder, model.tokenizer())?;
        Ok(Small { model: Arc::new(model), gate, name: "agent-model" })
    }

    /// The same without constraints on copied text ([`AgentModel::without_copying`]), called `agent-model-free`.
    ///
    /// # Errors
    /// As for [`Small::load`].
    pub fn load_free(folder: &Path) -> Result<Small, SmallError> {
        let model = AgentModel::load(folder)?.without_copying();
        let gate = Gate::load(folder, model.tokenizer())?;
        Ok(Small { model: Arc::new(model), gate, name: "agent-model-free" })
    }
}

impl Small {
    fn agent(&self, prompt: &str, approach: Approach) -> ModelAgent<TransformerModel> {
        let agent = ModelAgent::new(Arc::clone(&self.model), Choice::Greedy, prompt);
        if approach.has_gated_output() { agent.gated(self.gate.clone()) } else { agent }
    }
}

impl MakeAgent for Small {
    fn name(&self) -> &str {
        self.name
    }

    fn make(&self, _trial: &str, prompt: &str, approach: Approach) -> Box<dyn Agent> {
        Box::new(self.agent(prompt, approach))
    }
}

/// Makes agents whose steps a model writes, and records each trial's conversation to a tape in a folder.
pub struct Chat {
    name: String,
    endpoint: Option<Endpoint>,
    tapes: PathBuf,
}

impl Chat {
    /// Makes agents called `chat-<model>`, which ask `endpoint` and record to `tapes`; without an endpoint, they replay
    /// the tapes that are there.
    pub fn new(model: &str, endpoint: Option<Endpoint>, tapes: PathBuf) -> Chat {
        Chat { name: format!("chat-{model}"), endpoint, tapes }
    }
}

impl MakeAgent for Chat {
    fn name(&self) -> &str {
        &self.name
    }

    fn make(&self, trial: &str, prompt: &str, _approach: Approach) -> Box<dyn Agent> {
        // Model names may contain slashes and colons.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_model_is_steered_under_a_and_c_alone() {
        let small = Small::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent-model/model")).unwrap();
        let gated =
            Approach::RUNNABLE.map(|approach| (approach.as_str(), small.agent("", approach).is_gated()));
        let wanted = [
            ("none", false),
            ("A", true),
            ("B", false),
            ("C", true),
            ("A-told", true),
            ("C-unscrubbed", true),
        ];
        assert_eq!(gated, wanted);
    }
}
